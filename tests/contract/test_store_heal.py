"""What every store does with what a transcript tells: it ends where it would have been without any loss."""

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aforesaid.clock import DAY, HOUR, MINUTE, SECOND
from aforesaid.model.events import Arrival, Healed, PromptSubmitted, SubagentEnded
from aforesaid.model.jobs import OBSERVE, SUMMARIZE, Again, Fenced, Job
from aforesaid.model.observations import ObservationDraft, SummaryDraft
from aforesaid.model.sessions import Session
from aforesaid.store.events import BATCH_AGE, BATCH_EVENTS
from aforesaid.store.store import Store
from tests.support.arrivals import START, Told, repository
from tests.support.blank import laid
from tests.support.memory import TEST
from tests.support.stored import events_of

LATER = START + DAY
STEPS = (
    *("prompt", "prompt", "tool", "tool", "tool", "stop", "stop"),
    *("boring", "machine", "subagent", "many", "pause", "compact", "start", "end"),
)
State = tuple[object, ...]


@dataclass(slots=True)
class Script:
    """One session as it went. Without ids it is one of a client that gives none."""

    told: Told
    ids: bool
    events: list[Arrival] = field(default_factory=list)
    prompt_id: str | None = None

    def run(self, steps: list[str]) -> list[Arrival]:
        for step in steps:
            self.told.at += 9 * SECOND  # hooks and lines that lie nearer could be the same
            getattr(self, step)()
        return self.events

    def prompt(self) -> None:
        self.prompt_id = self._name("p") if self.ids else None
        self.events.append(self.told.prompt(self._name("text"), id=self.prompt_id))

    def machine(self) -> None:
        spoken = self.told.prompt(self._name("<task>"), by_machine=True)
        self.events.append(replace(spoken, event=replace(spoken.event, prompt_id=self.prompt_id)))

    def tool(self) -> None:
        self.events.append(self.told.tool(self._name("t"), prompt_id=self.prompt_id))

    def boring(self) -> None:
        use = self._name("b")
        self.events.append(self.told.tool(use, prompt_id=self.prompt_id, boring=True))

    def many(self) -> None:
        for _ in range(BATCH_EVENTS + 3):
            self.tool()

    def pause(self) -> None:
        self.told.at += BATCH_AGE

    def subagent(self) -> None:
        name = self._name("a")
        self.events.append(self.told.tool(f"{name}-t", prompt_id=self.prompt_id, subagent=name))
        done = self.told.tool(name, prompt_id=self.prompt_id)
        event = replace(done.event, what=SubagentEnded("Found it."), key=f"subagent:{name}")
        self.events.append(replace(done, event=event))
        self.tool()  # the one that started it is over, too

    def stop(self) -> None:
        self.events.append(self.told.stop(self._name("m"), prompt_id=self.prompt_id))

    def compact(self) -> None:
        self._framed(self.told.compact)

    def start(self) -> None:
        self._framed(self.told.start)

    def end(self) -> None:
        self._framed(self.told.end)

    def _framed(self, told: Callable[[], Arrival]) -> None:
        self.told.at += 6 * MINUTE
        self.events.append(told())

    def _name(self, kind: str) -> str:
        return f"{kind}-{self.told.session}-{self.told.count}"


@st.composite
def scripts(draw: st.DrawFn) -> list[Arrival]:
    """One to three sessions side by side, in the order of time."""
    steps = st.lists(st.sampled_from(STEPS), min_size=1, max_size=14)
    events: list[Arrival] = []
    for number in range(draw(st.integers(1, 3))):
        told = Told(1, session=f"session-{number}", at=START + number)
        events += Script(told, ids=draw(st.booleans())).run(draw(steps))
    return sorted(events, key=lambda arrival: arrival.capture.at)


@contextmanager
def new_stores(folder: Path) -> Iterator[tuple[Store, Store]]:
    """In memory, where there is a place for that: what is durable is none of this test's business."""
    memory = Path("/dev/shm")
    where = memory if os.access(memory, os.W_OK) else folder
    with tempfile.TemporaryDirectory(dir=where) as name, ExitStack() as stack:
        made = []
        for number in range(2):
            file = Path(name, f"{number}", "aforesaid.db")
            store = stack.enter_context(closing(Store(laid(file), writer=True)))
            assert store.projects.resolve(repository("shop"), "/home/dev/shop", START) == 1
            made.append(store)
        yield made[0], made[1]


def healed(arrivals: list[Arrival]) -> list[Arrival]:
    return [replace(arrival, healed=True) for arrival in arrivals]


