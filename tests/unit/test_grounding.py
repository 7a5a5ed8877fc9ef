"""The check of what a model wrote: where doubts stand, which events it came from, which files it names."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aforesaid.model.events import Failure, Subagent, ToolUsed
from aforesaid.model.observations import Doubt, ObservationDraft, SummaryDraft, Turn
from aforesaid.synthesis.evidence import read_sources
from aforesaid.synthesis.ground import ground_observation, ground_summary
from tests.support.examples import examples
from tests.support.observed import EXTENDED, GREEN, MENDED, PRICING, RED
from tests.support.turns import ROOT, by, edited, failed, ran, read, turn, wrote
from tests.unit.test_rules_properties import TEXT, TURNS

INVOICE = "def render_invoice(order):\n    return page(order)\n"
FIXED = turn(
    "fix the bulk discount",
    read("orders/pricing.py", PRICING),
    read("billing/invoice.py", INVOICE),
    edited("orders/pricing.py", PRICING, MENDED),
    ran("pytest -q", GREEN),
    wrote("docs/notes.md", "# Notes\n"),
    said="The bulk discount is right now.",
)
EXAMPLE = (
    "Added retry with back-off to the mail queue",
    "The mail queue tries three times, then gives up",
)


def _parts(doubts: tuple[Doubt, ...]) -> list[str]:
    return [doubt.part for doubt in doubts]


def test_a_doubt_names_its_part() -> None:
    draft = ObservationDraft(
        "bugfix",
        "Fixed computeDiscount",
        "The rate of BULK_FACTOR was wrong",
        ("apply_discount uses 1 - RATE", "The fix is in orders/rates.py"),
        "All tests pass. It took 77 minutes.",
    )
    doubts = ground_observation(draft, FIXED).doubts
    assert _parts(doubts) == ["title", "subtitle", "narrative", "facts 1"]
    assert doubts[3].reason == "the file orders/rates.py occurs nowhere in the events"


def test_a_name_of_the_example_that_nobody_said_is_an_echo() -> None:
    draft = ObservationDraft(
        "change", "Pricing", facts=("The rate was tested with the Brest file.",)
    )
    example = ("Stations such as Brest no longer crash the import.",)
    assert _parts(ground_observation(draft, FIXED, example).doubts) == ["facts 0"]
    said = replace(FIXED, prompt="Does it work with Brest?")
    assert ground_observation(draft, said, example).doubts == ()


def test_one_sentence_in_many_variants_is_doubted() -> None:
    states = ("true", "false", "set", "unset")
    loop = tuple(f"The discount of orders/pricing.py is shown when RATE is {s}." for s in states)
    draft = ObservationDraft("change", "Pricing", facts=(*loop, "apply_discount uses 1 - RATE."))
    doubts = ground_observation(draft, FIXED).doubts
    assert _parts(doubts) == [f"facts {place}" for place in range(4)]
    assert ground_observation(replace(draft, facts=loop[:3]), FIXED).doubts == ()


def test_a_draft_is_kept_word_for_word() -> None:
    draft = ObservationDraft(
        "change", "Fixed makeItUp", facts=("nonsense_name does it",), concepts=("a", "b")
    )
    grounded = ground_observation(draft, FIXED)
    assert replace(draft, doubts=grounded.doubts, evidence=grounded.evidence) == replace(
        grounded, files_read=(), files_modified=()
    )


def test_the_events_that_a_draft_names_are_its_evidence() -> None:
    draft = ObservationDraft("bugfix", "Fixed apply_discount", facts=("All 12 tests pass",))
    assert ground_observation(draft, FIXED).evidence == (1, 3, 4)


def test_a_draft_that_names_nothing_came_from_the_whole_batch() -> None:
    draft = ObservationDraft("change", "Worked on things")
    assert ground_observation(draft, FIXED).evidence == (1, 2, 3, 4, 5)


def test_modified_files_come_from_the_tools_and_not_from_the_model() -> None:
    draft = ObservationDraft(
        "bugfix",
        "Fixed apply_discount",
        files_read=("pricing.py", "none"),
        files_modified=("billing/invoice.py", f"{ROOT}/orders/pricing.py", "orders/rates.py"),
    )
    grounded = ground_observation(draft, FIXED)
    assert grounded.files_modified == ("orders/pricing.py",)
    assert grounded.files_read == ("orders/pricing.py", "billing/invoice.py", "orders/rates.py")
    assert grounded.doubts == (
        Doubt("files_read 2", "the file orders/rates.py occurs nowhere in the events"),
    )


def test_an_edit_that_failed_modified_nothing() -> None:
    event = edited("a.py", "x = 1\n", "x = 2\n")
    assert isinstance(event.what, ToolUsed)
    refused = replace(event.what, failure=Failure("String to replace not found", None, False))
    made = turn(None, replace(event, what=refused))
    draft = ObservationDraft("change", "Changed a.py", files_modified=("a.py",))
    grounded = ground_observation(draft, made)
    assert grounded.files_modified == ()
    assert grounded.files_read == ("a.py",)


def test_the_work_of_one_sub_agent_is_marked_as_its_own() -> None:
    made = turn(
        "look around",
        read("orders/pricing.py", PRICING),
        *by(Subagent("a1", "Explore"), read("billing/invoice.py", INVOICE)),
    )
    by_helper = ObservationDraft("discovery", "render_invoice makes a page")
    by_both = ObservationDraft("discovery", "render_invoice and apply_discount")
    assert ground_observation(by_helper, made).subagent_type == "Explore"
    assert ground_observation(by_both, made).subagent_type is None


def test_a_summary_is_checked_part_by_part() -> None:
    draft = SummaryDraft(
        "fix the bulk discount",
        investigated="Read orders/pricing.py and orders/cart.py",
        learned="RATE was applied the wrong way round",
        completed="apply_discount was fixed and the build succeeds",
        next_steps="Add tests for MAX_BULK",
        files_edited=("billing/invoice.py",),
    )
    grounded = ground_summary(draft, FIXED)
    assert _parts(grounded.doubts) == ["investigated", "completed", "next_steps"]
    assert grounded.files_edited == ("orders/pricing.py", "docs/notes.md")
    assert grounded.files_read == ("orders/pricing.py", "billing/invoice.py")


def test_a_request_and_next_steps_are_no_deeds() -> None:
    draft = SummaryDraft(
        "Add a finally block", next_steps="All tests pass in CI; added to the plan"
    )
    made = turn("Add a finally block", read("a.py", "x"), said="Next it goes to CI.")
    assert ground_summary(draft, made).doubts == ()


def test_a_name_that_was_made_up_in_an_earlier_title_is_still_doubted() -> None:
    title = "Fixed computeDiscount"
    known = replace(FIXED, recorded=(title,))
    again = ObservationDraft("bugfix", None, facts=("computeDiscount rounds up",))
    assert _parts(ground_observation(again, known).doubts) == ["facts 0"]
    first = ground_observation(ObservationDraft("bugfix", title), known)
    assert _parts(first.doubts) == ["title"]
    summary = SummaryDraft(None, learned="computeDiscount rounds up")
    assert _parts(ground_summary(summary, replace(known, observed=(first,))).doubts) == ["learned"]


def test_a_copy_of_the_worked_example_is_doubted() -> None:
    draft = ObservationDraft(
        "feature", EXAMPLE[0], facts=("The mail queue tries three times and then gives up",)
    )
    reasons = {d.reason for d in ground_observation(draft, FIXED, EXAMPLE).doubts}
    assert reasons == {"repeats the worked example"}


def test_work_that_is_like_the_worked_example_is_not_taken_for_a_copy() -> None:
    made = turn(
        "add retry with back-off to the mail queue",
        edited(
            "mail/queue.py",
            "def send(mail):\n",
            "def send(mail, tries=3, backoff=2):\n    retry()\n",
        ),
    )
    draft = ObservationDraft("feature", EXAMPLE[0])
    assert ground_observation(draft, made, EXAMPLE).doubts == ()


def test_what_the_agent_said_bears_out_a_name_but_not_an_outcome() -> None:
    made = turn("go on", failed("pytest -q", RED), said="All tests pass now thanks to bulkRate.")
    draft = ObservationDraft("change", None, facts=("bulkRate is used", "All tests pass"))
    assert _parts(ground_observation(draft, made).doubts) == ["facts 1"]


def test_a_test_run_of_the_part_before_counts_while_nothing_was_edited_since() -> None:
    fact = ObservationDraft("change", None, facts=("The tests pass",))
    before = (ran("pytest -q", GREEN),)
    looked = turn("go on", read("a.py", "x"), before=before)
    changed = turn("go on", edited("orders/pricing.py", PRICING, EXTENDED), before=before)
    assert ground_observation(fact, looked).doubts == ()
    assert _parts(ground_observation(fact, changed).doubts) == ["facts 0"]


def test_a_change_of_an_earlier_part_may_be_told_again() -> None:
    made = turn(
        "go on", read("a.py", "x"), before=(edited("orders/pricing.py", PRICING, EXTENDED),)
    )
    told = ObservationDraft("feature", None, facts=("Added bulk_rate for pricing by count",))
    other = ObservationDraft("feature", None, facts=("Added pagination of the customer table",))
    assert ground_observation(told, made).doubts == ()
    assert _parts(ground_observation(other, made).doubts) == ["facts 0"]


@pytest.mark.parametrize(
    "fact",
    [
        "The timeout is 5 minutes",
        "The limit is 2 MB, or about 2,000,000 bytes",
        "Half of it, 50%, is kept; 404 is returned when nothing is found",
        "Python 3.11 or later is needed",
    ],
)
def test_a_number_may_be_said_in_another_unit(fact: str) -> None:
    made = turn(
        None,
        read(
            "a.py",
            "TIMEOUT_MS = 300_000\nLIMIT = 2097152\nKEPT = 0.5\nraise NotFound()\n# 3.11.4\n",
        ),
    )
    assert ground_observation(ObservationDraft("discovery", None, facts=(fact,)), made).doubts == ()


def test_the_index_is_built_once_for_a_turn() -> None:
    assert read_sources(FIXED) is read_sources(replace(FIXED))


def test_a_huge_output_is_indexed_at_both_ends() -> None:
    noise = "A1b2" * 500_000
    made = turn(
        "run it", ran("./gen.sh", f"first_name\n{noise}{'x.y' * 300_000} 1.2.3.4\nlast_name")
    )
    facts = ("first_name and last_name are printed", "x" * 30_000, "[" * 30_000, "1," * 15_000)
    grounded = ground_observation(ObservationDraft("change", None, facts=facts), made)
    assert "facts 0" not in _parts(grounded.doubts)
    assert len(read_sources(made).text) < 400_000


SHAPES = (
    "`a b`|`|“all tests pass now”|Added x|src/a.py|a.b()|--flag|12%|3 files|ran make|fooBar|tests pass|next|"
    "the build failed|\\|/|./|..|“|7_000|9.9.9|https://x.y/z|::|$|deadbee1|two files|`1 - x`"
)
OFTEN = st.sampled_from(SHAPES.split("|"))
PROSE = st.one_of(TEXT, st.lists(st.one_of(OFTEN, TEXT), max_size=12).map(" ".join))
SOME = st.none() | PROSE
LISTS = st.lists(PROSE, max_size=3).map(tuple)


@examples(25)
@given(
    st.builds(ObservationDraft, TEXT, SOME, SOME, LISTS, SOME, LISTS, LISTS, LISTS), TURNS, LISTS
)
def test_any_draft_can_be_checked_against_any_turn(
    draft: ObservationDraft, made: Turn, examples: tuple[str, ...]
) -> None:
    grounded = ground_observation(draft, made, examples)
    assert bool(grounded.evidence) == bool(made.events)
    assert (grounded.title, grounded.facts) == (draft.title, draft.facts)
    parts = {"title", "subtitle", "narrative", *(f"facts {at}" for at in range(len(draft.facts)))}
    parts |= {f"files_read {at}" for at in range(len(grounded.files_read))}
    assert {doubt.part for doubt in grounded.doubts} <= parts


@examples(15)
@given(st.builds(SummaryDraft, SOME, SOME, SOME, SOME, SOME, LISTS, LISTS, SOME), TURNS)
def test_any_summary_can_be_checked_against_any_turn(draft: SummaryDraft, made: Turn) -> None:
    ground_summary(draft, made)
