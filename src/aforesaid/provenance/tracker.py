"""The origin of each event of a session: the user, the repository, a command, the agent, or foreign text."""

import re
from collections.abc import Iterable
from functools import partial
from pathlib import PurePosixPath

from aforesaid.model import events
from aforesaid.model.observations import ANYWHERE, Origin
from aforesaid.provenance.commands import Downloads
from aforesaid.provenance.programs import VENDORED, url_hosts

ORIGINS = {
    events.ToolKind.MEMORY: Origin.RECALLED,
    events.ToolKind.MCP: Origin.WEB,
    events.ToolKind.MCP_RESOURCE: Origin.WEB,
    events.ToolKind.WEB_FETCH: Origin.WEB,
    events.ToolKind.WEB_SEARCH: Origin.WEB,
    events.ToolKind.QUESTION: Origin.USER,
}
NOT_THE_REPOSITORY = re.compile(r"(?:^|/)(?:\.venv|venv|\.git)/")
PROGRAM = r"(?:^|[;&|(`\n]|\s)\s*(?:\S*/)?aforesaid(?:\.exe)?\s+(?:--\S+\s+)*"
# Commands that print what is remembered. A test names the others.
TELLING = (
    *("search", "show", "timeline", "related", "files", "sessions", "why", "memory", "dream"),
    *("remember", "forget", "demo", "export", "mcp", "context", "new", "compact"),
)
RECALLS = re.compile(rf"{PROGRAM}(?:{'|'.join(TELLING)})\b")
# Folders of ours, as `paths.py` names them by default: an event does not say which
# AFORESAID_HOME it was recorded under, and it may be read again under another.
OUR_FILES = re.compile(r"/(?:\.local/(?:share|state)|\.config)/aforesaid/|(?<![\w.-])\.aforesaid/")


def origin_of(event: events.Event, roots: Iterable[str]) -> Origin | None:
    """`roots`: directories of the project. None: it carries no text, as the start of a session."""
    return Tracker(tuple(roots)).add_event(event)


class Tracker:
    """The origin of each event of a session, in their order: a file that was downloaded is foreign when it
    is read."""

    def __init__(self, roots: tuple[str, ...]) -> None:
        self._roots = roots
        self._downloads = Downloads(roots[0].rstrip("/") if roots else "")
        self._in_background = self._any = False

    def add_event(self, event: events.Event) -> Origin | None:
        match event.what:
            case events.PromptSubmitted(by_machine=by_machine):
                return Origin.AGENT if by_machine else Origin.USER
            case events.ToolUsed() as used:
                origin = self._of_tool(used, event.cwd)
                self._any |= origin is Origin.WEB
                return origin
            case events.TurnEnded() | events.SubagentEnded() | events.AgentMessage():
                return Origin.AGENT
            case events.CompactionBegan() | events.SessionStarted() | events.SessionEnded():
                return None

    def _of_tool(self, used: events.ToolUsed, cwd: str) -> Origin:
        match used.action:
            case events.CommandRun(command=command) if _recalls(command):
                return Origin.RECALLED
            case events.CommandRun(command=command, background=background):
                foreign = self._downloads.add_command(command, cwd)
                self._in_background |= foreign and background
                return Origin.WEB if foreign else Origin.COMMAND
            case events.FileRead(path=path) if OUR_FILES.search(path):
                return Origin.RECALLED
            case events.FileRead(path=path) if self._downloads.is_foreign_path(path):
                return Origin.WEB
            case events.FileRead(is_output=True) if self._any:
                return Origin.WEB
            case events.FileRead(path=path) | events.FileChanged(path=path):
                inside = any(map(partial(_is_inside, path), self._roots))
                return Origin.REPOSITORY if inside else Origin.COMMAND
            case events.OtherTool(kind=kind) if kind in ORIGINS:
                return ORIGINS[kind]
            case events.OtherTool(kind=kind, paths=paths):
                late = kind is events.ToolKind.OUTPUT and self._in_background
                foreign = late or any(map(self._downloads.is_foreign_path, paths))
                return Origin.WEB if foreign else Origin.COMMAND


def source_of(event: events.Event) -> str:
    """The host or MCP server that foreign text comes from. Empty if it is not known."""
    if not isinstance(event.what, events.ToolUsed):
        return ""
    match event.what.action:
        case events.OtherTool(kind=events.ToolKind.MCP, subject=server):
            return f"mcp:{server}"
        case events.OtherTool(kind=events.ToolKind.WEB_SEARCH):
            return ANYWHERE
        case events.OtherTool(input=text) | events.CommandRun(command=text):
            return next(iter(url_hosts(text)), "")
        case _:
            return ""


def is_ours(event: events.Event) -> bool:
    """Whether aforesaid itself has printed what it remembers."""
    match event.what:
        case events.ToolUsed(action=events.OtherTool(kind=events.ToolKind.MEMORY)):
            return True
        case events.ToolUsed(action=events.CommandRun(command=command)):
            return _recalls(command)
        case events.ToolUsed(action=events.FileRead(path=path)):
            return OUR_FILES.search(path) is not None
        case _:
            return False


def _recalls(command: str) -> bool:
    return bool(RECALLS.search(command) or OUR_FILES.search(command))


def _is_inside(path: str, root: str) -> bool:
    top, plain = root.rstrip("/"), path.replace("\\", "/")
    if not plain.startswith("/") and ":" not in plain[:3]:
        plain = f"{top}/{plain}"
    if ".." in PurePosixPath(plain).parts or not plain.startswith(f"{top}/"):
        return False
    inside = plain.removeprefix(top)
    return not (VENDORED.search(inside) or NOT_THE_REPOSITORY.search(inside))
