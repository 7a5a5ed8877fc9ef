"""Writes what was said in a turn as memories, in one change. Idempotent: a turn can be processed twice.

A correction replaces the one memory that it contradicts by one with a new name; the old one is retired. What
is known already is left alone. What a user retired does not come back from the same turn.
"""

import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import NamedTuple

from aforesaid import freshness, repository
from aforesaid.clock import Clock
from aforesaid.errors import MemoryRefused
from aforesaid.memory.changes import Change, Memories
from aforesaid.memory.extraction import corrections, rules
from aforesaid.memory.extraction.rules import MARKS, Statement, format_body, make_name
from aforesaid.memory.extraction.sentences import CUES
from aforesaid.memory.format import fold_name, slugify
from aforesaid.model.memories import (
    AGENT,
    BY,
    OF_TEAM,
    USER,
    Memory,
    StoredMemory,
)
from aforesaid.model.prose import sentences
from aforesaid.similarity import (
    Relation,
    compare,
    includes_sentence,
    parse_sentences,
    word_overlap,
)
from aforesaid.terms import query_terms
from aforesaid.text import words

SHARED = 0.6  # of the words of a statement, in a memory of the same turn that says it
SAME_SUBJECT = 0.4  # word overlap of a memory and of what is to take its place
MAX_FILES = 8  # of one memory
LEAST_TERMS = 3  # beside the marks of secrets
ONLY_SECRETS = (
    "It was not kept: secrets are never stored, and hardly anything is left without them. Say where the "
    "secret is kept instead."
)
ADDRESS = re.compile(r"\b[a-z][a-z0-9+.-]+://\S+")
FILE_NAME = re.compile(r"[\w@.+/-]{2,200}")


class Applied(NamedTuple):
    """Names of memories; and why the rest was not written."""

    added: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()


def apply_statements(
    memories: Memories,
    found: Iterable[Statement],
    evidence: Sequence[str],
    clock: Clock,
    root: str | None = None,
    made: Callable[[Memory], Memory] = lambda memory: memory,
) -> Applied:
    """`evidence`: identifies the turn, such as `event 345`. `clock`: when it was said; what is known from
    later is not corrected. `root`: the project's directory, for the files that a memory names. `made`: adds
    what else is known of each, such as a pin. What somebody edits meanwhile is skipped."""
    # Corrections find their memory first.
    order = sorted(found, key=lambda each: not (each.correction or each.updates))
    if not order:
        return Applied()
    with memories.change("remembered", forgiving=True) as change:
        work = _Application(change, memories, clock(), root, tuple(evidence), made)
        for each in order:
            work.take(each)
        old = [old if old == new else f"{old} (now {new})" for new, old in work.replaced.items()]
        done = (("remembered", work.added), ("corrected", old))
        change.reason = "; ".join(f"{w}: {', '.join(n)}" for w, n in done if n) or "remembered"
    return work.result()


