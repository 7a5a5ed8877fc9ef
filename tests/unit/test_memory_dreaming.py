"""When the worker dreams by itself, of which projects, and what it tells of a dream that was asked for."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from aforesaid import clock as clocks
from aforesaid import wiring
from aforesaid.clock import DAY, HOUR, MINUTE
from aforesaid.errors import MemoryRefused
from aforesaid.memory.changes import Memories
from aforesaid.memory.dream.run import (
    MIN_MEMORIES,
    MIN_SESSIONS,
    THROTTLE,
    DreamResult,
    last_dream_at,
    lock_dreams,
    record_dream,
)
from aforesaid.model.memories import Memory
from aforesaid.model.observations import Author, ObservationDraft
from aforesaid.model.requests import Failure, Reply, Request, Unavailable
from aforesaid.paths import Paths
from aforesaid.repository import identify
from aforesaid.settings import Settings
from aforesaid.store.store import Store
from aforesaid.synthesis.cost import Budget, Prices
from aforesaid.synthesis.model import Requester, Terms
from aforesaid.wiring import Choice
from aforesaid.worker.context import Context
from aforesaid.worker.dreams import Dreamer, result_json
from aforesaid.worker.memory import MemoryWork
from tests.support.arrivals import START
from tests.support.context import make_context
from tests.support.memory import Memory as Stored
from tests.support.stub_model import FakeClock, StubModel

TABS = Memory("prefers-tabs", "Indent with tabs", "feedback", "Indent with tabs.")
TERMS = Terms("v1", Prices.of(()), Budget(0, 0, lambda: START))


@dataclass
class Bedroom:
    """Projects that are worked on, and whoever dreams of them."""

    paths: Paths
    store: Store
    folder: Path
    model: StubModel | None = None
    clock: FakeClock = field(default_factory=FakeClock)
    changed: set[int] = field(default_factory=set)
    past: dict[str, Stored] = field(default_factory=dict)

    def project(
        self, name: str, sessions: int = MIN_SESSIONS, facts: int = MIN_MEMORIES
    ) -> Memories:
        """A directory with so many sessions and memories; two more say the same."""
        root = self.folder / name
        root.mkdir()
        project = self.store.projects.resolve(identify(str(root)), str(root), START)
        self.past[name] = Stored(self.store, project)
        self.work(name, sessions)
        memories = self.memories(str(root))
        with memories.change("test") as change:
            for number in range(facts):
                text = f"Shelf {number} of {name} holds box {number}"
                change.write(Memory(f"{name}-{number}", text, "project", f"See room {number}."))
            change.write(replace(TABS, name=f"{name}-tabs"))
            change.write(replace(TABS, name=f"{name}-tabs-again"))
        return memories

    def work(self, name: str, sessions: int) -> None:
        """So many sessions, a minute each; the clock goes on."""
        past = self.past[name]
        for number in range(sessions):
            past.turn(f"Shelf {number}?", ObservationDraft("change", f"Shelf {number} was filled"))
        self.clock.at = max(self.clock.at, past.at + MINUTE)

    def at_once(self, name: str, *, dry_run: bool = False) -> dict[str, Any]:
        return self.dreamer().run_on_request({"dir": str(self.folder / name), "dry_run": dry_run})

    def memories(self, directory: str) -> Memories:
        return wiring.memories(wiring.home(), directory, self.clock)

    def dreamer(self, **set_to: str | int) -> Dreamer:
        found = wiring.home().settings
        settings = Settings(dict(found.values) | {"memory.dream": "auto"} | set_to, found.origins)
        context = make_context(self.paths, self.store, self.clock)
        context.settings, context.changed = settings, self.changed
        return Dreamer(context, self.memories, self._asking)

    def _asking(self) -> Requester | None:
        if self.model is None:
            return None
        return Requester(self.store, self.model, TERMS, self.clock, None, None)

    def last(self, name: str = "shop") -> int | None:
        places = self.memories(str(self.folder / name)).places
        return last_dream_at(places, self.clock.at)


@pytest.fixture
def bedroom(home: Paths, store: Store, tmp_path: Path) -> Bedroom:
    return Bedroom(home, store, tmp_path)


def retired(memories: Memories) -> int:
    return len(memories.retired().memories)


def test_every_project_that_is_due_is_dreamed_of_and_no_other(bedroom: Bedroom) -> None:
    shop, quiet, office = (
        bedroom.project(n, s) for n, s in (("shop", 5), ("quiet", 4), ("office", 6))
    )
    assert bedroom.dreamer().run_if_due() == 2
    assert (retired(shop), retired(quiet), retired(office)) == (1, 0, 1)
    assert len(bedroom.changed) == 2
    assert bedroom.last() == bedroom.clock.at


def test_after_a_dream_there_is_none_for_a_day_and_then_only_after_more_sessions(
    bedroom: Bedroom,
) -> None:
    bedroom.project("shop")
    assert bedroom.dreamer().run_if_due() == 1
    bedroom.clock.at += DAY - 1
    assert bedroom.dreamer().run_if_due() == 0
    bedroom.clock.at += 2
    assert bedroom.dreamer().run_if_due() == 0, "nobody has worked since"


@pytest.mark.parametrize(
    ("shop", "office", "dreams"),
    [
        (6, 4, (6, 3)),
        (4, 4, (3, 3)),
        (6, 0, (6, 0)),
        (6, 1, (6, 1)),
        (2, 3, (2, 3)),
        (0, 0, (0, 0)),
    ],
)
def test_each_project_waits_for_its_own_sessions_whatever_the_others_do(
    bedroom: Bedroom, shop: int, office: int, dreams: tuple[int, int]
) -> None:
    """Six days, with so many sessions a day in each."""
    dreamed: list[int] = []
    for name in ("shop", "office"):
        bedroom.project(name, sessions=0)
    for _ in range(6):
        bedroom.clock.at += DAY
        for name, sessions in (("shop", shop), ("office", office)):
            bedroom.past[name].at = bedroom.clock.at
            bedroom.work(name, sessions)
        bedroom.changed.clear()
        bedroom.dreamer().run_if_due()
        dreamed += bedroom.changed
    ids = [bedroom.past[name].project_id for name in ("shop", "office")]
    assert tuple(dreamed.count(each) for each in ids) == dreams


def test_a_dream_on_request_puts_off_the_next_one_of_its_project_alone(bedroom: Bedroom) -> None:
    bedroom.project("shop")
    office = bedroom.project("office")
    assert bedroom.at_once("shop")["completed"]
    assert (bedroom.last("shop"), bedroom.last("office")) == (bedroom.clock.at, None)
    bedroom.clock.at += HOUR
    assert bedroom.dreamer().run_if_due() == 1
    assert retired(office) == 1
    assert bedroom.last("office") == bedroom.clock.at
    bedroom.clock.at += DAY
    bedroom.past["shop"].at = bedroom.clock.at
    bedroom.work("shop", MIN_SESSIONS)
    bedroom.at_once("shop")
    bedroom.clock.at += HOUR
    bedroom.past["shop"].at = bedroom.clock.at
    bedroom.work("shop", MIN_SESSIONS)
    assert bedroom.dreamer().run_if_due() == 0, "a day must pass between two of one project"
    bedroom.clock.at += DAY
    assert bedroom.dreamer().run_if_due() == 1


def test_what_was_dreamed_of_is_not_dreamed_of_again_for_the_sake_of_another(
    bedroom: Bedroom,
) -> None:
    bedroom.model = StubModel(["{}", Unavailable("overloaded")], then="{}")
    for name in ("shop", "office"):
        bedroom.project(name)
    assert bedroom.dreamer().run_if_due() == 2
    assert (bedroom.last("shop"), bedroom.last("office")) == (bedroom.clock.at, None)
    bedroom.clock.at += THROTTLE
    assert bedroom.dreamer().run_if_due() == 1
    assert bedroom.last("office") == bedroom.clock.at
    assert len(bedroom.model.requests) == 3


def test_the_disk_is_looked_at_once_in_a_while(bedroom: Bedroom) -> None:
    dreamer = bedroom.dreamer()
    bedroom.project("early", sessions=4)
    assert dreamer.run_if_due() == 0
    bedroom.project("shop")
    assert dreamer.run_if_due() == 0
    bedroom.clock.at += THROTTLE
    assert dreamer.run_if_due() == 1


def close_by_setting(bedroom: Bedroom) -> Dreamer:
    return bedroom.dreamer(**{"memory.dream": "off"})


def close_by_time(bedroom: Bedroom) -> Dreamer:
    record_dream(bedroom.memories(str(bedroom.folder / "shop")).places, bedroom.clock.at)
    return bedroom.dreamer()


@pytest.mark.parametrize("close", [close_by_setting, close_by_time])
def test_one_closed_gate_is_enough(bedroom: Bedroom, close: Callable[[Bedroom], Dreamer]) -> None:
    shop = bedroom.project("shop")
    assert close(bedroom).run_if_due() == 0
    assert retired(shop) == 0


def test_few_memories_are_left_alone(bedroom: Bedroom) -> None:
    shop = bedroom.project("shop", facts=MIN_MEMORIES - 3)
    assert bedroom.dreamer().run_if_due() == 0
    assert retired(shop) == 0


def test_without_memories_nothing_is_made(bedroom: Bedroom) -> None:
    assert bedroom.dreamer().run_if_due() == 0
    assert not bedroom.paths.memory.exists()


@pytest.mark.parametrize("dry_run", [False, True])
def test_while_another_one_dreams_nobody_else_does(bedroom: Bedroom, dry_run: bool) -> None:
    shop = bedroom.project("shop")
    with lock_dreams(shop.places.root):
        assert bedroom.dreamer().run_if_due() == 0
        with pytest.raises(MemoryRefused, match="Another dream is running"):
            bedroom.at_once("shop", dry_run=dry_run)
    assert retired(shop) == 0
    assert bedroom.dreamer().run_if_due() == 1


def test_whoever_is_quicker_to_the_lock_dreams(bedroom: Bedroom) -> None:
    shop, dreamer = bedroom.project("shop"), bedroom.dreamer()
    with ExitStack() as other:
        # After the gates.
        dreamer.before = lambda: other.enter_context(lock_dreams(shop.places.root))
        assert dreamer.run_if_due() == 0
    assert retired(shop) == 0
    assert bedroom.last() is None
    assert bedroom.dreamer().run_if_due() == 1


def test_while_a_model_thinks_about_a_dry_run_there_is_no_other(
    bedroom: Bedroom, monkeypatch: pytest.MonkeyPatch
) -> None:
    bedroom.model = StubModel(then="{}")
    bedroom.project("shop")
    bedroom.project("office")
    answer = StubModel.ask
    meanwhile: list[int] = []

    def ask(self: StubModel, request: Request) -> Reply | Failure:
        for name in ("shop", "office"):
            with pytest.raises(MemoryRefused, match="is running"):
                bedroom.at_once(name, dry_run=True)
        meanwhile.append(bedroom.dreamer().run_if_due())
        return answer(self, request)

    monkeypatch.setattr(StubModel, "ask", ask)
    assert bedroom.at_once("shop", dry_run=True)["diff"]
    assert meanwhile == [0]
    assert len(bedroom.model.requests) == 1
    monkeypatch.setattr(StubModel, "ask", answer)
    assert bedroom.dreamer().run_if_due() == 2, "it is over"


def test_why_nothing_was_changed_is_told() -> None:
    shown = result_json(
        DreamResult(given_up="a memory would not be found", unanswered="overloaded")
    )
    assert shown["lines"] == [
        "The model gave no usable answer: overloaded",
        "Nothing was changed: a memory would not be found",
    ]
    assert result_json(DreamResult())["lines"] == ["The memories are in order."]


def test_a_dream_whose_model_was_away_is_not_completed_and_comes_again(bedroom: Bedroom) -> None:
    bedroom.model = StubModel([Unavailable("overloaded")], then="{}")
    shop = bedroom.project("shop")
    bedroom.dreamer().run_if_due()
    assert retired(shop) == 1, "what rules can do is done"
    assert bedroom.last() is None
    bedroom.dreamer().run_if_due()
    assert bedroom.last() == bedroom.clock.at
    assert len(bedroom.model.requests) == 2


def test_a_model_is_told_what_was_done_lately_and_its_reply_is_in_the_ledger(
    bedroom: Bedroom,
) -> None:
    bedroom.model = StubModel(then="{}")
    bedroom.project("shop")
    shown = bedroom.dreamer().run_on_request({"dir": str(bedroom.folder / "shop"), "dry_run": True})
    (asked,) = bedroom.model.requests
    assert "Shelf 3 was filled" in asked.message
    assert bedroom.store.requests.spent(0, 1 << 60).requests == 1
    assert shown["diff"]
    assert (shown["entry"], bedroom.changed, bedroom.last()) == (None, set(), None)
    assert asked.message.count("## shop-") == MIN_MEMORIES + 1
    small = bedroom.dreamer(**{"synthesis.request_tokens": 100})
    small.run_on_request({"dir": str(bedroom.folder / "shop"), "dry_run": True})
    assert 2 <= bedroom.model.requests[-1].message.count("## shop-") < MIN_MEMORIES


def test_a_dream_on_request_needs_no_gate_and_no_project(bedroom: Bedroom) -> None:
    shop = bedroom.project("shop", sessions=0, facts=0)
    done = bedroom.dreamer().run_on_request({"dir": str(bedroom.folder / "shop"), "dry_run": False})
    assert done["completed"]
    assert done["entry"]
    assert retired(shop) == 1
    assert len(bedroom.changed) == 1
    elsewhere = bedroom.dreamer().run_on_request({"dir": str(bedroom.folder), "dry_run": False})
    assert elsewhere["lines"] == ["The memories are in order."]
    assert len(bedroom.changed) == 1


def work(home: Paths, store: Store, model: StubModel | None) -> tuple[MemoryWork, Context]:
    choice = Choice(Author("stub"), "a test", model=model, terms=TERMS)
    context = make_context(home, store, clocks.now, choice=choice, env={})
    return MemoryWork(context), context


def test_only_a_model_that_answers_at_once_chooses_at_prompts(home: Paths, store: Store) -> None:
    for name, answers in (("stub", True), ("claude", False)):
        made, _ = work(home, store, StubModel(name=name))
        assert (made.recall.asking(1) is not None) is answers
        assert made.dreamer.asking() is not None
    made, _ = work(home, store, None)
    assert (made.recall.asking(1), made.dreamer.asking()) == (None, None)


def test_a_model_that_is_away_is_not_asked_for_memories(home: Paths, store: Store) -> None:
    made, context = work(home, store, StubModel())
    context.breaker.trip(Unavailable("overloaded"))
    assert (made.recall.asking(1), made.dreamer.asking()) == (None, None)


def test_where_a_directory_belongs_is_found_out_once_in_a_while(
    home: Paths, store: Store, tmp_path: Path
) -> None:
    made, _ = work(home, store, None)
    assert made.find(str(tmp_path)) is made.find(str(tmp_path))
