"""`recollect import claude-code`: the sessions that were there before recollect was."""

import os
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import click

from recollect import wiring
from recollect.cli import period, places
from recollect.cli.import_claude_code_plan import (
    as_values,
    asked_for,
    tell_gain,
    tell_plan,
    tell_unreadable,
)
from recollect.cli.interrupts import interruptible, leave
from recollect.cli.output import count, duration, json_option, print_json, say
from recollect.cli.progress import Show, bar
from recollect.errors import StoreError, TransferError, WorkerError, WorkerHung
from recollect.paths import Paths
from recollect.store.protocol import Reading
from recollect.worker import contact, import_plan
from recollect.worker.backfill import Selected, as_order
from recollect.worker.selection import Selection, select

Json = dict[str, Any]
AGENT = "claude-code"
LOOK_SECONDS = 0.1
BEGINNINGS = 5
PATIENCE = 12  # times five seconds


@dataclass(frozen=True, slots=True)
class Run:
    """An import that is over: what was asked for, what could not be read whole, how long it took."""

    what: str
    faulty: list[str]
    seconds: float


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

    Transcripts are looked for in ~/.claude/projects, or in `projects` below CLAUDE_CONFIG_DIR.
    """
    stopped = "Stopped. Nothing was changed." if dry_run else "Stopped. Run it again to go on."
    with interruptible(stopped):
        _import(project, since, dry_run, as_json)


def _import(project: str | None, since: int | None, dry_run: bool, as_json: bool) -> None:
    home = wiring.home()
    live = import_plan.reading(home) if dry_run else _up_to_date(home)
    try:
        selection = select(wiring.AGENTS[AGENT], os.environ, live, project=project, since=since)
        before = import_plan.tallies(live, selection.chosen)
    finally:
        if live is not None:
            live.close()
    what = asked_for(project, since)
    if dry_run:
        tell_plan(home, selection, what, as_json)
        return
    began = time.monotonic()
    faulty = _watch(home.paths, selection.chosen, quiet=as_json) if selection.chosen else []
    run = Run(what, faulty, time.monotonic() - began)
    _report(home, selection, before, run, as_json)


def _up_to_date(home: wiring.Home) -> Reading | None:
    """The worker brings a database of an older recollect up to date; then it can be read."""
    try:
        return import_plan.reading(home)
    except StoreError:
        contact.start(home.paths)
        return import_plan.reading(home)


def _watch(paths: Paths, selected: list[Selected], *, quiet: bool) -> list[str]:
    """Until the worker is done with it; which ones it could not read whole. A worker that was replaced
    meanwhile is asked from the beginning: what was taken is not taken again."""
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
        leave(
            "The worker goes on by itself. Look with `recollect status`; run this again to watch."
        )
    raise TransferError("The worker ended again and again. See `recollect worker logs`.")


def _follow(paths: Paths, selected: list[Selected], show: Show) -> list[str] | None:
    """None: the worker knows nothing of it any more."""
    name = contact.order(paths, "backfill-begin", **as_order(selected))["name"]
    first, began = None, time.monotonic()
    while True:
        found = _ask(paths, name)
        if "lost" in found:
            return None
        first = found["events"] if first is None else first  # it may have begun before we watched
        rate = (found["events"] - first) / max(LOOK_SECONDS, time.monotonic() - began)
        show(found["done"], found["total"], f"{rate:,.0f} events/s" if rate else "")
        if found["over"]:
            return [str(path) for path in found["faulty"]]
        time.sleep(LOOK_SECONDS)


def _ask(paths: Paths, name: str) -> Json:
    """A machine that is busy may take its time to answer; that is no reason to give up soon."""
    for _ in range(PATIENCE):
        with suppress(WorkerHung):
            return contact.order(paths, "backfill-progress", name=name)
    raise WorkerHung


def _report(
    home: wiring.Home, selection: Selection, before: import_plan.Tallies, run: Run, as_json: bool
) -> None:
    store = import_plan.reading(home)
    try:
        gain = import_plan.gain(before, import_plan.tallies(store, selection.chosen))
        waiting = store.health().pending if store is not None else 0
    finally:
        if store is not None:
            store.close()
    rate = round(gain.all.events / run.seconds) if run.seconds else 0
    if as_json:
        took = {"seconds": round(run.seconds, 3), "events_per_second": rate}
        told = {"dry_run": False} | as_values(gain, selection, run.faulty)
        print_json(told | took | {"waiting": waiting})
        return
    tell_gain("Taken in", gain, selection, run.what)
    tell_unreadable(selection, run.faulty)
    if selection.chosen:
        speed = f": {rate:,} events per second" if gain.all.events else ""
        say(f"That took {duration(run.seconds)}{speed}.")
    if waiting:
        say(
            f"{count(waiting, 'job')} waiting to be worked up, in the background and after today's. "
            "`recollect synthesize` shows how it goes, `recollect status` what it waits for."
        )
