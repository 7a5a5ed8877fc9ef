"""Writes what was said in a turn as memories, in one change. Idempotent: a turn can be processed twice.

A correction replaces the one memory that it contradicts by one with a new name; the old one is retired. What
is known already is left alone. What a user retired does not come back from the same turn.
"""

import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, count
from pathlib import Path

from aforesaid import freshness, repository
from aforesaid.clock import Clock
from aforesaid.errors import MemoryRefused
from aforesaid.grounding import KnownText
from aforesaid.memory.changes import Change, Memories
from aforesaid.memory.extraction import corrections, drafts, rules
from aforesaid.memory.extraction.drafts import Draft, DroppedDraft, covers, covers_all
from aforesaid.memory.extraction.rules import Statement, format_body, make_name
from aforesaid.memory.extraction.sentences import has, is_joke, normalize, own_sentences, own_words
from aforesaid.memory.format import fold_name, slugify
from aforesaid.memory.prompts import prompt_examples, prompt_text
from aforesaid.memory.replies import Unusable
from aforesaid.model.memories import (
    AGENT,
    BY,
    OF_TEAM,
    PROJECT,
    TYPES,
    USER,
    Memory,
    Message,
    StoredMemory,
)
from aforesaid.model.prose import sentences
from aforesaid.model.requests import Request
from aforesaid.privacy.redactor import RULES, Redactor
from aforesaid.similarity import Relation, compare, text_words, word_overlap
from aforesaid.text import cut, fenced, one_line

SHARED = 0.6  # of the words of a statement, in a memory of the same turn that says it
MAX_FILES = 8  # of one memory
ADDRESS = re.compile(r"\b[a-z][a-z0-9+.-]+://\S+")
FILE_NAME = re.compile(r"[\w@.+/-]{2,200}")


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


def apply_statements(
    memories: Memories,
    found: Iterable[Statement | Draft],
    evidence: Sequence[str],
    clock: Clock,
    root: str | None = None,
    made: Callable[[Memory], Memory] = lambda memory: memory,
) -> Applied:
    """`evidence`: identifies the turn, such as `event 345`. `clock`: when it was said; what is known from
    later is not corrected. `root`: the project's directory, for the files that a memory names. `made`: adds
    what else is known of each, such as a pin."""
    # Corrections find their memory first. Of a draft and a statement that say the same, the draft has the
    # better name.
    order = sorted(found, key=lambda each: isinstance(each, Draft) or 2 * (not each.correction))
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
        self.paths: dict[str, tuple[Path, ...]] = {}
        self.skipped: list[Skipped] = []

    def take(self, new: Statement | Draft) -> None:
        if isinstance(new, Draft):
            name, body, said = _draft_name(new), format_body(new.body, new.why, new.how), new.body
        else:
            name, body, said = make_name(new.description), new.body, new.said
        memory = Memory(name, new.description, new.type, body, created=self.now)
        memory = self.made(replace(memory, evidence=self.evidence))
        before = next((old for old in self.of_turn if _is_told_by(old, memory, said)), None)
        try:
            if before:
                why: str | None = f"taken before: {before.name}"
            elif target := self._find_target(memory, new):
                why = self._correct(*target)
            elif isinstance(new, Draft) or new.stands:
                why = self._add(memory)
            else:
                why = "it puts nothing right that is known"
        except MemoryRefused as error:  # edited in this moment, or a forbidden name
            why = str(error)
        if why:
            self.skipped.append(Skipped(new.description, why))

    def result(self) -> Applied:
        """Without the files that somebody edited while they were written."""
        by_hand = set(self.change.kept_by_hand)
        edited = {name for name, paths in self.paths.items() if by_hand & set(paths)}
        skipped = [Skipped(name, f"{name} is just being edited") for name in sorted(edited)]
        added, updated = (
            tuple(name for name in names if name not in edited)
            for names in (self.added, self.replaced)
        )
        return Applied(added, updated, (*self.skipped, *skipped))

    def _find_target(
        self, memory: Memory, new: Statement | Draft
    ) -> tuple[StoredMemory, Memory] | None:
        """The memory that is corrected, and its new version. An agent's note corrects none of the user's: the
        agent may have read it somewhere."""
        ours = {
            each.memory.name: each
            for each in self.known
            if each.is_ours and (each.memory.by_agent or not memory.by_agent)
        }
        if isinstance(new, Draft):
            if new.updates not in ours or not drafts.may_update(ours[new.updates].memory, memory):
                return None
            old = ours[new.updates].memory
            version = replace(old, description=memory.description, body=memory.body)
        else:
            known = (each.memory for each in ours.values())
            found = new.correction and corrections.contradicted(new.correction, known)
            if not found or not new.correction:
                return None
            old, term = found
            version = corrections.correct_memory(old, memory, new.correction, term)
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
        self.paths[name] = (*self.paths[name], old.path)
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
        self.paths[memory.name] = (stored.path,)


def _draft_name(draft: Draft) -> str:
    """The model's, if it is made of words that the memory has."""
    text = KnownText(draft.description, draft.body)
    name = slugify(draft.name)
    known = all(map(text.knows, text_words(name.replace("-", " "))))
    return name if "-" in name and known else make_name(draft.description)


