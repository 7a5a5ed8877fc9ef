"""Memories that are taken in by a process that is killed at every step in turn, and then taken in again.

python -m tests.support.import_crash FOLDER
"""

import os
import shutil
import signal
import sys
from pathlib import Path

from aforesaid.memory.history import History
from aforesaid.memory.transfer import IMPORT_REASON, MemoryImport
from aforesaid.model.records import MemoryImportResult, MemoryRecord, ProjectRecord
from aforesaid.repository import Identity
from tests.support.memory_crash import MOST, NOW, _count_down, begin, state

SHOP = ProjectRecord("p1", "shop", "/there", 1, (Identity("path", "path:/shop"),))


def text(said: str) -> str:
    return f"---\ndescription: {said}\ntype: project\n---\n\n{said}\n"


RECORDS = (
    MemoryRecord("p1", "b", False, text("another b")),  # there is one
    MemoryRecord("p1", "new", False, text("new")),
    MemoryRecord("p1", "broken", False, "no front matter"),
    MemoryRecord("p1", "old", True, text("old")),
    MemoryRecord("p1", "../out", False, text("out")),
)


def taken(home: Path) -> MemoryImportResult:
    return MemoryImport(home / "memory", lambda: NOW).take(SHOP, RECORDS, undo=False)


def killed_at(number: int, home: Path) -> bool:
    """False if it came to its end."""
    child = os.fork()
    if child == 0:
        _count_down(number)
        taken(home)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL, status
        return True
    assert status == 0, status
    return False


def reasons(home: Path) -> list[str]:
    return [entry.reason for entry in History(home / "memory").log(None)]


def main(folder: Path) -> None:
    first, last = folder / "first", folder / "last"
    first.mkdir()
    begin(first)
    shutil.copytree(first, last, symlinks=True)
    told = taken(last)
    assert (told.new, told.known, told.renamed, told.refused) == (4, 0, ("b-2",), 1), told
    after, once = state(last), reasons(last)
    assert once.count(IMPORT_REASON) == 1, once
    seen = set()
    for number in range(1, MOST):
        home = folder / f"step{number}"
        shutil.copytree(first, home, symlinks=True)
        killed = killed_at(number, home)
        told = taken(home)
        assert (told.new, told.known) in ((4, 0), (0, 4)), (number, told)
        assert state(home) == after, number
        assert reasons(home) == once, (number, reasons(home))
        assert not (home / "memory" / ".change").exists()
        shutil.rmtree(home)
        if not killed:
            break
        seen.add(told.new)
    assert seen == {0, 4}
    sys.stdout.write(f"{number - 1} steps\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
