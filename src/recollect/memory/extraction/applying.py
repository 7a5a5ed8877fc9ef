"""Statements and drafts become memories, in one change, and the same turn can be taken twice.

A correction goes to the one memory that it contradicts, which keeps its name, its date and its pin; the old
words stay in the history. What is known already is left alone. What a user retired does not come back from
the turn that it was taken from.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from recollect.clock import Clock
from recollect.errors import MemoryRefused
from recollect.memory.extraction import phrasing
from recollect.memory.extraction.corrections import Correction, contradicted, put_right, without
from recollect.memory.extraction.covering import about, covers, covers_all, may_replace
from recollect.memory.extraction.drafts import Draft
from recollect.memory.extraction.explicit import Statement
from recollect.memory.extraction.named_files import located
from recollect.memory.facts import Text, said
from recollect.memory.storage.changes import Change, Memories
from recollect.memory.storage.names import same_name, slug
from recollect.model.memories import BY, Memory, StoredMemory

SHARED = 0.6  # of what was said, in a memory of the same turn that says it
LABELS = ("**Why:**", "**How to apply:**")


@dataclass(frozen=True, slots=True)
class Skipped:
    description: str
    why: str


@dataclass(frozen=True, slots=True)
class Applied:
    """Names of memories; and what was not written, with the reason."""

    added: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()


@dataclass(frozen=True, slots=True)
class _New:
    """A statement or a draft. `said`: the user's sentence, where it is known."""

    memory: Memory
    correction: Correction | None
    updates: str
    said: str
    stands: bool


def apply(
    memories: Memories,
    found: Iterable[Statement | Draft],
    evidence: Sequence[str],
    clock: Clock,
    root: str | None = None,
    made: Callable[[Memory], Memory] = lambda memory: memory,
) -> Applied:
    """`evidence`: what the turn is known by, such as `event 345`. `clock`: when it was said; what is known
    from later is not put right. `root`: the project's directory, for the files that a memory speaks of.
    `made`: what else is known of each, such as a pin."""
    items = [_new(each, tuple(evidence), clock(), made) for each in found]
    if not items:
        return Applied()
    with memories.change("remembered", forgiving=True) as change:
        work = _Work(change, memories, clock(), root, evidence)
        for item in items:
            work.take(item)
        change.reason = work.reason
    return work.done()


def _new(
    found: Statement | Draft, evidence: tuple[str, ...], now: int, made: Callable[[Memory], Memory]
) -> _New:
    match found:
        case Statement():
            name, text, extra = phrasing.named(found.description), found.body, ""
            words, correction, stands = found.said, found.correction, found.stands
        case Draft():
            name, text = _name(found), phrasing.body(found.body, found.why, found.how)
            words, correction, stands, extra = found.body, None, True, found.updates
    memory = Memory(name, found.description, found.type, text, created=now, evidence=evidence)
    return _New(made(memory), correction, extra, words, stands)


def _name(draft: Draft) -> str:
    """The model's, if it is made of words that the memory has."""
    text = Text(draft.description, draft.body)
    name = slug(draft.name)
    known = all(text.knows(word) for each in said(name.replace("-", " ")) for word in each.words)
    return name if "-" in name and known else phrasing.named(draft.description)


