"""The header of a spool file, and what is wrong with one that has none."""

from hypothesis import given
from hypothesis import strategies as st

from aforesaid.model.events import Capture, Unreadable, parse_capture
from tests.support.tables import loop_over

HEADER = b"aforesaid/1 claude-code save /home/dev/shop\0\n"


def test_a_capture_is_read() -> None:
    found = parse_capture("name", HEADER + b'{"a":1}', 7)
    assert found == Capture("name", "claude-code", "save", "/home/dev/shop", b'{"a":1}', 7)


def test_a_directory_may_hold_anything_but_nul() -> None:
    directory = b" a b\n\"'\\ \xff\xfe "
    found = parse_capture("name", b"aforesaid/1 claude-code save " + directory + b"\0\n{}", 0)
    assert isinstance(found, Capture)
    assert found.project_dir.encode("utf-8", "surrogateescape") == directory


def test_a_payload_may_look_like_a_header() -> None:
    found = parse_capture("name", HEADER + HEADER, 0)
    assert isinstance(found, Capture)
    assert found.body == HEADER


@loop_over(
    ("data", "why"),
    [
        (b"", "empty"),
        (b"aforesaid/1 claude-code save /home", "cut off"),
        (b"aforesaid/1 claude-code save /home\0", "cut off"),
        (b"aforesaid/1 save\0\n{}", "cut off"),
        (b'{"session_id":"s"}', "cut off"),
        (HEADER.replace(b"/1", b"/2") + b"{}", "a newer aforesaid"),
    ],
)
def test_what_cannot_be_read_says_why(data: bytes, why: str) -> None:
    found = parse_capture("name", data, 0)
    assert isinstance(found, Unreadable)
    assert why in found.why


@given(st.binary() | st.binary().map(lambda tail: HEADER + tail))
def test_any_bytes_are_a_capture_or_say_why_not(data: bytes) -> None:
    found = parse_capture("name", data, 0)
    assert isinstance(found, Capture | Unreadable)
    if data.startswith(HEADER):
        assert isinstance(found, Capture)
        assert found.body == data[len(HEADER) :]
