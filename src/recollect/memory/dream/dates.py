"""`yesterday` in a memory is true for a day. Here it becomes the date, by the day on which it was written.

Only phrases that mean one thing are touched. `next Friday`, said on a Monday, may be this week's or the next
one's; `the board shows yesterday's sales` and `who is on call this week` speak of no date, but of every day;
what stands in code, in quotes or in an address is somebody else's. All that is left as it is.
"""

import re
from datetime import date, timedelta

from recollect import clock
from recollect.english import NUMBER_WORDS
from recollect.text import words
from recollect.times.days import (
    DAY,
    MONTH,
    ONE_DAY,
    WEEK,
    WEEKDAY_NUMBERS,
    WEEKDAYS,
    containing,
    shifted,
)

NUMBERS = "|".join(sorted((NUMBER_WORDS.keys() - {"zero", "twice", "thrice"}) | {"an?"}))
PHRASE = re.compile(
    r"\b(?:(?P<part>tonight|last night|(?:this|yesterday|tomorrow) (?:morning|afternoon|evening))"
    r"|(?P<day>yesterday|today|tomorrow)"
    rf"|(?P<side>last|next) (?P<weekday>{'|'.join(WEEKDAYS)})"
    rf"|(?P<which>last|next) (?P<unit>week|month|year)"
    rf"|(?P<number>[0-9]{{1,3}}|{NUMBERS}) (?P<ago>day|week|month|year)s? ago)\b(?!['’-])",
    re.IGNORECASE,
)
# Code, quotations, addresses and the targets of links are not the memory's own words.
FOREIGN = re.compile(
    r"```.*?(?:```|\Z)|`[^`\n]*`|\"[^\"\n]*\"|“[^”\n]*”|[a-z]+://\S+|\]\([^)\n]*\)", re.DOTALL
)
# A sentence about what happens again and again, or may happen, speaks of no date.
HABIT = re.compile(
    r"\b(?:every|each|always|never|whenever|daily|weekly|monthly|yearly|usually|often|sometimes|when|if|per"
    r"|any|who|what|which|where|how)\b",
    re.IGNORECASE,
)
# And one about the past says so: `the report covers last month` is true in every month.
PAST = re.compile(
    r"\b(?:(?<!is )(?<!are )(?<!be )\w{3,}ed|was|were|had|did|has|have|went|left|broken?|began|took|made|said"
    r"|told|came|got|ran|sent|found|lost|fell|met|gave|wrote|chose|since|until|from)\b",
    re.IGNORECASE,
)
AHEAD = frozenset(("tomorrow", "next"))
ENDS = re.compile(r"[.!?;](?=\s)|\n")
LED = frozenset(
    words("on in since until till by before after from of for through to between and or as")
)
NO_DATE = frozenset(("the", "how", "what", "like", "than"))  # `the last week` is any seven days
LAST_WORD = re.compile(r"(\w+)\s+\Z")
# How many days, weeks, months or years from the day on which it was written.
WAYS = {"yesterday": -1, "today": 0, "this": 0, "tomorrow": 1, "last": -1, "next": 1}


def absolute(text: str, written: int) -> str:
    """With dates in place of phrases that were true on the day when it was `written`."""
    if not PHRASE.search(text):
        return text
    today = clock.local(written).date()
    own = FOREIGN.sub(lambda mark: "\0" * len(mark[0]), text)

    def dated(mark: re.Match[str]) -> str:
        sentence = _sentence(own, mark.start(), mark.end())
        is_ahead = mark[0].split()[0].lower() in AHEAD
        if own[mark.start()] == "\0" or HABIT.search(sentence):
            return mark[0]
        if not (is_ahead or PAST.search(sentence)):
            return mark[0]
        try:
            return _dated(mark, today) or mark[0]
        except (ValueError, OverflowError):  # outside of the calendar
            return mark[0]

    return PHRASE.sub(dated, text)


def _dated(mark: re.Match[str], today: date) -> str | None:
    before = mark.string[: mark.start()]
    word = found[1].lower() if (found := LAST_WORD.search(before)) else ""
    if word in NO_DATE:
        return None
    told = _told(mark, today)
    if told is None:
        return None
    lead, when = told
    if word in LED or before.endswith(("(", "[")):
        return when
    return f"{lead.capitalize() if mark[0][0].isupper() else lead} {when}"


def _told(mark: re.Match[str], today: date) -> tuple[str, str] | None:
    """The preposition, and the time."""
    if mark["day"]:
        return "on", str(today + ONE_DAY * WAYS[mark["day"].lower()])
    if mark["part"]:
        return _part(mark["part"].lower(), today)
    if mark["weekday"]:
        return _weekday(mark["side"].lower(), mark["weekday"].lower(), today)
    if mark["unit"]:
        unit = mark["unit"].lower()
        return _named(unit, shifted(unit, today, WAYS[mark["which"].lower()]))
    said, unit = mark["number"].lower(), mark["ago"].lower()
    number = 1 if said in ("a", "an") else int(NUMBER_WORDS.get(said, said))
    return _named(unit, shifted(unit, today, -number))


def _part(phrase: str, today: date) -> tuple[str, str]:
    first, _, part = phrase.partition(" ")
    if phrase == "last night":
        return "in", f"the night to {today}"
    if phrase == "tonight":
        return "on", f"the evening of {today}"
    return "on", f"the {part} of {today + ONE_DAY * WAYS[first]}"


def _weekday(side: str, name: str, today: date) -> tuple[str, str] | None:
    """Only where it is the nearest such day as well as that of the week before, or after."""
    week = containing(WEEK, shifted(WEEK, today, WAYS[side]))[0]
    day = week + timedelta(days=WEEKDAY_NUMBERS[name])
    return ("on", str(day)) if abs(day - today) <= timedelta(days=7) else None


def _named(unit: str, day: date) -> tuple[str, str]:
    if unit == DAY:
        return "on", str(day)
    if unit == WEEK:
        return "in", f"the week of {containing(WEEK, day)[0]}"
    return "in", f"{day:%Y-%m}" if unit == MONTH else f"{day:%Y}"


def _sentence(text: str, start: int, end: int) -> str:
    begin = max((mark.end() for mark in ENDS.finditer(text, 0, start)), default=0)
    stop = ENDS.search(text, end)
    return text[begin : stop.start() if stop else len(text)]
