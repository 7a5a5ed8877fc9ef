"""Memories that say the same, found without a model.

Careful before thorough: `use tabs` and `never use tabs`, `port 8080` and `port 8081` are two memories each,
and so are two that only share a sentence. Of those that say the same one stays and gains what only the others
had, unless words must not pass from one to the other (`may_gain`): then it stays to the byte, and others go
only if they say nothing that it does not.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from recollect.memory.dream.stale import unmarked
from recollect.memory.facts import FILLERS, Said, Text, conflict, said, same
from recollect.model.memories import NOTED_BY_AGENT, OF_USER, Memory, StoredMemory

EXACT, NEAR = "exact", "near"
PART = re.compile(r"^[ \t]*\*\*(why|how to apply):?\*\*:?", re.IGNORECASE | re.MULTILINE)
FENCE = re.compile(r"^[ \t]*(?:```|~~~)", re.MULTILINE)
EDGES = re.compile(r"(?<!\w)[\"'“”‘’*_`(\[]+|[\"'“”‘’*_`)\],;:!?.]+(?!\w)")


@dataclass(frozen=True, slots=True)
class Group:
    """`gone`: the names of those that say the same as `kept`, each with whether in the same words."""

    kept: str
    gone: tuple[tuple[str, bool], ...]


def groups(memories: Sequence[StoredMemory]) -> list[Group]:
    """Every member is like the one that stays: being like one that is like it is not enough."""
    left = sorted(memories, key=_worth, reverse=True)
    read = {stored.memory.name: _Read.of(bare(stored.memory)) for stored in memories}
    found: list[Group] = []
    while left:
        kept = left.pop(0)
        alike = [
            (other, _alike(read[kept.memory.name], read[other.memory.name]))
            for other in left
            if may_replace(kept, other)
            and (may_gain(kept, other) or _adds_nothing(kept.memory, other.memory))
        ]
        gone = tuple((other.memory.name, how == EXACT) for other, how in alike if how)
        if gone:
            found.append(Group(kept.memory.name, gone))
            names = {name for name, _ in gone}
            left = [other for other in left if other.memory.name not in names]
    return found


def may_replace(kept: StoredMemory, gone: StoredMemory) -> bool:
    return why_not_replace(kept, gone) is None


def why_not_replace(kept: StoredMemory, gone: StoredMemory) -> str | None:
    """A pinned memory stays, the user's word does not go for an agent's, nor one that is told in all projects
    for one that is told in this."""
    old, new = gone.memory, kept.memory
    if old.pinned:
        return f"{old.name} is pinned"
    if new.by_agent and not old.by_agent:
        return f"{old.name} is the user's word, and {new.name} was {NOTED_BY_AGENT}"
    if gone.scope == OF_USER and kept.scope != OF_USER:
        return f"{old.name} is told in all projects, and {new.name} in one"
    return None


def may_gain(kept: StoredMemory, gone: StoredMemory) -> bool:
    return why_not_gain(kept, gone) is None


def why_not_gain(kept: StoredMemory, gone: StoredMemory) -> str | None:
    """Why no word of the one that goes may be put into the one that stays, nor its evidence and files: a
    pinned memory stays to the byte, what is of one project is not told in all, and what an agent noted does
    not become the user's word."""
    if kept.memory.pinned:
        return f"{kept.memory.name} is pinned"
    if kept.scope != gone.scope:
        return "they stand in different folders: some are told in all projects, some in one"
    if kept.memory.by_agent != gone.memory.by_agent:
        return f"one is the user's word, and the other was {NOTED_BY_AGENT}"
    return None


def better(one: StoredMemory, other: StoredMemory) -> bool:
    """Which of two that say the same should stay: the pinned, the user's, the better evidenced, the newer."""
    return _worth(one) > _worth(other)


def newest(memory: Memory) -> int:
    """When it was last said."""
    return max(memory.created, memory.updated)


def joined(kept: Memory, others: Iterable[Memory]) -> Memory:
    """With the evidence of the others, and with every sentence that only they had. Whoever calls knows that
    it may gain them; with no others it is what it was."""
    for other in map(bare, others):
        kept = bare(kept)
        kept = replace(
            kept,
            body=_joined_body(kept, other),
            updated=newest(other) if newest(other) > newest(kept) else kept.updated,
            evidence=tuple(dict.fromkeys((*kept.evidence, *other.evidence))),
            files=tuple((dict(other.files) | dict(kept.files)).items()),
            commit=kept.commit or other.commit,
            replaces=tuple(dict.fromkeys((*kept.replaces, other.name))),
        )
    return kept


