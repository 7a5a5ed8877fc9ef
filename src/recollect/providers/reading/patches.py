"""What changed in a file, in which functions or sections, from the hunks of its patch."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from recollect.model.events import FileChanged, Hunk
from recollect.providers.reading.hunks import LINES_READ, Walk, swaps
from recollect.providers.reading.symbols import Language, Symbol, language_of

CHARACTERS_READ = 300_000
SWAPS_KEPT = 4
REMARK = re.compile(r"\s*(?:[rRuU]?(?:\"\"\"|''')|#(?![\[!])|//|/\*|\*(?:\s|/|$)|--\s|<!--)")
TRAILING_REMARK = re.compile(r"\s+(?:#|//)\s.*$")

Swap = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Patch:
    """All changes of one file: which symbols came, changed and went, and how many lines.

    `swaps`: places where one line became another. `undone`: at the end the file was as before.
    """

    path: str
    created: bool
    added: tuple[Symbol, ...]
    changed: tuple[Symbol, ...]
    removed: tuple[Symbol, ...]
    plus: int
    minus: int
    swaps: tuple[Swap, ...] = ()
    undone: bool = False

    @property
    def renamed(self) -> tuple[tuple[Symbol, Symbol], ...]:
        """Symbols that only changed their name."""
        return tuple(
            (old, new)
            for old in self.removed
            for new in self.added
            if old.kind == new.kind
            and any(_only_name(swap, old.name, new.name) for swap in self.swaps)
        )


def is_remark(swap: Swap) -> bool:
    """Only a comment or a docstring differs: the program does the same as before."""
    return all(map(REMARK.match, swap)) or _code(swap[0]) == _code(swap[1])


def _code(line: str) -> str:
    return TRAILING_REMARK.sub("", line)


def _only_name(swap: Swap, old: str, new: str) -> bool:
    was, now = old.rpartition(".")[2], new.rpartition(".")[2]
    return was in swap[0] and swap[0].replace(was, now) == swap[1]


def read_patch(change: FileChanged, path: str) -> Patch:
    """`path` is how the file is called in the observation."""
    language = language_of(change.path)
    whole = (
        change.after is not None and not change.hunks and (change.created or change.before is None)
    )
    if whole and change.after is not None:
        return _new(change.after, path, change.created, language)
    plus = sum(len(hunk.added) for hunk in change.hunks)
    minus = sum(len(hunk.removed) for hunk in change.hunks)
    found = tuple(swap for hunk in change.hunks for swap in swaps(hunk))
    found = tuple(sorted(found, key=is_remark))[:SWAPS_KEPT]
    empty = Patch(path, change.created, (), (), (), plus, minus, found)
    return _with_symbols(empty, change, language) if language else empty


def _new(content: str, path: str, created: bool, language: Language | None) -> Patch:
    """A file that was written as a whole: all it defines came with it."""
    lines = content.count("\n") + (bool(content) and not content.endswith("\n"))
    if language is None:
        return Patch(path, created, (), (), (), lines, 0)
    marked = tuple("+" + line for line in content[:CHARACTERS_READ].splitlines()[:LINES_READ])
    walk = Walk(language, (), Hunk(1, 1, marked))
    return Patch(path, created, _once(s for s in walk.touched if s in walk.came), (), (), lines, 0)


def _with_symbols(patch: Patch, change: FileChanged, language: Language) -> Patch:
    known = change.after is not None and len(change.after) <= CHARACTERS_READ
    lines = change.after.splitlines() if known and change.after else []
    walks = [Walk(language, lines, hunk) for hunk in change.hunks]
    came = {symbol for walk in walks for symbol in walk.came - walk.known}
    went = dict.fromkeys(symbol for walk in walks for symbol in walk.went)
    touched = dict.fromkeys(symbol for walk in walks for symbol in walk.touched)
    return replace(
        patch,
        added=_once(s for s in touched if s in came and s not in went),
        changed=_once(s for s in touched if s not in came or s in went),
        removed=_once(s for s in went if s not in came and s not in touched),
    )


def merge(changes: Iterable[tuple[FileChanged, Patch]]) -> tuple[Patch, ...]:
    """One patch for each file, however often it was edited, in the order of the first edits."""
    by_path: dict[str, list[tuple[FileChanged, Patch]]] = {}
    for change, patch in changes:
        by_path.setdefault(patch.path, []).append((change, patch))
    return tuple(_together(pairs) for pairs in by_path.values())


def _together(pairs: list[tuple[FileChanged, Patch]]) -> Patch:
    total = pairs[0][1]
    for _, patch in pairs[1:]:
        added = _without(total.added + patch.added, patch.removed)
        total = replace(
            total,
            created=total.created or patch.created,
            added=added,
            changed=_without(total.changed + patch.changed, added, patch.removed),
            removed=_without(total.removed + patch.removed, patch.added, total.added),
            plus=total.plus + patch.plus,
            minus=total.minus + patch.minus,
            swaps=_follow(total.swaps, patch.swaps),
        )
    return replace(total, undone=_undone([change for change, _ in pairs]))


def _once(symbols: Iterable[Symbol]) -> tuple[Symbol, ...]:
    return tuple(dict.fromkeys(symbols))


def _without(symbols: Iterable[Symbol], *others: Iterable[Symbol]) -> tuple[Symbol, ...]:
    left_out = {symbol for other in others for symbol in other}
    return _once(symbol for symbol in symbols if symbol not in left_out)


def _follow(earlier: tuple[Swap, ...], later: tuple[Swap, ...]) -> tuple[Swap, ...]:
    """A line that was changed twice counts from its first to its last form."""
    found = list(earlier)
    for old, new in later:
        at = next((at for at, swap in enumerate(found) if swap[1] == old), None)
        if at is None:
            found.append((old, new))
        else:
            found[at] = (found[at][0], new)
    return tuple(swap for swap in found if swap[0] != swap[1])[:SWAPS_KEPT]


def _undone(changes: list[FileChanged]) -> bool:
    """After several edits the file was again what it had been."""
    if len(changes) < 2 or changes[0].created:
        return False
    first, last = changes[0].before, changes[-1].after
    if first is not None and last is not None:
        return first == last
    added = Counter(line for change in changes for hunk in change.hunks for line in hunk.added)
    removed = Counter(line for change in changes for hunk in change.hunks for line in hunk.removed)
    return bool(added) and added == removed
