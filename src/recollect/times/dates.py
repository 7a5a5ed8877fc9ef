"""Dates by their names: `2026-10-05`, `2026-10-05 14:50`, `5 Oct 2026`, `May 2025`, `Tuesday`, `2026`.

In a question most words are no dates: there `may`, `march`, names that people have, short forms and bare
years have to stand where only a date can. Names without a year are the latest that had begun on the day
`near`.
"""

import re
from collections.abc import Callable
from datetime import date, datetime

from recollect.clock import MINUTE, SECOND
from recollect.text import words as words_of
from recollect.times import days
from recollect.times.days import (
    MONTH,
    MONTH_NUMBERS,
    ONE_DAY,
    SHORT_WEEKDAYS,
    WEEKDAY_NUMBERS,
    YEAR,
)
from recollect.times.line import YEAR_NUMBER, Line, Read, read_days

OUTSIDE = (ValueError, OverflowError, OSError)  # of the calendar, or of what the clock can tell
DAY_NUMBER = re.compile(r"([0-9]{1,2})(st|nd|rd|th)?")
ISO_DAY = re.compile(r"([0-9]{4})([-/])([0-9]{1,2})\2([0-9]{1,2})(?:t[0-9:.,z+-]*)?")
PACKED_DAY = re.compile(r"([0-9]{4})()([0-9]{2})([0-9]{2})")
# As we print it, and as programs write it: `14:50`, `14:50:00.123+02:00`.
CLOCK = re.compile(r"([0-9]{1,2}):[0-9]{2}(:[0-9]{2}([.,][0-9]{1,6})?)?(z|[+-][0-9]{2}:?[0-9]{2})?")
ISO_MONTH = re.compile(r"([0-9]{4})-([0-9]{2})")

CERTAIN_MONTHS = frozenset(words_of("january february july september october november december"))
VERBS = frozenset({"may", "march"})
AFTER_MAY = frozenset(
    words_of(
        "be have has not also well only need cause get lead never still always fail break contain take "
        "change return then or i you he she it they"
    )
)
# What may stand before a month that is written like a verb, also in small letters.
MONTH_LEADS = frozenset(words_of("in during since until till last early late mid between"))
YEAR_LEADS = frozenset(words_of("in since during before after until till from between early late"))
WEEKDAY_LEADS = frozenset(words_of("on since until till before after by from between last this"))
PARTS_OF_YEAR = frozenset(
    words_of("start beginning middle end rest half spring summer autumn fall winter")
)
FIRST_YEAR = 1970
# `in 2000 requests` is no year.
COUNTED = re.compile(r"%|[kmg]i?b|px|[a-z]{1,30}s|percent|byte|file|line|row|token")
NOT_COUNTED = frozenset(words_of("was is has does this as us its his yes always plus versus"))

Reader = Callable[[Line, int, str, date], Read | None]


def named(line: Line, i: int, lead: str, near: date) -> Read | None:
    """The date that begins at the word, if one does. `lead`: the preposition it is led in by."""
    for read in READERS:
        try:
            if found := read(line, i, lead, near):
                return found
        except OUTSIDE:
            continue
    return None


def counts(line: Line, i: int) -> bool:
    """The number before this word is one of things."""
    word = line.at(i)
    return COUNTED.fullmatch(word) is not None and word not in NOT_COUNTED


def is_month(line: Line, i: int, end: int, lead: str) -> bool:
    """Nothing but the name of a month and perhaps a day, from the word `i` to the word `end`."""
    word = next(line.words[n] for n in range(i, end) if line.at(n) in MONTH_NUMBERS)
    dated = any(DAY_NUMBER.fullmatch(line.at(n)) for n in range(i, end))
    if line.whole or word.text in CERTAIN_MONTHS:
        return True
    if word.text not in VERBS:
        return dated or bool(lead) or line.before(i) == "the"
    ordinal = any((n := DAY_NUMBER.fullmatch(line.at(k))) and n[2] for k in range(i, end))
    begins = i == 0 or line.words[i - 1].stops
    if dated:
        return bool(lead or ordinal or line.ends(end) or (word.capital and not begins))
    if not lead or line.at(end) in AFTER_MAY:
        return False
    return word.capital or lead in MONTH_LEADS or line.ends(end)


