"""How commands speak: numbers as people say them."""

import pytest

from recollect.cli.output import count, duration


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (0.04, "0.0 s"),
        (9.94, "9.9 s"),
        (12.4, "12 s"),
        (60, "1 min 0 s"),
        (200.2, "3 min 20 s"),
        (3_900, "1 h 5 min"),
    ],
)
def test_a_duration_is_told_as_exactly_as_it_matters(seconds: float, told: str) -> None:
    assert duration(seconds) == told


def test_a_count_has_its_plural() -> None:
    assert [count(n, "summary") for n in (0, 1, 2_000)] == [
        "0 summaries",
        "1 summary",
        "2,000 summaries",
    ]
