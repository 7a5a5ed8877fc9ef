"""The provider without a model: honest observations and summaries from the structure of the events.

It says only what the events show. Where it repeats what the user or the agent said, it says so.
"""

from dataclasses import replace

from aforesaid import text
from aforesaid.model.observations import (
    Author,
    ObservationDraft,
    SummaryDraft,
    SummarySkipped,
    Turn,
)
from aforesaid.providers.extract.notes import write_observations, write_summary

NAME_LIMIT = 40


class Rules:
    author = Author("rules")

    def observe(self, turn: Turn) -> tuple[ObservationDraft, ...]:
        return tuple(write_observations(_safe(turn)))

    def summarize(self, turn: Turn) -> SummaryDraft | SummarySkipped:
        return write_summary(_safe(turn))


def _safe(turn: Turn) -> Turn:
    """The project's name stands in titles and facts, and a folder may be called anything."""
    return replace(turn, project=text.one_line(turn.project, NAME_LIMIT))
