"""Times told from now: `today`, `last week`, `last 30 days`, `three days ago`, `12h`."""

import re
from typing import NamedTuple

from recollect import clock
from recollect.clock import HOUR, MINUTE, SECOND
from recollect.english import SMALL_NUMBERS
from recollect.text import words as words_of
from recollect.times import days
from recollect.times.dates import OUTSIDE, VERBS, is_month
from recollect.times.days import (
    DAY,
    MONTH,
    MONTH_NUMBERS,
    ONE_DAY,
    WEEK,
    WEEKDAY_NUMBERS,
    WEEKEND,
    YEAR,
)
from recollect.times.line import Line, Read, read_days

COMPACT = re.compile(r"([0-9]{1,5})([a-z]{1,7})")
NUMBER = re.compile(r"[0-9]{1,5}")
SPANS = {"hour": HOUR, "minute": MINUTE}
DAY_UNITS = frozenset({DAY, WEEK, MONTH, YEAR, WEEKEND})
SHORT_UNITS = {
    "h": "hour",
    "hr": "hour",
    "min": "minute",
    "d": DAY,
    "w": WEEK,
    "wk": WEEK,
    "mo": MONTH,
    "y": YEAR,
    "yr": YEAR,
}
FEW = 6  # at most
EVENING, MORNING = 18, 6
DAYTIMES = frozenset({"morning", "afternoon", "evening"})
BEGINNINGS = frozenset(
    words_of("today tonight yesterday this last past previous a an couple few several")
) | frozenset(SMALL_NUMBERS)
# Before these, `30d` in a filter is so long ago.
BEFORE_MEASURE = frozenset({"", "since", "before", "until", "till"})


class Measure(NamedTuple):
    """`exact`: a number was said, not `a few`. `end`: the word behind."""

    number: int
    unit: str
    end: int
    exact: bool


def relative(line: Line, i: int, lead: str) -> Read | None:
    """The time that begins at the word, if one does. `lead`: the preposition it is led in by."""
    try:
        return _near_today(line, i) or _ago(line, i, lead)
    except OUTSIDE:
        return None


def measure(line: Line, i: int) -> Measure | None:
    """`two weeks`, `12h`, `a couple of days`."""
    if compact := COMPACT.fullmatch(line.at(i)):
        unit = unit_named(compact[2])
        return Measure(int(compact[1]), unit, i + 1, True) if unit else None
    article = line.at(i) in ("a", "an")
    i += article
    word, number = line.at(i), 1
    if word == "couple":
        number, i = 2, i + 1 + (line.at(i + 1) == "of")
    elif word in ("few", "several"):
        number, i = FEW, i + 1
    elif word in SMALL_NUMBERS:
        number, i = SMALL_NUMBERS.index(word), i + 1
    elif NUMBER.fullmatch(word):
        number, i = int(word), i + 1
    elif not article:
        return None
    unit = unit_named(line.at(i))
    return Measure(number, unit, i + 1, word not in ("few", "several")) if unit else None


def bare_unit(word: str) -> str:
    """Without a number only its whole name is one."""
    return word if word in DAY_UNITS or word in SPANS else ""


def unit_named(word: str) -> str:
    """Its one name, or none: `weeks`, `wk` and `w` are a week."""
    name = word.removesuffix("s")
    return SHORT_UNITS.get(name, bare_unit(name))


def _near_today(line: Line, i: int) -> Read | None:
    which, what = line.at(i), line.at(i + 1)
    if which in ("today", "tonight", "yesterday"):
        return read_days(days.containing(DAY, line.today - ONE_DAY * (which == "yesterday")), i + 1)
    if which == "this" and what in DAYTIMES:
        return read_days(days.containing(DAY, line.today), i + 2)
    if which == "last" and what == "night":
        evening = days.midnight(line.today - ONE_DAY, EVENING)
        return Read(evening, days.midnight(line.today, MORNING), i + 2)
    if which == "this" and what in ("past", "last"):
        i, which = i + 1, what
    if which not in ("this", "last", "past", "previous"):
        return None
    if line.at(i + 2) == "of" and line.at(i + 1) != "couple":
        return None  # `the last week of October` is for October to say
    return _name(line, i + 1, which) or _unit(line, i + 1, which)


def _name(line: Line, i: int, which: str) -> Read | None:
    """`last Tuesday` is never today, `last October` never the one we are in."""
    word, before = line.at(i), which != "this"
    if word in WEEKDAY_NUMBERS:
        day = days.latest_weekday(WEEKDAY_NUMBERS[word], line.today - ONE_DAY * before)
        return read_days(days.containing(DAY, day), i + 1)
    if word not in MONTH_NUMBERS:
        return None
    surely = before or line.words[i].capital or word not in VERBS
    if not is_month(line, i, i + 1, "last" if surely else ""):
        return None
    begun = line.today.replace(day=1) - ONE_DAY if before else line.today
    first = days.latest_month(MONTH_NUMBERS[word], begun)
    return read_days(days.containing(MONTH, first), i + 1)


def _unit(line: Line, i: int, which: str) -> Read | None:
    """`this week` and `last week` are the calendar's, `past week` and `last 7 days` end now."""
    unit, before = bare_unit(line.at(i)), which != "this"
    if unit == WEEKEND:
        first, end = days.containing(unit, line.today)
        if first > line.today or before:
            first, end = days.shifted(unit, first, -1), days.shifted(unit, end, -1)
        return read_days((first, end), i + 1)
    if unit in DAY_UNITS and (not before or (which != "past" and unit != DAY)):
        day = days.shifted(unit, line.today, -before)
        return read_days(days.containing(unit, day), i + 1)
    if not before:
        return None
    if unit:
        return _back(line, Measure(1, unit, i + 1, True))
    found = measure(line, i)
    return _back(line, found) if found and line.at(found.end) != "of" else None


def _ago(line: Line, i: int, lead: str) -> Read | None:
    """`three days ago` is that day, `a month ago` that month."""
    found = measure(line, i)
    if found is None:
        return None
    if line.at(found.end) != "ago":
        return _back(line, found) if line.whole and lead in BEFORE_MEASURE else None
    end = found.end + 1
    if not found.exact:
        return _back(line, found._replace(end=end))
    if found.unit in SPANS:
        then = clock.local(line.now - found.number * SPANS[found.unit])
        since = round(then.replace(minute=0, second=0, microsecond=0).timestamp() * SECOND)
        return Read(since, since + HOUR, end)
    day = days.shifted(found.unit, line.today, -found.number)
    return read_days(days.containing(found.unit, day), end)


def _back(line: Line, found: Measure) -> Read:
    """From so long ago until now. Days are whole, so that the first one is not half a day."""
    if found.unit in SPANS:
        since = line.now - found.number * SPANS[found.unit]
    else:
        since = days.midnight(days.shifted(found.unit, line.today, -found.number))
    return Read(since, None, found.end, found.exact)
