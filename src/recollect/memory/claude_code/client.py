"""Beside Claude Code's own memories: theirs are read, ours are put there only if that is asked for.

A file of ours in their folder carries a mark with a digest of itself. Only a file whose mark fits is ever
changed or removed; one that was edited there, by the user or by the client, is theirs from then on, and one
that was deleted there is not put back. The lines in their index are kept by `client_index.py`.
"""

import json
import os
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from recollect.ids import digest
from recollect.memory.claude_code import client_index
from recollect.memory.claude_code.client_folder import find, folder
from recollect.memory.storage import files, front_matter
from recollect.memory.storage.folders import Entry, Folder
from recollect.memory.storage.format import ENDING, normal
from recollect.model.memories import OF_CLIENT, Memory, StoredMemory

__all__ = ["Shared", "find", "folder", "loaded", "note", "share", "theirs", "unshare", "withdraw"]

SHARE, OFF = "share", "off"
NOTED = ".shared"  # among our memories: the folders that something of ours was put into
MARK = re.compile(rb"^  recollect: v([0-9a-f]{16})\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Shared:
    """Names of memories. `edited` and `deleted`: there, after we had put them there. `taken`: a memory of
    theirs has the name."""

    written: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    edited: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    taken: tuple[str, ...] = ()


class Theirs(Folder):
    """Their folder without what is ours in it. It is read, and never written."""

    __slots__ = ()

    def _paths(self, state: tuple[Entry, ...]) -> tuple[Path, ...]:
        return tuple(path for path in super()._paths(state) if not _is_ours(_look(path)))


def theirs(directory: str, env: Mapping[str, str], setting: str) -> Folder | None:
    """For `places`. None where theirs are not to be read, or the client keeps none."""
    found = folder(directory, env) if setting != OFF else None
    return Theirs(found, OF_CLIENT, writable=False) if found else None


def share(memories: Iterable[StoredMemory], place: Path) -> Shared:
    """Makes what is ours there equal to the user's and the project's memories, and no more than that. May be
    done again at any time: where nothing has changed nothing is written."""
    # The client shows them as its own: what only an agent has noted would lose its mark.
    ours = (each for each in memories if each.is_ours and not each.memory.by_agent)
    wanted = {each.memory.name: each for each in ours}
    marked = _marked(place)
    known = client_index.put_there(place)
    written, taken, deleted = [], [], []
    for name, stored in wanted.items():
        path, data = _file(place, name), rendered(stored.memory)
        found = _look(path)
        if found == data:
            continue
        if found is None and name in known and not os.path.lexists(path):
            deleted.append(name)
        elif _is_ours(found) or not os.path.lexists(path):
            files.write(path, data)
            written.append(name)
        elif name not in marked:
            taken.append(name)
    removed = _removed(place, marked, (name for name in marked if name not in wanted))
    there = [wanted[name] for name, intact in _marked(place).items() if intact and name in wanted]
    other = Theirs(place, OF_CLIENT, writable=False)
    if there or deleted:
        client_index.put(place, there, other, gone={*removed}, deleted={*deleted})
    else:
        client_index.take_away(place, other, gone={*removed})
    edited = tuple(name for name, intact in marked.items() if not intact)
    return Shared(tuple(written), tuple(removed), edited, tuple(deleted), tuple(taken))


def unshare(place: Path) -> Shared:
    """Takes away exactly what is ours; where there is nothing of ours nothing is touched."""
    marked = _marked(place)
    removed = _removed(place, marked, list(marked))
    client_index.take_away(place, Theirs(place, OF_CLIENT, writable=False), gone={*removed})
    edited = tuple(name for name, intact in marked.items() if not intact)
    return Shared(removed=tuple(removed), edited=edited)


def note(root: Path, place: Path) -> None:
    """Before anything is put there, so that it can be taken away whatever happens."""
    known = _noted(root)
    if str(place) not in known:
        files.write(root / NOTED, json.dumps([*known, str(place)], indent=1).encode())


def withdraw(root: Path) -> int:
    """Takes away what is ours from every folder that it was put into. From how many."""
    noted = _noted(root)
    for place in noted:
        unshare(Path(place))
    if noted:
        files.remove(root / NOTED)
    return len(noted)


def loaded(place: Path) -> frozenset[str]:
    """Memories of ours that the client shows its model by itself: nobody needs to be told of them again."""
    return client_index.shown(place) & frozenset(_marked(place))


def rendered(memory: Memory) -> bytes:
    """In the client's form, with the mark."""
    tidy = normal(memory)
    head = {"name": tidy.name, "description": tidy.description, "metadata": {"type": tidy.type}}
    block = f"---\n{front_matter.write(head)}"
    body = f"---\n\n{tidy.body}\n"
    mark = f"  recollect: v{digest((block + body).encode())}\n"
    return f"{block}{mark}{body}".encode()


def _marked(place: Path) -> dict[str, bool]:
    """The names of files with our mark, and whether they are as we wrote them."""
    found: dict[str, bool] = {}
    with suppress(OSError):
        for path in sorted(place.glob(f"*{ENDING}")):
            data = _look(path)
            if data is not None and MARK.search(data):
                found[path.name.removesuffix(ENDING)] = _is_ours(data)
    return found


def _removed(place: Path, marked: dict[str, bool], names: Iterable[str]) -> list[str]:
    """Those that were as we wrote them until now: some time has passed since `marked`, which is put right."""
    gone = []
    for name in names:
        path = _file(place, name)
        marked[name] = _is_ours(_look(path)) or not os.path.lexists(path)
        if marked[name]:
            files.remove(path)
            gone.append(name)
    return gone


def _is_ours(data: bytes | None) -> bool:
    mark = MARK.search(data) if data else None
    if data is None or mark is None:
        return False
    return digest(data[: mark.start()] + data[mark.end() :]).encode() == mark[1]


def _look(path: Path) -> bytes | None:
    """None also for what is no plain file: such a thing is never ours."""
    try:
        return files.read(path)
    except (files.Strange, OSError):
        return None


def _noted(root: Path) -> list[str]:
    try:
        found = json.loads(_look(root / NOTED) or b"[]")
    except ValueError:
        return []
    return [each for each in found if isinstance(each, str)] if isinstance(found, list) else []


def _file(place: Path, name: str) -> Path:
    return place / f"{name}{ENDING}"
