"""Claude Code's own memories: finds their folder, and shares ours with them if the settings say so.

A shared file carries a digest of itself. Only a file whose digest is right is ever changed or removed; one
that was edited in the client's folder is the client's from then on, and one that was deleted there is not
written again. Our lines in the client's index stand between two comments.
"""

import json
import os
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence, Set
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

from aforesaid import log
from aforesaid.errors import AforesaidError
from aforesaid.git import Checkout, find_checkout
from aforesaid.ids import digest
from aforesaid.memory.changes import Memories
from aforesaid.memory.files import read_or_none, remove_file, write_file
from aforesaid.memory.folders import Folder, Listing, render_index
from aforesaid.memory.format import INDEX_FILE, SUFFIX, dump_front_matter, normalize
from aforesaid.model.memories import OF_CLIENT, OF_PROJECT, OF_USER, Memory, StoredMemory
from aforesaid.paths import read_regular

Env = Mapping[str, str]
SHARE_SETTING, OFF_SETTING = "share", "off"
SHARED_FILE = (
    ".shared"  # in the folder of all memories: by client's folder, the names of what was shared
)
MARK = re.compile(rb"^  aforesaid: v([0-9a-f]{16})\n", re.MULTILINE)
BEGIN, END = "\n<!-- aforesaid keeps these lines -->\n", "<!-- aforesaid: so far -->\n"
BLOCK = re.compile(f"{BEGIN}(?P<lines>.*?){END}", re.DOTALL)
LINK = re.compile(r"\s*[-*]\s+\[[^\n]*?\]\((?:\./)?(?P<name>[^()\s]+)\.md\)")
MORE_LINE = re.compile(r"- \d+ more memor\w+ (?:is|are) in this folder, not listed here\.\s*")
MAX_LOADED_LINES, MAX_LOADED_BYTES = 200, 25_000  # that the client loads of its index


class ClientFolder(Folder):
    """The client's folder without the files that we have shared."""

    __slots__ = ()

    def _paths(self) -> Sequence[Path]:
        return [path for path in super()._paths() if not _is_shared(path)]


def client_folder(directory: str, env: Env, setting: str) -> Folder | None:
    """None if the client's memories are not to be read, or it keeps none."""
    found = find_client_directory(directory, env) if setting != OFF_SETTING else None
    return ClientFolder(found.path, OF_CLIENT, writable=False) if found else None


def sync_shared(setting: str, memories: Memories, directory: str, env: Env) -> None:
    """Shares memories with the client or removes them, as the setting says. A failure is retried later."""
    root = memories.places.root
    try:
        if setting != SHARE_SETTING:
            unshare_all(root)
            return
        found = find_client_directory(directory, env)
        # A folder that the client has not made is of a directory that it does not work in.
        if found is None or not found.path.parent.is_dir():
            return
        scopes = (OF_USER,) if found.for_all else (OF_USER, OF_PROJECT)
        ours = [each for each in memories.all().memories if each.scope in scopes]
        place, recorded = str(found.path), _recorded_names(root)
        known = frozenset(recorded.setdefault(place, []))
        _record_names(root, recorded)  # first, so that it can be undone whatever happens
        _record_names(root, recorded | {place: sorted(share_memories(ours, found.path, known))})
    except (OSError, AforesaidError) as error:
        log.warning("memory.not_shared", error=log.cause(error))


def unshare_all(root: Path) -> None:
    """Removes what was shared from all folders."""
    for place in (recorded := _recorded_names(root)):
        share_memories((), Path(place))
    if recorded:
        remove_file(root / SHARED_FILE)
        log.action("memory.withdrawn", folders=len(recorded))


