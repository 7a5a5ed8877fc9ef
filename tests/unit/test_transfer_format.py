"""The lines of an export: what is written is read, byte for byte; what is wrong is said."""

import json
import re
from collections.abc import Callable
from dataclasses import is_dataclass, replace
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, cast, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aforesaid.model.observations import Doubt
from aforesaid.model.records import (
    DirRecord,
    EventRecord,
    JobRecord,
    MemoryRecord,
    ObservationRecord,
    ProjectRecord,
    PromptRecord,
    RequestRecord,
    SessionRecord,
    SummaryRecord,
)
from aforesaid.repository import Identity
from aforesaid.transfer.format import LINE_NAMES, End, Header, Line, Malformed, decoded, encoded
from tests.support.tables import loop_over

KINDS = [kind for kind in LINE_NAMES if kind is not EventRecord]
EVENT = EventRecord("s", "k", "tool", None, "save", "c", 1, 1, None, None, False, False, 1, b"{}")
TEXTS = st.text(st.characters(), max_size=8)  # halves of surrogate pairs too


def any_of(hint: Any) -> st.SearchStrategy[Any]:
    """Any value of a field's type."""
    arguments = get_args(hint)
    if get_origin(hint) is UnionType:
        return st.one_of(*(any_of(part) for part in arguments))
    if get_origin(hint) is Literal:
        return st.sampled_from(arguments)
    if get_origin(hint) is tuple:
        return st.lists(any_of(arguments[0]), max_size=2).map(tuple)
    if is_dataclass(hint):
        parts = {name: any_of(part) for name, part in get_type_hints(hint).items()}
        return st.builds(cast(Callable[..., Any], hint), **parts)
    integers = st.integers(-(2**63) + 1, 2**63 - 1)
    return {int: integers, str: TEXTS, bool: st.booleans(), NoneType: st.none()}[hint]


@given(st.one_of(*map(any_of, KINDS)))
def test_every_record_comes_back_as_it_was(line: Line) -> None:
    assert decoded(encoded(line)) == line
    assert encoded(line).count(b"\n") == 1


def body_of(told: bytes) -> dict[str, object]:
    line = encoded(replace(EVENT, body=told))
    read = decoded(line)
    assert isinstance(read, EventRecord)
    assert read.body == told
    value: dict[str, object] = json.loads(line)
    return {name: value[name] for name in value if name.startswith("body")}


@given(st.binary())
def test_any_body_comes_back_byte_for_byte(body: bytes) -> None:
    assert len(body_of(body)) >= 1


@loop_over(
    ("body", "line"),
    [
        (b'{"a": "\\u00e4"}\n', {"body": '{"a": "\\u00e4"}\n'}),
        ("ä".encode(), {"body": "ä"}),
        (b"\xff", {"body_base64": "/w=="}),
    ],
)
def test_a_body_is_text_or_base64(body: bytes, line: dict[str, object]) -> None:
    assert body_of(body) == line


def test_a_later_releases_fields_are_left_out() -> None:
    value = json.loads(encoded(End(3))) | {"mood": "good"}
    assert decoded(json.dumps(value).encode()) == End(3)


def test_fields_with_a_default_may_be_missing() -> None:
    assert decoded(b'{"record":"export","format":"f","version":1}') == Header("f", 1)


@loop_over(
    ("line", "why"),
    [
        (b"{", "not JSON"),
        (b"[" * 100_000, "nested over 200 deep"),
        (b"[]", "not a JSON object"),
        (b'{"record":"poem"}', "'poem' is not a record"),
        (b'{"record":7}', "'7' is not a record"),
        (b'{"record":"end"}', "`lines` is missing"),
        (b'{"record":"end","lines":"3"}', "`lines`: a whole number"),
        (b'{"record":"end","lines":true}', "`lines`: a whole number"),
        (b'{"record":"end","lines":99999999999999999999}', "`lines`: a whole number"),
        (b'{"record":"event"}', "`session` is missing"),
        (b'{"record":"event","body_base64":"?"}', "`body_base64` cannot be read"),
    ],
)
def test_a_line_that_is_wrong_says_what_is(line: bytes, why: str) -> None:
    with pytest.raises(Malformed, match=re.escape(why)):
        decoded(line)


def test_a_value_that_is_none_of_the_allowed_ones_is_refused() -> None:
    session = SessionRecord("s", "p", "a", "r", "/", None, "active", 1, 1, None, None, None, 0)
    value = json.loads(encoded(session)) | {"status": "asleep"}
    with pytest.raises(Malformed, match="`status`: one of active, completed, interrupted"):
        decoded(json.dumps(value).encode())


def test_the_format_is_what_the_reference_says() -> None:
    """Field by field: whoever changes a record changes the page and, unless it is optional, the version."""
    lines: list[Line] = [
        ProjectRecord("p1", "n", "/", 1, (Identity("path", "i"),), (DirRecord("/", 1),)),
        SessionRecord("s", "p1", "a", "r", "/", None, "active", 1, 1, None, None, None, 0),
        PromptRecord("s", 1, None, 1, "t"),
        JobRecord("s", 1, "observe", 1, "done", 1, 1, None, 1, None, None),
        EVENT,
        ObservationRecord(
            *("s", "s#1", None, 0, 1, 1, "rules", None, "change", None, None, None, None),
            *(False, False),
            doubts=(Doubt("title", "r"),),
        ),
        SummaryRecord("s", 1, 1, "rules", None, None, None, None, None, None, None),
        RequestRecord(
            *("s", "p1", 1, 1, "p", "m", "v", "observe", "d", "answered", None),
            *(1, 1, 1, 1, False, None, 1, False, "reply"),
        ),
        MemoryRecord("p1", "n", True, "t"),
        Header("aforesaid-export", 2),
        End(1),
    ]
    page = (Path(__file__).parents[2] / "docs/reference/export-format.md").read_text()
    for line in lines:
        assert decoded(encoded(line)) == line
        value = json.loads(encoded(line))
        section = page.partition(f"\n## {value['record']}\n")[2].partition("\n## ")[0]
        for name in value:
            assert name == "record" or f"`{name}`" in section, (value["record"], name)
