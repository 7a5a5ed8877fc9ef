"""`aforesaid edit`, `merge`, `pin`, `verify`, `forget` and `purge`: changes of observations and memories.
The worker writes observations."""

from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

import click
from click.shell_completion import CompletionItem

from aforesaid import clock
from aforesaid.backups import recovery_log
from aforesaid.cli import arguments, editor, memory
from aforesaid.cli import output as out
from aforesaid.english import count
from aforesaid.errors import ConfigError, Misused, NotFound
from aforesaid.memory import curation
from aforesaid.model import observations
from aforesaid.model.memories import MEMORY
from aforesaid.model.observations import Fields, Unusable
from aforesaid.model.purge import Erasure, Needle, What
from aforesaid.model.search import OBSERVATION, PROMPT, SESSION
from aforesaid.model.sessions import Session
from aforesaid.recall import render, resolve
from aforesaid.recall.results import SHORT_ID
from aforesaid.text import clean, one_line

STEPS = {
    "waiting": "Waiting for the current job",
    "looking": "Searching",
    "erasing": "Erasing",
    "files": "Erasing files",
    "cleaning": "Cleaning up",
}
NOUNS = recovery_log.NOUNS | {"memories": "memory", "files": "other file"}
ELSEWHERE = (
    "The agent's own transcripts and files that you exported are not aforesaid's: check them too."
)
CONTINUES = "It continues in the background; `aforesaid status` reports a failure."


def _complete(
    context: click.Context, parameter: click.Parameter, typed: str
) -> list[CompletionItem]:
    numbers = arguments.complete_observations(context, parameter, typed)
    return [*memory.complete_memories(context, parameter, typed), *numbers]


@click.command()
@click.argument("what", metavar="ID|NAME", shell_complete=_complete)
@click.option("--title", help="What it is about, in a few words.")
@click.option("--subtitle", help="One sentence.")
@click.option("--narrative", help="The full description.")
@click.option("--type", type=click.Choice(observations.TYPES), help="Type of the observation.")
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
@click.option("--undo", is_flag=True, help="Undo your last edit of an observation instead.")
@out.json_option
def edit(
    what: str,
    facts: tuple[str, ...],
    concepts: tuple[str, ...],
    file: Path | None,
    undo: bool,
    **texts: str | None,
) -> None:
    """Edit observation ID or memory NAME.

    Without an option your editor ($VISUAL or $EDITOR) opens it as a Markdown file with front matter. The
    other options are for observations: an empty value clears a field; only the title is required.
    An edited observation counts as verified, and `synthesize --again` keeps it.
    """
    options: Fields = {n: clean(v).strip() or None for n, v in texts.items() if v is not None}
    for field, values in (("facts", facts), ("concepts", concepts)):
        if values:
            options[field] = [item for value in values if (item := clean(value).strip())]
    if undo and (options or file):
        raise click.UsageError("--undo cannot be combined with other options.")
    if name := arguments.memory_name(what):
        if options or undo:
            raise click.UsageError("These options are for an observation, such as 12 or #12.")
        _edit_memory(name, file)
        return
    key = arguments.observation_id(what)
    observation = resolve.find_observation(arguments.open_store(), key)
    if undo:
        left = arguments.call_worker("unedit", id=key)["left"]
        more = f" {left} earlier can be undone too." if left else ""
        out.report({"id": key, "left": left}, f"The last edit of #{key} was undone.{more}")
        return
    arguments.require_user(f"edit {key}")
    before = observations.draft_fields(observation.draft)
    if options:
        after = _usable(observations.checked(before | options))
        _store_edit(key, _usable(observations.changes(before, after)))
        return
    fix = "say what to change: `aforesaid edit ID --title …`."
    with editor.edited(editor.write_form(key, before), str(key), file, otherwise=fix) as text:
        changed: Fields = {}
        if text is not None:
            changed = _usable(observations.changes(before, _usable(editor.read_form(text))))
        _store_edit(key, changed, version=observations.draft_version(observation.draft))


