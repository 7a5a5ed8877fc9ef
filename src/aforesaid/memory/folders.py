"""Folders of memories: their files, their index, and which of them apply in a directory.

Reading changes nothing. A file that is not a valid memory is reported with what to fix. At most 200 files of
a folder are read, newest first; the rest is counted.
"""

import json
import os
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import count, islice
from operator import attrgetter, itemgetter
from pathlib import Path
from urllib.parse import quote

from aforesaid import log
from aforesaid.ids import digest
from aforesaid.memory.files import (
    UnreadableFile,
    read_file,
    remove_file,
    write_file,
)
from aforesaid.memory.format import (
    INDEX_FILE,
    SUFFIX,
    checksum,
    name_problem,
    parse_memory,
    slugify,
)
from aforesaid.model.memories import (
    NOTED_BY_AGENT,
    OF_PROJECT,
    OF_TEAM,
    OF_USER,
    Broken,
    StoredMemory,
)
from aforesaid.paths import Paths
from aforesaid.privacy.redactor import RULES
from aforesaid.repository import (
    IDENTITY_KINDS,
    Identity,
    Known,
    Repository,
    find_owner,
    identify,
    is_at,
    new_identities,
)
from aforesaid.settings import Settings
from aforesaid.text import one_line

MAX_FILES = 200
MAX_ENTRIES = 10_000  # of a folder that a repository brings
# The same files are read at every prompt.
CACHED_FILES, MAX_CACHED_BYTES = 1024, 16 * 1024
# In the folder of all memories. Plain files: what an agent keeps with the memory tool beside memories.
USER_FOLDER, PROJECTS_FOLDER, RETIRED_FOLDER, PLAIN_FOLDER = "user", "projects", "retired", "files"


@dataclass(frozen=True, slots=True)
class Listing:
    """`left_out`: the number of files that were not read."""

    memories: tuple[StoredMemory, ...] = ()
    broken: tuple[Broken, ...] = ()
    left_out: int = 0

    def get(self, name: str) -> StoredMemory | None:
        return next((each for each in self.memories if each.memory.name == name), None)


@dataclass(frozen=True, slots=True)
class Folder:
    """May not exist; then it is empty. `scope`: see model/memories.py."""

    path: Path
    scope: str
    writable: bool = True

    def list(self, most: int | None = MAX_FILES) -> Listing:
        """Newest first. `most` None reads all."""
        try:
            paths = self._paths()
        except OSError as error:
            why = f"the folder cannot be read ({error.strerror}): check its permissions"
            return Listing(broken=(Broken(self.path, why),))
        read = [self._read(path) for path in paths[:most]]
        broken = tuple(each for each in read if isinstance(each, Broken))
        memories = tuple(each for each in read if isinstance(each, StoredMemory))
        return Listing(memories, broken, len(paths) - len(read))

    def get(self, name: str) -> StoredMemory | Broken | None:
        """By name, without reading the others."""
        return None if name_problem(name) else self._read(self.file(name))

    def file(self, name: str) -> Path:
        return self.path / f"{name}{SUFFIX}"

    def names(self) -> tuple[str, ...]:
        """Of all files that may be memories."""
        return tuple(path.name.removesuffix(SUFFIX) for path in self._paths())

    def _paths(self) -> Sequence[Path]:
        """Newest first."""
        found = []
        try:
            most = MAX_ENTRIES if self.scope == OF_TEAM else None
            with os.scandir(self.path) as entries:
                for entry in islice(entries, most):
                    if not is_memory_file(entry.name) or entry.is_dir(follow_symlinks=False):
                        continue
                    with suppress(FileNotFoundError):  # just deleted
                        modified = entry.stat(follow_symlinks=False).st_mtime_ns
                        found.append((-modified, entry.name))
        except (FileNotFoundError, NotADirectoryError):
            return ()
        return [self.path / name for _, name in sorted(found)]

    def _read(self, path: Path) -> StoredMemory | Broken | None:
        if why := name_problem(path.name.removesuffix(SUFFIX)):
            return Broken(path, f"its name cannot be used, {why}: rename it")
        try:
            data, modified = read_file(path), path.lstat().st_mtime_ns // 1_000_000
        except (FileNotFoundError, NotADirectoryError):
            return None
        except UnreadableFile as error:
            return Broken(path, str(error))
        if data is None:
            return None
        parse = _parse_cached if len(data) <= MAX_CACHED_BYTES else parse_memory
        memory = parse(data, path)
        if isinstance(memory, Broken):
            return memory
        return StoredMemory(memory, self.scope, path, checksum(data), modified)


