"""Periods as people write them: in filters, in questions, in statements."""

import time
from collections.abc import Iterator
from datetime import datetime

import click
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from aforesaid import clock
from aforesaid.cli.arguments import since_option, until_option
from aforesaid.clock import DAY, HOUR
from aforesaid.terms import query_terms
from aforesaid.times import (
    LONGEST_TEXT,
    Period,
    asks_how_many,
    asks_when,
    begin,
    date_words,
    end,
    mentioned,
    period,
    says,
)
from tests.support.tables import loop_over

# A Monday in New York, where 1 November 2026 had 25 hours and 8 March 2026 had 23.
MONDAY = "2026-11-16 15:30"
VOCABULARY = (
    "may march in on the of since before after until between and to from last past this week weeks month day "
    "days ago a few 3 5th 31 2024 2026-10-05 .. - October, oct. feb monday sun yesterday recently other 30d "
    "12h weekend year 99999 9999-12-31 early , ? ( mid-may"
)
ANYTHING = st.text(st.characters(exclude_categories=())) | st.lists(
    st.sampled_from(VOCABULARY.split())
).map(" ".join)
TIMES = st.integers(0, 4_102_444_800_000)


@pytest.fixture(autouse=True)
def in_new_york(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "EST5EDT,M3.2.0,M11.1.0")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def at(text: str) -> int:
    return round(datetime.fromisoformat(text).astimezone().timestamp() * 1000)


def shown(found: Period) -> tuple[str, str]:
    """Midnight is not said."""
    since, until = (
        "" if end is None else clock.day_and_time(end).removesuffix(" 00:00")
        for end in (found.since, found.until)
    )
    return since, until


