"""Whose words something stems from, and how far they are trusted.

Text that a tool brought back may carry orders for whoever reads it. The user's words are trusted most, then
the files of the repository, then what commands print, then what the agent says of itself, and least what came
over the network. The order of the members is the order of trust.
"""

import re
from collections.abc import Iterable
from enum import StrEnum
from functools import partial
from pathlib import PurePosixPath
from urllib.parse import urlsplit

from recollect.model.events import (
    CommandRun,
    CompactionBegan,
    Event,
    FileChanged,
    FileRead,
    OtherTool,
    PromptSubmitted,
    SessionEnded,
    SessionStarted,
    SubagentEnded,
    ToolUsed,
    TurnEnded,
)


class Origin(StrEnum):
    """`AGENT`: nothing that the agent saw bears it out. `RECALLED`: recollect said it itself, which proves
    nothing."""

    USER = "user"
    REPOSITORY = "repository"
    COMMAND = "command"
    AGENT = "agent"
    WEB = "web"
    RECALLED = "recalled"

    @property
    def rank(self) -> int:
        """The lower, the better."""
        return _ORDER.index(self)


_ORDER = tuple(Origin)
HELD_BACK = (Origin.WEB, Origin.RECALLED)  # what stems from these alone is not told unasked
# Of a part that is held back. The views of migration 0008 know both by their words.
ONLY_WEB = "only the web or an MCP server says so"
ONLY_RECALLED = "only recollect itself has said so"
REASONS = {Origin.WEB: ONLY_WEB, Origin.RECALLED: ONLY_RECALLED}
ANYWHERE = "*"  # a search engine: what it shows may be of any place
UNKNOWN_SOURCE = "?"

WEB_TOOLS = ("WebFetch", "WebSearch", "ReadMcpResourceTool", "ListMcpResourcesTool")
MCP = "mcp__"
OUR_TOOLS = (
    "mcp__recollect__",
    "mcp__plugin_recollect_recollect__",
)  # by the settings, by the plugin
ASKING = ("AskUserQuestion",)
# Other people's files, though they lie in the project.
VENDORED = re.compile(
    r"(?:^|/)(?:node_modules|site-packages|vendor|third_party|\.venv|venv|\.tox|dist-packages|bower_components"
    r"|\.cargo|\.git)/"
)
BEGIN = (
    r"(?:^|[;&|(`\n]|\b(?:sudo|xargs|time|timeout\s+\S+|env|then|do|else|exec|command|nohup|if|while|!)\s)"
    r"\s*(?:\w+=\S*\s+|-\S+\s+)*(?:\S*/)?"
)
FETCHES = re.compile(
    BEGIN
    + r"(?:(?:curl|wget|aria2c|lynx|w3m|links|elinks|https?|xh|gh|glab|hub|ftp|sftp|scp|ssh|telnet|nc|ncat"
    r"|yt-dlp|iwr|irm|Invoke-WebRequest|Invoke-RestMethod)(?:\.exe)?(?=\s|$)"
    r"|(?:npm|pnpm|yarn|bun)\s+(?:view|info|search|show)\b|pip[\d.]*\s+(?:download|index|search)\b"
    r"|(?:cargo|gem|brew|docker)\s+(?:search|info)\b|git\s+(?:\S+\s+)*?(?:clone|fetch|pull|ls-remote)\b)",
    re.IGNORECASE,
)
REQUESTS = re.compile(r"\b(?:urllib|requests|httpx|aiohttp|fetch\(|axios|http\.client|URLSession)")
URL = re.compile(r"\b(?:https?|ftp|ssh|git)://[^\s'\"<>)]+", re.IGNORECASE)
LOCAL = re.compile(
    r"localhost|127(?:\.\d+){3}|0\.0\.0\.0|\[?::1\]?|.*\.local(?:host)?", re.IGNORECASE
)
PROGRAM = r"(?:^|[;&|(`\n]|\s)\s*(?:\S*/)?recollect(?:\.exe)?\s+(?:--\S+\s+)*"
# The rows of `cli/main.py` with `tells`; a test keeps the two equal.
TELLING = (
    *("search", "show", "timeline", "related", "files", "sessions", "why", "memory", "dream"),
    *("remember", "forget", "demo", "export", "mcp", "context", "new", "compact"),
)
RECALLS = re.compile(rf"{PROGRAM}(?:{'|'.join(TELLING)})\b")
# Folders of ours, as `paths.py` names them where nobody has put them elsewhere: an event does not say which
# RECOLLECT_HOME it was recorded under, and it may be read again under another.
OUR_FILES = re.compile(r"/(?:\.local/(?:share|state)|\.config)/recollect/|(?<![\w.-])\.recollect/")


