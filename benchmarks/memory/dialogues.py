"""Talks of users with a coding agent, and what is worth keeping of each: the set that ships in `memory_set/`.

Half of them are to tune by, the other half is for the report. Most hold nothing to keep: questions, tasks,
quotations, jokes, logs, what an assistant says.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from aforesaid.model.memories import Memory, Message

SHIPPED = Path(__file__).parents[1] / "memory_set"
HALVES = ("tune", "report")


@dataclass(frozen=True, slots=True)
class Expected:
    """A memory that should come of it: of one of these types, with all these words. `explicit`: it was said
    in so many words. `updates`: the memory that it puts right."""

    types: tuple[str, ...]
    words: tuple[str, ...]
    explicit: bool
    updates: str | None = None

    def fits(self, memory: Memory) -> bool:
        return has_words(memory, self.words)


@dataclass(frozen=True, slots=True)
class Dialogue:
    """`allowed`: words of what may be kept and need not."""

    id: str
    half: str
    about: str
    messages: tuple[Message, ...]
    existing: tuple[Memory, ...]
    expected: tuple[Expected, ...]
    allowed: tuple[tuple[str, ...], ...]

    def turns(self) -> Iterator[tuple[Message, ...]]:
        """The talk as it was at the end of each turn."""
        starts = [n for n, message in enumerate(self.messages) if message.role == "user"]
        for end in (*starts[1:], len(self.messages)):
            yield self.messages[:end]


def has_words(memory: Memory, words: tuple[str, ...]) -> bool:
    text = memory.text.lower()
    return all(word.lower() in text for word in words)


@cache
def shipped() -> tuple[Dialogue, ...]:
    text = (SHIPPED / "dialogues.json").read_text("utf-8")
    return tuple(_dialogue(each) for each in json.loads(text))


def half(name: str) -> tuple[Dialogue, ...]:
    """`all` for both."""
    return tuple(each for each in shipped() if name in ("all", each.half))


def _dialogue(read: Mapping[str, Any]) -> Dialogue:
    return Dialogue(
        id=read["id"],
        half=read["half"],
        about=read["about"],
        messages=tuple(Message(each["role"], each["text"]) for each in read["messages"]),
        existing=tuple(
            Memory(each["name"], each["description"], each["type"], f"{each['description']}.")
            for each in read.get("existing", ())
        ),
        expected=tuple(
            Expected(tuple(e["types"]), tuple(e["words"]), e["explicit"], e.get("updates"))
            for e in read["expected"]
        ),
        allowed=tuple(tuple(words) for words in read.get("allowed", ())),
    )
