"""Prices, the daily budget, and what was spent.

The budget is hard: a request that might exceed it is not made, and its job waits for the next calendar day.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

from aforesaid.clock import SECOND, Clock, local
from aforesaid.errors import ConfigError
from aforesaid.model.requests import (
    Failure,
    Misconfigured,
    RateLimited,
    Request,
    Spent,
    Usage,
    Written,
)
from aforesaid.model.sessions import Project
from aforesaid.settings import Settings
from aforesaid.store.store import Store
from aforesaid.text import tokens

DEAREST = 1_000_000  # anything above is a slip of the keyboard


@dataclass(frozen=True, slots=True)
class Price:
    """For input, input read from the cache, input written to it, and output."""

    sent: float
    cached: float
    written: float
    received: float

    def microdollars(self, usage: Usage) -> int:
        plain = usage.sent - usage.cached - usage.written
        return round(
            plain * self.sent
            + usage.cached * self.cached
            + usage.written * self.written
            + usage.received * self.received
        )


FREE = Price(0, 0, 0, 0)


def _load_prices() -> dict[str, Price]:
    rows = Path(__file__).with_name("prices.txt").read_text("utf-8").splitlines()
    fields = (row.split() for row in rows if row and not row.startswith("#"))
    return {name: Price(*map(float, figures)) for name, *figures in fields}


# The longest name that a model's name begins with decides: versions and dates stand at its end.
KNOWN = _load_prices()


@dataclass(frozen=True, slots=True)
class Prices:
    """`corrections` are the user's and win over what we know. `all_free`: the model runs on the user's own
    machine. A known name is paid for also there: it is a proxy's."""

    corrections: Mapping[str, Price]
    all_free: bool = False

    @classmethod
    def of(cls, corrections: Iterable[str], *, all_free: bool = False) -> "Prices":
        return cls(dict(map(_parsed, corrections)), all_free)

    def find(self, model: str) -> Price | None:
        price = _fitting(self.corrections, model) or _fitting(KNOWN, model)
        return FREE if price is None and self.all_free else price

    def microdollars(self, model: str, usage: Usage) -> int | None:
        if usage.microdollars is not None:
            return usage.microdollars
        price = self.find(model)
        return None if price is None else price.microdollars(usage)


def _fitting(rows: Mapping[str, Price], model: str) -> Price | None:
    whole = _spelled(model)
    names = (whole, whole.rpartition("/")[2])  # routers put the maker's name first
    fitting = [known for known in rows if any(n.startswith(_spelled(known)) for n in names)]
    return rows[max(fitting, key=len)] if fitting else None


def _spelled(name: str) -> str:
    """Some write `claude-haiku-4.5`, some `claude-haiku-4-5`."""
    return name.lower().replace(".", "-")


