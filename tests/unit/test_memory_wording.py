"""How a proposal and a memory are worded: turned round or not, told of the user, named by what it says."""

import pytest

from aforesaid.grounding import contradicts_source
from aforesaid.memory.extraction.drafts import Draft, DroppedDraft, ground_draft
from aforesaid.memory.extraction.rules import describe, make_name, statements
from aforesaid.model.memories import Message
from tests.support.tables import loop_over


@loop_over(
    ("proposed", "said"),
    [
        ("Staging runs on heron", "No, staging runs on heron"),
        ("Staging runs on heron", "no, staging runs on heron, not on egret"),
        ("Staging does not run on egret", "no, staging runs on heron, not on egret"),
        ("Use tabs for indentation", "We use tabs for indentation, not spaces"),
        ("Use pnpm, not npm", "use pnpm instead of npm"),
        ("The user prefers tabs", "I prefer tabs over spaces"),
        ("The user prefers tabs over spaces", "I prefer tabs over spaces"),
        ("Never mock the database", "Don't mock the database, the mocks hid a broken migration"),
        ("Use date-fns", "we don't use moment in this project, use date-fns instead"),
        ("Node 16 is no longer supported", "We no longer support Node 16"),
        ("Small diffs please", "small diffs please, I never read long ones"),
    ],
)
def test_what_is_affirmed_may_be_affirmed_and_what_is_denied_denied(
    proposed: str, said: str
) -> None:
    assert not contradicts_source(proposed, said)


@loop_over(
    ("proposed", "said"),
    [
        ("Staging runs on egret", "no, staging runs on heron, not on egret"),
        ("Staging does not run on heron", "no, staging runs on heron, not on egret"),
        ("Use spaces for indentation", "We use tabs for indentation, not spaces"),
        ("Do not use tabs", "use tabs, not spaces"),
        ("Use npm", "use pnpm instead of npm"),
        ("The user prefers spaces", "I prefer tabs over spaces"),
        ("Mock the database in tests", "Never mock the database in tests"),
        ("Use moment", "we don't use moment in this project, use date-fns instead"),
        ("Node 16 is supported", "We no longer support Node 16"),
        ("Push to main or develop", "Never push to main, or develop"),
        ("Deploys are enabled on Fridays", "Deploys are disabled on Fridays"),
    ],
)
def test_what_is_turned_round_is_seen(proposed: str, said: str) -> None:
    assert contradicts_source(proposed, said)


def test_a_correction_that_begins_with_no_is_grounded() -> None:
    talk = [
        Message("user", "where do we test?"),
        Message("assistant", "On egret."),
        Message("user", "No, staging runs on heron."),
    ]
    right = Draft("project", "staging-host", "Staging runs on heron", "Staging runs on heron.")
    wrong = Draft("project", "staging-host", "Staging runs not on heron", "Not on heron.")
    assert isinstance(ground_draft(right, talk), Draft)
    found = ground_draft(wrong, talk)
    assert isinstance(found, DroppedDraft)
    assert found.why == "the user said the contrary"


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
