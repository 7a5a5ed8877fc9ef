"""Somebody saves a memory's file while a change of it is made, at every moment of it: nothing is lost."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import BinaryIO

import pytest

from aforesaid.errors import Edited, MemoryRefused
from aforesaid.memory.changes import Memories, undo_change
from aforesaid.memory.files import FileChange, swap_files
from aforesaid.model.memories import Memory
from tests.support.memory_crash import memories_in, stepping

pytestmark = pytest.mark.slow

NAMES = ("first", "second", "third")
SAVED = b"---\ndescription: saved by hand\n---\nWords that nobody else has.\n"
MOST = 400
Save = Callable[[Path], Iterator[None]]


def by_rename(path: Path) -> Iterator[None]:
    """As most editors do: another file takes the name."""
    other = path.with_name("other.tmp")
    other.write_bytes(SAVED)
    os.replace(other, path)  # noqa: PTH105
    yield


def in_place(path: Path) -> Iterator[None]:
    path.write_bytes(SAVED)
    yield


def in_place_slowly(path: Path) -> Iterator[None]:
    """The file is opened at one step, emptied at the next one, and written later."""
    file: BinaryIO
    with path.open("r+b") as file:
        yield
        file.truncate()
        yield
        yield
        file.write(SAVED)
    yield


class Somebody:
    """Saves a file from that step on."""

    def __init__(self, path: Path, save: Save, at: int) -> None:
        self._left = at
        self._work = save(path)
        self.began = self.failed = False
        self._busy = False

    def step(self) -> None:
        self._left -= 1
        if self._left > 0 or self._busy or self.failed:
            return
        self._busy = self.began = True  # its own calls are no steps
        try:
            next(self._work, None)
        except FileNotFoundError:
            self.failed = True  # and its user knows
        finally:
            self._busy = False

    def end(self) -> None:
        for _ in self._work:
            pass


def change(memories: Memories) -> None:
    """A new version, one that moves and one that goes."""
    with memories.change("new versions") as made:
        for name, body in (("first", "New."), ("second", "Newer.")):
            if (old := made.get(name)) is None:
                raise Edited  # it is just being saved
            made.write(Memory(name, f"The {name}", "user", body), old.checksum)
        made.retire("third", "no longer")


def take_back(memories: Memories) -> None:
    """All three or none."""
    undo_change(memories)


def is_kept(memories: Memories) -> bool:
    """Where people look, or in the history."""
    root = memories.places.root
    found = [path.read_bytes() for path in root.glob("[!.]*/**/[!.]*") if path.is_file()]
    entries = memories.history.log(None)
    found += [
        data or b"" for entry in entries for versions in entry.files.values() for data in versions
    ]
    return SAVED in found


def begin(home: Path, *, changed: bool) -> None:
    home.mkdir()
    memories = memories_in(home)
    with memories.change("begin") as made:
        for name in NAMES:
            made.write(Memory(name, f"The {name}", "user", "Old."))
    if changed:
        change(memories)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", NAMES[1:])
@pytest.mark.parametrize("save", [by_rename, in_place, in_place_slowly])
@pytest.mark.parametrize("act", [change, take_back])
def test_what_is_saved_at_any_step_of_a_change_is_kept(
    quick: Path,
    monkeypatch: pytest.MonkeyPatch,
    act: Callable[[Memories], None],
    save: Save,
    name: str,
) -> None:
    tried = saved = 0
    first = quick / "first"
    begin(first, changed=act is take_back)
    for number in count(1):
        home = quick / str(number)
        shutil.copytree(first, home)
        memories = memories_in(home)
        somebody = Somebody(memories.places.user.file(name), save, number)
        with monkeypatch.context() as patch:
            for owner, called, counted in stepping(somebody.step):
                patch.setattr(owner, called, counted)
            with suppress(MemoryRefused):
                act(memories)
        if not somebody.began:
            break
        somebody.end()
        tried += 1
        if not somebody.failed:
            saved += 1
            assert is_kept(memories), f"step {number}"
        assert_whole(memories, name)
        assert number < MOST
    print(f"{tried} steps, {saved} times saved")  # noqa: T201


def assert_whole(memories: Memories, edited: str) -> None:
    """Nothing hidden is left, the next change works, and the others are as before or after."""
    root = memories.places.root
    assert not memories.history.is_open
    left = [path for path in root.glob("[!.]*/**/.*") if path.name != ".project"]
    assert not left, left
    with memories.change("next") as made:
        made.write(Memory("next", "The next", "user", "Body."))
    bodies = {each.memory.name: each.memory.body for each in memories.all().memories}
    for name in {*NAMES} - {edited, "third"}:
        assert bodies[name] in ("Old.", "New.", "Newer.")
    there = [
        folder.file("third").exists()
        for folder in (memories.places.user, memories.places.retired[0])
    ]
    if edited != "third":
        assert sorted(there) == [False, True]


def test_who_saves_twice_in_a_moment_finds_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(b"before")
    rename = os.rename

    def saved_around(old: Path, new: Path) -> None:
        path.write_bytes(b"first")
        rename(old, new)
        path.write_bytes(SAVED)
        monkeypatch.setattr(os, "rename", rename)

    monkeypatch.setattr(os, "rename", saved_around)
    assert swap_files([FileChange(path, b"before", b"after")], 1, tmp_path) == [path]
    assert path.read_bytes() == SAVED
    (other,) = [each for each in tmp_path.iterdir() if each.is_file() and each != path]
    assert other.name.startswith("a.md.edited-")
    assert other.read_bytes() == b"first"


def test_without_hard_links_a_change_is_made_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    begin(tmp_path / "home", changed=False)
    memories = memories_in(tmp_path / "home")
    monkeypatch.setattr(os, "link", refused)
    change(memories)
    found = {each.memory.name: each.memory.body for each in memories.all().memories}
    assert found == {"first": "New.", "second": "Newer."}
    undo_change(memories)
    assert {each.memory.body for each in memories.all().memories} == {"Old."}
    assert_whole(memories, "")
