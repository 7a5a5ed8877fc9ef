"""Whether a new observation says again what an old one says, or continues it.

Pure, and careful: a repetition is hidden, so one that is not quite the same must not be called one.
`retries 3 times` and `retries 5 times` differ, as do `works` and `does not work`; unsure means neither.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from aforesaid import text
from aforesaid.english import STOP_WORDS
from aforesaid.model.observations import (
    ANYWHERE,
    HELD_REASONS,
    ONLY_RECALLED,
    UNKNOWN_SOURCE,
    Observation,
    ObservationDraft,
)
from aforesaid.model.prose import sentences
from aforesaid.similarity import (
    COMMON_STEMS,
    Relation,
    Statement,
    canonical_stem,
    compare,
    contradicts,
    covers_statement,
    parse_statement,
    word_overlap,
)

MOST_WORDS = 12
_NAMES = r"((?:`[^`]+`(?:, )?)+)"
ADDED, REMOVED = re.compile(rf"\b(?:added|with) {_NAMES}"), re.compile(rf"\bremoved {_NAMES}")
AGAINST = re.compile(r",? (?:not|instead of|rather than|over) ")  # what a decision is not for
REVERT = re.compile(r"revert\b", re.IGNORECASE)
SAME_SUBJECT = 0.5  # likeness of titles, for two that say the same
NEAR_TITLE = 0.66  # likeness of titles, for two that tell of one thing and share a file
SAME_TITLE = 0.8  # ... or share none
KNOWN_WORDS = 0.75  # of what subtitle and narrative say


def search_words(draft: ObservationDraft) -> list[str]:
    """The words to look for older ones with, the most telling first."""
    files = (PurePosixPath(path).stem for path in (*draft.files_modified, *draft.files_read))
    title = draft.title or " ".join([*draft.facts[:1], draft.narrative or ""][:1])
    found: dict[str, str] = {}
    for source in (title, *draft.concepts, *files):
        for word in text.words(text.one_line(source, 400)):
            low = word.lower()
            if low not in STOP_WORDS and canonical_stem(low) not in COMMON_STEMS and len(low) > 1:
                found.setdefault(canonical_stem(low), word)
    return list(found.values())[:MOST_WORDS]


def link_duplicates(
    draft: ObservationDraft, known: Sequence[Observation], *, session_id: int = 0
) -> ObservationDraft:
    """With the older one that it repeats or follows, if there is one. What only the web has said before is
    confirmed by another session that knows it from elsewhere, and says all of it: a note that holds more than
    was found again gains nothing by it."""
    new = _read(draft)
    read = [(old, _read(old.draft)) for old in known]
    order = new.title.order
    read.sort(key=lambda row: (word_overlap(order, row[1].title.order), row[0].at), reverse=True)
    for old, known_parts in read:
        decided = draft.type == old.draft.type == "decision"
        if decided and _compare_decisions(draft, old.draft) is not Relation.SAME:
            continue
        if not _repeats(new, known_parts):
            continue
        if _is_independent(draft, old, session_id) and _repeats(known_parts, new):
            key = _target(old)
            return replace(draft, repeats=key, follows=None, corroborates=key)
        # Unsupported words must not replace the same words with support.
        if not (old.draft.doubts and not draft.doubts):
            return replace(draft, repeats=_target(old), follows=None)
    for old, known_parts in read:
        decided = draft.type == old.draft.type == "decision"
        changes = decided and _compare_decisions(draft, old.draft)
        if changes or _takes_back(draft, old.draft) or _follows(new, known_parts):
            return replace(draft, repeats=None, follows=_target(old))
    return replace(draft, repeats=None, follows=None)


def drop_repeated(draft: ObservationDraft, earlier: Sequence[Observation]) -> ObservationDraft:
    """Without the quotations that earlier notes of the session have, unless nothing would be left."""
    known = {said for old in earlier for said in (old.draft.subtitle, *old.draft.facts)}
    facts = tuple(fact for fact in draft.facts if fact not in known)
    subtitle = None if draft.subtitle in known else draft.subtitle
    return replace(draft, facts=facts, subtitle=subtitle) if facts or subtitle else draft


def _compare_decisions(new: ObservationDraft, old: ObservationDraft) -> Relation | None:
    """Whether the newer one is the same, or says more or something else about the same thing."""
    titles = [AGAINST.split(each.title or "")[0] for each in (old, new)]
    found = compare(*titles)
    return Relation.REPLACES if found and new.title not in titles else found


def _takes_back(new: ObservationDraft, old: ObservationDraft) -> bool:
    """Whether it removes at least half of what the older one added, or reverts its commit."""
    if REVERT.match(new.title or "") and old.title and f'"{old.title}"' in (new.title or ""):
        return True
    added, removed = _named(old, ADDED), _named(new, REMOVED) - _named(new, ADDED)
    shared = set(new.files_modified) & set(old.files_modified)
    moved = any("created `" in fact for fact in new.facts)
    return bool(added and shared) and not moved and 2 * len(added & removed) >= len(added)


def _named(draft: ObservationDraft, pattern: re.Pattern[str]) -> set[str]:
    """Symbols in the facts about changed files, as `providers/extract/notes.py` writes them."""
    lists = (each[1] for fact in draft.facts for each in pattern.finditer(fact))
    return {name for names in lists for name in re.findall(r"`([^`]+)`", names)}


def _target(old: Observation) -> int:
    return old.id if old.draft.repeats is None else old.draft.repeats


def _is_independent(draft: ObservationDraft, old: Observation, session_id: int) -> bool:
    """Whether a draft knows what another session has from the web, and not from there or from us."""
    reasons = {doubt.reason for doubt in draft.doubts}
    if old.session_id == session_id or not old.draft.held_back or ONLY_RECALLED in reasons:
        return False
    if not reasons | {doubt.reason for doubt in old.draft.doubts} <= set(HELD_REASONS):
        return False
    vague = {ANYWHERE, UNKNOWN_SOURCE}
    here, there = set(draft.sources), set(old.draft.sources)
    return not draft.held_back or not (here & there or (here | there) & vague)


@dataclass(frozen=True, slots=True)
class _Read:
    title: Statement
    facts: tuple[Statement, ...]
    rest: tuple[Statement, ...]
    files: frozenset[str]
    concepts: frozenset[str]

    @property
    def all(self) -> tuple[Statement, ...]:
        return (self.title, *self.facts, *self.rest)


def _read(draft: ObservationDraft) -> _Read:
    rest = [*filter(None, [draft.subtitle]), *sentences(draft.narrative or "")]
    return _Read(
        parse_statement(draft.title or ""),
        tuple(parse_statement(each) for fact in draft.facts for each in sentences(fact)),
        tuple(map(parse_statement, rest)),
        frozenset((*draft.files_read, *draft.files_modified)),
        frozenset(
            canonical_stem(word.lower()) for each in draft.concepts for word in text.words(each)
        ),
    )


def _repeats(new: _Read, old: _Read) -> bool:
    known_words = _union(old.all)
    if not (new.facts or new.rest):
        return covers_statement(old.title, new.title)
    return (
        word_overlap(new.title.strong, old.title.strong) >= SAME_SUBJECT
        and not contradicts(new.title, old.title)
        and new.title.exact <= known_words
        and all(any(covers_statement(each, fact) for each in old.all) for fact in new.facts)
        and all(_is_known(each, old, known_words) for each in new.rest)
        and not (new.concepts & _union(new.all)) - known_words - COMMON_STEMS
    )


def _is_known(new: Statement, old: _Read, known_words: frozenset[str]) -> bool:
    """Told before, in other sentences perhaps: no other number or name, and hardly another word."""
    if any(covers_statement(each, new) for each in old.all):
        return True
    nearest = max(old.all, key=lambda each: word_overlap(each.order, new.order))
    shared = len(new.strong & known_words) >= KNOWN_WORDS * len(new.strong)
    return new.exact <= known_words and shared and not contradicts(nearest, new)


def _follows(new: _Read, old: _Read) -> bool:
    mine, theirs = (each.title.strong - each.title.exact for each in (new, old))
    names, old_names = (
        {word for word in each.title.exact if not word[0].isdigit()} for each in (new, old)
    )
    if names != old_names or len(mine & theirs) + len(names) < 2:
        return False
    near = word_overlap(mine | names, theirs | names)
    return near >= (NEAR_TITLE if new.files & old.files else SAME_TITLE)


def _union(statements: Iterable[Statement]) -> frozenset[str]:
    return frozenset(word for each in statements for word in each.order)
