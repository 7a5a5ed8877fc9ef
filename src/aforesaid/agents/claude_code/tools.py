"""Claude Code's tools: what each of them did, from its input and its result."""

import json
import re
from typing import Any

from aforesaid.agents.base import as_list, as_object, number_of, text_of
from aforesaid.agents.claude_code import questions
from aforesaid.model.events import (
    Action,
    CommandRun,
    FileChanged,
    FileRead,
    Hunk,
    OtherTool,
    Task,
    ToolKind,
)

OUTPUT_LIMIT = 200_000  # characters of an unknown tool's output that are worth looking at
KINDS = {
    "Grep": ToolKind.SEARCH,
    "Glob": ToolKind.SEARCH,
    "WebSearch": ToolKind.WEB_SEARCH,
    "WebFetch": ToolKind.WEB_FETCH,
    "ListMcpResourcesTool": ToolKind.MCP_RESOURCE,
    "ReadMcpResourceTool": ToolKind.MCP_RESOURCE,
    "BashOutput": ToolKind.OUTPUT,
    "TaskOutput": ToolKind.OUTPUT,
    "AskUserQuestion": ToolKind.QUESTION,
    "Task": ToolKind.SUBAGENT,
    "Agent": ToolKind.SUBAGENT,
}
# They change no file.
PLANS = """
    LS TodoWrite TaskList TaskGet TaskCreate TaskUpdate EnterPlanMode ExitPlanMode KillShell ToolSearch Skill
"""
KINDS |= dict.fromkeys(PLANS.split(), ToolKind.PLAN)
MCP = "mcp__"
# Of our MCP server, installed in the settings or with the plugin.
OUR_TOOLS = ("mcp__aforesaid__", "mcp__plugin_aforesaid_aforesaid__")
SUBJECTS = {
    "Grep": "pattern",
    "Glob": "pattern",
    "WebSearch": "query",
    "WebFetch": "url",
    "Task": "description",
    "Agent": "description",
    "ExitPlanMode": "plan",
}
TASK_NUMBER = re.compile(r"#(\d+)")
PATHS = ("path", "file_path", "notebook_path", "glob")
COMMANDS = ("Bash", "PowerShell")
KEPT_OUTPUT = "/tool-results/"  # where the client keeps long results


def action(name: str, given: object, result: object) -> Action:
    """What the tool did. A failed call has no result, and says what it was going to do."""
    args = as_object(given)
    out = as_object(result)
    match name:
        case "Write" | "Edit" | "MultiEdit" | "NotebookEdit":
            return _changed(args, out)
        case "Read" | "NotebookRead":
            return _read(args, out)
        case _ if name in COMMANDS:
            return CommandRun(
                command=text_of(args, "command"),
                description=text_of(args, "description") or None,
                stdout=text_of(out, "stdout"),
                stderr=text_of(out, "stderr"),
                background=bool(args.get("run_in_background")),
            )
        case _:
            return _other(name, given, result)


def _other(name: str, given: object, result: object) -> OtherTool:
    args = as_object(given)
    kind, subject = KINDS.get(name, ToolKind.OTHER), text_of(args, SUBJECTS.get(name, ""))
    if name.startswith(OUR_TOOLS):
        kind = ToolKind.MEMORY
    elif name.startswith(MCP):
        kind, subject = ToolKind.MCP, name.removeprefix(MCP).rpartition("__")[0] or name
    elif isinstance(given, str):
        subject = given
    return OtherTool(
        input=_flat(given),
        output=_flat(result),
        kind=kind,
        subject=subject,
        subagent_type=text_of(args, "subagent_type"),
        paths=tuple(path for field in PATHS if (path := text_of(args, field))),
        answers=questions.read_answers(given, result) if kind is ToolKind.QUESTION else (),
        tasks=_tasks(name, args, _flat(result)),
        whole_list=name == "TodoWrite",
    )


def _tasks(name: str, args: dict[str, Any], output: str) -> tuple[Task, ...]:
    done = text_of(args, "status") in ("completed", "deleted")
    match name:
        case "TodoWrite":
            rows = [as_object(each) for each in as_list(args.get("todos"))]
            return tuple(
                Task(str(number), text_of(row, "content"), text_of(row, "status") == "completed")
                for number, row in enumerate(rows)
            )
        case "TaskCreate":
            number = TASK_NUMBER.search(output)
            subject = text_of(args, "subject")
            return (Task(number[1] if number else subject, subject, done),)
        case "TaskUpdate":
            return (Task(str(args.get("taskId", "")), text_of(args, "subject"), done),)
        case _:
            return ()


def _changed(args: dict[str, Any], out: dict[str, Any]) -> FileChanged:
    before = out.get("originalFile")
    after = out.get("content", args.get("content"))
    hunks = tuple(_hunk(h) for h in as_list(out.get("structuredPatch")) if isinstance(h, dict))
    old, new = args.get("old_string"), args.get("new_string")
    if not hunks and isinstance(old, str) and isinstance(new, str):
        removed = tuple(f"-{line}" for line in old.splitlines())
        hunks = (Hunk(1, 1, removed + tuple(f"+{line}" for line in new.splitlines())),)
    return FileChanged(
        path=text_of(out, "filePath") or _path(args),
        created=out.get("type") == "create",
        hunks=hunks,
        before=before if isinstance(before, str) else None,
        after=after if isinstance(after, str) else None,
    )


def _hunk(raw: dict[str, Any]) -> Hunk:
    lines = tuple(line for line in as_list(raw.get("lines")) if isinstance(line, str))
    return Hunk(number_of(raw, "oldStart"), number_of(raw, "newStart"), lines)


def _path(args: dict[str, Any]) -> str:
    return text_of(args, "file_path") or text_of(args, "notebook_path")


def _read(args: dict[str, Any], out: dict[str, Any]) -> FileRead:
    file = as_object(out.get("file"))
    path = text_of(file, "filePath") or _path(args)
    return FileRead(
        path=path,
        first_line=number_of(file, "startLine") or number_of(args, "offset") or 1,
        lines=number_of(file, "numLines"),
        total_lines=number_of(file, "totalLines"),
        content=text_of(file, "content"),
        is_output=KEPT_OUTPUT in path,
    )


def _flat(value: object) -> str:
    if value is None:
        return ""
    try:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    except RecursionError:  # parsed, but nested too deeply to serialize
        return ""
    return text[:OUTPUT_LIMIT]
