"""Claims in prose that can be checked, and the text of a turn that they are checked against, indexed once.

Events, prompt, last message and undoubted titles of the turn count as evidence; titles of other turns do not.
At most `MOST_CHARACTERS` of a turn are indexed, and half as much of the events before it.
"""

import json
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Literal

from aforesaid.english import NUMBER_WORDS, STOP_WORDS, stem
from aforesaid.model.events import (
    CommandRun,
    FileChanged,
    FileRead,
    OtherTool,
    SubagentEnded,
    ToolKind,
    ToolUsed,
)
from aforesaid.model.observations import ObservationDraft, Turn, TurnEvent
from aforesaid.providers.extract.commands import CHECKS, read_command
from aforesaid.providers.extract.passages import plain_prompt
from aforesaid.providers.extract.patches import read_patches
from aforesaid.providers.extract.work import Edit, Run, read_steps
from aforesaid.text import load_sections

WORDS = {
    name: frozenset(" ".join(rows).split())
    for name, rows in load_sections(Path(__file__).with_name("claims.txt")).items()
}
EXTENSIONS = "|".join(sorted(WORDS["extensions"], key=len, reverse=True))


def read_patterns(path: Path) -> dict[str, re.Pattern[str]]:
    """An expression for each section; `<name>` in it stands for an earlier section."""
    found = {"extensions": EXTENSIONS, "named files": "|".join(WORDS["named_files"])}
    for name, rows in load_sections(path).items():
        source = re.sub(r"<(\w[\w ]*)>", lambda place: f"(?:{found[place[1]]})", "|".join(rows))
        found[name] = source
    return {
        name: re.compile(source, 0 if name.startswith("claim") else re.IGNORECASE)
        for name, source in found.items()
    }


PATTERNS = read_patterns(Path(__file__).with_name("patterns.txt"))
IDENTIFIER = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
WORD = re.compile(r"\w+")
PIECE = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]+")
NAME_PART = re.compile("[A-Za-z0-9_]")
SEPARATORS = re.compile(r"\.|::|#")
ROOT = 6
COMMON = STOP_WORDS | WORDS["common"]
NO_OBJECTS = COMMON | WORDS["deeds"]


def is_known_term(name: str) -> bool:
    """A product or a term, in whatever spelling; a plural or a version at its end does not matter."""
    lower = name.lower().strip(".")
    forms = (lower, lower.rstrip("0123456789."), lower.removesuffix("s"))
    return any(form in WORDS["known"] for form in forms)


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


CLAIM_CHARACTERS = 20_000
MOST_CLAIMS = 200
ENDS = " .,;:!?)]}'\"…"
Kind = Literal["path", "symbol", "code", "command", "run", "number", "quote", "address", "hash"]


@dataclass(frozen=True, slots=True)
class Claim:
    """`text` as it was written; `after` the words behind it, which say what a number counts;
    `before` those in front."""

    kind: Kind
    text: str
    after: str = ""
    before: str = ""


def read_claims(prose: str) -> tuple[Claim, ...]:
    """In no order that means anything, each once. What is one claim is not looked at for another."""
    left = PATTERNS["claim emphasis"].sub("", prose[:CLAIM_CHARACTERS])
    found: list[Claim] = []
    for name, read in READERS.items():
        taken = []
        for mark in PATTERNS[name].finditer(left):
            if claim := read(mark):
                found.append(claim)
                taken.append(mark.span())
        for start, end in taken if name not in ("ran", "claim quote") else ():
            left = f"{left[:start]}{' ' * (end - start)}{left[end:]}"
    return tuple(dict.fromkeys(found))[:MOST_CLAIMS]


def _quote(mark: re.Match[str]) -> Claim | None:
    quoted = next(filter(None, mark.groups()))
    return Claim("quote", quoted) if len(stream(quoted).split()) >= 3 else None


def _code(mark: re.Match[str]) -> Claim | None:
    code = mark[2].strip()
    if not code:
        return None
    was_run = PATTERNS["just ran"].search(mark.string[max(0, mark.start() - 40) : mark.start()])
    if is_command(code) or was_run:
        return Claim("run" if was_run else "command", code)
    whole = PATTERNS["claim path"].fullmatch(code.rstrip("/"))
    return Claim("path" if whole and _path(whole) else "code", code)


