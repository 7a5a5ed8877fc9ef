"""Replaces secrets. Everything that comes from outside passes here before anything else sees it.

A text without secrets comes back as the same object, and redacting twice changes nothing. `Redactor()` without
settings knows every rule, so a caller that was given no redactor still redacts.
"""

import itertools
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ahocorasick_rs import AhoCorasick, Implementation

from aforesaid.privacy import (
    assignments,
    documents,
    keys,
    marking,
    private,
    prose,
    unknown,
    values,
    view,
)
from aforesaid.privacy.files import HINTS, Fields, Guarded
from aforesaid.privacy.marking import Mark
from aforesaid.privacy.rules import CONTEXT, TOKENS, Places, Rule

PRIVATE, KEY, OWN_VALUE, DOCUMENT, UNKNOWN, PROSE = (
    *("private", "private-key", "environment", "document", "token", "prose"),
)
NOTHING: Mapping[str, str] = {}
MARKED = ""  # replaced before
SHORTEST = 6  # a text of fewer characters holds no secret
_REPEATED = range(8, 500)  # characters of a secret that is looked for elsewhere
_ROUNDS = 4
_HALVES = re.compile("[\ud800-\udfff]")  # surrogates, which cannot be encoded


class Found(NamedTuple):
    kind: str
    start: int
    end: int


class Needles:
    """Finds all needles in one pass. The text has ASCII characters only, as `to_ascii` makes it."""

    def __init__(self, wanted: Iterable[str]) -> None:
        self._wanted = tuple(dict.fromkeys(each for each in wanted if each.isascii()))
        self._automaton = AhoCorasick(
            self._wanted, implementation=Implementation.DFA, store_patterns=False
        )

    def find(self, text: str) -> dict[str, list[int]]:
        """Where each needle begins, in order; only those that are there."""
        places: dict[str, list[int]] = defaultdict(list)
        wanted = self._wanted
        for needle, start, _ in self._automaton.find_matches_as_indexes(text, overlapping=True):
            places[wanted[needle]].append(start)
        return dict(places)


def to_ascii(text: str) -> str:
    """One character for each of the text, so that places stay the same."""
    return text if text.isascii() else text.encode("ascii", "replace").decode("ascii")


def _by_needle(rules: Sequence[Rule]) -> dict[str, list[int]]:
    numbers: dict[str, list[int]] = defaultdict(list)
    for number, rule in enumerate(rules):
        for needle in rule.needles:
            numbers[needle].append(number)
    return dict(numbers)


_TOKEN_RULES, _CONTEXT_RULES = _by_needle(TOKENS), _by_needle(CONTEXT)
_TOKEN_NEEDLES = Needles(_TOKEN_RULES)
_WORDS = (
    *HINTS,
    *_CONTEXT_RULES,
    *assignments.STEMS,
    *prose.NEEDLES,
    *documents.NEEDLES,
    *keys.NEEDLES,
    *view.NEEDLES,
    *view.LETTERS,
    *unknown.NEEDLES,
    private.WORD,
)
_WORD_NEEDLES = Needles(_WORDS)
_OTHER_WORDS = tuple(each for each in _WORDS if not each.isascii())


class _Text(NamedTuple):
    """A text, and where the words stand that the rules look for."""

    text: str
    plain: str
    lowered: str
    places: dict[str, list[int]]

    @classmethod
    def of(cls, text: str) -> "_Text":
        plain = to_ascii(text)
        lowered = plain.lower()
        places = _WORD_NEEDLES.find(lowered)
        for word in _OTHER_WORDS if plain is not text else ():
            if found := [each.start() for each in re.finditer(word, text)] if word in text else []:
                places[word] = found
        return cls(text, plain, lowered, places)


def find_places(text: str) -> Places:
    read = _Text.of(text)
    return read.places | _TOKEN_NEEDLES.find(read.plain)


