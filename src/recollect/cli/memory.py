"""`recollect memory`: the curated memories of this project, and everything one can do with them."""

from collections.abc import Iterable

import click

from recollect.cli import asker, editor, memory_history, memory_places
from recollect.cli.memory_places import name_argument
from recollect.cli.output import json_option, print_json, say, table
from recollect.clock import day_and_time
from recollect.errors import RecollectError
from recollect.memory import curating
from recollect.model.memories import Broken, StoredMemory
from recollect.text import clean, fenced

ENDING = ".md"


@click.group()
def memory() -> None:
    """Curated memories: Markdown files that sessions are told, chosen by what each prompt needs.

    They write themselves from what you say; `recollect remember` adds one on purpose. Every change can be
    undone.
    """


@memory.command("list")
@click.option("--retired", is_flag=True, help="Those that are no longer told.")
@json_option
def list_memories(retired: bool, as_json: bool) -> None:
    """What is remembered for this project and for you, newest first."""
    memories = memory_places.here()
    found = memories.retired() if retired else memories.all()
    if as_json:
        print_json(
            {
                "memories": [curating.plain(each) for each in found.memories],
                "broken": [{"path": str(b.path), "why": b.why} for b in found.broken],
                "left_out": found.left_out,
            }
        )
        return
    if found.memories:
        table(("name", "type", "of", "about"), map(_row, found.memories))
    elif retired:
        say("Nothing was retired.")
    else:
        say("Nothing is remembered yet. Tell it: recollect remember TEXT, or say so to the agent.")
    if found.left_out:
        say(f"{found.left_out} older files were not looked at: 200 of a folder are.")
    _say_broken(found.broken)


@memory.command()
@name_argument
@json_option
def show(name: str, as_json: bool) -> None:
    """One memory, with where it comes from."""
    print_memory(curating.named(memory_places.here(), name), as_json)


def print_memory(stored: StoredMemory, as_json: bool) -> None:
    if as_json:
        print_json(curating.plain(stored))
        return
    one = stored.memory
    say(fenced(f"{one.name} ({stored.label}{', pinned' if stored.pinned else ''})"))
    say(fenced(clean(one.description)))
    say("")
    say(fenced(clean(one.body).strip()))
    say("")
    if one.updated or one.created:
        say(f"Since {day_and_time(one.created or one.updated)}, last changed {_changed(stored)}")
    if one.evidence:
        say(f"From: {', '.join(map(clean, one.evidence))}")
    if one.files:
        say(f"About: {', '.join(clean(path) for path, _ in one.files)}")
    say(f"File: {stored.path}")


@memory.command()
@name_argument
def edit(name: str) -> None:
    """Open a memory in your editor ($VISUAL or $EDITOR). The file itself can be edited, too."""
    asker.must_be_the_user(f"memory edit {name}")
    memories = memory_places.here()
    stored = curating.own(memories, name)
    before = stored.path.read_text("utf-8")
    text = editor.opened_on(before, ending=ENDING, otherwise=f"edit {stored.path} itself.")
    if text is None or text == before:
        say("Nothing was changed.")
        return
    try:
        curating.rewrite(memories, stored, text, stored.checksum)
    except RecollectError as error:
        kept = editor.kept(text, stored.memory.name, ending=ENDING)
        raise type(error)(f"{error} Your text is kept: {kept}") from None
    memory_places.changed(stored.memory.name)
    say(f"Changed: {stored.memory.name}. `recollect memory undo` takes it back.")


@memory.command()
@name_argument
@json_option
def pin(name: str, as_json: bool) -> None:
    """Keep a memory first in the index; no dream may touch it."""
    asker.must_be_the_user(f"memory pin {name}")
    _set_pin(name, True, as_json)


@memory.command()
@name_argument
@json_option
def unpin(name: str, as_json: bool) -> None:
    """Treat a memory like the others again."""
    _set_pin(name, False, as_json)


@memory.command()
@name_argument
@click.option("--why", default="by request", show_default=True, help="The reason, for later.")
@json_option
def retire(name: str, why: str, as_json: bool) -> None:
    """Tell a memory no longer. It is kept, and `restore` brings it back."""
    name = memory_places.retire(memory_places.here(), name, why)
    _done(as_json, name, f"Retired: {name}. `recollect memory restore {name}` brings it back.")


@memory.command()
@click.argument("name")
@json_option
def restore(name: str, as_json: bool) -> None:
    """Tell a retired memory again."""
    name = memory_places.restore(memory_places.here(), name)
    _done(as_json, name, f"It is back: {name}")


@memory.command()
@json_option
@click.pass_context
def check(context: click.Context, as_json: bool) -> None:
    """Which memories speak of things that have changed or gone. Needs no model. Exit status 1 if any."""
    from recollect.memory.storage.checking import check as check_all

    memories = memory_places.here()
    listing = memories.all()
    found = check_all(memories, memories.places.top, listing)
    flagged = [each for each in found if each.flagged]
    if as_json:
        print_json(
            {
                "checked": len(listing.memories),
                "flagged": [{"name": each.name} | curating.flags(each) for each in flagged],
                "broken": [{"path": str(b.path), "why": b.why} for b in listing.broken],
            }
        )
    else:
        for each in flagged:
            links = f"dead links: {', '.join(each.dead_links)}" if each.dead_links else ""
            say(f"{each.name}: {'; '.join(filter(None, (str(each.freshness), links)))}")
        say(
            f"{len(listing.memories)} checked, {len(flagged)} of them about what has changed or gone."
        )
        _say_broken(listing.broken)
    context.exit(1 if flagged or listing.broken else 0)


@memory.command()
@json_option
def path(as_json: bool) -> None:
    """Where the files are."""
    places = memory_places.here().places
    found = {folder.scope: str(folder.path) for folder in places.all}
    if as_json:
        print_json(found)
    else:
        table(("of", "folder"), found.items())


for command in (memory_history.log, memory_history.diff, memory_history.undo):
    memory.add_command(command)


def _set_pin(name: str, pinned: bool, as_json: bool) -> None:
    memories = memory_places.here()
    curating.pin(memories, name, pinned=pinned)
    memory_places.changed(name)
    _done(as_json, name, f"{name} is {'pinned' if pinned else 'no longer pinned'}.")


def _done(as_json: bool, name: str, told: str) -> None:
    if as_json:
        print_json({"name": name})
    else:
        say(told)


def _say_broken(broken: Iterable[Broken]) -> None:
    for each in broken:
        click.echo(clean(f"Not a memory: {each.path}: {each.why}"), err=True)


def _row(stored: StoredMemory) -> tuple[str, str, str, str]:
    one = stored.memory
    about = f"{'(pinned) ' if stored.pinned else ''}{one.description}"
    return one.name, stored.label, stored.scope, about


def _changed(stored: StoredMemory) -> str:
    return day_and_time(stored.memory.updated or stored.modified)
