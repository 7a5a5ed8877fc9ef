"""One job, done: a turn goes in, observations or a summary come out and are stored.

May run twice: the store acknowledges the job and takes the effect in one transaction, and a try that lost
its lease has none.
"""

from collections.abc import Mapping
from dataclasses import replace

from aforesaid import freshness
from aforesaid.agents.base import Agent
from aforesaid.clock import MINUTE, SECOND, Clock
from aforesaid.model.jobs import OBSERVE, Done, Fenced, Job, Outcome, Postponed, Retry
from aforesaid.model.observations import ObservationDraft, SummaryDraft, SummarySkipped, Turn
from aforesaid.model.requests import Failure, Refused
from aforesaid.model.sessions import Session, SessionTitle
from aforesaid.providers.base import Writer
from aforesaid.repository import revision
from aforesaid.store.store import Store
from aforesaid.synthesis import duplicates
from aforesaid.synthesis.provenance import RULES, add_provenance, add_summary_provenance
from aforesaid.synthesis.turn import build_turn
from aforesaid.text import one_line

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
    *,
    draft: bool = False,
) -> Outcome:
    """`draft`: the job stays for a model, which replaces what is written now."""
    turn = build_turn(store, agents, job, session, whole=writer.author.provider == RULES)
    if job.kind == OBSERVE:
        return _observe(store, writer, job, session, turn, clock, draft=draft)
    return _summarize(store, writer, job, turn, clock, draft=draft)


def _observe(
    store: Store,
    writer: Writer,
    job: Job,
    session: Session,
    turn: Turn,
    clock: Clock,
    *,
    draft: bool,
) -> Outcome:
    live = turn.at >= clock() - LIVE
    commit = revision(turn.root) if live else None  # now: the answer of a model may take minutes
    composed = writer.author.provider == RULES
    # Without a model a turn is one note, written when it is over: only then it is known what held.
    early = composed and not store.jobs.is_last_part(job)
    written = () if early else writer.observe(turn)
    if not isinstance(written, tuple):
        return failed(written)
    # A long turn is processed in parts; the decision of its prompt must be recorded once.
    recorded = frozenset() if composed else store.observations.titles_for_job(job)
    fresh = [d for d in written if d.title is None or (d.type, d.title) not in recorded]
    stamped = [stamp(draft, turn, commit) for draft in fresh] if live else fresh
    placed = [_placed(store, job, session, turn, each, composed=composed) for each in stamped]
    whole = composed and not early
    stored = store.jobs.finish_observations(
        job, writer.author, placed, turn.at, clock(), draft=draft, whole=whole
    )
    return stored if isinstance(stored, Fenced) else Done(stored)


def _placed(
    store: Store,
    job: Job,
    session: Session,
    turn: Turn,
    draft: ObservationDraft,
    *,
    composed: bool,
) -> ObservationDraft:
    """Beside what the project knows already: saying the same again is not a new thing."""
    known = store.observations.similar(
        session.project_id, duplicates.search_words(draft), not_of_job=job.id, limit=CANDIDATES
    )
    if composed and draft.type != "decision":
        own = [each for each in known if each.session_id == session.id]
        earlier = [each for each in own if each.prompt_number < job.prompt_number]
        draft = duplicates.drop_repeated(draft, earlier)
    marked = add_provenance(draft, turn, composed=composed)
    return duplicates.link_duplicates(marked, known, session_id=session.id)


def _summarize(
    store: Store, writer: Writer, job: Job, turn: Turn, clock: Clock, *, draft: bool
) -> Outcome:
    written = writer.summarize(turn)
    summary, done = None, None
    if isinstance(written, SummaryDraft):
        composed = writer.author.provider == RULES
        summary = add_summary_provenance(written, turn, composed=composed)
        done = summary.sure.completed or summary.sure.learned
    elif not isinstance(written, SummarySkipped):
        return failed(written)
    title = SessionTitle(_line(turn.prompt, TITLE_LENGTH), _line(done, SUBTITLE_LENGTH))
    stored = store.jobs.finish_summary(
        job, writer.author, summary, turn.at, clock(), title=title, draft_only=draft
    )
    if isinstance(stored, Fenced):
        return stored
    return Done(() if stored is None else (stored,))


def failed(failure: Failure) -> Outcome:
    return Retry(failure.why, unusable=True) if isinstance(failure, Refused) else Postponed(failure)


def _line(words: str | None, length: int) -> str | None:
    return one_line(words, length) if words else None


LIVE = 10 * MINUTE
SLACK = 2 * SECOND  # a file server's clock, or a formatter that ran last


def stamp(draft: ObservationDraft, turn: Turn, commit: str | None) -> ObservationDraft:
    """With the commit and the content that its files had."""
    until = turn.at + SLACK
    paths = dict.fromkeys((*draft.files_modified, *draft.files_read))
    seen = ((path, freshness.unchanged_blob(turn.root, path, until=until)) for path in paths)
    blobs = tuple((path, blob) for path, blob in seen if blob is not None)
    return replace(draft, revision=commit, blobs=blobs)
