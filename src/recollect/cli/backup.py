"""`recollect backup`: makes one, lists them, checks them. Any process may: the database is only read."""

from dataclasses import asdict
from typing import Any

import click

from recollect import clock, wiring
from recollect.backups import rotation
from recollect.backups.shelf import Backup, Shelf
from recollect.cli.interrupts import interruptible
from recollect.cli.output import count, duration, json_option, print_json, say, styled, table
from recollect.cli.progress import bar, megabytes
from recollect.errors import BackupError
from recollect.worker.health import waiting

STOPPED = "Stopped. No backup was made; the others are as they were."


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def backup(context: click.Context, as_json: bool) -> None:
    """Back up the database and the memories now, while work goes on; it is checked by opening it.

    The worker makes one every day that there is work, and before a migration, a dream and a restore. Old
    ones go by themselves (`backup.keep`). Without the search index, which a restore makes again.
    """
    if context.invoked_subcommand is not None:
        return
    home = wiring.home()
    home.paths.make()
    with interruptible(STOPPED), bar("Backing up", quiet=as_json) as show:
        made = wiring.shelf(home, clock.now).make(
            rotation.BY_HAND, home.settings.number("backup.keep"), show
        )
    if as_json:
        print_json(_told(made))
    else:
        size, took = megabytes(made.manifest.size), duration(made.manifest.seconds)
        say(f"{made.name}: {_held(made)}; {size}, in {took}.")
        say(f"It is in {made.path}. `recollect restore` brings it back.")
        if waits := waiting(home.paths):
            say(f"{count(waits, 'capture')} in the spool came too late for it: `recollect status`.")


@backup.command("list")
@json_option
def list_(as_json: bool) -> None:
    """The backups that there are, newest first."""
    found = _shelf().all()
    if as_json:
        print_json([_told(each) for each in found])
    elif not found:
        say("There is no backup yet. Make one with `recollect backup`.")
    else:
        rows = [
            (
                each.name,
                clock.day_and_time(each.manifest.made_at),
                megabytes(each.manifest.size),
                _held(each),
            )
            for each in found
        ]
        table(("name", "when", "size", "holds"), rows, numbers=("size",))


@backup.command()
@click.argument("name", required=False)
@json_option
def check(name: str | None, as_json: bool) -> None:
    """Open backups and look at every page and file of them. Exit code 4 when one is damaged."""
    shelf = _shelf()
    wanted = [shelf.named(name)] if name else shelf.all()
    if not wanted:
        shelf.named(None)
    results: list[dict[str, Any]] = []
    with bar("Checking", quiet=as_json) as show:
        for number, each in enumerate(wanted):
            show(number, len(wanted))
            results.append({"name": each.name, "fault": _fault(shelf, each)})
    if as_json:
        print_json(results)
    else:
        for result in results:
            mark = styled("✗", fg="red") if result["fault"] else styled("✓", fg="green")
            say(f"{mark} {result['name']}: {result['fault'] or 'sound'}")
    if any(result["fault"] for result in results):
        raise SystemExit(4)


def _shelf() -> Shelf:
    return wiring.shelf(wiring.home(), clock.now)


def _fault(shelf: Shelf, backup: Backup) -> str | None:
    try:
        shelf.check(backup)
    except BackupError as error:
        return str(error)
    return None


def _held(backup: Backup) -> str:
    rows = backup.manifest.rows
    sessions, observations = rows.get("sessions", 0), rows.get("observations", 0)
    memories = count(backup.manifest.memories, "memory file")
    return f"{count(sessions, 'session')}, {count(observations, 'observation')}, {memories}"


def _told(backup: Backup) -> dict[str, Any]:
    return {"name": backup.name, "path": str(backup.path)} | asdict(backup.manifest)
