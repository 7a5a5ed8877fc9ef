"""What a request says, read by its row: strictly, and with the name of what is wrong."""

import asyncio
import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aforesaid.errors import Misused
from aforesaid.parameters import Parameter
from aforesaid.paths import Paths
from aforesaid.web.app import Application
from aforesaid.web.auth import Authenticator
from aforesaid.web.endpoint import ApiError, Endpoint, count_values, encode
from tests.support.tables import loop_over
from tests.support.web import PORT, TOKEN, ask, headers, site

ENDPOINT = Endpoint(
    "POST",
    "/things/{id}",
    "For tests.",
    lambda _: None,
    in_path=(Parameter("id", "Which.", "number", required=True, most=1000),),
    query=(
        Parameter("limit", "How many.", "number", default=20, most=100),
        Parameter("type", "Of which types.", "names", default=()),
        Parameter("deep", "All of it.", "flag", default=False),
    ),
    body=(
        Parameter("title", "In short.", required=True, most=100),
        Parameter("kind", "Which kind.", choices=("a", "b")),
        Parameter("value", "Anything.", "json"),
    ),
)


def read(place: str = "7", query: str = "", body: Any = None) -> dict[str, Any]:
    data = json.dumps({"title": "x"} if body is None else body).encode()
    return ENDPOINT.read({"id": place}, query.encode(), data)


def test_every_parameter_gets_a_value() -> None:
    found = read(query="type=a&type=b&deep=yes", body={"title": " T\x07 ", "value": [1, None]})
    assert found == {
        "id": 7,
        "limit": 20,
        "type": ("a", "b"),
        "deep": True,
        "title": "T",
        "kind": None,
        "value": [1, None],
    }


@loop_over(
    ("asked", "field"),
    [
        ({"place": "x"}, "id"),
        ({"place": "0"}, "id"),
        ({"place": "1001"}, "id"),
        ({"query": "limit=101"}, "limit"),
        ({"query": "limit=-1"}, "limit"),
        ({"query": "limit=1.5"}, "limit"),
        ({"query": "limit=1&limit=2"}, "limit"),
        ({"query": "deep=perhaps"}, "deep"),
        ({"query": "unknown=1"}, "unknown"),
        ({"body": {}}, "title"),
        ({"body": {"title": ""}}, "title"),
        ({"body": {"title": ["x"]}}, "title"),
        ({"body": {"title": 5}}, "title"),
        ({"body": {"title": "x" * 101}}, "title"),
        ({"body": {"title": "x", "kind": "c"}}, "kind"),
        ({"body": {"title": "x", "more": 1}}, "more"),
        ({"body": ["title"]}, None),
        ({"query": "&".join(f"a{n}=1" for n in range(300))}, None),
    ],
)
def test_what_is_wrong_is_named(asked: dict[str, Any], field: str | None) -> None:
    with pytest.raises(Misused) as refused:
        read(**asked)
    assert refused.value.field == field
    assert str(refused.value).endswith(".")


@loop_over(
    "body",
    [
        b"{",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"title": NaN}',
        b'{"title": ' + b"9" * 5000 + b"}",
        b"\0",
    ],
)
def test_a_body_that_is_no_json_is_refused(body: bytes) -> None:
    with pytest.raises(Misused):
        ENDPOINT.read({"id": "1"}, b"", body)


@given(
    st.binary(max_size=60),
    st.text(max_size=40),
    st.recursive(st.none() | st.integers() | st.text(), st.lists),
)
def test_whatever_comes_is_read_or_refused(query: bytes, place: str, body: Any) -> None:
    with suppress(Misused):
        ENDPOINT.read({"id": place}, query, json.dumps(body).encode())


def raw(value: bytes) -> dict[str, Any]:
    return ENDPOINT.read({"id": "1"}, b"", b'{"title": "x", "value": ' + value + b"}")


@pytest.mark.parametrize(
    "value",
    [
        b"[" + b"[]," * 400_000 + b"[]]",
        b"[" + b'"",' * 400_000 + b'""]',
        b"{" + b'"a": {"b": 1},' * 100_000 + b'"c": 1}',
        b'["' + b"x" * 200_000 + b'"' + b", 1" * 100_001 + b"]",
    ],
    ids=["lists", "texts", "objects", "after a text"],
)
def test_a_body_of_very_many_values_is_refused_before_it_is_loaded(
    value: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    def loaded(*_: object, **__: object) -> None:
        raise AssertionError("loaded")

    monkeypatch.setattr(json, "loads", loaded)
    with pytest.raises(ApiError) as refused:
        raw(value)
    assert (refused.value.status, refused.value.code) == (413, "too_large")


@pytest.mark.parametrize(
    "text", ["a,b,c\n" * 100_000, '{"a": [1, "\\"]}' * 50_000, "[,é€\ud800" * 60_000]
)
def test_a_large_text_may_hold_whatever_it_likes(text: str) -> None:
    assert raw(json.dumps(text).encode())["value"] == text
    many = [text, *range(90_000)]
    assert raw(json.dumps(many).encode())["value"] == many


@pytest.mark.parametrize("value", [b'"' + b"x" * 200_000, b'["\\q' + b"x" * 200_000 + b'"]'])
def test_a_large_text_that_is_no_json_is_refused(value: bytes) -> None:
    with pytest.raises(Misused):
        raw(value)


@given(
    st.recursive(
        st.none() | st.booleans() | st.text(),
        lambda some: st.lists(some) | st.dictionaries(st.text(), some),
    )
)
def test_no_fewer_values_are_counted_than_there_are(value: Any) -> None:
    def size(each: Any) -> int:
        if isinstance(each, dict):
            return 1 + sum(map(size, each.values()))
        return 1 + sum(map(size, each)) if isinstance(each, list) else 1

    assert size(value) - 1 <= count_values(json.dumps(value)) <= 2 * size(value)


@pytest.mark.parametrize("end", ["", "\\", '"', '", 1, 2'])
def test_values_are_counted_in_linear_time_whatever_a_string_holds(end: str) -> None:
    """Of a megabyte: a string that is not terminated was searched from each of its quotes."""
    assert count_values('["' + '\\"' * 500_000 + end) == 1 + end.count(",")


def test_what_utf8_cannot_say_is_escaped() -> None:
    assert json.loads(encode({"text": "\ud800 ü"})) == {"text": "\ud800 ü"}
    assert "ü".encode() in encode({"text": "ü"})


def test_a_path_is_split_before_it_is_decoded(home: Paths) -> None:
    def endpoint(path: str, *names: str) -> Endpoint:
        in_path = tuple(Parameter(name, "Which.") for name in names)
        return Endpoint("GET", path, "For tests.", lambda _, **given: [path, given], in_path)

    given = (endpoint("/a/{id}", "id"), endpoint("/a/b"), endpoint("/a/{id}/c", "id"))
    with site(home) as web:
        app = Application(web.backend, authenticator=Authenticator(TOKEN, PORT), endpoints=given)

        def get(path: str) -> Any:
            answer = asyncio.run(ask(app, "GET", path, headers()))
            return answer.json if answer.status == 200 else answer.status

        assert get("/a/b") == ["/a/b", {}]
        assert get("/a/x%2Fy%20z") == ["/a/{id}", {"id": "x/y z"}]
        assert get("/a/%ff/c") == ["/a/{id}/c", {"id": "\ufffd"}]
        for nowhere in ("/a/", "/a", "/a//c", "/a/b/", "/a/b%2Fc/d/e"):
            assert get(nowhere) == 404
        app.close()
