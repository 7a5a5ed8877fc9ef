"""What is read of which transcript, when, and how far. The agent is a stub; the store is the real one."""

import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from aforesaid import log
from aforesaid.agents.base import Agent, Variables
from aforesaid.agents.claude_code.install import CONNECTION
from aforesaid.agents.connection import Connection
from aforesaid.clock import DAY, HOUR, MINUTE, SECOND
from aforesaid.errors import StoreError
from aforesaid.model.events import (
    Arrival,
    Capture,
    Event,
    FileWanted,
    Healed,
    Ingested,
    TranscriptEvent,
    TranscriptFile,
    Unreadable,
)
from aforesaid.paths import Paths
from aforesaid.store.events import Events
from aforesaid.store.store import Store
from aforesaid.worker import reconcile
from aforesaid.worker.reconcile import Reconciler, TranscriptThread
from tests.support import arrivals
from tests.support.arrivals import START, repository
from tests.support.context import make_context
from tests.support.stored import events_of

NOW = START + DAY
SHOP = "/home/dev/shop"


@dataclass(slots=True)
class Stub(Agent):
    """An agent whose transcripts are lists; a mark is how many of a list's events were told."""

    name: str = "claude-code"
    variables: Variables = Variables()  # noqa: RUF009 - frozen
    connection: Connection | None = CONNECTION
    files: dict[str, TranscriptFile] = field(default_factory=dict)
    told: dict[str, list[Arrival]] = field(default_factory=dict)
    read: list[tuple[str, str | None]] = field(default_factory=list)
    broken: set[str] = field(default_factory=set)

    def add(
        self, told: list[Arrival], *, cwd: str = SHOP, modified: int = NOW - MINUTE
    ) -> TranscriptFile:
        ref = told[0].event.session
        self.told[ref] = told
        path = f"/transcripts/{ref}"
        self.files[ref] = TranscriptFile(self.name, path, ref, cwd, len(told), modified)
        return self.files[ref]

    def parse(self, capture: Capture) -> Event | Unreadable | None:
        raise AssertionError(capture)

    def file_wanted(self, capture: Capture) -> FileWanted | None:
        raise AssertionError(capture)

    def reply(self, hook: str, context: str, *, note: str | None = None) -> bytes:
        raise AssertionError(hook)

    def transcripts(self, env: Mapping[str, str]) -> Iterator[TranscriptFile]:
        assert env == {"HOME": "/home/dev"}
        yield from sorted(self.files.values(), key=lambda file: -file.modified)

    def transcript_folder(self, env: Mapping[str, str]) -> Path:
        raise AssertionError(env)

    def read_transcript(
        self,
        file: TranscriptFile,
        mark: str | None,
        on_passed_over: Callable[[int], None] = lambda _: None,
    ) -> Iterator[TranscriptEvent]:
        self.read.append((file.session, mark))
        if file.session in self.broken:
            raise ValueError("a line that nobody thought of")
        for number, arrival in enumerate(self.told[file.session], 1):
            if number > int(mark or 0):
                yield TranscriptEvent(arrival.capture, arrival.event, str(number))


class Choking(Events):
    """Refuses to heal from the given transaction on."""

    healings_left = 1_000

    def heal(self, arrivals: Iterable[Arrival], now: int) -> Healed:
        self.healings_left -= 1
        if self.healings_left < 0:
            raise StoreError("the disk is full")
        return super().heal(arrivals, now)


def allow_healings(store: Store, number: int) -> None:
    assert isinstance(store.events, Choking)
    store.events.healings_left = number


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store(tmp_path / "store" / "aforesaid.db", writer=True)
    opened.events = Choking(opened.database)
    yield opened
    opened.close()


@pytest.fixture
def agent() -> Stub:
    return Stub()


def reconciler(store: Store, agent: Stub, *, now: int = NOW) -> Reconciler:
    context = make_context(
        Paths.of({"AFORESAID_HOME": "/home/dev"}),
        store,
        lambda: now,
        agents={agent.name: agent},
        env={"HOME": "/home/dev"},
    )
    return Reconciler(context)


def look(reconciler: Reconciler) -> Healed:
    parts = list(reconciler.look())
    return Healed(sum(each.added for each in parts), sum(each.turns for each in parts))


def know(store: Store, directory: str = SHOP, *, since: int = START) -> int:
    return store.projects.resolve(repository(directory.rpartition("/")[2]), directory, since)


