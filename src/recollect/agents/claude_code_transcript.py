"""Claude Code's transcripts, read as the payloads that its hooks would have sent.

The same happening gives the same event, whoever tells of it. What the transcript does not hold is left out:
how long a tool took, the model at a session's start, a session's end. A session's start is told only where a
hook said something then. More than the hooks is told of tools: calls that the client refused, that the user
interrupted, or that it did not live to finish.

A fork's file begins with a copy of its parent's lines. They happened in the parent and are told there.

A file that nobody has written to for a day is over, as its session is: what waits there was interrupted.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from recollect import log
from recollect.agents.claude_code_hooks import HOOK_EVENTS
from recollect.agents.claude_code_transcript_agents import Agents
from recollect.agents.claude_code_transcript_lines import (
    fingerprint,
    is_line_start,
    lines,
    text_of,
)
from recollect.agents.claude_code_transcript_state import State, load
from recollect.agents.claude_code_transcript_turns import Conversation, Happened, own_start
from recollect.clock import DAY
from recollect.ids import digest
from recollect.model.captures import Capture, Unreadable
from recollect.model.events import Event
from recollect.model.transcripts import Told, TranscriptFile
from recollect.payload.fitting import fitted

Parse = Callable[[Capture], Event | Unreadable | None]

FORMAT = 1
HEAD_LINES = 200  # within which a session says where it is
NO_TRANSCRIPT = "it is not a transcript"
HOOK_OF = {row.event: row.hook for row in HOOK_EVENTS}

_session_id = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def files(env: Mapping[str, str]) -> Iterator[TranscriptFile]:
    """Every session on this machine, newest first. Sub-agents are read with the session they worked for."""
    found = []
    for path in folder(env).glob("*/*.jsonl"):
        if not path.name.startswith("agent-"):
            try:
                status = path.stat()
            except OSError:
                continue
            found.append((status.st_mtime_ns, str(path), status.st_size))
    for modified, name, size in sorted(found, reverse=True):
        try:
            yield described(name)
        except FileNotFoundError:
            continue
        except OSError as error:
            why = error.strerror or type(error).__name__
            yield TranscriptFile(name, Path(name).stem, "", size, modified // 1_000_000, why)


def folder(env: Mapping[str, str]) -> Path:
    """Where the client keeps them, one folder for each directory it was started in."""
    moved = env.get("CLAUDE_CONFIG_DIR")
    return (Path(moved) if moved else Path(env.get("HOME", ""), ".claude")) / "projects"


def described(path: str) -> TranscriptFile:
    """Raises OSError if it cannot be read."""
    status, stem = Path(path).stat(), Path(path).stem
    session, cwd = stem, ""
    read = passed_over = 0
    for line in islice(lines(path, 0), HEAD_LINES):
        read, passed_over = read + 1, passed_over + (line.entry is None)
        if cwd := text_of(line.entry or {}, "cwd"):
            # A file under another name, such as a copy, is still of the session that it says.
            named = bool(_session_id.fullmatch(stem))
            session = stem if named else text_of(line.entry or {}, "sessionId") or stem
            break
    fault = NO_TRANSCRIPT if read and passed_over == read else ""
    modified = status.st_mtime_ns // 1_000_000
    return TranscriptFile(path, session, cwd, status.st_size, modified, fault)


def read(
    file: TranscriptFile,
    mark: str | None,
    parse: Parse,
    now: int,
    on_passed_over: Callable[[int], None] = lambda _: None,
) -> Iterator[Told]:
    """What happened since the mark, in order; then how many lines could not be read, if any."""
    place = _Place.of(file, mark)
    beside = Path(file.path).with_suffix("")
    outputs = str(beside / "tool-results")
    main = Conversation(file.path, file.session, file.path, outputs, place.state)
    agents = Agents(beside, main, place.agents)
    over = now - file.modified > DAY
    for happened, agent in agents.merged(over):
        if agent is None:
            place.main = happened.state
        else:
            place.known[agent.id] = agent.dump(happened.state)
        if told := _told(file, happened, parse):
            yield Told(*told, place.mark())
    if unreadable := main.unreadable + agents.unreadable:
        log.warning("transcript.unreadable", session=file.session, lines=unreadable)
        on_passed_over(unreadable)


@dataclass(slots=True)
class _Place:
    """Where the reading is, in all files of one session."""

    head: str
    state: State
    main: object
    agents: dict[str, object] = field(default_factory=dict)
    known: dict[str, object] = field(default_factory=dict)

    @classmethod
    def of(cls, file: TranscriptFile, mark: str | None) -> "_Place":
        head = fingerprint(file.path)
        try:
            found = json.loads(mark or "")
            if found["v"] == FORMAT and found["f"] == head:
                state = load(found["m"], file.path)
                if is_line_start(file.path, state.offset):
                    return cls(head, state, found["m"], dict(found["a"]), dict(found["a"]))
        except (ValueError, KeyError, TypeError, AttributeError):
            pass  # no mark, or not one of ours: everything is told, and the store knows what it has
        begins = own_start(file.path, file.session)
        return cls(head, State(begins), begins)

    def mark(self) -> str:
        values = {"v": FORMAT, "f": self.head, "m": self.main, "a": self.known}
        return json.dumps(values, separators=(",", ":"))


def _told(file: TranscriptFile, happened: Happened, parse: Parse) -> tuple[Capture, Event] | None:
    name = happened.payload["hook_event_name"]
    body = fitted(json.dumps(happened.payload).encode())
    capture = Capture("", "claude-code", HOOK_OF[name], file.cwd, body, happened.at)
    event = parse(capture)
    if event is None or isinstance(event, Unreadable):
        return None
    same = event.key or happened.line or f"{happened.at}"
    name = f"transcript-{digest(f'{file.session} {name} {same}', 32)}"
    return Capture(name, capture.agent, capture.hook, file.cwd, body, happened.at), event