def share_memories(
    memories: Iterable[StoredMemory], place: Path, known: Set[str] = frozenset()
) -> set[str]:
    """Makes the shared files, and their lines in the client's index, equal to these memories; without any,
    exactly what was shared is removed. Idempotent. `known`: names that were shared before, as returned."""
    # What only an agent has noted would lose that mark in the client's form.
    wanted = {each.memory.name: each for each in memories if not each.memory.by_agent}
    for name, stored in wanted.items():
        path, data = place / f"{name}{SUFFIX}", render_shared(stored.memory)
        is_new = name not in known and not os.path.lexists(path)
        if is_new or (_is_shared(path) and read_or_none(path) != data):
            write_file(path, data)
    removed = {path.stem for path in place.glob(f"*{SUFFIX}") if _is_shared(path)} - wanted.keys()
    for name in removed:
        remove_file(place / f"{name}{SUFFIX}")
    shared = {name: each for name, each in wanted.items() if _is_shared(place / f"{name}{SUFFIX}")}
    path = place / INDEX_FILE
    before = read_or_none(path)
    if before is not None:  # else the client makes an index of all files itself
        text = _update_index(before.decode("utf-8", "surrogateescape"), place, shared, removed)
        data = text.encode("utf-8", "surrogateescape")
        # If the client has just written it, the next call changes that version.
        if data != before and read_or_none(path) == before:
            write_file(path, data, private=not path.stat().st_mode & 0o077)
    return shared.keys() | (known & wanted.keys())


def _update_index(
    index: str, place: Path, shared: Mapping[str, StoredMemory], removed: Set[str]
) -> str:
    def is_theirs(line: str) -> bool:
        name = _line_target(line)
        if name is None:
            return MORE_LINE.fullmatch(line) is None
        return name not in shared and os.path.lexists(place / f"{name}{SUFFIX}")

    if block := BLOCK.search(index):
        kept = "".join(filter(is_theirs, block["lines"].splitlines(keepends=True)))
        start = index[: block.start()]
        if kept and start and not start.endswith("\n"):
            start += "\n"
        index = start + kept + index[block.end() :]
    lines = [line for line in index.splitlines(keepends=True) if _line_target(line) not in removed]
    linked = set(map(_line_target, lines))
    index = "".join(lines)
    unlisted = tuple(each for name, each in shared.items() if name not in linked)
    room = MAX_LOADED_LINES - 3 - len(lines)
    if not unlisted or room < 1:
        return index
    size = MAX_LOADED_BYTES - len(f"{index}{BEGIN}{END}".encode("utf-8", "surrogateescape"))
    return f"{index}{BEGIN}{render_index(Listing(unlisted), lines=room, size=size)}{END}"


def client_loaded_names(place: Path) -> frozenset[str]:
    """Shared memories that the client itself injects: it loads their lines."""
    found = {
        path.stem for path in place.glob(f"*{SUFFIX}") if MARK.search(read_or_none(path) or b"")
    }
    data = read_or_none(place / INDEX_FILE)
    if data is not None:
        loaded = data[:MAX_LOADED_BYTES].decode("utf-8", "ignore").splitlines()[:MAX_LOADED_LINES]
        found.intersection_update(filter(None, map(_line_target, loaded)))
    return frozenset(found)


def render_shared(memory: Memory) -> bytes:
    """In the client's format, with the mark."""
    tidy = normalize(memory)
    head = {"name": tidy.name, "description": tidy.description, "metadata": {"type": tidy.type}}
    block = f"---\n{dump_front_matter(head)}"
    body = f"---\n\n{tidy.body}\n"
    mark = f"  aforesaid: v{digest((block + body).encode())}\n"
    return f"{block}{mark}{body}".encode()


def _is_shared(path: Path) -> bool:
    """Whether we have written it and it is unchanged."""
    data = read_or_none(path) or b""
    mark = MARK.search(data)
    return (
        mark is not None and digest(data[: mark.start()] + data[mark.end() :]).encode() == mark[1]
    )


def _line_target(line: str) -> str | None:
    """The name of the memory that a line of the index links to."""
    link = LINK.match(line)
    return unquote(link["name"]) if link else None


def _recorded_names(root: Path) -> dict[str, list[str]]:
    try:
        found = json.loads(read_or_none(root / SHARED_FILE) or b"{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _record_names(root: Path, names: Mapping[str, list[str]]) -> None:
    data = json.dumps(names, indent=1).encode()
    if read_or_none(root / SHARED_FILE) != data:
        write_file(root / SHARED_FILE, data)


Json = dict[str, Any]
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


class ClientDirectory(NamedTuple):
    """`for_all`: the user has configured one folder for all projects."""

    path: Path
    for_all: bool = False


def find_client_directory(directory: str, env: Env) -> ClientDirectory | None:
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
        by_user = chosen not in (each.get(DIRECTORY_KEY) for each in projects)
        return ClientDirectory(own, for_all=True) if by_user else None
    return ClientDirectory(config / "projects" / client_slug(str(top)) / "memory")


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


def _is_disabled(settings: list[Json], env: Env) -> bool:
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