def turns(session: str, count: int, *, tools: int = 1) -> list[Arrival]:
    """As a transcript has them: nothing says where it lies."""
    told = arrivals.Told(0, session=session)
    found = []
    for number in range(count):
        name = f"{session}-{number}"
        found.append(told.prompt(name, id=name))
        found += [told.tool(f"{name}-{n}", prompt_id=name) for n in range(tools)]
        found.append(told.stop(prompt_id=name))
    return [replace(a, event=replace(a.event, transcript=None)) for a in found]


def stored(store: Store, session: str) -> list[str]:
    found = store.sessions.find("claude-code", session)
    return [e.capture.id for e in events_of(store, found.id)] if found else []


def ids(told: list[Arrival]) -> list[str]:
    return [arrival.capture.id for arrival in told]


def test_a_session_is_read_to_its_end_and_then_only_what_is_new(store: Store, agent: Stub) -> None:
    told = turns("s1", 3)
    project = know(store)
    store.events.add([replace(told[0], project_id=project)], START)
    agent.add(told[:4])
    mended = reconciler(store, agent)
    assert mended.session("claude-code", "s1") == Healed(3, 1)
    agent.add(told, modified=NOW)
    assert mended.session("claude-code", "s1") == Healed(5, 2)
    assert agent.read == [("s1", None), ("s1", "4")]
    assert stored(store, "s1") == ids(told)


def test_after_a_look_only_what_was_written_since_is_looked_at_even_by_another_worker(
    store: Store, agent: Stub
) -> None:
    know(store)
    agent.add(turns("s1", 1), modified=NOW - MINUTE)
    assert look(reconciler(store, agent)) == Healed(3, 1)
    agent.add(turns("s2", 1), modified=NOW + MINUTE)
    assert look(reconciler(store, agent, now=NOW + DAY)) == Healed(3, 1)
    assert agent.read == [("s1", None), ("s2", None)]


def test_whose_transcripts_are_read_automatically(store: Store, agent: Stub) -> None:
    know(store, since=START + MINUTE)
    agent.add(turns("new", 1), modified=START + MINUTE)
    agent.add(turns("before-aforesaid", 1), modified=START)
    agent.add(turns("elsewhere", 1), cwd="/home/dev/other", modified=NOW)
    agent.add(turns("nowhere", 1), cwd="", modified=NOW)
    agent.add(turns("doctor-1", 1), modified=NOW)
    known = turns("known", 1)
    agent.add(known, cwd="/home/dev/moved", modified=START)
    store.events.add([replace(known[0], project_id=1)], START)
    look(reconciler(store, agent))
    assert {ref for ref, _ in agent.read} == {"new", "known"}
    assert store.health().sessions == 2


def check_look_in_steps(store: Store, agent: Stub, reconciler: Reconciler) -> None:
    know(store)
    for number in range(5):
        agent.add(turns(f"s{number}", 2))
    thread = TranscriptThread(reconciler, on_healed=lambda: None, on_looked=lambda: None)
    thread.look()
    steps = 1
    while thread.turn() is not None:
        assert not thread.idle()
        steps += 1
    assert steps > 5
    assert len(agent.read) == 5
    assert store.health().events == 30
    assert thread.idle()


def test_a_look_goes_on_where_its_time_was_up(
    store: Store, agent: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reconcile, "STEP_SECONDS", 0.0)
    check_look_in_steps(store, agent, reconciler(store, agent))


def test_a_look_goes_on_where_somebody_else_came_first(
    store: Store, agent: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reconcile, "STEP_SECONDS", 60.0)
    found = reconciler(store, agent)
    monkeypatch.setattr(found.context, "go_on", lambda: False)
    check_look_in_steps(store, agent, found)


def test_a_look_that_fails_is_begun_again(store: Store, agent: Stub) -> None:
    know(store)
    agent.add(turns("s1", 2))
    allow_healings(store, 0)
    thread = TranscriptThread(
        reconciler(store, agent), on_healed=lambda: None, on_looked=lambda: None
    )
    thread.look()
    with pytest.raises(StoreError):
        thread.turn()
    assert not thread.idle()
    allow_healings(store, 100)
    assert thread.turn() is None
    assert store.health().events == 6


