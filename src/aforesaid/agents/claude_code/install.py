"""Puts our hooks and our MCP server into Claude Code's settings, and takes them out again.

The hooks are in `settings.json`, the server is in `.claude.json`, where the client also keeps its own state.
Installing twice equals installing once. Hooks and servers of others, other keys and their order stay.
"""

import contextlib
import json
import os
import shlex
from collections.abc import Collection, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from aforesaid.agents.base import as_list
from aforesaid.agents.claude_code.hooks import HOOK_EVENTS, hook_command, hook_group, is_our_command
from aforesaid.agents.settings_file import (
    Change,
    Json,
    SettingsError,
    SettingsFile,
    child,
    load_object,
)
from aforesaid.errors import AforesaidError

TITLE = "Claude Code"
# What the product was called before its first release: `install` replaces what it left under that name.
FORMER_NAME = "recollect"
NAME = "aforesaid"
SERVERS = "mcpServers"
MODULE = "aforesaid.mcp.server"
PLUGIN_SCRIPT = "${CLAUDE_PLUGIN_ROOT}/mcp/mcp.sh"
CONFIG_DIR = "CLAUDE_CONFIG_DIR"


def hooks_path(scope: str, env: Mapping[str, str], here: Path | None = None) -> Path:
    """Where Claude Code reads the hooks of a scope, `user` or `project` (`here` or the current directory)."""
    if scope == "project":
        return (here or Path.cwd()) / ".claude" / "settings.json"
    return Path(env.get(CONFIG_DIR) or _home(env) / ".claude") / "settings.json"


def server_path(scope: str, env: Mapping[str, str]) -> Path:
    if scope == "project":
        return Path.cwd() / ".mcp.json"
    return Path(env.get(CONFIG_DIR) or _home(env)) / ".claude.json"


def hooks_file(path: Path, records: Path, hook_dir: Path, python: Path | None) -> SettingsFile:
    add = partial(add_hooks, hook_dir=hook_dir, python=python)
    return SettingsFile(path, records, add, remove_hooks)


def server_file(path: Path, records: Path, python: Path) -> SettingsFile:
    """A new file is for its owner only: the client keeps more in it than we do."""
    add = partial(add_server, python=python)
    return SettingsFile(path, records, add, remove_server, mode=0o600, private=True)


def add_hooks(settings: Json, hook_dir: Path, python: Path | None) -> None:
    hooks = child(settings, "hooks", dict)
    wanted = {row.event: row for row in HOOK_EVENTS}
    for event in [event for event in hooks if event not in wanted]:
        _remove_ours(hooks, event)
    for event, row in wanted.items():
        group = hook_group(row, hook_command(row.hook, hook_dir, python))
        if _our_entries(child(hooks, event, list, "hooks.")) != _our_entries([group]):
            _remove_ours(hooks, event)
            child(hooks, event, list).append(group)


def remove_hooks(settings: Json, keep: Collection[str]) -> None:  # noqa: ARG001 - none is kept
    if "hooks" not in settings:
        return
    hooks = child(settings, "hooks", dict)
    ours = [event for event in hooks if _our_entries(child(hooks, event, list, "hooks."))]
    for event in ours:
        _remove_ours(hooks, event)
    if ours and not hooks:
        del settings["hooks"]


def installed_commands(text: str) -> dict[str, list[str]]:
    """Our shell lines by event, for the doctor."""
    hooks = child(load_object(text), "hooks", dict)
    entries = {event: _our_entries(child(hooks, event, list, "hooks.")) for event in hooks}
    return {event: [str(e["command"]) for _, e in ours] for event, ours in entries.items() if ours}


def missing_hooks(commands: Mapping[str, Collection[str]]) -> set[str]:
    return {
        row.event
        for row in HOOK_EVENTS
        if not any(f"set -- {row.hook} " in line for line in commands.get(row.event, ()))
    }


def paths_in_command(command: str) -> tuple[str, ...]:
    """The directory and the interpreter in one of our lines: `set -- <hook> <dir> [<python>]; [ …`."""
    try:
        words = shlex.split(command)
        # The last word before the test keeps the semicolon.
        return tuple(word.removesuffix(";") for word in words[3 : words.index("[")])
    except ValueError:
        return ()


def is_plugin_enabled(env: Mapping[str, str]) -> bool:
    try:
        settings = json.loads(hooks_path("user", env).read_text("utf-8-sig"))
        plugins = settings.get("enabledPlugins", {})
        return any(name.startswith(f"{NAME}@") and on for name, on in plugins.items())
    except (OSError, ValueError, AttributeError):
        return False


def server_entry(python: Path) -> Json:
    """Loaded at once: tools that have to be searched for are not thought of."""
    return {
        "type": "stdio",
        "command": str(python),
        "args": ["-I", "-m", MODULE],
        "env": {},
        "alwaysLoad": True,
    }


