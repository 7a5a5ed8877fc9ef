"""The provider without a model: honest observations and summaries from the structure of the events.

It says only what the events show. Where it repeats what the user or the agent said, it says so.
"""

from aforesaid.model.observations import (
    Author,
    ObservationDraft,
    SummaryDraft,
    SummarySkipped,
    Turn,
)
from aforesaid.providers.extract.notes import write_observations, write_summary


class Rules:
    author = Author("rules")

    def observe(self, turn: Turn) -> tuple[ObservationDraft, ...]:
        return tuple(write_observations(turn))

    def summarize(self, turn: Turn) -> SummaryDraft | SummarySkipped:
        return write_summary(turn)
