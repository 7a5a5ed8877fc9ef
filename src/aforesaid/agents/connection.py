"""Puts our hooks and our MCP server into an agent's settings, and takes them out again.

`Connection` has what agents share whose settings are JSON: an object `hooks` with groups by event, and an
object of MCP servers. An agent overrides what differs. Installing twice equals installing once. Hooks and
servers of others, other keys and their order stay.
"""

import contextlib
import os
import re
import shlex
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from aforesaid.agents.base import Variables, as_list
from aforesaid.agents.settings_file import (
    Change,
    Json,
    SettingsFile,
    child,
    load_object,
)
from aforesaid.errors import AforesaidError, SettingsError
from aforesaid.model.events import HOOKS

NAME = "aforesaid"
# What the product was called before its first release: `install` replaces what it left under that name.
FORMER_NAME = "recollect"
MODULE = "aforesaid.mcp.server"
# The file is tested for first because `sh missing.sh` exits with 2 in dash, and exit 2 blocks the
# user's prompt. It is sourced because that saves a process.
SOURCE_SCRIPT = '[ ! -r "$3/capture.sh" ] || . "$3/capture.sh"'
# Blind to directories: a line of a virtual environment that has moved is still ours. Lines of the former name
# do not name the agent.
OUR_LINE = re.compile(rf"\bset -- (?:[\w-]+ )?(?:{'|'.join(HOOKS)})\s.*/capture\.sh", re.DOTALL)


@dataclass(frozen=True, slots=True)
class HookEvent:
    """An event of the agent, and what our script does at it. `timeout`: in seconds."""

    event: str
    hook: str
    matcher: str | None = None
    timeout: int = 10


