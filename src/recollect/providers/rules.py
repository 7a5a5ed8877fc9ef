"""The provider without a model: honest observations and summaries from the structure of the events.

It says only what the events show. Where it repeats what the user or the agent said, it says so.
"""

from dataclasses import replace

from recollect import text
from recollect.model.observations import Author
from recollect.model.turns import Turn
from recollect.providers.protocol import Observed, Summarized
from recollect.providers.writing.observations import observations_of
from recollect.providers.writing.summaries import summary_of

NAME_LIMIT = 40


class Rules:
    author = Author("rules")

    def observe(self, turn: Turn) -> Observed:
        return Observed(tuple(observations_of(_safe(turn))))

    def summarize(self, turn: Turn) -> Summarized:
        return Summarized(summary_of(_safe(turn)))


def _safe(turn: Turn) -> Turn:
    """The project's name stands in titles and facts, and a folder may be called anything."""
    return replace(turn, project=text.one_line(turn.project, NAME_LIMIT))