class _Application:
    """One change that adds statements and drafts. `known`: the memories as they are within it."""

    def __init__(
        self,
        change: Change,
        memories: Memories,
        now: int,
        root: str | None,
        evidence: tuple[str, ...],
        made: Callable[[Memory], Memory],
    ) -> None:
        self.change, self.now, self.evidence, self.made = change, now, evidence, made
        self.root = memories.places.top or root
        self.known = list(memories.all().memories)
        past = (*self.known, *memories.retired().memories)
        self.of_turn = [e.memory for e in past if set(evidence) & set(e.memory.evidence)]
        self.taken = {fold_name(name) for folder in memories.places.all for name in folder.names()}
        self.added: list[str] = []
        self.replaced: dict[str, str] = {}  # by the corrected name, the old one
        self.skipped: list[str] = []

    def take(self, new: Statement) -> None:
        name = make_name(new.description)
        memory = Memory(name, new.description, new.type, new.body, created=self.now)
        memory = self.made(replace(memory, evidence=self.evidence))
        before = next((old for old in self.of_turn if _was_stated_by(old, memory, new.said)), None)
        try:
            if before:
                why: str | None = f"taken before: {before.name}"
            elif target := self._find_target(memory, new):
                why = self._correct(*target)
            elif new.stands:
                why = self._add(memory)
            else:
                why = "it puts nothing right that is known"
        except MemoryRefused as error:  # edited in this moment, or a forbidden name
            why = str(error)
        if why:
            self.skipped.append(why)

    def result(self) -> Applied:
        """After the change, without the memories whose files were left alone."""
        kept = {path.stem for path in self.change.kept_by_hand}
        names = (*self.added, *self.replaced)
        edited = {name for name in names if kept & {name, self.replaced.get(name)}}
        skipped = [f"{name} is being edited, or cannot be written" for name in sorted(edited)]
        added, updated = (
            tuple(name for name in written if name not in edited)
            for written in (self.added, self.replaced)
        )
        return Applied(added, updated, (*self.skipped, *skipped))

    def _find_target(self, memory: Memory, new: Statement) -> tuple[StoredMemory, Memory] | None:
        """The memory that is corrected, and its new version. An agent's note corrects none of the user's: the
        agent may have read it somewhere."""
        ours = {
            each.memory.name: each
            for each in self.known
            if each.is_ours and (each.memory.by_agent or not memory.by_agent)
        }
        known = [each.memory for each in ours.values()]
        if found := new.correction and corrections.contradicted(new.correction, known):
            old, term = found
            version = corrections.correct_memory(old, memory, new.correction, term)
        elif new.updates in ours and _may_update(ours[new.updates].memory, memory):
            old = ours[new.updates].memory
            version = replace(old, description=memory.description, body=memory.body)
        else:
            return None
        version = replace(
            version,
            pinned=old.pinned or memory.pinned,
            files=(*old.files, *memory.files),
            evidence=tuple(dict.fromkeys((*old.evidence, *memory.evidence))),
        )
        # An agent's note stays one as long as it says something that the user did not.
        if not memory.by_agent and covers_all(memory, version):
            version = without_agent_mark(version)
        return ours[old.name], version

    def _correct(self, old: StoredMemory, memory: Memory) -> str | None:
        """Its name tells what it says, so a corrected memory has another one."""
        former = old.memory
        if max(former.created, former.updated) > self.now:
            return f"older than {former.name}"
        name = self._free_name(make_name(memory.description), former.name)
        memory = replace(memory, name=name, updated=self.now)
        if name == former.name:
            self._write(memory, old)
        else:
            memory = replace(memory, replaces=(*former.replaces, former.name))
            self.change.retire(former.name, "corrected", name, old.checksum)
            self._write(memory, None)
            self.known.remove(old)
        self.replaced[name] = former.name
        return None

    def _add(self, memory: Memory) -> str | None:
        for each in self.known:
            if not covers(each.memory, memory):
                continue
            if memory.by_agent or not each.memory.by_agent:
                return f"known already: {each.memory.name}"
            # Noted by an agent. It is the user's word now if the user said all of it.
            if each.is_ours and covers_all(memory, each.memory):
                self._write(replace(without_agent_mark(each.memory), updated=self.now), each)
                self.replaced[each.memory.name] = each.memory.name
                return None
        memory = replace(memory, name=self._free_name(memory.name))
        self._write(memory, None)
        self.added.append(memory.name)
        return None

    def _free_name(self, name: str, own: str = "") -> str:
        names = (name if n == 1 else slugify(f"{name[:56]} {n}") for n in count(1))
        return next(each for each in names if each == own or fold_name(each) not in self.taken)

    def _write(self, memory: Memory, old: StoredMemory | None) -> None:
        if self.root:
            memory = locate_files(memory, self.root, self.now)
        stored = self.change.write(memory, old.checksum if old else None)
        self.known = [*(each for each in self.known if each is not old), stored]
        self.taken.add(fold_name(memory.name))


