"""`aforesaid memory`, `remember` and `dream`: the curated memories of this directory's project."""

import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from aforesaid import clock, wiring
from aforesaid.cli import arguments
from aforesaid.cli.output import json_option, print_if_json, report_table, say, wants_json
from aforesaid.clock import day_and_time
from aforesaid.errors import AforesaidError, ConfigError, Edited
from aforesaid.memory import curation
from aforesaid.model.memories import AGENT, LONGEST_SAID, OF_TEAM, OF_USER, TYPES, USER, Broken
from aforesaid.text import clean, fenced, one_line

if TYPE_CHECKING:
    from aforesaid.memory.changes import Memories, UndoResult

ID_LENGTH, LISTED = 12, 5
DREAM_SECONDS = 900.0  # a model may take long
WHERE = {OF_USER: "in all projects", OF_TEAM: "for everyone who works on this repository"}


def current_memories() -> "Memories":
    return wiring.memories(wiring.home(), str(Path.cwd()), clock.now)


def notify_worker(name: str | None = None, what: str = "changed") -> None:
    """Lets the worker prepare the brief again and notify viewers. It may fail: the files are the truth."""
    with suppress(AforesaidError):
        arguments.call_worker("memories-changed", dir=str(Path.cwd()), name=name, what=what)


def complete_memories(_: click.Context, __: click.Parameter, typed: str) -> list[CompletionItem]:
    with suppress(AforesaidError, OSError):
        found = (each.memory for each in current_memories().all().memories)
        return [
            CompletionItem(m.name, help=m.description) for m in found if m.name.startswith(typed)
        ]
    return []


@click.group()
def memory() -> None:
    """Curated memories: Markdown files that are injected into sessions where a prompt needs them.

    They are written automatically from what you say; `aforesaid remember` adds one; `edit`, `pin` and
    `forget` take its name. Every change can be undone.
    """


@memory.command("list")
@click.option("--retired", is_flag=True, help="List retired memories.")
@json_option
def list_memories(retired: bool) -> None:
    """List the memories of this project and of yours, newest first."""
    memories = current_memories()
    found = memories.retired() if retired else memories.all()
    value = {
        "memories": [curation.memory_json(each) for each in found.memories],
        "broken": [{"path": str(b.path), "why": b.why} for b in found.broken],
        "left_out": found.left_out,
    }
    rows = []
    for each in found.memories:
        about = f"{'(pinned) ' if each.pinned else ''}{each.memory.description}"
        rows.append((each.memory.name, each.label, each.scope, about))
    nothing = "There are no memories yet. Add one: aforesaid remember TEXT, or tell the agent."
    nothing = "No memory is retired." if retired else nothing
    report_table(value, ("name", "type", "scope", "about"), rows, empty=nothing)
    if wants_json():
        return
    if found.left_out:
        say(f"{found.left_out} older files were not read: at most 200 of a folder are.")
    _print_broken(found.broken)


@memory.command()
@click.argument("name", shell_complete=complete_memories)
@json_option
def show(name: str) -> None:
    """Show a memory and its sources."""
    stored = curation.get_memory(current_memories(), name)
    if print_if_json(curation.memory_json(stored)):
        return
    one = stored.memory
    say(fenced(f"{one.name} ({stored.label}{', pinned' if stored.pinned else ''})"))
    say(fenced(clean(one.description)) + "\n")
    say(fenced(clean(one.body).strip()) + "\n")
    if one.updated or one.created:
        changed = day_and_time(one.updated or stored.modified)
        say(f"Since {day_and_time(one.created or one.updated)}, last changed {changed}")
    if one.evidence:
        say(f"From: {', '.join(map(clean, one.evidence))}")
    if one.files:
        say(f"About: {', '.join(clean(path) for path, _ in one.files)}")
    say(f"File: {stored.path}")


@memory.command()
@json_option
@click.pass_context
def check(context: click.Context) -> None:
    """List memories about files and things that have changed or gone. Needs no model. Exit code 1 if any."""
    memories = current_memories()
    listing = memories.all()
    found = curation.check_memories(memories, memories.places.top, listing)
    flagged = [each for each in found if each.flagged]
    value = {
        "checked": len(listing.memories),
        "flagged": [{"name": e.name} | curation.problems_json(e) for e in flagged],
        "broken": [{"path": str(b.path), "why": b.why} for b in listing.broken],
    }
    if not print_if_json(value):
        for each in flagged:
            links = f"dead links: {', '.join(each.dead_links)}" if each.dead_links else ""
            say(f"{each.name}: {'; '.join(filter(None, (str(each.freshness), links)))}")
        say(f"{len(listing.memories)} checked, {len(flagged)} of them possibly outdated.")
        _print_broken(listing.broken)
    context.exit(1 if flagged or listing.broken else 0)


@memory.command()
@json_option
def path() -> None:
    """Print the folders of the files."""
    found = {folder.scope: str(folder.path) for folder in current_memories().places.all}
    report_table(found, ("scope", "folder"), found.items(), empty="")


def _print_broken(broken: Iterable[Broken]) -> None:
    for each in broken:
        say(clean(f"Not a memory: {each.path}: {each.why}"), err=True)


@memory.command()
@arguments.limit_option(20)
@json_option
def log(limit: int) -> None:
    """List changes of the memories here, newest first.

    Edits by hand are listed too.
    """
    memories = current_memories()
    found = memories.history.log(limit, memories.folders)
    value = [{"id": e.id, "at": e.at, "reason": e.reason, "files": e.paths} for e in found]
    rows = ((e.id[:ID_LENGTH], day_and_time(e.at), one_line(e.reason, 100)) for e in found)
    report_table(value, ("id", "when", "what"), rows, empty="Nothing has been changed yet.")


