"""The shapes of Claude Code's tools: what went in and came out, as actions."""

import json
from typing import Any

from recollect.model.events import Action, CommandRun, FileChanged, FileRead, Hunk, OtherTool

OUTPUT_LIMIT = 200_000  # characters of an unknown tool's output that are worth looking at


def action(name: str, given: object, result: object) -> Action:
    """What the tool did. A failed call has no result, and says what it was going to do."""
    args = given if isinstance(given, dict) else {}
    out = result if isinstance(result, dict) else {}
    match name:
        case "Write" | "Edit" | "MultiEdit" | "NotebookEdit":
            return _changed(args, out)
        case "Read" | "NotebookRead":
            return _read(args, out)
        case "Bash" | "PowerShell":
            return CommandRun(
                command=_text(args, "command"),
                description=_text(args, "description") or None,
                stdout=_text(out, "stdout"),
                stderr=_text(out, "stderr"),
                background=bool(args.get("run_in_background")),
            )
        case _:
            return OtherTool(_flat(given), _flat(result))


def _changed(args: dict[str, Any], out: dict[str, Any]) -> FileChanged:
    before = out.get("originalFile")
    after = out.get("content", args.get("content"))
    hunks = tuple(_hunk(h) for h in _list(out.get("structuredPatch")) if isinstance(h, dict))
    old, new = args.get("old_string"), args.get("new_string")
    if not hunks and isinstance(old, str) and isinstance(new, str):
        removed = tuple(f"-{line}" for line in old.splitlines())
        hunks = (Hunk(1, 1, removed + tuple(f"+{line}" for line in new.splitlines())),)
    return FileChanged(
        path=_text(out, "filePath") or _text(args, "file_path") or _text(args, "notebook_path"),
        created=out.get("type") == "create",
        hunks=hunks,
        before=before if isinstance(before, str) else None,
        after=after if isinstance(after, str) else None,
    )


def _read(args: dict[str, Any], out: dict[str, Any]) -> FileRead:
    found = out.get("file")
    file = found if isinstance(found, dict) else {}
    return FileRead(
        path=_text(file, "filePath") or _text(args, "file_path") or _text(args, "notebook_path"),
        first_line=_number(file, "startLine") or _number(args, "offset") or 1,
        lines=_number(file, "numLines"),
        total_lines=_number(file, "totalLines"),
        content=_text(file, "content"),
    )


def _hunk(raw: dict[str, Any]) -> Hunk:
    lines = tuple(line for line in _list(raw.get("lines")) if isinstance(line, str))
    return Hunk(_number(raw, "oldStart"), _number(raw, "newStart"), lines)


def _flat(value: object) -> str:
    if value is None:
        return ""
    try:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    except RecursionError:  # it could just be read, but not written
        return ""
    return text[:OUTPUT_LIMIT]


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(values: dict[str, Any], field: str) -> str:
    value = values.get(field)
    return value if isinstance(value, str) else ""


def _number(values: dict[str, Any], field: str) -> int:
    value = values.get(field)
    return value if isinstance(value, int) else 0
