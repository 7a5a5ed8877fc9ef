"""A rule: what a kind of secret looks like, with an example and texts that are none. Both are tests.

Every rule is linear, and cheap where there is nothing: a text is searched for the short literal `needles`
of all rules at once, and only where one stands is the pattern tried. Patterns have bounded quantifiers, and
a token begins only where none goes on.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

# Behind a character that may stand in a token no token begins. An escaped line end is no such character,
# though it ends in a letter: output often is JSON in JSON. Nor is a character of an encoded address.
START = r"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{2}))"
END = r"(?![A-Za-z0-9_-])"
Places = Mapping[str, Sequence[int]]  # of each needle that a text has: where it begins, in order
VALUE = "secret"  # the group that is replaced, where that is not the whole


@dataclass(frozen=True, slots=True)
class Rule:
    """The pattern begins with a needle, or at most `back` characters before it. Needles are in lower case,
    whatever the pattern says of it; without any, it is searched for everywhere. `judge`: has the last word
    on a match. `grow`: how far the secret reaches back from there."""

    name: str
    pattern: re.Pattern[str]
    needles: tuple[str, ...]
    example: str
    counters: tuple[str, ...]
    judge: Callable[[re.Match[str]], bool] | None = None
    back: int = 0
    grow: int = 0

    def spans(self, text: str, places: Places) -> Iterator[tuple[int, int]]:
        """Where the secrets stand. `places`: where the needles do."""
        group = VALUE if VALUE in self.pattern.groupindex else 0
        for match in self._matches(text, places):
            start, end = match.span(group)
            while start > match.start() - self.grow and start and _goes_on(text[start - 1]):
                start -= 1
            yield start, end

    def _matches(self, text: str, places: Places) -> Iterator[re.Match[str]]:
        if not self.needles:
            yield from filter(self.judge, self.pattern.finditer(text))
        for needle in self.needles:
            done = 0
            for at in places.get(needle, ()):
                if at >= done and (match := self._match(text, at)):
                    yield match
                    done = match.end()

    def _match(self, text: str, at: int) -> re.Match[str] | None:
        for start in range(max(0, at - self.back), at + 1) if self.back else (at,):
            match = self.pattern.match(text, start)
            if match and match.end() > at and (self.judge is None or self.judge(match)):
                return match
        return None


def _goes_on(character: str) -> bool:
    return character.isalnum() or character in "_-"


def token(
    name: str, pattern: str, needles: str, example: str, *counters: str, back: int = 0
) -> Rule:
    """A token that is known by how it begins."""
    compiled = re.compile(START + pattern, re.ASCII)
    return Rule(name, compiled, tuple(needles.lower().split()), example, counters, back=back)


def lower(text: str) -> str:
    """Character for character, which `str.lower` is not for a few letters."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(c.lower() if c.isascii() else c for c in text)
