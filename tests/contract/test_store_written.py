"""What every store knows of what requests have left behind, and of work that is to be done now."""

from dataclasses import replace

import pytest

from aforesaid.clock import DAY, HOUR
from aforesaid.model.jobs import OBSERVE, Again
from aforesaid.model.observations import Author, ObservationDraft, SummaryDraft
from aforesaid.model.requests import ANSWERED, FAILED, UNUSABLE, Entry, Usage, Written
from aforesaid.store.store import Store
from tests.support.arrivals import START, Told
from tests.support.memory import Memory

MODEL = Author("openai", "m", "1")
ALWAYS = (0, START + 1_000 * DAY)
DRAFT = ObservationDraft("change", "the pump was mended", facts=("the pump runs",))
ENTRY = Entry(
    at=START,
    provider="openai",
    model="m",
    prompts="1",
    purpose="observe",
    digest="d",
    session_id=0,
    job_id=0,
    outcome=ANSWERED,
    error=None,
    usage=Usage(100, 0, 0, 10),
    microdollars=None,
    milliseconds=1,
    reply="r",
)


@pytest.fixture
def memory(store: Store, project: int) -> Memory:
    return Memory(store, project)


def asked(
    memory: Memory, *drafts: ObservationDraft, outcomes: tuple[str, ...] = (ANSWERED,)
) -> None:
    """Each job that waits costs these requests, and is then done."""
    store = memory.store
    while job := store.jobs.claim("test", memory.at, memory.at + HOUR):
        for outcome in outcomes:
            own = replace(ENTRY, at=memory.at, job_id=job.id, session_id=job.session_id)
            store.requests.add(replace(own, purpose=job.kind, outcome=outcome))
        if job.kind == OBSERVE:
            store.jobs.finish_observations(job, MODEL, drafts, memory.at, memory.at)
        else:
            store.jobs.finish_summary(job, MODEL, SummaryDraft("s"), memory.at, memory.at)


def told(memory: Memory, session: str) -> None:
    story = Told(memory.project_id, session=session)
    story.at = memory.at
    memory.store.events.add([story.prompt("p"), story.tool("t"), story.stop("t")], memory.at)


def test_nothing_asked_is_nothing_written(store: Store) -> None:
    assert store.requests.written(*ALWAYS) == Written(0, 0, 0)


def test_what_models_wrote_is_counted_and_what_the_rules_wrote_is_not(memory: Memory) -> None:
    memory.turn("by the rules", DRAFT, summary=SummaryDraft("s"), author=Author("rules"))
    told(memory, "by a model")
    asked(memory, DRAFT, replace(DRAFT, title="the valve too"))
    assert memory.store.requests.written(*ALWAYS) == Written(2, 2, 1)
    assert memory.store.requests.written(*ALWAYS, project_id=memory.project_id) == Written(2, 2, 1)
    assert memory.store.requests.written(*ALWAYS, project_id=999) == Written(0, 0, 0)
    assert memory.store.requests.written(START + DAY, START + 2 * DAY) == Written(0, 0, 0)


def test_a_failure_is_no_answer_and_work_that_is_done_again_is_there_once(memory: Memory) -> None:
    told(memory, "one")
    asked(memory, DRAFT, outcomes=(FAILED, UNUSABLE, ANSWERED))
    assert memory.store.requests.written(*ALWAYS) == Written(4, 1, 1)
    memory.store.jobs.reprocess(Again("somebody else"), memory.at)
    asked(memory, DRAFT)
    assert memory.store.requests.written(*ALWAYS) == Written(6, 1, 1)


def test_what_was_put_off_can_be_made_due_and_what_is_being_done_is_left_alone(
    memory: Memory,
) -> None:
    store, now = memory.store, memory.at
    for session in ("one", "two"):
        told(memory, session)
    first, second = (store.jobs.claim("test", now, now + HOUR) for _ in range(2))
    assert first is not None
    assert second is not None
    store.jobs.postpone(first, "the budget is used up", now + DAY)
    assert store.jobs.claim("test", now, now + HOUR) is None
    assert store.jobs.make_due(now) == 1
    assert store.jobs.make_due(now) == 0
    taken = store.jobs.claim("test", now, now + HOUR)
    assert taken is not None
    assert (taken.id, taken.tries) == (first.id, 1)
