"""Where Claude Code keeps its own memories for a directory, by the client's own rules.

Each rule was tried on the real client (2.1.325); `tests/acceptance/test_client_memory.py` tries them again.
The client tells nobody but its model where its folder is, so we have to find it as it does: by the main
worktree of the git repository, without asking git, and by its settings.
"""

import json
import os
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Json = dict[str, Any]
LONGEST = 200  # characters of a slug; what is longer is cut and gets a hash
MANAGED = (
    Path("/etc/claude-code/managed-settings.json"),
    Path("/Library/Application Support/ClaudeCode/managed-settings.json"),
)
SETTINGS, LOCAL_SETTINGS = "settings.json", "settings.local.json"
KEY = "autoMemoryDirectory"
DISABLE = "CLAUDE_CODE_DISABLE_AUTO_MEMORY"
YES, NO = ("1", "true", "yes", "on"), ("0", "false", "no", "off")
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, slots=True)
class Found:
    """`everybodys`: the user has put the memories of all projects into one folder."""

    path: Path
    everybodys: bool = False


def folder(directory: str, env: Mapping[str, str]) -> Path | None:
    """It need not be there. None where the client is told to keep no memories."""
    found = find(directory, env)
    return found.path if found else None


def find(directory: str, env: Mapping[str, str]) -> Found | None:
    here = Path(os.path.realpath(directory))
    home = env.get("HOME", "")
    config = Path(home, ".claude")
    if "CLAUDE_CONFIG_DIR" in env:
        config = here / env["CLAUDE_CONFIG_DIR"]
    top = _main_worktree(here) or here
    projects = [_read(path) for path in _of_project(here, top)]
    settings = [*map(_read, MANAGED), *projects, _read(config / SETTINGS)]
    if _is_off(settings, env):
        return None
    named = _first(settings, KEY, str)
    if named is not None and _first([_read(here / ".claude" / SETTINGS)], KEY, str) == named:
        return (
            None  # whoever commits there would choose what is read as a memory, and where ours go
        )
    if named is not None and (own := _acceptable(named, home)):
        return Found(own, everybodys=_first(projects, KEY, str) != named)
    return Found(config / "projects" / slug(str(top)) / "memory")


def slug(path: str) -> str:
    """Every character that is no ASCII letter or digit becomes a hyphen; one that JavaScript counts as two
    becomes two."""
    path = unicodedata.normalize("NFC", path)
    name = "".join(
        c if c.isascii() and c.isalnum() else "-" * (1 + (ord(c) > 0xFFFF)) for c in path
    )
    return name if len(name) <= LONGEST else f"{name[:LONGEST]}-{_hash(path)}"


def _hash(path: str) -> str:
    """As JavaScript does it: 32 bits with a sign, in base 36 without it."""
    units = path.encode("utf-16-le", "surrogatepass")
    value = 0
    for at in range(0, len(units), 2):
        value = (value * 31 + int.from_bytes(units[at : at + 2], "little")) & 0xFFFFFFFF
    value = abs(value - (1 << 32) if value >> 31 else value)
    digits = ""
    while value or not digits:
        value, last = divmod(value, 36)
        digits = DIGITS[last] + digits
    return digits


def _main_worktree(here: Path) -> Path | None:
    for top in (here, *here.parents):
        git = top / ".git"
        if git.is_dir():
            return top
        if git.is_file():
            return _repository_of(top, git)
    return None


def _repository_of(top: Path, git: Path) -> Path:
    """A linked worktree belongs to its repository. A submodule has one of its own, wherever that is kept."""
    try:
        data = (top / git.read_text("utf-8").removeprefix("gitdir:").strip()).resolve()
        common = (data / (data / "commondir").read_text("utf-8").strip()).resolve()
    except (OSError, ValueError):
        return top
    if data.parent != common / "worktrees":
        return top
    return common.parent if common.name == ".git" else common


def _of_project(here: Path, top: Path) -> tuple[Path, ...]:
    """What wins comes first. What managers say wins over them, what the user says elsewhere does not."""
    return (
        top / ".claude" / LOCAL_SETTINGS,
        here / ".claude" / LOCAL_SETTINGS,
        here / ".claude" / SETTINGS,
    )


def _read(path: Path) -> Json:
    try:
        found = json.loads(path.read_text("utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _first(settings: list[Json], key: str, kind: type) -> Any:
    return next((each[key] for each in settings if isinstance(each.get(key), kind)), None)


def _is_off(settings: list[Json], env: Mapping[str, str]) -> bool:
    """A variable of the settings' own wins over one of the system; both win over the setting."""
    variables = (each.get("env") for each in settings)
    set_there = (v[DISABLE] for v in variables if isinstance(v, dict) and DISABLE in v)
    said = str(next(set_there, env.get(DISABLE, ""))).strip().lower()
    if said in YES:
        return True
    return said not in NO and _first(settings, "autoMemoryEnabled", bool) is False


def _acceptable(named: str, home: str) -> Path | None:
    """What the client takes for a folder: an absolute path, or one below the home; neither all of them."""
    if named.startswith("~/"):
        below = os.path.normpath(named[2:] or ".")
        if below == "." or below.startswith(("..", "/")):
            return None
        named = f"{home}/{below}"
    path = Path(os.path.normpath(named))
    return path if path.is_absolute() and len(str(path)) >= 3 else None
