"""What an agent saw, as passages of a few lines, each with whose words it is.

A statement is borne out by a passage that has its names and numbers and nearly all of its words close
together. In a long text they stand somewhere anyhow, so the whole of it says nothing.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from recollect.model.events import CommandRun, Event, FileChanged, FileRead, OtherTool, ToolUsed
from recollect.model.origins import (
    UNKNOWN_SOURCE,
    Origin,
    fetches,
    is_ours,
    origin_of,
    source_of,
)
from recollect.model.turns import Turn, TurnEvent
from recollect.providers.reading.steps import AGENTS, relative
from recollect.statements import Statement, sense, statement

MOST = 1_000_000  # characters of all that is looked at
MOST_OF_ONE = 120_000
TOGETHER = 3  # lines of a passage
NEARLY_ALL = 0.7  # of the words
# How the rules count: the numbers are their own.
COUNTED = re.compile(
    r"\b\d+ (?:lines?|tests?|files?|functions?|checks?|errors?|changes?|edits?|times?)\b"
    r"|\b\d+ (?:added|removed|passed|failed|changed)\b|\(\+\d+ ?[-−/]? ?\d*\)",
    re.IGNORECASE,
)
# How the rules begin and end what they say.
PHRASED = frozenset(
    sense(word)
    for word in (
        *(
            "line",
            "became",
            "pass",
            "fail",
            "ran",
            "edit",
            "commit",
            "import",
            "decision",
            "decided",
        ),
        *(
            "agent",
            "user",
            "report",
            "reported",
            "explanation",
            "explained",
            "said",
            "asked",
            "answered",
        ),
        *("stated", "prompt", "closing", "words", "project", "fetched", "read"),
    )
)
CLAUSES = re.compile(r"(?<=[.;!?”])\s+")


def clauses(text: str) -> list[Statement]:
    """What a part of a draft says, one thing after the other."""
    return [meant(clause) for clause in CLAUSES.split(text) if clause.strip()]


def meant(text: str) -> Statement:
    """Without what its writer says of everything."""
    found = statement(COUNTED.sub(" ", text))
    return Statement(
        found.order, found.strong - PHRASED, found.exact - PHRASED, found.denies, found.directed
    )


@dataclass(frozen=True, eq=False)
class Passages:
    """One text. `head`: what it is about, which stands above each of its lines. `own`: the agent has written
    it, so that it may say what the agent has read elsewhere. `now`: of this turn."""

    origin: Origin
    head: str
    body: str
    own: bool = False
    now: bool = True
    _words: dict[str, frozenset[str]] = field(default_factory=dict)

    def bears(self, said: Statement) -> bool:
        wanted = said.strong | said.exact
        if not wanted:
            return False
        above = self._of(self.head) & wanted
        lines = [self._of(line) & wanted for line in self._lines]
        for at in range(max(1, len(lines))):
            near = above.union(*lines[at : at + TOGETHER])
            if said.exact <= near and len(near & said.strong) >= NEARLY_ALL * len(said.strong):
                return True
        return False

    @cached_property
    def _lines(self) -> tuple[str, ...]:
        return tuple(line for line in self.body.splitlines() if line.strip())

    def _of(self, line: str) -> frozenset[str]:
        if line not in self._words:
            self._words[line] = frozenset(statement(line[:4_000]).order)
        return self._words[line]


def seen(turn: Turn) -> Iterator[Passages]:
    """The prompt, then what tools gave back: of this turn, then of those before it, the newest first."""
    if turn.prompt:
        yield Passages(Origin.USER, "", turn.prompt[:MOST_OF_ONE])
    yield Passages(Origin.COMMAND, "\n".join(_deeds(turn)), "", own=True)
    left = MOST
    every = (*turn.events, *turn.before)
    written = frozenset(_written(every))
    fetched = " ".join(_fetching(every))
    by_web = any(_of(turn, item.event) is Origin.WEB for item in every if item.event.subagent)
    for items, now in ((turn.events, True), (tuple(reversed(turn.before)), False)):
        for item in items:
            origin = _of(turn, item.event)
            if origin is None or left <= 0 or not isinstance(item.event.what, ToolUsed):
                continue
            head, body = _text(item.event.what, turn.root)
            action = item.event.what.action
            own = not isinstance(action, FileRead) or action.path in written
            if isinstance(action, FileRead) and (name := action.path.rpartition("/")[2]):
                origin = Origin.WEB if name in fetched else origin
            if item.event.what.name in AGENTS and by_web:
                origin = Origin.WEB
            body = body[: min(left, MOST_OF_ONE)]
            left -= len(body)
            yield Passages(origin, head, body, own, now)


def _deeds(turn: Turn) -> Iterator[str]:
    """What was done, whatever came of it: it is told in one breath."""
    yield turn.project
    for item in turn.events:
        if isinstance(item.event.what, ToolUsed) and _of(turn, item.event) is not Origin.WEB:
            yield _text(item.event.what, turn.root)[0]


def web_sources(turn: Turn) -> tuple[str, ...]:
    """From where the session has heard, as far as can be seen."""
    events = (item.event for item in (*turn.events, *turn.before))
    found = (
        source_of(event) or UNKNOWN_SOURCE for event in events if _of(turn, event) is Origin.WEB
    )
    return tuple(sorted(set(found)))


def told(turn: Turn) -> Iterator[Passages]:
    for text in turn.told:
        yield Passages(Origin.RECALLED, "", text)


def has_web(turn: Turn) -> bool:
    return any(_of(turn, item.event) is Origin.WEB for item in (*turn.events, *turn.before))


def _of(turn: Turn, event: Event) -> Origin | None:
    return None if is_ours(event) else origin_of(event, turn.roots)


def _written(items: Iterable[TurnEvent]) -> Iterator[str]:
    for item in items:
        what = item.event.what
        if isinstance(what, ToolUsed) and isinstance(what.action, FileChanged):
            yield what.action.path


def _fetching(items: Iterable[TurnEvent]) -> Iterator[str]:
    """Command lines that bring something here, perhaps into a file."""
    for item in items:
        match item.event.what:
            case ToolUsed(action=CommandRun(command=command)) if fetches(command):
                yield command


def _text(used: ToolUsed, root: str) -> tuple[str, str]:
    """What it was about, by the name that drafts use too, and what it brought."""
    error = used.failure.error if used.failure else ""
    match used.action:
        case CommandRun() as run:
            head = f"{run.command} {run.description or ''}"
            return head[:4_000], "\n".join((run.stdout, run.stderr, error))
        case FileRead() as read:
            return relative(read.path, root), read.content
        case FileChanged() as change:
            lines = [line[1:] for hunk in change.hunks for line in hunk.lines]
            return relative(change.path, root), "\n".join(lines) or change.after or ""
        case OtherTool() as other:
            return "", f"{other.input}\n{other.output}\n{error}"
