"""The sub-agents of a session, each with a transcript of its own, told among the session's own happenings.

By time: a sub-agent's file is opened when the session's own story has come to its first line, and only one
happening of each that works at that time is held.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from recollect.agents.claude_code_transcript_lines import (
    Json,
    is_line_start,
    lines,
    size_of,
    text_of,
    time_of,
)
from recollect.agents.claude_code_transcript_state import State, load
from recollect.agents.claude_code_transcript_turns import Conversation, Happened

PREFIX, SUFFIX = "agent-", ".jsonl"


@dataclass(slots=True)
class SubagentFile:
    """`next` is the first happening that was not told yet."""

    id: str
    talk: Conversation
    began: int
    rest: Iterator[Happened] = field(default_factory=lambda: iter(()))
    next: Happened | None = None

    def open(self) -> None:
        self.rest = self.talk.happenings()
        self.advance()

    def advance(self) -> None:
        self.next = next(self.rest, None)

    def finish(self) -> None:
        if self.next is None:
            self.rest = self.talk.finish()
            self.advance()

    def dump(self, state: Any) -> Any:
        """For a mark; older clients say only in the middle of the session of what type it is."""
        return {"y": self.talk.agent_type, "s": state} if self.talk.agent_type else state


class Agents:
    def __init__(self, folder: Path, main: Conversation, known: dict[str, Any]) -> None:
        self._main = main
        found = sorted((folder / "subagents").rglob(f"{PREFIX}*{SUFFIX}"))
        new = (self._file(str(path), known) for path in found)
        # The last is the next to begin.
        self._waiting = sorted((f for f in new if f), key=lambda f: f.began, reverse=True)
        self._working: list[SubagentFile] = []
        self.unreadable = 0

    def merged(self, over: bool) -> Iterator[tuple[Happened, SubagentFile | None]]:
        """Everything, with the sub-agent that it is of. `over`: nothing more will ever be written."""
        at = 0
        for happened in self._main.happenings():
            at = max(at, happened.at)
            yield from self._until(at)
            if happened.ended_agent:
                yield from self._ended(happened.ended_agent, at)
            yield happened, None
        yield from self._until(None)
        if over:
            for file in list(self._working):
                file.finish()
            yield from self._until(None)
            yield from ((happened, None) for happened in self._main.finish())
        self.unreadable = sum(file.talk.unreadable for file in self._working)

    def _until(self, at: int | None) -> Iterator[tuple[Happened, SubagentFile]]:
        while True:
            while self._waiting and (at is None or self._waiting[-1].began <= at):
                self._open(self._waiting.pop())
            ready = [f for f in self._working if f.next and (at is None or f.next.at <= at)]
            if not ready:
                return
            file = min(ready, key=lambda f: f.next.at if f.next else 0)
            assert file.next is not None
            yield file.next, file
            file.advance()

    def _ended(self, name: str, at: int) -> Iterator[tuple[Happened, SubagentFile]]:
        """Older clients do not say in the sub-agent's own file that it was done."""
        for file in self._working:
            if file.id == name:
                file.finish()
        yield from self._until(at)

    def _open(self, file: SubagentFile) -> None:
        if not file.talk.agent_type:
            file.talk.agent_type = self._main.agent_types.get(file.id, "")
        self._working.append(file)
        file.open()

    def _file(self, path: str, known: dict[str, Any]) -> SubagentFile | None:
        """None if there is nothing new in it."""
        name = Path(path).name[len(PREFIX) : -len(SUFFIX)]
        dumped, agent_type = known.get(name, 0), _type(path)
        if isinstance(dumped, dict) and "y" in dumped:
            dumped, agent_type = dumped["s"], agent_type or str(dumped["y"])
        state = _state(dumped, path)
        if state.offset >= size_of(path):
            return None
        main = self._main
        talk = Conversation(
            path, main.session, main.transcript, main.outputs, state, name, agent_type
        )
        first = next(lines(path, state.offset), None)
        began = time_of(first.entry or {}) if first else None
        return SubagentFile(name, talk, began or 0)


def _state(dumped: Any, path: str) -> State:
    try:
        state = load(dumped, path)
    except (KeyError, TypeError, ValueError, AttributeError):
        return State()
    return state if is_line_start(path, state.offset) else State()


def _type(path: str) -> str:
    """As the client noted it beside the file; older clients did not."""
    try:
        found: Json = json.loads(Path(path.removesuffix(SUFFIX) + ".meta.json").read_bytes())
        return text_of(found, "agentType")
    except (OSError, ValueError, AttributeError):
        return ""
