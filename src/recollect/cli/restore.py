"""`recollect restore`: a backup in the place of what is here. The worker is stopped for it, and started
again: only one process may write."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import click

from recollect import clock, wiring
from recollect.backups import restoring
from recollect.backups.restoring import Restored
from recollect.backups.shelf import Shelf
from recollect.cli.output import count, json_option, print_json, say
from recollect.cli.progress import bar
from recollect.errors import BackupError
from recollect.paths import Paths
from recollect.worker import contact
from recollect.worker.instance import AlreadyRunning, the_only_one


@click.command()
@click.argument("name", required=False)
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@click.option("--without-memories", is_flag=True, help="Leave the curated memories as they are.")
@json_option
def restore(name: str | None, yes: bool, without_memories: bool, as_json: bool) -> None:
    """Put a backup in the place of what is remembered now. Without NAME: the newest.

    What is here now is backed up first, so a second restore undoes the first. What transcripts tell of the
    time since the backup is read again; hooks go on meanwhile, and what they capture waits in the spool.
    """
    home = wiring.home()
    shelf = wiring.shelf(home, clock.now)
    backup = shelf.named(name)
    if not yes:
        _ask(shelf, backup.name, backup.manifest.made_at)
    keep = home.settings.number("backup.keep")
    with _alone(home.paths), bar("Restoring", quiet=as_json) as show:
        done = restoring.restore(shelf, backup, keep, show, memories=not without_memories)
    contact.start(home.paths)
    if as_json:
        print_json(
            {
                "restored": done.backup.name,
                "before": done.before.name if done.before else None,
                "aside": str(done.aside) if done.aside else None,
            }
        )
    else:
        _tell(done)


@contextmanager
def _alone(paths: Paths) -> Iterator[None]:
    """In the worker's place. One that a hook has just started is stopped, too."""
    paths.make()
    contact.stop(paths)
    try:
        with the_only_one(paths):
            yield
    except AlreadyRunning:
        raise BackupError(
            "A worker runs and does not stop. Stop it with `recollect worker stop`, then try again."
        ) from None


def _ask(shelf: Shelf, name: str, made_at: int) -> None:
    age = clock.age(made_at, now=shelf.clock())
    say(f"{name} is {age} old. It takes the place of everything that is remembered now;")
    say("what is here now is backed up first, and sessions since then come back from transcripts.")
    if not os.isatty(0):
        raise BackupError("Nobody is there to ask. Say so with `recollect restore --yes`.")
    click.confirm("Restore it?", abort=True)


def _tell(done: Restored) -> None:
    rows = done.backup.manifest.rows
    held = f"{count(rows.get('sessions', 0), 'session')}, "
    held += count(rows.get("observations", 0), "observation")
    say(f"Restored {done.backup.name}: {held}.")
    if done.before is not None:
        say(f"What was here before: `recollect restore {done.before.name}` brings it back.")
    else:
        say(
            f"What was here before could not be read well enough for a backup; it is in {done.aside}."
        )
    say("The search index is made again in the background; `recollect status` shows how far it is.")