def test_what_is_young_is_left_to_its_hook_for_a_while(store: Store, agent: Stub) -> None:
    told = turns("s1", 1)
    know(store)
    agent.add(told)
    young = reconciler(store, agent, now=told[1].capture.at + SECOND)
    assert look(young).added == 2
    assert reconciler(store, agent).session("claude-code", "s1") == Healed(1, 1)
    assert agent.read == [("s1", None), ("s1", "2")]


def test_a_long_transcript_is_taken_in_parts_that_end_with_a_turn(
    store: Store, agent: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reconcile, "ENOUGH_EVENTS", 10)
    parts: list[list[str]] = []
    whole = store.events.heal

    def heal(arrivals: list[Arrival], now: int) -> Healed:
        parts.append([arrival.event.kind for arrival in arrivals])
        return whole(arrivals, now)

    monkeypatch.setattr(store.events, "heal", heal)
    know(store)
    agent.add(turns("s1", 10, tools=2))
    assert look(reconciler(store, agent)) == Healed(40, 10)
    assert [len(part) for part in parts] == [12, 12, 12, 4]
    assert {(part[0], part[-1]) for part in parts} == {("prompt", "stop")}


def test_work_on_a_transcript_begins_when_all_of_it_is_read(
    store: Store, agent: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reconcile, "ENOUGH_EVENTS", 6)
    know(store)
    file = agent.add(turns("s1", 4))
    parts = reconciler(store, agent).file(file)
    assert next(parts) == Healed(6, 2)
    assert store.jobs.claim("test", NOW, NOW + HOUR) is None
    assert list(parts) == [Healed(6, 2)]
    turns_begun = []
    while job := store.jobs.claim("test", NOW, NOW + HOUR):
        turns_begun.append(job.prompt_number)
        store.jobs.skip(job, "seen", NOW)
    assert turns_begun == [1, 1, 2, 2, 3, 3, 4, 4]


def test_a_turn_without_end_is_taken_in_parts_too(
    store: Store, agent: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reconcile, "MOST_EVENTS", 10)
    know(store)
    told = turns("s1", 1, tools=50)
    agent.add(told)
    allow_healings(store, 3)
    with pytest.raises(StoreError):
        look(reconciler(store, agent))
    assert stored(store, "s1") == ids(told[:30])


def test_a_kill_in_the_middle_costs_a_second_look_and_nothing_else(
    store: Store, agent: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reconcile, "ENOUGH_EVENTS", 6)
    told = turns("s1", 8)
    know(store)
    agent.add(told)
    allow_healings(store, 2)
    with pytest.raises(StoreError):
        look(reconciler(store, agent))
    assert store.events.transcript_mark("claude-code", "s1") == "12"
    allow_healings(store, 100)
    assert look(reconciler(store, agent)) == Healed(12, 4)
    assert agent.read == [("s1", None), ("s1", "12")]
    assert stored(store, "s1") == ids(told)


def test_a_kill_between_events_and_mark_doubles_nothing(store: Store, agent: Stub) -> None:
    know(store)
    agent.add(turns("s1", 2))
    look(reconciler(store, agent))
    store.events.set_transcript_mark("claude-code", "s1", "0", NOW)
    assert reconciler(store, agent).session("claude-code", "s1") == Healed(0, 0)
    assert store.health().events == 6


def test_a_transcript_that_cannot_be_read_stops_no_other_and_is_told_once(
    store: Store, agent: Stub, caplog: pytest.LogCaptureFixture
) -> None:
    know(store)
    agent.add(turns("bad", 1), modified=NOW)
    agent.add(turns("good", 1), modified=NOW - MINUTE)
    agent.broken.add("bad")
    mended = reconciler(store, agent)
    with caplog.at_level(logging.INFO, log.LOGGER.name):
        look(mended)
        agent.add(turns("bad", 2), modified=NOW + SECOND)
        look(mended)
    assert stored(store, "good")
    assert caplog.text.count("heal.failed") == 1
    assert "nobody thought of" not in caplog.text


