"""Dreams that are killed with SIGKILL, each in a process of its own: before its first step on the disk,
before its second, and so on, until one lives to its end.

    python -m tests.support.dream_killer FOLDER [EVERY]

EVERY leaves out steps: 4 takes the first, the fifth and so on.
A step is whatever can leave a trace: a file opened for writing, written, synced, renamed or removed, a folder
made, a time set, a program started. The process that forks has no threads, so nothing is copied half way.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from aforesaid.clock import DAY
from aforesaid.memory.changes import Memories
from aforesaid.memory.dream.run import (
    DreamContext,
    last_dream_at,
    run_dream,
    undo_last_dream,
)
from aforesaid.paths import Paths
from tests.support.dream_set import (
    FIRST,
    NOW,
    PARTS,
    contents,
    reopened,
    reply,
    rows,
    store,
)
from tests.support.stub_model import StubModel

# Enough of each kind; every further memory only makes it slower.
CHOSEN = {
    *("tests-before-commit", "run-tests-first", "tabs-for-indentation", "prefers-tabs", *PARTS),
    *("api-port", "api-port-moved", "vim-user", "sku-format", "css-modules", "oncall-rota"),
}
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
MOST = 1_000


class Steps:
    """Counts them, and kills the process before the one that was chosen."""

    def __init__(self, fatal: int) -> None:
        self.taken, self.fatal = 0, fatal

    def guard(
        self, owner: Any, name: str, counts: Callable[..., bool] = lambda *_, **__: True
    ) -> None:
        real = getattr(owner, name)

        def guarded(*args: Any, **kwargs: Any) -> Any:
            if counts(*args, **kwargs):
                self.taken += 1
                if self.taken == self.fatal:
                    os.kill(os.getpid(), signal.SIGKILL)
            return real(*args, **kwargs)

        setattr(owner, name, guarded)

    def watch(self) -> None:
        for name in ("replace", "rename", "link", "unlink", "fsync", "mkdir", "utime", "write"):
            self.guard(os, name)
        self.guard(os, "open", lambda _, flags, *__, **___: bool(flags & WRITING))
        self.guard(subprocess.Popen, "communicate")  # the program is running
        self.guard(subprocess, "Popen")


def prepared(folder: Path) -> tuple[Paths, Path]:
    home = Paths(folder / "home", folder / "home", folder / "home")
    home.make()
    listed = [memory for memory in rows() if memory.name in CHOSEN]
    listed[-1] = replace(
        listed[-1], body="Decided yesterday, see [[run-tests-first]].", created=FIRST + DAY
    )
    store(home, folder / "shop", tuple(listed))
    return home, folder / "shop"


def around(project: Path) -> DreamContext:
    return DreamContext(root=str(project), ask=StubModel([reply()]).ask)


def killed(memories: Memories, project: Path, fatal: int) -> bool:
    """Whether it was: else it was done before."""
    child = os.fork()
    if not child:
        code = 3
        try:
            Steps(fatal).watch()
            run_dream(memories, around(project))
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0:
        return False
    assert os.WIFSIGNALED(status), f"step {fatal}: {status}"
    assert os.WTERMSIG(status) == signal.SIGKILL
    return True


def main() -> None:
    folder = Path(sys.argv[1])
    every = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    home, project = prepared(folder)
    spare = Paths(folder / "spare", folder / "spare", folder / "spare")

    def fresh() -> Memories:
        shutil.rmtree(spare.data, ignore_errors=True)
        shutil.copytree(home.data, spare.data)
        return reopened(spare, project)

    memories = fresh()
    before = contents(memories)
    run_dream(memories, around(project))
    after = contents(memories)
    for fatal in range(1, MOST, every):
        memories = fresh()
        again = killed(memories, project, fatal)
        found = reopened(spare, project)
        found.all()  # whoever looks first finishes what was left
        state = {tuple(before.items()): "before", tuple(after.items()): "after"}
        was = state.get(tuple(contents(found).items()), "torn")
        counted = last_dream_at(found.places, NOW) is not None
        run_dream(found, around(project))  # nobody is locked out
        resumed = contents(found) == after
        undo_last_dream(found)
        print(  # noqa: T201
            json.dumps(
                {
                    "step": fatal,
                    "killed": again,
                    "state": was,
                    "counted": counted,
                    "resumed": resumed,
                    "undone": contents(found) == before,
                }
            ),
            flush=True,
        )
        if not again:
            return


if __name__ == "__main__":
    main()