@dataclass(frozen=True, slots=True)
class Redactor:
    """`values`: secrets that are known literally. `on_found`: called with the kind of each secret that is replaced,
    never with the secret. `fields`: of the payloads of all agents."""

    mark: Mark = marking.plain
    values: tuple[str, ...] = ()
    own: tuple[Rule, ...] = ()
    guarded: Guarded = field(default_factory=Guarded)
    on_found: Callable[[str], None] = lambda _: None
    fields: Fields = field(default_factory=Fields)

    def text(self, text: str, known: Mapping[str, str] = NOTHING) -> str:
        """`known`: further secrets and their kinds, found elsewhere."""
        if len(text) < SHORTEST and not known:
            return text
        for _ in range(_ROUNDS):
            shown, found = self._look(text, known)
            after = self._replace(shown, found)
            if after == text:
                break
            text = after  # what stands beside a mark may read differently than before
        return text

    def is_clean(self, text: str) -> bool:
        shown, found = self._look(text)
        return shown == text and not found

    def has_secret(self, text: str) -> bool:
        """Whether it has one, or had one that is replaced by a mark."""
        return marking.OPENING in text or private.MARK in text or bool(self.find(text))

    def find(self, text: str, known: Mapping[str, str] = NOTHING) -> list[Found]:
        """Every secret and private part, in order; none overlaps another."""
        return self._find(_Text.of(text), known)

    def _look(self, text: str, known: Mapping[str, str] = NOTHING) -> tuple[str, list[Found]]:
        """The text without content of guarded files, and what is to be replaced in it."""
        read = _Text.of(text)
        shown = self.guarded.without_content(text, read.places)
        if shown == text:
            return text, self._find(read, known)
        return shown, self.find(shown, known)

    def _find(self, read: _Text, known: Mapping[str, str]) -> list[Found]:
        taken = _Taken()
        if marking.OPENING in read.text:
            # Marks of earlier secrets are neither names nor values.
            for mark in marking.MARK.finditer(read.text):
                taken.add(MARKED, *mark.span())
            read = _Text.of(marking.MARK.sub(lambda mark: "\1" * len(mark[0]), read.text))
        text, places = read.text, read.places
        if any(private.is_behind_bracket(text, at) for at in places.get(private.WORD, ())):
            taken.add_all(_name(PRIVATE, private.spans(text)))
        for value, kind in (*((each, OWN_VALUE) for each in self.values), *known.items()):
            at = text.find(value)
            while at >= 0:
                taken.add(kind, at, at + len(value))
                at = text.find(value, at + len(value))
        taken.add_all(self._find_by_rules(read))
        if markers := _find_markers(places):
            seen, original = view.decode(text, markers)
            for kind, start, end in self._find_by_rules(_Text.of(seen)):
                taken.add(kind, original[start], original[end])
        taken.add_all(_find_repeated(text, taken.found))
        return [each for each in taken.found if each.kind != MARKED]

    def _find_by_rules(self, read: _Text) -> Iterator[Found]:
        text, places = read.text, read.places
        if any(needle in places for needle in keys.NEEDLES):
            yield from _name(KEY, keys.spans(text))
        tokens = list(_run(TOKENS, _TOKEN_RULES, text, _TOKEN_NEEDLES.find(read.plain)))
        yield from tokens
        for rule in self.own:
            yield from _name(rule.name, rule.spans(text, {}))
        yield from _run(CONTEXT, _CONTEXT_RULES, text, places)
        yield from _name(DOCUMENT, documents.spans(text, read.lowered, places))
        yield from itertools.starmap(Found, assignments.spans(text, places))
        yield from _name(PROSE, prose.spans(text, places))
        yield from _name(UNKNOWN, unknown.spans(read.plain))
        beside = (each.start for each in tokens)
        yield from _name(UNKNOWN, unknown.spans_near_words(read.plain, places, beside))

    def _replace(self, text: str, found: list[Found]) -> str:
        if not found:
            return text
        parts: list[str] = []
        done = 0
        for kind, start, end in found:
            self.on_found(kind)
            mark = private.MARK if kind == PRIVATE else self.mark(kind, text[start:end])
            parts += (text[done:start], mark)
            done = end
        return "".join((*parts, text[done:]))


def is_worth_repeating(value: str) -> bool:
    """Whether a secret is long and odd enough to be looked for wherever else it may stand."""
    return len(value) in _REPEATED and "\n" not in value and not values.is_plain(value)


def _run(
    rules: Sequence[Rule], by_needle: dict[str, list[int]], text: str, places: Places
) -> Iterator[Found]:
    tried = sorted({number for needle in places for number in by_needle.get(needle, ())})
    for number in tried:
        yield from _name(rules[number].name, rules[number].spans(text, places))


def _name(kind: str, spans: Iterable[tuple[int, int]]) -> Iterator[Found]:
    return (Found(kind, start, end) for start, end in spans)


def _find_markers(places: Places) -> list[int]:
    """Where encoded characters may hide a name, or what belongs to one."""
    found = [at for needle in view.LETTERS for at in places.get(needle, ())]
    encoded = [at for needle in view.NEEDLES for at in places.get(needle, ())]
    if encoded:
        hits = sorted(at for stem in assignments.STEMS for at in places.get(stem, ()))
        found += (at for at in encoded if view.is_near(at, hits))
    return found


def _find_repeated(text: str, found: list[Found]) -> list[Found]:
    """What was found once is a secret wherever else it stands."""
    kinds = {
        text[each.start : each.end]: each.kind
        for each in found
        if each.kind not in (MARKED, PRIVATE) and is_worth_repeating(text[each.start : each.end])
    }
    if not kinds or (not text.isascii() and _HALVES.search(text)):
        return []
    listed = tuple(kinds)
    automaton = AhoCorasick(
        listed, implementation=Implementation.NoncontiguousNFA, store_patterns=False
    )
    hits = automaton.find_matches_as_indexes(text)
    return [Found(kinds[listed[number]], start, end) for number, start, end in hits]


class _Taken:
    """Parts of a text that do not overlap. The first has priority; a later one adds what reaches beyond it."""

    def __init__(self) -> None:
        self.found: list[Found] = []

    def add_all(self, found: Iterable[Found]) -> None:
        for each in found:
            self.add(*each)

    def add(self, kind: str, start: int, end: int) -> None:
        at = bisect_right(self.found, start, key=lambda each: each.start)
        start = max(start, self.found[at - 1].end) if at else start
        while start < end:
            following = self.found[at] if at < len(self.found) else Found("", end, end)
            if start < following.start:
                self.found.insert(at, Found(kind, start, min(end, following.start)))
                at += 1
            start = max(start, following.end)
            at += 1


RULES = Redactor()  # every rule, and no settings
