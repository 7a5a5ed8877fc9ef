"""Times as people write them: in a filter, in a question, in a statement.

In the local time zone, in milliseconds, `until` exclusive; an open end is None. Months, days and weekdays
without a year are the latest that have begun. Nothing here reads a clock: the caller says what time it is.

A phrase is a preposition (`since`, `before`), an anchor (a date, `last week`, `two days ago`) and, in a
range, a second anchor. Every kind of anchor is a pattern and a method of `_Reader`.
"""

import re
from calendar import monthrange
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import NamedTuple

from aforesaid import clock
from aforesaid.clock import HOUR, MINUTE, SECOND
from aforesaid.english import NUMBER_WORDS, SMALL_NUMBERS
from aforesaid.text import one_line, words

Days = tuple[date, date]

DAY, WEEK, MONTH, YEAR, WEEKEND = "day", "week", "month", "year", "weekend"
DAY_UNITS = frozenset({DAY, WEEK, MONTH, YEAR, WEEKEND})
SPANS = {"hour": HOUR, "minute": MINUTE}
SHORT_UNITS = {"h": "hour", "hr": "hour", "min": "minute", "d": DAY, "w": WEEK, "wk": WEEK}
SHORT_UNITS |= {"mo": MONTH, "y": YEAR, "yr": YEAR}
MONTHS = words(
    "january february march april may june july august september october november december"
)
WEEKDAYS = words("monday tuesday wednesday thursday friday saturday sunday")
SHORT_WEEKDAYS = {name[:3]: n for n, name in enumerate(WEEKDAYS)}
SHORT_WEEKDAYS |= {"tues": 1, "weds": 2, "thur": 3, "thurs": 3}
MONTH_NUMBERS = {name: n for n, name in enumerate(MONTHS, 1)}
MONTH_NUMBERS |= {name[:3]: n for name, n in MONTH_NUMBERS.items()} | {"sept": 9}
WEEKDAY_NUMBERS = {name: n for n, name in enumerate(WEEKDAYS)} | SHORT_WEEKDAYS
ONE_DAY = timedelta(days=1)
SATURDAY = 5
LONGEST_DAY = 25 * HOUR
OUTSIDE = (ValueError, OverflowError, OSError)  # of the calendar, or of what the clock can tell


def containing(unit: str, day: date) -> Days:
    """The unit of the calendar that the day is in. Weeks begin on Monday; a weekend is that of its week."""
    if unit == WEEKEND:
        first = day + timedelta(days=SATURDAY - day.weekday())
        return first, first + 2 * ONE_DAY
    if unit == WEEK:
        day -= timedelta(days=day.weekday())
    elif unit != DAY:
        day = day.replace(day=1) if unit == MONTH else date(day.year, 1, 1)
    return day, shifted(unit, day, 1)


def shifted(unit: str, day: date, number: int) -> date:
    """So many units later. A month later than 31 January is the last day of February."""
    if unit in (DAY, WEEK, WEEKEND):
        return day + timedelta(days=number * (1 if unit == DAY else 7))
    year, month = divmod(day.year * 12 + day.month - 1 + number * (12 if unit == YEAR else 1), 12)
    first = date(year, month + 1, 1)
    return first.replace(day=min(day.day, monthrange(year, month + 1)[1]))


def _latest_date(month: int, day: int, today: date) -> date:
    """The latest such day that has begun. 29 February may be eight years apart."""
    for year in range(today.year, today.year - 9, -1):
        if day <= monthrange(year, month)[1] and date(year, month, day) <= today:
            return date(year, month, day)
    raise ValueError("no such day")


def _latest_weekday(name: str, today: date) -> date:
    return today - timedelta(days=(today.weekday() - WEEKDAY_NUMBERS[name]) % 7)


def _midnight(day: date) -> int:
    return round(datetime.combine(day, time()).astimezone().timestamp() * SECOND)


def _one_of(names: Iterable[str]) -> str:
    return "|".join(sorted(names, key=len, reverse=True))


