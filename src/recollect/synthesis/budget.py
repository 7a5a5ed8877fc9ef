"""The daily budget. A hard one: a request that might go over it is not made.

The day is the user's calendar day. Capture and the queue go on; what waits is worked up tomorrow.
"""

from dataclasses import dataclass
from datetime import timedelta

from recollect.clock import SECOND, Clock, local
from recollect.model.ledger import Spent
from recollect.model.requests import Failure, Misconfigured, Request, Usage, Wait
from recollect.store.protocol import Reading
from recollect.synthesis.prices import Prices
from recollect.text import tokens

CENT = 10_000  # in microdollars
# How many requests one question may become. Claude Code goes on by itself where the token limit cut it off,
# up to three times. It is interrupted at the second, which may come too late.
ROUNDS = {"claude": 4}


@dataclass(frozen=True, slots=True)
class Budget:
    """0 is no limit."""

    tokens: int
    cents: int
    clock: Clock

    def refusal(self, store: Reading, prices: Prices, model: str, most: Usage) -> Failure | None:
        """Why a request that may take as much must not be made now, or nothing."""
        if not self.tokens and not self.cents:
            return None
        begin, end = day_of(self.clock())
        spent = store.spent(begin, end)
        return self._in_tokens(spent, most, end) or self._in_money(spent, prices, model, most, end)

    def _in_tokens(self, spent: Spent, most: Usage, end: int) -> Failure | None:
        needed = most.sent + most.received
        if not self.tokens or spent.sent + spent.received + needed <= self.tokens:
            return None
        if needed > self.tokens:
            return Misconfigured(
                f"cost.daily_tokens is {self.tokens:,}, but one request may take {needed:,} tokens. Raise "
                "it with `recollect config set cost.daily_tokens …`, or lower synthesis.request_tokens."
            )
        return Wait(f"the budget of {self.tokens:,} tokens a day is used up", end)

    def _in_money(
        self, spent: Spent, prices: Prices, model: str, most: Usage, end: int
    ) -> Failure | None:
        if not self.cents:
            return None
        price = prices.microdollars(model, most)
        if price is None:
            return Misconfigured(
                f"cost.daily_cents is set, but the price of {model} is not known. Tell it with "
                f"`recollect config set cost.prices {model}=INPUT/OUTPUT` (dollars per million tokens)."
            )
        if spent.microdollars + price <= self.cents * CENT:
            return None
        if price > self.cents * CENT:
            return Misconfigured(
                f"cost.daily_cents is {self.cents}, but one request to {model} may cost "
                f"{price / CENT:.1f} cents. Raise it with `recollect config set cost.daily_cents …`."
            )
        return Wait(f"the budget of {self.cents / 100:.2f} dollars a day is used up", end)

    def left(self, spent: Spent) -> str | None:
        """For people, of the day's spending."""
        parts = []
        if self.tokens:
            parts.append(f"{spent.sent + spent.received:,} of {self.tokens:,} tokens")
        if self.cents:
            dollars = spent.microdollars / (100 * CENT)
            parts.append(f"{dollars:.4f} of {self.cents / 100:.2f} dollars")
        return f"{' and '.join(parts)} used today" if parts else None


def largest(request: Request, provider: str) -> Usage:
    """What a request may cost at most. Our count of tokens is rough, so a quarter is added."""
    texts = (request.system, request.message, *(t for pair in request.examples for t in pair))
    sent = sum(map(tokens, texts)) * 5 // 4
    rounds = ROUNDS.get(provider, 1)
    replies_sent_back = sum(range(rounds)) * request.most_tokens
    return Usage(rounds * sent + replies_sent_back, 0, 0, rounds * request.most_tokens)


def day_of(at: int) -> tuple[int, int]:
    """The user's calendar day around a time: from its first millisecond to the next day's."""
    midnight = local(at).replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None)
    begin, end = midnight.astimezone(), (midnight + timedelta(days=1)).astimezone()
    return round(begin.timestamp() * SECOND), round(end.timestamp() * SECOND)
