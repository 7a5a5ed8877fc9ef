"""A clock that is set back is noticed, and only that."""

from dataclasses import dataclass

import pytest

from aforesaid.clock import DAY, HOUR, MINUTE, SECOND
from aforesaid.worker.maintenance import ClockSkew


@dataclass
class Clocks:
    """The time of day, and the one that only runs."""

    day: int = 1_800_000_000_000
    running: float = 500.0

    def pass_by(self, milliseconds: int) -> None:
        self.day += milliseconds
        self.running += milliseconds / SECOND


@pytest.mark.parametrize(
    ("jump", "back"), [(-HOUR, True), (-DAY, True), (DAY, False), (-SECOND, False)]
)
def test_only_a_clock_that_was_set_back_is_told_of_once(jump: int, back: bool) -> None:
    """T10: back an hour, forward a day, a time server's second."""
    clocks = Clocks()
    skew = ClockSkew(lambda: clocks.day, lambda: clocks.running)
    clocks.pass_by(10 * MINUTE)
    assert skew.went_back() is False
    clocks.day += jump
    assert skew.went_back() is back
    clocks.pass_by(10 * MINUTE)
    assert skew.went_back() is False