def test_a_transcript_that_is_gone_is_no_fault(
    store: Store, agent: Stub, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    told = arrivals.Told(know(store))
    prompt = told.prompt("one")
    gone = replace(prompt.event, transcript=str(tmp_path / "gone.jsonl"))
    store.events.add([replace(prompt, event=gone)], START)
    mended = reconciler(store, agent)
    with caplog.at_level(logging.INFO, log.LOGGER.name):
        for _ in range(2):
            assert mended.session("claude-code", "session-1") == Healed(0, 0)
    assert caplog.text.count("heal.no_transcript") == 1
    assert not mended.has_transcript("claude-code", "session-1")
    assert not mended.has_transcript("claude-code", "never heard of")


def test_the_path_that_a_hook_gave_is_read_without_looking_around(
    store: Store, agent: Stub, tmp_path: Path
) -> None:
    told = turns("s1", 1)
    path = tmp_path / "s1.jsonl"
    path.write_text(json.dumps({}))
    first = replace(told[0], project_id=know(store))
    first = replace(first, event=replace(first.event, transcript=str(path)))
    store.events.add([first], START)
    agent.told["s1"] = told  # but it is in no listing
    assert reconciler(store, agent).session("claude-code", "s1") == Healed(2, 1)


def test_when_a_session_begins_the_ones_before_it_are_read(store: Store, agent: Stub) -> None:
    told = turns("s1", 1)
    agent.add(told)
    store.events.add([replace(told[0], project_id=know(store))], START)
    thread = TranscriptThread(
        reconciler(store, agent), on_healed=lambda: None, on_looked=lambda: None
    )
    thread.after(Ingested(begun=frozenset({("claude-code", "s2")})))
    thread.turn()
    assert stored(store, "s1") == ids(told)


def test_a_silent_session_is_read_to_its_end_before_it_is_called_interrupted(
    store: Store, agent: Stub
) -> None:
    told = turns("s1", 1)
    store.events.add([replace(told[0], project_id=know(store))], START)
    agent.add(told)
    later = NOW + 2 * DAY
    reconciler(store, agent, now=later).interrupt_stale()
    session = store.sessions.find("claude-code", "s1")
    assert session is not None
    assert (session.status, session.ended_at) == ("completed", told[-1].capture.at)
    assert stored(store, "s1") == ids(told)


def test_a_session_that_arrives_while_silent_ones_are_read_is_not_called_interrupted(
    store: Store, agent: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    project, later = know(store), NOW + 2 * DAY
    first, second = turns("s1", 1), turns("s2", 1)
    store.events.add([replace(first[0], project_id=project)], START)
    agent.add(first)
    real = reconciler(store, agent, now=later)

    read = Stub.read_transcript

    def read_transcript(*arguments: Any) -> Iterator[TranscriptEvent]:
        store.events.add([replace(second[0], project_id=project)], START)
        return read(*arguments)

    monkeypatch.setattr(Stub, "read_transcript", read_transcript)
    real.interrupt_stale()
    found = [store.sessions.find("claude-code", ref) for ref in ("s1", "s2")]
    assert [session and session.status for session in found] == ["completed", "active"]


def test_a_look_that_is_asked_for_during_a_look_is_another(store: Store, agent: Stub) -> None:
    looks: list[int] = []

    def looked() -> None:
        looks.append(len(looks))
        if len(looks) == 1:
            thread.look()
        else:
            thread.stop()

    thread = TranscriptThread(
        reconciler(store, agent),
        on_healed=lambda: None,
        on_looked=looked,
    )
    thread.look()
    thread.run()
    assert looks == [0, 1]
    assert not thread.context.faults
    assert thread.idle()


def test_a_hook_that_comes_after_an_import_is_dropped(store: Store, agent: Stub) -> None:
    """What frames a turn has no key that hooks and transcripts share."""
    told = arrivals.Told(know(store), session="s1")
    prompt, by_hook = told.prompt("one", id="p1"), told.compact()
    line = replace(by_hook.capture, id="line", body=b"{}")
    file = agent.add([prompt, replace(by_hook, capture=line)])
    importing = replace(reconciler(store, agent), importing=True)
    assert sum(part.added for part in importing.file(file)) == 2
    assert store.events.add([by_hook], NOW).duplicates == 1
    assert stored(store, "s1") == [prompt.capture.id, "line"]


def test_boring_tools_are_healed_as_boring(store: Store, agent: Stub) -> None:
    know(store)
    told = arrivals.Told(0)
    agent.add([told.tool("t1", name="Grep"), told.tool("t2"), told.stop()])
    look(reconciler(store, agent))
    session = store.sessions.find("claude-code", "session-1")
    assert session is not None
    assert [e.boring for e in events_of(store, session.id)] == [True, False, False]
