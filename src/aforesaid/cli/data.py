"""`aforesaid export`, `backup`, `restore`, `rebuild` and `redact`."""

import json
import os
import sys
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import click

from aforesaid import clock, wiring
from aforesaid.backups import recovery, repository
from aforesaid.backups.repository import Backup, BackupRepository
from aforesaid.cli import arguments
from aforesaid.cli import output as out
from aforesaid.cli.status import index_line
from aforesaid.english import count
from aforesaid.errors import AforesaidError, BackupError, StoreMissing, TransferError
from aforesaid.model.records import ProjectRecord, all_counts
from aforesaid.paths import Paths
from aforesaid.recall import resolve
from aforesaid.text import clean
from aforesaid.transfer import export as transfer
from aforesaid.worker import rpc
from aforesaid.worker.health import waiting

Record = TypeVar("Record")
STDOUT = "-"
EXPORTED = ("project", "session", "event", "observation", "summary", "memory")
REBUILD_SECONDS = 120.0  # clearing a large index takes a while
LARGEST = 64 * 1024 * 1024  # bytes of a text to redact


@click.command()
@arguments.project_option()
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    default=STDOUT,
    type=click.Path(dir_okay=False, allow_dash=True),
    help="Output file; compressed if its name ends in .gz. Required on a terminal. Default: stdout.",
)
@click.option("--with-replies", is_flag=True, help="Include the replies of models, verbatim.")
@out.json_option
def export(project: str | None, output: str, with_replies: bool) -> None:
    """Export everything, or one project, as JSON Lines.

    `aforesaid import file` imports it, here or on another machine. The export contains what you and the agent
    wrote, in full: keep it as private as the sessions themselves.

    With --json the counts are printed as JSON, on stderr if the export goes to stdout.
    """
    if output == STDOUT and sys.stdout.isatty():
        raise click.UsageError(
            "The export would fill the terminal. Name a file: `aforesaid export -o FILE`, or pipe it."
        )
    from aforesaid.memory.transfer import MemoryExport

    paths, store, chosen = Paths.of(os.environ), None, None
    identity: ProjectRecord | None = None
    try:
        store = arguments.open_store()
    except StoreMissing:  # there may be memories and nothing else
        if project or not len(MemoryExport(paths.memory)):
            raise
    if store and project:
        chosen = resolve.find_project(store, project, Path.cwd())
        first = next(store.transfer.export(chosen.id, replies=False))
        identity = first if isinstance(first, ProjectRecord) else None
    key, path = chosen.id if chosen else None, None if output == STDOUT else Path(output)
    memories = MemoryExport(paths.memory, identity)
    if number := waiting(paths):
        missing = f"{count(number, 'capture')} not processed by the worker yet will be missing."
        out.say(f"{missing} `aforesaid worker start`, and export again.", err=True)
    stored = store.transfer.export(key, replies=with_replies) if store else ()
    records = transfer.joined(stored, memories)
    total = len(memories) + (store.transfer.count(key) if store else 0)
    stopped = "The output is incomplete; `import file` would reject it."
    with (
        out.interruptible(f"Stopped. {f'{path} was not written.' if path else stopped}"),
        out.bar("Exporting") if path else nullcontext() as show,
        _open_output(path) as file,
    ):
        written = transfer.write(
            _show_progress(records, total, show) if show else records,
            file,
            at=clock.now(),
            project=chosen.name if chosen else None,
            replies=with_replies,
        )
    counts = all_counts(written)
    hidden = store.transfer.count_hidden(key) if store else 0
    size = path.stat().st_size if path else None
    if out.wants_json():
        value = {"file": str(path) if path else None, "bytes": size, **counts, "hidden": hidden}
        click.echo(json.dumps(value, indent=2), err=path is None)
    else:
        what = ", ".join(count(counts[plural(noun)], noun) for noun in EXPORTED)
        where = f" to {path} ({out.megabytes(size or 0)})" if path else ""
        out.say(f"Exported {what}{where}.", err=path is None)
        if hidden:
            noun = count(hidden, "hidden observation")
            out.say(f"With {noun}, hidden after an import too.", err=path is None)
    for each in memories.left_out:
        out.say(f"Left out: {clean(str(each.path))}: {clean(each.why)}.", err=True)


