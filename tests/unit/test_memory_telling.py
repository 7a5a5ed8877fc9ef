"""What a prompt is told of the curated memories: who chose it, when it was chosen, and what it may cost."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

import pytest

from aforesaid import wiring
from aforesaid.clock import Clock
from aforesaid.memory.changes import Memories
from aforesaid.memory.ranking import MemoryRanker
from aforesaid.memory.selection import MAX_SESSION_BYTES
from aforesaid.model.memories import Memory
from aforesaid.model.requests import Request, Unavailable
from aforesaid.model.search import MemoryInjection
from aforesaid.model.sessions import Session
from aforesaid.paths import Paths
from aforesaid.recall.brief import INDEXED
from aforesaid.settings import Settings, Value
from aforesaid.store.store import Store
from aforesaid.synthesis.cost import Budget, Prices
from aforesaid.synthesis.model import Requester, Terms
from aforesaid.worker import memory as memory_telling
from aforesaid.worker.memory import CHOSEN_LATE, LEAD, MemoryRecall
from tests.support.arrivals import Told
from tests.support.memory import Memory as Stored
from tests.support.product import until
from tests.support.stub_model import FakeClock, StubModel

WRITE = "Write a Python file that prints the totals"
RECEIPTS = "How does the till print receipts?"
TABS = Memory(
    "prefers-tabs", "The user prefers tabs", "user", "The editor shows them at any width."
)
VAULT = Memory("deploy-key", "Where the deploy key is", "reference", "In the vault, blue shelf.")
LONG = 60.0  # seconds; nobody waits for them


@pytest.fixture
def clock(memory: Stored) -> FakeClock:
    return FakeClock(memory.at)


@pytest.fixture
def session(memory: Stored) -> Session:
    told = Told(memory.project_id, session="s1")
    memory.store.events.add([told.start()], memory.at)
    return memory.session("s1")


@pytest.fixture
def memories(home: Paths, tmp_path: Path, clock: FakeClock) -> Memories:
    found = wiring.memories(wiring.home(), str(tmp_path), clock)
    with found.change("test") as change:
        change.write(TABS)
        change.write(VAULT)
    return found


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A prompt that waits for the model, however busy the machine is."""
    monkeypatch.setattr(memory_telling, "WAIT", LONG)


class Telling(Protocol):
    def __call__(self, model: StubModel | None, **set_to: Value) -> MemoryRecall: ...


@pytest.fixture
def telling(store: Store, memories: Memories) -> Iterator[Telling]:
    made: list[MemoryRecall] = []

    def make(model: StubModel | None, **set_to: Value) -> MemoryRecall:
        def asking(session_id: int) -> Requester | None:
            return questions(store, model, memories.clock, session_id) if model else None

        found = wiring.home().settings
        settings = Settings(dict(found.values) | set_to, found.origins)
        made.append(MemoryRecall(store, lambda _: memories, settings, MemoryRanker(None), asking))
        return made[-1]

    yield make
    for each in made:
        each.close()


def questions(store: Store, model: StubModel, clock: Clock, session_id: int) -> Requester:
    terms = Terms("v1", Prices.of(()), Budget(0, 0, clock))
    return Requester(store, model, terms, clock, session_id, None)


def record(store: Store, session: Session, given: list[MemoryInjection], at: int) -> None:
    store.injections.add(session.id, "new", given, at)


def test_without_a_model_words_choose_and_it_is_told_once(
    store: Store, memories: Memories, session: Session, clock: FakeClock, telling: Telling
) -> None:
    ours = telling(None)
    text, given = ours.recall_for_prompt(session, WRITE)
    assert LEAD in text
    assert TABS.body in text
    assert [(each.name, each.reason) for each in given] == [(TABS.name, "near to the prompt")]
    record(store, session, given, clock.at)
    assert ours.recall_for_prompt(session, WRITE) == ("", [])
    clock.at += 1_000
    compaction = Told(session.project_id, session="s1", at=clock.at, count=1).compact()
    store.events.add([compaction], clock.at)
    assert TABS.body in ours.recall_for_prompt(session, WRITE)[0]


def test_a_line_in_the_brief_is_not_the_text(
    store: Store, memories: Memories, session: Session, clock: FakeClock, telling: Telling
) -> None:
    record(store, session, [MemoryInjection(TABS.name, "user", INDEXED, 9, 40)], clock.at)
    assert TABS.body in telling(None).recall_for_prompt(session, WRITE)[0]


def test_a_session_is_told_so_much_and_no_more(
    store: Store, memories: Memories, session: Session, clock: FakeClock, telling: Telling
) -> None:
    much = MemoryInjection("others", "user", "near to the prompt", 9, MAX_SESSION_BYTES - 10)
    record(store, session, [much], clock.at)
    assert telling(None).recall_for_prompt(session, WRITE) == ("", [])


@pytest.mark.usefixtures("patient")
def test_the_models_choice_counts_and_not_the_words(
    store: Store, memories: Memories, session: Session, telling: Telling
) -> None:
    model = StubModel(["Asks for: code\nNotes: deploy-key"], then="Notes: none")
    ours = telling(model)
    text, given = ours.recall_for_prompt(session, WRITE)
    assert VAULT.body in text
    assert TABS.body not in text
    assert [each.reason for each in given] == ["the model chose it for the prompt"]
    assert ours.recall_for_prompt(session, WRITE) == ("", [])


