"""A text that is to be erased is found whatever its form, and what only looks like it is left alone."""

import json

import pytest

from aforesaid.errors import ConfigError
from aforesaid.model.purge import ERASED, Needle
from tests.support.tables import loop_over

TEXT = 'The "blue" café opens at\nnine'
FORMS = (
    TEXT,
    TEXT.upper(),
    TEXT.replace("\n", "   \n\t"),
    json.dumps({"prompt": f"Note: {TEXT}."}),
    json.dumps({"prompt": TEXT}, ensure_ascii=False),
    json.dumps({"text": json.dumps({"inner": TEXT})}),
    f"before {TEXT} after",
)
OTHERS = ("", "The blue café opens at nine", 'The "blue" cafe opens at nine', "nine at opens café")


@loop_over("text", FORMS)
def test_every_form_of_it_is_found_and_taken_out(text: str) -> None:
    needle = Needle(TEXT)
    assert needle.found(text)
    left = needle.changed(text)
    assert not needle.found(left)
    assert ERASED in left


@pytest.mark.parametrize("text", OTHERS)
def test_what_says_something_else_stays_as_it_is(text: str) -> None:
    needle = Needle(TEXT)
    assert not needle.found(text)
    assert needle.changed(text) == text


def test_what_stands_around_it_stays() -> None:
    assert Needle("blue café").changed("The blue  CAFÉ opens") == f"The {ERASED} opens"


@pytest.mark.parametrize(
    "text", ["Große Straße", "der ﬁnale Plan", "İstanbul ofisi", "ship it 😀 now"]
)
def test_letters_that_fold_to_others_and_pairs_of_escapes_are_found(text: str) -> None:
    needle = Needle(text)
    said = f"We said: {text}, and more."
    for form in (said, said.upper(), json.dumps(said), json.dumps(json.dumps(said))):
        assert needle.found(form), form
        assert not needle.found(needle.changed(form))
    assert needle.changed(said) == f"We said: {ERASED}, and more."


@loop_over("text", ["", "   ", "ab", "a b c", "\n\t"])
def test_what_would_be_everywhere_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="needs 4 characters"):
        Needle(text)