def _parsed(row: str) -> tuple[str, Price]:
    """`name=input/output`, or `name=input/cached/output`."""
    name, _, figures = row.rpartition("=")
    try:
        sent, *cached, received = map(float, figures.split("/"))
        [read] = cached or [sent]
        if not all(0 <= figure < DEAREST for figure in (sent, read, received)):
            raise ValueError  # also what is not a number
        if not name.strip():
            raise ValueError  # it would fit every model
    except ValueError:
        raise ConfigError(
            f"cost.prices: {row!r} is not a price. Write it as model=input/output or "
            "model=input/cached/output, in dollars per million tokens."
        ) from None
    return name.strip(), Price(sent, read, sent, received)


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

    def refusal(self, store: Store, prices: Prices, model: str, most: Usage) -> Failure | None:
        """Why a request that may take as much must not be made now, or nothing."""
        if not self.tokens and not self.cents:
            return None
        begin, end = day_bounds(self.clock())
        spent = store.requests.spent(begin, end)
        needed = total_tokens(most)
        if self.tokens and needed > self.tokens:
            return Misconfigured(
                f"cost.daily_tokens is {self.tokens:,}, but one request may take {needed:,} tokens. Raise "
                "it with `aforesaid config set cost.daily_tokens …`, or lower synthesis.request_tokens."
            )
        if self.tokens and total_tokens(spent) + needed > self.tokens:
            return RateLimited(f"the budget of {self.tokens:,} tokens a day is used up", end)
        if not self.cents:
            return None
        price = prices.microdollars(model, most)
        if price is None:
            return Misconfigured(
                f"cost.daily_cents is set, but the price of {model} is not known. Tell it with "
                f"`aforesaid config set cost.prices {model}=INPUT/OUTPUT` (dollars per million tokens)."
            )
        if price > self.cents * CENT:
            return Misconfigured(
                f"cost.daily_cents is {self.cents}, but one request to {model} may cost "
                f"{price / CENT:.1f} cents. Raise it with `aforesaid config set cost.daily_cents …`."
            )
        if spent.microdollars + price > self.cents * CENT:
            return RateLimited(
                f"the budget of {self.cents / 100:.2f} dollars a day is used up", end
            )
        return None

    def left(self, spent: Spent) -> str | None:
        """For people, of the day's spending."""
        parts = []
        if self.tokens:
            parts.append(f"{total_tokens(spent):,} of {self.tokens:,} tokens")
        if self.cents:
            dollars = spent.microdollars / (100 * CENT)
            parts.append(f"{dollars:.4f} of {self.cents / 100:.2f} dollars")
        return f"{' and '.join(parts)} used today" if parts else None


def largest_usage(request: Request, provider: str) -> Usage:
    """What a request may cost at most. Our count of tokens is rough, so a quarter is added."""
    sent = sum(map(tokens, request.texts)) * 5 // 4
    rounds = ROUNDS.get(provider, 1)
    replies_sent_back = sum(range(rounds)) * request.most_tokens
    return Usage(rounds * sent + replies_sent_back, 0, 0, rounds * request.most_tokens)


def day_bounds(at: int) -> tuple[int, int]:
    """The user's calendar day around a time: from its first millisecond to the next day's."""
    midnight = local(at).replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None)
    begin, end = midnight.astimezone(), (midnight + timedelta(days=1)).astimezone()
    return round(begin.timestamp() * SECOND), round(end.timestamp() * SECOND)


@dataclass(frozen=True, slots=True)
class Costs:
    """All that one look shows. `rows`: by `by`, one of GROUPINGS."""

    by: str
    project: str | None
    since: int
    until: int
    rows: list[Spent]
    days: list[Spent]
    total: Spent
    today: Spent
    budget: Budget
    written: Written

    @property
    def each(self) -> int | None:
        """Tokens for one remembered thing."""
        things = self.written.observations + self.written.summaries
        return total_tokens(self.total) // things if things else None


def load_costs(
    store: Store,
    settings: Settings,
    clock: Clock,
    *,
    by: str,
    since: int,
    project: Project | None = None,
) -> Costs:
    key = project.id if project else None
    now = clock()
    days = store.requests.spent_by("day", since, now + 1, project_id=key)
    return Costs(
        by=by,
        project=project.name if project else None,
        since=since,
        until=now + 1,
        rows=days if by == "day" else store.requests.spent_by(by, since, now + 1, project_id=key),
        days=days,
        total=sum_spending(days),
        today=replace(store.requests.spent(*day_bounds(now)), label="today"),
        budget=Budget(
            settings.number("cost.daily_tokens"), settings.number("cost.daily_cents"), clock
        ),
        written=store.requests.written(since, now + 1, project_id=key),
    )


def sum_spending(rows: Sequence[Spent]) -> Spent:
    names = ("requests", "sent", "cached", "received", "microdollars", "unpriced")
    return Spent("total", *(sum(getattr(row, name) for row in rows) for name in names))


def total_tokens(spent: Spent | Usage) -> int:
    return spent.sent + spent.received
