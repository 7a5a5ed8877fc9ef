"""`aforesaid import`: transcripts of Claude Code, an export, claude-mem. The worker imports; the command
watches. An import can be repeated: what is here already stays unchanged."""

import os
import shlex
import time
from contextlib import closing, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from aforesaid import clock, wiring
from aforesaid.agents.registry import AGENTS, DEFAULT
from aforesaid.cli import arguments
from aforesaid.cli import output as out
from aforesaid.cli.data import plural
from aforesaid.english import count
from aforesaid.errors import StoreError
from aforesaid.model.events import Tally
from aforesaid.model.requests import Usage
from aforesaid.synthesis.cost import Prices
from aforesaid.transfer.claude_mem import PLACEHOLDER, default_path
from aforesaid.worker import import_plan as imports
from aforesaid.worker import rpc

Json = dict[str, Any]
NOUNS = ("project", "session", "prompt", "event", "observation", "summary", "request", "memory")
LISTED_FILES, LISTED_MEMORIES, LISTED_PROJECTS = 3, 10, 20
WELL_KNOWN = ("claude-haiku-4-5", "claude-haiku-5-5", "claude-sonnet-5-5", "gpt-5-mini")
MILLION = 1_000_000
UNCHANGED = "Stopped. Nothing was changed."
STOPPED = "Stopped. What was imported is complete; run it again to continue."


class _Imports(click.Group):
    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self.commands and Path(args[0]).is_file():
            command = f"aforesaid import file {shlex.quote(args[0])}"
            raise click.UsageError(f"{args[0]!r} is a file. To import an export: {command}")
        return super().resolve_command(ctx, args)


@click.group("import", cls=_Imports)
def import_() -> None:
    """Import past sessions, an export or another memory. Existing data stays as it is: importing
    twice changes nothing, and an interrupted import continues when it is run again."""