def _was_stated_by(memory: Memory, new: Memory, said: str) -> bool:
    """Perhaps in other words by now: people edit what was taken from their own."""
    if (said and said in memory.body) or covers(memory, new):
        return True
    mine, theirs = _subject_words(memory), _subject_words(new)
    return len(mine & theirs) >= SHARED * len(theirs)


def covers(memory: Memory, new: Memory) -> bool:
    """Whether the memory says all that the new one's description does. In doubt both are kept; a dream may
    merge them."""
    return _says_text(memory, new.description)


def covers_all(memory: Memory, other: Memory) -> bool:
    """Whether the memory says all that the other's whole text does."""
    return _says_text(memory, f"{other.description}\n{other.body}")


def _says_text(memory: Memory, text: str) -> bool:
    if not words(text):  # signs alone
        return text.strip() in (memory.description.strip(), memory.body.strip())
    known = parse_sentences(f"{memory.description}\n{memory.body}")
    new = parse_sentences(CUES["firm"].sub(" ", text))
    return all(any(includes_sentence(old, each) for old in known) for each in new)


def _may_update(old: Memory, new: Memory) -> bool:
    """Whether they are about the same subject, and do not say the same."""
    near = word_overlap(_subject_words(old), _subject_words(new)) >= SAME_SUBJECT
    return near and not covers(old, new)


def _subject_words(memory: Memory) -> frozenset[str]:
    return frozenset(word for each in parse_sentences(memory.description) for word in each.about)


def without_agent_mark(memory: Memory) -> Memory:
    extra = {key: value for key, value in memory.extra.items() if key != BY}
    return replace(memory, extra=extra)


def locate_files(memory: Memory, root: str, now: int) -> Memory:
    """Adds the commit and the files that it names. The user's memories hold in all projects and have none."""
    if memory.type == USER:
        return memory
    text = ADDRESS.sub(" ", f"{memory.description}\n{memory.body}")
    mentioned = (name.rstrip(".") for name in FILE_NAME.findall(text))
    names = dict.fromkeys(path for path, _ in memory.files)
    names |= dict.fromkeys(name for name in mentioned if "/" in name or "." in name)
    inside = (name for name in names if not name.startswith(("/", "..")))
    blobs = ((name, freshness.unchanged_blob(root, name, until=now)) for name in inside)
    files = tuple((name, blob) for name, blob in blobs if blob)[:MAX_FILES]
    return replace(memory, files=files, commit=repository.revision(root)) if files else memory


@dataclass(frozen=True, slots=True)
class RememberRequest:
    """`type`: guessed if None. `name`: made up if None, and known memories are looked for. `files`: relative
    to the current directory. `evidence`: when and where it was said."""

    text: str
    type: str | None = None
    name: str | None = None
    description: str | None = None
    why: str = ""
    how: str = ""
    team: bool = False
    pinned: bool = False
    by_agent: bool = False
    files: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()

    def mark(self, memory: Memory) -> Memory:
        """Adds what is known of the memory beside its text."""
        return replace(
            memory,
            pinned=memory.pinned or self.pinned,
            files=(*memory.files, *((path, "") for path in self.files)),
            extra={**without_agent_mark(memory).extra, **({BY: AGENT} if self.by_agent else {})},
            evidence=tuple(dict.fromkeys((*memory.evidence, *self.evidence))),
        )


@dataclass(frozen=True, slots=True)
class Remembered:
    """`known`: it existed and says it. `updated`: it existed and was changed. `redacted`: secrets in the text
    were replaced. `same` and `contradicted`: names of other memories, which a dream may merge or retire."""

    stored: StoredMemory
    known: bool = False
    updated: bool = False
    redacted: bool = False
    same: tuple[str, ...] = ()
    contradicted: tuple[str, ...] = ()


