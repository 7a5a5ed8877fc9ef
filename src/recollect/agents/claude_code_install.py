"""Puts our hooks into Claude Code's settings and takes them out again.

Installing twice equals installing once. Hooks of others, other keys, their order and formatting
stay as they are. Uninstalling gives the exact original bytes back, or, when somebody has edited
the file since, cuts out our part alone. A file that cannot be understood is left alone: every
failure is an `InstallError` that names the file, the line and the fix.
"""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from recollect.agents import json_edit, settings_file, undo
from recollect.agents.claude_code_hooks import (
    HOOK_EVENTS,
    hook_command,
    hook_group,
    is_our_command,
)
from recollect.agents.settings_file import Change
from recollect.agents.undo import UndoRecord
from recollect.errors import InstallError

__all__ = [
    "HOOK_EVENTS",
    "Change",
    "hook_command",
    "install",
    "installed_commands",
    "plan_install",
    "plan_uninstall",
    "settings_path",
    "uninstall",
]

Scope = Literal["user", "project"]


def settings_path(
    scope: Scope, *, home: Path, project: Path, config_dir: str | None = None
) -> Path:
    """Where Claude Code reads this scope; `config_dir` is the value of `CLAUDE_CONFIG_DIR`."""
    if scope == "project":
        folder = project / ".claude"
    else:
        folder = Path(config_dir) if config_dir else home / ".claude"
    return folder / "settings.json"


def plan_install(text: str | None, hook_dir: Path, python: Path | None) -> str:
    """The settings with our hooks, each exactly once and up to date."""
    text = "{}\n" if text is None or _is_blank(text) else text
    wanted = {row.event: row for row in HOOK_EVENTS}
    for event, groups in json_edit.read_arrays(text, ("hooks",)).items():
        if event not in wanted:
            text = _without_ours(text, event, groups, prune=1)
    for event, row in wanted.items():
        group = hook_group(row, hook_command(row.hook, hook_dir, python))
        groups = json_edit.read_arrays(text, ("hooks",)).get(event, [])
        if _our_entries(groups) != _our_entries([group]):
            text = _without_ours(text, event, groups, prune=0)
            text = json_edit.append_to_array(text, ("hooks", event), group)
    return text


def plan_uninstall(text: str) -> str:
    """The settings without our hooks, and without the containers that this leaves empty."""
    if _is_blank(text):
        return text
    for event, groups in json_edit.read_arrays(text, ("hooks",)).items():
        text = _without_ours(text, event, groups, prune=2)
    return text


def installed_commands(text: str) -> dict[str, list[str]]:
    """Our shell lines by event, for the doctor."""
    if _is_blank(text):
        return {}
    found = {
        event: [str(entry["command"]) for _, entry in _our_entries(groups)]
        for event, groups in json_edit.read_arrays(text, ("hooks",)).items()
    }
    return {event: commands for event, commands in found.items() if commands}


def install(
    path: Path, hook_dir: Path, python: Path | None, record_dir: Path, *, dry_run: bool
) -> Change:
    with explained(path, "install"):
        before = settings_file.read(path)
        after = plan_install(_decode(before), hook_dir, python).encode()
        change = Change(path, before, after)
        if change.changed and not dry_run:
            _apply_with_undo(change, record_dir)
        return change


def uninstall(path: Path, record_dir: Path, *, dry_run: bool) -> Change:
    with explained(path, "uninstall"):
        before = settings_file.read(path)
        record = undo.load(record_dir, path)
        change = Change(path, before, _before_us(before, record))
        if dry_run:
            return change
        if change.changed:
            settings_file.apply(change)
        if record and change.after is None:
            settings_file.remove_empty(record.made)
        undo.forget(record_dir, path)
        return change


def _apply_with_undo(change: Change, record_dir: Path) -> None:
    """The record comes first: a crash in between must not leave a change that nobody can undo."""
    earlier = undo.load(record_dir, change.path)
    undo.save(record_dir, change.path, _record(change, earlier))
    try:
        settings_file.apply(change)
    except BaseException:
        undo.forget(record_dir, change.path)
        if earlier:
            undo.save(record_dir, change.path, earlier)
        raise


def _record(change: Change, earlier: UndoRecord | None) -> UndoRecord:
    """How to undo `change`, back to before the first of our changes and not just this one."""
    made = settings_file.missing_parents(settings_file.target_of(change.path))
    if earlier and earlier.original is None:
        made = [*earlier.made, *made]
    original = _before_us(change.before, earlier)
    return UndoRecord(original, undo.fingerprint(change.after or b""), tuple(made))


def _before_us(data: bytes | None, record: UndoRecord | None) -> bytes | None:
    """The file as it would be had we never been here.

    The stored original is used only while the file is exactly as we left it: after any edit by
    somebody else it would throw that edit away.
    """
    if record and record.wrote(data):
        return record.original
    text = _decode(data)
    if text is None:
        return None
    text = plan_uninstall(text)
    if record and record.original is None and _holds_nothing(text):
        return None
    return text.encode()


def _without_ours(text: str, event: str, groups: list[Any], *, prune: int) -> str:
    for index, group in enumerate(groups):
        if _our_entries([group]) and not _all_ours(group):
            path = ("hooks", event, index, "hooks")
            text = json_edit.remove_elements(text, path, lambda entry: not _is_ours(entry))
    return json_edit.remove_elements(
        text, ("hooks", event), lambda group: not _all_ours(group), prune=prune
    )


def _our_entries(groups: list[Any]) -> list[tuple[object, dict[str, Any]]]:
    """Each of our hook entries with the matcher of the group it stands in."""
    return [
        (group.get("matcher"), entry)
        for group in groups
        for entry in _entries(group)
        if _is_ours(entry)
    ]


def _all_ours(group: object) -> bool:
    entries = _entries(group)
    return bool(entries) and all(_is_ours(entry) for entry in entries)


def _entries(group: object) -> list[Any]:
    entries = group.get("hooks") if isinstance(group, dict) else None
    return entries if isinstance(entries, list) else []


def _is_ours(entry: object) -> bool:
    return isinstance(entry, dict) and is_our_command(entry.get("command"))


def _is_blank(text: str) -> bool:
    return not text.strip("\ufeff \t\r\n")


def _holds_nothing(text: str) -> bool:
    return _is_blank(text) or not json_edit.load_object(text)


def _decode(data: bytes | None) -> str | None:
    return None if data is None else data.decode("utf-8")


@contextlib.contextmanager
def explained(path: Path, command: str) -> Iterator[None]:
    again = f"then run `recollect {command}` again"
    try:
        yield
    except json_edit.JsonEditError as error:
        message = f"{path}, line {error.line}: {error.reason}. The file was left alone."
        raise InstallError(f"{message} Mend that line, {again}.") from error
    except UnicodeError as error:
        message = f"{path} cannot be read or written as UTF-8 ({error}). The file was left alone."
        raise InstallError(f"{message} Save it as UTF-8, {again}.") from error
    except OSError as error:
        where, why = error.filename or path, error.strerror or error
        message = f"{where} cannot be read or written: {why}. {path} was left alone."
        raise InstallError(f"{message} Give yourself access to it, {again}.") from error
