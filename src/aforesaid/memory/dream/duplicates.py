"""Finds memories that say the same, and merges them without losing a sentence."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from aforesaid.grounding import KnownText
from aforesaid.model.memories import NOTED_BY_AGENT, OF_USER, Memory, StoredMemory
from aforesaid.similarity import (
    FILLERS,
    Sentence,
    parse_sentences,
    same_sentence,
    sentences_conflict,
)
from aforesaid.text import one_line

EXACT, NEAR = "exact", "near"
PART = re.compile(r"^[ \t]*\*\*(why|how to apply):?\*\*:?", re.IGNORECASE | re.MULTILINE)
FENCE = re.compile(r"^[ \t]*(?:```|~~~)", re.MULTILINE)
EDGES = re.compile(r"(?<!\w)[\"'“”‘’*_`(\[]+|[\"'“”‘’*_`)\],;:!?.]+(?!\w)")
STALE_MARK = "**Possibly stale:**"
STALE_PATTERN = re.compile(rf"\n*^{re.escape(STALE_MARK)}[^\n]*\s*\Z", re.MULTILINE)
MAX_NAMED_FILES = 3


@dataclass(frozen=True, slots=True)
class DuplicateGroup:
    """`gone`: the names of those that say the same as `kept`, each with whether in the same words."""

    kept: str
    gone: tuple[tuple[str, bool], ...]


def find_duplicates(memories: Sequence[StoredMemory]) -> list[DuplicateGroup]:
    """Every member is similar to the one that stays; similarity is not transitive."""
    left = sorted(memories, key=quality, reverse=True)
    parsed = {each.memory.name: _ParsedMemory.of(each.memory) for each in memories}
    found: list[DuplicateGroup] = []
    while left:
        kept = left.pop(0)
        gone: dict[str, bool] = {}
        for other in left:
            if replace_obstacle(kept, other) or (
                merge_obstacle(kept, other) and not _adds_nothing(kept.memory, other.memory)
            ):
                continue
            if how := _compare(parsed[kept.memory.name], parsed[other.memory.name]):
                gone[other.memory.name] = how == EXACT
        if gone:
            found.append(DuplicateGroup(kept.memory.name, tuple(gone.items())))
            left = [other for other in left if other.memory.name not in gone]
    return found


def quality(stored: StoredMemory) -> tuple[bool, bool, bool, int, int, str]:
    """Sorts memories that say the same: the pinned, the user's, the better evidenced, the newer is higher."""
    memory = stored.memory
    kind = memory.pinned, not memory.by_agent, stored.scope == OF_USER
    return *kind, len(memory.evidence), last_stated(memory), memory.name


def last_stated(memory: Memory) -> int:
    return max(memory.created, memory.updated)


def replace_obstacle(kept: StoredMemory, gone: StoredMemory) -> str | None:
    """Why a memory may not be retired in favour of another: it is pinned, or the user's word and the other an
    agent's, or applies in all projects and the other in one."""
    old, new = gone.memory, kept.memory
    if old.pinned:
        return f"{old.name} is pinned"
    if new.by_agent and not old.by_agent:
        return f"{old.name} is the user's word, and {new.name} was {NOTED_BY_AGENT}"
    if gone.scope == OF_USER and kept.scope != OF_USER:
        return f"{old.name} applies in all projects, and {new.name} in one"
    return None


def merge_obstacle(kept: StoredMemory, gone: StoredMemory) -> str | None:
    """Why nothing of a retired memory may be added to the one that stays: a pinned memory stays to the byte,
    what belongs to one project does not apply in all, and an agent's note does not become the user's word."""
    if kept.memory.pinned:
        return f"{kept.memory.name} is pinned"
    if kept.scope != gone.scope:
        return "they are in different folders: some apply in all projects, some in one"
    if kept.memory.by_agent != gone.memory.by_agent:
        return f"one is the user's word, and the other was {NOTED_BY_AGENT}"
    return None


def merge_memories(kept: Memory, others: Iterable[Memory]) -> Memory:
    """Adds the evidence and files of the others, and every sentence that only they have."""
    for other in others:
        kept = replace(
            kept,
            body=_merge_bodies(kept, other),
            updated=last_stated(other) if last_stated(other) > last_stated(kept) else kept.updated,
            evidence=tuple(dict.fromkeys((*kept.evidence, *other.evidence))),
            files=tuple((dict(other.files) | dict(kept.files)).items()),
            commit=kept.commit or other.commit,
            replaces=tuple(dict.fromkeys((*kept.replaces, other.name))),
        )
    return kept


def drop_repeated_reasons(body: str) -> str:
    """Removes reasons that only repeat the statement, as small models write them."""
    (_, text), *labelled = _split_parts(body)
    known = parse_sentences(text)
    for label, part in labelled:
        parsed = parse_sentences(part)
        if not (parsed and _contains_all(parsed, known)):
            text += f"{label}{part}"
            known += parsed
    return text.rstrip()


