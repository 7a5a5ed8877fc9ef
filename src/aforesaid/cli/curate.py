"""`aforesaid edit`, `merge`, `pin`, `verify` and `forget`: what a person changes about observations."""

from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from aforesaid import clock
from aforesaid.cli import arguments, editor
from aforesaid.cli.memory import (
    complete_memories,
    current_memories,
    restore_by_name,
    retire_by_name,
)
from aforesaid.cli.output import json_option, print_json, report, say, table
from aforesaid.cli.purge import run_purge
from aforesaid.errors import AforesaidError, ConfigError, Edited, NotFound
from aforesaid.model.observations import (
    TYPES,
    Fields,
    Observation,
    Unusable,
    changes,
    checked,
    draft_fields,
    draft_version,
)
from aforesaid.model.purge import Erasure
from aforesaid.model.search import OBSERVATION
from aforesaid.recall import resolve
from aforesaid.text import clean, one_line

SUFFIX = ".txt"


@click.command()
@arguments.observation_argument
@click.option("--title", help="What it is about, in a few words.")
@click.option("--subtitle", help="One sentence.")
@click.option("--narrative", help="The whole story.")
@click.option("--type", "kind", type=click.Choice(TYPES), help="Type of the observation.")
@click.option("--fact", "facts", multiple=True, help="A fact. Can be repeated; replaces all facts.")
@click.option(
    "--concept", "concepts", multiple=True, help="A concept. Can be repeated; replaces all."
)
@click.option(
    "--form",
    "file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Read a form that was filled in before.",
)
@click.option("--undo", is_flag=True, help="Undo your last edit instead.")
@json_option
def edit(
    number: str,
    title: str | None,
    subtitle: str | None,
    narrative: str | None,
    kind: str | None,
    facts: tuple[str, ...],
    concepts: tuple[str, ...],
    file: Path | None,
    undo: bool,
    as_json: bool,
) -> None:
    """Edit observation ID.

    Without an option your editor ($VISUAL or $EDITOR) opens a form. An empty value clears a field; only the
    title is required.
    An edited observation counts as verified, and `synthesize --again` keeps it.
    """
    store = arguments.open_store()
    observation = resolve.find_observation(store, arguments.observation_id(number))
    before = draft_fields(observation.draft)
    texts = {"title": title, "subtitle": subtitle, "narrative": narrative, "type": kind}
    options: Fields = {n: clean(v).strip() or None for n, v in texts.items() if v is not None}
    for name, values in (("facts", facts), ("concepts", concepts)):
        if values:
            options[name] = [item for value in values if (item := clean(value).strip())]
    if undo:
        if options or file:
            raise click.UsageError("--undo cannot be combined with other options.")
        _undo_edit(observation.id, as_json)
        return
    arguments.require_user(f"edit {observation.id}")
    if options:
        after = _usable(checked(before | options))
        _store_edit(observation.id, _usable(changes(before, after)), as_json)
        return
    text = file.read_text("utf-8", "replace") if file else _open_form(observation, before)
    if text is None:
        _store_edit(observation.id, {}, as_json)
        return
    try:
        changed = _usable(changes(before, _usable(editor.read_form(text))))
        _store_edit(observation.id, changed, as_json, version=draft_version(observation.draft))
    except AforesaidError as error:
        kept = file or editor.save_draft(text, str(observation.id), suffix=SUFFIX)
        fix = f"Your text is kept: {kept}. Fix it, then: aforesaid edit {observation.id} --form {kept}"
        raise type(error)(f"{error} {fix}") from None


def _open_form(observation: Observation, fields: Fields) -> str | None:
    return editor.open_editor(
        editor.write_form(observation.id, fields),
        suffix=SUFFIX,
        otherwise="say what to change: `aforesaid edit ID --title …`.",
    )


def _usable(fields: Fields | Unusable) -> Fields:
    if isinstance(fields, Unusable):
        raise ConfigError(f"The observation was not changed: {fields.why}.")
    return fields