def plugin_entry() -> Json:
    """What the plugin declares: it does not know its interpreter, the script finds it."""
    return {"command": "/bin/sh", "args": [PLUGIN_SCRIPT], "alwaysLoad": True}


def is_our_server(value: object) -> bool:
    """What `install` wrote, whatever the interpreter: one of an environment that has moved is still ours."""
    return isinstance(value, dict) and MODULE in as_list(value.get("args"))


def add_server(settings: Json, python: Path) -> None:
    """Our server once and up to date. One that the user added by hand is enough."""
    servers = child(settings, SERVERS, dict)
    if _is_former(servers.get(FORMER_NAME)):
        del servers[FORMER_NAME]
    there = servers.get(NAME)
    if there is not None and not is_our_server(there):
        if not _starts_us(there):
            raise SettingsError(
                f"there is another MCP server called `{NAME}`", "Rename that server"
            )
    elif there != server_entry(python):
        servers.pop(NAME, None)
        servers[NAME] = server_entry(python)


def remove_server(settings: Json, keep: Collection[str]) -> None:
    """Also an `mcpServers` that is empty then and was not there before us."""
    if SERVERS in settings and is_our_server(child(settings, SERVERS, dict).get(NAME)):
        del settings[SERVERS][NAME]
        if not settings[SERVERS] and SERVERS not in keep:
            del settings[SERVERS]


def installed_server(text: str) -> Json | None:
    found: Json | None = child(load_object(text), SERVERS, dict).get(NAME)
    return found if _starts_us(found) else None


def is_server_registered(env: Mapping[str, str]) -> bool:
    """Whether the user's configuration names us. What cannot be read does not."""
    with contextlib.suppress(OSError, ValueError, AforesaidError):
        return installed_server(server_path("user", env).read_text("utf-8-sig")) is not None
    return False


def replaces_former(hooks: Change, server: Change) -> bool:
    """Whether the files had hooks or a server from before the product was renamed."""
    commands = installed_commands((hooks.before or b"").decode("utf-8"))
    servers = child(load_object((server.before or b"").decode("utf-8")), SERVERS, dict)
    lines = [line for each in commands.values() for line in each]
    return any(f"/{FORMER_NAME}/" in line for line in lines) or _is_former(servers.get(FORMER_NAME))


def probe_session(reference: str, directory: str) -> Iterator[tuple[str, Json]]:
    file = str(Path(directory, "probe.py"))
    content = "def probe() -> int:\n    return 42\n"
    prompt = {"prompt_id": f"{reference}-prompt"}
    written: Json = {
        "tool_name": "Write",
        "tool_use_id": f"toolu_{reference}",
        "tool_input": {"file_path": file, "content": content},
        "tool_response": {"type": "create", "filePath": file, "content": content},
    }
    events: dict[str, Json] = {
        "SessionStart": {"source": "startup"},
        "UserPromptSubmit": prompt | {"prompt": "Add a probe function to probe.py"},
        "PostToolUse": prompt | written,
        "Stop": prompt | {"last_assistant_message": "Added probe()."},
        "SessionEnd": {"reason": "other"},
    }
    hooks = {row.event: row.hook for row in HOOK_EVENTS}
    for event, details in events.items():
        common = {"session_id": reference, "hook_event_name": event, "cwd": directory}
        yield hooks[event], common | details


def _remove_ours(hooks: Json, event: str) -> None:
    kept = []
    for group in child(hooks, event, list, "hooks."):
        if _our_entries([group]):
            theirs = [entry for entry in _entries(group) if not _is_ours(entry)]
            kept += [group | {"hooks": theirs}] if theirs else []
        else:
            kept.append(group)
    hooks[event] = kept
    if not kept:
        del hooks[event]


def _our_entries(groups: list[Any]) -> list[tuple[object, Json]]:
    every = ((group, entry) for group in groups for entry in _entries(group))
    return [(group.get("matcher"), entry) for group, entry in every if _is_ours(entry)]


def _entries(group: object) -> list[Any]:
    return as_list(group.get("hooks")) if isinstance(group, dict) else []


def _is_ours(entry: object) -> bool:
    return isinstance(entry, dict) and is_our_command(entry.get("command"))


def _starts_us(value: object) -> bool:
    """Also what somebody added by hand, as `claude mcp add aforesaid -- aforesaid mcp`."""
    if not isinstance(value, dict):
        return False
    by_hand = Path(str(value.get("command"))).name == NAME and as_list(value.get("args")) == ["mcp"]
    return by_hand or is_our_server(value)


def _is_former(value: object) -> bool:
    return isinstance(value, dict) and f"{FORMER_NAME}.server.mcp" in as_list(value.get("args"))


def _home(env: Mapping[str, str]) -> Path:
    return Path(env.get("HOME") or os.path.expanduser("~"))  # noqa: PTH111 - as `paths` does
