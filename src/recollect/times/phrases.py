"""Time phrases of English: `since 5 October`, `the week before 9 June`, `two days ago`, `Monday to Friday`.

A phrase reads a few words and never more, so any text is read in time that grows with its length alone.
"""

from dataclasses import replace
from datetime import date, timedelta

from recollect import clock
from recollect.clock import HOUR
from recollect.text import words as words_of
from recollect.times import days
from recollect.times.dates import DAY_NUMBER, OUTSIDE, named
from recollect.times.days import MONTH_NUMBERS, ONE_DAY, SATURDAY, WEEKDAY_NUMBERS, WEEKEND
from recollect.times.line import Line, Read, read_days
from recollect.times.relative import BEGINNINGS, DAY_UNITS, bare_unit, measure, relative

VAGUE_DAYS = 30
VAGUE = (("recently",), ("lately",), ("the", "other", "day"))
UNTIL = frozenset({"until", "till", "by"})
LEADS = UNTIL | frozenset(
    words_of("in on during over within at around of for throughout from between since after before")
)
JOINERS = frozenset({"to", "until", "till", "through", "..", "-", "–"})
PARTS = frozenset({"early", "late", "mid"})
SIDES = frozenset({"before", "after", "of"})
ONWARD = frozenset({"on", "onward", "onwards"})
NOT_PAST = frozenset(words_of("every each next coming upcoming following"))
LONGEST_DAY = 25 * HOUR
# What a phrase can begin with, beside a digit: most words are told by a look at them.
ANCHORS = BEGINNINGS | DAY_UNITS | frozenset(MONTH_NUMBERS) | frozenset(WEEKDAY_NUMBERS)
BEGINNERS = ANCHORS | LEADS | PARTS | {known[0] for known in VAGUE}


def phrase(line: Line, i: int) -> Read | None:
    """The phrase that begins at the word, if one does."""
    if not _is_one_of(BEGINNERS, line.words[i].text) or line.before(i) in NOT_PAST:
        return None
    line = line.from_word(i)
    try:
        return _vague(line, i) or _led(line, i)
    except OUTSIDE:
        return None


def _is_one_of(known: frozenset[str], word: str) -> bool:
    return word in known or word[:1].isdigit()


def _vague(line: Line, i: int) -> Read | None:
    for known in VAGUE:
        if all(line.at(i + n) == word for n, word in enumerate(known)):
            if line.before(i) == "how":
                return None
            since = days.midnight(line.today - timedelta(days=VAGUE_DAYS))
            return Read(since, None, i + len(known), exact=False)
    return None


def _led(line: Line, i: int) -> Read | None:
    """With the preposition, which says on which side of the time we are."""
    lead = line.at(i) if line.at(i) in LEADS else ""
    begin = i + bool(lead)
    read = _anchor(line, begin, lead, line.today)
    both = _range(line, begin, lead, read)
    read = both or read
    if read is None or (both and lead in ("since", "from")):
        return read
    onward = line.at(read.end) in ONWARD
    if lead == "since" or (lead == "from" and (line.whole or onward)):
        read = replace(read, until=None, end=read.end + onward)
    elif lead == "after":
        read = replace(read, since=read.until, until=None)
    elif lead == "before":
        read = replace(read, since=None, until=read.since)
    elif lead in UNTIL:
        read = replace(read, since=None, until=read.since if read.until is None else read.until)
    return None if read.since is None and read.until is None else read


def _range(line: Line, i: int, lead: str, first: Read | None) -> Read | None:
    """`between 3 and 9 October`, `2026-10-01..2026-10-15`, `October 3 to 9`, `Monday to Friday`."""
    joint = first.end if first else i + 1
    if line.at(joint) not in JOINERS and (lead, line.at(joint)) != ("between", "and"):
        return None
    second = _anchor(line, joint + 1, lead or "between", line.today)
    if first and second is None:
        second = _same_month(line, joint + 1, first)
    elif second and second.since is not None:
        # A name without a year is the one before the end of the range.
        near = clock.local(second.since).date()
        first = _anchor(line, i, lead, near) if first else _same_month(line, i, second)
    if first is None or first.since is None or second is None or second.until is None:
        return None
    return Read(first.since, second.until, second.end) if first.since < second.until else None


def _same_month(line: Line, i: int, other: Read) -> Read | None:
    """A bare number, where the other end of the range is a day of a month."""
    number = DAY_NUMBER.fullmatch(line.at(i))
    if not number or other.since is None or other.until is None:
        return None
    if other.until - other.since > LONGEST_DAY:
        return None
    try:
        day = clock.local(other.since).date().replace(day=int(number[1]))
    except ValueError:
        return None
    return read_days((day, day + ONE_DAY), i + 1)


def _anchor(line: Line, i: int, lead: str, near: date) -> Read | None:
    """A time without its preposition."""
    i += line.at(i) == "the"
    if line.at(i) in PARTS:
        lead, i = line.at(i), i + 1
    if not _is_one_of(ANCHORS, line.at(i)):
        return None
    return _beside(line, i, near) or _plain(line, i, lead, near)


def _plain(line: Line, i: int, lead: str, near: date) -> Read | None:
    return relative(line, i, lead) or named(line, i, lead, near)


def _beside(line: Line, i: int, near: date) -> Read | None:
    """`the week before 9 June`, `three days after yesterday`, `the Sunday before 25 May`."""
    number, unit, j, _ = measure(line, i) or (1, bare_unit(line.at(i)), i + 1, True)
    weekday = SATURDAY if unit == WEEKEND else WEEKDAY_NUMBERS.get(line.at(i))
    side = line.at(j)
    if side not in SIDES or (weekday is None and unit not in DAY_UNITS):
        return None
    base = _plain(line, j + 1 + (line.at(j + 1) == "the"), side, near)
    if base is None or base.since is None or base.until is None:
        return None
    begin, end = clock.local(base.since).date(), clock.local(base.until).date()
    if side == "of":
        if not unit or number != 1:
            return None
        around = days.containing(unit, begin)
        # `the last week of October` is not the week that October begins in.
        return read_days(around, base.end) if end <= around[1] else None
    if weekday is not None:
        near_it = begin - ONE_DAY if side == "before" else end + 6 * ONE_DAY
        first = days.latest_weekday(weekday, near_it)
        return read_days((first, first + ONE_DAY * (1 + (unit == WEEKEND))), base.end)
    if side == "before":
        return read_days((days.shifted(unit, begin, -number), begin), base.end)
    return read_days((end, days.shifted(unit, end, number)), base.end)
