"""What of a payload is kept: all of it where that can be borne, and always what it is."""

import base64
import json
from hashlib import sha256
from io import BytesIO
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aforesaid.payload import attachments
from aforesaid.payload import shorten as cutting
from aforesaid.payload.limits import KEPT_BYTES, NotJson, json_object, parse_obstacle
from aforesaid.payload.shorten import MARK, Keep, cut, fit_payload
from tests.support.tables import loop_over

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 100
TINY = Keep(head=8, tail=8, out=64)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


def payload(response: str) -> bytes:
    """As the client sends it: what identifies the call comes last."""
    start = {"session_id": "s", "hook_event_name": "PostToolUse", "tool_name": "Bash"}
    return (
        json.dumps(start)[:-1] + f', "tool_response": {response}, "tool_use_id": "t"' + "}"
    ).encode()


BOMBS = {
    "empty lists": "[" + "[]," * 2_700_000 + "[]]",
    "a million keys": "{" + ",".join(f'"k{n}":{n}' for n in range(1_000_000)) + "}",
    "depth": "[" * 100_000 + "]" * 100_000,
    "mixed depth": '{"a":[' * 50_000 + "]}" * 50_000,
    "digits": "1" * 5_000,
    "digits among texts": json.dumps(["x" * 70_000])[:-1] + "," + "9" * 5_000 + "]",
    "many short texts": "[" + '"a",' * 1_000_000 + '"a"]',
    "a long text": json.dumps("line\n" * 4_000_000),
}


@loop_over("name", BOMBS)
def test_a_payload_that_is_too_much_is_cut_to_what_identifies_it(name: str) -> None:
    """T9: what would take hundreds of megabytes to parse is never parsed, and the event is there."""
    body = payload(BOMBS[name])
    kept = fit_payload(body)
    assert len(kept) < 2 * cutting.USUAL.out
    assert parse_obstacle(kept) is None
    found = json_object(kept)
    assert (found["session_id"], found["tool_name"], found["tool_use_id"]) == ("s", "Bash", "t")
    mark = found[MARK]
    assert mark["bytes"] == len(body)
    assert mark.get("sha256") == sha256(body).hexdigest() or mark["read"] <= len(body)


@loop_over(
    "response",
    ["NaN", "-Infinity", "1e999", '{"a":1,"a":2}', '"\\ud800"', '"\\u0000"', "12345" * 50],
)
def test_what_is_only_odd_stays_as_it_came(response: str) -> None:
    """T9: NaN, double keys, half surrogate pairs, long numbers."""
    assert fit_payload(payload(response)) == payload(response)
    assert json_object(payload(response))["tool_use_id"] == "t"


def test_two_megabytes_are_kept_whole_and_a_byte_more_is_cut() -> None:
    """T7: lossless to 2 MB."""
    room = KEPT_BYTES - len(payload('""'))
    whole = payload('"' + "x" * room + '"')
    assert fit_payload(whole) is whole or fit_payload(whole) == whole
    kept = json_object(fit_payload(payload('"' + "x" * (room + 1) + '"')))
    assert "bytes left out" in kept["tool_response"]


@pytest.mark.parametrize(
    "response",
    [
        "[" + "[[]]," * 4_000 + "[]]",
        '{"a":[1,2,{"b":' + json.dumps("long " * 20_000) + "}]}",
        json.dumps("text with <private> words " * 4_000),
        "[" * 5_000 + "]" * 5_000,
    ],
)
@pytest.mark.parametrize("last", ['"tool_use_id": "t"', '"tool_use_id":"t","duration_ms": 12'])
def test_beyond_the_limit_of_work_only_the_last_members_are_read(
    response: str, last: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """T7, T9: whatever the size, the work is bounded, and the event is identified."""
    monkeypatch.setattr(cutting, "MOST_READ", 8 * 1024)
    body = payload(response).replace(b'"tool_use_id": "t"', last.encode())
    found = json_object(cut(BytesIO(body), "to see"))
    assert (found["session_id"], found["tool_name"], found["tool_use_id"]) == ("s", "Bash", "t")
    assert found[MARK]["bytes"] == len(body)
    assert found[MARK]["read"] < len(body)
    assert "private" not in json.dumps(
        found
    )  # the end of the text, with its closing tag, was not seen


def test_a_payload_beyond_the_limit_that_does_not_end_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cutting, "MOST_READ", 1024)
    with pytest.raises(NotJson):
        cut(BytesIO(payload(json.dumps("x" * 10_000))[:-2]), "to see")