def is_command(code: str) -> bool:
    """Whether code in backticks is a command line and no expression."""
    first, _, rest = code.partition(" ")
    if not rest or code.startswith(("import ", "from ")) or re.search(r"[=({]\s|\);?$| = ", code):
        return False
    if first.startswith("./") or first in WORDS["interpreters"]:
        return True
    return read_command(code).kind not in ("run", "routine", "files", "server")


def _run(mark: re.Match[str]) -> Claim | None:
    """A command without backticks, behind `ran`."""
    rest = mark.string[mark.end() : mark.end() + 120]
    line = " ".join(PATTERNS["command end"].split(rest)[0].split()[:4])
    first = line.partition(" ")[0]
    known = first in WORDS["interpreters"] or (
        line and read_command(line).kind not in ("run", "routine", "files")
    )
    plain = first in ("test", "tests", "make sure", "find")
    return Claim("run", line) if known and not plain else None


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
    parts = SEPARATORS.split(name)
    is_code = any(len(part) > 2 for part in parts)
    if len(parts) == 1:
        is_code = PATTERNS["claim shaped"].fullmatch(name) is not None
        is_code &= not PATTERNS["claim abbreviation"].fullmatch(name)
    return Claim("symbol", name) if is_code and not is_known_term(name) else None


def _number(mark: re.Match[str]) -> Claim:
    start, end = mark.span()
    around = mark.string[end : end + 40], mark.string[max(0, start - 30) : start]
    return Claim("number", mark[0], *around)


READERS = {
    "claim quote": _quote,
    "claim url": lambda mark: Claim("address", mark[0].rstrip(ENDS)),
    "claim ticks": _code,
    "ran": _run,
    "claim path": _path,
    "claim hash": lambda mark: Claim("hash", mark[0][:7]),
    "claim flag": lambda mark: Claim("symbol", mark[0].strip(".")),
    "claim name": _name,
    "claim number": _number,
}


# The text of a turn.

HEAD, TAIL = 120_000, 40_000
STEMMED = 40_000  # characters of one event
MOST_CHARACTERS = 3_000_000
ANY_NUMBER = re.compile(r"[0-9]+(?:[.,_][0-9]+)*")
MAY_WRITE = (ToolKind.OTHER, ToolKind.MCP, ToolKind.MEMORY)
READING = frozenset(("routine", "test", "lint", "type check", "server", "push"))


@dataclass(frozen=True, slots=True)
class EventText:
    """`path`: the file it is about; `did`: what it changed or ran; `output`: what it printed, what was only
    looked at, and the rest of a file that it changed."""

    item: TurnEvent
    path: str = ""
    did: str = ""
    output: str = ""

    @property
    def whole(self) -> str:
        event = self.item.event
        agent = event.subagent.type if event.subagent else ""
        return "\n".join((self.path, self.did, self.output, event.tool or "", agent, event.cwd))

    @property
    def done(self) -> set[str]:
        return stems(f"{self.path} {self.did[:STEMMED]}")


def read_event(item: TurnEvent) -> EventText:
    what = item.event.what
    if isinstance(what, SubagentEnded):
        return EventText(item, output=clip(what.last_message))
    if not isinstance(what, ToolUsed):
        return EventText(item)
    path = did = output = ""
    match what.action:
        case FileChanged() as change:
            path = change.path.replace("\\", "/")
            output = f"{clip(change.after or '')}\n{clip(change.before or '')}"
            lines = "\n".join(line[1:] for hunk in change.hunks for line in hunk.lines)
            did = clip(lines) or clip(change.after or "")
        case FileRead() as read:
            path, output = read.path.replace("\\", "/"), clip(read.content)
        case CommandRun() as run:
            did = f"{clip(run.command)}\n{run.description or ''}"
            output = f"{clip(run.stdout)}\n{clip(run.stderr)}"
        case OtherTool() as other:
            output = f"{_plain(clip(other.input))}\n{_plain(clip(other.output))}"
    if what.duration_ms is not None:
        output += f"\n{what.duration_ms} {what.duration_ms / 1000}"
    if what.failure is not None:
        output += f"\n{clip(what.failure.error)}\n{what.failure.exit_code}"
        if not isinstance(what.action, CommandRun):  # it was not done
            did, output = "", f"{did}\n{output}"
    return EventText(item, path, did, output)


