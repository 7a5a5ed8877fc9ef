"""What happens in a session, as the store is told of it: each call is one capture, a second later."""

import json
from dataclasses import dataclass, field, replace
from typing import Any

from aforesaid.clock import SECOND
from aforesaid.model.events import (
    Arrival,
    Capture,
    CommandRun,
    CompactionBegan,
    Event,
    Happening,
    PromptSubmitted,
    SessionEnded,
    SessionStarted,
    Subagent,
    ToolUsed,
    TurnEnded,
)
from aforesaid.repository import Identity, Repository

START = 1_800_000_000_000


@dataclass(slots=True)
class Told:
    """A session of one project. `at` is the time of the latest event."""

    project_id: int
    session: str = "session-1"
    at: int = START
    count: int = field(default=0)

    def start(self, source: str = "startup") -> Arrival:
        return self._arrival(SessionStarted(source, None), None)

    def prompt(self, text: str, *, id: str | None = None, by_machine: bool = False) -> Arrival:  # noqa: A002
        key = f"prompt:{id}" if id else None
        return self._arrival(PromptSubmitted(text, by_machine), key, prompt_id=id)

    def tool(
        self,
        use_id: str,
        *,
        name: str = "Bash",
        prompt_id: str | None = None,
        boring: bool = False,
        subagent: str | None = None,
    ) -> Arrival:
        what = ToolUsed(name, use_id, CommandRun("ls", None, "", "", False), None, None)
        arrival = self._arrival(what, f"tool:{use_id}", prompt_id=prompt_id, boring=boring)
        if subagent is None:
            return arrival
        return replace(arrival, event=replace(arrival.event, subagent=Subagent("a1", subagent)))

    def stop(self, message: str = "Done.", *, prompt_id: str | None = None) -> Arrival:
        key = f"stop:{prompt_id}:{message}" if prompt_id else None
        return self._arrival(TurnEnded(message), key, prompt_id=prompt_id)

    def compact(self) -> Arrival:
        return self._arrival(CompactionBegan("auto", ""), None)

    def end(self, reason: str = "other") -> Arrival:
        return self._arrival(SessionEnded(reason), None)

    def _arrival(
        self,
        what: Happening,
        key: str | None,
        *,
        prompt_id: str | None = None,
        boring: bool = False,
    ) -> Arrival:
        self.at += SECOND
        self.count += 1
        body = json.dumps({"session": self.session, "number": self.count}).encode()
        name = f"capture-{self.session}-{self.count}"
        return Arrival(
            capture=Capture(name, "claude-code", "save", "/home/dev/shop", body, self.at),
            event=Event(
                agent="claude-code",
                session=self.session,
                key=key,
                what=what,
                prompt_id=prompt_id,
                subagent=None,
                cwd="/home/dev/shop",
                transcript="/home/dev/.claude/transcript.jsonl",
            ),
            project_id=self.project_id,
            boring=boring,
        )


def again(arrival: Arrival, *, later: int = 0, capture_id: str = "delivered-again") -> Arrival:
    """The same bytes in another file, as a second installation or a replay delivers them."""
    capture = replace(arrival.capture, id=capture_id, at=arrival.capture.at + later)
    return replace(arrival, capture=capture)


def repository(name: str, *, remote: str | None = None, commit: str | None = None) -> Repository:
    """What git would say of a repository in the developer's home."""
    root = f"/home/dev/{name}"
    found: list[Any] = [("remote", remote), ("commit", commit), ("path", root)]
    identities = tuple(Identity(kind, f"{kind}:{value}") for kind, value in found if value)
    return Repository(name, root, identities)
