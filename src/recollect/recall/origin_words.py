"""Whose words a note is, said in a word or two: agents weigh it by that, and people decide by it."""

from collections.abc import Iterable

from recollect.model.observations import Observation, ObservationDraft, Summary, SummaryDraft
from recollect.model.origins import HELD_BACK, Origin

NOT_TOLD = "what only the web says is not told unasked; `recollect confirm {}` if it holds"
FROM_WEB = "from the web only"


def label(draft: ObservationDraft | SummaryDraft) -> str:
    """The worst that what is told of it stems from. Empty for the repository's files, as most are, and where
    nobody can know."""
    told = [each for each in draft.origins or () if not (draft.held_back and each in HELD_BACK)]
    worst = max(told, key=lambda origin: origin.rank, default=Origin.REPOSITORY)
    return "" if worst is Origin.REPOSITORY else worst.value


def is_only_of_the_web(draft: ObservationDraft | SummaryDraft) -> bool:
    """It is found, and not told unasked."""
    return draft.held_back and Origin.WEB in (draft.origins or ())


def listed(origins: Iterable[Origin] | None) -> str:
    """All of them, the best first."""
    return ", ".join(origins or ()) or "unknown"


def provenance(said: Observation | Summary) -> str:
    """A line for who looks at it."""
    draft = said.draft
    parts = [f"stems from {listed(draft.origins)}"]
    if isinstance(draft, ObservationDraft) and draft.sources:
        parts[0] += f" ({', '.join(draft.sources)})"
    if isinstance(said, Summary):
        parts += ["in parts not told unasked"] if draft.held_back else []
    elif draft.held_back:
        parts.append(NOT_TOLD.format(said.id))
    elif said.confirmed:
        parts.append("confirmed")
    return "; ".join(parts)
