"""One job, done: a turn goes in, observations or a summary come out and are stored.

May run twice: the store acknowledges the job and takes the effect in one transaction, and a try that lost
its lease has none.
"""

from collections.abc import Mapping

from recollect.agents.protocol import Agent
from recollect.clock import Clock
from recollect.model.jobs import OBSERVE, Done, Fenced, Job, Outcome
from recollect.model.observations import SummaryDraft, SummarySkipped
from recollect.model.sessions import SessionTitle
from recollect.model.turns import Turn
from recollect.providers.protocol import Provider
from recollect.store.protocol import Store
from recollect.synthesis import turns
from recollect.text import one_line

TITLE_LENGTH = 80
SUBTITLE_LENGTH = 160


def run(
    store: Store, agents: Mapping[str, Agent], provider: Provider, job: Job, clock: Clock
) -> Outcome:
    turn = turns.build(store, agents, job)
    if job.kind == OBSERVE:
        return _observe(store, provider, job, turn, clock)
    return _summarize(store, provider, job, turn, clock)


def _observe(store: Store, provider: Provider, job: Job, turn: Turn, clock: Clock) -> Outcome:
    # A long turn is worked up in parts; the prompt's own decision must not be told in each of them.
    told = store.titles_of_prompt(job)
    drafts = [d for d in provider.observe(turn) if (d.type, d.title) not in told]
    stored = store.finish_observe(job, provider.name, drafts, turn.at, clock())
    return stored if isinstance(stored, Fenced) else Done()


def _summarize(store: Store, provider: Provider, job: Job, turn: Turn, clock: Clock) -> Outcome:
    written = provider.summarize(turn)
    draft = None if isinstance(written, SummarySkipped) else written
    title = SessionTitle(_title(turn), _subtitle(draft))
    stored = store.finish_summary(job, provider.name, draft, turn.at, clock(), title=title)
    return stored if isinstance(stored, Fenced) else Done()


def _title(turn: Turn) -> str | None:
    return one_line(turn.prompt, TITLE_LENGTH) if turn.prompt else None


def _subtitle(draft: SummaryDraft | None) -> str | None:
    done = draft.completed or draft.learned if draft else None
    return one_line(done, SUBTITLE_LENGTH) if done else None