class _Work:
    def __init__(
        self,
        change: Change,
        memories: Memories,
        now: int,
        root: str | None,
        evidence: Sequence[str],
    ) -> None:
        self.change = change
        self.evidence = evidence
        self.now = now
        self.root = memories.places.top or root
        self.known = list(memories.all().memories)
        self.before = [each.memory for each in self.known]
        self.retired = [each.memory for each in memories.retired().memories]
        self.taken = {same_name(name) for folder in memories.places.all for name in folder.names()}
        self.added: list[str] = []
        self.updated: list[str] = []
        self.skipped: list[Skipped] = []

    @property
    def reason(self) -> str:
        parts = (("remembered", self.added), ("corrected", self.updated))
        return (
            "; ".join(f"{what}: {', '.join(names)}" for what, names in parts if names)
            or "remembered"
        )

    def take(self, item: _New) -> None:
        try:
            why = self._why_not(item) or self._write(item)
        except MemoryRefused as error:  # edited in this very moment, or a name that nobody may use
            why = str(error)
        if why:
            self.skipped.append(Skipped(item.memory.description, why))

    def done(self) -> Applied:
        """Without the files that somebody edited while they were written."""
        edited = {each.memory.name for each in self.known if each.path in self.change.kept_by_hand}
        self.skipped += [Skipped(each, f"{each} is just being edited") for each in sorted(edited)]
        made = [[n for n in names if n not in edited] for names in (self.added, self.updated)]
        return Applied(tuple(made[0]), tuple(made[1]), tuple(self.skipped))

    def _why_not(self, item: _New) -> str | None:
        for memory in (*self.before, *self.retired):
            if _is_of(memory, self.evidence) and _tells(memory, item):
                return f"taken before: {memory.name}"
        return None

    def _write(self, item: _New) -> str | None:
        """Why not, if it was not written."""
        if target := self._target(item):
            stored, memory = target
            if max(stored.memory.created, stored.memory.updated) > self.now:
                return f"older than {stored.memory.name}"
            self._put(memory, stored)
            self.updated.append(memory.name)
            return None
        if not item.stands:
            return "it puts nothing right that is known"
        for each in self.known:
            if not covers(each.memory, item.memory):
                continue
            if item.memory.by_agent or not each.memory.by_agent:
                return f"known already: {each.memory.name}"
            # Noted by an agent. It is the user's word now if the user said all of it.
            if each.is_ours and covers_all(item.memory, each.memory):
                self._put(without_by(each.memory), each)
                self.updated.append(each.memory.name)
                return None
        memory = replace(item.memory, name=self._free(item.memory.name))
        self._put(memory, None)
        self.added.append(memory.name)
        return None

    def _target(self, item: _New) -> tuple[StoredMemory, Memory] | None:
        """The memory that it takes the place of, and what that becomes. An agent's word takes no place of the
        user's: the agent may have read it somewhere."""
        ours = {
            each.memory.name: each
            for each in self.known
            if each.is_ours and (each.memory.by_agent or not item.memory.by_agent)
        }
        correction = item.correction
        if correction and (
            found := contradicted(correction, (each.memory for each in ours.values()))
        ):
            memory, old = found
            new = corrected(memory, item.memory, correction, old, item.said)
            return ours[memory.name], _with_marks(new, item.memory)
        named = ours.get(item.updates)
        if named is None or not may_replace(named.memory, item.memory):
            return None
        new = replace(
            named.memory,
            description=item.memory.description,
            body=item.memory.body,
            evidence=_joined(named.memory, item.memory),
        )
        return named, _with_marks(new, item.memory)

    def _put(self, memory: Memory, old: StoredMemory | None) -> None:
        if self.root:
            memory = located(memory, self.root, self.now)
        stored = self.change.write(
            replace(memory, updated=self.now if old else 0), old.checksum if old else None
        )
        self.known = [*(each for each in self.known if each is not old), stored]
        self.taken.add(same_name(memory.name))

    def _free(self, name: str) -> str:
        number, free = 1, name
        while same_name(free) in self.taken:
            number += 1
            free = slug(f"{name[:56]} {number}")
        return free


def corrected(memory: Memory, new: Memory, correction: Correction, old: str, words: str) -> Memory:
    """Another version or number takes the old one's place; anything else is said anew, and only the sentences
    that said the old go. What the reason said of the old goes with it."""
    text, *labels = _parted(memory.body)
    new_text, *new_labels = _parted(new.body)
    if not correction.old or correction.about:
        description = put_right(memory.description, old, correction.new)
        text = f"{put_right(text, old, correction.new)}\n\n{words}"
    else:
        description = new.description
        text = without(text, old, new_text)
    kept = [each for each in labels if not _mentions(each, old)]
    for label in new_labels:
        kept = [each for each in kept if each.split("**")[1] != label.split("**")[1]] + [label]
    body = "\n\n".join([text, "\n".join(kept)] if kept else [text])
    return replace(memory, description=description, body=body, evidence=_joined(memory, new))


def _parted(body: str) -> list[str]:
    """The statement, then a line each for why and how."""
    lines = body.split("\n")
    first = next((n for n, line in enumerate(lines) if line.startswith(LABELS)), len(lines))
    return ["\n".join(lines[:first]).strip(), *filter(None, lines[first:])]


def _mentions(text: str, word: str) -> bool:
    return word.lower() in text.lower()


def _with_marks(memory: Memory, new: Memory) -> Memory:
    """An agent's note stays one as long as it says something that the user did not."""
    marked = replace(memory, pinned=memory.pinned or new.pinned, files=(*memory.files, *new.files))
    return without_by(marked) if not new.by_agent and covers_all(new, marked) else marked


def without_by(memory: Memory) -> Memory:
    extra = {key: value for key, value in memory.extra.items() if key != BY}
    return replace(memory, extra=extra)


def _joined(old: Memory, new: Memory) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*old.evidence, *new.evidence)))


def _is_of(memory: Memory, evidence: Sequence[str]) -> bool:
    return not set(evidence).isdisjoint(memory.evidence)


def _tells(memory: Memory, item: _New) -> bool:
    """Perhaps in other words by now: people edit what was taken from their own."""
    if (item.said and item.said in memory.body) or covers(memory, item.memory):
        return True
    mine, theirs = about(memory), about(item.memory)
    return len(mine & theirs) >= SHARED * len(theirs)
