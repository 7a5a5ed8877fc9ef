"""What was stored before anybody weighed it: of an older release, or from an import.

Events are kept as they came, so whose words something stems from can be found out at any time. Without
events, as with what another program has remembered, nobody can know; it has no origin then, and says so.
"""

from collections.abc import Mapping
from dataclasses import replace

from recollect.agents.protocol import Agent
from recollect.model.observations import SummaryDraft
from recollect.model.search import OBSERVATION
from recollect.model.turns import Turn
from recollect.model.weights import Unweighed
from recollect.store.protocol import Store
from recollect.synthesis import turns
from recollect.synthesis.trust.weighing import weighed, weighed_summary


def weigh(store: Store, agents: Mapping[str, Agent], limit: int) -> set[int] | None:
    """Some of them. The projects of which less is to be told now; None when there was nothing to do."""
    waiting = store.unweighed(limit)
    changed: set[int] = set()
    for each in waiting:
        turn = _turn(store, agents, each)
        held = (
            _observation(store, each, turn)
            if each.kind == OBSERVATION
            else _summary(store, each, turn)
        )
        if held:
            changed.add(each.project_id)
    return changed if waiting else None


def _turn(store: Store, agents: Mapping[str, Agent], each: Unweighed) -> Turn | None:
    session = store.session(each.job.session_id) if each.job else None
    if each.job is None or session is None or session.agent not in agents:
        return None
    return turns.build(store, agents, each.job, session)


def _observation(store: Store, each: Unweighed, turn: Turn | None) -> bool:
    found = store.observation(each.source)
    if found is None:
        return False
    draft = replace(found.draft, doubts=())
    told = weighed(draft, turn) if _tells(turn) and turn else replace(draft, origins=())
    store.add_weight(each.source, told)
    return told.held_back


def _summary(store: Store, each: Unweighed, turn: Turn | None) -> bool:
    found = store.summary(each.source)
    if found is None:
        return False
    draft: SummaryDraft = replace(found.draft, doubts=())
    told = weighed_summary(draft, turn) if _tells(turn) and turn else replace(draft, origins=())
    store.add_summary_weight(each.source, told)
    return bool(told.doubts)


def _tells(turn: Turn | None) -> bool:
    """A turn without events and without a prompt was told of by somebody else."""
    return turn is not None and bool(turn.events or turn.prompt)
