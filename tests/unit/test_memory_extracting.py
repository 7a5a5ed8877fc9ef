"""When a turn is looked through for memories, when not, and what its failures cost."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import pytest

from aforesaid import wiring
from aforesaid.clock import DAY, HOUR
from aforesaid.errors import MemoryRefused
from aforesaid.memory.changes import Memories
from aforesaid.model.jobs import MAX_TRIES, SUMMARIZE, Job
from aforesaid.model.memories import Memory
from aforesaid.model.requests import Failure, Refused, Unavailable
from aforesaid.model.sessions import Session
from aforesaid.paths import Paths
from aforesaid.store.store import Store
from aforesaid.worker.extraction import Extractor
from tests.support import payloads
from tests.support.context import make_context
from tests.support.memory_edits import edit_while_swapping
from tests.support.stub_model import FakeClock, StubModel, Turns, asking
from tests.support.values import require

SAID = "I prefer tabs. Remember that."
MEANT = "the audit log is kept for seven years"
DRAFT = json.dumps(
    [
        {
            "type": "project",
            "name": "audit-log-kept-for-seven-years",
            "description": "The audit log is kept for seven years",
            "body": MEANT,
        }
    ]
)


@dataclass
class Desk:
    """One session whose turns are looked through."""

    paths: Paths
    store: Store
    clock: FakeClock = field(default_factory=FakeClock)
    changed: set[int] = field(default_factory=set)
    last: Job | None = None

    @property
    def memories(self) -> Memories:
        return wiring.memories(wiring.home(), payloads.CWD, self.clock)

    def names(self) -> list[str]:
        return sorted(each.memory.name for each in self.memories.all().memories)

    def turn(self, prompt: str, answer: str = "Done.", *between: bytes) -> tuple[Job, Session]:
        """The job of its summary. That of the turn before is over by then."""
        if self.last is not None:
            self.store.jobs.skip(self.last, "seen", self.clock())
        name = f"p-{self.clock.at}"
        turns = Turns(self.paths, self.store, self.clock, self.clock.at)
        stop = payloads.stop("s1", name, answer)
        turns.deliver(payloads.prompt("s1", name, prompt), *between, stop)
        while job := self.store.jobs.claim("test", self.clock(), self.clock() + HOUR):
            session = self.store.sessions.get(job.session_id)
            assert session is not None
            if job.kind == SUMMARIZE:
                self.last = job
                return job, session
            self.store.jobs.skip(job, "seen", self.clock())
        raise AssertionError("there is no summary to write")

    def extract(self, job: Job, session: Session, model: StubModel | None = None) -> Failure | None:
        context = make_context(self.paths, self.store, self.clock)
        context.changed = self.changed
        extractor = Extractor(context, lambda _: self.memories)
        asked = asking(self.store, model, self.clock, job) if model else None
        return extractor.run(job, session, asked)


@pytest.fixture
def desk(home: Paths) -> Iterator[Desk]:
    store = Store(home.database, writer=True)
    yield Desk(home, store)
    store.close()


def test_what_was_said_plainly_is_kept_with_its_evidence_and_once(desk: Desk) -> None:
    job, session = desk.turn(SAID)
    assert desk.extract(job, session) is None
    assert desk.extract(job, session) is None
    found = desk.memories.get("prefers-tabs")
    assert found is not None
    (event,) = found.memory.evidence
    assert event.startswith("event ")
    assert desk.changed == {session.project_id}


def test_a_turn_that_is_written_about_again_was_looked_through_before(desk: Desk) -> None:
    job, session = desk.turn(SAID)
    desk.extract(replace(job, written_by="rules"), session)
    assert desk.names() == []


def test_a_model_adds_what_was_meant_and_is_not_asked_about_tasks(desk: Desk) -> None:
    model = StubModel(then=DRAFT)
    assert desk.extract(*desk.turn(MEANT), model) is None
    assert desk.names() == ["audit-log-kept-for-seven-years"]
    desk.extract(*desk.turn("fix the failing test in pump.py"), model)
    assert len(model.requests) == 1


def test_what_is_imported_from_long_ago_is_not_paid_for(desk: Desk) -> None:
    model = StubModel(then=DRAFT)
    job, session = desk.turn(f"{MEANT}. {SAID}")
    desk.clock.at += 2 * DAY
    assert desk.extract(job, session, model) is None
    assert model.requests == []
    assert desk.names() == ["prefers-tabs"]


def test_a_model_that_is_away_has_it_tried_again_and_nothing_is_half_done(desk: Desk) -> None:
    job, session = desk.turn(f"{MEANT}. {SAID}")
    away = Unavailable("overloaded")
    model = StubModel([away], then=DRAFT)
    assert desk.extract(job, session, model) == away
    assert desk.names() == []
    assert desk.extract(job, session, model) is None
    assert desk.names() == ["audit-log-kept-for-seven-years", "prefers-tabs"]


@pytest.mark.parametrize("answer", [Refused("no"), "I would rather not."], ids=["refused", "prose"])
def test_a_model_that_does_not_want_to_leaves_it_to_the_rules(
    desk: Desk, answer: str | Refused
) -> None:
    assert desk.extract(*desk.turn(SAID), StubModel(then=answer)) is None
    assert desk.names() == ["prefers-tabs"]


def test_a_reply_that_cannot_be_read_is_not_used_again(desk: Desk) -> None:
    job, session = desk.turn(MEANT)
    model = StubModel(["What?"], then=DRAFT)
    desk.extract(job, session, model)
    desk.extract(job, session, model)
    assert desk.names() == ["audit-log-kept-for-seven-years"]


@pytest.mark.parametrize("error", [OSError(28, "No space left"), MemoryRefused("somebody writes")])
def test_a_memory_that_cannot_be_written_does_not_hold_up_the_summary(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def refuse(*_: object) -> None:
        raise error

    monkeypatch.setattr("aforesaid.worker.extraction.extract.apply_statements", refuse)
    job, session = desk.turn(SAID)
    if isinstance(error, OSError):
        with pytest.raises(OSError, match="No space"):
            desk.extract(job, session)
    assert desk.extract(replace(job, tries=MAX_TRIES), session) is None
    assert not desk.changed


def test_a_memory_that_is_being_edited_does_not_hold_up_the_others(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    edit_while_swapping(monkeypatch, "prefers-tabs")
    job, session = desk.turn("Never push to main. I prefer tabs.")
    assert desk.extract(job, session) is None
    assert len(desk.names()) == 2
    assert require(desk.memories.get("prefers-tabs")).memory.description == "mine"
    assert desk.changed == {session.project_id}


def test_a_short_correction_is_understood_by_what_was_said_before(desk: Desk) -> None:
    width = Memory("width", "Lines have 80 columns", "project", "Lines have 80 columns.")
    with desk.memories.change("test") as change:
        change.write(width)
    desk.turn("How wide is a line?", "I see. Lines have 80 columns.")
    desk.extract(*desk.turn("not 80 columns, 100"))
    found = desk.memories.get("lines-have-100-columns")
    assert found is not None
    assert found.memory.description == "Lines have 100 columns"


def test_a_turn_without_a_prompt_says_nothing(desk: Desk) -> None:
    job, session = desk.turn(SAID)
    assert desk.extract(replace(job, prompt_number=2), session) is None
    assert desk.names() == []


def test_what_the_agent_wrote_down_is_enough_but_for_a_correction(desk: Desk) -> None:
    def wrote(number: int) -> bytes:
        path = f"{desk.paths.memory}/user/mine-{number}.md"
        return payloads.write("s1", f"t{number}", f"p-{desk.clock.at}", path)

    model = StubModel(then=DRAFT)
    desk.extract(*desk.turn(f"{SAID} {MEANT}", "Noted.", wrote(1)), model)
    assert (desk.names(), model.requests) == ([], [])
    desk.extract(*desk.turn(SAID))
    desk.extract(*desk.turn("no, use spaces instead", "Noted.", wrote(2)))
    found = desk.memories.get("prefers-spaces")
    assert found is not None
    assert found.memory.description == "The user prefers spaces"


def test_a_file_of_the_project_is_no_memory(desk: Desk) -> None:
    wrote = payloads.write("s1", "t1", f"p-{desk.clock.at}", f"{payloads.CWD}/tabs.md")
    desk.extract(*desk.turn(SAID, "Done.", wrote))
    assert desk.names() == ["prefers-tabs"]
