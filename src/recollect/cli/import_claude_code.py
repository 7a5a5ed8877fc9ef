"""`recollect import claude-code`: the sessions that were there before recollect was."""

import os
import time
from contextlib import suppress
from dataclasses import asdict
from typing import Any

import click

from recollect import clock, wiring
from recollect.cli import period, places
from recollect.cli.output import count, json_option, print_json, say, styled, table
from recollect.cli.progress import Show, bar
from recollect.errors import StoreError, TransferError, WorkerError, WorkerHung
from recollect.model.requests import Usage
from recollect.model.tallies import Tally
from recollect.paths import Paths
from recollect.store.protocol import Reading
from recollect.synthesis.prices import Prices
from recollect.worker import contact, import_plan
from recollect.worker.backfill import Selected, as_order
from recollect.worker.import_plan import Plan
from recollect.worker.selection import select

Json = dict[str, Any]
AGENT = "claude-code"
WELL_KNOWN = ("claude-haiku-4-5", "claude-haiku-5-5", "claude-sonnet-5-5", "gpt-5-mini")
LOOK_SECONDS = 0.1
BEGINNINGS = 5
PATIENCE = 12  # times five seconds
INTERRUPTED = 130
MILLION = 1_000_000


@click.command("claude-code")
@places.project_option()
@period.since_option("Only sessions that went on")
@click.option("--dry-run", is_flag=True, help="Only count, and estimate what it would cost.")
@json_option
def claude_code(project: str | None, since: int | None, dry_run: bool, as_json: bool) -> None:
    """Take in old sessions of Claude Code, from the transcripts that it keeps.

    What hooks have captured already stays as it is. The worker brings the sessions in, oldest first, and goes
    on when this command is ended; run it again to watch. Sessions of today come first, in what is stored and
    in what is worked up.
    """
    home = wiring.home()
    live = import_plan.reading(home) if dry_run else _up_to_date(home)
    try:
        selected = select(wiring.AGENTS[AGENT], os.environ, live, project=project, since=since)
        before = import_plan.tallies(live, selected)
    finally:
        if live is not None:
            live.close()
    if dry_run:
        _tell_plan(home, selected, as_json)
        return
    faulty = _watch(home.paths, selected, quiet=as_json) if selected else 0
    _report(home, selected, before, faulty, as_json)


def _up_to_date(home: wiring.Home) -> Reading | None:
    """The worker brings a database of an older recollect up to date; then it can be read."""
    try:
        return import_plan.reading(home)
    except StoreError:
        contact.start(home.paths)
        return import_plan.reading(home)


def _tell_plan(home: wiring.Home, selected: list[Selected], as_json: bool) -> None:
    choice = wiring.provider(home, clock.now)
    with bar("Counting", quiet=as_json) as show:
        plan = import_plan.plan(home, choice, selected, clock.now, show)
    costs = _costs(home, choice, plan)
    if as_json:
        needs = {name: getattr(plan.needs, name) for name in ("requests", "sent", "received")}
        print_json(
            {"dry_run": True, "new": asdict(plan.added), "known": plan.known}
            | {"observations": asdict(plan.expected), "needs": needs, "costs": costs}
        )
        return
    say(f"New would be: {_told(plan.added)}.")
    _tell_known(plan.known)
    if plan.added != Tally():
        _tell_needs(plan, costs)
    say("Nothing was changed.")


def _tell_needs(plan: Plan, costs: list[Json]) -> None:
    added, hoped, needs = plan.added, plan.expected, plan.needs
    say(
        f"To be worked up: {count(added.turns, 'turn')}, in {count(added.parts, 'part')} to observe and "
        f"{count(added.summaries, 'summary')}."
    )
    say(f"Observations to expect: {hoped.low:,} to {hoped.high:,} ({hoped.basis}).")
    say(
        f"With a model, about {count(needs.requests, 'request')}: {needs.sent:,} tokens sent and "
        f"{needs.received:,} received."
    )
    rows = [
        (cost["provider"], "in force" if cost["in_force"] else "", _dollars(cost["dollars"]))
        for cost in costs
    ]
    table(None, ("provider", "", "about dollars"), rows, numbers=("about dollars",))