# Whole words, no part of a path or a name: between white space, brackets, quotes, dashes and punctuation.
# `3-9` is three words.
OPENING = r"[(\[{<\"'`“‘«*]"
START = rf"(?:(?<![^\s–—])|(?<=\A{OPENING})|(?<=\s{OPENING})|(?<=\s{OPENING}{{2}}))"
END = r"(?=(?:['’]s)?[)\]}>\"'`”’»*.,;:!?…]{0,9}(?:\s|\Z|[–—]|\.\.)|(?<=[0-9])-[0-9]{1,2}(?![\w/.:-]))"


def _pattern(source: str, end: str = END) -> re.Pattern[str]:
    """A blank is any white space."""
    source = source.replace(" ", r"\s{1,9}")
    return re.compile(f"(?:{source}){end}", re.IGNORECASE | re.ASCII)


MONTH_NAME, WEEKDAY_NAME = rf"(?:{_one_of(MONTH_NUMBERS)})", rf"(?:{_one_of(WEEKDAY_NUMBERS)})"
UNIT = rf"(?:{_one_of((*DAY_UNITS, *SPANS, *SHORT_UNITS))})s?"
BARE_UNIT = rf"(?:{_one_of((*DAY_UNITS, *SPANS))})"  # without a number
COUNT = rf"couple(?: of)?|{_one_of(SMALL_NUMBERS)}"
OF_YEAR = r"(?:[.,]? (?:of )?(?:(?P<year>(?:19|20)[0-9]{2})|(?P<which>last|this) year))?"
NUMBER = r"(?P<n>[0-9]{1,2})(?P<ordinal>st|nd|rd|th)?"
DAY_NUMBER = _pattern(NUMBER)
YEAR_NUMBER = r"(?:19|20)[0-9]{2}"
# As we print it, and as programs write it: `14:50`, `14:50:00.123+02:00`.
SECONDS, ZONE = r"(?::[0-9]{2}(?:[.,][0-9]{1,6})?)?", r"(?:Z|[+-][0-9]{2}:?[0-9]{2})?"
CLOCK = rf"(?P<hour>[0-9]{{1,2}})(?P<rest>:[0-9]{{2}}{SECONDS}{ZONE})"
ISO_DATE = r"(?P<y>[0-9]{4})(?P<s>[-/])(?P<m>[0-9]{1,2})(?P=s)(?P<d>[0-9]{1,2})"
ISO_MINUTE = _pattern(rf"{ISO_DATE}(?:T| ){CLOCK}")
MEASURE = _pattern(
    r"(?:(?P<which>last|past|previous) )?"
    rf"(?:(?P<number>[0-9]{{1,5}})\s{{0,9}}|(?:an? )?(?P<count>{COUNT}) |an? )(?P<unit>{UNIT})(?! of\b)"
)
NEAR_TODAY = _pattern(
    r"today|tonight|this (?:morning|afternoon|evening)|yesterday|last night|day before yesterday"
)
LAST = _pattern(
    r"(?:this (?=past|last))?(?P<which>this|last|past|previous) "
    rf"(?:(?P<name>{WEEKDAY_NAME}|{MONTH_NAME})|(?P<unit>{BARE_UNIT})(?! of\b))"
)
ANY_WEEKDAY = rf"(?:{WEEKDAY_NAME},? (?:the )?)?"
ISO_DAY = _pattern(rf"{ANY_WEEKDAY}{ISO_DATE}(?P<clock>T[0-9:.,Z+-]*)?")
ISO_MONTH = _pattern(rf"(?={YEAR_NUMBER})(?P<y>[0-9]{{4}})-(?P<m>[0-9]{{2}})(?!-)")
DAY_OF_MONTH = _pattern(rf"{ANY_WEEKDAY}{NUMBER} (?:of )?(?P<month>{MONTH_NAME}){OF_YEAR}")
MONTH_AND_DAY = _pattern(
    rf"{ANY_WEEKDAY}(?P<month>{MONTH_NAME})(?:\.? (?:the )?{NUMBER})?{OF_YEAR}"
)
WEEKDAY_ALONE = _pattern(WEEKDAY_NAME)
YEAR_ALONE = _pattern(rf"{YEAR_NUMBER}(?!-)")

