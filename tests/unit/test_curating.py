"""What people do to observations, several at once."""

import threading
from pathlib import Path
from typing import Any

from recollect.model.observations import ObservationDraft
from recollect.store.sqlite.store import SqliteStore
from recollect.worker.curating import Curating
from tests.support.arrivals import START
from tests.support.memory import Memory

ROUNDS = 20


def test_two_who_edit_two_fields_at_once_are_both_heard(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "recollect.db", writer=True)
    Memory.of(store, "shop").turn("p", ObservationDraft("change", "Pump"))
    curating = Curating(store, lambda: START, lambda _: None, lambda _: None)
    for number in range(ROUNDS):
        gate = threading.Barrier(2)

        def edit(field: str, number: int = number, gate: threading.Barrier = gate) -> None:
            gate.wait()
            order: dict[str, Any] = {"id": 1, field: f"{field} {number}"}
            assert curating.edit(order) == {"found": True}

        both = [threading.Thread(target=edit, args=(field,)) for field in ("title", "subtitle")]
        for each in both:
            each.start()
        for each in both:
            each.join()
        found = store.observation(1)
        assert found is not None
        expected = (f"title {number}", f"subtitle {number}")
        assert (found.draft.title, found.draft.subtitle) == expected
    store.close()
