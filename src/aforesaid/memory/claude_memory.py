"""Claude Code's own memories: reads them, and shares ours with them if the settings say so.

A shared file carries a digest of itself. Only a file whose digest is right is ever changed or removed; one
that was edited in the client's folder belongs to the client from then on, and one that was deleted there is
not written again. Our lines in the client's index stand between two comments.
"""

import json
import os
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

from aforesaid.git import Checkout, find_checkout
from aforesaid.ids import digest
from aforesaid.memory.files import (
    UnreadableFile,
    read_file,
    read_or_none,
    read_with_stat,
    remove_file,
    write_file,
)
from aforesaid.memory.folders import Folder, Listing, index_line, render_index
from aforesaid.memory.format import INDEX_FILE, SUFFIX, dump_front_matter, normalize
from aforesaid.model.memories import OF_CLIENT, Memory, StoredMemory
from aforesaid.paths import read_regular

SHARE_SETTING, OFF_SETTING = "share", "off"
SHARED_FILE = ".shared"  # in the folder of all memories: lists the folders that we have shared to
MARK = re.compile(rb"^  aforesaid: v([0-9a-f]{16})\n", re.MULTILINE)


class ShareResult(NamedTuple):
    """Names of memories. `edited`, `deleted`: in the client's folder, after they were shared. `taken`: the
    client has another memory of that name."""

    written: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    edited: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    taken: tuple[str, ...] = ()


class ClientFolder(Folder):
    """The client's folder without the files that we have shared."""

    __slots__ = ()

    def _paths(self) -> Sequence[Path]:
        return [path for path in super()._paths() if not _has_valid_mark(read_or_none(path))]


def client_folder(directory: str, env: Mapping[str, str], setting: str) -> Folder | None:
    """None if the client's memories are not to be read, or it keeps none."""
    found = client_directory_path(directory, env) if setting != OFF_SETTING else None
    return ClientFolder(found, OF_CLIENT, writable=False) if found else None


def share_memories(memories: Iterable[StoredMemory], place: Path) -> ShareResult:
    """Makes the shared files equal to the user's and the project's memories; without any, exactly what was
    shared is removed. Idempotent."""
    # What only an agent has noted would lose that mark in the client's form.
    ours = (each for each in memories if each.is_ours and not each.memory.by_agent)
    wanted = {each.memory.name: each for each in ours}
    marked = _shared_files(place)
    known = _ClientIndex.read(_decode(read_or_none(place / INDEX_FILE)) or "").names
    written, taken, deleted = [], [], []
    for name, stored in wanted.items():
        path, data = place / f"{name}{SUFFIX}", render_shared(stored.memory)
        found = read_or_none(path)
        if found == data:
            continue
        if found is None and name in known and not os.path.lexists(path):
            deleted.append(name)
        elif _has_valid_mark(found) or not os.path.lexists(path):
            write_file(path, data)
            written.append(name)
        elif name not in marked:
            taken.append(name)
    removed = []
    for name in marked.keys() - wanted.keys():
        # Checked again: time has passed since it was read.
        path = place / f"{name}{SUFFIX}"
        marked[name] = _has_valid_mark(read_or_none(path)) or not os.path.lexists(path)
        if marked[name]:
            remove_file(path)
            removed.append(name)
    intact = [name for name, is_ours in _shared_files(place).items() if is_ours]
    shared = [wanted[name] for name in intact if name in wanted]
    _update_index(place, shared, removed={*removed}, deleted={*deleted})
    edited = tuple(name for name, is_ours in marked.items() if not is_ours)
    return ShareResult(tuple(written), tuple(sorted(removed)), edited, tuple(deleted), tuple(taken))


def record_shared(root: Path, place: Path) -> None:
    """Call before sharing, so that it can be undone whatever happens."""
    known = _recorded_folders(root)
    if str(place) not in known:
        write_file(root / SHARED_FILE, json.dumps([*known, str(place)], indent=1).encode())