def _costs(home: wiring.Home, choice: wiring.Choice, plan: Plan) -> list[Json]:
    """At list prices, without what providers take off for what they have read before."""
    usage = Usage(plan.needs.sent, 0, 0, plan.needs.received)
    prices = choice.terms.prices if choice.terms else Prices.of(home.settings.names("cost.prices"))
    rows = [{"provider": "rules", "in_force": choice.model is None, "dollars": 0.0}]
    if choice.model is not None:
        name = f"{choice.model.name}/{choice.model.model}"
        cost = prices.microdollars(choice.model.model, usage)
        rows.append({"provider": name, "in_force": True, "dollars": _amount(cost)})
    listed = Prices.of(home.settings.names("cost.prices"))
    for model in WELL_KNOWN:
        if choice.model is None or choice.model.model != model:
            cost = listed.microdollars(model, usage)
            rows.append({"provider": model, "in_force": False, "dollars": _amount(cost)})
    return rows


def _amount(microdollars: int | None) -> float | None:
    return None if microdollars is None else microdollars / MILLION


def _dollars(amount: float | None) -> str:
    return "unknown" if amount is None else f"{amount:,.2f}"


def _watch(paths: Paths, selected: list[Selected], *, quiet: bool) -> int:
    """Until the worker is done with it; how many it could not read. A worker that was replaced meanwhile is
    asked from the beginning: what was taken is not taken again."""
    try:
        with bar("Importing", quiet=quiet) as show:
            for _ in range(BEGINNINGS):
                try:
                    faulty = _follow(paths, selected, show)
                except WorkerHung:
                    raise
                except WorkerError:  # it ended while we were asking
                    faulty = None
                if faulty is not None:
                    return faulty
    except KeyboardInterrupt:
        click.echo(
            "\nThe worker goes on by itself. Look with `recollect status`; run this again to watch.",
            err=True,
        )
        raise SystemExit(INTERRUPTED) from None
    raise TransferError("The worker ended again and again. See `recollect worker logs`.")


def _follow(paths: Paths, selected: list[Selected], show: Show) -> int | None:
    """None: the worker knows nothing of it any more."""
    name = contact.order(paths, "backfill-begin", **as_order(selected))["name"]
    while True:
        found = _ask(paths, name)
        if "lost" in found:
            return None
        show(found["done"], found["total"])
        if found["over"]:
            return int(found["faulty"])
        time.sleep(LOOK_SECONDS)


def _ask(paths: Paths, name: str) -> Json:
    """A machine that is busy may take its time to answer; that is no reason to give up soon."""
    for _ in range(PATIENCE):
        with suppress(WorkerHung):
            return contact.order(paths, "backfill-progress", name=name)
    raise WorkerHung


def _report(
    home: wiring.Home,
    selected: list[Selected],
    before: import_plan.Tallies,
    faulty: int,
    as_json: bool,
) -> None:
    store = import_plan.reading(home)
    try:
        added = import_plan.added(before, import_plan.tallies(store, selected))
        waiting = store.health().pending if store is not None else 0
    finally:
        if store is not None:
            store.close()
    known = import_plan.sessions_in(selected) - added.sessions
    if as_json:
        new = {"dry_run": False, "new": asdict(added), "known": known}
        print_json(new | {"faulty": faulty, "waiting": waiting})
        return
    say(f"Taken in: {_told(added)}.")
    _tell_known(known)
    if faulty:
        told = f"{count(faulty, 'transcript')} could not be read whole: `recollect worker logs`."
        say(styled(told, fg="yellow"))
    if waiting:
        say(
            f"{count(waiting, 'job')} waiting to be worked up, in the background and after today's. "
            "`recollect synthesize` shows how it goes, `recollect status` what it waits for."
        )


def _told(added: Tally) -> str:
    parts = ((added.sessions, "session"), (added.prompts, "prompt"), (added.events, "event"))
    return ", ".join(count(number, noun) for number, noun in parts if number) or "nothing"


def _tell_known(known: int) -> None:
    if known:
        say(f"{count(known, 'session')} here already, or without anything to tell.")