@loop_over(
    ("text", "since", "until"),
    [
        ("30d", "2026-10-17", ""),
        ("30 D", "2026-10-17", ""),
        ("0d", "2026-11-16", ""),
        ("2w", "2026-11-02", ""),
        ("12h", "2026-11-16 03:30", ""),
        ("6mo", "2026-05-16", ""),
        ("2026-11-01", "2026-11-01", "2026-11-02"),
        ("2026-10-08 14:50", "2026-10-08 14:50", "2026-10-08 14:51"),
        ("2026-10-08T14:50:31.123", "2026-10-08 14:50", "2026-10-08 14:51"),
        ("since 2026-10-08 9:05", "2026-10-08 09:05", ""),
        ("2026-10-08 14:50 to 2026-10-09 08:00", "2026-10-08 14:50", "2026-10-09 08:01"),
        ("2026-10", "2026-10-01", "2026-11-01"),
        ("2026-12", "2026-12-01", "2027-01-01"),
        ("2026", "2026-01-01", "2027-01-01"),
        ("last 30 days", "2026-10-17", ""),
        ("the last 24 hours", "2026-11-15 15:30", ""),
        ("past two weeks", "2026-11-02", ""),
        ("past month", "2026-10-16", ""),
        ("past couple of days", "2026-11-14", ""),
        ("today", "2026-11-16", "2026-11-17"),
        ("Yesterday", "2026-11-15", "2026-11-16"),
        ("last night", "2026-11-15", "2026-11-16"),
        ("this week", "2026-11-16", "2026-11-23"),
        ("last week", "2026-11-09", "2026-11-16"),
        ("last weekend", "2026-11-14", "2026-11-16"),
        ("last month", "2026-10-01", "2026-11-01"),
        ("last year", "2025-01-01", "2026-01-01"),
        ("since Tuesday", "2026-11-10", ""),
        ("since Monday", "2026-11-16", ""),
        ("since October", "2026-10-01", ""),
        ("since 2026-10-05", "2026-10-05", ""),
        ("from October onwards", "2026-10-01", ""),
        ("after October", "2026-11-01", ""),
        ("before May", "", "2026-05-01"),
        ("before 30d", "", "2026-10-17"),
        ("until 5 October", "", "2026-10-06"),
        ("up to 5 October", "", "2026-10-06"),
        ("in October", "2026-10-01", "2026-11-01"),
        ("in May 2025", "2025-05-01", "2025-06-01"),
        ("may", "2026-05-01", "2026-06-01"),
        ("October last year", "2025-10-01", "2025-11-01"),
        ("October 5", "2026-10-05", "2026-10-06"),
        ("5 Oct 2026", "2026-10-05", "2026-10-06"),
        ("Oct 5th", "2026-10-05", "2026-10-06"),
        ("Oct. 5th, 2025", "2025-10-05", "2025-10-06"),
        ("the 5th of October", "2026-10-05", "2026-10-06"),
        ("Monday, 5 October", "2026-10-05", "2026-10-06"),
        ("Tuesday, 2026-10-06", "2026-10-06", "2026-10-07"),
        ("on Monday", "2026-11-16", "2026-11-17"),
        ("last Monday", "2026-11-09", "2026-11-10"),
        ("last Tuesday", "2026-11-10", "2026-11-11"),
        ("three days ago", "2026-11-13", "2026-11-14"),
        ("two weeks ago", "2026-11-02", "2026-11-09"),
        ("a month ago", "2026-10-01", "2026-11-01"),
        ("3 hours ago", "2026-11-16 12:00", "2026-11-16 13:00"),
        ("between 3 and 9 October", "2026-10-03", "2026-10-10"),
        ("3-9 October", "2026-10-03", "2026-10-10"),
        ("October 3 to 9", "2026-10-03", "2026-10-10"),
        ("2026-10-01..2026-10-15", "2026-10-01", "2026-10-16"),
        ("from 3 March to 9 June 2024", "2024-03-03", "2024-06-10"),
        ("between October and May", "2025-10-01", "2026-06-01"),
        ("Monday to Friday", "2026-11-09", "2026-11-14"),
        ("the day before yesterday", "2026-11-14", "2026-11-15"),
        # the latest that has begun
        ("November", "2026-11-01", "2026-12-01"),
        ("last November", "2025-11-01", "2025-12-01"),
        ("December", "2025-12-01", "2026-01-01"),
        ("16 November", "2026-11-16", "2026-11-17"),
        ("17 November", "2025-11-17", "2025-11-18"),
        ("29 February", "2024-02-29", "2024-03-01"),
    ],
)
def test_a_filter_is_read(text: str, since: str, until: str) -> None:
    assert shown(period(text, at(MONDAY))) == (since, until)


@loop_over(
    ("text", "now", "since", "until"),
    [
        ("yesterday", "2026-01-01 00:00", "2025-12-31", "2026-01-01"),
        ("last month", "2026-01-31 12:00", "2025-12-01", "2026-01-01"),
        ("last week", "2026-01-01 12:00", "2025-12-22", "2025-12-29"),
        ("this week", "2025-12-31 23:59", "2025-12-29", "2026-01-05"),
        ("December", "2025-12-31 23:59", "2025-12-01", "2026-01-01"),
        ("31 December", "2026-01-01 09:00", "2025-12-31", "2026-01-01"),
        ("between 28 December and 3 January", "2026-01-10 09:00", "2025-12-28", "2026-01-04"),
        ("a month ago", "2026-03-31 09:00", "2026-02-01", "2026-03-01"),
        ("past month", "2026-03-31 09:00", "2026-02-28", ""),
        ("past year", "2024-02-29 09:00", "2023-02-28", ""),
        ("29 Feb", "2024-02-29 09:00", "2024-02-29", "2024-03-01"),
        ("29 Feb", "2024-02-28 09:00", "2020-02-29", "2020-03-01"),
        ("yesterday", "2024-03-01 09:00", "2024-02-29", "2024-03-01"),
        ("Sunday", "2026-11-15 09:00", "2026-11-15", "2026-11-16"),
        ("last Sunday", "2026-11-15 09:00", "2026-11-08", "2026-11-09"),
        ("last weekend", "2026-11-15 09:00", "2026-11-07", "2026-11-09"),
        ("this weekend", "2026-11-15 09:00", "2026-11-14", "2026-11-16"),
        ("last weekend", "2026-11-18 09:00", "2026-11-14", "2026-11-16"),
    ],
)
def test_years_months_and_weeks_end(text: str, now: str, since: str, until: str) -> None:
    assert shown(period(text, at(now))) == (since, until)