@contextmanager
def _open_output(path: Path | None) -> Iterator[BinaryIO]:
    if path is None:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    try:
        with transfer.new_file(path) as file:
            yield file
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise TransferError(f"{path} cannot be written: {why}. Choose another file.") from None


def _show_progress(records: Iterable[Record], total: int, show: out.Show) -> Iterator[Record]:
    for number, record in enumerate(records):
        if number % 256 == 0:
            show(number, total)
        yield record


def plural(noun: str) -> str:
    return noun[:-1] + "ies" if noun.endswith("y") else noun + "s"


@click.group(invoke_without_command=True)
@out.json_option
@click.pass_context
def backup(context: click.Context) -> None:
    """Back up the database and the memories now, while the worker runs, and check the backup.

    The worker makes one every day that there is work, and before a migration, a dream and a restore. Old
    ones are deleted automatically (`backup.keep`).
    """
    if context.invoked_subcommand is not None:
        return
    home = wiring.home()
    home.paths.make()
    stopped = out.interruptible("Stopped. No backup was made; the others are unchanged.")
    with stopped, out.bar("Backing up") as show:
        made = _backups().make(repository.BY_HAND, home.settings.number("backup.keep"), show)
    size, took = out.megabytes(made.manifest.size), out.duration(made.manifest.seconds)
    lines = [
        f"{made.name}: {_contents(made)}; {size}, in {took}.",
        f"It is in {made.path}. `aforesaid restore` restores it.",
    ]
    if number := waiting(home.paths):
        lines.append(f"{count(number, 'capture')} in the spool not included: `aforesaid status`.")
    out.report(_backup_json(made), "\n".join(lines))


@backup.command("list")
@out.json_option
def list_backups() -> None:
    """List backups, newest first."""
    found = _backups().all()
    rows = []
    for each in found:
        made, size = clock.day_and_time(each.manifest.made_at), out.megabytes(each.manifest.size)
        rows.append((each.name, made, size, _contents(each)))
    out.report_table(
        [_backup_json(each) for each in found],
        ("name", "when", "size", "contents"),
        rows,
        empty="There is no backup yet. Make one with `aforesaid backup`.",
        numbers=("size",),
    )


@backup.command("check")
@click.argument("name", required=False)
@out.json_option
def check_backups(name: str | None) -> None:
    """Check every page and file of one backup or of all. Exit code 4 if one is damaged."""
    backups = _backups()
    wanted = [backups.get(name)] if name else backups.all() or [backups.get(None)]
    faults: dict[str, str | None] = {}
    with out.bar("Checking") as show:
        for number, each in enumerate(wanted):
            show(number, len(wanted))
            try:
                backups.check(each)
                faults[each.name] = None
            except BackupError as error:
                faults[each.name] = str(error)
    if not out.print_if_json([{"name": key, "fault": fault} for key, fault in faults.items()]):
        for key, fault in faults.items():
            mark = out.styled("✗", fg="red") if fault else out.styled("✓", fg="green")
            out.say(f"{mark} {key}: {fault or 'sound'}")
    if any(faults.values()):
        raise SystemExit(out.NEEDS_ATTENTION)


def _backups() -> BackupRepository:
    return wiring.backup_repository(wiring.home(), clock.now)


def _contents(backup: Backup, *, memories: bool = True) -> str:
    rows = backup.manifest.rows
    text = f"{count(rows.get('sessions', 0), 'session')}, "
    text += count(rows.get("observations", 0), "observation")
    files = f"{count(backup.manifest.memories, 'file')} of memories and their history"
    return f"{text}, {files}" if memories else text


def _backup_json(backup: Backup) -> dict[str, Any]:
    return {"name": backup.name, "path": str(backup.path)} | asdict(backup.manifest)


