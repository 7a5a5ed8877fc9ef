"""Whether what an agent wants to note for good is only what a page or an MCP server has told it."""

from collections.abc import Mapping

from recollect.agents.protocol import Agent
from recollect.model.jobs import SUMMARIZE, Job
from recollect.model.observations import ObservationDraft
from recollect.model.origins import Origin
from recollect.model.search import Filters
from recollect.model.sessions import Session
from recollect.store.protocol import Reading
from recollect.synthesis import turns
from recollect.synthesis.trust.passages import Passages, clauses
from recollect.synthesis.trust.weighing import weighed
from recollect.terms import asked

MOST_EVENTS = 40  # of earlier sessions, those that have most of its words


def is_of_the_web(store: Reading, agents: Mapping[str, Agent], session: Session, text: str) -> bool:
    """By what the session has seen in its present turn and before it."""
    job = Job(0, SUMMARIZE, session.id, session.prompts, 0, "")
    turn = turns.build(store, agents, job, session)
    return weighed(ObservationDraft("change", text), turn).held_back


def was_fetched(store: Reading, project_id: int, text: str) -> bool:
    """Whether a page or an MCP server has said it in any session of the project: what is recalled from one
    is as little the agent's own in another."""
    events = store.matching_events(asked(text), Filters(project_id=project_id), MOST_EVENTS)
    # Results are indexed as JSON, with their line ends escaped.
    texts = (each.text.replace("\\n", "\n") for each in events if each.origin == Origin.WEB)
    fetched = [Passages(Origin.WEB, "", text) for text in texts]
    return any(each.bears(said) for said in clauses(text) for each in fetched)
