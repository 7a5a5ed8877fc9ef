"""The events of a turn as a model reads them: in order, with time, and short.

Edits are diffs, reads are a path and an outline, long outputs keep their head and tail; what was done twice
is told once. What does not fit into the budget is cut evenly, and every cut is marked.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import assert_never

from recollect.clock import local
from recollect.model.events import (
    CommandRun,
    Failure,
    FileChanged,
    FileRead,
    OtherTool,
    SubagentEnded,
    ToolUsed,
)
from recollect.model.turns import Turn, TurnEvent
from recollect.providers.reading.answers import ASKING, read_answers
from recollect.providers.reading.symbols import definition, language_of
from recollect.synthesis.excerpts import cut_mark, excerpt, first_lines, nested, shortened
from recollect.text import one_line, tokens

SHRINKING = (1.0, 0.6, 0.35, 0.2, 0.1)  # the room for each event, until all of them fit
OUTLINED_LINES, OUTLINED_WIDTH = 2_000, 160
LONGEST_PATH = 300
NO_LINE_ENDS = str.maketrans("\r\n", "  ")  # a file's name must not look like another event


@dataclass(frozen=True, slots=True)
class Room:
    """Characters that an event may take, by what it is."""

    diff: int
    outline: int
    command: int
    output: int
    words: int

    @classmethod
    def scaled(cls, by: float) -> "Room":
        sizes = (2_400, 480, 800, 1_400, 1_200)
        return cls(*(max(60, int(size * by)) for size in sizes))


def told(turn: Turn, budget: int) -> str:
    """All events within `budget` tokens; if need be, those in the middle are only counted."""
    events = list(_once_each(turn.events))
    for scale in SHRINKING:
        room = Room.scaled(scale)
        blocks = [_block(number, each, turn.root, room) for number, each in enumerate(events, 1)]
        if sum(map(_cost, blocks)) <= budget:
            return "\n".join(blocks)
    return "\n".join(_ends(blocks, budget))


def _cost(block: str) -> int:
    return tokens(f"{block}\n")


@dataclass(frozen=True, slots=True)
class _Told:
    """An event, and how often just that was done. `names`: the outline of what it read."""

    event: TurnEvent
    times: int
    names: tuple[str, ...]


def _once_each(events: Iterable[TurnEvent]) -> Iterator[_Told]:
    """The same read or the same command with the same outcome is one thing, told where it was first. A
    command that is run again after a change is another: it says whether the change works."""
    counts: dict[object, int] = {}
    first: dict[object, TurnEvent] = {}
    changes = 0
    for each in events:
        what = each.event.what
        same: object = each.id
        if isinstance(what, ToolUsed):
            if isinstance(what.action, FileChanged):
                changes += 1
            else:
                since = changes if isinstance(what.action, CommandRun) else 0
                same = (what.name, what.action, what.failure, since)
        counts[same] = counts.get(same, 0) + 1
        first.setdefault(same, each)
    return (_Told(each, counts[same], _names(each)) for same, each in first.items())


def _names(each: TurnEvent) -> tuple[str, ...]:
    match each.event.what:
        case ToolUsed(action=FileRead() as read):
            return tuple(_outline(read))
        case _:
            return ()


def _block(number: int, told_: _Told, root: str, room: Room) -> str:
    each = told_.event
    agent = f" ({one_line(each.event.subagent.type, 40)})" if each.event.subagent else ""
    head = f"[{number}] {local(each.at):%H:%M:%S}{agent} "
    match each.event.what:
        case ToolUsed() as tool:
            return head + nested(_tool(tool, root, room, told_))
        case SubagentEnded(last_message=message):
            return head + nested(f"Sub-agent reported:\n{excerpt(message, room.words)}")
        case _:
            return head.rstrip()


def _tool(tool: ToolUsed, root: str, room: Room, told_: _Told) -> str:
    times = f" [{told_.times} times]" if told_.times > 1 else ""
    outcome = _outcome(tool.failure, room)
    match tool.action:
        case FileChanged() as change:
            verb = "Created" if change.created else "Edited"
            lines = "" if tool.failure else _diff(change, room)
            diff = f"\n{lines}" if lines else ""
            return f"{verb} {shown(change.path, root)}{diff}{outcome}"
        case FileRead() as read:
            return f"Read {_read(read, root, room, told_.names)}{times}{outcome}"
        case CommandRun() as run:
            output = "\n".join(part for part in (run.stdout, run.stderr) if part.strip())
            said = f"\n{excerpt(output, room.output)}" if output else ""
            ended = outcome or ("" if run.background else " → exit code 0")
            started = " (in the background)" if run.background else ""
            return f"Ran{times}{started}: {excerpt(run.command, room.command)}{ended}{said}"
        case OtherTool() as other:
            if asked := _asked(tool.name, other):
                return f"Asked the user{times}:\n{excerpt(asked, room.output)}{outcome}"
            given, got = excerpt(other.input, room.command), excerpt(other.output, room.output)
            result = f"\n{got}" if got else ""
            return f"{one_line(tool.name, 60)}{times}: {given}{outcome}{result}"
        case _:
            assert_never(tool.action)


def _asked(name: str, other: OtherTool) -> str:
    """Questions with the user's answers; empty if it is another tool, or there are none."""
    answers = read_answers(other) if name == ASKING else ()
    return "\n".join(
        f"“{each.question}”"
        + (f" (offered: {'; '.join(each.offered)})" if each.offered else "")
        + f" → the user answered “{each.answer}”"
        for each in answers
    )


