"""What asking a model comes to, in requests, tokens and seconds."""

import time
from dataclasses import dataclass

from aforesaid.errors import AforesaidError
from aforesaid.model.requests import Failure, Reply, Request
from aforesaid.providers.base import Model
from benchmarks import table

PATIENCE = 3  # failures, where nothing was ever answered


@dataclass(slots=True)
class Asked:
    """`cached`: of what was sent, read from the provider's cache. `why`: of the last failure."""

    requests: int = 0
    unreadable: int = 0
    failed: int = 0
    sent: int = 0
    cached: int = 0
    received: int = 0
    seconds: float = 0.0
    why: str = ""

    def ask(self, model: Model, request: Request) -> Reply | Failure:
        began = time.perf_counter()
        answer = model.ask(request)
        self.seconds += time.perf_counter() - began
        self.requests += 1
        if isinstance(answer, Reply):
            self.sent += answer.usage.sent
            self.cached += answer.usage.cached
            self.received += answer.usage.received
            return answer
        self.failed += 1
        self.why = answer.why
        return answer

    def insist(self) -> None:
        """Raises AforesaidError if nobody seems to be there: the figures would be those of the rules."""
        if self.failed == self.requests >= PATIENCE:
            raise AforesaidError(f"The model does not answer. {self.why}")

    def add_to(self, made: table.Table, each: str, count: int) -> None:
        """`each`: what tokens are paid for, of which there are so many."""
        if not self.requests:
            return
        blank = [""] * (len(made.columns) - 2)
        made.add("requests", f"{self.requests}", *blank)
        made.add("unreadable replies", table.share(self.unreadable, self.requests), *blank)
        made.add("failed requests", f"{self.failed}", *blank)
        made.add("input tokens per request", f"{self.sent / self.requests:,.0f}", *blank)
        if self.cached:
            made.add("… of them cached", f"{self.cached / self.requests:,.0f}", *blank)
        made.add("output tokens per request", f"{self.received / self.requests:,.0f}", *blank)
        if count:
            spent = (self.sent + self.received) / count
            made.add(f"tokens per {each}", f"{spent:,.0f}", *blank)
        made.add("seconds per request", f"{self.seconds / self.requests:.1f}", *blank)