def _iso(line: Line, i: int, _: str, __: date) -> Read | None:
    word = line.at(i)
    if not (line.whole or YEAR_NUMBER.match(word)):
        return None
    if found := ISO_DAY.fullmatch(word) or (line.whole and PACKED_DAY.fullmatch(word)):
        day = date(int(found[1]), int(found[3]), int(found[4]))
        return _minute(line, i, day) or read_days((day, day + ONE_DAY), i + 1)
    if found := ISO_MONTH.fullmatch(word):
        return read_days(days.containing(MONTH, date(int(found[1]), int(found[2]), 1)), i + 1)
    return None


def _minute(line: Line, i: int, day: date) -> Read | None:
    """A time of that day, behind a `T` or a space. Who asks a question means the day."""
    _, joint, time = line.at(i).partition("t")
    end = i + 1 if joint else i + 2
    clock = CLOCK.fullmatch(time or line.at(i + 1)) if line.whole else None
    if clock is None:
        return None
    # Without a zone it is the local clock's, as we print it.
    told = f"{day}T{clock[1]:0>2}{clock[0][len(clock[1]) :].upper()}"
    at = datetime.fromisoformat(told).replace(second=0, microsecond=0)
    since = round(at.astimezone().timestamp() * SECOND)
    return Read(since, since + MINUTE, end)


def _day(line: Line, i: int, lead: str, near: date) -> Read | None:
    """`5 October`, `the 5th of October 2026`, `Oct 5th, 2026`."""
    if number := DAY_NUMBER.fullmatch(line.at(i)):
        j = i + 1 + (line.at(i + 1) == "of")
        month = MONTH_NUMBERS.get(line.at(j))
    else:
        month = MONTH_NUMBERS.get(line.at(i))
        j = i + 1 + (line.at(i + 1) == "the")
        number = DAY_NUMBER.fullmatch(line.at(j))
    if not number or month is None:
        return None
    year, end = _year_of(line, j + 1)
    if year is None:
        if not is_month(line, i, end, lead):
            return None
        day = days.latest_date(month, int(number[1]), near)
    else:
        day = date(year, month, int(number[1]))
    return read_days((day, day + ONE_DAY), end)


def _weekday(line: Line, i: int, lead: str, near: date) -> Read | None:
    """`Monday`, and `Monday, 5 October`, which the 5 October is asked about."""
    word = line.at(i)
    weekday = WEEKDAY_NUMBERS.get(word)
    if weekday is None:
        return None
    j = i + 1 + (line.at(i + 1) == "the")
    if found := _iso(line, j, "on", near) or _day(line, j, "on", near):
        return found
    led = lead in WEEKDAY_LEADS and line.before(i) != "the"
    if word in SHORT_WEEKDAYS and not (line.whole or led):
        return None
    day = days.latest_weekday(weekday, near)
    return read_days((day, day + ONE_DAY), i + 1)


def _month(line: Line, i: int, lead: str, near: date) -> Read | None:
    month = MONTH_NUMBERS.get(line.at(i))
    if month is None:
        return None
    year, end = _year_of(line, i + 1)
    if year is not None:
        first = date(year, month, 1)
    elif is_month(line, i, end, lead):
        first = days.latest_month(month, near)
    else:
        return None
    return read_days(days.containing(MONTH, first), end)


def _year(line: Line, i: int, lead: str, _: date) -> Read | None:
    if not YEAR_NUMBER.fullmatch(line.at(i)):
        return None
    year = int(line.at(i))
    led = lead in YEAR_LEADS or (lead == "of" and line.before(i - 1) in PARTS_OF_YEAR)
    likely = FIRST_YEAR <= year <= line.today.year + 1 and not counts(line, i + 1)
    if not line.whole and not (led and likely):
        return None
    return read_days(days.containing(YEAR, date(year, 1, 1)), i + 1)


def _year_of(line: Line, i: int) -> tuple[int | None, int]:
    """The year behind a month, if one is there: `2026`, `of last year`."""
    j = i + (line.at(i) == "of")
    if YEAR_NUMBER.fullmatch(line.at(j)):
        return int(line.at(j)), j + 1
    if line.at(j) in ("last", "this") and line.at(j + 1) == "year":
        return line.today.year - (line.at(j) == "last"), j + 2
    return None, i


READERS: tuple[Reader, ...] = (_iso, _day, _weekday, _month, _year)