def _plain(source: str) -> str:
    """JSON text with its escapes undone, so that words and lines are words and lines again."""
    if "\\u" in source:
        with suppress(ValueError, RecursionError):
            source = json.dumps(json.loads(source), ensure_ascii=False)
    return source.replace("\\n", "\n").replace("\\t", "\t").replace('\\"', '"')


def clip(source: str, head: int = HEAD, tail: int = TAIL) -> str:
    return source if len(source) <= head + tail else f"{source[:head]}\n{source[-tail:]}"


class Sources:
    """`events`: the batch's own; `runs`, `edits`: what they come to; `runs_before`: those of earlier turns.
    `text`: all of it, in one string."""

    def __init__(self, turn: Turn) -> None:
        self.turn = turn
        self.events = tuple(map(read_event, turn.events))
        self.before = tuple(map(read_event, turn.before))
        steps = read_steps(turn.events, turn.root)
        self.runs = tuple(step for step in steps if isinstance(step, Run))
        self.edits = tuple(step for step in steps if isinstance(step, Edit))
        earlier = read_steps(turn.before, turn.root)
        self.runs_before = tuple(step for step in earlier if isinstance(step, Run))
        self.all_runs = (*self.runs, *self.runs_before)
        prompt = turn.prompt or ""
        spoken = [prompt, plain_prompt(prompt), turn.last_message or "", turn.project, turn.root]
        spoken += [draft.title or "" for draft in turn.observed if not draft.doubts]
        here = ["\n".join(map(clip, spoken))[:MOST_CHARACTERS], *(e.whole for e in self.events)]
        before = [event.whole for event in reversed(self.before)]
        self.text = f"{_join(here, MOST_CHARACTERS)}\n{_join(before, MOST_CHARACTERS // 2)}"
        words = frozenset(IDENTIFIER.findall(self.text))
        self.words = words | {word.strip("$") for word in words if "$" in word}
        self.lowered = frozenset(word.lower() for word in self.words)
        self.squeezed = squeezed(self.text)
        self._stream = f" {stream(self.text)} "
        runs = filter(None, (_command_of(item) for item in (*turn.events, *turn.before)))
        self.commands = tuple(dict.fromkeys(run.command[:TAIL] for run in runs))

    @cached_property
    def may_write(self) -> bool:
        """Something in the batch changed a file, or could have: a script, an unknown tool."""
        if self.edits or any(not run.command.kinds <= READING for run in self.runs):
            return True
        actions = (getattr(item.event.what, "action", None) for item in self.turn.events)
        return any(isinstance(each, OtherTool) and each.kind in MAY_WRITE for each in actions)

    @cached_property
    def stems(self) -> frozenset[str]:
        return frozenset(stem for word in self.words for stem in stems(word))

    @cached_property
    def done(self) -> frozenset[str]:
        """The stems of all that was changed and run in the batch."""
        return frozenset[str]().union(*(event.done for event in self.events))

    @cached_property
    def done_before(self) -> frozenset[str]:
        """The same of the files changed before it."""
        changes = (e.done for e in self.before if e.did and not _command_of(e.item))
        return frozenset[str]().union(*changes)

    @cached_property
    def numbers(self) -> frozenset[str]:
        found = {NUMBER_WORDS[word] for word in self.lowered & NUMBER_WORDS.keys()}
        for token in set(ANY_NUMBER.findall(self.text)):
            found |= _text_numbers(token)
        # What a reader can find by counting: events, commands, edits, lines, tests.
        patches = read_patches((edit.path, edit.change) for edit in self.edits)
        counts = [len(self.events), len(self.runs), len(self.edits), len(patches)]
        for patch in patches:
            counts += [patch.plus, patch.minus, patch.plus + patch.minus, len(patch.added)]
        for tally in filter(None, (run.outcome.tally for run in self.all_runs)):
            counts += [tally.failed, tally.passed or 0, tally.failed + (tally.passed or 0)]
        return frozenset(found) | set(map(str, counts))

    def says(self, phrase: str) -> bool:
        """The words of the phrase stand there in a row, whatever stands between them."""
        return f" {stream(phrase)} " in self._stream

    def has_code(self, snippet: str) -> bool:
        return squeezed(snippet) in self.squeezed

    def has_name(self, name: str) -> bool:
        """A plural is its singular; case matters only where code says so."""
        forms = {name, name.removesuffix("s"), name.removesuffix("es")}
        return is_known_term(name) or any(form.lower() in self.lowered for form in forms)


