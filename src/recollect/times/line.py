"""A text as words that a time phrase can be made of.

Whatever is not a plain word (a path, a version, an id, a call) stays one piece that no phrase knows, so that
nothing is read out of its middle.
"""

import re
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple

from recollect import clock
from recollect.times.days import SHORT_MONTHS, WEEKDAY_NUMBERS, Days, midnight

OPENING, CLOSING, QUOTES = "([{<\"'`“‘«*", ")]}>\"'`”’»*.,;:!?…", "\"'`”’»*"
PIECE = re.compile(r"\.\.+|[–—]+|(?:(?!\.\.)[^\s–—])+")
TWO_DAYS = re.compile(r"([0-9]{1,2})(-)([0-9]{1,2})")
POSSESSIVE = re.compile(r"['’][sS]\Z")
YEAR_NUMBER = re.compile(r"(?:19|20)[0-9]{2}")
MID = "mid-"
LONGEST_PHRASE = 16  # words


class Word(NamedTuple):
    """In small letters; `stops`: no phrase goes on behind it."""

    text: str
    start: int
    end: int
    capital: bool
    stops: bool = False


@dataclass(frozen=True, slots=True)
class Read:
    """What a phrase says, in milliseconds, and the word behind it."""

    since: int | None
    until: int | None
    end: int
    exact: bool = True


@dataclass(frozen=True, slots=True)
class Line:
    """The words that a phrase may be made of. `whole`: nothing but a time is meant by them."""

    words: list[Word]
    now: int
    today: date
    whole: bool = False
    stop: int = 0  # the word behind the last one

    @classmethod
    def of(cls, text: str, now: int, *, whole: bool = False) -> "Line":
        return cls(words(text), now, clock.local(now).date(), whole)

    def from_word(self, i: int) -> "Line":
        """As far as one phrase can go."""
        stop = i + 1
        while stop < min(len(self.words), i + LONGEST_PHRASE) and not self.words[stop - 1].stops:
            stop += 1
        return Line(self.words, self.now, self.today, self.whole, stop)

    def at(self, i: int) -> str:
        return self.words[i].text if 0 <= i < self.stop else ""

    def before(self, i: int) -> str:
        """The word before, whatever sentence it is in."""
        return self.words[i - 1].text if i else ""

    def ends(self, i: int) -> bool:
        """No word of the same sentence is there."""
        return i >= self.stop


def read_days(days: Days, end: int) -> Read:
    return Read(midnight(days[0]), midnight(days[1]), end)


def words(text: str) -> list[Word]:
    """`3-9` is three words, `October's` is October, `mid-May` is May."""
    found: list[Word] = []
    for piece in PIECE.finditer(text):
        opened = piece[0].lstrip(OPENING)
        bare = opened.rstrip(CLOSING) or opened
        start = piece.end() - len(opened)
        if found and start > piece.start():
            found[-1] = found[-1]._replace(stops=True)
        for a, b in _cuts(bare):
            found.append(Word(bare[a:b].lower(), start + a, start + b, bare[a:b].istitle()))
        mark = opened[len(bare) :].strip(QUOTES)
        if found and mark and not _goes_on(found[-1].text, mark, text[piece.end() :][:6]):
            found[-1] = found[-1]._replace(stops=True)
    return found


def _cuts(bare: str) -> list[tuple[int, int]]:
    if pair := TWO_DAYS.fullmatch(bare):
        return [pair.span(1), pair.span(2), pair.span(3)]
    begin = len(MID) if bare[: len(MID)].lower() == MID else 0
    end = len(POSSESSIVE.sub("", bare))
    return [(begin, end)] if begin < end else []


def _goes_on(word: str, mark: str, rest: str) -> bool:
    """`Oct. 5`, `October 5, 2026` and `Monday, 5 October` are one phrase."""
    if mark == ",":
        return word in WEEKDAY_NUMBERS or YEAR_NUMBER.match(rest.strip()) is not None
    return mark == "." and word in SHORT_MONTHS
