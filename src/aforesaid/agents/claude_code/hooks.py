"""Which Claude Code events we hook, and the shell line that each of them runs.

Declared once: the settings installer, the plugin's `hook/plugin.json` and the doctor all derive
from `HOOK_EVENTS`. Holds only events that client 2.1.197 knows too, with the hook type `command`
alone, because that client drops a whole file over one name it does not know.
"""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aforesaid.model.events import HOOKS


@dataclass(frozen=True)
class HookEvent:
    event: str
    hook: str
    matcher: str | None = None
    timeout: int = 10


HOOK_EVENTS = (
    # The agent waits for what these four say, so they give up sooner.
    HookEvent("SessionStart", "context", timeout=5),
    HookEvent("UserPromptSubmit", "new", timeout=5),
    HookEvent("PreToolUse", "file", matcher="Read|Edit|MultiEdit|Write|NotebookEdit", timeout=5),
    HookEvent("PreCompact", "compact", timeout=5),
    HookEvent("PostToolUse", "save", matcher="*"),
    HookEvent("PostToolUseFailure", "save", matcher="*"),
    HookEvent("Stop", "summary"),
    HookEvent("SubagentStop", "save"),
    # Without a timeout of its own the client kills this one after 1.5 s.
    HookEvent("SessionEnd", "end"),
)

# The plugin is the package itself: the client copies a plugin's folder, and the checkout around it
# may hold a virtual environment of half a gigabyte.
PLUGIN_HOOK_DIR = '"${CLAUDE_PLUGIN_ROOT}/hook"'

# The file is tested for first because `sh missing.sh` exits with 2 in dash, and exit 2 blocks the
# user's prompt. It is sourced because that saves a process.
_RUN = '[ ! -r "$2/capture.sh" ] || . "$2/capture.sh"'

# Blind to directories: a line of a virtual environment that has moved is still ours.
_ours = re.compile(rf"\bset -- (?:{'|'.join(HOOKS)})\s.*/capture\.sh", re.DOTALL)


def hook_command(hook: str, hook_dir: Path, python: Path | None) -> str:
    """The shell line for the settings file; without `python` the script finds one by itself."""
    words = [hook_dir] if python is None else [hook_dir, python]
    return _command(hook, *(shlex.quote(str(word)) for word in words))


def is_our_command(command: object) -> bool:
    return isinstance(command, str) and _ours.search(command) is not None


def hook_group(row: HookEvent, command: str) -> dict[str, Any]:
    """One entry of an event's array. No field that client 2.1.197 does not know."""
    entry = {"type": "command", "command": command, "timeout": row.timeout}
    matcher = {} if row.matcher is None else {"matcher": row.matcher}
    return {**matcher, "hooks": [entry]}


def plugin_hooks() -> dict[str, Any]:
    rows = {row.event: hook_group(row, _command(row.hook, PLUGIN_HOOK_DIR)) for row in HOOK_EVENTS}
    return {
        "description": "Captures the session for aforesaid and hands back what it remembers.",
        "hooks": {event: [group] for event, group in rows.items()},
    }


def _command(hook: str, *quoted_words: str) -> str:
    return " ".join(["set --", hook, *quoted_words]) + "; " + _RUN