def _edit_memory(name: str, file: Path | None) -> None:
    arguments.require_user(f"edit {name}")
    memories = memory.current_memories()
    stored = curation.get_own_memory(memories, name)
    before, fix = stored.path.read_text("utf-8"), f"edit {stored.path} itself."
    with editor.edited(before, stored.memory.name, file, otherwise=fix) as text:
        changed = text is not None and text != before
        if changed:
            curation.rewrite_memory(memories, stored, str(text), stored.checksum)
            memory.notify_worker(stored.memory.name)
    done = f"Changed: {stored.memory.name}. `aforesaid memory undo` undoes it."
    value = {"name": stored.memory.name, "changed": changed}
    out.report(value, done if changed else "No changes.")


def _usable(fields: Fields | Unusable) -> Fields:
    if isinstance(fields, Unusable):
        raise ConfigError(f"The observation was not changed: {fields.why}.")
    return fields


def _store_edit(key: int, changed: Fields, version: str | None = None) -> None:
    if changed:
        values: dict[str, Any] = {**changed, "version": version}
        arguments.call_worker("edit", id=key, **values)
    text = f"#{key} was changed; `synthesize --again` keeps it." if changed else "No changes."
    out.report({"id": key, "changed": sorted(changed)}, text)


@click.command()
@arguments.observation_argument
@click.argument(
    "into", metavar="[INTO]", required=False, shell_complete=arguments.complete_observations
)
@click.option("--undo", is_flag=True, help="Undo the merge.")
@out.json_option
def merge(key: int, into: str | None, undo: bool) -> None:
    """Merge observation ID into INTO, which represents both in search and briefs.

    ID is kept with its sources: `aforesaid show` prints it, and `--undo` undoes the merge.
    """
    if undo == bool(into):
        raise click.UsageError("Name the observation to merge it INTO, or --undo.")
    target = arguments.observation_id(into) if into else None
    if target is None:
        before = arguments.call_worker("unmerge", id=key)["into"]
        value = {"id": key, "into": None, "was_in": before}
        out.report(value, f"#{key} is no longer merged into #{before}.")
        return
    target = arguments.call_worker("merge", id=key, into=target)["into"]
    text = f"#{key} is merged into #{target}.\n`aforesaid merge {key} --undo` undoes that."
    out.report({"id": key, "into": target}, text)


@click.command()
@click.argument("what", metavar="ID|NAME", shell_complete=_complete)
@click.option("--off", is_flag=True, help="Unpin it.")
@out.json_option
def pin(what: str, off: bool) -> None:
    """Put observation ID or memory NAME first in every brief, or undo that. Dreams do not change it."""
    if not off:
        arguments.require_user(f"pin {what}")
    state = "no longer pinned" if off else "pinned"
    if name := arguments.memory_name(what):
        curation.pin_memory(memory.current_memories(), name, pinned=not off)
        memory.notify_worker(name)
        out.report({"name": name, "pinned": not off}, f"{name} is {state}.")
        return
    key = arguments.observation_id(what)
    arguments.call_worker("pin", id=key, pinned=not off)
    out.report({"id": key, "pinned": not off}, f"#{key} is {state}.")


@click.command()
@arguments.observation_argument
@click.option("--off", is_flag=True, help="Undo it.")
@out.json_option
def verify(key: int, off: bool) -> None:
    """Mark observation ID as verified, or undo that.

    What only the web or an MCP server says is not injected until it is verified. Pinning or editing an
    observation verifies it too.
    """
    if not off:
        arguments.require_user(f"verify {key}")
    bearer = arguments.call_worker("verify", id=key, verified=not off)["id"]
    where = "" if bearer == key else f" (#{key} is merged into it)"
    text = f"#{bearer}{where} is {'no longer verified' if off else 'verified'}."
    out.report({"id": bearer, "verified": not off}, text)


