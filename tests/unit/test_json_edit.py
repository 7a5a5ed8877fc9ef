import contextlib
import itertools
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from recollect.agents.json_edit import (
    JsonEditError,
    append_to_array,
    load_object,
    read_arrays,
    remove_elements,
)
from recollect.errors import InstallError

OURS = {"ours": [1, {"deep": "é"}], "empty": {}}


def not_ours(value: object) -> bool:
    return value != OURS


# Any JSON, with any white space between any two tokens, written by hand or by a serialiser.

KEYS = st.sampled_from(["hooks", "Stop", "a", "é", 'quote"d', ""])
SPACE = st.sampled_from(["", "", " ", "\n", "\n  ", "\n\t", "\r\n  ", "\r", "  \n\n \t"])
STRINGS = st.text(' aé"\\\n{}[]:,', max_size=4)
SCALARS = st.none() | st.booleans() | st.integers() | STRINGS | st.just(1.5)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=12,
)
ARRAYS = st.lists(VALUES, max_size=3)
OBJECTS = st.dictionaries(KEYS, ARRAYS | st.dictionaries(KEYS, ARRAYS, max_size=2), max_size=3)
TREES = st.dictionaries(KEYS, OBJECTS | VALUES, max_size=4)
INDENTS: st.SearchStrategy[int | str | None] = st.sampled_from([None, 0, 1, 2, 4, "\t"])
COLONS = st.sampled_from([":", ": ", " : "])
PATHS = st.lists(KEYS, min_size=1, max_size=3).map(tuple)


def write_by_hand(value: object, spaces: Iterator[str]) -> str:
    if isinstance(value, dict):
        members = [
            next(spaces) + json.dumps(key) + next(spaces) + ":" + write_by_hand(child, spaces)
            for key, child in value.items()
        ]
        token = "{" + (",".join(members) or next(spaces)) + "}"
    elif isinstance(value, list):
        elements = [write_by_hand(element, spaces) for element in value]
        token = "[" + (",".join(elements) or next(spaces)) + "]"
    else:
        token = json.dumps(value, ensure_ascii=False)
    return next(spaces) + token + next(spaces)


@st.composite
def json_texts(draw: st.DrawFn, trees: st.SearchStrategy[dict[str, Any]] = TREES) -> str:
    tree = draw(trees)
    if draw(st.booleans()):
        spaces = draw(st.lists(SPACE, min_size=1, max_size=9))
        text = write_by_hand(tree, itertools.cycle(spaces))
    else:
        separators = (draw(st.sampled_from([",", ", "])), draw(COLONS))
        text = json.dumps(tree, indent=draw(INDENTS), separators=separators, ensure_ascii=False)
        text += draw(st.sampled_from(["", "\n"]))
        text = text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))
    return draw(st.sampled_from(["", "\ufeff"])) + text


def plain_append(tree: dict[str, Any], path: tuple[str, ...], value: object) -> int:
    """Edits the parsed object the easy way; returns how many containers it had to make."""
    made = 0
    for depth, key in enumerate(path, start=1):
        if key not in tree:
            made += 1
        child = tree.setdefault(key, [] if depth == len(path) else {})
        if depth == len(path):
            assume(isinstance(child, list))
            child.append(value)
        assume(depth == len(path) or isinstance(child, dict))
        tree = child
    return made


@given(text=json_texts(), path=PATHS)
def test_appending_gives_what_editing_the_parsed_object_gives(
    text: str, path: tuple[str, ...]
) -> None:
    expected = load_object(text)
    plain_append(expected, path, OURS)
    edited = load_object(append_to_array(text, path, OURS))
    assert json.dumps(edited) == json.dumps(expected)


@given(text=json_texts(), path=PATHS)
def test_removing_what_was_appended_gives_the_same_text(text: str, path: tuple[str, ...]) -> None:
    made = plain_append(load_object(text), path, OURS)
    edited = append_to_array(text, path, OURS)
    assert edited != text
    assert remove_elements(edited, path, not_ours, prune=made) == text