def remember(memories: Memories, wanted: RememberRequest, directory: str) -> Remembered:
    """Raises MemoryRefused."""
    redact = memories.redactor.text
    text = redact(wanted.text)
    rest = MARKS.sub(" ", text)
    if rest != text and len(query_terms(rest)) < LEAST_TERMS:
        raise MemoryRefused(ONLY_SECRETS)
    redacted = replace(
        wanted,
        text=text,
        name=wanted.name and MARKS.sub(" ", redact(wanted.name)).strip(),
        description=wanted.description and redact(wanted.description),
        files=tuple(map(redact, wanted.files)),
    )
    done = replace(_save(memories, redacted, directory), redacted=text != wanted.text)
    if done.known:
        return done
    first = _statement(done.stored.memory)
    found = {
        each.memory.name: compare(_statement(each.memory), first)
        for each in memories.all().memories
        if each.memory.name != done.stored.memory.name
    }
    same = tuple(name for name, relation in found.items() if relation is Relation.SAME)
    others = (name for name, relation in found.items() if relation and name not in same)
    return replace(done, same=same, contradicted=tuple(others))


def _statement(memory: Memory) -> str:
    return next(iter(sentences(memory.body)), memory.description)


def _save(memories: Memories, wanted: RememberRequest, directory: str) -> Remembered:
    text = wanted.text.strip()
    if not text:
        raise MemoryRefused("There is nothing to remember. Say it in `text`.")
    whole = (os.path.normpath(Path(directory, path)) for path in wanted.files)
    root = memories.places.top or directory
    wanted = replace(wanted, files=tuple(os.path.relpath(path, root) for path in whole))
    first = next(iter(sentences(text)), text)
    statement = Statement(
        type=wanted.type or rules.guess_type(text),
        description=wanted.description or rules.describe(first) or first,
        body=format_body(text, wanted.why, wanted.how),
        correction=corrections.read_correction(text),
        said=text,
    )
    if wanted.name is not None or wanted.team:
        return _write_named(memories, statement, wanted, root)
    # Without evidence of a turn: an explicit request counts even if it was retired before.
    done = apply_statements(memories, [statement], (), memories.clock, directory, wanted.mark)
    for name in (*done.added, *done.updated):
        if stored := memories.get(name):
            return Remembered(stored, updated=name in done.updated)
    new = Memory("", statement.description, statement.type, statement.body)
    for stored in memories.all().memories:
        if not covers(stored.memory, new):
            continue
        if not wanted.pinned or not stored.is_ours or stored.memory.pinned:
            return Remembered(stored, known=True)
        with memories.change(f"confirmed: {stored.memory.name}") as change:
            pinned = change.write(replace(stored.memory, pinned=True), stored.checksum)
        return Remembered(pinned, known=True)
    raise MemoryRefused(f"It was not kept: {'; '.join(done.skipped).rstrip('.')}.")


def _write_named(
    memories: Memories, new: Statement, wanted: RememberRequest, root: str
) -> Remembered:
    """Replaces a memory of that name; the history keeps it. Without a name, nothing is replaced."""
    name = wanted.name or make_name(new.description)
    scope = OF_TEAM if wanted.team else None
    memory = Memory(name, new.description, new.type, new.body)
    with memories.change(f"remembered: {slugify(name)}") as change:
        old = change.get(name, scope)
        if old is not None and wanted.name is None:
            if covers(old.memory, memory):
                return Remembered(old, known=True)
            name = next(each for n in count(2) if not change.get(each := f"{name}-{n}", scope))
            memory, old = replace(memory, name=name), None
        if old is not None:
            if wanted.by_agent and not old.memory.by_agent:
                raise MemoryRefused(
                    f"{name} is in the user's words. Remember it under another name."
                )
            kind = wanted.type or old.memory.type
            memory = replace(old.memory, description=new.description, body=new.body, type=kind)
        made = locate_files(wanted.mark(memory), root, memories.clock())
        stored = change.write(made, old.checksum if old else None, scope)
    return Remembered(stored, updated=old is not None)