@click.command()
@click.argument("what", metavar="[ID|NAME]", required=False, shell_complete=_complete)
@click.option("--undo", is_flag=True, help="Restore it.")
@out.json_option
def forget(what: str | None, undo: bool) -> None:
    """Hide a memory (NAME) or an observation (ID). Can be undone. Without either: list what is hidden.

    A hidden observation, with what is merged into it, is not found, injected or in briefs; the prompts and
    events it was made from stay. `aforesaid purge` erases for good.
    """
    if what is None:
        if undo:
            raise click.UsageError("--undo needs the ID or NAME. `aforesaid forget` lists them.")
        _list_hidden()
    elif name := arguments.memory_name(what):
        memories = memory.current_memories()
        if undo:
            name = curation.restore_memory(memories, name)
        else:
            name = curation.retire_memory(memories, name, "by request")
        memory.notify_worker(name, "restored" if undo else "retired")
        _report_hidden(undo, {"name": name}, name, name)
    else:
        key = arguments.observation_id(what)
        command = "restore" if undo else "forget-observation"
        title = arguments.call_worker(command, id=key)["title"]
        shown = f"#{key} {one_line(title or 'Untitled', 80)}"
        _report_hidden(undo, {"id": key, "title": title}, str(key), shown)


def _report_hidden(undo: bool, value: dict[str, Any], key: str, title: str) -> None:
    text = f"Hidden: {title}\n`aforesaid forget {key} --undo` restores it."
    out.report(value | {"forgotten": not undo}, f"Restored: {title}" if undo else text)


def _list_hidden() -> None:
    store = arguments.open_store()
    project = resolve.project_at(store, Path.cwd())
    hidden = store.observations.hidden([project]) if project is not None else []
    found: list[dict[str, Any]] = [
        {"id": each.observation_id, "at": each.at, "title": each.title} for each in hidden
    ]
    found += [
        {"name": each.memory.name, "at": each.modified, "title": each.memory.description}
        for each in memory.current_memories().retired().memories
    ]
    rows = []
    for each in found:
        name, when = each.get("name") or f"#{each['id']}", clock.day_and_time(each["at"])
        rows.append((name, when, each["title"] or "Untitled"))
    nothing = "Nothing is hidden in this project."
    out.report_table(found, ("id", "when", "title"), rows, empty=nothing)