class Connection:
    """`rows`: the events that are hooked; what is not there, the agent cannot do. `servers`: the key of the
    MCP servers."""

    agent: ClassVar[str]
    title: ClassVar[str]
    variables: ClassVar[Variables]
    rows: ClassVar[tuple[HookEvent, ...]]
    servers: ClassVar[str] = "mcpServers"

    def hooks_path(self, scope: str, env: Mapping[str, str], here: Path | None = None) -> Path:
        """Where the hooks of a scope are: `user`, or `project` (`here` or the current directory)."""
        raise NotImplementedError

    def server_path(self, scope: str, env: Mapping[str, str]) -> Path:
        raise NotImplementedError

    def server_entry(self, python: Path) -> Json:
        return {"command": str(python), "args": ["-I", "-m", MODULE]}

    def is_plugin_enabled(self, env: Mapping[str, str]) -> bool:  # noqa: ARG002
        """Whether a plugin of the agent's own connects us."""
        return False

    def hooks_file(
        self, path: Path, records: Path, hook_dir: Path, python: Path | None
    ) -> SettingsFile:
        return SettingsFile(
            path,
            records,
            partial(self.add_hooks, hook_dir=hook_dir, python=python),
            self.remove_hooks,
        )

    def server_file(self, path: Path, records: Path, python: Path) -> SettingsFile:
        """A new file is for its owner only: the agent keeps more in it than we do."""
        return SettingsFile(
            path,
            records,
            partial(self.add_server, python=python),
            self.remove_server,
            mode=0o600,
            private=True,
        )

    def hook_command(self, hook: str, hook_dir: Path, python: Path | None) -> str:
        """The shell line of a hook; without `python` the script finds one by itself."""
        return self.shell_line(hook, shlex.quote(str(hook_dir)), shlex.quote(str(python or "")))

    def shell_line(self, hook: str, *quoted_words: str) -> str:
        names = (self.variables.project, self.variables.session)
        values = (f'"${{{name}-}}"' if name else "''" for name in names)
        return " ".join(["set --", self.agent, hook, *quoted_words, *values]) + f"; {SOURCE_SCRIPT}"

    def hook_group(self, row: HookEvent, command: str) -> Json:
        """One entry of an event's array."""
        entry = {"type": "command", "command": command, "timeout": row.timeout}
        matcher = {} if row.matcher is None else {"matcher": row.matcher}
        return {**matcher, "hooks": [entry]}

    def add_hooks(self, settings: Json, hook_dir: Path, python: Path | None) -> None:
        hooks = child(settings, "hooks", dict)
        wanted = {row.event: row for row in self.rows}
        for event in [event for event in hooks if event not in wanted]:
            _remove_ours(hooks, event)
        for event, row in wanted.items():
            group = self.hook_group(row, self.hook_command(row.hook, hook_dir, python))
            if _our_entries(child(hooks, event, list, "hooks.")) != _our_entries([group]):
                _remove_ours(hooks, event)
                child(hooks, event, list).append(group)

    def remove_hooks(self, settings: Json, keep: Collection[str]) -> None:
        """Also the object of the hooks if it is empty then and was not there before us."""
        hooks = child(settings, "hooks", dict) if "hooks" in settings else {}
        ours = [event for event in hooks if _our_entries(child(hooks, event, list, "hooks."))]
        for event in ours:
            _remove_ours(hooks, event)
        if ours and not hooks and "hooks" not in keep:
            del settings["hooks"]

    def installed_commands(self, text: str) -> dict[str, list[str]]:
        """Our shell lines by event, for the doctor."""
        hooks = child(load_object(text), "hooks", dict)
        ours = {event: _our_entries(child(hooks, event, list, "hooks.")) for event in hooks}
        return {event: [str(e["command"]) for _, e in each] for event, each in ours.items() if each}

    def missing_hooks(self, commands: Mapping[str, Collection[str]]) -> set[str]:
        return {
            row.event
            for row in self.rows
            if not any(
                f"set -- {self.agent} {row.hook} " in line for line in commands.get(row.event, ())
            )
        }

    def paths_in_command(self, command: str) -> tuple[str, ...]:
        """The directory and the interpreter in one of our lines."""
        try:
            return tuple(filter(None, shlex.split(command)[4:6]))
        except ValueError:
            return ()

    def add_server(self, settings: Json, python: Path) -> None:
        """Our server once and up to date. One that the user added by hand is enough."""
        servers, wanted = child(settings, self.servers, dict), self.server_entry(python)
        if _is_former(servers.get(FORMER_NAME)):
            del servers[FORMER_NAME]
        there = servers.get(NAME)
        if there is not None and not is_our_server(there):
            if not _starts_us(there):
                raise SettingsError(
                    f"there is another MCP server called `{NAME}`", "Rename that server"
                )
        elif there != wanted:
            servers.pop(NAME, None)
            servers[NAME] = wanted

    def remove_server(self, settings: Json, keep: Collection[str]) -> None:
        """Also the servers' object if it is empty then and was not there before us."""
        key = self.servers
        if key in settings and is_our_server(child(settings, key, dict).get(NAME)):
            del settings[key][NAME]
            if not settings[key] and key not in keep:
                del settings[key]

    def installed_server(self, text: str) -> Json | None:
        found: Json | None = child(load_object(text), self.servers, dict).get(NAME)
        return found if _starts_us(found) else None

    def is_server_registered(self, env: Mapping[str, str]) -> bool:
        """Whether the user's configuration names us. What cannot be read does not."""
        with contextlib.suppress(OSError, ValueError, AforesaidError):
            text = self.server_path("user", env).read_text("utf-8-sig")
            return self.installed_server(text) is not None
        return False

    def replaces_former(self, hooks: Change, server: Change) -> bool:
        """Whether the files had hooks or a server from before the product was renamed."""
        commands = self.installed_commands((hooks.before or b"").decode("utf-8"))
        servers = child(load_object((server.before or b"").decode("utf-8")), self.servers, dict)
        lines = [line for each in commands.values() for line in each]
        former = any(f"/{FORMER_NAME}/" in line for line in lines)
        return former or _is_former(servers.get(FORMER_NAME))

    def probe_session(self, reference: str, directory: str) -> Iterator[tuple[str, Json]]:
        """Hooks and payloads of a synthetic session, for the doctor."""
        raise NotImplementedError


def is_our_command(command: object) -> bool:
    return isinstance(command, str) and OUR_LINE.search(command) is not None


def is_our_server(value: object) -> bool:
    """What `install` wrote, whatever the interpreter: one of an environment that has moved is still ours."""
    return isinstance(value, dict) and MODULE in as_list(value.get("args"))


def home_directory(env: Mapping[str, str]) -> Path:
    return Path(env.get("HOME") or os.path.expanduser("~"))  # noqa: PTH111 - as `paths` does


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
    """Also what somebody added by hand, as `aforesaid mcp`."""
    if not isinstance(value, dict):
        return False
    by_hand = Path(str(value.get("command"))).name == NAME and as_list(value.get("args")) == ["mcp"]
    return by_hand or is_our_server(value)


def _is_former(value: object) -> bool:
    return isinstance(value, dict) and f"{FORMER_NAME}.server.mcp" in as_list(value.get("args"))