def normalize_text(text: str) -> str:
    """Without layout and markup: equal results mean the same text."""
    return EDGES.sub("", " ".join(text.casefold().split()))


def add_stale_mark(body: str, gone: tuple[str, ...], day: str) -> str:
    """`gone`: the files that no longer exist. An existing mark stays as it is."""
    if STALE_PATTERN.search(body):
        return body
    names = ", ".join(one_line(path, 100) for path in gone[:MAX_NAMED_FILES])
    more = f" and {len(gone) - MAX_NAMED_FILES} more" if len(gone) > MAX_NAMED_FILES else ""
    mark = f"{STALE_MARK} the files it speaks of are gone ({names}{more}; seen on {day})."
    return f"{body.rstrip()}\n\n{mark}".strip()


def remove_stale_mark(body: str) -> str:
    return STALE_PATTERN.sub("", body)


@dataclass(frozen=True, slots=True)
class _ParsedMemory:
    """`core`: the statement; `rest`: why, and how to apply it."""

    body: str
    description: tuple[Sentence, ...]
    core: tuple[Sentence, ...]
    rest: tuple[Sentence, ...]
    text: KnownText

    @classmethod
    def of(cls, memory: Memory) -> "_ParsedMemory":
        body = remove_stale_mark(memory.body)
        (_, statement), *labelled = _split_parts(body)
        description = parse_sentences(memory.description)
        return cls(
            body=body,
            description=description,
            core=parse_sentences(statement) or description,
            rest=tuple(each for _, text in labelled for each in parse_sentences(text)),
            text=KnownText(memory.description, body),
        )


def _compare(one: _ParsedMemory, other: _ParsedMemory) -> str | None:
    if not (_is_described(one, other) and _is_described(other, one)):
        return None
    if one.core and normalize_text(one.body) == normalize_text(other.body):
        return EXACT
    if FENCE.search(one.body) or FENCE.search(other.body):
        return None  # code has to be identical
    if not (_contains_all(one.core, other.core) or _contains_all(other.core, one.core)):
        return None
    if abs(len(one.core) - len(other.core)) > min(len(one.core), len(other.core)):
        return None  # it is one of many things that the other states
    pairs = ((x, y) for x in one.rest for y in other.rest)
    return None if any(sentences_conflict(*p) and not same_sentence(*p) for p in pairs) else NEAR


def _is_described(one: _ParsedMemory, other: _ParsedMemory) -> bool:
    """The other's text has every word of this one's description. Where texts say little (`See the wiki`), the
    descriptions may be the whole difference."""
    return all(
        other.text.keeps(each) and all(w in FILLERS or other.text.knows(w) for w in each.words)
        for each in one.description
    )


def _contains_all(ones: Sequence[Sentence], others: Sequence[Sentence]) -> bool:
    return bool(ones) and all(any(same_sentence(one, other) for other in others) for one in ones)


def _adds_nothing(kept: Memory, other: Memory) -> bool:
    return _merge_bodies(kept, other).strip() == remove_stale_mark(kept.body).strip()


def _merge_bodies(kept: Memory, other: Memory) -> str:
    mine, theirs = remove_stale_mark(kept.body), remove_stale_mark(other.body)
    if normalize_text(mine) == normalize_text(theirs):
        return mine
    parts = [[label, text] for label, text in _split_parts(mine)]
    known = parse_sentences(f"{kept.description}\n{mine}")
    for label, text in _split_parts(theirs):
        for new in parse_sentences(text):
            twin = next((old for old in known if same_sentence(old, new)), None)
            if twin is not None and not new.words - twin.words - FILLERS:
                continue
            part = next((each for each in parts if _label_key(each[0]) == _label_key(label)), None)
            if part is None:
                parts[-1][1] = f"{parts[-1][1].rstrip()}\n"
                parts.append(part := [label, ""])
            if twin is not None and twin.text in part[1]:
                part[1] = part[1].replace(twin.text, new.text, 1)  # the fuller of the two
            else:
                part[1] = _append_sentence(part[1], new.text)
    return "".join(f"{label}{text}" for label, text in parts).strip()


def _split_parts(body: str) -> list[tuple[str, str]]:
    """The statement, then the parts labelled `**Why:**` and `**How to apply:**`, each with its label."""
    marks = list(PART.finditer(body))
    ends = [*(mark.start() for mark in marks), len(body)]
    labelled = [
        (mark[0], body[mark.end() : end]) for mark, end in zip(marks, ends[1:], strict=True)
    ]
    return [("", body[: ends[0]]), *labelled]


def _label_key(label: str) -> str:
    return label.strip("*: \t").lower()


def _append_sentence(text: str, sentence: str) -> str:
    """Before the blank lines at the end."""
    if not text.strip():
        return f"{text.rstrip()} {sentence}\n".lstrip("\n")
    trimmed = text.rstrip()
    return f"{trimmed}\n{sentence}{text[len(trimmed) :]}"
