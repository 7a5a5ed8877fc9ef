"""A change of memories that is killed at every step in turn, in real processes, and what must be true then.

    python -m tests.support.memory_crash FOLDER EVERY

Steps are the calls that reach the system: files that are opened, synced, renamed and removed, folders that
are made. Before the one with the given number the process kills itself. EVERY
leaves out steps: 4 takes the first, the fifth and so on. It prints how many there were.
"""

import os
import shutil
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from aforesaid import settings
from aforesaid.memory.changes import Change, Memories, undo_change
from aforesaid.memory.files import write_lock
from aforesaid.memory.folders import find_places, render_index
from aforesaid.memory.history import BY_HAND
from aforesaid.model.memories import Memory
from aforesaid.paths import Paths
from aforesaid.repository import Identity, Repository

NOW = 1_763_285_400_000
STEPS = ("open", "fsync", "replace", "rename", "link", "unlink", "mkdir")
REASON = "everything at once"
MOST = 500
OURS = (".writing", ".old", ".new")
EDITED = ("user/a.md", "user/c.md")  # one that is rewritten, and one that is retired
# Asking git who we are is not what is looked at here.
REPOSITORY = Repository("shop", "/shop", (Identity("path", "path:/shop"),))


def memories_in(home: Path) -> Memories:
    found = find_places(
        Paths(home, home, home),
        "/shop",
        settings.load(home / "none", {"AFORESAID_MEMORY_TEAM_FOLDER": ""}),
        repository=REPOSITORY,
    )
    return Memories(found, lambda: NOW)


def begin(home: Path) -> None:
    """The state before: six memories, one of them retired, two edited by hand since."""
    memories = memories_in(home)
    with memories.change("begin") as change:
        for name, kind in zip(
            "abcdef", ("user", "project", "user", "project", "project", "user"), strict=True
        ):
            change.write(Memory(name, f"Memory {name}", kind, "Body."))
    with memories.change("retire") as change:
        change.retire("f", "old")
    for name in "ab":
        stored = memories.get(name)
        assert stored is not None
        stored.path.write_bytes(stored.path.read_bytes() + b"By hand.\n")


def everything(change: Change) -> None:
    """New, rewritten, moved, retired, restored, erased."""
    change.write(Memory("new", "Memory new", "reference", "Body.\n" * 2000))
    for name, kind in (("a", "user"), ("b", "user")):
        old = change.get(name)
        assert old is not None
        change.write(replace(old.memory, type=kind, body=f"{old.memory.body}\nMore."), old.checksum)
    change.retire("c", "no longer", replaced_by="new")
    change.restore("f")
    gone = change.get("e")
    assert gone is not None
    change.put(gone.path, None)


def state(home: Path) -> dict[str, bytes]:
    """What people and agents see."""
    root = home / "memory"
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*.md"))
        if not path.relative_to(root).parts[0].startswith(".")
    }


def killed_at(number: int, home: Path) -> bool:
    """A process that makes the change and kills itself before that step. False if it came to its end."""
    child = os.fork()
    if child == 0:
        try:
            _count_down(number)
            with memories_in(home).change(REASON) as change:
                everything(change)
            os._exit(0)
        except BaseException as error:
            os.write(2, f"step {number}: {error!r}\n".encode())
            os._exit(1)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL, status
        return True
    assert status == 0, status
    return False


def _count_down(left: int) -> None:
    def step() -> None:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    for owner, name, call in stepping(step):
        setattr(owner, name, call)


def stepping(step: Callable[[], None]) -> list[tuple[Any, str, Callable[..., Any]]]:
    """The calls that reach the system, with `step` before each of them."""

    def counted(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            step()
            return real(*arguments, **named)

        return call

    return [(os, name, counted(getattr(os, name))) for name in STEPS]


def check(home: Path, before: dict[str, bytes], after: dict[str, bytes]) -> bool:
    """Whether it is the state after. Raises AssertionError for any other than the one before."""
    for path, data in state(home).items():
        if not path.endswith("MEMORY.md"):
            assert data in (before.get(path), after.get(path)), f"{path} is torn"
    memories = memories_in(home)
    listing = memories.all()
    assert not listing.broken, listing.broken
    found = state(home)
    done = _without_indexes(found) == _without_indexes(after)
    assert done or _without_indexes(found) == _without_indexes(before), sorted(found)
    if done:
        assert found == after
        assert memories.history.log(1)[0].reason == REASON
    _goes_on(memories, done)
    if done:
        undo_change(memories, memories.history.log(2)[1].id)
        assert {
            k: v for k, v in state(home).items() if not k.endswith(("next.md", "MEMORY.md"))
        } == (_without_indexes(before))
    return done


def check_saved(home: Path, below: str) -> None:
    """Somebody saves a file after the crash, before anybody has finished the change."""
    path = home / "memory" / below
    saved = f"---\ndescription: saved by hand\n---\nOver {below}.\n".encode()
    new = path.with_name("new.tmp")
    new.write_bytes(saved)
    new.replace(path)
    memories = memories_in(home)
    memories.all()
    assert path.read_bytes() == saved
    root = memories.places.root
    left = [path for path in root.glob("[!.]*/**/.*") if path.name.endswith(OURS)]
    assert not left, left
    assert not memories.history.is_open


def _goes_on(memories: Memories, done: bool) -> None:
    """The next change works, the index is right, and the history has everything once."""
    with memories.change("next") as change:
        change.write(Memory("next", "Memory next", "user", "Body."))
    for folder in memories.places.own:
        assert (folder.path / "MEMORY.md").read_text() == render_index(folder.list()), folder.path
    reasons = [entry.reason for entry in memories.history.log(None)]
    expected = ["next", REASON, BY_HAND] if done else ["next", BY_HAND]
    assert reasons == [*expected, "retire", "begin"], reasons
    root = memories.places.root
    left = [path for path in root.glob("[!.]*/**/.*") if path.name.endswith(OURS)]
    assert not left, left
    assert not memories.history.is_open
    with write_lock(root, 1.0):
        pass


def _without_indexes(found: dict[str, bytes]) -> dict[str, bytes]:
    return {path: data for path, data in found.items() if not path.endswith("MEMORY.md")}


def main(folder: Path, every: int) -> None:
    first = folder / "first"
    first.mkdir()
    begin(first)
    before = state(first)
    last = folder / "last"
    shutil.copytree(first, last, symlinks=True)
    assert not killed_at(-1, last)
    after = state(last)
    assert check(last, before, after)
    number, done = 1, []
    while number < MOST:
        home = folder / f"step{number}"
        shutil.copytree(first, home, symlinks=True)
        if not killed_at(number, home):
            break
        for path in EDITED:
            saved = folder / "saved"
            shutil.copytree(home, saved, symlinks=True)
            check_saved(saved, path)
            shutil.rmtree(saved)
        done.append(check(home, before, after))
        shutil.rmtree(home)
        number += every
    # There is one moment at which it happens.
    assert done == sorted(done), done
    assert 0 < sum(done) < len(done), done
    sys.stdout.write(f"{len(done)} steps, {sum(done)} of them after the change was made\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
