"""Questions on behalf of a job, or of nobody: within the budget, each one in the ledger, none paid for twice.

The reply is stored before anybody looks at it. If the worker is killed between a reply and its effect, the
next try finds the reply instead of asking again.
"""

from dataclasses import dataclass

from recollect import log
from recollect.clock import Clock
from recollect.ids import digest
from recollect.model.ledger import ANSWERED, FAILED, Entry, Kept
from recollect.model.requests import Away, Failure, Reply, Request, Usage, paid
from recollect.providers.protocol import Model
from recollect.store.protocol import Store
from recollect.synthesis.budget import Budget, largest
from recollect.synthesis.prices import Prices

NOTHING = Usage(0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Terms:
    """Under which questions are asked at all."""

    prompts: str
    prices: Prices
    budget: Budget


@dataclass(frozen=True, slots=True)
class Asking:
    store: Store
    model: Model
    terms: Terms
    clock: Clock
    session_id: int | None
    job_id: int | None

    def ask(self, request: Request, purpose: str) -> Kept | Failure:
        if self.job_id is not None and (
            kept := self.store.kept_reply(self.job_id, self._digest(request))
        ):
            log.action("model.reused", job=self.job_id, purpose=purpose)
            return kept
        terms = self.terms
        most = largest(request, self.model.name)
        refusal = terms.budget.refusal(self.store, terms.prices, self.model.model, most)
        if refusal is not None:
            return refusal
        began = self.clock()
        answer = self.model.ask(request)
        took = self.clock() - began
        outcome = type(answer).__name__.lower()
        number = self.store.add_request(self._entry(request, purpose, answer, began, took))
        log.action("model.asked", job=self.job_id, purpose=purpose, outcome=outcome, ms=took)
        return Kept(number, answer.text) if isinstance(answer, Reply) else answer

    def unusable(self, reply: Kept) -> None:
        """Kept as it came, but the next try asks anew."""
        self.store.mark_unusable(reply.id)

    def _digest(self, request: Request) -> str:
        return digest(f"{self.model.name}\0{self.model.model}\0{request.digest}", 32)

    def _entry(
        self, request: Request, purpose: str, answer: Reply | Failure, at: int, took: int
    ) -> Entry:
        reply = answer if isinstance(answer, Reply) else None
        if isinstance(answer, Away):
            reply = answer.partial
        usage = paid(answer)
        model = reply.model if reply else self.model.model
        return Entry(
            at=at,
            provider=self.model.name,
            model=model,
            prompts=self.terms.prompts,
            purpose=purpose,
            digest=self._digest(request),
            session_id=self.session_id,
            job_id=self.job_id,
            outcome=ANSWERED if isinstance(answer, Reply) else FAILED,
            error=_fault(answer),
            usage=usage or NOTHING,
            # Nothing answered, nothing counted: that is no unknown price.
            microdollars=self._price(model, usage) if usage else 0,
            milliseconds=took,
            reply=reply.text if reply else None,
        )

    def _price(self, answered: str, usage: Usage) -> int | None:
        """Of the model that answered; else of the one that was asked, whose price the budget went by. A
        server may have a name of its own for it, and money must not go uncounted for that."""
        prices = self.terms.prices
        price = prices.microdollars(answered, usage)
        return prices.microdollars(self.model.model, usage) if price is None else price


def _fault(answer: Reply | Failure) -> str | None:
    if isinstance(answer, Reply):
        return None if answer.complete else "cut off by the token limit"
    return answer.why