def _undo_edit(key: int, as_json: bool) -> None:
    answer = arguments.call_worker("unedit", id=key)
    if not answer["found"]:
        raise NotFound(f"There is no edit of #{key} to undo.")
    left = answer["left"]
    more = f" {left} earlier can be undone too." if left else ""
    report(as_json, {"id": key, "left": left}, f"The last edit of #{key} was undone.{more}")


def _store_edit(key: int, changed: Fields, as_json: bool, version: str | None = None) -> None:
    if changed:
        values: dict[str, Any] = {**changed, "version": version}
        answer = arguments.call_worker("edit", id=key, **values)
        if not answer["found"]:
            raise NotFound(
                f"Observation #{key} is gone: its turn was processed again. Find its successor with "
                "`aforesaid search`."
            )
        if answer.get("meanwhile"):
            raise Edited(
                f"#{key} was changed in the meantime (see `aforesaid show {key}`); not changed."
            )
    text = f"#{key} was changed; `synthesize --again` keeps it." if changed else "No changes."
    report(as_json, {"id": key, "changed": sorted(changed)}, text)


@click.command()
@arguments.observation_argument
@click.argument(
    "into", metavar="[INTO]", required=False, shell_complete=arguments.complete_observations
)
@click.option("--undo", is_flag=True, help="Undo the merge.")
@json_option
def merge(number: str, into: str | None, undo: bool, as_json: bool) -> None:
    """Merge observation ID into INTO, which represents both in search and briefs.

    ID is kept with its sources: `aforesaid show` prints it, and `--undo` undoes the merge.
    """
    if undo == bool(into):
        raise click.UsageError("Name the observation to merge it INTO, or --undo.")
    key = arguments.observation_id(number)
    target = arguments.observation_id(into) if into else None
    store = arguments.open_store()
    for each in (key, target):
        if each is not None:
            resolve.find_observation(store, each)
    if target is None:
        answer = arguments.call_worker("unmerge", id=key)
        if not answer["found"]:
            raise NotFound(f"#{key} was not merged by hand. See `aforesaid show {key}`.")
        value = {"id": key, "into": None, "was_in": answer["into"]}
        report(as_json, value, f"#{key} is no longer merged into #{answer['into']}.")
        return
    answer = arguments.call_worker("merge", id=key, into=target)
    if refused := answer.get("refused"):
        raise click.UsageError(refused)
    report(
        as_json,
        {"id": key, "into": answer["into"], "moved": answer["moved"]},
        f"#{key} is merged into #{answer['into']}.\n`aforesaid merge {key} --undo` undoes that.",
    )


@click.command()
@arguments.observation_argument
@click.option("--off", is_flag=True, help="Unpin it.")
@json_option
def pin(number: str, off: bool, as_json: bool) -> None:
    """Put observation ID first in every brief of its project, or undo that."""
    key = arguments.observation_id(number)
    if not off:
        arguments.require_user(f"pin {key}")
    if not arguments.call_worker("pin", id=key, pinned=not off)["found"]:
        raise resolve.not_found(arguments.open_store(), OBSERVATION, key)
    text = f"#{key} is {'no longer pinned' if off else 'pinned'}."
    report(as_json, {"id": key, "pinned": not off}, text)


@click.command()
@arguments.observation_argument
@click.option("--off", is_flag=True, help="Undo it.")
@json_option
def verify(number: str, off: bool, as_json: bool) -> None:
    """Mark observation ID as verified, or undo that.

    What only the web or an MCP server says is not injected until it is verified. Pinning or editing an
    observation verifies it too.
    """
    key = arguments.observation_id(number)
    if not off:
        arguments.require_user(f"verify {key}")
    bearer = arguments.call_worker("confirm", id=key, confirmed=not off)["id"]
    if bearer is None:
        raise resolve.not_found(arguments.open_store(), OBSERVATION, key)
    where = "" if bearer == key else f" (#{key} is merged into it)"
    text = f"#{bearer}{where} is {'no longer verified' if off else 'verified'}."
    report(as_json, {"id": bearer, "verified": not off}, text)