@pytest.mark.usefixtures("patient")
def test_the_model_is_shown_the_last_prompts_and_only_what_was_not_told(
    store: Store, memories: Memories, session: Session, clock: FakeClock, telling: Telling
) -> None:
    told = Told(session.project_id, session="s1")
    store.events.add([told.prompt(f"Mend pump {n}") for n in range(1, 6)], clock.at)
    model = StubModel(then="Notes: deploy-key")
    ours = telling(model)
    _, given = ours.recall_for_prompt(session, WRITE)
    (asked,) = model.requests
    assert [f"Mend pump {n}" in asked.message for n in range(1, 6)] == [
        False,
        False,
        True,
        True,
        True,
    ]
    assert WRITE in asked.message
    record(store, session, given, clock.at)
    ours.recall_for_prompt(session, WRITE)
    assert VAULT.name not in model.requests[1].message
    assert TABS.name in model.requests[1].message


@dataclass
class Slow:
    """A model that answers when it may."""

    says: str
    may_answer: threading.Event = field(default_factory=threading.Event)

    def __call__(self, _: Request) -> str:
        self.may_answer.wait(LONG)
        return self.says


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[Slow]:
    monkeypatch.setattr(memory_telling, "WAIT", 0.0)
    model = Slow("Notes: deploy-key")
    yield model
    model.may_answer.set()


def test_an_answer_that_comes_late_is_told_at_the_next_prompt(
    store: Store, memories: Memories, session: Session, slow: Slow, telling: Telling
) -> None:
    ours = telling(StubModel([slow], then="Notes: none"))
    text, _ = ours.recall_for_prompt(session, WRITE)
    assert TABS.body in text, "the words stand in"
    assert VAULT.body not in text
    late = ours._late[session.id]
    slow.may_answer.set()
    until(late.done)
    text, given = ours.recall_for_prompt(session, RECEIPTS)
    assert VAULT.body in text
    assert [(each.name, each.reason) for each in given] == [(VAULT.name, CHOSEN_LATE)]


def test_who_ends_waits_for_what_is_still_asked(
    store: Store, session: Session, slow: Slow, telling: Telling
) -> None:
    """The question writes into the ledger, and SQLite does not survive being closed meanwhile."""
    ours = telling(StubModel([slow]))
    ours.recall_for_prompt(session, WRITE)
    assert store.requests.spent(0, 1 << 60).requests == 0
    threading.Timer(0.05, slow.may_answer.set).start()
    ours.close()
    assert store.requests.spent(0, 1 << 60).requests == 1
    ours.close()


def test_a_late_choice_that_was_changed_meanwhile_is_dropped(
    store: Store, memories: Memories, session: Session, slow: Slow, telling: Telling
) -> None:
    ours = telling(StubModel([slow], then="Notes: none"))
    ours.recall_for_prompt(session, RECEIPTS)
    late = ours._late[session.id]
    slow.may_answer.set()
    until(late.done)
    with memories.change("moved") as change:
        old = change.get(VAULT.name)
        assert old is not None
        change.write(replace(old.memory, body="In the safe."), old.checksum)
    assert ours.recall_for_prompt(session, "And how does it print refunds?") == ("", [])


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize(
    "answer", [Unavailable("overloaded"), "I am a teapot."], ids=["away", "unreadable"]
)
def test_words_stand_in_for_a_model_that_fails(
    store: Store, memories: Memories, session: Session, answer: str | Unavailable, telling: Telling
) -> None:
    text, given = telling(StubModel(then=answer)).recall_for_prompt(session, WRITE)
    assert TABS.body in text
    assert [each.reason for each in given] == ["near to the prompt"]


@pytest.mark.usefixtures("patient")
def test_no_model_is_asked_where_that_is_not_wanted_or_there_is_nothing_to_ask(
    store: Store, memories: Memories, session: Session, telling: Telling
) -> None:
    model = StubModel(then="Notes: deploy-key")
    told = telling(model, **{"memory.select": "engine"}).recall_for_prompt(session, WRITE)
    assert TABS.body in told[0]
    assert telling(model).recall_for_prompt(session, "go on") == ("", [])
    silent = telling(model, **{"memory.tokens": 0})
    assert silent.recall_for_prompt(session, WRITE) == ("", [])
    assert model.requests == []


@pytest.mark.usefixtures("patient")
def test_what_does_not_fit_is_left_out_and_the_next_one_is_told(
    store: Store, memories: Memories, session: Session, telling: Telling
) -> None:
    with memories.change("a long one") as change:
        change.write(Memory("long-story", "A story", "project", "Once upon a time. " * 200))
    model = StubModel(then="Notes: long-story, deploy-key")
    text, given = telling(model, **{"memory.tokens": 100}).recall_for_prompt(session, WRITE)
    assert [each.name for each in given] == [VAULT.name]
    assert "Once upon a time" not in text
