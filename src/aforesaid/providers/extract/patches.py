"""What changed in a file: which functions, sections or keys its hunks add, change and remove."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from aforesaid.model.events import FileChanged
from aforesaid.text import load_sections


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
    for heading, rows in load_sections(Path(__file__).with_name("languages.txt")).items():
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


BRACKETS = ("}", ")", "]", "{", "end", "fi", "done", "esac")
ONLY_BRACKETS = re.compile(r"(?:[\[\](){};,\s]|end\b|fi\b|done\b|esac\b)*")
CHARACTERS_READ = 300_000


def outline(lines: Iterable[str], language: Language | None) -> dict[Symbol, list[str]]:
    """The symbols in order, each with the lines that belong to none of those inside it."""
    found: dict[Symbol, list[str]] = {}
    stack: list[tuple[int, Symbol]] = []
    decorators: list[str] = []
    if language is None:
        return found
    for line in lines:
        body = line.strip()
        if ONLY_BRACKETS.fullmatch(body):
            continue
        begins = definition(line, language)
        if begins or not (language.flat or body.startswith(BRACKETS)):
            level = begins[1] if begins else len(line) - len(line.lstrip())
            while stack and stack[-1][0] >= level:
                stack.pop()
        if begins:
            symbol = _qualified(begins[0], stack)
            stack.append((begins[1], symbol))
            found.setdefault(symbol, []).extend([*decorators, line])
        elif stack and not body.startswith("@"):
            found[stack[-1][1]].append(line)
        decorators = [*decorators, line] if body.startswith("@") and not begins else []
    return found


def _qualified(symbol: Symbol, stack: list[tuple[int, Symbol]]) -> Symbol:
    outer = [above for _, above in stack if above.kind in OUTER]
    if not outer or symbol.kind in ("class", "value", "section"):
        return symbol
    return Symbol(symbol.kind, f"{outer[-1].name}.{symbol.name}")


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


def read_patches(changes: Iterable[tuple[str, FileChanged]]) -> tuple[Patch, ...]:
    """One patch for each file, however often it was edited, in the order of the first edits. With each
    change the name of its file."""
    by_path: dict[str, list[FileChanged]] = {}
    for path, change in changes:
        by_path.setdefault(path, []).append(change)
    return tuple(_read_patch(path, found) for path, found in by_path.items())


def _read_patch(path: str, changes: list[FileChanged]) -> Patch:
    hunks = [hunk for change in changes for hunk in change.hunks]
    plus = [line for hunk in hunks for line in hunk.added]
    minus = [line for hunk in hunks for line in hunk.removed]
    old, new = _lines_before(changes[0]), _lines_after(changes[-1])
    if old is None or new is None:  # only what the hunks show
        old = [line[1:] for hunk in hunks for line in hunk.lines if line[:1] in " -"]
        new = [line[1:] for hunk in hunks for line in hunk.lines if line[:1] in " +"]
        same = bool(plus) and Counter(plus) == Counter(minus)
    else:
        same = old == new
        plus = plus or new
    language = language_of(path)
    before, after = outline(old, language), outline(new, language)
    return Patch(
        path,
        any(change.created for change in changes),
        added=tuple(symbol for symbol in after if symbol not in before),
        changed=tuple(s for s in after if s in before and after[s] != before[s]),
        removed=tuple(symbol for symbol in before if symbol not in after),
        plus=len(plus),
        minus=len(minus),
        undone=same and len(changes) > 1 and not changes[0].created,
    )


def _lines_before(change: FileChanged) -> list[str] | None:
    if change.before is not None:
        return change.before.splitlines() if len(change.before) <= CHARACTERS_READ else None
    return [] if change.created or change.after is not None else None


def _lines_after(change: FileChanged) -> list[str] | None:
    """None if it is not known."""
    if change.after is not None:
        return change.after.splitlines() if len(change.after) <= CHARACTERS_READ else None
    before = _lines_before(change)
    if before is None:
        return None
    found: list[str] = []
    at = 0
    for hunk in change.hunks:
        start = hunk.old_start - 1
        kept = [line[1:] for line in hunk.lines if line[:1] in " -"]
        if start < at or before[start : start + len(kept)] != kept:
            return None
        found += before[at:start] + [line[1:] for line in hunk.lines if line[:1] in " +"]
        at = start + len(kept)
    return found + before[at:]
