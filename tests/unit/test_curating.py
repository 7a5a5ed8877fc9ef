"""What people do to observations, several at once."""

import threading
from pathlib import Path
from typing import Any

from aforesaid import wiring
from aforesaid.model.observations import ObservationDraft
from aforesaid.paths import Paths
from aforesaid.store.store import Store
from aforesaid.worker.context import Context
from aforesaid.worker.service import Service
from tests.support.arrivals import START
from tests.support.memory import Memory

ROUNDS = 20


def test_two_who_edit_two_fields_at_once_are_both_heard(tmp_path: Path) -> None:
    store = Store(tmp_path / "aforesaid.db", writer=True)
    Memory.of(store, "shop").turn("p", ObservationDraft("change", "Pump"))
    paths = Paths.of({"AFORESAID_HOME": str(tmp_path)})
    paths.make()
    home = wiring.Home(paths, wiring.home().settings)
    curating = Service(Context(home, store, lambda: START)).commands
    for number in range(ROUNDS):
        gate = threading.Barrier(2)

        def edit(field: str, number: int = number, gate: threading.Barrier = gate) -> None:
            gate.wait()
            order: dict[str, Any] = {"id": 1, field: f"{field} {number}"}
            curating.edit(order)

        both = [threading.Thread(target=edit, args=(field,)) for field in ("title", "subtitle")]
        for each in both:
            each.start()
        for each in both:
            each.join()
        found = store.observations.get(1)
        assert found is not None
        expected = (f"title {number}", f"subtitle {number}")
        assert (found.draft.title, found.draft.subtitle) == expected
    store.close()
