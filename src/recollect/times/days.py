"""The calendar: its units as whole days, and the names people call them by.

A span of days is its first day and the day after its last. Whatever lies outside the calendar (30 February,
the year 10000) raises ValueError or OverflowError, as `datetime` does.
"""

from calendar import monthrange
from datetime import date, datetime, time, timedelta

from recollect.clock import SECOND
from recollect.text import words

Days = tuple[date, date]

DAY, WEEK, MONTH, YEAR, WEEKEND = "day", "week", "month", "year", "weekend"
MONTHS = tuple(
    words("january february march april may june july august september october november december")
)
WEEKDAYS = tuple(words("monday tuesday wednesday thursday friday saturday sunday"))
SHORT_MONTHS = {name[:3]: n for n, name in enumerate(MONTHS, 1) if name != "may"} | {"sept": 9}
SHORT_WEEKDAYS = {name[:3]: n for n, name in enumerate(WEEKDAYS)} | {
    "tues": 1,
    "weds": 2,
    "thur": 3,
    "thurs": 3,
}
MONTH_NUMBERS = {name: n for n, name in enumerate(MONTHS, 1)} | SHORT_MONTHS
WEEKDAY_NUMBERS = {name: n for n, name in enumerate(WEEKDAYS)} | SHORT_WEEKDAYS
ONE_DAY = timedelta(days=1)
SATURDAY = 5
LEAP_YEARS_APART = 8  # at most: 1896 to 1904


def midnight(day: date, hour: int = 0) -> int:
    """In milliseconds, by the local clock. A night of 23 or 25 hours is none of the caller's concern."""
    return round(datetime.combine(day, time(hour)).astimezone().timestamp() * SECOND)


def containing(unit: str, day: date) -> Days:
    """The unit of the calendar that the day is in. Weeks begin on Monday; a weekend is that of its week."""
    if unit == DAY:
        return day, day + ONE_DAY
    if unit == WEEK:
        first = day - timedelta(days=day.weekday())
    elif unit == WEEKEND:
        first = day + timedelta(days=SATURDAY - day.weekday())
        return first, first + 2 * ONE_DAY
    else:
        first = day.replace(day=1) if unit == MONTH else date(day.year, 1, 1)
    return first, shifted(unit, first, 1)


def shifted(unit: str, day: date, number: int) -> date:
    """So many units later. A month later than 31 January is the last day of February."""
    if unit == DAY:
        return day + timedelta(days=number)
    if unit in (WEEK, WEEKEND):
        return day + timedelta(weeks=number)
    year, month = divmod(day.year * 12 + day.month - 1 + number * (12 if unit == YEAR else 1), 12)
    first = date(year, month + 1, 1)
    return first.replace(day=min(day.day, monthrange(year, month + 1)[1]))


def latest_month(month: int, today: date) -> date:
    """The first day of the latest such month that has begun."""
    return date(today.year - (month > today.month), month, 1)


def latest_date(month: int, day: int, today: date) -> date:
    """The latest such day that has begun: of 29 February there is not one in every year."""
    for year in range(today.year, today.year - LEAP_YEARS_APART - 1, -1):
        if day > monthrange(year, month)[1]:
            continue
        found = date(year, month, day)
        if found <= today:
            return found
    raise ValueError("no such day")


def latest_weekday(weekday: int, today: date) -> date:
    """The latest such day that has begun: today, on that day."""
    return today - timedelta(days=(today.weekday() - weekday) % 7)
