"""What stands in claude-mem's columns, read without taking anything for granted."""

from hypothesis import given
from hypothesis import strategies as st

from aforesaid.transfer.claude_mem import parse_list, parse_number, parse_text, parse_time
from tests.support.tables import loop_over

AT = 1_760_000_000_000


@loop_over(
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
    assert parse_time(epoch, text) == at


@loop_over(
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
    assert parse_list(value) == items


@given(st.one_of(st.none(), st.integers(), st.floats(), st.text(), st.binary()))
def test_whatever_stands_there_is_read(value: object) -> None:
    parse_time(value, value)
    parse_number(value)
    parse_text(value)
    parse_list(value)


def test_texts_are_cleaned() -> None:
    assert parse_text(" \x1b[31mred\x1b[0m ") == "red"
    assert parse_text(" ") is None
