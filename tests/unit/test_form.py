"""The form that people edit: what is not touched comes back as it was."""

from hypothesis import given
from hypothesis import strategies as st

from aforesaid.cli.editor import KEYS, read_form, write_form
from aforesaid.model.observations import TYPES, Fields, Unusable, checked
from aforesaid.text import clean
from tests.support.tables import loop_over

FIELDS: Fields = {
    "type": "bugfix",
    "title": "Importer takes decimal commas: 1,5",
    "subtitle": None,
    "facts": ["The cause was cell.parse().", "It has\n- two\n  lines", "null", "1.10"],
    "narrative": "# not a comment\n\n---\n[a link]\ntitle: none",
    "concepts": ["csv-import", "number-format"],
}
pieces = st.sampled_from([*KEYS, ": ", "---", "- ", "  ", "\n", "#", '"', "'''", "null", "1"])
texts = st.lists(pieces | st.text(max_size=12), max_size=8).map("".join).map(clean).map(str.strip)
lines = texts.map(lambda text: " ".join(text.split()) or None)
items = st.lists(texts.filter(bool), max_size=4)


def test_what_was_written_is_read_back() -> None:
    assert read_form(write_form(12, FIELDS)) == FIELDS


@given(st.sampled_from(TYPES), lines, lines, items, texts, items)
def test_any_text_comes_back_as_it_was(
    kind: str,
    title: str | None,
    subtitle: str | None,
    facts: list[str],
    story: str,
    about: list[str],
) -> None:
    fields: Fields = {
        "type": kind,
        "title": title or "t",
        "subtitle": subtitle,
        "facts": facts,
        "narrative": story or None,
        "concepts": about,
    }
    assert read_form(write_form(1, fields)) == fields


def test_the_form_explains_itself() -> None:
    form = write_form(12, FIELDS)
    assert form.startswith("---\n# Observation #12.")
    assert all(kind in form for kind in TYPES)


def test_a_title_on_two_lines_becomes_one() -> None:
    found = read_form(write_form(1, FIELDS | {"title": "Importer\ntakes   commas"}))
    assert isinstance(found, dict)
    assert found["title"] == "Importer takes commas"


@loop_over(
    ("form", "why"),
    [
        (write_form(1, FIELDS).replace("bugfix", "bug"), "'bug'"),
        (write_form(1, FIELDS).replace("subtitle:", "# subtitle:"), "subtitle"),
        (write_form(1, FIELDS).replace("title:", "title: again\ntitle:", 1), "twice"),
        (write_form(1, FIELDS).replace("- csv-import", "- cause: csv"), "`concepts` is not a text"),
        ("", "front matter"),
        ("not a form at all", "front matter"),
    ],
)
def test_a_form_that_cannot_be_read_is_refused_with_the_reason(form: str, why: str) -> None:
    found = read_form(form)
    assert isinstance(found, Unusable)
    assert why in found.why


def test_an_observation_must_say_something() -> None:
    empty: Fields = dict.fromkeys((*KEYS, "narrative"))
    found = checked(empty | {"type": "change", "facts": [], "concepts": ["a"]})
    assert isinstance(found, Unusable)


@given(st.text())
def test_whatever_an_editor_leaves_is_read_or_refused_without_an_error(text: str) -> None:
    assert isinstance(read_form(text), Unusable)
    assert isinstance(read_form(f"---\n{text}\n---\n"), Unusable)
