"""`aforesaid import`: transcripts of Claude Code, an export, claude-mem. The worker imports; the command
watches. An import can be repeated: what is here already stays unchanged."""

import json
import os
import time
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from aforesaid import clock, wiring
from aforesaid.agents.registry import AGENTS, DEFAULT
from aforesaid.cli import arguments
from aforesaid.cli.data import plural
from aforesaid.cli.output import (
    Show,
    bar,
    duration,
    exit_interrupted,
    interruptible,
    json_option,
    print_json,
    say,
    styled,
    table,
)
from aforesaid.english import count
from aforesaid.errors import StoreError, StoreMissing, TransferError, WorkerError, WorkerHung
from aforesaid.model.events import Tally
from aforesaid.model.requests import Usage
from aforesaid.paths import Paths
from aforesaid.store.store import Store
from aforesaid.synthesis.cost import Prices
from aforesaid.transfer.claude_mem import PLACEHOLDER, default_path, project_names
from aforesaid.worker import import_plan as imports
from aforesaid.worker import rpc
from aforesaid.worker.context import Context
from aforesaid.worker.imports import Imports
from aforesaid.worker.reconcile import Selected, as_order

Json = dict[str, Any]
Ask = Callable[[str, Json], Json]
Result = TypeVar("Result")
RESTARTS = 5  # of the worker during one import
STEP_SECONDS = 900.0  # a session is imported whole, however large
BUSY_SECONDS = 8.0  # longer than the worker waits for a client that has gone away
POLL_SECONDS = 0.1
PATIENCE = 12  # times five seconds
NOUNS = ("project", "session", "prompt", "event", "observation", "summary", "request", "memory")
LISTED_FILES, LISTED_MEMORIES, LISTED_PROJECTS = 3, 10, 20
WELL_KNOWN = ("claude-haiku-4-5", "claude-haiku-5-5", "claude-sonnet-5-5", "gpt-5-mini")
MILLION = 1_000_000
UNCHANGED = "Stopped. Nothing was changed."
STOPPED = "Stopped. What was imported is complete; run it again to continue."


@click.group("import")
def import_() -> None:
    """Import what was remembered elsewhere. What is here already stays as it is, so importing twice changes
    nothing, and an import that was interrupted continues when it is run again."""