@dataclass(frozen=True, slots=True)
class Places:
    """The folders for one directory. `root` holds the user's and all projects', with lock and history.
    `theirs`: the client's. `problems`: folders that were refused."""

    root: Path
    user: Folder
    project: Folder
    team: Folder | None = None
    theirs: Folder | None = None
    repository: Repository | None = None
    problems: tuple[Broken, ...] = ()

    @property
    def top(self) -> str:
        """The directory that paths in memories are relative to; empty if no project is known."""
        return self.repository.root if self.repository else ""

    @property
    def own(self) -> tuple[Folder, Folder]:
        """The user's and the project's; names are unique over both."""
        return self.user, self.project

    @property
    def all(self) -> tuple[Folder, ...]:
        return tuple(each for each in (*self.own, self.team, self.theirs) if each is not None)

    @property
    def retired(self) -> tuple[Folder, Folder]:
        return self.retired_of(self.user), self.retired_of(self.project)

    @property
    def files(self) -> Path:
        """The plain files of the project, see tool.py."""
        return self.root / PLAIN_FOLDER / self.project.path.name

    def retired_of(self, folder: Folder) -> Folder:
        return Folder(self.root / RETIRED_FOLDER / folder.path.relative_to(self.root), folder.scope)

    def of(self, scope: str) -> Folder | None:
        return next((each for each in self.all if each.scope == scope), None)


def find_places(
    paths: Paths,
    directory: str,
    settings: Settings,
    theirs: Folder | None = None,
    repository: Repository | None = None,
) -> Places:
    """The directory need not be a repository. Creates nothing. `theirs`: the client's folder. `repository`:
    if it is known already, since asking git takes a while."""
    repository = repository or identify(directory)
    root = paths.memory
    project = find_project_folder(root, repository) or new_project_folder(root, repository)
    found = Places(
        root=root,
        user=Folder(root / USER_FOLDER, OF_USER),
        project=Folder(project, OF_PROJECT),
        theirs=theirs,
        repository=repository,
    )
    if not (name := settings.text("memory.team_folder").strip()):
        return found
    # A repository must not make us read or write outside of it, by a link.
    why = ""
    try:
        top, real = Path(repository.root).resolve(), (Path(repository.root) / name).resolve()
        if not real.is_relative_to(top) or real == top or ".git" in real.relative_to(top).parts:
            why = "the team's folder is outside of the repository"
    except (OSError, RuntimeError):
        why = "the team's folder is a circular link"
    if not why:
        return replace(found, team=Folder(real, OF_TEAM))
    why += ": set memory.team_folder to a folder inside the repository"
    return replace(found, problems=(Broken(Path(repository.root) / name, why),))


_parse_cached = lru_cache(maxsize=CACHED_FILES)(parse_memory)


def is_memory_file(name: str) -> bool:
    hidden = name.startswith(".")
    return name.endswith(SUFFIX) and not hidden and name.lower() != INDEX_FILE.lower()


def is_plain_file(path: Path, root: Path) -> bool:
    """One of `Places.files`, or of another project's."""
    below = path.relative_to(root).parts if path.is_relative_to(root) else ()
    return below[:1] == (PLAIN_FOLDER,) and not any(part.startswith(".") for part in below)


def is_changeable(path: Path, root: Path) -> bool:
    """Whether it may be the file of a memory, or a plain file."""
    return is_memory_file(path.name) or is_plain_file(path, root)


def list_plain_files(folder: Path) -> list[Path]:
    """At any depth, without links and hidden files."""
    found = (Path(path, name) for path, _, names in os.walk(folder) for name in names)
    return sorted(each for each in found if not each.name.startswith(".") and not each.is_symlink())


MAX_INDEX_LINES, MAX_INDEX_BYTES = 200, 25_000
MAX_INDEX_DESCRIPTION = 200
# What `index_line` and `_more_line` write.
GENERATED_LINE = re.compile(
    r"- \[[^\n]*\]\([^\s()]+\.md\) — [^\n]*"
    r"|- [0-9]+ more memor(?:y is|ies are) in this folder, not listed here\."
)
ESCAPES = str.maketrans({c: f"\\{c}" for c in "\\[]<>"})


def render_index(
    listing: Listing, *, lines: int = MAX_INDEX_LINES, size: int = MAX_INDEX_BYTES
) -> str:
    """Empty without memories. The oldest ones that are not pinned are left out if there is no room."""
    written = {each.path: index_line(each) for each in listing.memories}
    kept = sorted(listing.memories, key=attrgetter("importance"))[:lines]
    while True:
        more = listing.left_out + len(listing.memories) - len(kept)
        text = "".join(written[each.path] for each in sorted(kept, key=attrgetter("order")))
        text += _more_line(more) if more else ""
        fits = len(kept) + bool(more) <= lines and len(text.encode()) <= size
        if fits or not kept:
            return text
        kept.pop()


