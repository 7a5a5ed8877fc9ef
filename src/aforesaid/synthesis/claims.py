"""Claims in prose that can be checked: paths, symbols, commands, numbers, quotations.

Nothing is judged here. Each pattern removes its match from the text before the next one runs.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from aforesaid.english import STOP_WORDS, stem
from aforesaid.providers.extract.commands import read_command, read_sections

WORDS = {
    name: frozenset(" ".join(rows).split())
    for name, rows in read_sections(Path(__file__).with_name("claims.txt")).items()
}
KNOWN, KEYWORDS, INTERPRETERS = WORDS["known"], WORDS["keywords"], WORDS["interpreters"]
EXTENSIONS = "|".join(sorted(WORDS["extensions"], key=len, reverse=True))
NAMED_FILES = "|".join(WORDS["named_files"])


def read_patterns(path: Path) -> dict[str, re.Pattern[str]]:
    """An expression for each section; `<name>` in it stands for an earlier section."""
    found: dict[str, str] = {}
    for name, rows in read_sections(path).items():
        source = re.sub(r"<(\w[\w ]*)>", lambda place: f"(?:{found[place[1]]})", "|".join(rows))
        found[name] = source
    return {name: re.compile(source, re.IGNORECASE) for name, source in found.items()}


PATTERNS = read_patterns(Path(__file__).with_name("patterns.txt"))


def is_known_term(name: str) -> bool:
    """A product or a term, in whatever spelling; a plural or a version at its end does not matter."""
    lower = name.lower().strip(".")
    forms = (lower, lower.rstrip("0123456789."), lower.removesuffix("s"))
    return any(form in KNOWN for form in forms)


IDENTIFIER = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
WORD = re.compile(r"\w+")
PIECE = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]+")
ROOT = 6
COMMON = STOP_WORDS | WORDS["common"]
NO_OBJECTS = COMMON | WORDS["deeds"]


def squeezed(source: str) -> str:
    """Without spaces and in one case, so that layout does not matter."""
    return "".join(source.split()).casefold()


def stream(source: str) -> str:
    """The words alone, in order."""
    return " ".join(WORD.findall(source.casefold()))


def stems(source: str, least: int = 3, left_out: frozenset[str] = COMMON) -> set[str]:
    """The beginnings of the words that carry meaning: `configure` and `configuration` are one here, as a
    false doubt is worse than none; `retryCount` and `retry_count` are two words."""
    pieces = (piece.lower() for piece in PIECE.findall(source))
    return {stem(p)[:ROOT] for p in pieces if len(p) >= least and p not in left_out}


def objects(source: str) -> set[str]:
    """The stems of what a sentence is about, without what was done to it."""
    return stems(source, 4, NO_OBJECTS)


def bounded(source: str, name: str) -> bool:
    """Whether the name stands there as a whole, not inside a longer one."""
    if not name or name not in source:
        return False
    front = r"(?<![A-Za-z0-9_])" if NAME_PART.match(name[0]) else ""
    back = r"(?![A-Za-z0-9_])" if NAME_PART.match(name[-1]) else ""
    return re.search(f"{front}{re.escape(name)}{back}", source) is not None


NAME_PART = re.compile("[A-Za-z0-9_]")
CLAIM_CHARACTERS = 20_000
MOST_CLAIMS = 200
Kind = Literal["path", "symbol", "code", "command", "run", "number", "quote", "address", "hash"]

_LEFT = r"(?<![A-Za-z0-9_$@.~/\\-])"
URL = re.compile(r"\b[a-z][a-z0-9+.-]{1,10}://[^\s<>\"'`)\]}]+")
EMPHASIS = re.compile(r"(?<![/\w*])\*\*(?=\S)|(?<=[^\s/])\*\*(?![/\w*])")
TICKS = re.compile(r"(`{1,3})([^`\n]{1,300}?)\1")
QUOTE = re.compile(
    r"(?<![A-Za-z0-9=\[(])\"([^\"\n]{6,400})\"(?![A-Za-z0-9])|“([^”\n]{6,400})”|«([^»\n]{6,400})»"
    r"|(?<![A-Za-z0-9_=\[(])'([^'\n]{6,400})'(?![A-Za-z0-9])"
)
_SEGMENT = r"[A-Za-z0-9_.@+\[\]-]"
PATH = re.compile(
    rf"{_LEFT}(?:[A-Za-z]:)?(?:~|\.\.?)?[/\\]?(?:{_SEGMENT}{{1,100}}[/\\]){{1,30}}{_SEGMENT}{{0,100}}"
    rf"|{_LEFT}(?:~|\.\.?)?/[A-Za-z0-9_.@+-]{{1,100}}"
    rf"|{_LEFT}[A-Za-z0-9_@+-]{{1,100}}(?:\.[A-Za-z0-9_+-]{{1,60}}){{0,4}}\.(?:{EXTENSIONS})"
    r"(?![A-Za-z0-9_(-])"
    r"|(?<![A-Za-z0-9_$@.~/\\)\]-])\.[a-z][A-Za-z0-9_-]{2,60}(?:\.[A-Za-z0-9_-]{1,60}){0,4}"
    rf"|\b(?:{NAMED_FILES})\b"
)
HASH = re.compile(
    r"(?<![A-Za-z0-9_-])(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}(?![A-Za-z0-9_-])"
)
FLAG_OR_CALL = re.compile(
    rf"(?<![A-Za-z0-9_-])--[a-z][A-Za-z0-9-]+|{_LEFT}[A-Za-z_$][A-Za-z0-9_$.]{{0,200}}(?=\(\))"
)
NAME = re.compile(rf"{_LEFT}[A-Za-z_$][A-Za-z0-9_$]*(?:(?:\.|::|#)[A-Za-z_$][A-Za-z0-9_$]*)*")
SHAPED = re.compile(
    r"[A-Za-z0-9$]+_[A-Za-z0-9_$]+|_+[a-z][A-Za-z0-9_]+|[a-z][a-z0-9]*[A-Z][A-Za-z0-9]*"
    r"|[A-Z]+[a-z0-9]+[A-Z][A-Za-z0-9]*|[A-Z]{3,}[a-z]{3,}[A-Za-z0-9]*"
)
ABBREVIATION = re.compile(r"[A-Z]{2,}s|[A-Z][a-z]?[A-Z]+")
_RAN = r"\b(?:re-?)?(?:ran|running|executed|executing|invoked)\s+(?:the\s+)?(?:command\s+)?"
RAN, JUST_RAN = re.compile(_RAN, re.IGNORECASE), re.compile(_RAN + r"\Z", re.IGNORECASE)
ENDS = " .,;:!?)]}'\"…"


@dataclass(frozen=True, slots=True)
class Claim:
    """`text` as it was written; `after` the words behind it, which say what a number counts;
    `before` those in front."""

    kind: Kind
    text: str
    after: str = ""
    before: str = ""


NUMBER = re.compile(
    r"(?<![A-Za-z0-9_.$/-])[0-9]{1,30}(?:[.,_][0-9]{1,30}){0,6}(?=(?:%|[A-Za-z]{1,7}\+?|[+x])?(?![A-Za-z0-9_]))"
)


def read_claims(prose: str) -> tuple[Claim, ...]:
    """In no order that means anything, each once."""
    left = EMPHASIS.sub("", prose[:CLAIM_CHARACTERS])
    found: list[Claim] = []

    def take(pattern: re.Pattern[str], read: Callable[[re.Match[str]], Claim | None]) -> str:
        def blank(mark: re.Match[str]) -> str:
            claim = read(mark)
            if claim is None:
                return mark[0]
            found.append(claim)
            return " " * len(mark[0])

        return pattern.sub(blank, left)

    quotes = (next(filter(None, mark.groups())) for mark in QUOTE.finditer(left))
    found += [Claim("quote", quote) for quote in quotes if len(stream(quote).split()) >= 3]
    left = take(URL, lambda mark: Claim("address", mark[0].rstrip(ENDS)))
    left = take(TICKS, _code)
    for mark in RAN.finditer(left):
        if bare := _bare_command(left[mark.end() : mark.end() + 120]):
            found.append(Claim("run", bare))
    left = take(PATH, _path)
    left = take(HASH, lambda mark: Claim("hash", mark[0]))
    left = take(FLAG_OR_CALL, lambda mark: Claim("symbol", mark[0].strip(".")))
    left = take(NAME, _name)
    for mark in NUMBER.finditer(left):
        start, end = mark.span()
        found.append(
            Claim("number", mark[0], left[end : end + 40], left[max(0, start - 30) : start])
        )
    return tuple(dict.fromkeys(found))[:MOST_CLAIMS]


def is_command(code: str) -> bool:
    """Whether code in backticks is a command line and no expression."""
    first, _, rest = code.partition(" ")
    if not rest or code.startswith(("import ", "from ")) or re.search(r"[=({]\s|\);?$| = ", code):
        return False
    if first.startswith("./") or first in INTERPRETERS:
        return True
    return read_command(code).kind not in ("run", "routine", "files", "server")


def _code(mark: re.Match[str]) -> Claim | None:
    code = mark[2].strip()
    if not code:
        return None
    was_run = JUST_RAN.search(mark.string[max(0, mark.start() - 40) : mark.start()])
    if is_command(code) or was_run:
        return Claim("run" if was_run else "command", code)
    whole = PATH.fullmatch(code.rstrip("/"))
    if whole and _path(whole):
        return Claim("path", code)
    return Claim("code", code)


def _bare_command(rest: str) -> str | None:
    words = re.split(
        r"[,;:()]|\.(?:\s|$)|\s(?:and|to|with|which|in|on|for|again|after|before|from|but)\b", rest
    )
    line = " ".join(words[0].split()[:4])
    first = line.partition(" ")[0]
    known = first in INTERPRETERS or (
        line and read_command(line).kind not in ("run", "routine", "files")
    )
    return line if known and first not in ("test", "tests", "make sure", "find") else None


def _path(mark: re.Match[str]) -> Claim | None:
    """Not `and/or`, not `Node.js`, no pattern with a star next to it."""
    name = mark[0].rstrip(".")
    around = mark.string[max(0, mark.start() - 1) : mark.start()], mark.string[mark.end() :][:1]
    if is_known_term(name) or set("*{<") & set(around) or not re.search("[A-Za-z]{2}", name):
        return None
    *folders, _ = re.split(r"[/\\]", name)
    if folders and not re.match(r"[~.]{0,2}[/\\]", name):
        suffixed = re.search(rf"\.(?:{EXTENSIONS})$", name) or name.endswith("/")
        if not suffixed and not set(folders) & WORDS["folders"]:
            return None
    return Claim("path", name)


def _name(mark: re.Match[str]) -> Claim | None:
    """In the form of code: dotted, `snake_case` or `camelCase`, and not an abbreviation."""
    name = mark[0]
    parts = re.split(r"\.|::|#", name)
    if len(parts) > 1:
        is_code = any(len(part) > 2 for part in parts)
    else:
        is_code = bool(SHAPED.fullmatch(name)) and not ABBREVIATION.fullmatch(name)
    return Claim("symbol", name) if is_code and not is_known_term(name) else None