@import_.command("file")
@click.argument("path", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--dry-run", is_flag=True, help="Only check the file, and count what is new.")
@out.json_option
def import_file(path: Path, dry_run: bool) -> None:
    """Import a file that `aforesaid export` wrote.

    PATH may be compressed. Existing sessions, events and observations stay as they are. A session is imported
    whole or not at all; of a broken file, the sessions before the fault are imported.
    """
    request = {"what": "file", "path": str(path.absolute()), "dry_run": dry_run}
    _report(_run(request), dry_run=dry_run)


@import_.command("claude-mem")
@click.argument("path", required=False, type=click.Path(dir_okay=False, path_type=Path))
@click.option("--project", metavar="NAME", help="Only this project of claude-mem.")
@click.option(
    "--as",
    "folders",
    metavar="NAME=DIR",
    multiple=True,
    help="Import claude-mem's project NAME into the project in DIR. Can be repeated.",
)
@click.option("--dry-run", is_flag=True, help="Only count what is new.")
@out.json_option
def import_claude_mem(
    path: Path | None, project: str | None, folders: tuple[str, ...], dry_run: bool
) -> None:
    """Import the database of claude-mem, any version.

    It has sessions, prompts, observations and summaries. PATH is its file; default: claude-mem.db in
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
    result = _run(request)
    if _report(result, dry_run=dry_run):
        return
    projects = sorted(result["projects"].items())
    for name, root in projects[:LISTED_PROJECTS]:
        new = root.startswith(PLACEHOLDER)
        out.say(f"  {name}: {'a project of its own; --as says where it is' if new else root}")
    if len(projects) > LISTED_PROJECTS:
        out.say(f"  and {len(projects) - LISTED_PROJECTS} more projects")


def _parse_folder(given: str) -> tuple[str, str]:
    name, mark, folder = given.rpartition("=")
    path = Path(folder).expanduser().absolute()
    if not mark or not name:
        raise click.BadParameter(f"{given!r} is not of the form NAME=DIR.", param_hint="--as")
    if not path.is_dir():
        raise click.BadParameter(f"{path} is not a directory.", param_hint="--as")
    return name, str(path)


def _run(request: Json) -> Json:
    """Returns the worker's last answer, and the `seconds` it took."""
    began, dry_run = time.monotonic(), bool(request["dry_run"])
    stopped = out.interruptible(UNCHANGED if dry_run else STOPPED)
    with stopped, out.bar("Counting" if dry_run else "Importing") as show:
        found = arguments.run_task("import", request, lambda now: show(now["done"], now["total"]))
    return found | {"seconds": round(time.monotonic() - began, 3)}


def _report(result: Json, *, dry_run: bool) -> bool:
    """Returns whether JSON was printed."""
    new, known, memories = result["new"], result["known"], result.get("memories")
    value = {"dry_run": dry_run, "new": new, "known": known, "seconds": result["seconds"]}
    value |= {key: result[key] for key in ("projects", "memories") if key in result}
    if out.print_if_json(value):
        return True
    added = [count(new[plural(noun)], noun) for noun in NOUNS if new[plural(noun)]]
    out.say(f"{'Would import' if dry_run else 'Imported'}: {', '.join(added) or 'nothing'}.")
    for noun in ("session", "memory"):
        if number := known[plural(noun)]:
            out.say(f"{count(number, noun)} here already.")
    if memories:
        if renamed := memories["renamed"]:
            names = ", ".join(renamed[:LISTED_MEMORIES])
            names += ", …" if len(renamed) > LISTED_MEMORIES else ""
            verb = "would be" if dry_run else "was" if len(renamed) == 1 else "were"
            what = count(len(renamed), "memory")
            out.say(f"{what} {verb} renamed, because the name is used: {names}.")
        for reason in memories["reasons"]:
            out.say(reason, err=True)
        if more := memories["refused"] - len(memories["reasons"]):
            out.say(f"{count(more, 'more memory')} not imported.", err=True)
    out.say("Nothing was changed." if dry_run else f"That took {out.duration(result['seconds'])}.")
    return False


# Transcripts


@import_.command("claude-code")
@arguments.project_option()
@arguments.since_option("Only sessions that went on")
@click.option("--dry-run", is_flag=True, help="Only count, and estimate the cost.")
@out.json_option
def import_claude_code(project: str | None, since: int | None, dry_run: bool) -> None:
    """Import past sessions of Claude Code from its transcripts.

    What hooks have captured already stays as it is. The worker imports the sessions, oldest first, and
    continues if you stop this command; run it again to watch. Today's sessions have priority.

    Transcripts are read from ~/.claude/projects, or from `projects` in CLAUDE_CONFIG_DIR.
    """
    with out.interruptible(UNCHANGED if dry_run else "Stopped. Run it again to continue."):
        home = wiring.home()
        try:
            store = imports.reading(home)
        except StoreError:
            if dry_run:
                raise
            rpc.start(home.paths)  # the worker migrates a database of an older version
            store = imports.reading(home)
        with closing(store) if store else nullcontext():
            selection = imports.select(
                AGENTS[DEFAULT.name], os.environ, store, project=project, since=since
            )
            before = imports.tallies(store, selection.chosen)
        if dry_run:
            _print_plan(home, selection)
        else:
            _import_transcripts(home, selection, before)


def _import_transcripts(
    home: wiring.Home, selection: imports.Selection, before: imports.Tallies
) -> None:
    began = time.monotonic()
    faulty: list[str] = []  # transcripts that could not be read whole
    try:
        with out.bar("Importing") as show:
            if selection.chosen:
                done = arguments.run_task(
                    "backfill",
                    {"files": [asdict(file) for file in selection.chosen]},
                    lambda now: show(now["done"], now["total"], f"{now['events']:,} events"),
                )
                faulty = [str(path) for path in done["faulty"]]
    except KeyboardInterrupt:
        out.exit_interrupted(
            "The worker continues. See `aforesaid status`; run this again to watch it."
        )
    seconds, store = time.monotonic() - began, imports.reading(home)
    with closing(store) if store else nullcontext():
        gain = imports.gain(before, imports.tallies(store, selection.chosen))
        waiting = store.health().pending if store is not None else 0
    rate = round(gain.all.events / seconds) if seconds else 0
    took = {"seconds": round(seconds, 3), "events_per_second": rate, "waiting": waiting}
    if out.print_if_json({"dry_run": False} | _gain_json(gain, selection, faulty) | took):
        return
    _print_gain("Imported", gain, selection, faulty)
    if selection.chosen:
        speed = f": {rate:,} events per second" if rate else ""
        out.say(f"That took {out.duration(seconds)}{speed}.")
    if waiting:
        out.say(
            f"{count(waiting, 'job')} to be processed in the background, after today's. `aforesaid "
            "synthesize` shows the progress, `aforesaid status` what it waits for."
        )


def _print_plan(home: wiring.Home, selection: imports.Selection) -> None:
    choice = wiring.provider(home, clock.now)
    with out.bar("Counting") as show:
        plan = imports.plan(home, choice, selection.chosen, clock.now, show)
    costs = _costs(home, choice, plan)
    added, estimate = plan.gain.all, plan.estimate
    value: Json = {"dry_run": True} | _gain_json(plan.gain, selection, plan.faulty)
    value["observations"] = {n: getattr(estimate, n) for n in ("low", "high")}
    value["needs"] = {n: getattr(estimate, n) for n in ("requests", "sent", "received")}
    if out.print_if_json(value | {"costs": costs}):
        return
    _print_gain("Would import", plan.gain, selection, plan.faulty)
    if added != Tally():
        out.say(
            f"To be processed: {count(added.turns, 'turn')} ({count(added.parts, 'part')} and "
            f"{count(added.summaries, 'summary')}).\n"
            f"Observations to expect: {estimate.low:,} to {estimate.high:,}.\n"
            f"With a model, about {count(estimate.requests, 'request')}: {estimate.sent:,} tokens sent "
            f"and {estimate.received:,} received."
        )
        rows = []
        for cost in costs:
            dollars = "unknown" if cost["dollars"] is None else f"{cost['dollars']:,.2f}"
            rows.append((cost["provider"], "in use" if cost["in_force"] else "", dollars))
        out.table(("provider", "", "about dollars"), rows, numbers=("about dollars",))
    out.say("Nothing was changed.")


def _costs(home: wiring.Home, choice: wiring.Choice, plan: imports.Plan) -> list[Json]:
    """At list prices, without discounts for cached tokens. The model in use first."""
    usage = Usage(plan.estimate.sent, 0, 0, plan.estimate.received)
    listed, used = Prices.of(home.settings.names("cost.prices")), choice.model
    rows: list[tuple[str, int | None, bool]] = [("rules", 0, used is None)]
    if used:
        prices = choice.terms.prices if choice.terms else listed
        label = f"{used.name}/{used.model}"
        rows.append((label, prices.microdollars(used.model, usage), True))
    known = (name for name in WELL_KNOWN if used is None or name != used.model)
    rows += [(name, listed.microdollars(name, usage), False) for name in known]
    return [
        {"provider": label, "in_force": in_force, "dollars": cost and cost / MILLION}
        for label, cost, in_force in rows
    ]


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


def _print_gain(
    label: str, gain: imports.Gain, selection: imports.Selection, faulty: list[str]
) -> None:
    if selection.chosen:
        added = [_describe(gain.new)] if gain.new.sessions else []
        if sessions := gain.grown.sessions:
            part = _describe(gain.grown.since(Tally(sessions=sessions))) or "more to process"
            added.append(f"{part} in {count(sessions, 'known session')}")
        out.say(f"{label}: {'; '.join(added) or 'nothing'}.")
        if gain.known:
            out.say(f"{count(gain.known, 'session')} here already.")
        if empty := gain.empty + selection.empty:
            out.say(f"{count(empty, 'empty transcript')} skipped.")
    else:
        found = f"None of the {count(selection.found, 'transcript')} in {selection.folder} matches."
        if not selection.found:
            found = f"There are no transcripts in {selection.folder}."
        out.say(f"{label}: nothing. {found} Set CLAUDE_CONFIG_DIR if they are elsewhere.")
    unreadable = [f"{file.path}: {file.fault}" for file in selection.unreadable]
    for files, problem in (
        (unreadable, "cannot be read"),
        (faulty, "could not be read whole; the readable part is imported"),
    ):
        if files:
            lines = [f"{count(len(files), 'transcript')} {problem}:"]
            lines += [f"  {file}" for file in files[:LISTED_FILES]]
            if len(files) > LISTED_FILES:
                lines.append(f"  and {len(files) - LISTED_FILES} more (--json lists all)")
            out.say(out.styled("\n".join(lines), fg="yellow"))


def _describe(added: Tally) -> str:
    parts = ((added.sessions, "session"), (added.prompts, "prompt"), (added.events, "event"))
    return ", ".join(count(number, noun) for number, noun in parts if number)