def halves(arrivals: list[Arrival], place: int) -> list[list[Arrival]]:
    """Cut before a prompt, as a transcript is."""
    asked = [n for n, a in enumerate(arrivals) if isinstance(a.event.what, PromptSubmitted)]
    cut = asked[place % len(asked)] if asked else 0
    return [arrivals[:cut], arrivals[cut:]]


def work_up(store: Store) -> list[tuple[Job, int]]:
    """Every job that waits, done, with the number of its events; all of them are of the job's turn."""
    done = []
    while job := store.jobs.claim("test", LATER, LATER + HOUR):
        events = store.events.for_job(job.id)
        assert {event.prompt_number for event in events} <= {job.prompt_number}
        assert len(events) <= BATCH_EVENTS
        done.append((job, len(events)))
        if job.kind == OBSERVE:
            draft = ObservationDraft("change", f"About {len(done)}")
            store.jobs.finish_observations(job, TEST, [draft], START, START)
        else:
            store.jobs.finish_summary(job, TEST, SummaryDraft("s"), START, START)
    return done


def all_work(store: Store) -> set[tuple[str, int, int]]:
    """The turns that have jobs, done ones too."""
    store.jobs.reprocess(Again("nobody"), LATER)
    return {(job.kind, job.session_id, job.prompt_number) for job, _ in work_up(store)}


def sessions(store: Store) -> dict[str, State]:
    found: dict[str, State] = {}
    for session in store.sessions.recent(None, 10):
        events = events_of(store, session.id)
        found[session.ref] = (
            (session.status, session.prompts, session.started_at),
            (session.last_event_at, session.ended_at),
            [(e.capture.id, e.kind, e.prompt_number, e.at, e.capture.body) for e in events],
            [(p.number, p.at, p.text) for p in store.sessions.prompts(session.id)],
        )
    return found


def turns_with_work(store: Store) -> set[tuple[str, str, int]]:
    names = {session.id: session.ref for session in store.sessions.recent(None, 10)}
    return {(kind, names[session], number) for kind, session, number in all_work(store)}


def written_about(store: Store) -> set[tuple[str, int]]:
    return {
        (session.ref, summary.prompt_number)
        for session in store.sessions.recent(None, 10)
        for summary in store.summaries.for_session(session.id)
    }


def assert_same(expected: Store, store: Store) -> None:
    assert sessions(store) == sessions(expected)
    assert turns_with_work(store) == turns_with_work(expected)
    assert written_about(store) == written_about(expected)
    store.database.check()


@given(scripts(), st.data())
def test_a_healed_store_is_the_store_that_lost_nothing(
    tmp_path: Path, events: list[Arrival], data: st.DataObject
) -> None:
    kept = data.draw(st.lists(st.booleans(), min_size=len(events), max_size=len(events)))
    delivered = [event for event, keep in zip(events, kept, strict=True) if keep]
    early = data.draw(st.integers(0, len(delivered)))
    told = healed(events)
    parts = {
        "once": [told],
        "twice": [told, told],
        "halves": (cut := halves(told, data.draw(st.integers(0, 20)))),
        "backwards": cut[::-1],
    }[data.draw(st.sampled_from(["once", "twice", "halves", "backwards"]))]
    with new_stores(tmp_path) as (whole, torn):
        whole.events.add(events, START)
        torn.events.add(delivered[:early], START)
        if data.draw(st.booleans()):
            work_up(torn)
        torn.events.add(delivered[early:], START)
        for part in parts:
            torn.events.heal(part, START)
            if data.draw(st.booleans()):
                work_up(torn)

        assert torn.health().from_transcripts == len(events) - len(delivered)
        assert torn.events.heal(told, START) == Healed(0, 0)
        assert torn.events.add(events, START).added == 0  # hooks that come late
        assert_same(whole, torn)
        for store in (whole, torn):
            store.sessions.interrupt_stale(START + 30 * DAY, LATER)
        assert_same(whole, torn)


def heal(store: Store, *arrivals: Arrival) -> tuple[int, int]:
    found = store.events.heal(healed(list(arrivals)), START)
    return found.added, found.turns


def waiting(store: Store) -> list[tuple[str, int, int]]:
    return [(job.kind, job.prompt_number, events) for job, events in work_up(store)]


def the_session(store: Store) -> Session:
    found = store.sessions.find("claude-code", "session-1")
    assert found is not None
    return found