def _complete(
    context: click.Context, parameter: click.Parameter, typed: str
) -> list[CompletionItem]:
    numbers = arguments.complete_observations(context, parameter, typed)
    return [*complete_memories(context, parameter, typed), *numbers]


@click.command()
@click.argument("what", metavar="[ID|NAME]", required=False, shell_complete=_complete)
@click.option("--undo", is_flag=True, help="Restore it.")
@click.option("--erase", is_flag=True, help="Delete it for good, with its sources: see `purge`.")
@click.option("--yes", is_flag=True, help="With --erase: do not ask.")
@json_option
def forget(what: str | None, undo: bool, erase: bool, yes: bool, as_json: bool) -> None:
    """Hide a memory (NAME) or an observation (ID). Can be undone. Without either: list what is hidden.

    A hidden observation, with what is merged into it, is not found, injected or in briefs; the prompts and
    events it was made from stay. A memory is retired: `aforesaid memory list --retired`.
    """
    if erase and (what is None or undo):
        raise click.UsageError("--erase needs the ID or NAME, and cannot be undone.")
    if yes and not erase:
        raise click.UsageError("--yes goes with --erase.")
    if what is None and undo:
        raise click.UsageError("--undo needs the ID or NAME. `aforesaid forget` lists them.")
    if what is None:
        _list_hidden(as_json)
    elif erase:
        run_purge(_find_erasure(what), dry_run=False, yes=yes, as_json=as_json)
    elif found := arguments.memory_name(what):
        name = restore_by_name(found) if undo else retire_by_name(found, "by request")
        _report_hidden(as_json, undo, {"name": name}, name, name)
    else:
        key = arguments.observation_id(what)
        answer = arguments.call_worker("restore" if undo else "forget-observation", id=key)
        if not answer["found"] and undo:
            raise NotFound(f"#{key} is not hidden. `aforesaid forget` lists what is.")
        if not answer["found"]:
            raise resolve.not_found(arguments.open_store(), OBSERVATION, key)
        title = one_line(answer["title"] or "Untitled", 80)
        value = {"id": key, "title": answer["title"]}
        _report_hidden(as_json, undo, value, str(key), f"#{key} {title}")


def _report_hidden(as_json: bool, undo: bool, value: dict[str, Any], key: str, title: str) -> None:
    text = f"Forgotten: {title}\n`aforesaid forget {key} --undo` restores it."
    report(as_json, value | {"forgotten": not undo}, f"Restored: {title}" if undo else text)


def _find_erasure(what: str) -> Erasure:
    if name := arguments.memory_name(what):
        memories = current_memories()
        found = (*memories.all().memories, *memories.retired().memories)
        if name not in {each.memory.name for each in found}:
            raise NotFound(f"There is no memory {name!r} here. See `aforesaid memory list`.")
        return Erasure("memory", name=name, directory=str(Path.cwd()))
    key = arguments.observation_id(what)
    store = arguments.open_store()
    if store.observations.get_hidden(key) is None:
        resolve.find_observation(store, key)
    return Erasure("observation", id=key)


def _list_hidden(as_json: bool) -> None:
    store = arguments.open_store()
    project = arguments.current_project(store)
    hidden = store.observations.hidden(project) if project is not None else []
    found: list[dict[str, Any]] = [
        {"id": each.observation_id, "at": each.at, "title": each.title} for each in hidden
    ]
    found += [
        {"name": each.memory.name, "at": each.modified, "title": each.memory.description}
        for each in current_memories().retired().memories
    ]
    if as_json:
        print_json(found)
    elif found:
        rows = [
            (
                each.get("name") or f"#{each['id']}",
                clock.day_and_time(each["at"]),
                each["title"] or "Untitled",
            )
            for each in found
        ]
        table(("id", "when", "title"), rows)
    else:
        say("Nothing was forgotten in this project.")
