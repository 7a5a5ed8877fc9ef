"""What a history keeps: an entry per change, and what its files were before and after."""

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

BY_HAND = "edited by hand"
RETIRED = "retired/"
Contents = Mapping[
    str, bytes | None
]  # by path below the folder of all memories; None: no such file


@dataclass(frozen=True, slots=True)
class Entry:
    """`paths`: below the folder of all memories, sorted."""

    id: str
    at: int
    reason: str
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """To be recorded: what the files became. `key` is the same when it is recorded again after a crash.
    `told` False: it brings a history up to date and is not shown."""

    key: str
    at: int
    reason: str
    after: Contents = field(default_factory=dict)
    told: bool = True


def unified(before: Contents, after: Contents) -> str:
    """The difference as text, as git shows it. What was retired or restored is one file that moved."""
    paths = sorted({path for path in {*before, *after} if before.get(path) != after.get(path)})
    came = {path for path in paths if before.get(path) is None}
    moved = {
        path: new for path in paths if (new := _moved(path)) in came and after.get(path) is None
    }
    return "".join(
        _of_file(path, new, before.get(path), after.get(new))
        for path in paths
        if path not in moved.values()
        for new in (moved.get(path, path),)
    )


def _moved(path: str) -> str:
    """Where it is when it is retired, or restored."""
    there = path.removeprefix(RETIRED)
    return RETIRED + path if there == path else there


def _of_file(old: str, new: str, before: bytes | None, after: bytes | None) -> str:
    names = (
        "/dev/null" if before is None else f"a/{old}",
        "/dev/null" if after is None else f"b/{new}",
    )
    lines = list(difflib.unified_diff(_lines(before), _lines(after), *names))
    if not lines:  # an empty file came or went, or a file moved as it was
        return f"--- {names[0]}\n+++ {names[1]}\n"
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


def _lines(data: bytes | None) -> list[str]:
    """Ended by line feeds alone, as git counts them."""
    return re.findall(r"[^\n]*\n|[^\n]+", (data or b"").decode("utf-8", "replace"))
