"""`aforesaid cost`: requests to models as a table and a chart by day."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import click

from aforesaid import clock, wiring
from aforesaid.cli import arguments
from aforesaid.cli import output as out
from aforesaid.english import count
from aforesaid.model.requests import GROUPINGS, Spent
from aforesaid.recall import resolve
from aforesaid.synthesis.cost import Costs, load_costs, total_tokens

MILLION = 1_000_000
BAR, MOST_DAYS = 60, 31
NUMBERS = ("requests", "sent", "cached", "received", "dollars")
SMALLEST = 0.0001  # dollars; less is shown as this, not as nothing


def dollars(spent: Spent) -> str:
    if spent.unpriced == spent.requests:
        return "unknown"
    amount = spent.microdollars / MILLION
    shown = f"{amount:,.2f}" if amount >= 1 or not amount else f"{max(amount, SMALLEST):.4f}"
    return f"{shown} + ?" if spent.unpriced else shown


def cells(row: Spent) -> tuple[str, ...]:
    figures = (row.requests, row.sent, row.cached, row.received)
    return (row.label, *(f"{figure:,}" for figure in figures), dollars(row))


@click.command()
@click.option(
    "--by", type=click.Choice(GROUPINGS), default="day", show_default=True, help="Group by."
)
@arguments.since_option("Requests", "30d")
@arguments.project_option()
@out.json_option
def cost(by: str, since: int, project: str | None) -> None:
    """Show requests to models, their tokens and their cost.

    `cached` tokens are a part of those sent, which the provider charges less for. Dollars are what the
    provider reported or the list price; `unknown` where neither is known.
    """
    store = arguments.open_store()
    chosen = resolve.find_project(store, project, Path.cwd()) if project else None
    costs = load_costs(store, wiring.home().settings, clock.now, by=by, since=since, project=chosen)
    value = {name: getattr(costs, name) for name in ("by", "project", "since", "until")}
    value |= {name: [asdict(row) for row in getattr(costs, name)] for name in ("rows", "days")}
    value |= {"total": asdict(costs.total), "today": asdict(costs.today)}
    value["budget"] = {"daily_tokens": costs.budget.tokens, "daily_cents": costs.budget.cents}
    value["written"] = asdict(costs.written) | {"tokens_each": costs.each}
    if out.print_if_json(value):
        return
    if costs.total.requests:
        _print(costs)
    else:
        where = f" for {costs.project}" if costs.project else ""
        since_when = clock.day_and_time(costs.since)
        out.say(f"No requests to models{where} since {since_when}. The rules are free.")
    if left := costs.budget.left(costs.today):
        out.say(f"Budget: {left}.")
    if costs.total.unpriced:
        unknown = f"The price of {count(costs.total.unpriced, 'request')} is not known. "
        fix = "Set it for later requests: `aforesaid config set cost.prices MODEL=INPUT/OUTPUT`."
        out.say(out.styled(unknown + fix, dim=True))


def _print(costs: Costs) -> None:
    rows = map(cells, (*costs.rows, costs.total))
    place = f" for {costs.project}" if costs.project else ""
    out.say(out.heading(f"Tokens{place} since {clock.day_and_time(costs.since)}"))
    out.table((f"by {costs.by}", *NUMBERS), rows, numbers=NUMBERS)
    for line in chart(costs.days[-MOST_DAYS:], out.terminal_width()):
        out.say(line)
    each, written = costs.each, costs.written
    if each is not None:
        out.say(
            f"{count(written.observations, 'observation')} and {count(written.summaries, 'summary')} "
            f"written by models: {each:,} tokens each."
        )


def chart(days: Sequence[Spent], width: int) -> Iterator[str]:
    """A bar for each day that has requests."""
    # A terminal that cannot print blocks gets `#`.
    block = "█" if "█".encode(sys.stdout.encoding or "ascii", "ignore") else "#"
    known = {day.label: total_tokens(day) for day in days}
    most = max(1, *known.values())
    room = max(4, min(BAR, width - len(f"2026-11-19 {most:,} ")))
    for label, number in known.items():
        bar = block * -(-number * room // most)
        yield f"{label} {number:>{len(f'{most:,}')},} {bar}".rstrip()
