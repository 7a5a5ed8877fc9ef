"""Finds the folder in which Claude Code keeps its own memories. They are read and never written."""

import json
import os
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aforesaid.git import Checkout, find_checkout
from aforesaid.memory.folders import Folder
from aforesaid.model.memories import OF_CLIENT
from aforesaid.paths import read_regular

Json = dict[str, Any]
OFF_SETTING = "off"
MAX_SLUG = 200  # characters; a longer one is cut and gets a hash
MANAGED_SETTINGS = (
    Path("/etc/claude-code/managed-settings.json"),
    Path("/Library/Application Support/ClaudeCode/managed-settings.json"),
)
MAX_SETTINGS_BYTES = 1 << 20
SETTINGS, LOCAL_SETTINGS = "settings.json", "settings.local.json"
DIRECTORY_KEY = "autoMemoryDirectory"
DISABLE_VARIABLE = "CLAUDE_CODE_DISABLE_AUTO_MEMORY"
TRUE_WORDS, FALSE_WORDS = ("1", "true", "yes", "on"), ("0", "false", "no", "off")
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def client_folder(directory: str, env: Mapping[str, str], setting: str) -> Folder | None:
    """None if the client's memories are not to be read, or it keeps none."""
    found = client_directory_path(directory, env) if setting != OFF_SETTING else None
    return Folder(found, OF_CLIENT, writable=False) if found else None


def client_directory_path(directory: str, env: Mapping[str, str]) -> Path | None:
    """It may not exist. None if the client's memory is turned off."""
    here = Path(os.path.realpath(directory))
    home = env.get("HOME", "")
    config = Path(home, ".claude")
    if "CLAUDE_CONFIG_DIR" in env:
        config = here / env["CLAUDE_CONFIG_DIR"]
    top = _main_worktree(here) or here
    # By precedence: managed settings, the project's, the user's.
    projects = [
        _read_settings(top / ".claude" / LOCAL_SETTINGS),
        _read_settings(here / ".claude" / LOCAL_SETTINGS),
        _read_settings(here / ".claude" / SETTINGS),
    ]
    settings = [
        *map(_read_settings, MANAGED_SETTINGS),
        *projects,
        _read_settings(config / SETTINGS),
    ]
    if _is_disabled(settings, env):
        return None
    chosen = _first_setting(settings, DIRECTORY_KEY, str)
    if chosen is not None and (own := _accepted_directory(chosen, home)):
        # A repository must not choose which folder is read.
        return None if chosen in (each.get(DIRECTORY_KEY) for each in projects) else own
    return config / "projects" / client_slug(str(top)) / "memory"


def client_slug(path: str) -> str:
    """Replaces every character but ASCII letters and digits by a hyphen; one outside the BMP by two, as
    JavaScript counts."""
    path = unicodedata.normalize("NFC", path)
    name = "".join(
        c if c.isascii() and c.isalnum() else "-" * (1 + (ord(c) > 0xFFFF)) for c in path
    )
    return name if len(name) <= MAX_SLUG else f"{name[:MAX_SLUG]}-{_javascript_hash(path)}"


def _javascript_hash(path: str) -> str:
    """The absolute value of a signed 32-bit hash, in base 36, as the client computes it."""
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
            checkout = find_checkout(str(top))
            return checkout.root if isinstance(checkout, Checkout) else top
    return None


def _read_settings(path: Path) -> Json:
    try:
        data = read_regular(path, MAX_SETTINGS_BYTES, follow=True) or b""
        found = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _first_setting(settings: list[Json], key: str, kind: type) -> Any:
    return next((each[key] for each in settings if isinstance(each.get(key), kind)), None)


def _is_disabled(settings: list[Json], env: Mapping[str, str]) -> bool:
    """An environment variable in the settings wins over one of the process; both over the setting."""
    variables = (each.get("env") for each in settings)
    set_there = (
        v[DISABLE_VARIABLE] for v in variables if isinstance(v, dict) and DISABLE_VARIABLE in v
    )
    value = str(next(set_there, env.get(DISABLE_VARIABLE, ""))).strip().lower()
    if value in TRUE_WORDS:
        return True
    return value not in FALSE_WORDS and _first_setting(settings, "autoMemoryEnabled", bool) is False


def _accepted_directory(chosen: str, home: str) -> Path | None:
    """What the client accepts: an absolute path, or one below the home; not `/` or the home itself."""
    if chosen.startswith("~/"):
        below = os.path.normpath(chosen[2:] or ".")
        if below == "." or below.startswith(("..", "/")):
            return None
        chosen = f"{home}/{below}"
    path = Path(os.path.normpath(chosen))
    return path if path.is_absolute() and len(str(path)) >= 3 else None
