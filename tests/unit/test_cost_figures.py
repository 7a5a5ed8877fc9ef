"""The figures of `aforesaid cost`, and the times it takes."""

from datetime import datetime

import pytest

from aforesaid import clock
from aforesaid.cli.cost import dollars
from aforesaid.clock import HOUR
from aforesaid.model.requests import Spent
from aforesaid.times import begin
from tests.support.tables import loop_over

NOW = round(datetime(2026, 11, 16, 15, 30).astimezone().timestamp() * 1000)


def spent(
    label: str, sent: int = 0, *, requests: int = 1, price: int = 0, unpriced: int = 0
) -> Spent:
    return Spent(label, requests, sent, 0, 0, price, unpriced)


@loop_over(
    ("row", "shown"),
    [
        (spent("", price=0), "0.00"),
        (spent("", price=1), "0.0001"),
        (spent("", price=1_234), "0.0012"),
        (spent("", price=12_345_678), "12.35"),
        (spent("", unpriced=1), "unknown"),
        (spent("", requests=3, price=20_000, unpriced=1), "0.0200 + ?"),
    ],
)
def test_dollars_are_told_as_far_as_they_are_known(row: Spent, shown: str) -> None:
    assert dollars(row) == shown


@loop_over(
    ("text", "day"),
    [
        ("0d", "2026-11-16 00:00"),
        ("1d", "2026-11-15 00:00"),
        ("30D", "2026-10-17 00:00"),
        ("2w", "2026-11-02 00:00"),
        ("2026-11-01", "2026-11-01 00:00"),
    ],
)
def test_days_and_weeks_are_whole(text: str, day: str) -> None:
    assert clock.day_and_time(begin(text, NOW)) == day


def test_hours_are_counted_from_now() -> None:
    assert begin("12h", NOW) == NOW - 12 * HOUR


@loop_over("text", ["", "soon", "30", "d", "-1d", "2026-13-01", "1.5d"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises((ValueError, OverflowError)):
        begin(text, NOW)
