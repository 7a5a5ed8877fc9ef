"""`recollect cost`: the ledger as a table, a chart by day, and what one remembered thing takes."""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import date, timedelta

import click

from recollect import clock, wiring
from recollect.cli import period, places
from recollect.cli.output import (
    console,
    count,
    heading,
    json_option,
    print_json,
    say,
    styled,
    table,
    wrapped,
)
from recollect.model.ledger import GROUPINGS, Spent
from recollect.synthesis.costs import Costs, look, tokens

NARROW = 60
MOST_DAYS = 31  # a chart of more does not fit on a screen
WIDEST_BAR = 60
BLOCKS = " ▏▎▍▌▋▊▉█"  # by eighths
MILLION = 1_000_000
SMALLEST = 0.0001  # dollars; less is shown as this, not as nothing


def dollars(spent: Spent) -> str:
    """`unknown`, or what is known of it."""
    if spent.unpriced == spent.requests:
        return "unknown"
    amount = spent.microdollars / MILLION
    shown = f"{amount:,.2f}" if amount >= 1 or not amount else f"{max(amount, SMALLEST):.4f}"
    return f"{shown} + ?" if spent.unpriced else shown


NUMBERS: Mapping[str, Callable[[Spent], str]] = {
    "requests": lambda row: f"{row.requests:,}",
    "sent": lambda row: f"{row.sent:,}",
    "cached": lambda row: f"{row.cached:,}",
    "received": lambda row: f"{row.received:,}",
    "dollars": dollars,
}
NARROW_NUMBERS = ("sent", "received", "dollars")


@click.command()
@click.option(
    "--by", type=click.Choice(GROUPINGS), default="day", show_default=True, help="A row for each."
)
@period.since_option("Requests", "30d")
@places.project_option()
@json_option
def cost(by: str, since: int, project: str | None, as_json: bool) -> None:
    """What models were asked, how many tokens that took and what it cost.

    `cached` tokens are a part of those sent: the provider had read them before, and charges less. Dollars
    are what the provider said or the list price; `unknown` where neither is known.
    """
    store = places.store()
    of = places.project_named(store, project) if project else None
    costs = look(store, wiring.home().settings, clock.now, by=by, since=since, project=of)
    if as_json:
        _print_json(costs)
    elif costs.total.requests:
        _print(costs)
    else:
        _print_nothing(costs)


def _print_json(costs: Costs) -> None:
    budget = costs.budget
    print_json(
        {
            "by": costs.by,
            "project": costs.project,
            "since": costs.since,
            "until": costs.until,
            "rows": [asdict(row) for row in costs.rows],
            "days": [asdict(row) for row in costs.days],
            "total": asdict(costs.total),
            "today": asdict(costs.today),
            "budget": {"daily_tokens": budget.tokens, "daily_cents": budget.cents},
            "written": asdict(costs.written) | {"tokens_each": costs.each},
        }
    )


def _print_nothing(costs: Costs) -> None:
    where = f" for {costs.project}" if costs.project else ""
    say(
        f"No model was asked anything{where} since {clock.day_and_time(costs.since)}. "
        "What the provider `rules` writes costs nothing."
    )
    _print_budget(costs)


def _print(costs: Costs) -> None:
    figures = NUMBERS if console().width >= NARROW else NARROW_NUMBERS
    rows = [
        (row.label, *(NUMBERS[name](row) for name in figures)) for row in (*costs.rows, costs.total)
    ]
    place = f" for {costs.project}" if costs.project else ""
    say(heading(f"Tokens{place} since {clock.day_and_time(costs.since)}"))
    table((f"by {costs.by}", *figures), rows, numbers=figures)
    for line in chart(costs.days, console().width, blocks=_can_say(BLOCKS)):
        say(line)
    say()
    _print_each(costs)
    _print_budget(costs)
    if costs.total.unpriced:
        told = "Tell it, for those to come: `recollect config set cost.prices MODEL=INPUT/OUTPUT`."
        unknown = f"The price of {count(costs.total.unpriced, 'request')} is not known. {told}"
        say(styled(wrapped(unknown), dim=True))


def _print_each(costs: Costs) -> None:
    each, written = costs.each, costs.written
    if each is not None:
        say(
            f"{count(written.observations, 'observation')} and {count(written.summaries, 'summary')} "
            f"written by models: {each:,} tokens each."
        )


def _print_budget(costs: Costs) -> None:
    if left := costs.budget.left(costs.today):
        say(f"Budget: {left}.")


def chart(days: Sequence[Spent], width: int, *, blocks: bool) -> list[str]:
    """A bar for each day up to the last one, also for those without a request."""
    if not days:
        return []
    known = {day.label: tokens(day) for day in days}
    last = date.fromisoformat(days[-1].label)
    first = max(date.fromisoformat(days[0].label), last - timedelta(days=MOST_DAYS - 1))
    labels = [str(first + timedelta(days=n)) for n in range((last - first).days + 1)]
    most = max(1, *(known.get(label, 0) for label in labels))
    digits = len(f"{most:,}")
    room = max(4, min(WIDEST_BAR, width - len(labels[0]) - digits - 3))
    return [
        f"{label} {number:>{digits},} {bar(number / most, room, blocks=blocks)}".rstrip()
        for label, number in ((label, known.get(label, 0)) for label in labels)
    ]


def bar(share: float, room: int, *, blocks: bool) -> str:
    """Something is never drawn as nothing."""
    if not blocks:
        return "#" * (max(1, round(share * room)) if share else 0)
    eighths = max(1, round(share * room * 8)) if share else 0
    return BLOCKS[8] * (eighths // 8) + BLOCKS[eighths % 8].strip()


def _can_say(text: str) -> bool:
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
