"""What the rules say of a command that failed: mended, not proven, still failing, or a dead end."""

from tests.support.observed import EXTENDED, GREEN, MENDED, PRICING, RED, the_only, told
from tests.support.turns import edited, failed, ran, turn


def test_a_fix_that_nothing_proves_is_not_called_done() -> None:
    draft = the_only(
        turn("fix the rounding bug", edited("orders/pricing.py", PRICING, MENDED), said="Done.")
    )
    assert draft.title == "Changed apply_discount to fix the rounding bug"
    assert "No test and no other check ran after the last edit" in told(draft)


def test_a_failure_that_remains_is_said_to_remain() -> None:
    draft = the_only(
        turn(
            "add bulk discounts",
            edited("orders/pricing.py", PRICING, EXTENDED),
            failed("pytest -q", RED),
        )
    )
    assert draft.title == "Tried to add bulk discounts"
    assert "`pytest -q` was still failing when the turn ended" in told(draft)


def test_a_failure_that_was_not_checked_again_is_not_called_failing_or_mended() -> None:
    draft = the_only(
        turn(
            "add bulk discounts",
            failed("pytest -q", RED),
            edited("orders/pricing.py", PRICING, EXTENDED),
        )
    )
    assert "was not run again after the edit of orders/pricing.py" in told(draft)
    assert "still failing" not in told(draft)


def test_a_smaller_run_that_passes_does_not_prove_the_larger_one() -> None:
    draft = the_only(
        turn(
            "fix the tests",
            failed("pytest", "5 failed, 11 passed in 1s"),
            edited("orders/pricing.py", PRICING, MENDED),
            ran("pytest tests/test_pricing.py", GREEN),
        )
    )
    assert "the failed `pytest` was not repeated in full" in told(draft)


def test_a_smaller_run_counts_when_it_holds_every_test_that_failed() -> None:
    draft = the_only(
        turn(
            "fix the tests",
            failed("pytest", RED),
            edited("orders/pricing.py", PRICING, MENDED),
            ran("pytest tests/test_pricing.py", GREEN),
        )
    )
    assert "`pytest tests/test_pricing.py` passed (12 tests) after edits" in told(draft)


def test_a_failing_part_counts_as_mended_by_a_passing_whole() -> None:
    draft = the_only(
        turn(
            "fix the tests",
            failed("pytest -k bulk", RED),
            edited("orders/pricing.py", PRICING, MENDED),
            ran("pytest", GREEN),
        )
    )
    assert draft.type == "bugfix"
    assert draft.title == "Fixed the tests"


def test_a_command_that_failed_in_an_earlier_turn_and_works_now_is_mended() -> None:
    draft = the_only(
        turn(
            "try again",
            edited("orders/pricing.py", PRICING, MENDED),
            ran("pytest", GREEN),
            before=(failed("pytest", RED),),
        )
    )
    assert draft.type == "bugfix"
    assert "Earlier in the session `pytest` failed with" in (draft.narrative or "")


def test_a_red_test_behind_a_pipe_is_seen() -> None:
    draft = the_only(turn("run the tests", ran("pytest 2>&1 | tail -3", RED)))
    assert draft.type == "discovery"
    assert draft.title == "Still failing: pytest, AssertionError: assert 9.0 == 81"


def test_an_edit_that_was_taken_back_is_told_as_a_dead_end() -> None:
    draft = the_only(
        turn(
            "try caching the table",
            edited("orders/pricing.py", PRICING, EXTENDED),
            failed("pytest", RED),
            ran("git checkout -- orders/pricing.py"),
        )
    )
    assert draft.type == "discovery"
    assert draft.title == "Tried and reverted: caching the table"
    assert draft.files_modified == ()
    assert "was made and then taken back in the same turn" in told(draft)