def unshare_all(root: Path) -> int:
    """Removes what was shared from all folders. Returns how many there were."""
    recorded = _recorded_folders(root)
    for place in recorded:
        share_memories((), Path(place))
    if recorded:
        remove_file(root / SHARED_FILE)
    return len(recorded)


def client_loaded_names(place: Path) -> frozenset[str]:
    """Shared memories that the client itself injects: its index loads their lines."""
    text = COMMENT.sub("", _decode(read_or_none(place / INDEX_FILE)) or "")
    cut = text.encode("utf-8", "surrogateescape")[:MAX_LOADED_BYTES].decode("utf-8", "ignore")
    loaded = {_line_target(line) for line in cut.splitlines()[:MAX_LOADED_LINES]}
    return frozenset(name for name in _shared_files(place) if name in loaded)


def render_shared(memory: Memory) -> bytes:
    """In the client's format, with the mark."""
    tidy = normalize(memory)
    head = {"name": tidy.name, "description": tidy.description, "metadata": {"type": tidy.type}}
    block = f"---\n{dump_front_matter(head)}"
    body = f"---\n\n{tidy.body}\n"
    mark = f"  aforesaid: v{digest((block + body).encode())}\n"
    return f"{block}{mark}{body}".encode()


def _shared_files(place: Path) -> dict[str, bool]:
    """The names of files with a mark, and whether they are unchanged."""
    found: dict[str, bool] = {}
    with suppress(OSError):
        for path in sorted(place.glob(f"*{SUFFIX}")):
            data = read_or_none(path)
            if data is not None and MARK.search(data):
                found[path.name.removesuffix(SUFFIX)] = _has_valid_mark(data)
    return found


def _has_valid_mark(data: bytes | None) -> bool:
    mark = MARK.search(data) if data else None
    if data is None or mark is None:
        return False
    return digest(data[: mark.start()] + data[mark.end() :]).encode() == mark[1]


def _recorded_folders(root: Path) -> list[str]:
    try:
        found = json.loads(read_or_none(root / SHARED_FILE) or b"[]")
    except ValueError:
        return []
    return [each for each in found if isinstance(each, str)] if isinstance(found, list) else []


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


def client_directory_path(directory: str, env: Mapping[str, str]) -> Path | None:
    """It may not exist. None if the client's memory is turned off."""
    found = find_client_directory(directory, env)
    return found.path if found else None


def find_client_directory(directory: str, env: Mapping[str, str]) -> ClientDirectory | None:
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