@given(text=json_texts(), path=PATHS)
def test_appending_only_inserts(text: str, path: tuple[str, ...]) -> None:
    plain_append(load_object(text), path, OURS)
    edited = append_to_array(text, path, OURS)
    same = next((i for i, (a, b) in enumerate(zip(text, edited, strict=False)) if a != b), None)
    same = len(text) if same is None else same
    assert edited.endswith(text[same:])


@given(
    text=json_texts(st.fixed_dictionaries({"a": ARRAYS}, optional={"z": VALUES})),
    keep=st.lists(st.booleans(), min_size=3, max_size=3),
)
def test_removing_gives_what_editing_the_parsed_object_gives(text: str, keep: list[bool]) -> None:
    expected = load_object(text)
    expected["a"] = [value for value, kept in zip(expected["a"], keep, strict=False) if kept]
    verdicts = iter(keep)
    edited = remove_elements(text, ("a",), lambda _: next(verdicts))
    assert json.dumps(load_object(edited)) == json.dumps(expected)


@given(text=STRINGS | json_texts().map(lambda text: text[:-1]), path=PATHS)
def test_any_text_is_edited_or_refused_never_a_crash(text: str, path: tuple[str, ...]) -> None:
    edits: list[Callable[[], object]] = [
        lambda: append_to_array(text, path, OURS),
        lambda: remove_elements(text, path, not_ours, prune=9),
        lambda: read_arrays(text, path),
    ]
    for edit in edits:
        with contextlib.suppress(JsonEditError):
            edit()


# How it looks.


def append(text: str) -> str:
    return append_to_array(text, ("hooks", "Stop"), {"x": 1})


def test_an_empty_object_is_opened_with_two_spaces() -> None:
    assert append("{}\n") == (
        '{\n  "hooks": {\n    "Stop": [\n      {\n        "x": 1\n      }\n    ]\n  }\n}\n'
    )


def test_four_spaces_stay_four_spaces() -> None:
    assert append('{\n    "a": 1\n}') == (
        '{\n    "a": 1,\n    "hooks": {\n        "Stop": [\n            {\n'
        '                "x": 1\n            }\n        ]\n    }\n}'
    )


def test_tabs_and_carriage_returns_stay() -> None:
    assert append('{\r\n\t"a": 1\r\n}\r\n') == (
        '{\r\n\t"a": 1,\r\n\t"hooks": {\r\n\t\t"Stop": [\r\n\t\t\t{\r\n'
        '\t\t\t\t"x": 1\r\n\t\t\t}\r\n\t\t]\r\n\t}\r\n}\r\n'
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"a":1}', '{"a":1,"hooks":{"Stop":[{"x":1}]}}'),
        ('{"a": 1}\n', '{"a": 1, "hooks": {"Stop": [{"x": 1}]}}\n'),
        ('{ "hooks": { } }', '{ "hooks": {"Stop": [{"x": 1}] } }'),
        ('{"hooks":{"Stop":[7]}}', '{"hooks":{"Stop":[7,{"x":1}]}}'),
    ],
)
def test_a_single_line_stays_a_single_line(before: str, after: str) -> None:
    assert append(before) == after


def test_an_array_on_one_line_in_a_longer_file_stays_on_one_line() -> None:
    before = '{\n  "hooks": {\n    "Stop": [{"y": 2}]\n  }\n}\n'
    assert append(before) == '{\n  "hooks": {\n    "Stop": [{"y": 2}, {"x": 1}]\n  }\n}\n'


def test_an_empty_array_in_a_longer_file_is_opened() -> None:
    before = '{\n  "hooks": {\n    "Stop": []\n  }\n}\n'
    after = before.replace("[]", '[\n      {\n        "x": 1\n      }\n    ]')
    assert append(before) == after


def test_a_byte_order_mark_stays_first() -> None:
    assert append('\ufeff{"a":1}') == '\ufeff{"a":1,"hooks":{"Stop":[{"x":1}]}}'