@click.command()
@click.argument("name", required=False)
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@click.option("--without-memories", is_flag=True, help="Leave the curated memories as they are.")
@out.json_option
def restore(name: str | None, yes: bool, without_memories: bool) -> None:
    """Replace all recorded data by a backup. Default: the newest.

    The current state is backed up first, so a second restore undoes the first. Sessions since the backup are
    read again from transcripts; hooks continue, and their captures wait in the spool.
    """
    home = wiring.home()
    backups = _backups()
    backup = backups.get(name)
    if not yes:
        age = clock.age(backup.manifest.made_at, now=clock.now())
        out.say(f"{backup.name} is {age} old. It replaces everything that is remembered now;")
        out.say("that is backed up first, and sessions since then are read again from transcripts.")
        if not os.isatty(0):
            raise BackupError(
                "There is no terminal to ask on. Confirm with `aforesaid restore --yes`."
            )
        click.confirm("Restore it?", abort=True)
    keep = home.settings.number("backup.keep")
    with _without_worker(home.paths), out.bar("Restoring") as show:
        kept = recovery.restore(backups, backup, keep, show, memories=not without_memories)
    rpc.start(home.paths)
    before, aside = (None, str(kept)) if isinstance(kept, Path) else (kept.name, None)
    where = f"The state before could not be read well enough for a backup; it is in {aside}."
    if before:
        where = f"The state before: `aforesaid restore {before}` restores it."
    out.report(
        {"restored": backup.name, "before": before, "aside": aside},
        f"Restored {backup.name}: {_contents(backup, memories=False)}.\n{where}\n"
        "The search index is rebuilt in the background; `aforesaid status` shows the progress.",
    )


@contextmanager
def _without_worker(paths: Paths) -> Iterator[None]:
    """Holds the worker's lock: only one process may write. One that a hook has just started stops too."""
    paths.make()
    rpc.stop(paths)
    try:
        with rpc.single_instance(paths):
            yield
    except rpc.AlreadyRunning:
        raise BackupError(
            "A worker is running and does not stop. Stop it with `aforesaid worker stop`, then try again."
        ) from None


@click.command()
@out.json_option
def rebuild() -> None:
    """Rebuild the search index: words, facts, events and vectors.

    The worker does it; searches keep working meanwhile. Recorded data is not changed.
    """
    paths = Paths.of(os.environ)
    rpc.start(paths)
    rpc.ask(paths, b"rebuild {}", seconds=REBUILD_SECONDS)

    def count_left(status: dict[str, Any]) -> int:
        index = status["index"]
        vectors = index["documents"] - index["vectors"] if index["encoder"] else 0
        left = int(index["waiting"]) + max(0, vectors) + int(index["unread"])
        return 0 if status["idle"] else left

    stopped = "It continues in the background. `aforesaid status` shows the progress."
    index = arguments.watch_worker("Indexing", count_left, stopped)["index"]
    if out.print_if_json(index):
        return
    out.say(f"The index has {index_line(index)}.")
    missing = index["documents"] - index["vectors"] if index["encoder"] else 0
    if missing > 0:
        found = f"{count(missing, 'document')} found by words only: the encoder does not answer."
        out.say(out.styled(f"{found} See `aforesaid worker logs`.", fg="yellow"))


@click.command()
@click.argument(
    "file",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path),
    default="-",
)
@click.option("--check", is_flag=True, help="Only list position and kind of each secret.")
@out.json_option
def redact(file: Path, check: bool) -> None:
    """Print FILE, or stdin, as it would be stored: without secrets and private parts.

    Your own patterns and the secrets in this terminal's environment are applied too. Nothing is stored.
    With --check, exit code 4 if something is found.
    """
    with click.open_file(str(file), "rb") as opened:
        data = opened.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise AforesaidError(f"The input is larger than {LARGEST // 1024 // 1024} MB. Split it.")
    text = bytes(data).decode("utf-8", "replace")
    redactor = wiring.make_redactor(wiring.home(), os.environ)
    if not check and not out.wants_json():
        click.echo(redactor.text(text), nl=False)
        return
    starts = [0, *(at + 1 for at, c in enumerate(text) if c == "\n")]
    found = [
        {
            "line": (line := bisect_right(starts, each.start)),
            "column": each.start - starts[line - 1] + 1,
            "kind": each.kind,
            "length": each.end - each.start,
        }
        for each in redactor.find(text)
    ]
    if out.print_if_json(found):
        return
    if found:
        columns = ("line", "column", "kind", "length")
        rows = (tuple(str(each[name]) for name in columns) for each in found)
        out.table(columns, rows, numbers=("line", "column", "length"))
    out.say(f"{count(len(found), 'secret')} found.")
    if found:
        raise SystemExit(out.NEEDS_ATTENTION)