def is_generated_index(data: bytes) -> bool:
    """Whether every line is generated; if not, a person may have written it."""
    try:
        lines = data.decode().split("\n")
    except UnicodeDecodeError:
        return False
    return all(GENERATED_LINE.fullmatch(each) for each in lines if each.strip())


def rebuild_index(root: Path, folder: Path) -> None:
    """Retired memories and plain files have no index. An index that a person wrote for the team stays, and so
    does one that cannot be written there."""
    own = folder.is_relative_to(root)
    unlisted = any(folder.is_relative_to(root / each) for each in (RETIRED_FOLDER, PLAIN_FOLDER))
    if not folder.is_dir() or unlisted:
        return
    data = render_index(Folder(folder, OF_TEAM).list(most=None)).encode()
    path = folder / INDEX_FILE
    try:
        found = read_file(path)
        if found == (data or None) or not (own or is_generated_index(found or b"")):
            return
        if data:
            write_file(path, data, private=own)
        else:
            remove_file(path)
    except UnreadableFile:
        return  # a link or a folder of the user's
    except PermissionError as error:
        log.warning("memory.unwritable", why=log.cause(error))


def index_line(stored: StoredMemory) -> str:
    """`- [name](name.md) — description`, escaped: neither can end the line or add a link. Secrets are
    redacted: they stay in the memory's own file."""
    name = stored.memory.name
    text = one_line(RULES.text(stored.memory.description), MAX_INDEX_DESCRIPTION)
    label = one_line(name, MAX_INDEX_DESCRIPTION).translate(ESCAPES)
    target = quote(name.encode("utf-8", "surrogateescape") + SUFFIX.encode())
    noted = f" ({NOTED_BY_AGENT})" if stored.memory.by_agent else ""
    return f"- [{label}]({target}) — {text.translate(ESCAPES)}{noted}\n"


def _more_line(more: int) -> str:
    what = "memory is" if more == 1 else "memories are"
    return f"- {more} more {what} in this folder, not listed here.\n"


PROJECT_FILE = ".project"
MAX_FOLDER_NAME = 40


def find_project_folder(root: Path, repository: Repository, *, local: bool = True) -> Path | None:
    """`local`: see `find_owner`. If two folders claim an identity, it is the newer one's."""
    found = []
    with suppress(OSError):
        for folder in (root / PROJECTS_FOLDER).iterdir():
            if note := read_project_note(folder):
                with suppress(OSError):
                    at = (folder / PROJECT_FILE).stat().st_mtime_ns
                    found.append((-at, folder, frozenset(note.identities)))
    known = (
        Known(folder, identities) for _, folder, identities in sorted(found, key=itemgetter(0, 1))
    )
    owner = find_owner(repository, known, local=local)
    return owner.key if owner else None


def new_project_folder(root: Path, repository: Repository) -> Path:
    """A folder name for a new project that no other project has."""
    name = slugify(repository.name)[:MAX_FOLDER_NAME].strip("-")
    values = [each.identity for each in repository.identities]
    for number in count():
        key = values[0] if number == 0 else "\n".join((*values, str(number)))
        folder = root / PROJECTS_FOLDER / f"{name}-{digest(key, 8)}"
        if read_project_note(folder) is None:
            return folder
    raise AssertionError("unreachable")


def write_project_note(folder: Path, repository: Repository) -> None:
    """Adds new identities, if there are any. Name and root stay as long as that directory holds the
    project."""
    known = read_project_note(folder)
    identities = known.identities if known else ()
    now = (*new_identities(repository, identities), *identities)
    stays = known and (known.root == repository.root or is_at(known.root, known.identities))
    if stays and len(now) == len(identities):
        return
    kept = known if known and stays else repository
    note = {
        "name": kept.name,
        "root": kept.root,
        "identities": [[each.kind, each.identity] for each in now],
    }
    data = json.dumps(note, ensure_ascii=False, indent=1).encode() + b"\n"
    write_file(folder / PROJECT_FILE, data)


def read_project_note(folder: Path) -> Repository | None:
    """The content of `.project`: whose folder it is. None if there is none, or it cannot be read."""
    try:
        note = json.loads(read_file(folder / PROJECT_FILE) or b"null")
        identities = tuple(
            Identity(kind, str(value))
            for kind, value in note["identities"]
            if kind in IDENTITY_KINDS
        )
        return Repository(str(note["name"]), str(note["root"]), identities)
    except (OSError, ValueError, TypeError, KeyError):
        return None
