"""Names our MCP server in Claude Code's configuration and takes the name out again.

The client keeps this in `.claude.json`, together with its own state, which it writes at any time. So no copy
of that file is kept: what we put in is cut out again and every other byte stays. All that is noted is what we
found: no file, one that held nothing, or no `mcpServers`.
"""

import base64
import contextlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from recollect import ids
from recollect.agents import json_edit, settings_file
from recollect.agents.claude_code_install import explained
from recollect.agents.settings_file import Change
from recollect.errors import InstallError, RecollectError

NAME = "recollect"
SERVERS = "mcpServers"
MODULE = "recollect.server.mcp"
PLUGIN_SCRIPT = "${CLAUDE_PLUGIN_ROOT}/server/mcp.sh"
PATH = (SERVERS, NAME)

Scope = Literal["user", "project"]
Json = dict[str, Any]


def config_path(scope: Scope, *, home: Path, project: Path, config_dir: str | None = None) -> Path:
    """Where Claude Code reads this scope; `config_dir` is the value of `CLAUDE_CONFIG_DIR`."""
    if scope == "project":
        return project / ".mcp.json"
    return (Path(config_dir) if config_dir else home) / ".claude.json"


def entry(python: Path) -> Json:
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


def is_ours(value: object) -> bool:
    """What `install` wrote. Blind to the interpreter: one of an environment that has moved is still ours."""
    return isinstance(value, dict) and MODULE in _list(value.get("args"))


def starts_us(value: object) -> bool:
    """Also what somebody added by hand, as `claude mcp add recollect -- recollect mcp`."""
    if not isinstance(value, dict):
        return False
    by_hand = Path(str(value.get("command"))).name == NAME and _list(value.get("args")) == ["mcp"]
    return by_hand or is_ours(value)


def plan_install(text: str | None, python: Path) -> str:
    """The configuration with our server, once and up to date. What else is called so stays."""
    text = "{}\n" if text is None or _is_blank(text) else text
    there = json_edit.read_member(text, PATH)
    if there == entry(python) or (there is not None and not is_ours(there)):
        return text
    if there is not None:
        text = json_edit.remove_member(text, PATH)
    return json_edit.insert_member(text, PATH, entry(python))


def plan_uninstall(text: str, *, had_servers: bool = False) -> str:
    """The configuration without our server, and without an `mcpServers` that was not there before us."""
    if _is_blank(text) or not is_ours(json_edit.read_member(text, PATH)):
        return text
    return json_edit.remove_member(text, PATH, prune=0 if had_servers else 1)


def installed(text: str) -> Json | None:
    """The entry that starts us, for the doctor."""
    found = None if _is_blank(text) else json_edit.read_member(text, PATH)
    return found if starts_us(found) else None


def registered(env: Mapping[str, str]) -> bool:
    """Whether the user's configuration names us. What cannot be read does not."""
    home = Path(env.get("HOME") or os.path.expanduser("~"))  # noqa: PTH111 - as `paths` does
    path = config_path("user", home=home, project=home, config_dir=env.get("CLAUDE_CONFIG_DIR"))
    with contextlib.suppress(OSError, ValueError, RecollectError):
        return installed(path.read_text("utf-8-sig")) is not None
    return False


def install(path: Path, python: Path, record_dir: Path, *, dry_run: bool) -> Change:
    with explained(path, "install"):
        before = settings_file.read(path)
        text = None if before is None else before.decode("utf-8")
        after = plan_install(text, python)
        if installed(after) is None:
            raise InstallError(
                f"{path} has another MCP server called `{NAME}`. The file was left alone. Rename that "
                "server, then run `recollect install` again."
            )
        change = Change(path, before, after.encode())
        if change.changed and not dry_run:
            if _load(record_dir, path) is None:
                _save(record_dir, path, _found(None if text is None else plan_uninstall(text)))
            settings_file.apply(change)
            if before is None:
                path.chmod(0o600)  # the client keeps more in it than we do
        return change


def uninstall(path: Path, record_dir: Path, *, dry_run: bool) -> Change:
    with explained(path, "uninstall"):
        before = settings_file.read(path)
        found = _load(record_dir, path) or Found()
        change = Change(path, before, _before_us(before, found))
        if not dry_run:
            if change.changed:
                settings_file.apply(change)
            _record(record_dir, path).unlink(missing_ok=True)
        return change


@dataclass(frozen=True, slots=True)
class Found:
    """What there was before us. `blank`: the whole of a file that held nothing (base64)."""

    missing: bool = False
    blank: str | None = None
    had_servers: bool = False


def _found(text: str | None) -> Found:
    if text is None:
        return Found(missing=True)
    if _is_blank(text):
        return Found(blank=base64.b64encode(text.encode()).decode("ascii"))
    return Found(had_servers=SERVERS in json_edit.load_object(text))


def _before_us(data: bytes | None, found: Found) -> bytes | None:
    if data is None:
        return None
    text = data.decode("utf-8")
    if _is_blank(text) or not is_ours(json_edit.read_member(text, PATH)):
        return data
    text = plan_uninstall(text, had_servers=found.had_servers)
    if not json_edit.load_object(text):
        if found.missing:
            return None
        if found.blank is not None:
            return base64.b64decode(found.blank)
    return text.encode()


def _load(record_dir: Path, path: Path) -> Found | None:
    try:
        return Found(**json.loads(_record(record_dir, path).read_bytes())["found"])
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None


def _save(record_dir: Path, path: Path, found: Found) -> None:
    text = json.dumps({"config": str(path), "found": asdict(found)}, indent=2) + "\n"
    settings_file.write_owner_only(_record(record_dir, path), text.encode())


def _record(record_dir: Path, path: Path) -> Path:
    name = str(path.parent.resolve() / path.name)
    return record_dir / f"server-{ids.digest(name)}.json"


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _is_blank(text: str) -> bool:
    return not text.strip("\ufeff \t\r\n")