def test_a_day_is_as_long_as_the_local_clock_makes_it() -> None:
    long, short = period("1 November 2026", at(MONDAY)), period("8 March 2026", at(MONDAY))
    assert long.since is not None
    assert short.since is not None
    assert long.until == long.since + DAY + HOUR
    assert short.until == short.since + DAY - HOUR
    assert shown(period("3-9 March", at(MONDAY))) == ("2026-03-03", "2026-03-10")
    assert shown(period("31 October to 1 November", at(MONDAY))) == ("2026-10-31", "2026-11-02")
    assert shown(period("1d", at("2026-11-02 00:30"))) == ("2026-11-01", "")
    # That night it was one o'clock twice.
    for ago in ("2h", "3h"):
        assert shown(period(ago, at("2026-11-01 03:00"))) == ("2026-11-01 01:00", "")


def test_a_time_with_a_zone_is_that_moment_and_one_without_is_as_we_print_it() -> None:
    for text in ("2026-10-05T12:00:00Z", "2026-10-05 14:00+02:00", "2026-10-05T07:00:00.5-0500"):
        assert period(text, at(MONDAY)).since == 1_791_201_600_000, text
    printed = clock.day_and_time(at(MONDAY))
    assert period(printed, at(MONDAY)).since == at(MONDAY)
    (mention,) = mentioned("what broke on 2026-10-05T12:00:00Z?", at(MONDAY))
    assert shown(Period(mention.since, mention.until)) == ("2026-10-05", "2026-10-06")


@loop_over(
    "text",
    [
        *("", " ", "soon", "summer", "30", "d", "-1d", "1.5d", "since", "the", "between 3 and 9"),
        *("2026-13-01", "31 February", "October 45", "99999y", "9999-12-31", "0001-01-01"),
        *("next week", "tomorrow", "in 3 days", "October or so", "3.10.2", "x" * 100_000),
        *("2026-10-15..2026-10-01", "since since May", "2026-10-08 25:00", "2026-10-08T14:99"),
    ],
)
def test_what_cannot_be_read_is_refused_with_what_can(text: str) -> None:
    with pytest.raises(
        ValueError, match=r"is not a time\. Write such as 30d, .*last week"
    ) as raised:
        period(text, at(MONDAY))
    assert len(str(raised.value)) < 250


@loop_over(
    ("text", "mentions"),
    [
        (
            "what did we change about retries last month?",
            [("last month", "2026-10-01", "2026-11-01")],
        ),
        (
            "When did Melanie go to the museum on 5 July 2023?",
            [("on 5 July 2023", "2023-07-05", "2023-07-06")],
        ),
        ("bug we fixed in October", [("in October", "2026-10-01", "2026-11-01")]),
        ("in may we changed it", [("in may", "2026-05-01", "2026-06-01")]),
        ("What broke in March?", [("in March", "2026-03-01", "2026-04-01")]),
        ("dinner on May 3, 2023?", [("on May 3, 2023", "2023-05-03", "2023-05-04")]),
        ("the June incident", [("the June", "2026-06-01", "2026-07-01")]),
        ("since yesterday's deploy", [("since yesterday", "2026-11-15", "")]),
        ("the bug from last Tuesday", [("from last Tuesday", "2026-11-10", "2026-11-11")]),
        ("in October, 5 workers died", [("in October", "2026-10-01", "2026-11-01")]),
        ("the last week of October", [("of October", "2026-10-01", "2026-11-01")]),
        (
            "all since 2024 (October 3-5)",
            [("since 2024", "2024-01-01", ""), ("October 3-5", "2026-10-03", "2026-10-06")],
        ),
        ("in the last 24 hours", [("in the last 24 hours", "2026-11-15 15:30", "")]),
        (
            "before 30 May or by Monday",
            [("before 30 May", "", "2026-05-30"), ("by Monday", "", "2026-11-17")],
        ),
    ],
)
def test_a_question_mentions_times(text: str, mentions: list[tuple[str, str, str]]) -> None:
    found = list(mentioned(text, at(MONDAY)))
    assert [(m.phrase, *shown(Period(m.since, m.until))) for m in found] == mentions