BLOCK_BEGIN = re.compile(r"<!-- aforesaid keeps these lines(?P<how>[^:>]*):(?P<names>[^>]*)-->\s*")
BLOCK_END = "<!-- aforesaid: so far -->"
OWN_FILE, OPEN_LINE = ", in a file of its own", ", behind an open line"
COMMENT = re.compile(r"^<!--.*?-->[ \t]*\n?", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\s*[-*]\s+\[[^\n]*?\]\((?P<file>[^()\s]+)\)")
MORE_LINE = re.compile(r"- \d+ more memor\w+ (?:is|are) in this folder, not listed here\.\s*")
MAX_LOADED_LINES, MAX_LOADED_BYTES = 200, 25_000  # that the client loads of its index
WRITE_ATTEMPTS = 5  # if the client writes its index at the same time


@dataclass(slots=True)
class _ClientIndex:
    """`lines`: those that are not ours, with their ends. `names`: of all memories that were shared, whatever
    became of them."""

    lines: list[str] = field(default_factory=list)
    how: str = ""
    names: frozenset[str] = frozenset()
    found: bool = False

    @classmethod
    def read(cls, text: str, theirs: Callable[[str], bool] = lambda _: False) -> "_ClientIndex":
        """`theirs`: whether a memory that was shared belongs to the client now."""
        self, inside = cls(), False
        for line in text.splitlines(keepends=True):
            if begin := BLOCK_BEGIN.fullmatch(line):
                self.how, self.found, inside = begin["how"], True, True
                self.names |= frozenset(map(unquote, begin["names"].split()))
            elif inside and line.strip() == BLOCK_END:
                inside = False
            elif inside and (name := _line_target(line)) in self.names:
                self.lines += [line] if name and theirs(name) else []
            elif not inside or not MORE_LINE.fullmatch(line):
                self.lines.append(line)
        return self

    def rest(self) -> str:
        """The index as it would be without us."""
        text = "".join(self.lines)
        return text.removesuffix("\n") if OPEN_LINE in self.how else text

    def text(self, ours: str, names: Iterable[str]) -> str:
        listed = "".join(f" {quote(name, safe='')}" for name in sorted(names))
        begin = f"<!-- aforesaid keeps these lines{self.how}:{listed} -->\n"
        return f"{''.join(self.lines)}{begin}{ours}{BLOCK_END}\n"


def _update_index(
    place: Path, ours: list[StoredMemory], *, removed: set[str], deleted: Set[str] = frozenset()
) -> None:
    """`ours`: the shared memories; without any, our lines and comments go, and the file if we have created
    it. `removed`: by us. `deleted`: in the client's folder."""
    names = {each.memory.name for each in ours} | deleted

    def theirs(name: str) -> bool:
        return bool(names) and name not in names and (place / f"{name}{SUFFIX}").exists()

    def change(before: str | None) -> str | None:
        if before is None and not names:
            return None
        index = _ClientIndex.read(_generated_index(place) if before is None else before, theirs)
        index.lines = [line for line in index.lines if _line_target(line) not in removed]
        if not names:
            rest = index.rest()
            unused = not rest.strip() or rest == _generated_index(place)
            return None if OWN_FILE in index.how and unused else rest
        if not index.found:
            index.how = OWN_FILE if before is None else ""
            if index.lines and not index.lines[-1].endswith("\n"):
                index.lines[-1] += "\n"
                index.how = OPEN_LINE
        linked = {_line_target(line) for line in index.lines}
        unlisted = tuple(each for each in ours if each.memory.name not in linked)
        room = MAX_LOADED_LINES - 2 - len(index.lines)
        used = len(index.text("", names).encode("utf-8", "surrogateescape"))
        added = ""
        if room > 0:
            added = render_index(Listing(unlisted), lines=room, size=MAX_LOADED_BYTES - used)
        return index.text(added, names)

    _rewrite_index(place, change)


def _generated_index(place: Path) -> str:
    """As the client makes it: a line each, newest first."""
    listing = ClientFolder(place, OF_CLIENT, writable=False).list()
    unreadable = (f"- [{each.path.stem}]({quote(each.path.name)})\n" for each in listing.broken)
    return "".join([*map(index_line, listing.memories), *unreadable])


def _line_target(line: str) -> str | None:
    """The name of the memory that a line of the index links to."""
    link = LINK.match(line)
    if link is None or not link["file"].endswith(SUFFIX):
        return None
    return unquote(link["file"]).removeprefix("./").removesuffix(SUFFIX)


def _decode(data: bytes | None) -> str | None:
    return None if data is None else data.decode("utf-8", "surrogateescape")


def _rewrite_index(place: Path, change: Callable[[str | None], str | None]) -> None:
    """None stands for no file. If the client writes it at the same time, its version is changed instead."""
    path = place / INDEX_FILE
    with suppress(UnreadableFile):  # such as a link: left alone
        for _ in range(WRITE_ATTEMPTS):
            before, found = read_with_stat(path)
            after = change(_decode(before))
            data = None if after is None else after.encode("utf-8", "surrogateescape")
            if data == before:
                return
            if read_file(path) != before:
                continue
            if data is None:
                remove_file(path)
            else:
                write_file(path, data, private=found is None or not found.st_mode & 0o077)
            return
