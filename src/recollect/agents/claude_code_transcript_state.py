"""What must be remembered to go on reading a transcript in the middle.

Small, whatever the file: the place, and for what is still open (a call without a result, a message that may
be a turn's last) where its line is. The lines themselves are read again.
"""

from dataclasses import dataclass, field
from typing import Any

from recollect.agents.claude_code_transcript_lines import Json, blocks_of, line_at, text_of, time_of
from recollect.ids import digest

MOST_OPEN = 200
# The hook gets the last message without the white space around it, as the client's language sees it.
WHITE_SPACE = "\t\n\v\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(
    map(chr, range(0x2000, 0x200B))
)
MOST_QUEUED = 20


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call that waits for its result."""

    id: str
    name: str
    given: object
    prompt_id: str
    cwd: str
    at: int
    line: int


@dataclass(frozen=True, slots=True)
class Said:
    """The agent's last words so far. `reason` is why it stopped, empty where the client does not say."""

    text: str
    reason: str
    prompt_id: str
    cwd: str
    at: int
    line: int
    uuid: str


@dataclass(frozen=True, slots=True)
class Queued:
    """A prompt typed while the agent worked: the hook was told at once, under the prompt of that time."""

    text: str  # its digest
    prompt_id: str
    at: int


@dataclass(slots=True)
class State:
    offset: int = 0
    told: int = 0  # happenings of the line at `offset` that were told already
    prompt_id: str = ""
    calls: dict[str, Call] = field(default_factory=dict)
    said: Said | None = None
    queued: list[Queued] = field(default_factory=list)
    compacting: str = ""
    started: str = ""
    working: bool = False

    def open_call(self, call: Call) -> None:
        self.calls[call.id] = call
        if len(self.calls) > MOST_OPEN:
            del self.calls[next(iter(self.calls))]

    def queue(self, text: str, at: int) -> None:
        self.queued = [*self.queued, Queued(digest(text), self.prompt_id, at)][-MOST_QUEUED:]

    def dequeue(self, text: str) -> Queued | None:
        found = next((q for q in self.queued if q.text == digest(text)), None)
        self.queued = [q for q in self.queued if q is not found]
        return found

    def dump(self, told: int = 0) -> Json | int:
        """For a mark. Most often there is nothing but the place."""
        said = [self.said.line, self.said.prompt_id] if self.said else None
        values: Json = {
            "n": told,
            "p": self.prompt_id,
            "c": {c.id: [c.line, c.prompt_id] for c in self.calls.values()},
            "s": said,
            "q": [[q.text, q.prompt_id, q.at] for q in self.queued],
            "k": self.compacting,
            "h": self.started,
            "w": self.working,
        }
        kept = {name: value for name, value in values.items() if value}
        return {"o": self.offset} | kept if kept else self.offset


def load(dumped: Any, path: str) -> State:
    """Raises KeyError, TypeError or ValueError for what `dump` did not write."""
    if isinstance(dumped, int):
        return State(dumped)
    state = State(
        offset=int(dumped["o"]),
        told=int(dumped.get("n", 0)),
        prompt_id=str(dumped.get("p", "")),
        queued=[Queued(str(t), str(p), int(at)) for t, p, at in dumped.get("q", [])],
        compacting=str(dumped.get("k", "")),
        started=str(dumped.get("h", "")),
        working=bool(dumped.get("w")),
    )
    for name, (line, prompt_id) in dumped.get("c", {}).items():
        for call in calls_in(line_at(path, int(line)), str(prompt_id), int(line)):
            if call.id == name:
                state.open_call(call)
    if said := dumped.get("s"):
        state.said = said_in(line_at(path, int(said[0])), str(said[1]), int(said[0]))
    return state


def calls_in(entry: Json, prompt_id: str, line: int) -> list[Call]:
    found = []
    for block in blocks_of(entry):
        if block.get("type") == "tool_use" and text_of(block, "id"):
            name, cwd, at = text_of(block, "name"), text_of(entry, "cwd"), time_of(entry) or 0
            given = block.get("input")
            found.append(Call(text_of(block, "id"), name, given, prompt_id, cwd, at, line))
    return found


def said_in(entry: Json, prompt_id: str, line: int) -> Said | None:
    """The last words of the line, if nothing but words comes after them."""
    text = ""
    for block in blocks_of(entry):
        if block.get("type") == "text" and text_of(block, "text").strip(WHITE_SPACE):
            text = text_of(block, "text").strip(WHITE_SPACE)
        elif block.get("type") == "tool_use":
            text = ""
    if not text:
        return None
    reason = text_of(entry["message"], "stop_reason")
    cwd, uuid = text_of(entry, "cwd"), text_of(entry, "uuid")
    return Said(text, reason, prompt_id, cwd, time_of(entry) or 0, line, uuid)
