"""What a model costs, where that is known: dollars per million tokens, as published in November 2026.

Prices change; the setting `cost.prices` corrects and adds. Nothing is guessed: an unknown price is shown as
unknown.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from recollect.errors import ConfigError
from recollect.model.requests import Usage

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
OPUS_4 = Price(5, 0.50, 6.25, 25)
# The longest name that a model's name begins with decides: versions and dates stand at its end.
KNOWN: Mapping[str, Price] = {
    "claude-haiku-5-5": Price(0.10, 0.01, 0.125, 0.50),  # prompts of up to 100,000 tokens
    "claude-haiku-4-5": Price(1, 0.10, 1.25, 5),
    "claude-sonnet-5-5": Price(2, 0.20, 2.50, 10),
    "claude-sonnet-5": Price(2, 0.20, 2.50, 10),
    "claude-opus-5-5": Price(4, 0.20, 5, 20),
    "claude-opus-5": Price(5, 0.50, 6.25, 25),
    "claude-opus-4": Price(15, 1.50, 18.75, 75),  # 4 and 4.1
    "claude-opus-4-5": OPUS_4,
    "claude-opus-4-6": OPUS_4,
    "claude-opus-4-7": OPUS_4,
    "claude-opus-4-8": OPUS_4,
    # Claude Code's short names. It tells itself what a request has cost, so these only say beforehand what
    # one may cost at most: the dearest that the name has stood for.
    "haiku": Price(1, 0.10, 1.25, 5),
    "sonnet": Price(3, 0.30, 3.75, 15),
    "opus": Price(15, 1.50, 18.75, 75),
    "gpt-5-mini": Price(0.25, 0.025, 0.25, 2),
    "gpt-5-nano": Price(0.05, 0.005, 0.05, 0.40),
    "gpt-4.1-mini": Price(0.40, 0.10, 0.40, 1.60),
    "gpt-4o-mini": Price(0.15, 0.075, 0.15, 0.60),
}


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
        sent, *cached, received = map(_figure, figures.split("/"))
        [read] = cached or [sent]
        if not name.strip():
            raise ValueError  # it would fit every model
    except ValueError:
        raise ConfigError(
            f"cost.prices: {row!r} is not a price. Write it as model=input/output or "
            "model=input/cached/output, in dollars per million tokens."
        ) from None
    return name.strip(), Price(sent, read, sent, received)


def _figure(text: str) -> float:
    figure = float(text)
    if not 0 <= figure < DEAREST:  # also what is not a number
        raise ValueError
    return figure
