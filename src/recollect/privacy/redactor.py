"""The one who replaces secrets. Everything that comes from outside passes it, before anything else sees it.

What has none comes back as it is, the same object. To redact twice changes nothing. A redactor of no home
at all still knows every rule: whoever forgets to hand one over has not forgotten to redact.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from recollect.privacy import keys, literals, marking, private
from recollect.privacy.files import HINTS, Guarded
from recollect.privacy.marking import Mark
from recollect.privacy.needles import Needles
from recollect.privacy.rule import Places, Rule, lower
from recollect.privacy.rules import ALL, TOKENS

PRIVATE, KEY, OWN_VALUE = "private", "private-key", "environment"
MARKED = ""  # replaced already
NEEDLES = Needles((*HINTS, *(needle for rule in ALL for needle in rule.needles)))
# Rules by their place in ALL: those without a needle are always tried, the others where one of theirs stands.
ALWAYS = frozenset(number for number, rule in enumerate(ALL) if not rule.needles)
ASKED_FOR: dict[str, set[int]] = {}
for _number, _rule in enumerate(ALL):
    for _needle in _rule.needles:
        ASKED_FOR.setdefault(_needle, set()).add(_number)


class Found(NamedTuple):
    """`kind`: the rule's name."""

    kind: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Redactor:
    """`values`: secrets that are known word for word. `on_found`: told a kind, for each that is replaced;
    never what it was."""

    mark: Mark = marking.plain
    values: tuple[str, ...] = ()
    own: tuple[Rule, ...] = ()
    guarded: Guarded = field(default_factory=Guarded)
    on_found: Callable[[str], None] = lambda _: None

    @classmethod
    def made(
        cls,
        *,
        mark: Mark = marking.plain,
        env: Mapping[str, str] | None = None,
        leave: Iterable[str] = (),
        own: tuple[Rule, ...] = (),
        paths: Iterable[str] = (),
        on_found: Callable[[str], None] = lambda _: None,
    ) -> "Redactor":
        values = literals.of(env or {}, leave)
        spelled = tuple(dict.fromkeys(v for value in values for v in literals.variants(value)))
        return cls(mark, spelled, own, Guarded.of(paths), on_found)

    def text(self, text: str) -> str:
        if len(text) < literals.LEAST - 2:  # too short for any of it
            return text
        return self._replaced(*self._looked_at(text))

    def is_clean(self, text: str) -> bool:
        """Whether it would come back as it is."""
        shown, found = self._looked_at(text)
        return shown == text and not found

    def has_secret(self, text: str) -> bool:
        """Whether it has one, or had one: a mark stands in its place."""
        return marking.OPENING in text or private.MARK in text or bool(self.find(text))

    def texts(self, texts: Iterable[str]) -> tuple[str, ...]:
        return tuple(map(self.text, texts))

    def maybe(self, text: str | None) -> str | None:
        return None if text is None else self.text(text)

    def find(self, text: str) -> list[Found]:
        """Every secret and private part, in order; none overlaps another."""
        lowered = lower(text)
        return self._find(text, lowered, NEEDLES.found(lowered))

    def _looked_at(self, text: str) -> tuple[str, list[Found]]:
        """What is left without guarded files, and what is to be replaced in that."""
        lowered = lower(text)
        places = NEEDLES.found(lowered)
        shown = self.guarded.without_content(text, places)
        if shown == text:
            return text, self._find(text, lowered, places)
        return shown, self.find(shown)

    def _find(self, text: str, lowered: str, places: Places) -> list[Found]:
        taken = _Taken()
        if private.WORD in lowered:
            for start, end in private.spans(text):
                taken.add(PRIVATE, start, end)
        for mark in marking.MARK.finditer(text) if marking.OPENING in text else ():
            taken.add(MARKED, *mark.span())
        for kind, start, end in self._secrets(text, places):
            taken.add(kind, start, end)
        return [each for each in taken.found if each.kind != MARKED]

    def _secrets(self, text: str, places: Places) -> Iterator[Found]:
        for value in self.values:
            at = text.find(value)
            while at >= 0:
                yield Found(OWN_VALUE, at, at + len(value))
                at = text.find(value, at + len(value))
        for start, end in keys.spans(text):
            yield Found(KEY, start, end)
        tried = sorted(ALWAYS.union(*(ASKED_FOR.get(needle, ()) for needle in places)))
        own = bisect_left(tried, len(TOKENS))
        rules = [ALL[number] for number in tried]
        for rule in (*rules[:own], *self.own, *rules[own:]):
            for start, end in rule.spans(text, places):
                yield Found(rule.name, start, end)

    def _replaced(self, text: str, found: list[Found]) -> str:
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


RULES = Redactor()  # every rule, and nothing of a home


class _Taken:
    """Parts of a text that do not overlap. Who comes first has it; what reaches beyond it adds the rest."""

    def __init__(self) -> None:
        self.found: list[Found] = []

    def add(self, kind: str, start: int, end: int) -> None:
        at = bisect_right(self.found, start, key=lambda each: each.start)
        if at and self.found[at - 1].end > start:
            start = self.found[at - 1].end
        if start < end and (at == len(self.found) or self.found[at].start >= end):
            self.found.insert(at, Found(kind, start, end))
        elif start < end:
            following = self.found[at]
            if start < following.start:
                self.found.insert(at, Found(kind, start, following.start))
            self.add(kind, following.end, end)