# Removing.


@pytest.mark.parametrize(
    ("drop", "after"),
    [
        ({1}, "[\n  2,\n  3\n]"),
        ({2}, "[\n  1,\n  3\n]"),
        ({3}, "[\n  1,\n  2\n]"),
        ({1, 2}, "[\n  3\n]"),
        ({1, 2, 3}, "[]"),
    ],
)
def test_a_removed_element_takes_its_comma_and_its_line_along(drop: set[int], after: str) -> None:
    text = '{"a": [\n  1,\n  2,\n  3\n]}'
    assert remove_elements(text, ("a",), lambda n: n not in drop) == f'{{"a": {after}}}'


@pytest.mark.parametrize(
    ("prune", "after"),
    [
        (0, '{"z": 0, "a": {"b": {"c": []}}}'),
        (1, '{"z": 0, "a": {"b": {}}}'),
        (2, '{"z": 0, "a": {}}'),
        (3, '{"z": 0}'),
        (9, '{"z": 0}'),
    ],
)
def test_containers_go_only_as_far_as_asked(prune: int, after: str) -> None:
    text = '{"z": 0, "a": {"b": {"c": [1]}}}'
    assert remove_elements(text, ("a", "b", "c"), lambda _: False, prune=prune) == after


def test_pruning_stops_at_a_container_that_holds_something_else() -> None:
    text = '{"a": {"b": [1], "c": 2}}'
    assert remove_elements(text, ("a", "b"), lambda _: False, prune=9) == '{"a": {"c": 2}}'


def test_an_array_that_was_empty_before_is_not_pruned() -> None:
    assert remove_elements('{"a": []}', ("a",), lambda _: False, prune=9) == '{"a": []}'


def test_removing_from_what_is_not_there_changes_nothing() -> None:
    assert remove_elements('{"a": {}}', ("a", "b"), lambda _: False, prune=9) == '{"a": {}}'


def test_a_path_may_go_through_an_element_of_an_array() -> None:
    text = '{"a": [{"b": [1, 2]}, {"b": [1, 2]}]}'
    edited = remove_elements(text, ("a", 1, "b"), lambda n: n != 1)
    assert edited == '{"a": [{"b": [1, 2]}, {"b": [2]}]}'


# What is refused.


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", 1),
        ("[1]", 1),
        ("\n\n null", 3),
        ('{"a": 1,}', 1),
        ('{\n  // a comment\n  "a": 1\n}', 2),
        ('{\n  "a": NaN\n}', 1),
        ('{"a": ' + "9" * 5000 + "}", 1),
        ("[" * 100_000, 1),
        ('{\n "hooks": []\n}', 2),
        ('{\n "hooks": null\n}', 2),
        ('{"hooks": {\n "Stop": {}\n}}', 2),
        ('{"hooks": {},\n "hooks": {}}', 2),
        ('{"hooks": {"Stop": [],\n\n "Stop": []}}', 3),
    ],
)
def test_what_cannot_be_edited_is_refused_with_its_line(text: str, line: int) -> None:
    with pytest.raises(JsonEditError) as error:
        append(text)
    assert error.value.line == line
    assert isinstance(error.value, InstallError)


def test_a_key_that_stands_twice_elsewhere_is_nobodys_business() -> None:
    assert append('{"a":1,"a":2}') == '{"a":1,"a":2,"hooks":{"Stop":[{"x":1}]}}'


def test_reading_arrays_refuses_an_object_that_holds_something_else() -> None:
    assert read_arrays('{"hooks": {"a": [1], "b": []}}', ("hooks",)) == {"a": [1], "b": []}
    assert read_arrays("{}", ("hooks",)) == {}
    with pytest.raises(JsonEditError, match=r"line 2: `hooks\.b` must be an array"):
        read_arrays('{"hooks": {"a": [1],\n "b": 2}}', ("hooks",))
