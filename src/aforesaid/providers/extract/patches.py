"""What changed in a file: which functions, sections or keys its hunks add, change and remove."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from aforesaid.model.events import FileChanged, Hunk
from aforesaid.providers.extract.commands import read_sections


@dataclass(frozen=True, slots=True)
class Symbol:
    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class Language:
    """A row of languages.txt. `flat`: a symbol lasts until the next one of its level."""

    pattern: re.Pattern[str]
    flat: bool


def _load_languages() -> dict[str, Language]:
    found: dict[str, Language] = {}
    for heading, rows in read_sections(Path(__file__).with_name("languages.txt")).items():
        _, *files = heading.split()
        language = Language(re.compile("\n".join(rows), re.VERBOSE), "flat" in files)
        found |= dict.fromkeys(files, language)
    return found


LANGUAGES = _load_languages()  # by suffix or whole name
OUTER = frozenset(("class", "key", "table", "type"))


def language_of(path: str) -> Language | None:
    name = PurePosixPath(path.replace("\\", "/")).name.lower()
    return LANGUAGES.get(name) or LANGUAGES.get(PurePosixPath(name).suffix)


def definition(line: str, language: Language) -> tuple[Symbol, int] | None:
    """The symbol that begins on this line and its level: how deep it stands."""
    mark = language.pattern.match(line[:400])
    if mark is None:
        return None
    groups = {kind: name for kind, name in mark.groupdict().items() if name}
    level = len(groups.pop("level", "")) or len(line) - len(line.lstrip())
    owner = groups.pop("owner", None)
    groups.pop("quote", None)
    kind, name = next(iter(groups.items()))
    if language.flat and kind == "key":
        level = 1
    name = " ".join(name.split()).strip("\"'`")
    return Symbol(kind.rstrip("23"), f"{owner}.{name}" if owner else name), level


LINES_ABOVE = 400
LINES_READ = 4000
BRACKETS = ("}", ")", "]", "{", "end", "fi", "done", "esac")
ONLY_BRACKETS = re.compile(r"(?:[\[\](){};,\s]|end\b|fi\b|done\b|esac\b)*")
FURTHEST_IN = 10_000

Place = tuple[int, Symbol]


class Walk:
    """A hunk, with the stack of definitions that enclose the current line. `came` and `went`: symbols that
    begin on an added or on a removed line; `touched`: those with any changed line, in order; `known`: those
    that stand on lines which did not change."""

    def __init__(self, language: Language, lines: Sequence[str], hunk: Hunk) -> None:
        self.language = language
        self.came: set[Symbol] = set()
        self.known: set[Symbol] = set()
        self.went: list[Symbol] = []
        self.touched: list[Symbol] = []
        self._stack: list[Place] = []
        at = max(0, hunk.new_start - 1)
        self._look_up(lines[max(0, at - LINES_ABOVE) : at][::-1])
        self._go(hunk)

    def _look_up(self, above: Sequence[str]) -> None:
        """Find what encloses the hunk. Going up, only lines that stand further out can."""
        level, outer = FURTHEST_IN, list[Place]()
        for line in above:
            body = line.strip()
            outwards = self.language.flat or (
                _indent(line) < level and not body.startswith(BRACKETS)
            )
            if not body or not outwards:
                continue
            found = definition(line, self.language)
            if found and found[1] < level:
                outer.append((found[1], found[0]))
            if found or not self.language.flat:
                level = min(level, found[1] if found else _indent(line))
            if level <= 0 or (self.language.flat and found and found[0].kind != "key"):
                break
        for at, symbol in reversed(outer):
            self._stack.append((at, self._qualified(symbol, at)))
        self.known.update(symbol for _, symbol in self._stack)

    def _go(self, hunk: Hunk) -> None:
        gone: Place | None = None
        decorated = False
        for line in hunk.lines[:LINES_READ]:
            mark, body = line[:1], line[1:]
            if ONLY_BRACKETS.fullmatch(body):
                continue
            if mark == "-":
                gone = self._leave(body, gone)
                continue
            gone = None
            symbol = self._enter(body)
            if symbol:
                (self.came if mark == "+" else self.known).add(symbol)
            if mark == "+" or (symbol and decorated):
                self._touch(symbol)
            # A decorator that came belongs to the definition below it.
            decorated = (decorated or mark == "+") and body.lstrip().startswith("@")

    def _leave(self, line: str, gone: Place | None) -> Place | None:
        """A removed line: it ends a symbol, or belongs to one that ended above it, or to the place."""
        if found := definition(line, self.language):
            inside = gone and found[1] > gone[0] and gone[1].kind in OUTER
            if gone and inside:
                symbol = Symbol(found[0].kind, f"{gone[1].name}.{found[0].name}")
            else:
                symbol = self._qualified(*found)
            self.went.append(symbol)
            return gone if inside else (found[1], symbol)
        if gone is None or _indent(line) <= gone[0]:
            self._touch(None)
            return None
        return gone

    def _enter(self, line: str) -> Symbol | None:
        """Follow a line that is in the new file; the symbol that begins on it, if any."""
        found = definition(line, self.language)
        if found is None and (self.language.flat or line.strip().startswith(BRACKETS)):
            return None
        level = found[1] if found else _indent(line)
        while self._stack and self._stack[-1][0] >= level:
            self._stack.pop()
        if found is None:
            return None
        symbol = self._qualified(*found)
        self._stack.append((level, symbol))
        return symbol

    def _qualified(self, symbol: Symbol, level: int) -> Symbol:
        outer = [s for at, s in self._stack if at < level and s.kind in OUTER]
        if not outer or symbol.kind in ("class", "value", "section"):
            return symbol
        return Symbol(symbol.kind, f"{outer[-1].name}.{symbol.name}")

    def _touch(self, symbol: Symbol | None) -> None:
        """The symbol, or the innermost one around the line."""
        if symbol or self._stack:
            self.touched.append(symbol or self._stack[-1][1])


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


CHARACTERS_READ = 300_000


@dataclass(frozen=True, slots=True)
class Patch:
    """All changes of one file, in symbols and lines. `undone`: at the end the file was as before."""

    path: str
    created: bool
    added: tuple[Symbol, ...]
    changed: tuple[Symbol, ...]
    removed: tuple[Symbol, ...]
    plus: int
    minus: int
    undone: bool = False


def read_patch(change: FileChanged, path: str) -> Patch:
    """`path` is how the file is called in the observation."""
    language = language_of(change.path)
    content = change.after or ""
    hunks, lines = (
        list(change.hunks),
        content.splitlines() if len(content) <= CHARACTERS_READ else [],
    )
    plus = sum(len(hunk.added) for hunk in hunks)
    minus = sum(len(hunk.removed) for hunk in hunks)
    if change.after is not None and not hunks and (change.created or change.before is None):
        # Written as a whole: all it defines came with it.
        plus = content.count("\n") + (bool(content) and not content.endswith("\n"))
        whole = tuple("+" + line for line in content[:CHARACTERS_READ].splitlines()[:LINES_READ])
        hunks, lines = [Hunk(1, 1, whole)], []
    walks = [Walk(language, lines, hunk) for hunk in hunks] if language else []
    came = {symbol for walk in walks for symbol in walk.came - walk.known}
    went = dict.fromkeys(symbol for walk in walks for symbol in walk.went)
    touched = dict.fromkeys(symbol for walk in walks for symbol in walk.touched)
    return Patch(
        path,
        change.created,
        added=tuple(s for s in touched if s in came and s not in went),
        changed=tuple(s for s in touched if s not in came or s in went),
        removed=tuple(s for s in went if s not in came and s not in touched),
        plus=plus,
        minus=minus,
    )


def merge(changes: Iterable[tuple[FileChanged, Patch]]) -> tuple[Patch, ...]:
    """One patch for each file, however often it was edited, in the order of the first edits."""
    by_path: dict[str, list[tuple[FileChanged, Patch]]] = {}
    for change, patch in changes:
        by_path.setdefault(patch.path, []).append((change, patch))
    return tuple(map(_merge_file, by_path.values()))


def _merge_file(pairs: list[tuple[FileChanged, Patch]]) -> Patch:
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
        )
    return replace(total, undone=_undone([change for change, _ in pairs]))


def _without(symbols: Iterable[Symbol], *others: Iterable[Symbol]) -> tuple[Symbol, ...]:
    left_out = {symbol for other in others for symbol in other}
    return tuple(dict.fromkeys(symbol for symbol in symbols if symbol not in left_out))


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
