"""Periods as people write them: in a filter, in a question, in a statement.

In the local time zone, in milliseconds, `until` exclusive; an end that is open is None. Months, days and
weekdays without a year are the latest that have begun. Nothing here looks at a clock: whoever asks says what
time it is.
"""

import re
from contextlib import suppress
from dataclasses import dataclass

from recollect import clock
from recollect.english import NUMBER_WORDS
from recollect.text import one_line
from recollect.text import words as words_of
from recollect.times.dates import CERTAIN_MONTHS, counts
from recollect.times.days import MONTH_NUMBERS, MONTHS, WEEKDAYS
from recollect.times.line import YEAR_NUMBER, Line
from recollect.times.phrases import phrase
from recollect.times.relative import DAY_UNITS

EXAMPLES = "30d, 12h, 2w, 2026-11-01, 2026-11-01 14:50, yesterday, last week, Tuesday, 5 October, in May 2025"
UP_TO = re.compile(r"\s*up (?:to|until) ", re.IGNORECASE)
LONGEST_FILTER = 200
LONGEST_TEXT = 4_000  # characters of a question that are looked at
LONG_AFTER = 4_102_444_800_000  # the year 2100: any date of a statement has begun by then

WHEN = re.compile(
    r"\b(?:(?:since|until|till) when|how long ago|how long (?:has it been )?since|how recently"
    r"|(?:what|which) (?:date|day|weekday|week|month|year|time)"
    r"|when(?:'s|’s| (?:and|or) (?:how|what|where|which|who|why))"
    r"|when(?: exactly)? (?:did|do|does|was|were|is|are|has|have|had|will|would|should|can|could)"
    r"|(?:know|tell me|remember|recall|say|find out) when)\b"
    r"|\bwhen\s{0,5}(?:\?|\Z)",
    re.IGNORECASE,
)
OPENING_WHEN = re.compile(r"\s*when\b(?![^,?.!]{0,300},)", re.IGNORECASE)
OTHER_QUESTION = re.compile(r"\b(?:what|why|how|who|where|which)\b", re.IGNORECASE)
HOW_MANY = re.compile(
    r"\bhow (?:many|much|often|old|big|large|small|fast|slow|far|high|few|frequently"
    r"|long(?! ago| since| has it been))\b"
    r"|\b(?:what|which)(?:'s|’s| is| was| are| were)?(?: the)?(?: \w{1,30})?"
    r" (?:percentage|percent|number|count|share|proportion|amount|fraction|size|rate|ratio|total)\b",
    re.IGNORECASE,
)
FIGURE = re.compile(r"[~≈<>$€£+-]{0,2}[0-9]+(?:[.,_][0-9]+)?(?:,[0-9]{3}){0,5}(?:%|[a-z]{1,4})?")
FIGURE_WORDS = (frozenset(NUMBER_WORDS) - {"one"}) | frozenset(
    words_of("dozen dozens hundreds thousands million millions billion half once")
)
TIME_WORDS = (
    CERTAIN_MONTHS
    | frozenset(WEEKDAYS)
    | frozenset(f"{name}s" for name in WEEKDAYS)
    | frozenset(words_of("yesterday today tonight tomorrow ago weekend"))
)
LOOKS_LIKE = re.compile(
    r"\d|\b(?:"
    + "|".join(sorted(TIME_WORDS | FIGURE_WORDS | frozenset(DAY_UNITS) | frozenset(MONTH_NUMBERS)))
    + r")\b",
    re.IGNORECASE,
)
WHICH_UNIT = frozenset({"next", "last", "this", "every", "each", "past", "previous"})


@dataclass(frozen=True, slots=True)
class Period:
    since: int | None
    until: int | None


@dataclass(frozen=True, slots=True)
class Mention:
    """A time that a text speaks of, from the character `start` to `end`. Not `exact`: `recently`."""

    phrase: str
    since: int | None
    until: int | None
    exact: bool
    start: int
    end: int