def bare(memory: Memory) -> Memory:
    """Without the mark of one that may be stale."""
    return replace(memory, body=unmarked(memory.body))


def normal(text: str) -> str:
    """Without what layout and marks add: two texts that are equal then are the same text."""
    return EDGES.sub("", " ".join(text.casefold().split()))


def parts(body: str) -> list[tuple[str, str]]:
    """The statement, then what is labelled `**Why:**` and `**How to apply:**`, each with its label."""
    marks = list(PART.finditer(body))
    ends = [mark.start() for mark in marks[1:]] + [len(body)]
    first = body[: marks[0].start()] if marks else body
    labelled = [(mark[0], body[mark.end() : end]) for mark, end in zip(marks, ends, strict=False)]
    return [("", first), *labelled]


@dataclass(frozen=True, slots=True)
class _Read:
    """`core`: what it states; `rest`: why, and how to apply it."""

    memory: Memory
    core: tuple[Said, ...]
    rest: tuple[Said, ...]
    text: Text

    @classmethod
    def of(cls, memory: Memory) -> "_Read":
        (_, statement), *labelled = parts(memory.body)
        return cls(
            memory,
            said(statement) or said(memory.description),
            tuple(each for _, text in labelled for each in said(text)),
            Text(memory.description, memory.body),
        )


def _alike(one: _Read, other: _Read) -> str | None:
    if not (_is_described(one, other) and _is_described(other, one)):
        return None
    if one.core and normal(one.memory.body) == normal(other.memory.body):
        return EXACT
    if FENCE.search(one.memory.body) or FENCE.search(other.memory.body):
        return None  # code is no prose: only the same is the same
    if not (_says_all(one.core, other.core) or _says_all(other.core, one.core)):
        return None
    if abs(len(one.core) - len(other.core)) > min(len(one.core), len(other.core)):
        return None  # one of many things that the other tells
    if any(conflict(x, y) for x in one.rest for y in other.rest if not same(x, y)):
        return None
    return NEAR


def _is_described(one: _Read, other: _Read) -> bool:
    """The other's text holds every word of this one's description: where the texts say little (`See the
    wiki`), the descriptions may be all the difference."""
    return all(
        other.text.keeps(each) and all(w in FILLERS or other.text.knows(w) for w in each.words)
        for each in said(one.memory.description)
    )


def _says_all(ones: tuple[Said, ...], others: tuple[Said, ...]) -> bool:
    return bool(ones) and all(any(same(one, other) for other in others) for one in ones)


def _worth(stored: StoredMemory) -> tuple[bool, bool, bool, int, int, str]:
    memory = stored.memory
    kind = memory.pinned, not memory.by_agent, stored.scope == OF_USER
    return *kind, len(memory.evidence), newest(memory), memory.name


def _adds_nothing(kept: Memory, other: Memory) -> bool:
    kept = bare(kept)
    return _joined_body(kept, bare(other)).strip() == kept.body.strip()


def _joined_body(kept: Memory, other: Memory) -> str:
    if normal(kept.body) == normal(other.body):
        return kept.body
    mine = [[label, text] for label, text in parts(kept.body)]
    known = said(f"{kept.description}\n{kept.body}")
    for label, text in parts(other.body):
        for new in said(text):
            twin = next((old for old in known if same(old, new)), None)
            if twin is not None and not new.words - twin.words - FILLERS:
                continue
            slot = next((each for each in mine if _key(each[0]) == _key(label)), None)
            if slot is None:
                mine[-1][1] = f"{mine[-1][1].rstrip()}\n"
                mine.append(slot := [label, ""])
            if twin is not None and twin.text in slot[1]:
                slot[1] = slot[1].replace(twin.text, new.text, 1)  # the fuller of the two
            else:
                slot[1] = _added(slot[1], new.text)
    return "".join(f"{label}{text}" for label, text in mine).strip()


def unrepeated(body: str) -> str:
    """Without a reason that only says again what was said: small models give one for want of a better."""
    (_, statement), *labelled = parts(body)
    text, known = statement, list(said(statement))
    for label, part in labelled:
        told = said(part)
        if told and _says_all(told, tuple(known)):
            continue
        text += f"{label}{part}"
        known += told
    return text.rstrip()


def _added(text: str, sentence: str) -> str:
    """At the end, before the blank lines that end it."""
    if not text.strip():
        return f"{text.rstrip()} {sentence}\n".lstrip("\n")
    said_so_far = text.rstrip()
    return f"{said_so_far}\n{sentence}{text[len(said_so_far) :]}"


def _key(label: str) -> str:
    return label.strip("*: \t").lower()