def numbers(store: Store) -> list[tuple[str, int]]:
    return [(e.kind, e.prompt_number) for e in events_of(store, the_session(store).id)]


def test_a_lost_prompt_gets_its_number_and_everything_behind_it_moves(
    store: Store, told: Told
) -> None:
    turns = [
        [told.prompt(p, id=p), told.tool(f"t-{p}", prompt_id=p), told.stop(prompt_id=p)]
        for p in ("p1", "p2", "p3")
    ]
    for number, turn in enumerate((turns[0], turns[2])):
        store.events.add(turn, START)
        job = store.jobs.claim("test", LATER, LATER)
        assert job is not None
        store.jobs.finish_observations(
            job, TEST, [ObservationDraft("change", f"n{number}")], START, START
        )
        job = store.jobs.claim("test", LATER, LATER)
        assert job is not None
        store.jobs.finish_summary(job, TEST, SummaryDraft(f"s{number}"), START, START)
    assert heal(store, *(event for turn in turns for event in turn)) == (3, 1)
    session = the_session(store)
    assert session.prompts == 3
    assert [(p.number, p.text) for p in store.sessions.prompts(session.id)] == [
        *((1, "p1"), (2, "p2"), (3, "p3"))
    ]
    assert [number for _, number in numbers(store)] == [1, 1, 1, 2, 2, 2, 3, 3, 3]
    observed = store.observations.for_session(session.id)
    assert [(o.draft.title, o.prompt_number) for o in observed] == [("n0", 1), ("n1", 3)]
    written = store.summaries.for_session(session.id)
    assert [(s.draft.request, s.prompt_number) for s in written] == [("s0", 1), ("s1", 3)]
    assert waiting(store) == [(OBSERVE, 2, 1), (SUMMARIZE, 2, 0)]
    assert turns_with_work(store) == {
        (kind, "session-1", number) for kind in (OBSERVE, SUMMARIZE) for number in (1, 2, 3)
    }


def test_without_ids_a_lost_prompt_takes_what_followed_it_by_time(store: Store, told: Told) -> None:
    events = [
        *(told.prompt("one"), told.tool("t1"), told.stop("a")),
        *(told.prompt("two"), told.tool("t2"), told.stop("b")),
    ]
    store.events.add([e for n, e in enumerate(events) if n != 3], START)
    work_up(store)
    assert heal(store, *events)[0] == 1
    assert [number for _, number in numbers(store)] == [1, 1, 1, 2, 2, 2]
    assert {(k, n) for k, _, n in turns_with_work(store)} == {
        *((OBSERVE, 1), (SUMMARIZE, 1), (OBSERVE, 2), (SUMMARIZE, 2))
    }
    observed = store.observations.for_session(the_session(store).id)
    assert sorted(o.prompt_number for o in observed) == [1, 2]


def test_a_turn_that_was_summarised_gets_work_for_what_it_gains(store: Store, told: Told) -> None:
    events = [told.prompt("one"), told.tool("t1"), told.tool("t2"), told.stop()]
    store.events.add([events[0], events[1], events[3]], START)
    assert waiting(store) == [(OBSERVE, 1, 1), (SUMMARIZE, 1, 0)]
    assert heal(store, *events) == (1, 1)
    assert waiting(store) == [(OBSERVE, 1, 1), (SUMMARIZE, 1, 0)]
    assert len(store.summaries.for_session(the_session(store).id)) == 1


def test_work_that_nobody_has_begun_is_not_done_in_pieces(store: Store, told: Told) -> None:
    events = [told.prompt("one"), told.tool("t1"), told.tool("t2"), told.stop()]
    store.events.add([events[0], events[1], events[3]], START)
    assert heal(store, *events) == (1, 1)
    assert waiting(store) == [(OBSERVE, 1, 2), (SUMMARIZE, 1, 0)]


def test_however_much_is_healed_a_part_is_never_larger(store: Store, told: Told) -> None:
    tools = [told.tool(f"t{n}") for n in range(2 * BATCH_EVENTS + 1)]
    heal(store, *tools, told.stop())
    assert [events for _, _, events in waiting(store)] == [BATCH_EVENTS, BATCH_EVENTS, 1, 0]


def test_the_open_turn_of_a_live_session_stays_open(store: Store, told: Told) -> None:
    events = [told.prompt("one"), told.tool("t1"), told.prompt("two"), told.tool("t2")]
    store.events.add([events[3]], START)
    assert heal(store, *events) == (3, 1)
    assert waiting(store) == [(OBSERVE, 1, 1), (SUMMARIZE, 1, 0)]
    store.events.add([told.stop()], START)
    assert waiting(store) == [(OBSERVE, 2, 1), (SUMMARIZE, 2, 0)]


