"""A turn, put together from what is stored, for a provider to write about."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from recollect.agents.protocol import Agent
from recollect.model.captures import Unreadable
from recollect.model.events import Event, OtherTool, ToolUsed, TurnEnded
from recollect.model.jobs import OBSERVE, Job
from recollect.model.search import OBSERVATION
from recollect.model.sessions import Session
from recollect.model.stored import StoredEvent
from recollect.model.turns import Turn, TurnEvent
from recollect.store.protocol import Reading
from recollect.synthesis.trust.told_text import own_words, without_told

TOLD_KINDS = ("tool", "subagent_stop")
RECALLED_EVENTS = 40
REMEMBERED_EVENTS = 200  # of the session before this turn: enough to see what failed earlier


def build(store: Reading, agents: Mapping[str, Agent], job: Job, session: Session) -> Turn:
    """The job's own events for observations, all of the turn's for a summary."""
    project = store.project(session.project_id)
    agent = agents[session.agent]
    # A long turn has many jobs: none but the summary may read all of it.
    turn = (job.session_id, job.prompt_number)
    chosen = store.events_of_job(job.id) if job.kind == OBSERVE else store.events_of_prompt(*turn)
    own = [e for e in chosen if e.kind in TOLD_KINDS and not e.boring]
    before = store.events_before(own[0], REMEMBERED_EVENTS) if own else []
    prompt = store.prompt(*turn)
    first = store.prompt(job.session_id, 1)
    written = store.observations_of_prompt(*turn)
    ends = [e.event.what for e in _read(agent, session.project_dir, store.stops_of_prompt(*turn))]
    last = [what.last_message for what in ends if isinstance(what, TurnEnded)]
    latest = store.last_time_of_prompt(*turn)
    return Turn(
        project=project.name,
        root=session.project_dir,
        session=session.ref,
        prompt_number=job.prompt_number,
        prompt=without_told(prompt.text) if prompt else None,
        at=session.last_event_at if latest is None else latest,
        events=tuple(_read(agent, session.project_dir, own)),
        before=tuple(_read(agent, session.project_dir, before)),
        recorded=store.titles_of_session(job.session_id),
        # A turn that a finished background task woke again stopped twice; both messages count.
        last_message="\n\n".join(dict.fromkeys(last)) if last else None,
        interrupted=not last,
        observed=tuple(observation.draft for observation in written),
        goal=without_told(first.text) if first else None,
        top=project.root,
        told=tuple(_told(store, agent, session)),
    )


def _read(agent: Agent, project_dir: str, stored: list[StoredEvent]) -> list[TurnEvent]:
    """What was stored could be read once; a newer parser that cannot is no reason to fail."""
    events = []
    for row in stored:
        event = agent.parse(replace(row.capture, project_dir=project_dir))
        if event is not None and not isinstance(event, Unreadable):
            events.append(TurnEvent(row.id, row.at, own_words(event)))
    return events


def _told(store: Reading, agent: Agent, session: Session) -> Iterator[str]:
    """What the session knows from recollect: told unasked, or because it asked."""
    told = (one.source for one in store.told_in(session.id) if one.kind == OBSERVATION)
    for observation in filter(None, map(store.observation, dict.fromkeys(told))):
        draft = observation.draft
        yield "\n".join(filter(None, (draft.title, draft.subtitle, *draft.facts)))
    for row in store.recalling_events(session.id, RECALLED_EVENTS):
        event = agent.parse(replace(row.capture, project_dir=session.project_dir))
        if isinstance(event, Event) and isinstance(event.what, ToolUsed):
            action = event.what.action
            yield action.output if isinstance(action, OtherTool) else ""
