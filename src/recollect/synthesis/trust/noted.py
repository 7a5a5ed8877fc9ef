"""Whether what an agent wants to note for good is only what a page or an MCP server has told it."""

from collections.abc import Mapping

from recollect.agents.protocol import Agent
from recollect.model.jobs import SUMMARIZE, Job
from recollect.model.observations import ObservationDraft
from recollect.model.sessions import Session
from recollect.store.protocol import Reading
from recollect.synthesis import turns
from recollect.synthesis.trust.weighing import weighed


def is_of_the_web(store: Reading, agents: Mapping[str, Agent], session: Session, text: str) -> bool:
    """By what the session has seen in its present turn and before it."""
    job = Job(0, SUMMARIZE, session.id, session.prompts, 0, "")
    turn = turns.build(store, agents, job, session)
    return weighed(ObservationDraft("change", text), turn).held_back
