"""`<private>` in every form: nothing between the tags is kept, and whatever is unclear is hidden."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aforesaid.agents.registry import FIELDS
from aforesaid.hook.capture import without_private
from aforesaid.privacy import payloads, private
from aforesaid.privacy.redactor import Redactor
from tests.support.tables import loop_over

HIDDEN = "mulberry bush"
REDACTOR = Redactor(fields=FIELDS)
FORMS = {
    "plain": ("a <private>{}</private> z", "a [private] z"),
    "any letter case": ("a <PRIVATE>{}</Private> z", "a [private] z"),
    "attributes": ("a <private reason='x' level=2>{}</private > z", "a [private] z"),
    "nested": ("a <private>b <private>{}</private> {}</private> z", "a [private] z"),
    "nested and one not closed": ("a <private>b <private>c</private> {}", "a [private]"),
    "not closed": ("a <private>{} and the rest", "a [private]"),
    "not opened": ("{} and before </private> z", "[private] z"),
    "not opened, behind a whole one": ("a <private>b</private> {} </private> z", "[private] z"),
    "closed twice": ("a <private>{}</private> {} </private> z", "[private] z"),
    "twice": ("a <private>{}</private> b <private>{}</private> c", "a [private] b [private] c"),
    "over lines": ("a <private>\n{}\n</private> z", "a [private] z"),
    "with spaces": ("a < private >{}< / private > z", "a [private] z"),
    "self-closing": ("a <private/>{}", "a [private]"),
    "a tag that is cut off": ("a <private {}", "a [private]"),
    "JSON escapes": ("a \\u003cprivate\\u003e{}\\u003c/private\\u003e z", "a [private] z"),
    "JSON in JSON": (
        "a \\\\u003cprivate\\\\u003e{}\\\\u003c\\\\/private\\\\u003e z",
        "a [private] z",
    ),
    "HTML": ("a &lt;private&gt;{}&lt;/private&gt; z", "a [private] z"),
}
forms = pytest.mark.parametrize(("text", "kept"), FORMS.values(), ids=FORMS)


@forms
def test_what_is_private_is_hidden(text: str, kept: str) -> None:
    """T62: nested, unbalanced, escaped, in any spelling."""
    assert REDACTOR.text(text.replace("{}", HIDDEN)) == kept


@forms
def test_it_is_hidden_in_a_payload(text: str, kept: str) -> None:
    """T62: in the JSON of an agent, escaped in either way."""
    for ascii_only in (True, False):
        event = {"session_id": "s", "prompt": text.replace("{}", HIDDEN)}
        body = json.dumps(event, ensure_ascii=ascii_only).encode()
        assert json.loads(payloads.redacted(REDACTOR, body)) == {"session_id": "s", "prompt": kept}


@forms
def test_the_hook_hides_it_before_the_spool(text: str, kept: str) -> None:
    """T62: the bytes of a prompt; what the hook leaves to the worker, the worker hides."""
    body = json.dumps({"prompt": text.replace("{}", HIDDEN), "cwd": "/private/tmp"}).encode()
    shown = json.loads(payloads.redacted(REDACTOR, without_private(body)))
    assert shown == {"prompt": kept, "cwd": "/private/tmp"}


PIECES = st.lists(
    st.sampled_from(
        [
            "<private>",
            "</private>",
            "<PRIVATE x>",
            "</Private >",
            "word ",
            '"',
            "\\",
            "\n",
            "é",
            "<b>",
            "&lt;private&gt;",
        ]
    ),
    max_size=14,
).map("".join)


@given(PIECES)
def test_the_hook_and_the_worker_hide_the_same(text: str) -> None:
    """T62: else the same prompt would be two, one told by the hook and one by the transcript."""
    body = json.dumps({"prompt": text, "x": 1}).encode()
    assert json.loads(without_private(body)) == {"prompt": REDACTOR.text(text), "x": 1}


@given(PIECES, PIECES)
def test_whatever_stands_between_tags_is_never_kept(before: str, behind: str) -> None:
    """T62: whatever else is around them."""
    text = f"{before}<private>{HIDDEN}</private>{behind}"
    assert HIDDEN not in REDACTOR.text(text)
    assert HIDDEN.encode() not in without_private(json.dumps({"prompt": text}).encode())


@given(st.text())
def test_a_prompt_without_a_tag_keeps_its_bytes(text: str) -> None:
    body = json.dumps({"prompt": text}).encode()
    if not private.has_tag(text):
        assert without_private(body) is body or without_private(body) == body


@loop_over(
    "text", ["private", "<privateKey>x", "<private-key>", "/private/tmp", "a < b private > c"]
)
def test_what_is_no_tag_is_left_alone(text: str) -> None:
    assert REDACTOR.text(text) == text


def test_parts_of_one_list_are_one_text() -> None:
    """T62: split over chunks: lines of a diff, blocks of a message."""
    lines = ["+a", "+<private>", f"+{HIDDEN}", "+more of it", "+</private>", "+z"]
    shown = payloads.value(REDACTOR, {"structuredPatch": [{"lines": lines}]})
    assert HIDDEN not in json.dumps(shown)
    assert shown["structuredPatch"][0]["lines"][0] == "+a"
    assert shown["structuredPatch"][0]["lines"][-1] == "+z"
    blocks = [
        {"type": "text", "text": f"a <private>{HIDDEN}"},
        {"type": "text", "text": "b</private> c"},
    ]
    assert payloads.value(REDACTOR, blocks) == [
        {"type": "text", "text": "a [private]"},
        {"type": "text", "text": "[private] c"},
    ]


def test_what_is_private_in_one_field_is_hidden_in_the_others() -> None:
    """T62: an edit shows the tags in the whole file only."""
    event = {
        "session_id": HIDDEN,
        "tool_input": {"old_string": HIDDEN, "new_string": "the maypole"},
        "tool_response": {"originalFile": f"a\n<private>\n{HIDDEN}\n</private>\n"},
    }
    shown = payloads.value(REDACTOR, event)
    assert shown["tool_input"] == {"old_string": "[private]", "new_string": "the maypole"}
    assert shown["session_id"] == HIDDEN  # where it belongs is not private


def test_a_nul_in_a_text_moves_nothing_into_another_field() -> None:
    """T62: it is also what joins the parts of a list."""
    blocks = [{"name": "a\0b", "text": f"c\0d <private>{HIDDEN}\0x</private> e"}, {"text": "f\0"}]
    assert payloads.value(REDACTOR, {"blocks": blocks, "prompt": "g\0h"}) == {
        "blocks": [{"name": "ab", "text": "cd [private] e"}, {"text": "f"}],
        "prompt": "gh",
    }
    assert payloads.value(REDACTOR, {"prompt": f"a\0b <private>{HIDDEN}</private> c"}) == {
        "prompt": "ab [private] c"
    }
    event = {"a": f"<private>{HIDDEN}\0 again</private>", "b": f"{HIDDEN}\0 again"}
    assert payloads.value(REDACTOR, event) == {"a": "[private]", "b": "[private]"}