@given(JSON.map(lambda value: {"value": value}))
def test_a_cut_that_has_room_for_everything_changes_nothing(value: dict[str, Any]) -> None:
    kept = json.loads(cut(BytesIO(json.dumps(value).encode()), "to see"))
    del kept[MARK]
    assert kept == value


@given(st.dictionaries(st.text(), JSON), st.booleans())
def test_whatever_is_cut_stays_json(value: dict[str, Any], ascii_only: bool) -> None:
    body = json.dumps(value, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    found = json.loads(cut(BytesIO(body), "to see", TINY).decode("utf-8", "replace"))
    assert found[MARK]["sha256"] == sha256(body).hexdigest()


@given(st.text(min_size=30), st.booleans())
def test_the_ends_of_a_long_text_are_its_own(text: str, ascii_only: bool) -> None:
    body = json.dumps({"a": {"b": text}}, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    kept = json.loads(cut(BytesIO(body), "to see", TINY).decode("utf-8", "replace"))["a"]["b"]
    head, mark, tail = kept.partition(" [... ")
    if mark:
        assert text.startswith(head.rstrip("\ufffd"))
        assert text.endswith(tail.partition("...] ")[2].lstrip("\ufffd"))


@loop_over(
    "broken",
    [
        b"",
        b"[]",
        b"{",
        b'{"a":1',
        b'{"a":1}x',
        b'{"a" 1}',
        b'{"a":"\\',
        b'{"a":trux}',
        b"{1:2}",
        b'{"a":[1}',
    ],
)
def test_what_is_no_json_is_refused(broken: bytes) -> None:
    with pytest.raises(NotJson):
        cut(BytesIO(broken), "to see")


@pytest.mark.parametrize("prefix", ["", "data:image/png;base64,"])
@pytest.mark.parametrize("large", [False, True])
def test_an_attachment_becomes_a_mark_with_its_hash(prefix: str, large: bool) -> None:
    encoded = prefix + base64.b64encode(PNG).decode()
    body = payload(json.dumps({"file": {"base64": encoded, "type": "image/png"}}))
    kept = json_object(cut(BytesIO(body), "to see") if large else fit_payload(body))
    mark = f"[attachment:png:{sha256(PNG).hexdigest()}:{len(PNG)}]"
    assert kept["tool_response"]["file"] == {"base64": mark, "type": "image/png"}


@pytest.mark.parametrize(
    "text",
    [
        "A" * 40_000,  # no kind of file begins like this
        base64.b64encode(PNG).decode()[:-3],  # cut off
        base64.b64encode(PNG).decode() + " and words",
        base64.b64encode(PNG[:5_000]).decode(),  # small enough to keep
    ],
)
def test_what_only_looks_like_an_attachment_stays(text: str) -> None:
    body = payload(json.dumps({"stdout": text}))
    assert fit_payload(body) == body
    assert json_object(cut(BytesIO(body), "to see"))["tool_response"]["stdout"] == text


def test_attachments_do_not_count_when_it_is_decided_what_is_too_large() -> None:
    image = base64.b64encode(PNG * 600).decode()
    body = payload(
        json.dumps([{"type": "image", "data": image}, {"type": "text", "text": "x" * 100_000}])
    )
    assert len(body) > KEPT_BYTES
    kept = json_object(fit_payload(body))
    assert MARK not in kept
    assert len(kept["tool_response"][1]["text"]) == 100_000


def test_the_smallest_attachment_is_a_matter_of_the_encoded_size() -> None:
    assert attachments.replace_attachments(b'"' + base64.b64encode(PNG[:12_288]) + b'"').startswith(
        b'"[attachment:'
    )
