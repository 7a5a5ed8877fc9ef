"""Whose words a note is, said in a word or two: agents weigh it by that, and people decide by it."""

from collections.abc import Iterable

from recollect.model.observations import Observation, ObservationDraft
from recollect.model.origins import HELD_BACK, Origin

NOT_TOLD = "not told unasked; `recollect confirm {}` if it holds"


def label(draft: ObservationDraft) -> str:
    """The worst that what is told of it stems from. Empty for the repository's files, as most are, and where
    nobody can know."""
    told = [each for each in draft.origins or () if not (draft.held_back and each in HELD_BACK)]
    worst = max(told, key=lambda origin: origin.rank, default=Origin.REPOSITORY)
    return "" if worst is Origin.REPOSITORY else worst.value


def listed(origins: Iterable[Origin] | None) -> str:
    """All of them, the best first."""
    return ", ".join(origins or ()) or "unknown"


def provenance(observation: Observation) -> str:
    """A line for who looks at it."""
    draft = observation.draft
    parts = [f"stems from {listed(draft.origins)}"]
    if draft.sources:
        parts[0] += f" ({', '.join(draft.sources)})"
    if draft.held_back:
        parts.append(NOT_TOLD.format(observation.id))
    elif observation.confirmed:
        parts.append("confirmed")
    return "; ".join(parts)
