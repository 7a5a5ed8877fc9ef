"""What stands in claude-mem's columns, read without taking anything for granted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.transfer.claude_mem_values import list_of, number_of, text_of, time_of

AT = 1_760_000_000_000


@pytest.mark.parametrize(
    ("epoch", "text", "at"),
    [
        (AT, None, AT),
        (AT // 1000, None, AT),
        (str(AT), None, AT),
        (float(AT), None, AT),
        (None, "2025-10-09T08:53:20.000Z", AT),
        ("soon", "2025-10-09T10:53:20+02:00", AT),
        (0, "", None),
        (None, None, None),
        (float("inf"), "never", None),
    ],
)
def test_times_are_milliseconds_however_they_were_written(
    epoch: object, text: object, at: int | None
) -> None:
    assert time_of(epoch, text) == at


@pytest.mark.parametrize(
    ("value", "items"),
    [
        ('["a", "b", "a"]', ("a", "b")),
        ('["a", 1, null, {"fact": "b"}, {"x": 1, "y": 2}]', ("a", "1", "b", '{"x": 1, "y": 2}')),
        ('"one"', ("one",)),
        ("[broken", ("[broken",)),
        ("plain words", ("plain words",)),
        ("null", ()),
        ("[]", ()),
        ("", ()),
        (None, ()),
        (b"\xff", ()),
    ],
)
def test_lists_are_json_or_one_thing(value: object, items: tuple[str, ...]) -> None:
    assert list_of(value) == items


@given(st.one_of(st.none(), st.integers(), st.floats(), st.text(), st.binary()))
def test_whatever_stands_there_is_read(value: object) -> None:
    time_of(value, value)
    number_of(value)
    text_of(value)
    list_of(value)


def test_texts_are_cleaned() -> None:
    assert text_of(" \x1b[31mred\x1b[0m ") == "red"
    assert text_of(" ") is None