@import_.command("file")
@click.argument("path", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--dry-run", is_flag=True, help="Only check the file, and count what is new.")
@json_option
def import_file(path: Path, dry_run: bool, as_json: bool) -> None:
    """Import a file that `aforesaid export` wrote.

    PATH may be compressed. Existing sessions, events and observations stay as they are. A session is imported
    whole or not at all; of a broken file, the sessions before the fault are imported.
    """
    request = {"what": "file", "path": str(path.absolute()), "dry_run": dry_run}
    _report(_run(request, quiet=as_json), dry_run=dry_run, as_json=as_json)


def _complete_names(context: click.Context, _: click.Parameter, typed: str) -> list[CompletionItem]:
    path = next(iter(context.args), None) or default_path(os.environ)
    return [CompletionItem(n) for n in project_names(Path(path)) if n.startswith(typed)]


@import_.command("claude-mem")
@click.argument("path", required=False, type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--project",
    metavar="NAME",
    shell_complete=_complete_names,
    help="Only this project of claude-mem.",
)
@click.option(
    "--as",
    "folders",
    metavar="NAME=DIR",
    multiple=True,
    help="Import claude-mem's project NAME into the project in DIR. Can be repeated.",
)
@click.option("--dry-run", is_flag=True, help="Only count what is new.")
@json_option
def import_claude_mem(
    path: Path | None, project: str | None, folders: tuple[str, ...], dry_run: bool, as_json: bool
) -> None:
    """Import what claude-mem remembers, of any release.

    These are sessions, prompts, observations and summaries. PATH is its database; default: claude-mem.db in
    CLAUDE_MEM_DATA_DIR or ~/.claude-mem. It is only read, and claude-mem may be running.

    Claude-mem knows a project by the name of its folder. It is imported into the project of that name if
    there is exactly one here, or the one given with --as; else into a new one, until you import with --as.
    """
    request = {
        "what": "claude-mem",
        "path": str((path or default_path(os.environ)).absolute()),
        "project": project,
        "folders": dict(_parse_folder(given) for given in folders),
        "dry_run": dry_run,
    }
    result = _run(request, quiet=as_json)
    _report(result, dry_run=dry_run, as_json=as_json)
    if as_json:
        return
    projects = sorted(result["projects"].items())
    for name, root in projects[:LISTED_PROJECTS]:
        new = root.startswith(PLACEHOLDER)
        say(f"  {name}: {'a project of its own; --as says where it is' if new else root}")
    if len(projects) > LISTED_PROJECTS:
        say(f"  and {len(projects) - LISTED_PROJECTS} more projects")


def _parse_folder(given: str) -> tuple[str, str]:
    name, mark, folder = given.rpartition("=")
    path = Path(folder).expanduser().absolute()
    if not mark or not name:
        raise click.BadParameter(f"{given!r} is not of the form NAME=DIR.", param_hint="--as")
    if not path.is_dir():
        raise click.BadParameter(f"{path} is not a directory.", param_hint="--as")
    return name, str(path)


def _run(request: Json, *, quiet: bool) -> Json:
    """Returns the worker's last answer, and the `seconds` it took."""
    began = time.monotonic()
    paths = Paths.of(os.environ)
    dry_run = bool(request["dry_run"])
    with (
        interruptible(UNCHANGED if dry_run else STOPPED),
        bar("Counting" if dry_run else "Importing", quiet=quiet) as show,
    ):
        if dry_run and _is_empty(paths):
            found = _run_in_scratch(paths, request, show)
        else:
            found = _with_restarts(lambda: _run_steps(partial(_ask, paths), request, show))
    return found | {"seconds": round(time.monotonic() - began, 3)}


def _with_restarts(run: Callable[[], Result | None]) -> Result:
    """Starts over when the worker was replaced in between: nothing is imported twice."""
    for _ in range(RESTARTS):
        try:
            found = run()
        except WorkerHung:
            raise
        except WorkerError:  # it ended while we were asking
            continue
        if found is not None:
            return found
    raise TransferError("The worker ended again and again. See `aforesaid worker logs`.")


def _ask(paths: Paths, command: str, request: Json) -> Json:
    rpc.start(paths)
    data = f"{command} {json.dumps(request)}".encode()
    answer = json.loads(rpc.ask(paths, data, seconds=STEP_SECONDS))
    assert isinstance(answer, dict)
    return answer


def _is_empty(paths: Paths) -> bool:
    with suppress(StoreError):  # other than missing: the worker repairs it, or says what is wrong
        try:
            wiring.open_for_reading(paths).close()
        except StoreMissing:
            return True
    return False


def _run_in_scratch(paths: Paths, request: Json, show: Show) -> Json:
    """A dry run where nothing is recorded yet starts no worker and creates no database."""
    from aforesaid.memory.transfer import MemoryImport

    memories = partial(MemoryImport, paths.memory, clock.now)
    with (
        TemporaryDirectory(prefix="aforesaid-") as folder,
        closing(wiring.open_scratch(Path(folder))) as store,
    ):
        runner = Imports(Context(wiring.home(), store, clock.now), lambda _: None, memories)
        commands = {"import-begin": runner.begin, "import-step": runner.step}
        commands["import-cancel"] = runner.cancel
        found = _run_steps(lambda command, what: commands[command](what), request, show)
    assert found is not None
    return found


def _run_steps(ask: Ask, request: Json, show: Show) -> Json | None:
    """Returns None if the worker does not know the import any more."""
    end = time.monotonic() + BUSY_SECONDS
    while "busy" in (answer := _checked(ask("import-begin", request))):
        if time.monotonic() > end:
            raise TransferError("Another import is running. Try again when it has finished.")
        time.sleep(0.2)
    name = answer["name"]
    try:
        while True:
            answer = _checked(ask("import-step", {"name": name}))
            if "lost" in answer:
                return None
            show(answer["done"], answer["total"])
            if answer["over"]:
                return answer
    except KeyboardInterrupt:
        ask("import-cancel", {"name": name})
        raise


def _checked(answer: Json) -> Json:
    if "error" in answer:
        raise TransferError(answer["error"])
    return answer


def _report(result: Json, *, dry_run: bool, as_json: bool) -> None:
    new, known = result["new"], result["known"]
    if as_json:
        value = {"dry_run": dry_run, "new": new, "known": known, "seconds": result["seconds"]}
        print_json(value | {key: result[key] for key in ("projects", "memories") if key in result})
        return
    added = [count(new[plural(noun)], noun) for noun in NOUNS if new[plural(noun)]]
    say(f"{'Would import' if dry_run else 'Imported'}: {', '.join(added) or 'nothing'}.")
    for noun in ("session", "memory"):
        if number := known[plural(noun)]:
            say(f"{count(number, noun)} here already.")
    if memories := result.get("memories"):
        _report_memories(memories, dry_run=dry_run)
    say("Nothing was changed." if dry_run else f"That took {duration(result['seconds'])}.")


def _report_memories(memories: Json, *, dry_run: bool) -> None:
    if renamed := memories["renamed"]:
        names = ", ".join(renamed[:LISTED_MEMORIES])
        names += ", …" if len(renamed) > LISTED_MEMORIES else ""
        verb = "would be" if dry_run else "was" if len(renamed) == 1 else "were"
        say(f"{count(len(renamed), 'memory')} {verb} renamed, because the name is used: {names}.")
    for reason in memories["reasons"]:
        say(reason, err=True)
    if more := memories["refused"] - len(memories["reasons"]):
        say(f"{count(more, 'more memory')} not imported.", err=True)


# Transcripts


@dataclass(frozen=True, slots=True)
class Run:
    """A finished import: what was asked for, which files were not read whole, how long it took."""

    what: str
    faulty: list[str]
    seconds: float


@import_.command("claude-code")
@arguments.project_option()
@arguments.since_option("Only sessions that went on")
@click.option("--dry-run", is_flag=True, help="Only count, and estimate the cost.")
@json_option
def import_claude_code(
    project: str | None, since: int | None, dry_run: bool, as_json: bool
) -> None:
    """Import past sessions of Claude Code from its transcripts.

    What hooks have captured already stays as it is. The worker imports the sessions, oldest first, and
    continues if you stop this command; run it again to watch. Today's sessions have priority.

    Transcripts are read from ~/.claude/projects, or from `projects` in CLAUDE_CONFIG_DIR.
    """
    stopped = UNCHANGED if dry_run else "Stopped. Run it again to continue."
    with interruptible(stopped):
        _import_transcripts(project, since, dry_run, as_json)


def _import_transcripts(
    project: str | None, since: int | None, dry_run: bool, as_json: bool
) -> None:
    home = wiring.home()
    store = imports.reading(home) if dry_run else _open_migrated(home)
    try:
        selection = imports.select(
            AGENTS[DEFAULT.name], os.environ, store, project=project, since=since
        )
        before = imports.tallies(store, selection.chosen)
    finally:
        if store is not None:
            store.close()
    what = _describe_filter(project, since)
    if dry_run:
        _print_plan(home, selection, what, as_json)
        return
    began = time.monotonic()
    faulty = _watch(selection.chosen, quiet=as_json) if selection.chosen else []
    run = Run(what, faulty, time.monotonic() - began)
    _report_transcripts(home, selection, before, run, as_json)


def _open_migrated(home: wiring.Home) -> Store | None:
    """The worker migrates a database of an older version; then it can be read."""
    try:
        return imports.reading(home)
    except StoreError:
        rpc.start(home.paths)
        return imports.reading(home)


def _watch(selected: list[Selected], *, quiet: bool) -> list[str]:
    """Until the worker has finished. Returns the transcripts that it could not read whole."""
    try:
        with bar("Importing", quiet=quiet) as show:
            return _with_restarts(lambda: _follow(selected, show))
    except KeyboardInterrupt:
        exit_interrupted(
            "The worker continues. See `aforesaid status`; run this again to watch it."
        )


def _follow(selected: list[Selected], show: Show) -> list[str] | None:
    """Returns None if the worker does not know the import any more."""
    name = arguments.call_worker("backfill-begin", **as_order(selected))["name"]
    first, began = None, time.monotonic()
    while True:
        found = _ask_progress(name)
        if "lost" in found:
            return None
        first = found["events"] if first is None else first  # it may have begun earlier
        rate = (found["events"] - first) / max(POLL_SECONDS, time.monotonic() - began)
        show(found["done"], found["total"], f"{rate:,.0f} events/s" if rate else "")
        if found["over"]:
            return [str(path) for path in found["faulty"]]
        time.sleep(POLL_SECONDS)


def _ask_progress(name: str) -> Json:
    """A busy machine may take long to answer."""
    for _ in range(PATIENCE):
        with suppress(WorkerHung):
            return arguments.call_worker("backfill-progress", name=name)
    raise WorkerHung


def _report_transcripts(
    home: wiring.Home,
    selection: imports.Selection,
    before: imports.Tallies,
    run: Run,
    as_json: bool,
) -> None:
    store = imports.reading(home)
    try:
        gain = imports.gain(before, imports.tallies(store, selection.chosen))
        waiting = store.health().pending if store is not None else 0
    finally:
        if store is not None:
            store.close()
    rate = round(gain.all.events / run.seconds) if run.seconds else 0
    if as_json:
        took = {"seconds": round(run.seconds, 3), "events_per_second": rate, "waiting": waiting}
        print_json({"dry_run": False} | _gain_json(gain, selection, run.faulty) | took)
        return
    _print_gain("Imported", gain, selection, run)
    if selection.chosen:
        speed = f": {rate:,} events per second" if gain.all.events else ""
        say(f"That took {duration(run.seconds)}{speed}.")
    if waiting:
        say(
            f"{count(waiting, 'job')} to be processed in the background, after today's. `aforesaid "
            "synthesize` shows the progress, `aforesaid status` what it waits for."
        )


def _print_plan(home: wiring.Home, selection: imports.Selection, what: str, as_json: bool) -> None:
    choice = wiring.provider(home, clock.now)
    with bar("Counting", quiet=as_json) as show:
        plan = imports.plan(home, choice, selection.chosen, clock.now, show)
    costs = _costs(home, choice, plan)
    added, expected, needs = plan.gain.all, plan.expected, plan.needs
    if as_json:
        print_json(
            {"dry_run": True}
            | _gain_json(plan.gain, selection, plan.faulty)
            | {
                "observations": asdict(expected),
                "needs": {n: getattr(needs, n) for n in ("requests", "sent", "received")},
                "costs": costs,
            }
        )
        return
    _print_gain("Would import", plan.gain, selection, Run(what, plan.faulty, 0))
    if added != Tally():
        say(
            f"To be processed: {count(added.turns, 'turn')}, in {count(added.parts, 'part')} to observe and "
            f"{count(added.summaries, 'summary')}."
        )
        low, high = expected.low, expected.high
        number = f"{low:,} to {high:,}" if low < high else f"{high:,}"
        say(f"Observations to expect: {number if high else 'none'} ({expected.basis}).")
        say(
            f"With a model, about {count(needs.requests, 'request')}: {needs.sent:,} tokens sent and "
            f"{needs.received:,} received."
        )
        rows = [
            (
                cost["provider"],
                "in use" if cost["in_force"] else "",
                "unknown" if cost["dollars"] is None else f"{cost['dollars']:,.2f}",
            )
            for cost in costs
        ]
        table(("provider", "", "about dollars"), rows, numbers=("about dollars",))
    say("Nothing was changed.")


def _costs(home: wiring.Home, choice: wiring.Choice, plan: imports.Plan) -> list[Json]:
    """At list prices, without discounts for cached tokens."""
    usage = Usage(plan.needs.sent, 0, 0, plan.needs.received)
    listed = Prices.of(home.settings.names("cost.prices"))

    def row(provider: str, model: str, prices: Prices, in_force: bool) -> Json:
        cost = prices.microdollars(model, usage)
        dollars = None if cost is None else cost / MILLION
        return {"provider": provider, "in_force": in_force, "dollars": dollars}

    rows: list[Json] = [{"provider": "rules", "in_force": choice.model is None, "dollars": 0.0}]
    current = choice.model.model if choice.model else None
    if choice.model is not None:
        prices = choice.terms.prices if choice.terms else listed
        rows.append(row(f"{choice.model.name}/{current}", choice.model.model, prices, True))
    return rows + [row(m, m, listed, False) for m in WELL_KNOWN if m != current]


def _gain_json(gain: imports.Gain, selection: imports.Selection, faulty: list[str]) -> Json:
    """`faulty`: transcripts that could not be read whole; `unreadable`: not at all."""
    return {
        "new": asdict(gain.all),
        "grown": gain.grown.sessions,
        "known": gain.known,
        "empty": gain.empty + selection.empty,
        "faulty": faulty,
        "unreadable": {file.path: file.fault for file in selection.unreadable},
        "folder": str(selection.folder),
        "found": selection.found,
    }


def _print_gain(label: str, gain: imports.Gain, selection: imports.Selection, run: Run) -> None:
    if not selection.chosen:
        say(f"{label}: nothing. {_explain_nothing(selection, run.what)}")
    else:
        added = [_tally(gain.new)] if gain.new.sessions else []
        if sessions := gain.grown.sessions:
            part = _tally(gain.grown.since(Tally(sessions=sessions))) or "more to process"
            added.append(f"{part} in {count(sessions, 'known session')}")
        say(f"{label}: {'; '.join(added) or 'nothing'}.")
        if gain.known:
            say(f"{count(gain.known, 'session')} here already.")
        if empty := gain.empty + selection.empty:
            say(f"{count(empty, 'empty transcript')} skipped.")
    unreadable = [f"{file.path}: {file.fault}" for file in selection.unreadable]
    for files, problem in (
        (unreadable, "cannot be read"),
        (run.faulty, "could not be read whole; the readable part is imported"),
    ):
        if files:
            lines = [f"{count(len(files), 'transcript')} {problem}:"]
            lines += [f"  {file}" for file in files[:LISTED_FILES]]
            if len(files) > LISTED_FILES:
                lines.append(f"  and {len(files) - LISTED_FILES} more (--json lists all)")
            say(styled("\n".join(lines), fg="yellow"))


def _tally(added: Tally) -> str:
    parts = ((added.sessions, "session"), (added.prompts, "prompt"), (added.events, "event"))
    return ", ".join(count(number, noun) for number, noun in parts if number)


def _explain_nothing(selection: imports.Selection, what: str) -> str:
    folder = selection.folder
    if not selection.found:
        missing = "" if folder.is_dir() else ", which does not exist"
        return (
            f"There are no transcripts in {folder}{missing}. Claude Code keeps them there, or in `projects` "
            "in CLAUDE_CONFIG_DIR."
        )
    have = f"Of the {count(selection.found, 'transcript')} in {folder} none"
    return f"{have} is {what}." if what else f"{have} contains a session."


def _describe_filter(project: str | None, since: int | None) -> str:
    parts = []
    if project is not None:
        folder = Path(project).expanduser().absolute()
        is_folder = folder.is_dir() or "/" in project
        parts.append(f"of the project in {folder}" if is_folder else f"of {project}")
    if since is not None:
        parts.append(f"written to since {clock.day_and_time(since)}")
    return " and ".join(parts)
