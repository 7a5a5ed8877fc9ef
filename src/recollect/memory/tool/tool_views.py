"""What the memory tool shows: folders with sizes, files with line numbers, the lines around an edit."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from recollect.memory.tool.tool_paths import Refused

LEVELS, SKIPPED = 2, "node_modules"
MOST_ENTRIES = 500
MOST_LINES = 999_999
MOST_SHOWN = 60_000  # characters of one view: the rest is a range away
AROUND = 2  # lines, before and after an edit
UNITS = "BKMG"


def folder(told: str, parts: list[tuple[str, Path]]) -> str:
    """`parts`: a name below `told` (empty: itself) and the folder that stands there."""
    rows: list[tuple[str, int]] = []
    for name, path in parts:
        prefix = f"{told}/{name}" if name else told
        if name:
            rows.append((prefix, _size(path)))
        rows += _below(prefix, path, LEVELS - bool(name))
    total = sum(_size(path) for _, path in parts)
    lines = [
        f"{size_text(size)}\t{path}" for path, size in [(told, total), *sorted(rows)[:MOST_ENTRIES]]
    ]
    if len(rows) > MOST_ENTRIES:
        lines.append(f"… and {len(rows) - MOST_ENTRIES} more. View a directory below.")
    return "\n".join(
        [
            f"Here're the files and directories up to {LEVELS} levels deep in {told}, excluding hidden "
            f"items and {SKIPPED}:",
            *lines,
        ]
    )


def file(told: str, text: str, view_range: object) -> str:
    lines = lines_of(text)
    if len(lines) > MOST_LINES:
        raise Refused(f"File {told} exceeds maximum line limit of {MOST_LINES:,} lines.")
    first, last = _range(view_range, len(lines))
    head = f"Here's the content of {told} with line numbers:"
    shown, size = [head], 0
    for number in range(first, last + 1):
        line = numbered(number, lines[number - 1])
        size += len(line) + 1
        if size > MOST_SHOWN and number > first:
            shown.append(f"… cut before line {number} of {len(lines)}. Go on with `view_range`.")
            break
        shown.append(line[:MOST_SHOWN])
    return "\n".join(shown)


def around(text: str, first: int, last: int) -> str:
    """The lines `first` to `last` and their neighbours, with numbers."""
    lines = lines_of(text)
    wanted = range(max(1, first - AROUND), min(len(lines), last + AROUND) + 1)
    return "\n".join(numbered(number, lines[number - 1]) for number in wanted)[:MOST_SHOWN]


def numbered(number: int, line: str) -> str:
    return f"{number:6}\t{line}"


def lines_of(text: str) -> list[str]:
    """By newlines alone; the one at the end of a file begins no line."""
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def size_text(size: int) -> str:
    unit = 0
    value = float(size)
    while value >= 1024 and unit < len(UNITS) - 1:
        value, unit = value / 1024, unit + 1
    return f"{size}B" if not unit else f"{value:.1f}{UNITS[unit]}"


def _range(wanted: object, lines: int) -> tuple[int, int]:
    if wanted is None:
        return 1, lines
    match wanted:
        case [int() as first, int() as last] if not isinstance(first, bool) and not isinstance(
            last, bool
        ):
            pass
        case _:
            raise Refused(
                "Error: `view_range` must be two whole numbers, such as [1, 10]; -1 is the end."
            )
    last = lines if last == -1 else min(last, lines)
    if not 1 <= first <= max(1, lines) or (last < first and lines):
        raise Refused(
            f"Error: Invalid `view_range` parameter: {[first, last]}. It should be within the range of "
            f"lines of the file: [1, {lines}]."
        )
    return first, last


def _below(told: str, path: Path, levels: int) -> Iterator[tuple[str, int]]:
    if not levels:
        return
    for entry in _entries(path):
        below = f"{told}/{entry.name}"
        if entry.is_dir(follow_symlinks=False) and _holds_files(Path(entry.path)):
            yield below, _size(Path(entry.path))
            yield from _below(below, Path(entry.path), levels - 1)
        elif entry.is_file(follow_symlinks=False):
            yield below, entry.stat(follow_symlinks=False).st_size


def _holds_files(path: Path) -> bool:
    """A folder without any is only what a change left behind."""
    return any(
        _holds_files(Path(entry.path)) if entry.is_dir(follow_symlinks=False) else True
        for entry in _entries(path)
    )


def _size(path: Path) -> int:
    """Of all files in it, at any depth."""
    total = 0
    for entry in _entries(path):
        info = entry.stat(follow_symlinks=False)
        total += _size(Path(entry.path)) if stat.S_ISDIR(info.st_mode) else info.st_size
    return total


def _entries(path: Path) -> list["os.DirEntry[str]"]:
    """Neither hidden ones, nor links, nor what vanished meanwhile."""
    try:
        with os.scandir(path) as found:
            return [
                entry
                for entry in found
                if not entry.name.startswith(".")
                and entry.name != SKIPPED
                and not entry.is_symlink()
            ]
    except OSError:
        return []