FIRST_YEAR = 1970
CERTAIN_MONTHS = frozenset(words("january february july september october november december"))
VERBS = frozenset({"may", "march"})
# What may stand before a month that is written like a verb, also in small letters.
MONTH_LEADS = frozenset(words("in during since until till last early late mid between"))
YEAR_LEADS = frozenset(words("in since during before after until till from between early late"))
WEEKDAY_LEADS = frozenset(words("on since until till before after by from between last this"))
# `in 2000 requests` is no year.
COUNTED = _pattern(
    r" (?!(?:was|is|has|does|this|as|us|its|his|yes|always|plus|versus)\b)"
    r"(?:%|[kmg]i?b|px|[a-z]{1,30}s|percent|byte|file|line|row|token)"
)
UNTIL = frozenset({"until", "till", "by"})
LEADS = UNTIL | frozenset(
    words("in on during over within at around of for throughout from between since after before")
)
LEAD = _pattern(rf"({_one_of(LEADS)}) ", "")
ARTICLE = _pattern(r"(?P<the>the )?(?:(?P<part>early|late|mid)(?: |-))?", "")
JOINT = _pattern(r"(?:\s{0,9}(?:\.\.+|[–—]+|-)\s{0,9}| (?:to|until|till|through) )", "")
AND = _pattern(" and ", "")
AGO = _pattern(" ago")
ONWARD = _pattern(" (?:on|onward|onwards)")
NOT_PAST = re.compile(r"\b(?:every|each|next|coming|upcoming|following)\W{1,9}\Z", re.I)
# What a phrase can begin with: most words need no closer look.
BEGINNERS = words("today tonight yesterday this last past previous a an couple early late mid the")
BEGINNERS += [*SMALL_NUMBERS, *MONTH_NUMBERS, *WEEKDAY_NUMBERS, *LEADS]
BEGINNING = re.compile(rf"{START}(?:[0-9]|(?:{_one_of(BEGINNERS)})(?![\w/]))", re.I | re.ASCII)


class Read(NamedTuple):
    """What a phrase says, in milliseconds, and where it ends."""

    since: int | None
    until: int | None
    end: int


def _read_unit(unit: str, day: date, end: int) -> Read:
    first, after = containing(unit, day)
    return Read(_midnight(first), _midnight(after), end)


def _read_span(moment: datetime, length: int, end: int) -> Read:
    since = round(moment.replace(second=0, microsecond=0).timestamp() * SECOND)
    return Read(since, since + length, end)


class Anchor(NamedTuple):
    """Where an anchor begins, its preposition, and the day that names without a year come before: today, or
    the end of a range."""

    at: int
    lead: str
    near: date