@memory.command()
@click.argument("change", required=False)
def diff(change: str | None) -> None:
    """Show what CHANGE, an id from `log`, has changed. Default: the last one."""
    memories = current_memories()
    if change is None:
        change = next((entry.id for entry in memories.history.log(1, memories.folders)), None)
    say(clean(memories.history.diff(change)) if change else "Nothing has been changed yet.")


@memory.command()
@click.argument("change", required=False)
@click.option("--force", is_flag=True, help="Also if a file was changed since.")
@json_option
def undo(change: str | None, force: bool) -> None:
    """Undo CHANGE; default: the last one. Undo the undo to redo it."""
    from aforesaid.memory.changes import undo_change

    _report_undo(undo_change(current_memories(), change, force=force))


def _report_undo(undone: "UndoResult") -> None:
    if undone.kept_by_hand and undone.entry is None:
        names = ", ".join(map(str, undone.kept_by_hand[:LISTED]))
        raise Edited(f"Nothing was undone: a file was edited just now: {names}. Try again.")
    notify_worker()
    value = {"undone": undone.undone.id, "by": undone.entry, "files": undone.paths}
    if print_if_json(value):
        return
    say(f"Undone: {one_line(undone.undone.reason, 100)}")
    for path in undone.paths:
        say(f"  {path}")
    for kept in undone.kept_by_hand:
        say(f"Not changed, because it was edited just now: {kept}", err=True)


@click.command()
@click.argument("text", nargs=-1, required=True)
@click.option(
    "--type",
    "kind",
    type=click.Choice(TYPES),
    help="user: about you, in all projects; feedback: how to work; project; reference: where to find "
    "something. Default: by its wording.",
)
@click.option("--name", help="Name of the memory. An existing one is replaced.")
@click.option("--file", "files", multiple=True, help="A file it is about. Can be repeated.")
@click.option(
    "--pin", is_flag=True, help="Pin it: first in every brief, and not changed by dreams."
)
@click.option(
    "--team", is_flag=True, help="Store it in the repository, for everyone who works on it."
)
@json_option
def remember(
    text: tuple[str, ...], kind: str | None, name: str | None, files: tuple[str, ...], **given: bool
) -> None:
    """Save TEXT, in your words, as a memory for later sessions. `-` reads it from standard input.

    What is known already is not saved twice; a correction ("use X instead of Y") updates the memory.
    """
    from aforesaid.agents import registry

    said = sys.stdin.read(LONGEST_SAID * 2) if text == ("-",) else " ".join(text)
    said = clean(said).strip()
    if not said:
        raise ConfigError("There is nothing to remember. Say it: aforesaid remember TEXT.")
    if len(said) > LONGEST_SAID:
        raise ConfigError(f"A memory has at most {LONGEST_SAID} characters. Make it shorter.")
    answer = arguments.call_worker(
        "remember",
        dir=registry.project_directory(os.environ),
        agent=registry.DEFAULT.name,
        session=registry.current_session(os.environ),
        text=said,
        type=kind,
        name=name,
        by=AGENT if registry.is_inside_agent(os.environ) else USER,
        files=[str(Path.cwd() / file) for file in files],
        **given,
    )
    name = answer["name"]
    if print_if_json(answer):
        return
    if answer["known"]:
        say(f"Already known: {name}. `aforesaid memory show {name}` shows it.")
    elif answer["updated"]:
        say(f"Updated {name}: {answer['description']}")
        say("`aforesaid memory diff` shows the change, `aforesaid memory undo` undoes it.")
    else:
        where = WHERE.get(answer["scope"], "in this project")
        say(f"Remembered {where} as {name}: {answer['path']}")
    if answer["redacted"]:
        say("Secrets in it were replaced by marks. `aforesaid redact` shows how.", err=True)
    for word in ("same", "contradicted"):
        for other in answer[word]:
            what = "It says the same as" if word == "same" else "It contradicts"
            say(f"{what} {other}. `aforesaid dream` resolves this if it is certain.")


@click.group(invoke_without_command=True)
@click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")
@json_option
@click.pass_context
def dream(context: click.Context, dry_run: bool) -> None:
    """Consolidate the memories of this project: duplicates, contradictions, dead links, relative dates.

    Runs automatically once a day if there was work. Nothing is deleted: memories are retired, and `aforesaid
    dream undo` restores everything. A model, if there is one, is asked once.
    """
    if context.invoked_subcommand is not None:
        return
    request: dict[str, object] = {"dir": str(Path.cwd()), "dry_run": dry_run}
    answer = arguments.call_worker("dream", seconds=DREAM_SECONDS, **request)
    if print_if_json(answer):
        return
    for line in answer["lines"]:
        say(clean(line))
    if answer["diff"]:
        say("\n" + clean(answer["diff"]))
    if dry_run:
        say("Nothing was changed: this was a dry run.")
    elif answer["entry"]:
        say("`aforesaid dream undo` undoes all of it.")


@dream.command("undo")
@click.option("--force", is_flag=True, help="Also if a file was changed since.")
@json_option
def undo_dream(force: bool) -> None:
    """Undo the last dream: every file as it was before."""
    from aforesaid.memory.dream.run import undo_last_dream

    _report_undo(undo_last_dream(current_memories(), force=force))
