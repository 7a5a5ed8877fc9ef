"""`recollect forget`."""

import os
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from recollect import clock
from recollect.cli import memory_places, places, purge, things
from recollect.cli.output import json_option, print_json, say, table
from recollect.errors import NotFound
from recollect.model.erasing import Erasure
from recollect.model.search import OBSERVATION
from recollect.paths import Paths
from recollect.recall.telling import name
from recollect.text import one_line
from recollect.worker import contact


def _complete(
    context: click.Context, parameter: click.Parameter, typed: str
) -> list[CompletionItem]:
    numbers = places.completing(places.observation_numbers)(context, parameter, typed)
    return [*memory_places.complete(context, parameter, typed), *numbers]


@click.command()
@click.argument("what", metavar="[ID|NAME]", required=False, shell_complete=_complete)
@click.option("--undo", is_flag=True, help="Put it back as it was.")
@click.option("--erase", is_flag=True, help="For good, with what it was made of: see `purge`.")
@click.option("--yes", is_flag=True, help="With --erase: do not ask.")
@json_option
def forget(what: str | None, undo: bool, erase: bool, yes: bool, as_json: bool) -> None:
    """Tell a memory (NAME) or an observation (ID) no longer. Without either: what was forgotten here.

    An observation leaves search, briefs and recall, with what is folded into it; the prompts and events that
    it was made of stay. A memory is retired: `recollect memory list --retired`.
    """
    if erase and (what is None or undo):
        raise click.UsageError("--erase needs the ID or NAME, and cannot be undone.")
    if yes and not erase:
        raise click.UsageError("--yes goes with --erase.")
    if what is not None and erase:
        _erase(what, yes, as_json)
        return
    if what is None and undo:
        raise click.UsageError(
            "--undo needs the ID or NAME. `recollect forget` lists what was forgotten."
        )
    if what is None:
        _list_forgotten(as_json)
    elif memory := things.memory(what):
        _forget_memory(memory, undo, as_json)
    else:
        _forget_observation(things.observation(what), undo, as_json)


def _erase(what: str, yes: bool, as_json: bool) -> None:
    if name := things.memory(what):
        held = memory_places.here()
        known = {each.memory.name for each in (*held.all().memories, *held.retired().memories)}
        if name not in known:
            raise NotFound(f"There is no memory {name!r} here. See `recollect memory list`.")
        wanted = purge.memory(name, Path.cwd())
    else:
        key = things.observation(what)
        store = places.store()
        if store.observation(key) is None and store.was_forgotten(key) is None:
            raise things.missing(store, OBSERVATION, key)
        wanted = Erasure("observation", id=key)
    purge.erase(wanted, dry_run=False, yes=yes, as_json=as_json)


def _forget_memory(what: str, undo: bool, as_json: bool) -> None:
    memories = memory_places.here()
    if undo:
        called = memory_places.restore(memories, what)
    else:
        called = memory_places.retire(memories, what, "by request")
    if as_json:
        print_json({"name": called, "forgotten": not undo})
    elif undo:
        say(f"{called} is back.")
    else:
        say(f"Forgotten: {called}\n`recollect forget {called} --undo` brings it back.")


def _forget_observation(key: int, undo: bool, as_json: bool) -> None:
    verb = "restore" if undo else "forget-observation"
    answer = contact.order(Paths.of(os.environ), verb, id=key)
    if not answer["found"] and undo:
        raise NotFound(f"#{key} was not forgotten. `recollect forget` lists what was.")
    if not answer["found"]:
        raise things.missing(places.store(), OBSERVATION, key)
    if as_json:
        print_json({"id": key, "forgotten": not undo, "title": answer["title"]})
        return
    title = one_line(answer["title"] or "Untitled", 80)
    if undo:
        say(f"#{key} is back: {title}")
    else:
        say(f"Forgotten: #{key} {title}\n`recollect forget {key} --undo` brings it back.")


def _list_forgotten(as_json: bool) -> None:
    store = places.store()
    project = places.current_project(store)
    found = store.forgotten(project) if project is not None else []
    retired = memory_places.here().retired().memories
    if as_json:
        listed: list[dict[str, Any]] = [
            {"id": each.observation_id, "at": each.at, "title": each.title} for each in found
        ]
        listed += [
            {"name": each.memory.name, "at": each.modified, "title": each.memory.description}
            for each in retired
        ]
        print_json(listed)
        return
    rows = [
        (
            name(OBSERVATION, each.observation_id),
            clock.day_and_time(each.at),
            each.title or "Untitled",
        )
        for each in found
    ]
    rows += [
        (each.memory.name, clock.day_and_time(each.modified), each.memory.description)
        for each in retired
    ]
    if rows:
        table(("id", "when", "title"), rows)
    else:
        say("Nothing was forgotten in this project.")