@dataclass(frozen=True, slots=True)
class _Reader:
    """`whole`: the text is nothing but a time."""

    text: str
    now: int
    today: date
    whole: bool = False

    def read_phrase(self, at: int) -> Read | None:
        if not NOT_PAST.search(self.text, max(0, at - 20), at):
            with suppress(*OUTSIDE):
                return self._read_led(at)
        return None

    def _read_led(self, at: int) -> Read | None:
        """With the preposition, which says on which side of the time we are."""
        found = LEAD.match(self.text, at)
        lead, begin = (found[1].lower(), found.end()) if found else ("", at)
        first = self._read_anchor(Anchor(begin, lead, self.today))
        both = self._read_range(begin, lead, first)
        read = both or first
        if read is None or (both and lead in ("since", "from")):
            return read
        since, until, end = read
        onward = ONWARD.match(self.text, end)
        if lead == "since" or (lead == "from" and (self.whole or onward)):
            until, end = None, onward.end() if onward else end
        elif lead == "after":
            since, until = until, None
        elif lead == "before":
            since, until = None, since
        elif lead in UNTIL:
            since, until = None, since if until is None else until
        return None if since is None and until is None else Read(since, until, end)

    def _read_range(self, at: int, lead: str, first: Read | None) -> Read | None:
        """`between 3 and 9 October`, `2026-10-01..2026-10-15`, `October 3 to 9`, `Monday to Friday`."""
        start = first or DAY_NUMBER.match(self.text, at)
        if start is None:
            return None
        end = start.end if isinstance(start, Read) else start.end()
        joint = JOINT.match(self.text, end)
        if joint is None and lead == "between":
            joint = AND.match(self.text, end)
        if joint is None:
            return None
        second = self._read_anchor(Anchor(joint.end(), lead or "between", self.today))
        if first and second is None:
            second = self._read_same_month(joint.end(), first)
        elif second and second.since is not None:
            # A name without a year is the one before the end of the range.
            begin = Anchor(at, lead, clock.local(second.since).date())
            first = self._read_anchor(begin) if first else self._read_same_month(at, second)
        if first is None or first.since is None or second is None or second.until is None:
            return None
        return Read(first.since, second.until, second.end) if first.since < second.until else None

    def _read_same_month(self, at: int, other: Read) -> Read | None:
        """A bare number, where the other end of the range is a day of a month."""
        number = DAY_NUMBER.match(self.text, at)
        if not number or other.since is None or other.until is None:
            return None
        if other.until - other.since > LONGEST_DAY:
            return None
        day = clock.local(other.since).date().replace(day=int(number["n"]))
        return _read_unit(DAY, day, number.end())

    def _read_anchor(self, anchor: Anchor) -> Read | None:
        if article := ARTICLE.match(self.text, anchor.at):
            lead = (article["part"] or anchor.lead).lower()
            anchor = anchor._replace(at=article.end(), lead=lead)
        for pattern, read in READERS:
            with suppress(*OUTSIDE):
                found = pattern.match(self.text, anchor.at)
                if found and (result := read(self, found, anchor)):
                    return result
        return None

    def _near_today(self, found: re.Match[str], _: Anchor) -> Read:
        word = found[0].lower()
        ago = 2 if "before" in word else word in ("yesterday", "last night")
        return _read_unit(DAY, self.today - ago * ONE_DAY, found.end())

    def _last(self, found: re.Match[str], _: Anchor) -> Read | None:
        """`last Tuesday` is never today, `last October` never the one we are in. `this week` and `last week`
        are the calendar's, `past week` ends now."""
        name, which, unit = (found["name"] or "").lower(), found["which"].lower(), found["unit"]
        before = which != "this"
        if name in WEEKDAY_NUMBERS:
            day = _latest_weekday(name, self.today - ONE_DAY * before)
            return _read_unit(DAY, day, found.end())
        if name:
            if not before and name in VERBS and found["name"].islower():
                return None  # `this may fail`
            begun = self.today.replace(day=1) - ONE_DAY if before else self.today
            return _read_unit(MONTH, _latest_date(MONTH_NUMBERS[name], 1, begun), found.end())
        unit = unit.lower()
        if unit == WEEKEND:
            before = before or containing(unit, self.today)[0] > self.today
        elif unit in SPANS or which == "past" or (before and unit == DAY):
            return self._since(1, unit, found.end()) if before else None
        return _read_unit(unit, shifted(unit, self.today, -before), found.end())

    def _measure(self, found: re.Match[str], anchor: Anchor) -> Read | None:
        """`last 30 days` ends now, `three days ago` is that day, `a month ago` that month. In a filter `30d`
        is since so long ago."""
        count, unit = (
            (found["count"] or found["number"] or "1").lower().split()[0],
            found["unit"].lower(),
        )
        unit = unit if unit in SHORT_UNITS else unit.removesuffix("s")
        unit = SHORT_UNITS.get(unit, unit)
        if count in SMALL_NUMBERS:
            number = SMALL_NUMBERS.index(count)
        else:
            number = 2 if count == "couple" else int(count)
        ago = AGO.match(self.text, found.end())
        if found["which"] or ago is None:
            is_filter = self.whole and anchor.lead in ("", "since", "before", "until", "till")
            return self._since(number, unit, found.end()) if found["which"] or is_filter else None
        if unit in SPANS:
            then = clock.local(self.now - number * SPANS[unit]).replace(minute=0)
            return _read_span(then, HOUR, ago.end())
        return _read_unit(unit, shifted(unit, self.today, -number), ago.end())

    def _since(self, number: int, unit: str, end: int) -> Read:
        """From so long ago until now. Days are whole, so that the first one is not half a day."""
        if unit in SPANS:
            return Read(self.now - number * SPANS[unit], None, end)
        return Read(_midnight(shifted(unit, self.today, -number)), None, end)

    def _iso_minute(self, found: re.Match[str], _: Anchor) -> Read | None:
        """A question that names a minute means the day."""
        if not self.whole:
            return None
        day = date(int(found["y"]), int(found["m"]), int(found["d"]))
        # Without a zone it is the local clock's, as we print it.
        moment = datetime.fromisoformat(f"{day}T{found['hour']:0>2}{found['rest'].upper()}")
        return _read_span(moment.astimezone(), MINUTE, found.end())

    def _iso_date(self, found: re.Match[str], _: Anchor) -> Read | None:
        fields = found.groupdict()
        if self.whole and fields.get("clock"):
            return None  # a filter's minute was tried before, and is none
        number = fields.get("d")
        day = date(int(found["y"]), int(found["m"]), int(number or 1))
        return _read_unit(DAY if number else MONTH, day, found.end())

    def _month(self, found: re.Match[str], anchor: Anchor) -> Read | None:
        """`5 October`, `the 5th of October 2026`, `Oct 5th, 2026`, `October last year`."""
        month, number = MONTH_NUMBERS[found["month"].lower()], found.groupdict().get("n")
        if found["which"] or found["year"]:
            last = self.today.year - (found["which"] or "").lower().startswith("last")
            day = date(int(found["year"] or last), month, int(number or 1))
        elif self._is_month(found, anchor):
            day = _latest_date(month, int(number or 1), anchor.near)
        else:
            return None
        return _read_unit(DAY if number else MONTH, day, found.end())

    def _is_month(self, found: re.Match[str], anchor: Anchor) -> bool:
        """Whether it means a month, perhaps with a day: `may` is a verb, too."""
        name, lead, fields = found["month"], anchor.lead, found.groupdict()
        if self.whole or name.lower() in CERTAIN_MONTHS:
            return True
        if name.lower() not in VERBS:
            return bool(fields.get("n") or lead or self._follows_article(anchor))
        if fields.get("n"):
            return bool(lead or fields["ordinal"])
        return bool(lead) and (name.istitle() or lead in MONTH_LEADS)

    def _follows_article(self, anchor: Anchor) -> bool:
        return self.text[max(0, anchor.at - 5) : anchor.at].lower().rstrip().endswith("the")

    def _weekday(self, found: re.Match[str], anchor: Anchor) -> Read | None:
        name = found[0].lower()
        led = anchor.lead in WEEKDAY_LEADS and not self._follows_article(anchor)
        if name in SHORT_WEEKDAYS and not (self.whole or led):
            return None
        return _read_unit(DAY, _latest_weekday(name, anchor.near), found.end())

    def _year(self, found: re.Match[str], anchor: Anchor) -> Read | None:
        year = int(found[0])
        is_likely = anchor.lead in YEAR_LEADS and FIRST_YEAR <= year <= self.today.year + 1
        if not self.whole and not (is_likely and not COUNTED.match(self.text, found.end())):
            return None
        return _read_unit(YEAR, date(year, 1, 1), found.end())


