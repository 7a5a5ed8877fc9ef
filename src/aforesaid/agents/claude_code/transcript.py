"""Reads a session's transcript as the events that its hooks would have sent.

Reading is incremental: a mark holds, for each file, the last place where nothing was open (no call without a
result) and how many events after it were read; these are read once more and passed over. Sub-agents have
files of their own, which are read in the order of time.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from aforesaid import log
from aforesaid.agents.base import MESSAGE_EVENT, Json, as_object, text_of
from aforesaid.agents.claude_code.conversation import (
    BOOKKEEPING,
    Conversation,
    Occurrence,
    prompt_in,
)
from aforesaid.agents.claude_code.install import AGENT, CONFIG_DIR, HOOK_EVENTS
from aforesaid.agents.jsonl import fingerprint, is_line_start, lines, size_of, time_of
from aforesaid.clock import DAY
from aforesaid.ids import digest
from aforesaid.model.events import Capture, Event, TranscriptEvent, TranscriptFile, Unreadable
from aforesaid.paths import read_regular
from aforesaid.payload.shorten import fit_payload


def find_own_start(path: str, session: str) -> int:
    """Where a session's own lines begin.

    A fork's file starts with the lines of its parent, as if they were its own: same ids of tools, same
    times. But the client writes them all under the id of the fork's first prompt, so two turns of one id
    show that everything before the second is a copy.
    """
    first, begins = "", 0
    for line in lines(path, 0, BOOKKEEPING):
        entry = line.entry or {}
        if entry.get("type") != "user" or "forkedFrom" in entry:
            continue
        prompt_id = text_of(entry, "promptId")
        if not prompt_id and prompt_in(entry) is not None:
            break  # older clients number no prompts, so that copies cannot be found
        written = entry.get("isMeta") or entry.get("isCompactSummary")
        begins_turn = text_of(entry, "turnOrigin") and not written
        if prompt_id and begins_turn and text_of(entry, "sessionId") == session:
            if not first:
                first = prompt_id
            elif prompt_id == first:
                begins = line.start
            else:
                break
    return begins


PREFIX, SUFFIX = "agent-", ".jsonl"
META_BYTES = 1 << 20


@dataclass(slots=True)
class _Subagent:
    """`began`: when its first unread line was written. `next`: the first that was not yielded yet."""

    talk: Conversation
    began: int
    rest: Iterator[Occurrence]
    next: Occurrence | None = None

    def advance(self) -> None:
        self.next = next(self.rest, None)

    def finish(self) -> None:
        if self.next is None:
            self.rest = self.talk.finish()
            self.advance()


class Agents:
    """The session and its sub-agents in the order of time."""

    def __init__(self, folder: Path, main: Conversation, known: dict[str, Any]) -> None:
        self._main = main
        found = sorted((folder / "subagents").rglob(f"{PREFIX}*{SUFFIX}"))
        new = filter(None, (self._open(str(path), known) for path in found))
        # The last is the next to begin.
        self._waiting = sorted(new, key=lambda each: each.began, reverse=True)
        self._working: list[_Subagent] = []

    @property
    def unreadable(self) -> int:
        return sum(each.talk.unreadable for each in self._working)

    def merged(self, over: bool) -> Iterator[tuple[Occurrence, Conversation]]:
        """Everything, with the conversation that it is of. `over`: nothing more will ever be written."""
        at = 0
        for occurrence in self._main.occurrences():
            at = max(at, occurrence.at)
            yield from self._until(at)
            if occurrence.ended_agent:
                # Older clients do not say in the sub-agent's own file that it was done.
                for each in self._working:
                    if each.talk.agent_id == occurrence.ended_agent:
                        each.finish()
                yield from self._until(at)
            yield occurrence, self._main
        yield from self._until(None)
        if over:
            for each in self._working:
                each.finish()
            yield from self._until(None)
            yield from ((occurrence, self._main) for occurrence in self._main.finish())

    def _until(self, at: int | None) -> Iterator[tuple[Occurrence, Conversation]]:
        while True:
            while self._waiting and (at is None or self._waiting[-1].began <= at):
                new = self._waiting.pop()
                talk = new.talk
                talk.agent_type = talk.agent_type or self._main.agent_types.get(talk.agent_id, "")
                new.advance()
                self._working.append(new)
            ready = [(each.next.at, n) for n, each in enumerate(self._working) if each.next]
            first, number = min(ready, default=(0, -1))
            if number < 0 or (at is not None and first > at):
                return
            each = self._working[number]
            assert each.next is not None
            yield each.next, each.talk
            each.advance()

    def _open(self, path: str, known: dict[str, Any]) -> _Subagent | None:
        name = Path(path).name[len(PREFIX) : -len(SUFFIX)]
        place, main = as_object(known.get(name)), self._main
        kind = _read_type(path) or text_of(place, "y")
        talk = Conversation(path, main.session, main.transcript, main.outputs, place, name, kind)
        if talk.offset >= size_of(path):
            return None
        first = next(lines(path, talk.offset, BOOKKEEPING), None)
        began = (time_of(first.entry or {}) if first else None) or 0
        return _Subagent(talk, began, talk.occurrences())


def _read_type(path: str) -> str:
    """As the client noted it beside the file; older clients did not."""
    beside = Path(path.removesuffix(SUFFIX) + ".meta.json")
    with suppress(ValueError, AttributeError):
        return text_of(json.loads(read_regular(beside, META_BYTES) or b""), "agentType")
    return ""


Parse = Callable[[Capture], Event | Unreadable | None]

FORMAT = 3
HEAD_LINES = 200  # within which a session says where it is
NO_TRANSCRIPT = "it is not a transcript"
HOOK_OF = {row.event: row.hook for row in HOOK_EVENTS} | {MESSAGE_EVENT: "save"}

_session_id = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def files(env: Mapping[str, str]) -> Iterator[TranscriptFile]:
    """Every session on this machine, newest first. Sub-agents are read with the session they worked for."""
    found = []
    for path in folder(env).glob("*/*.jsonl"):
        if not path.name.startswith(PREFIX):
            with suppress(OSError):
                status = path.stat()
                found.append((status.st_mtime_ns, str(path), status.st_size))
    for modified, name, size in sorted(found, reverse=True):
        try:
            yield describe(name)
        except FileNotFoundError:
            continue
        except OSError as error:
            why = error.strerror or type(error).__name__
            yield TranscriptFile(AGENT, name, Path(name).stem, "", size, modified // 1_000_000, why)


def folder(env: Mapping[str, str]) -> Path:
    """Where the client keeps them, one folder for each directory it was started in."""
    moved = env.get(CONFIG_DIR)
    return (Path(moved) if moved else Path(env.get("HOME", ""), ".claude")) / "projects"


def describe(path: str) -> TranscriptFile:
    """Raises OSError if it cannot be read."""
    status, stem = Path(path).stat(), Path(path).stem
    session, cwd = stem, ""
    read = passed_over = 0
    for line in islice(lines(path, 0, BOOKKEEPING), HEAD_LINES):
        read, passed_over = read + 1, passed_over + (line.entry is None)
        if cwd := text_of(line.entry or {}, "cwd"):
            # A file under another name, such as a copy, is still of the session that it says.
            named = bool(_session_id.fullmatch(stem))
            session = stem if named else text_of(line.entry or {}, "sessionId") or stem
            break
    fault = NO_TRANSCRIPT if read and passed_over == read else ""
    modified = status.st_mtime_ns // 1_000_000
    return TranscriptFile(AGENT, path, session, cwd, status.st_size, modified, fault)


def read(
    file: TranscriptFile,
    mark: str | None,
    parse: Parse,
    now: int,
    on_passed_over: Callable[[int], None] = lambda _: None,
) -> Iterator[TranscriptEvent]:
    """What happened since the mark, in order; then how many lines could not be read, if any."""
    known = _read_mark(file, mark)
    beside = Path(file.path).with_suffix("")
    outputs = str(beside / "tool-results")
    main = Conversation(file.path, file.session, file.path, outputs, known["m"])
    agents = Agents(beside, main, dict(known["a"]))
    over = now - file.modified > DAY
    for occurrence, talk in agents.merged(over):
        if talk is main:
            known["m"] = occurrence.place
        else:
            # Older clients say only in the middle of the session of what type it is.
            kind = {"y": talk.agent_type} if talk.agent_type else {}
            known["a"][talk.agent_id] = occurrence.place | kind
        if found := _as_capture(file, occurrence, parse):
            yield TranscriptEvent(*found, json.dumps(known, separators=(",", ":")))
    if unreadable := main.unreadable + agents.unreadable:
        log.warning("transcript.unreadable", session=file.session, lines=unreadable)
        on_passed_over(unreadable)


def _read_mark(file: TranscriptFile, mark: str | None) -> Json:
    """Where reading begins: in the session's own file (`m`), and by sub-agent in theirs (`a`)."""
    head = fingerprint(file.path)
    # What is no mark of ours, or of another file, is none: all is read, and the store knows what it has.
    with suppress(ValueError, KeyError, TypeError, AttributeError):
        found = json.loads(mark or "")
        fits = found["v"] == FORMAT and found["f"] == head
        if fits and is_line_start(file.path, int(found["m"]["o"])):
            return {"v": FORMAT, "f": head, "m": found["m"], "a": dict(found["a"])}
    begin = {"o": find_own_start(file.path, file.session)}
    return {"v": FORMAT, "f": head, "m": begin, "a": {}}


def _as_capture(
    file: TranscriptFile, occurrence: Occurrence, parse: Parse
) -> tuple[Capture, Event] | None:
    name = occurrence.payload["hook_event_name"]
    body = fit_payload(json.dumps(occurrence.payload).encode())
    capture = Capture("", AGENT, HOOK_OF[name], file.cwd, body, occurrence.at)
    event = parse(capture)
    if event is None or isinstance(event, Unreadable):
        return None
    same = event.key or occurrence.line or f"{occurrence.at}"
    name = f"transcript-{digest(f'{file.session} {name} {same}', 32)}"
    return Capture(name, capture.agent, capture.hook, file.cwd, body, occurrence.at), event