def _outcome(failure: Failure | None, room: Room) -> str:
    if failure is None:
        return ""
    if failure.interrupted:
        return " → interrupted by the user"
    code = f" with exit code {failure.exit_code}" if failure.exit_code is not None else ""
    return f" → FAILED{code}\n{excerpt(failure.error, room.output)}"


def _diff(change: FileChanged, room: Room) -> str:
    if change.hunks:
        hunks = ([f"@@ line {hunk.new_start}", *_changed(hunk.lines)] for hunk in change.hunks)
        lines = list(chain.from_iterable(hunks))
    else:
        lines = [f"+{line}" for line in (change.after or "").splitlines()]
    return "\n".join(first_lines(lines, room.diff, "lines"))


def _changed(lines: Iterable[str]) -> Iterator[str]:
    """Changed lines only: a model knows where they are from the line number."""
    return (line for line in lines if line[:1] in "+-")


def _read(read: FileRead, root: str, room: Room, names: tuple[str, ...]) -> str:
    last = read.first_line + max(read.lines, 1) - 1
    part = (
        f"lines {read.first_line}-{last} of {read.total_lines}"
        if read.lines < read.total_lines
        else f"{read.total_lines} lines"
    )
    outline = excerpt(", ".join(names), room.outline).replace("\n", " ") if names else ""
    if not outline:
        outline = one_line(read.content, min(200, room.outline))
    return f"{shown(read.path, root)} ({part}): {outline}"


def _outline(read: FileRead) -> list[str]:
    language = language_of(read.path)
    if language is None:
        return []
    lines = read.content.splitlines()[:OUTLINED_LINES]
    found = (definition(line[:OUTLINED_WIDTH], language) for line in lines)
    return list(dict.fromkeys(symbol.name for symbol, _ in filter(None, found)))


def in_one_line(tool: ToolUsed, root: str) -> str:
    """What was done, without what came out of it but for its success."""
    failed = " → FAILED" if tool.failure else ""
    match tool.action:
        case FileChanged(path=path, created=created):
            return f"{'Created' if created else 'Edited'} {shown(path, root)}{failed}"
        case FileRead(path=path):
            return f"Read {shown(path, root)}{failed}"
        case CommandRun(command=command, background=background):
            ended = failed or ("" if background else " → succeeded")
            return f"Ran: {one_line(command, 120)}{ended}"
        case OtherTool(input=given) as other:
            answers = read_answers(other) if tool.name == ASKING else ()
            if answers:
                said = "; ".join(f"{each.question} → {each.answer}" for each in answers)
                return f"Asked the user: {one_line(said, 240)}"
            return f"{one_line(tool.name, 60)}: {one_line(given, 120)}{failed}"
        case _:
            assert_never(tool.action)


def _ends(blocks: list[str], budget: int) -> list[str]:
    """From the beginning and the end by turns, as long as there is room."""
    head: list[str] = []
    tail: list[str] = []
    rest = deque(blocks)
    left = budget - _cost(cut_mark(len(rest), "events"))
    while rest:
        first = len(head) <= len(tail)
        left -= _cost(rest[0] if first else rest[-1])
        if left < 0:
            break
        (head if first else tail).append(rest.popleft() if first else rest.pop())
    return [*head, cut_mark(len(rest), "events"), *reversed(tail)]


def shown(path: str, root: str) -> str:
    """As people name files: seen from the project."""
    inside = path.removeprefix(root.rstrip("/") + "/")
    return shortened(inside.translate(NO_LINE_ENDS), LONGEST_PATH)