def test_what_is_told_of_a_session_that_was_interrupted_is_worked_up(
    store: Store, told: Told
) -> None:
    events = [told.prompt("one"), told.tool("t1"), told.tool("t2")]
    store.events.add(events[:2], START)
    store.sessions.interrupt_stale(told.at + DAY, START)
    work_up(store)
    assert heal(store, *events) == (1, 1)
    assert the_session(store).status == "interrupted"
    assert waiting(store) == [(OBSERVE, 1, 1), (SUMMARIZE, 1, 0)]


def test_a_session_that_no_hook_told_of_is_created(store: Store, told: Told) -> None:
    started = told.start()
    assert heal(store, started, told.prompt("one"), told.tool("t1"), told.end()) == (4, 1)
    session = the_session(store)
    assert (session.status, session.prompts, session.started_at, session.ended_at) == (
        *("completed", 1),
        *(started.capture.at, told.at),
    )
    assert store.health().from_transcripts == 4


def test_a_healed_event_stands_where_the_transcript_has_it(store: Store, told: Told) -> None:
    """Hooks are dated a little later than lines, so the times alone would say otherwise."""
    one, two, three = told.tool("t1"), told.tool("t2"), told.tool("t3")
    later = replace(one, capture=replace(one.capture, at=two.capture.at + SECOND // 2))
    store.events.add([later, three], START)
    heal(store, one, two, three)
    events = events_of(store, the_session(store).id)
    assert [e.capture.id for e in events] == [a.capture.id for a in (one, two, three)]


@pytest.mark.parametrize("first", ["hook", "transcript"])
def test_a_compaction_is_one_whoever_tells_of_it(store: Store, told: Told, first: str) -> None:
    """It has no key, the transcript has other bytes for it, and dates it when it was over."""
    by_hook = told.compact()
    capture = replace(by_hook.capture, id="line", body=b"{}", at=told.at + MINUTE)
    by_transcript = replace(by_hook, capture=capture)
    if first == "hook":
        store.events.add([by_hook], START)
        assert heal(store, by_transcript) == (0, 0)
    else:
        assert heal(store, by_transcript) == (1, 0)
        assert store.events.add([by_hook], START).duplicates == 1
    assert numbers(store) == [("compact", 0)]


def test_a_try_that_is_under_way_has_no_effect_on_a_turn_of_another_number(
    store: Store, told: Told
) -> None:
    lost = told.prompt("one", id="p1")
    asked = told.prompt("two", id="p2")
    store.events.add([asked, told.tool("t2", prompt_id="p2"), told.stop(prompt_id="p2")], START)
    job = store.jobs.claim("test", START, START + HOUR)
    assert job is not None
    heal(store, lost, asked)
    assert store.jobs.finish_observations(job, TEST, [], START, START) == Fenced()
    assert waiting(store) == [(OBSERVE, 2, 1), (SUMMARIZE, 2, 0)]


def test_a_prompt_typed_ahead_is_told_late_and_stands_at_its_time(store: Store, told: Told) -> None:
    first = told.prompt("one", id="p1")
    typed = told.prompt("two", id="p1")
    typed = replace(typed, event=replace(typed.event, key="prompt:p1:two"))
    used, stop = told.tool("t1", prompt_id="p1"), told.stop(prompt_id="p1")
    store.events.add([first], START)
    heal(store, first, used, typed, stop)
    assert numbers(store) == [("prompt", 1), ("prompt", 2), ("tool", 1), ("stop", 1)]


def test_healing_is_done_whole_or_not_at_all(store: Store, told: Told) -> None:
    good, bad = told.prompt("one"), told.tool("t1")
    broken = replace(bad, capture=replace(bad.capture, at=1 << 70))
    with pytest.raises(OverflowError):
        store.events.heal([good, broken], START)
    assert store.sessions.find("claude-code", "session-1") is None


def test_a_mark_is_kept_for_each_session(store: Store) -> None:
    assert store.events.transcript_mark("claude-code", "s1") is None
    for ref, mark in (("s1", "10"), ("s2", "20"), ("s1", "30")):
        store.events.set_transcript_mark("claude-code", ref, mark, START)
    assert store.events.transcript_mark("claude-code", "s1") == "30"
    assert store.events.transcript_mark("claude-code", "s2") == "20"
    assert store.events.transcript_mark("another", "s1") is None