@loop_over(
    "text",
    [
        "this may break and it may be slow",
        "May I ask what 3 workers march on?",
        "May 10 workers share a lock?",
        "MAY NOT be used in version 3 may be",
        "the step before may fail",
        "Let's march 3 times",
        "Sat on the sun and wed",
        "What did June say to April?",
        "python 3.10.2 on port 8080 in 2000 requests, pid 2026",
        "issue #2024 in 2048 tokens, error 404",
        "see src/october/5 and fix-2026-10-05 and today()",
        "every Monday, next Friday, next week, tomorrow",
        "it expires after 30 days, in 3 weeks",
        "what broke recently, lately or a few weeks ago",
        "between 9 and 12 tests",
        "commit 20261005 and 5f3a",
        "",
    ],
)
def test_what_is_no_time_is_not_taken_for_one(text: str) -> None:
    assert list(mentioned(text, at(MONDAY))) == []


def test_a_long_text_is_read_at_its_beginning_and_never_through_a_word() -> None:
    head = "x " * (LONGEST_TEXT // 2 - 5)
    assert [m.phrase for m in mentioned(f"{head}October 25 yesterday", at(MONDAY))] == ["October"]
    assert list(mentioned(f"{' ' * LONGEST_TEXT}yesterday", at(MONDAY))) == []


@loop_over(
    ("text", "when", "how_many"),
    [
        ("When did it break?", True, False),
        ("and since when?", True, False),
        ("what year was that", True, False),
        ("on which day", True, False),
        ("how long ago was it", True, False),
        ("How recently did we deploy", True, False),
        ("do you know when we moved", True, False),
        ("when retries changed", True, False),
        ("it broke, but when?", True, False),
        ("what happens when it fails?", False, False),
        ("When the build fails, what then?", False, False),
        ("how long did it take", False, True),
        ("how many workers", False, True),
        ("how often", False, True),
        ("How old is it", False, True),
        ("what percentage of the tests", False, True),
        ("what's the total number of rows", False, True),
        ("when and how much", True, True),
        ("why", False, False),
    ],
)
def test_what_a_question_asks_for(text: str, when: bool, how_many: bool) -> None:
    assert (asks_when(text), asks_how_many(text)) == (when, how_many)


@loop_over(
    ("text", "when", "number"),
    [
        ("deployed yesterday", True, False),
        ("broken since last week", True, False),
        ("on 5 July 2023", True, False),
        ("released on Mondays", True, False),
        ("next week we move", True, False),
        ("in use since 2016", True, False),
        ("three days ago", True, False),
        ("it may be late", False, False),
        ("recently", False, False),
        ("took 35 ms", False, True),
        ("25% of 1,234 tokens", False, True),
        ("two workers", False, True),
        ("2000 requests", False, True),
        ("one worker with sha256 on 3.10.2", False, False),
    ],
)
def test_what_a_statement_says(text: str, when: bool, number: bool) -> None:
    assert says(text) == (when, number)


def test_a_day_has_the_terms_that_questions_are_cut_into() -> None:
    assert date_words(at("2026-10-05 12:00")) == "2026_10_05 2026_10 2026 october oct 5 monday"
    assert date_words(at("2026-05-31 23:59")) == "2026_05_31 2026_05 2026 may 31 sunday"
    known = set(date_words(at("2026-10-05 12:00")).split())
    for question in ("2026-10-05", "Monday 5 October 2026", "oct 2026", "2026-10"):
        assert known & set(query_terms(question)), question
    assert {"2026_10_05"} <= set(query_terms("on 2026-10-05")) & known


@given(ANYTHING, TIMES)
def test_a_filter_is_read_or_refused(text: str, now: int) -> None:
    try:
        found = period(text, now)
    except ValueError:
        return
    assert found.since is not None or found.until is not None
    assert found.since is None or found.until is None or found.since < found.until


@given(ANYTHING, TIMES)
def test_mentions_stand_in_order_and_are_parts_of_the_text(text: str, now: int) -> None:
    behind = 0
    for found in mentioned(text, now):
        assert behind <= found.start < found.end
        assert text[found.start : found.end] == found.phrase
        assert found.since is None or found.until is None or found.since < found.until
        behind = found.end


@given(ANYTHING)
def test_any_text_can_be_looked_at(text: str) -> None:
    for look in (asks_when, asks_how_many):
        assert look(text) in (True, False)
    assert set(says(text)) <= {True, False}


@given(TIMES)
def test_a_day_contains_its_time(now: int) -> None:
    found = period("today", now)
    assert found.since is not None
    assert found.until is not None
    assert found.since <= now < found.until
    assert all(term.replace("_", "").isalnum() for term in date_words(now).split())


@loop_over(
    "text",
    [
        "the week before ",
        "between 3 and ",
        "may 5 ",
        "1",
        "when ",
        "what the ",
        "–",
        " ",
        ".",
        "~1,1",
    ],
)
def test_no_text_takes_long(text: str) -> None:
    """The time-out of the tests is what would tell: 100,000 characters, and nothing is quadratic."""
    hostile = text * (100_000 // len(text))
    list(mentioned(hostile, at(MONDAY)))
    for look in (asks_when, asks_how_many, says):
        look(hostile)
        look(hostile[: LONGEST_TEXT - 1])


@loop_over(
    ("text", "day"),
    [
        ("2026-10-05", "2026-10-06 00:00"),
        ("2026-10-05 14:50", "2026-10-05 14:51"),
        ("yesterday", "2026-11-16 00:00"),
        ("30d", "2026-10-17 00:00"),
        ("12h", "2026-11-16 03:30"),
        ("May", "2026-06-01 00:00"),
        ("before May", "2026-05-01 00:00"),
    ],
)
def test_until_takes_in_what_is_named(text: str, day: str) -> None:
    assert clock.day_and_time(end(text, at(MONDAY))) == day


def test_since_needs_a_beginning_and_until_an_end() -> None:
    with pytest.raises(ValueError, match=r"'before May' has no beginning"):
        begin("before May", at(MONDAY))
    with pytest.raises(ValueError, match=r"'since May' has no end"):
        end("since May", at(MONDAY))


def test_the_options_give_milliseconds_and_say_what_can_be_written() -> None:
    @click.command()
    @since_option("Things", "2w")
    @until_option("Things")
    def things(since: int, until: int | None) -> None:
        click.echo(f"{clock.day_and_time(since)} {until and clock.day_and_time(until)}")

    def ran(*arguments: str) -> str:
        return CliRunner().invoke(things, arguments).output

    assert ran("--since", " 5 October 2025", "--until", "2025-10-09") == (
        "2025-10-05 00:00 2025-10-10 00:00\n"
    )
    assert ran().endswith(" 00:00 None\n")
    for option in ("--since", "--until"):
        assert f"Invalid value for '{option}': 'soon' is not a time. Write such as 30d" in ran(
            option, "soon"
        )
    assert "last week" in ran("--help")