READERS = (
    (NEAR_TODAY, _Reader._near_today),
    (LAST, _Reader._last),
    (MEASURE, _Reader._measure),
    (ISO_MINUTE, _Reader._iso_minute),
    (ISO_DAY, _Reader._iso_date),
    (ISO_MONTH, _Reader._iso_date),
    (DAY_OF_MONTH, _Reader._month),
    (MONTH_AND_DAY, _Reader._month),
    (WEEKDAY_ALONE, _Reader._weekday),
    (YEAR_ALONE, _Reader._year),
)

EXAMPLES = "30d, 12h, 2w, 2026-11-01, 2026-11-01 14:50, yesterday, last week, Tuesday, 5 October, in May 2025"
PUNCTUATION = ".,;:!? "
UP_TO = re.compile(r"up (?:to|until) ", re.IGNORECASE)
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
FIGURE_WORDS = (frozenset(NUMBER_WORDS) - {"one"}) | frozenset(
    words("dozen dozens hundreds thousands million millions billion half once")
)
FIGURE = re.compile(
    rf"{START}(?:{_one_of(FIGURE_WORDS)}"
    rf"|[~≈<>$€£+-]{{0,2}}[0-9]+(?:[.,_][0-9]+)?(?:,[0-9]{{3}}){{0,5}}(?:%|[a-z]{{1,4}})?){END}",
    re.IGNORECASE,
)
TIME_WORDS = [*CERTAIN_MONTHS, *words("yesterday today tonight tomorrow ago weekend")]
TIME = re.compile(
    rf"{START}(?:{_one_of(TIME_WORDS)}|(?:{_one_of(WEEKDAYS)})s?"
    rf"|(?:next|last|this|every|each|past|previous)\s+(?:{_one_of(DAY_UNITS)})){END}",
    re.IGNORECASE,
)