def _is_told_by(memory: Memory, new: Memory, said: str) -> bool:
    """Perhaps in other words by now: people edit what was taken from their own."""
    if (said and said in memory.body) or covers(memory, new):
        return True
    mine, theirs = drafts.subject_words(memory), drafts.subject_words(new)
    return len(mine & theirs) >= SHARED * len(theirs)


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
    """`known`: it existed and says it. `updated`: it existed and was changed. `same` and `contradicted`: the
    names of other memories, which a dream may merge or retire."""

    stored: StoredMemory
    known: bool = False
    updated: bool = False
    same: tuple[str, ...] = ()
    contradicted: tuple[str, ...] = ()


def remember(memories: Memories, wanted: RememberRequest, directory: str) -> Remembered:
    """Raises MemoryRefused."""
    done = _save(memories, wanted, directory)
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
    if wanted.type is not None and wanted.type not in TYPES:
        raise MemoryRefused(f"{wanted.type!r} is no type. Use one of {', '.join(TYPES)}.")
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
    raise MemoryRefused(f"It was not kept: {', '.join(each.why for each in done.skipped)}.")


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
    if memories.get(name, scope) is None:
        raise MemoryRefused(f"{stored.path} could not be written. Make its folder writable.")
    return Remembered(stored, updated=old is not None)


MESSAGES, ROOM = 10, 4_000  # the last ones, and characters of them
MAX_ANSWER = 300  # of the assistant's: what it says counts only if the user agrees
KNOWN_ROOM, KNOWN_LINE = 3_000, 160
REPLY_TOKENS = 700
ASK = "Which memories are to be written? Answer with a JSON array alone, [] if there is nothing to keep."
EXAMPLES = ("extract_example_correction", "extract_example_task", "extract_example_quote")


@dataclass(frozen=True, slots=True)
class Extraction:
    """`drafts` are grounded; `dropped` were not, each with the reason."""

    drafts: tuple[Draft, ...]
    dropped: tuple[DroppedDraft, ...]


def statements_by_rules(dialogue: Sequence[Message], redactor: Redactor = RULES) -> list[Statement]:
    """What the user said explicitly in the newest message."""
    return rules.statements(*_newest(dialogue), redactor)


def may_teach(dialogue: Sequence[Message]) -> bool:
    """Whether the newest message may hold something to keep; only then a model is asked."""
    prompt, before = _newest(dialogue)
    own = own_sentences(prompt)
    if is_joke(own):
        return False
    if drafts.user_agreed(prompt) and has("standing", normalize(before)):
        return True
    return any(map(_may_last, own)) or bool(rules.statements(prompt, before))


def _may_last(sentence: str) -> bool:
    text = normalize(sentence)
    if len(text.split()) < rules.MIN_WORDS or rules.is_task(text):
        return False
    if rules.passing(text) is not None or has("symptom", text):
        return False
    reading = rules.read(sentence)  # an order needs more than politeness to last
    return reading.points >= (1 if reading.type == PROJECT else 2)


def _newest(dialogue: Sequence[Message]) -> tuple[str, str]:
    """The user's newest message, and the assistant's message before it."""
    for number in range(len(dialogue) - 1, -1, -1):
        if dialogue[number].role == "user":
            before = dialogue[number - 1] if number else dialogue[number]
            return dialogue[number].text, before.text if before.role != "user" else ""
    return "", ""


def build_extraction_request(dialogue: Sequence[Message], existing: Sequence[Memory]) -> Request:
    """The system prompt and the examples never change, so that providers can cache them."""
    shown = _shown(dialogue)
    message = f"Known memories:\n{_known(existing, shown)}\n\nThe talk:\n{shown}\n\n{ASK}"
    return Request(prompt_text("extract"), prompt_examples(*EXAMPLES), message, REPLY_TOKENS)


def parse_extraction(
    reply: str, dialogue: Sequence[Message], redactor: Redactor = RULES
) -> Extraction | Unusable:
    proposed = drafts.read_extraction(reply)
    if isinstance(proposed, Unusable):
        return proposed
    checked = [drafts.ground_draft(draft, dialogue, redactor) for draft in proposed]
    return Extraction(
        tuple(each for each in checked if isinstance(each, Draft)),
        tuple(each for each in checked if isinstance(each, DroppedDraft)),
    )


def _shown(dialogue: Sequence[Message]) -> str:
    """The user's newest message, and older ones as far as there is room. The assistant's answer to the newest
    is left out: nobody agreed to it, and small models take it for the user's."""
    lines: list[str] = []
    room = ROOM
    newest = max((n for n, each in enumerate(dialogue, 1) if each.role == "user"), default=0)
    for message in reversed(dialogue[:newest][-MESSAGES:]):
        if message.role == "user":
            who, text = "User", own_words(message.text) or "(pasted text, left out)"
        else:
            who, text = "Assistant", cut(message.text, MAX_ANSWER)
        text = cut(fenced(text), room)
        if not text:
            break
        room -= len(text)
        # Only our own lines begin at the margin.
        lines.append(f"{who}: {text}".replace("\n", "\n  "))
    return "\n".join(reversed(lines))


def _known(existing: Sequence[Memory], shown: str) -> str:
    """The most similar first."""
    words = text_words(shown)
    near = sorted(existing, key=lambda each: -word_overlap(words, text_words(each.description)))
    told = (one_line(f"{each.name}: {each.description}", KNOWN_LINE) for each in near)
    lines = [f"- {fenced(each)}" for each in told]
    sizes = accumulate(map(len, lines))
    fitting = [line for line, size in zip(lines, sizes, strict=True) if size <= KNOWN_ROOM]
    return "\n".join(fitting) or "- none"