def origin_of(event: Event, roots: Iterable[str]) -> Origin | None:
    """`roots`: directories of the project. None: it says nothing, as the start of a session."""
    match event.what:
        case PromptSubmitted(by_machine=by_machine):
            return Origin.AGENT if by_machine else Origin.USER
        case ToolUsed(name=name, action=action):
            return _of_tool(name, action, roots)
        case TurnEnded() | SubagentEnded():
            return Origin.AGENT
        case CompactionBegan() | SessionStarted() | SessionEnded():
            return None


def source_of(event: Event) -> str:
    """Of what came over the network: from where. Empty: nobody can know."""
    if not isinstance(event.what, ToolUsed):
        return ""
    name, action = event.what.name, event.what.action
    if name.startswith(MCP):
        return f"mcp:{name.removeprefix(MCP).rpartition('__')[0] or name}"
    if name == "WebSearch":
        return ANYWHERE
    said = action.command if isinstance(action, CommandRun) else getattr(action, "input", "")
    found = [host for host in map(_host, URL.findall(said)) if host and not LOCAL.fullmatch(host)]
    return found[0] if found else ""


def is_ours(event: Event) -> bool:
    """Whether it handed over what recollect remembers."""
    match event.what:
        case ToolUsed(name=name) if name.startswith(OUR_TOOLS):
            return True
        case ToolUsed(action=CommandRun(command=command)):
            return _recalls(command)
        case ToolUsed(action=FileRead(path=path)):
            return OUR_FILES.search(path) is not None
        case _:
            return False


def _of_tool(name: str, action: object, roots: Iterable[str]) -> Origin:
    if name.startswith(OUR_TOOLS):
        return Origin.RECALLED
    if name.startswith(MCP) or name in WEB_TOOLS:
        return Origin.WEB
    if name in ASKING:
        return Origin.USER
    match action:
        case CommandRun(command=command) if _recalls(command):
            return Origin.RECALLED
        case CommandRun(command=command):
            return Origin.WEB if fetches(command) else Origin.COMMAND
        case FileRead(path=path) if OUR_FILES.search(path):
            return Origin.RECALLED
        case FileRead(path=path) | FileChanged(path=path):
            inside = any(map(partial(_is_inside, path), roots))
            return Origin.REPOSITORY if inside else Origin.COMMAND
        case OtherTool():
            return Origin.COMMAND
    return Origin.COMMAND


def _recalls(command: str) -> bool:
    return bool(RECALLS.search(command) or OUR_FILES.search(command))


def fetches(command: str) -> bool:
    """Whether a command line brings text from other machines."""
    hosts = [_host(url) for url in URL.findall(command)]
    if hosts and all(LOCAL.fullmatch(host) for host in hosts):
        return False
    return FETCHES.search(command) is not None or bool(hosts and REQUESTS.search(command))


def _is_inside(path: str, root: str) -> bool:
    top, plain = root.rstrip("/"), path.replace("\\", "/")
    if not plain.startswith("/") and ":" not in plain[:3]:
        plain = f"{top}/{plain}"
    if ".." in PurePosixPath(plain).parts or not plain.startswith(f"{top}/"):
        return False
    return VENDORED.search(plain.removeprefix(top)) is None


def _host(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").removeprefix("www.")
    except ValueError:
        return ""
