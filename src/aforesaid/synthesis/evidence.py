"""The text of a turn, indexed once, and the events that a draft is about.

Events, prompt, last message and undoubted titles of the turn count as evidence; titles of other turns do not.
At most `MOST_CHARACTERS` of a turn are indexed, and half as much of the events before it.
"""

import json
import re
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from aforesaid.english import NUMBER_WORDS
from aforesaid.model.events import (
    Action,
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
from aforesaid.providers.extract.work import Edit, Run, read_steps
from aforesaid.synthesis.claims import (
    IDENTIFIER,
    PATTERNS,
    Claim,
    bounded,
    objects,
    read_claims,
    squeezed,
    stems,
    stream,
)

HEAD, TAIL = 120_000, 40_000


@dataclass(frozen=True, slots=True)
class EventText:
    """One event as text.

    `path`: the file it is about; `did`: what it changed or ran; `output`: what it printed or what was only
    looked at; `around`: the rest of the file that it changed.
    """

    item: TurnEvent
    path: str = ""
    did: str = ""
    output: str = ""
    around: str = ""

    @property
    def whole(self) -> str:
        event = self.item.event
        agent = event.subagent.type if event.subagent else ""
        parts = (self.path, self.did, self.output, self.around, event.tool or "", agent, event.cwd)
        return "\n".join(parts)

    @property
    def done(self) -> set[str]:
        return stems(f"{self.path} {self.did[:STEMMED]}")


def read_event(item: TurnEvent) -> EventText:
    what = item.event.what
    if isinstance(what, SubagentEnded):
        return EventText(item, output=clip(what.last_message))
    if not isinstance(what, ToolUsed):
        return EventText(item)
    found = _read_action(item, what.action)
    output = found.output
    if what.duration_ms is not None:
        output += f"\n{what.duration_ms} {what.duration_ms / 1000}"
    if what.failure is not None:
        output += f"\n{clip(what.failure.error)}\n{what.failure.exit_code}"
        if not isinstance(what.action, CommandRun):  # it was not done
            return replace(found, did="", output=f"{found.did}\n{output}")
    return replace(found, output=output)


def _read_action(item: TurnEvent, action: Action) -> EventText:
    match action:
        case FileChanged(path=path, hunks=hunks):
            lines = "\n".join(line[1:] for hunk in hunks for line in hunk.lines)
            before = "" if action.created else clip(action.before or "")
            whole = f"{clip(action.after or '')}\n{before}"
            return EventText(item, path.replace("\\", "/"), clip(lines) or whole, around=whole)
        case FileRead(path=path, content=content):
            return EventText(item, path.replace("\\", "/"), output=clip(content))
        case CommandRun() as run:
            did = f"{clip(run.command)}\n{run.description or ''}"
            return EventText(item, did=did, output=f"{clip(run.stdout)}\n{clip(run.stderr)}")
        case OtherTool() as other:
            return EventText(
                item, output=f"{_plain(clip(other.input))}\n{_plain(clip(other.output))}"
            )


def _plain(source: str) -> str:
    """JSON text with its escapes undone, so that words and lines are words and lines again."""
    if "\\u" in source:
        with suppress(ValueError, RecursionError):
            source = json.dumps(json.loads(source), ensure_ascii=False)
    return source.replace("\\n", "\n").replace("\\t", "\t").replace('\\"', '"')


def clip(source: str, head: int = HEAD, tail: int = TAIL) -> str:
    return source if len(source) <= head + tail else f"{source[:head]}\n{source[-tail:]}"


MOST_CHARACTERS = 3_000_000
ANY_NUMBER = re.compile(r"[0-9]+(?:[.,_][0-9]+)*")
MAY_WRITE = (ToolKind.OTHER, ToolKind.MCP, ToolKind.MEMORY)
READING = frozenset(("routine", "test", "lint", "type check", "server", "push"))
STEMMED = 40_000  # characters of one event


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
        earlier = read_steps(filter(_command_of, turn.before), turn.root)
        self.runs_before = tuple(step for step in earlier if isinstance(step, Run))
        self.all_runs = (*self.runs, *self.runs_before)
        prompt = turn.prompt or ""
        spoken = [prompt, plain_prompt(prompt), turn.last_message or "", turn.project, turn.root]
        spoken += [draft.title or "" for draft in turn.observed if not draft.doubts]
        here = ["\n".join(map(clip, spoken))[:MOST_CHARACTERS], *(e.whole for e in self.events)]
        before = [event.whole for event in reversed(self.before)]
        self.text = f"{_join(here, MOST_CHARACTERS)}\n{_join(before, MOST_CHARACTERS // 2)}"

    @cached_property
    def commands(self) -> tuple[str, ...]:
        """Every command line of the session that is known here."""
        runs = filter(None, map(_command_of, (*self.turn.events, *self.turn.before)))
        return tuple(dict.fromkeys(run.command[:TAIL] for run in runs))

    @cached_property
    def may_write(self) -> bool:
        """Something in the batch changed a file, or could have: a script, an unknown tool."""
        if self.edits or any(not run.command.kinds <= READING for run in self.runs):
            return True
        actions = (getattr(item.event.what, "action", None) for item in self.turn.events)
        return any(isinstance(each, OtherTool) and each.kind in MAY_WRITE for each in actions)

    @cached_property
    def words(self) -> frozenset[str]:
        found = frozenset(IDENTIFIER.findall(self.text))
        return found | {word.strip("$") for word in found if "$" in word}

    @cached_property
    def lowered(self) -> frozenset[str]:
        return frozenset(word.lower() for word in self.words)

    @cached_property
    def squeezed(self) -> str:
        return squeezed(self.text)

    @cached_property
    def stream(self) -> str:
        return f" {stream(self.text)} "

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
            found |= _number_forms(token)
        return frozenset(found) | self._counts

    @cached_property
    def _counts(self) -> frozenset[str]:
        """What a reader can find by counting: events, commands, edits, lines, tests."""
        patches = [edit.patch for edit in self.edits]
        found = [len(self.events), len(self.runs), len(patches), len({p.path for p in patches})]
        found += [sum(p.plus for p in patches), sum(p.minus for p in patches)]
        for patch in patches:
            found += [patch.plus, patch.minus, patch.plus + patch.minus, len(patch.added)]
        for tally in filter(None, (run.outcome.tally for run in self.all_runs)):
            found += [tally.failed, tally.passed or 0, tally.failed + (tally.passed or 0)]
        return frozenset(map(str, found))

    @cached_property
    def last_line(self) -> int:
        """Of the longest file that was read or changed."""
        found = [0]
        for item in self.turn.events:
            action = getattr(item.event.what, "action", None)
            if isinstance(action, FileRead):
                found.append(max(action.total_lines, action.first_line + action.lines))
            elif isinstance(action, FileChanged):
                found.append((action.after or "")[:MOST_CHARACTERS].count("\n") + 1)
                found += [h.new_start + len(h.lines) for h in action.hunks]
        return max(found)

    def says(self, phrase: str) -> bool:
        """The words of the phrase stand there in a row, whatever stands between them."""
        return f" {stream(phrase)} " in self.stream

    def has_code(self, snippet: str) -> bool:
        return squeezed(snippet) in self.squeezed


@lru_cache(maxsize=1)
def read_sources(turn: Turn) -> Sources:
    return Sources(turn)


def _join(texts: list[str], limit: int) -> str:
    """Each gets its share when there is too much: a name must not go unseen because it came late."""
    share = max(400, limit // max(1, len(texts)))
    long = sum(map(len, texts)) > limit
    return "\n".join(clip(t, share * 3 // 4, share // 4) if long else t for t in texts)


def _command_of(item: TurnEvent) -> CommandRun | None:
    action = getattr(item.event.what, "action", None)
    return action if isinstance(action, CommandRun) else None


def _number_forms(token: str) -> set[str]:
    """Other forms of a number: without separators, rounded, or a part of a version."""
    if len(token) > 40:
        return {token}
    plain = token.replace("_", "").replace(",", "")
    parts = re.split(r"[.,_]", token)
    found = {token, plain, *parts, *(part.lstrip("0") or "0" for part in parts)}
    dotted = plain.split(".")
    found |= {".".join(dotted[:n]) for n in range(1, len(dotted))}
    if len(dotted) == 2 and len(plain) < 18:
        value = float(plain)
        found |= {f"{value:.{places}f}" for places in range(3)} | {f"{value:g}"}
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
    found = [
        event.item
        for event in sources.events
        if _is_file_named(event, names, prose)
        or any(_has_claim(event, claim) for claim in claims)
        or ((run := _command_of(event.item)) and read_command(run.command).kinds & kinds)
        # Plain words count only against what was done: any long text holds a few of them by chance.
        or (event.did and len(about & stems(f"{_last(event.path)} {event.did}"[:STEMMED])) >= 2)
    ]
    return tuple(found) or sources.turn.events


def draft_parts(draft: ObservationDraft) -> list[tuple[str, str]]:
    """The prose of a draft with the name of each part."""
    found = [("title", draft.title), ("subtitle", draft.subtitle), ("narrative", draft.narrative)]
    found += [(f"facts {at}", fact) for at, fact in enumerate(draft.facts)]
    return [(part, text) for part, text in found if text]


def _last(path: str) -> str:
    return re.split(r"[/\\]", path.strip().rstrip("/"))[-1].partition(":")[0]


def _is_file_named(event: EventText, names: set[str], prose: str) -> bool:
    if event.path:
        last = _last(event.path)
        return last in names or bounded(prose, last)
    return any(bounded(event.did, name) for name in names)


def _has_claim(event: EventText, claim: Claim) -> bool:
    own = f"{event.did}\n{event.output}"[:EVIDENCE_CHARACTERS]
    match claim.kind:
        case "command" | "run":
            return all(bounded(event.did, word) for word in claim.text.split())
        case "quote":
            return f" {stream(claim.text)} " in f" {stream(own)} "
        case "symbol":
            return bounded(own, re.split(r"\.|::|#", claim.text)[-1])
        case "code" | "number" | "hash":
            return len(claim.text) > 2 and bounded(own, claim.text)
        case _:
            return False
