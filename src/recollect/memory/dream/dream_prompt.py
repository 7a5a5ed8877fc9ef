"""The question that a dream asks a model, once: all memories that fit, and what was done lately.

Memories that are like each other come first and stand together: they are what can be merged, and a small
model forgets what it read a page ago. What does not fit is not shown, and what was not shown cannot be
changed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from recollect import clock
from recollect.english import count
from recollect.memory.dream.duplicates import newest
from recollect.memory.facts import said
from recollect.memory.prompts import prompt_text
from recollect.model.memories import NOTED_BY_AGENT, Memory
from recollect.model.requests import Request
from recollect.statements import likeness
from recollect.text import fenced, one_line, tokens

ROOM = 6_000  # tokens for the memories, unless the settings say otherwise
SIGNALS_ROOM, SIGNAL = 600, 120
LONGEST_BODY = 4_096  # characters: a longer one is not shown at all, as half of it cannot be judged
KIN = 0.3  # likeness of those that should stand together
REPLY_TOKENS = 3_000
ASK = "Which memories should be merged, retired or rewritten?"


@dataclass(frozen=True, slots=True)
class Asked:
    request: Request
    shown: tuple[str, ...]


def request(
    memories: Sequence[Memory],
    signals: Sequence[str] = (),
    stale: Mapping[str, str] | None = None,
    room: int = ROOM,
) -> Asked:
    """`stale`: what has become of the files that a memory speaks of, by its name."""
    shown: list[Memory] = []
    blocks: list[str] = []
    for memory in _ordered([each for each in memories if len(each.body) <= LONGEST_BODY]):
        block = _block(memory, (stale or {}).get(memory.name, ""))
        if (cost := tokens(block)) <= room:
            room -= cost
            shown.append(memory)
            blocks.append(block)
    message = "\n\n".join(["Memories:", *blocks, _signals(signals), ASK])
    names = tuple(memory.name for memory in shown)
    return Asked(Request(prompt_text("dream"), _examples(), message, REPLY_TOKENS), names)


def _block(memory: Memory, stale: str) -> str:
    about = [memory.type]
    if at := newest(memory):
        about.append(f"{clock.local(at):%Y-%m-%d}")
    if memory.evidence:
        number = len(memory.evidence)
        about.append(f"{number} {'piece' if number == 1 else 'pieces'} of evidence")
    about += [NOTED_BY_AGENT] * memory.by_agent
    about += ["pinned"] * memory.pinned + [stale] * bool(stale)
    body = "\n".join(f"  {line}" for line in memory.body.splitlines() if line.strip())
    return fenced(f"## {memory.name} ({', '.join(about)})\n{memory.description}\n{body}").rstrip()


def _signals(signals: Sequence[str]) -> str:
    lines: list[str] = []
    room = SIGNALS_ROOM
    for signal in dict.fromkeys(signals):
        line = f"- {fenced(one_line(signal, SIGNAL))}"
        room -= tokens(line)
        if room < 0:
            lines.append(f"- and {count(len(signals) - len(lines), 'other thing')}")
            break
        lines.append(line)
    return "\n".join(["What was done lately:", *(lines or ["- nothing that is known"])])


def _ordered(memories: Sequence[Memory]) -> list[Memory]:
    """Those that are like another first, the others of the same kind right behind."""
    words = {m.name: frozenset(w for each in said(m.text) for w in each.telling) for m in memories}

    def near(one: Memory, other: Memory) -> float:
        return likeness(words[one.name], words[other.name])

    best = {
        m.name: max((near(m, o) for o in memories if o is not m), default=0.0) for m in memories
    }
    left = sorted(memories, key=lambda memory: (-best[memory.name], memory.name))
    ordered: list[Memory] = []
    while left:
        first = left.pop(0)
        kin = sorted((m for m in left if near(first, m) >= KIN), key=lambda m: -near(first, m))
        ordered += [first, *kin]
        left = [memory for memory in left if memory not in kin]
    return ordered


@cache
def _examples() -> tuple[tuple[str, str], ...]:
    return ((prompt_text("dream_example_request"), prompt_text("dream_example")),)
