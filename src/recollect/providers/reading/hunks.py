"""A hunk of a patch, read line by line: which functions, sections or keys its changes fall into."""

import re
from collections.abc import Sequence

from recollect.model.events import Hunk
from recollect.providers.reading.symbols import OUTER, Language, Symbol, definition

LINES_ABOVE = 400
LINES_READ = 4000
BRACKETS = ("}", ")", "]", "{", "end", "fi", "done", "esac")
ONLY_BRACKETS = re.compile(r"(?:[\[\](){};,\s]|end\b|fi\b|done\b|esac\b)*")
FURTHEST_IN = 10_000

Place = tuple[int, Symbol]


class Walk:
    """One way through a hunk, with the stack of definitions that enclose the current line.

    `came` and `went`: symbols that begin on an added or on a removed line. `touched`: symbols with
    any changed line, in order. `known`: symbols that stand on lines which did not change.
    """

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
            if symbol and mark != "+":
                self.known.add(symbol)
            if symbol and decorated:
                self._touch(symbol)
            if mark == "+":
                if symbol:
                    self.came.add(symbol)
                self._touch(symbol or self._around())
            # A decorator that came belongs to the definition below it.
            decorated = (decorated or mark == "+") and body.lstrip().startswith("@")

    def _leave(self, line: str, gone: Place | None) -> Place | None:
        """A removed line: it ends a symbol, or belongs to one that ended above it, or to the place."""
        if found := definition(line, self.language):
            if gone and found[1] > gone[0] and gone[1].kind in OUTER:
                self.went.append(Symbol(found[0].kind, f"{gone[1].name}.{found[0].name}"))
                return gone
            symbol = self._qualified(*found)
            self.went.append(symbol)
            return found[1], symbol
        if gone is None or _indent(line) <= gone[0]:
            self._touch(self._around())
            return None
        return gone

    def _enter(self, line: str) -> Symbol | None:
        """Follow a line that is in the new file; the symbol that begins on it, if any."""
        found = definition(line, self.language)
        if found is None:
            if not self.language.flat and not line.strip().startswith(BRACKETS):
                self._close(_indent(line))
            return None
        self._close(found[1])
        symbol = self._qualified(*found)
        self._stack.append((found[1], symbol))
        return symbol

    def _close(self, level: int) -> None:
        while self._stack and self._stack[-1][0] >= level:
            self._stack.pop()

    def _qualified(self, symbol: Symbol, level: int) -> Symbol:
        outer = [s for at, s in self._stack if at < level and s.kind in OUTER]
        if not outer or symbol.kind in ("class", "value", "section"):
            return symbol
        return Symbol(symbol.kind, f"{outer[-1].name}.{symbol.name}")

    def _around(self) -> Symbol | None:
        return self._stack[-1][1] if self._stack else None

    def _touch(self, symbol: Symbol | None) -> None:
        if symbol is not None:
            self.touched.append(symbol)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def swaps(hunk: Hunk) -> tuple[tuple[str, str], ...]:
    """The places where exactly one line became one other line."""
    found: list[tuple[str, str]] = []
    removed: list[str] = []
    added: list[str] = []
    for line in (*hunk.lines[:LINES_READ], " "):
        if line.startswith("-") and added:
            removed, added = _take(removed, added, found)
        if line.startswith("-"):
            removed.append(line[1:].strip())
        elif line.startswith("+"):
            added.append(line[1:].strip())
        else:
            removed, added = _take(removed, added, found)
    return tuple(found)


def _take(
    removed: list[str], added: list[str], found: list[tuple[str, str]]
) -> tuple[list[str], list[str]]:
    if len(removed) == len(added) == 1 and removed[0] and added[0] and removed != added:
        found.append((removed[0], added[0]))
    return [], []