# The checks of a reply ask for the same turn one after another, so the last one is kept.
read_sources = lru_cache(maxsize=1)(Sources)


def _join(texts: list[str], limit: int) -> str:
    """Each gets its share when there is too much: a name must not go unseen because it came late."""
    share = max(400, limit // max(1, len(texts)))
    long = sum(map(len, texts)) > limit
    return "\n".join(clip(t, share * 3 // 4, share // 4) if long else t for t in texts)


def _command_of(item: TurnEvent) -> CommandRun | None:
    action = getattr(item.event.what, "action", None)
    return action if isinstance(action, CommandRun) else None


def _text_numbers(token: str) -> set[str]:
    """A number as it may be repeated: without separators, rounded, or a part of a version."""
    if len(token) > 40:
        return {token}
    plain = token.replace("_", "").replace(",", "")
    dotted = plain.split(".")
    parts = re.split(r"[.,_]", token)
    found = {token, plain, *parts, *(part.lstrip("0") or "0" for part in parts)}
    found |= {".".join(dotted[:n]) for n in range(1, len(dotted))}
    if len(dotted) == 2 and len(plain) < 18:
        value = float(plain)
        found |= {f"{value:g}", *(f"{value:.{places}f}" for places in range(3))}
    return found


# The events that a draft is about.

EVIDENCE_CHARACTERS = 40_000
CHECKED = {kind: re.compile(rf"\b(?:{PATTERNS[kind].pattern})\b", re.I) for kind in sorted(CHECKS)}


def find_evidence(draft: ObservationDraft, sources: Sources) -> tuple[TurnEvent, ...]:
    """In order. All events of the batch when none of them is named."""
    prose = "\n".join(text for _, text in draft_parts(draft))
    claims = read_claims(prose)
    paths = (claim.text for claim in claims if claim.kind == "path")
    names = {_last(path) for path in (*draft.files_read, *draft.files_modified, *paths)} - {""}
    kinds = {kind for kind, pattern in CHECKED.items() if pattern.search(prose)}
    about = objects(prose)

    def is_named(event: EventText) -> bool:
        last = _last(event.path)
        if last in names if last else any(bounded(event.did, name) for name in names):
            return True
        if (last and bounded(prose, last)) or any(_has_claim(event, claim) for claim in claims):
            return True
        if (run := _command_of(event.item)) and read_command(run.command).kinds & kinds:
            return True
        # Plain words count only against what was done: any long text holds a few of them by chance.
        return bool(event.did) and len(about & stems(f"{last} {event.did}"[:STEMMED])) >= 2

    return tuple(event.item for event in sources.events if is_named(event)) or sources.turn.events


def draft_parts(draft: ObservationDraft) -> list[tuple[str, str]]:
    """The prose of a draft with the name of each part."""
    found: Iterable[tuple[str, str | None]] = (
        ("title", draft.title),
        ("subtitle", draft.subtitle),
        ("narrative", draft.narrative),
        *((f"facts {at}", fact) for at, fact in enumerate(draft.facts)),
    )
    return [(part, text) for part, text in found if text]


def _last(path: str) -> str:
    return re.split(r"[/\\]", path.strip().rstrip("/"))[-1].partition(":")[0]


def _has_claim(event: EventText, claim: Claim) -> bool:
    if claim.kind in ("command", "run"):
        return all(bounded(event.did, word) for word in claim.text.split())
    changed = event.did and event.path
    own = (event.did if changed else f"{event.did}\n{event.output}")[:EVIDENCE_CHARACTERS]
    if claim.kind == "quote":
        return f" {stream(claim.text)} " in f" {stream(own)} "
    if claim.kind in ("path", "address") or len(claim.text) < 3:
        return False
    return bounded(own, SEPARATORS.split(claim.text)[-1] if claim.kind == "symbol" else claim.text)
