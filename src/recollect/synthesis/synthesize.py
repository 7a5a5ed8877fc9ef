"""One job, done: a turn goes in, observations or a summary come out and are stored.

May run twice: the store acknowledges the job and takes the effect in one transaction, and a try that lost
its lease has none.
"""

from collections.abc import Mapping

from recollect.agents.protocol import Agent
from recollect.clock import Clock
from recollect.model.jobs import OBSERVE, Done, Fenced, Job, Outcome, Postponed, Retry
from recollect.model.observations import ObservationDraft, SummaryDraft
from recollect.model.requests import Failure, Refused
from recollect.model.sessions import Session, SessionTitle
from recollect.model.turns import Turn
from recollect.providers.protocol import Observed, Summarized, Writer
from recollect.store.protocol import Store
from recollect.synthesis import duplicates, turns
from recollect.synthesis.stamping import Stamp
from recollect.synthesis.trust.weighing import weighed, weighed_summary
from recollect.text import one_line

TITLE_LENGTH = 80
SUBTITLE_LENGTH = 160
CANDIDATES = 12  # older observations that a new one is compared with


def run(
    store: Store,
    agents: Mapping[str, Agent],
    writer: Writer,
    job: Job,
    session: Session,
    clock: Clock,
) -> Outcome:
    turn = turns.build(store, agents, job, session)
    if job.kind == OBSERVE:
        return _observe(store, writer, job, session, turn, clock)
    return _summarize(store, writer, job, turn, clock)


def _observe(
    store: Store, writer: Writer, job: Job, session: Session, turn: Turn, clock: Clock
) -> Outcome:
    stamp = Stamp.of(turn, clock())
    written = writer.observe(turn)
    if not isinstance(written, Observed):
        return failed(written)
    # A long turn is worked up in parts; the prompt's own decision must not be told in each of them.
    told = store.titles_of_prompt(job)
    drafts = [d for d in written.drafts if d.title is None or (d.type, d.title) not in told]
    placed = [_placed(store, job, session, weighed(stamp.on(draft), turn)) for draft in drafts]
    stored = store.finish_observe(job, writer.author, placed, turn.at, clock())
    return stored if isinstance(stored, Fenced) else Done(stored)


def _placed(store: Store, job: Job, session: Session, draft: ObservationDraft) -> ObservationDraft:
    """Beside what the project knows already: saying the same again is not a new thing."""
    known = store.similar_observations(
        session.project_id, duplicates.words(draft), not_of_job=job.id, limit=CANDIDATES
    )
    return duplicates.placed(draft, known, session_id=session.id)


def _summarize(store: Store, writer: Writer, job: Job, turn: Turn, clock: Clock) -> Outcome:
    written = writer.summarize(turn)
    if not isinstance(written, Summarized):
        return failed(written)
    told = written.draft
    draft = weighed_summary(told, turn) if isinstance(told, SummaryDraft) else None
    title = SessionTitle(_title(turn), _subtitle(draft))
    stored = store.finish_summary(job, writer.author, draft, turn.at, clock(), title=title)
    if isinstance(stored, Fenced):
        return stored
    return Done(() if stored is None else (stored,))


def failed(failure: Failure) -> Outcome:
    return Retry(failure.why) if isinstance(failure, Refused) else Postponed(failure)


def _title(turn: Turn) -> str | None:
    return one_line(turn.prompt, TITLE_LENGTH) if turn.prompt else None


def _subtitle(draft: SummaryDraft | None) -> str | None:
    if draft is None:
        return None
    done = draft.sure.completed or draft.sure.learned
    return one_line(done, SUBTITLE_LENGTH) if done else None