def period(text: str, now: int) -> Period:
    """What a filter means. ValueError names what can be written."""
    if len(text) <= LONGEST_FILTER:
        line = Line.of(UP_TO.sub("until ", text), now, whole=True)
        read = phrase(line, 0) if line.words else None
        if read and read.end == len(line.words):
            return Period(read.since, read.until)
    raise ValueError(f"{one_line(text, 60)!r} is not a time. Write such as {EXAMPLES}.")


def begin(text: str, now: int) -> int:
    """In milliseconds. Days and weeks are whole: they begin at midnight, so that the first day of a table
    is not half a day."""
    since = period(text, now).since
    if since is None:
        raise ValueError(f"{text!r} has no beginning. Write {EXAMPLES}.")
    return since


def end(text: str, now: int) -> int:
    """In milliseconds, exclusive. `30d` ends 30 days ago, a day at its end, `before May` as it says."""
    until = None
    with suppress(ValueError):
        until = period(f"until {text}", now).until
    if until is None:
        until = period(text, now).until
    if until is None:
        raise ValueError(f"{text!r} has no end. Write {EXAMPLES}.")
    return until


def mentioned(text: str, now: int) -> list[Mention]:
    """The times that a text speaks of, in order."""
    line = Line.of(_beginning(text), now)
    found: list[Mention] = []
    i = 0
    while i < len(line.words):
        read = phrase(line, i)
        if read is None:
            i += 1
            continue
        start, end = line.words[i].start, line.words[read.end - 1].end
        found.append(Mention(text[start:end], read.since, read.until, read.exact, start, end))
        i = read.end
    return found


def asks_when(text: str) -> bool:
    text = _beginning(text)
    if WHEN.search(text):
        return True
    # `when retries changed` asks; `When the build fails, what then?` does not.
    opening = OPENING_WHEN.match(text)
    return opening is not None and not OTHER_QUESTION.search(text, opening.end())


def asks_how_many(text: str) -> bool:
    return HOW_MANY.search(_beginning(text)) is not None


def says(text: str) -> tuple[bool, bool]:
    """Whether a statement tells a time (a date, a month, a weekday, `next week`), and whether a figure that
    is not part of a date, a version or a name. Reading it closely takes a while: it must look like one."""
    text = _beginning(text)
    if not LOOKS_LIKE.search(text):
        return False, False
    line = Line.of(text, LONG_AFTER)
    return _says_when(line), _says_number(line)


def _says_when(line: Line) -> bool:
    for i, word in enumerate(line.words):
        if word.text in TIME_WORDS:
            return True
        if word.text in DAY_UNITS and line.before(i) in WHICH_UNIT:
            return True
    reads = (phrase(line, i) for i in range(len(line.words)))
    return any(read is not None and read.exact for read in reads)


def _says_number(line: Line) -> bool:
    for i, word in enumerate(line.words):
        if word.text in FIGURE_WORDS:
            return True
        if not FIGURE.fullmatch(word.text):
            continue
        here = line.from_word(i)
        of_date = line.before(i) in MONTH_NUMBERS or here.at(i + 1) in MONTH_NUMBERS
        if not of_date and (not YEAR_NUMBER.fullmatch(word.text) or counts(here, i + 1)):
            return True
    return False


def date_words(at: int) -> str:
    """The day, as a question about it is cut into terms: `2026_10_05` and `2026_10` as they are written with
    dashes, the names in full and short."""
    try:
        day = clock.local(at).date()
    except (ValueError, OverflowError, OSError):  # no calendar has such a year
        return ""
    month = MONTHS[day.month - 1]
    terms = (
        f"{day:%Y_%m_%d}",
        f"{day:%Y_%m}",
        f"{day:%Y}",
        month,
        month[:3],
        str(day.day),
        WEEKDAYS[day.weekday()],
    )
    return " ".join(dict.fromkeys(terms))


def _beginning(text: str) -> str:
    """Without the word that the cut goes through: a part of it may read as another date."""
    if len(text) <= LONGEST_TEXT:
        return text
    head = text[:LONGEST_TEXT]
    space = max(head.rfind(blank) for blank in " \t\n")
    return head[:space] if space > 0 else head
