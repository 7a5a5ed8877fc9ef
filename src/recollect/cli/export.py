"""`recollect export`: everything that is remembered, as JSON Lines."""

import json
import os
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from recollect import clock
from recollect.cli import places
from recollect.cli.interrupts import interruptible
from recollect.cli.output import count, json_option, say
from recollect.cli.progress import bar, megabytes
from recollect.errors import StoreMissing, TransferError
from recollect.model.records import Counts, ProjectRecord
from recollect.model.sessions import Project
from recollect.paths import Paths
from recollect.store.protocol import Reading
from recollect.text import clean
from recollect.transfer import export as transfer
from recollect.worker.health import waiting

if TYPE_CHECKING:
    from recollect.memory.storage.outgoing import Outgoing

STDOUT = "-"


@dataclass(frozen=True, slots=True)
class Export:
    """`store`: None where there are memories and nothing else."""

    store: Reading | None
    project: Project | None
    memories: "Outgoing"
    replies: bool

    def size(self) -> int:
        project_id = self.project.id if self.project else None
        return len(self.memories) + sum(self.store.record_counts(project_id) if self.store else ())

    def write(
        self, out: BinaryIO, on_record: Callable[[], None], *, ascii_only: bool = False
    ) -> Counts:
        project_id = self.project.id if self.project else None
        records = self.store.records(project_id, replies=self.replies) if self.store else ()
        return transfer.write(
            transfer.joined(records, self.memories),
            out,
            at=clock.now(),
            project=self.project.name if self.project else None,
            replies=self.replies,
            ascii_only=ascii_only,
            on_record=on_record,
        )


@click.command()
@places.project_option()
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    default=STDOUT,
    type=click.Path(dir_okay=False, allow_dash=True),
    help="Where to; packed if the name ends in .gz. `-`, the default, is the standard output.",
)
@click.option("--with-replies", is_flag=True, help="Also what models answered, word for word.")
@json_option
def export(project: str | None, output: str, with_replies: bool, as_json: bool) -> None:
    """Write everything that is remembered, or one project, as JSON Lines.

    `recollect import file` reads it, here or on another machine, and so does anything that reads JSON. It
    contains what you and the agent wrote, in full: keep it as private as the sessions themselves.

    With --json, what was written is told as JSON: on the standard error if the export itself goes to the
    standard output.
    """
    what = _chosen(project, with_replies)
    _warn_of_waiting()
    if output == STDOUT:
        with interruptible("Stopped. What was printed is not whole; `import file` would say so."):
            counts = _to_stdout(what)
        _report(counts, None, None, as_json)
    else:
        path = Path(output)
        with interruptible(f"Stopped. {path} was not written."):
            counts = _to_file(what, path, quiet=as_json)
        _report(counts, path, path.stat().st_size, as_json)
    for file in what.memories.left_out:
        click.echo(f"Left out: {clean(str(file.path))}: {clean(file.why)}.", err=True)


def _chosen(project: str | None, replies: bool) -> Export:
    from recollect.memory.storage.outgoing import Outgoing

    root = Paths.of(os.environ).memory
    try:
        store = places.store()
    except StoreMissing:
        memories = Outgoing(root)
        if project or not len(memories):
            raise
        return Export(None, None, memories, replies)
    chosen = places.project_named(store, project) if project else None
    return Export(store, chosen, Outgoing(root, _record(store, chosen)), replies)


def _record(store: Reading, project: Project | None) -> ProjectRecord | None:
    """The first thing that the store tells of a project is what it is known by."""
    first = next(store.records(project.id, replies=False)) if project else None
    assert first is None or isinstance(first, ProjectRecord)
    return first


def _to_stdout(what: Export) -> Counts:
    stream = sys.stdout.buffer
    counts = what.write(stream, lambda: None, ascii_only=sys.stdout.isatty())
    stream.flush()
    return counts


def _to_file(what: Export, path: Path, *, quiet: bool) -> Counts:
    try:
        with bar("Exporting", quiet=quiet) as show, transfer.new_file(path) as out:
            total = what.size()
            done = 0

            def on_record() -> None:
                nonlocal done
                done += 1
                if done % 256 == 0:
                    show(done, total)

            return what.write(out, on_record)
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise TransferError(f"{path} cannot be written: {why}. Choose another place.") from None


def _report(counts: Counts, path: Path | None, size: int | None, as_json: bool) -> None:
    if as_json:
        told = {"file": str(path) if path else None, "bytes": size, **asdict(counts)}
        click.echo(json.dumps(told, indent=2), err=path is None)
        return
    what = ", ".join(
        (
            count(counts.projects, "project"),
            count(counts.sessions, "session"),
            count(counts.events, "event"),
            count(counts.observations, "observation"),
            count(counts.summaries, "summary"),
            count(counts.memories, "memory"),
        )
    )
    if path is None:
        click.echo(f"Exported {what}.", err=True)
    else:
        say(f"Exported {what} to {path} ({megabytes(size or 0)}).")


def _warn_of_waiting() -> None:
    """What hooks have delivered and the worker has not taken up yet is not in the store."""
    if number := waiting(Paths.of(os.environ)):
        told = f"{count(number, 'capture')} not yet taken up by the worker will be missing."
        click.echo(f"{told} `recollect worker start`, and export again.", err=True)