@click.command()
@click.argument("what", metavar="[ID]", required=False)
@click.option("--text", metavar="TEXT", help="Everything that contains this text.")
@click.option("--secrets", is_flag=True, help="Redact secrets in everything stored so far.")
@arguments.project_option("All of this project")
@arguments.since_option("What happened")
@arguments.until_option("What happened")
@click.option("--dry-run", is_flag=True, help="Only count what would be erased.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@out.json_option
def purge(
    what: str | None, text: str | None, secrets: bool, project: str | None, **given: Any
) -> None:
    """Erase for good: an observation (12), a memory (memory:NAME), a turn (prompt:3), a session, a project, a
    period, or a text.

    Also erases what was derived from it, in the index, memories and their history, prepared copies, the log
    and backups, which are rewritten. Cannot be undone, and no transcript restores it.
    """
    since, until = given["since"], given["until"]
    timed = since is not None or until is not None
    ways = [what is not None, text is not None, secrets, timed or project is not None]
    if sum(ways) != 1:
        raise click.UsageError(
            "Name one thing to erase: an ID, --text, --secrets, --project, or --since and --until."
        )
    if text is not None:
        Needle(text)  # raises if it cannot be searched for
        wanted, title = Erasure("text", text=text), f"all that contains {one_line(text, 80)!r}"
    elif secrets:
        wanted, title = Erasure("secrets"), "all secrets that are stored"
    elif what is not None:
        wanted, title = _find_erasure(what)
    else:
        store = arguments.open_store()
        found = resolve.find_project(store, project, Path.cwd()) if project else None
        key, title = (found.id, f"project {found.name}") if found else (None, "all projects")
        wanted = Erasure("project", id=key)
        if timed:
            wanted = Erasure("period", id=key, since=since or 0, until=until or 2**62)
            title = f"all of this period of {title}"
    run_purge(wanted, title, dry_run=given["dry_run"], yes=given["yes"])


def _find_erasure(what: str) -> tuple[Erasure, str]:
    """With its kind and title. A session is not found by a few letters: they may be a mistyped number."""
    kind, _, name = what.partition(":")
    if kind == MEMORY:
        memories = memory.current_memories()
        stored = (*memories.all().memories, *memories.retired().memories)
        found = [each.memory for each in stored if each.memory.name == name]
        if not found:
            raise NotFound(f"There is no memory {name!r} here. See `aforesaid memory list`.")
        title = f"memory {name}: {one_line(found[0].description, 80)}"
        return Erasure("memory", name=name, directory=str(Path.cwd())), title
    store = arguments.open_store()
    kind, key = resolve.parse_id(store, what)
    if kind not in (OBSERVATION, PROMPT, SESSION):
        raise NotFound(f"{what!r} cannot be erased by itself: erase its prompt or session.")
    hidden = store.observations.get_hidden(key) if kind == OBSERVATION else None
    if hidden:
        title = f"#{hidden.observation_id} {one_line(hidden.title or 'Untitled', 80)} (hidden)"
        return Erasure("observation", id=key), f"observation {title}"
    value = resolve.find_thing(store, kind, key).value
    named = (f"{SESSION}:{key}", value.ref) if isinstance(value, Session) else (what,)
    if what not in named and len(what) < SHORT_ID:
        fix = f"Give {SHORT_ID} characters or more of its id: `aforesaid sessions` lists them."
        raise Misused(f"{what!r} is too short to erase a session. {fix}")
    title = str(render.render_item(store, kind, key, render.TITLE)).removeprefix(f"{kind}:")
    return Erasure(cast(What, kind), id=key), f"{kind} {title}"


def run_purge(wanted: Erasure, title: str = "this", *, dry_run: bool = False, yes: bool) -> None:
    if not (dry_run or yes) and out.wants_json():
        raise click.UsageError("--json cannot prompt: add --yes or --dry-run.")
    if dry_run or not yes:
        counts = _run(wanted, dry_run=True)
        if out.print_if_json({"dry_run": True, "counts": counts}):
            return
        _print_counts(wanted, counts, done=False)
        if dry_run or not any(counts.values()):
            return
        if any(number for name, number in counts.items() if name != "backups"):
            click.confirm(f"Erase {title} for good?", abort=True)
        else:
            click.confirm("Nothing here matches. Replace the backups all the same?", abort=True)
    counts = _run(wanted, dry_run=False)
    if not out.print_if_json({"dry_run": False, "counts": counts}):
        _print_counts(wanted, counts, done=True)
        out.say(ELSEWHERE)


def _run(wanted: Erasure, *, dry_run: bool) -> dict[str, int]:
    request: dict[str, Any] = {"wanted": asdict(wanted), "dry_run": dry_run}
    try:
        with out.bar("Erasing") as show:
            answer = arguments.run_task(
                "erase",
                request,
                lambda now: show(now["done"], now["total"] or 1, STEPS.get(now["step"], "")),
            )
    except KeyboardInterrupt:
        if dry_run:
            raise SystemExit(out.INTERRUPTED) from None
        out.exit_interrupted(CONTINUES)
    counts: dict[str, int] = answer["counts"]
    return counts


def _print_counts(wanted: Erasure, counts: dict[str, int], *, done: bool) -> None:
    secrets = wanted.what == "secrets"
    nouns = {"rows": "row"} | NOUNS if secrets else NOUNS
    parts = [count(counts[name], noun) for name, noun in nouns.items() if counts.get(name)]
    verb = "redacted" if secrets else "erased"
    head = verb.capitalize() if done else f"Would be {verb}"
    out.say(out.styled(f"{head}: {', '.join(parts) or 'nothing'}.", fg="yellow"))
    if backups := counts.get("backups"):
        verb = "were" if done else "would be"
        out.say(f"{count(backups, 'backup')} may contain it: all {verb} replaced by a new one.")
    elif not parts:
        out.say("No backup was touched.")
