"""A writer made of a model: one request per turn, its reply parsed, repaired once, and checked.

Nothing a model says is believed: what the events do not bear out is kept and marked. Nothing it says is
lost: the ledger has every reply as it came.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from recollect.model.ledger import OBSERVE, REPAIR, SUMMARIZE, Kept
from recollect.model.observations import Author, ObservationDraft, SummaryDraft, SummarySkipped
from recollect.model.requests import Failure, Refused, Request
from recollect.model.turns import Turn
from recollect.providers.protocol import Observed, Summarized
from recollect.synthesis import prompting, shaping
from recollect.synthesis.asking import Asking
from recollect.synthesis.grounding.drafts import ground_observation, ground_summary
from recollect.synthesis.parsing import replies

Parsed = TypeVar("Parsed")
SHORTEST_PROMPT = 40  # characters; a shorter one without any event says nothing that lasts


@dataclass(frozen=True, slots=True)
class ByModel:
    """`asking` puts a question to the model on behalf of one job."""

    asking: Asking
    author: Author
    style: prompting.Style
    budget: int

    def observe(self, turn: Turn) -> Observed | Failure:
        if not turn.events and len(turn.prompt or "") < SHORTEST_PROMPT:
            return Observed(())
        request = prompting.observe(turn, self.style, self.budget)
        must = bool(prompting.changed_files(turn))
        parsed = self._read(
            request,
            OBSERVE,
            replies.observations,
            lambda found: prompting.EMPTY if must and found.none else None,
        )
        if not isinstance(parsed, replies.ParsedObservations):
            return parsed
        return Observed(tuple(_checked(draft, turn) for draft in parsed.drafts))

    def summarize(self, turn: Turn) -> Summarized | Failure:
        if not turn.events and not turn.observed and not turn.last_message:
            return Summarized(SummarySkipped("nothing was done"))
        request = prompting.summarize(turn, self.style)
        parsed = self._read(request, SUMMARIZE, replies.summary)
        if not isinstance(parsed, replies.ParsedSummary):
            return parsed
        if isinstance(parsed.draft, SummaryDraft):
            examples = prompting.example_fields()
            return Summarized(ground_summary(parsed.draft, turn, examples))
        return Summarized(parsed.draft)

    def _read(
        self,
        request: Request,
        kind: str,
        parse: Callable[[str], Parsed | replies.Unusable],
        lacking: Callable[[Parsed], str | None] = lambda _: None,
    ) -> Parsed | Failure:
        """The reply as values. One that yields nothing where something was due is asked for once more.
        Said twice, nothing is taken for an answer; what cannot be read costs the job a try."""
        answer = self.asking.ask(request, kind)
        if not isinstance(answer, Kept):
            return answer
        parsed = parse(answer.text)
        fault = prompting.UNREADABLE if isinstance(parsed, replies.Unusable) else lacking(parsed)
        if fault is None:
            assert not isinstance(parsed, replies.Unusable)
            return parsed
        # The first answer stays kept until all is stored: after a crash the next try goes on from here.
        mended = self.asking.ask(prompting.repair(request, answer.text, kind, fault), REPAIR)
        again = parse(mended.text) if isinstance(mended, Kept) else mended
        if not isinstance(again, replies.Unusable | Refused):
            return again
        if not isinstance(parsed, replies.Unusable):
            return parsed
        self.asking.unusable(answer)
        if isinstance(mended, Kept):
            self.asking.unusable(mended)
        if isinstance(again, Refused):
            return again
        return Refused(f"the model's reply could not be used, also when asked again: {again.why}")


def _checked(draft: ObservationDraft, turn: Turn) -> ObservationDraft:
    shaped = shaping.shaped(draft)
    return shaping.located(ground_observation(shaped, turn, prompting.example_fields()))