class Period(NamedTuple):
    since: int | None
    until: int | None


class Mention(NamedTuple):
    """A time that a text speaks of, from the character `start` to `end`."""

    phrase: str
    since: int | None
    until: int | None
    start: int
    end: int


def period(text: str, now: int) -> Period:
    """What a filter means. ValueError names what can be written."""
    if len(text) <= LONGEST_FILTER:
        asked = UP_TO.sub("until ", text.strip(), count=1)
        read = _Reader(asked, now, clock.local(now).date(), whole=True).read_phrase(0)
        if read and not asked[read.end :].strip(PUNCTUATION):
            return Period(read.since, read.until)
    raise ValueError(f"{one_line(text, 60)!r} is not a time. Write such as {EXAMPLES}.")


def begin(text: str, now: int) -> int:
    """In milliseconds. Days and weeks begin at midnight."""
    since = period(text, now).since
    if since is None:
        raise ValueError(f"{text!r} has no beginning. Write {EXAMPLES}.")
    return since


def end(text: str, now: int) -> int:
    """In milliseconds, exclusive. `30d` ends 30 days ago, a day at its end, `before May` as it says."""
    until = None
    with suppress(ValueError):
        until = period(f"until {text}", now).until
    until = until or period(text, now).until
    if until is None:
        raise ValueError(f"{text!r} has no end. Write {EXAMPLES}.")
    return until


def mentioned(text: str, now: int) -> Iterator[Mention]:
    text = _beginning(text)
    reader = _Reader(text, now, clock.local(now).date())
    at = 0
    while found := BEGINNING.search(text, at):
        start, at = found.start(), found.end()
        if read := reader.read_phrase(start):
            at = read.end
            yield Mention(text[start:at], read.since, read.until, start, at)


def asks_when(text: str) -> bool:
    text = _beginning(text)
    # `when retries changed` asks; `When the build fails, what then?` does not.
    opening = OPENING_WHEN.match(text)
    asks = opening is not None and not OTHER_QUESTION.search(text, opening.end())
    return asks or WHEN.search(text) is not None


def asks_how_many(text: str) -> bool:
    return HOW_MANY.search(_beginning(text)) is not None


def says(text: str) -> tuple[bool, bool]:
    """Whether a statement tells a time (a date, a month, a weekday, `next week`), and whether a figure that
    is not part of a time, a version or a name."""
    text = _beginning(text)
    mentions = list(mentioned(text, LONG_AFTER))
    says_when = bool(mentions) or TIME.search(text) is not None
    for each in reversed(mentions):
        text = text[: each.start] + text[each.end :]
    return says_when, FIGURE.search(text) is not None


def date_words(at: int) -> str:
    """The day, as a question about it is cut into terms: `2026_10_05` and `2026_10` as they are written with
    dashes, the names in full and short."""
    try:
        day = clock.local(at).date()
    except OUTSIDE:  # no calendar has such a year
        return ""
    month = MONTHS[day.month - 1]
    numbers = (f"{day:%Y_%m_%d}", f"{day:%Y_%m}", f"{day:%Y}")
    terms = (*numbers, month, month[:3], str(day.day), WEEKDAYS[day.weekday()])
    return " ".join(dict.fromkeys(terms))


def _beginning(text: str) -> str:
    """Without the word that the cut goes through: a part of it may read as another date."""
    if len(text) <= LONGEST_TEXT:
        return text
    head = text[:LONGEST_TEXT]
    space = max(head.rfind(blank) for blank in " \t\n")
    return head[:space] if space > 0 else head
