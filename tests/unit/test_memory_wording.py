"""How a memory is worded: told of the user, named by what it says."""

import pytest

from aforesaid.memory.extraction.rules import describe, make_name, statements
from tests.support.tables import loop_over


@loop_over(
    ("said", "description", "name"),
    [
        ("I also prefer single quotes.", "The user prefers single quotes", "prefers-single-quotes"),
        ("Also, I really like vim", "The user likes vim", "likes-vim"),
        (
            "I generally prefer small PRs",
            "The user generally prefers small PRs",
            "generally-prefers-small-prs",
        ),
        ("I'm also a nurse", "The user is a nurse", "nurse"),
        (
            "I'd rather you ask me first, and I'm in a hurry",
            "I'd rather you ask me first, and I'm in a hurry",
            "rather-ask-first-in-hurry",
        ),
        ("keep commits small please", "Keep commits small", "keep-commits-small"),
        ("I/O goes through `pump`", "I/O goes through `pump`", "i-o-goes-through-pump"),
    ],
)
def test_a_memory_is_told_of_the_user_and_named_by_what_it_says(
    said: str, description: str, name: str
) -> None:
    assert describe(said) == description
    assert make_name(description) == name


@pytest.mark.parametrize(
    "said",
    ["I'd like you to always run the formatter before committing", "Never, ever touch `vendor/`."],
)
def test_a_rule_that_is_wished_for_is_a_rule(said: str) -> None:
    assert [each.type for each in statements(said)] == ["feedback"]


def test_what_is_to_be_remembered_to_be_done_is_an_order() -> None:
    assert describe("Remember to always rebase on develop.") == "Always rebase on develop"
