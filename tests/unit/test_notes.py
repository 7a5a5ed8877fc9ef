"""Notes without a model: the agent's own sentences, and what the events show."""

from dataclasses import replace

from aforesaid.model.events import Subagent
from aforesaid.model.observations import SummaryDraft
from aforesaid.providers.extract.choose import choose
from aforesaid.providers.extract.passages import read_passages
from aforesaid.providers.rules import Rules
from tests.support.observed import EXTENDED, GREEN, MENDED, PRICING, RED, observe, the_only, told
from tests.support.tables import loop_over
from tests.support.turns import by, edited, failed, ran, read, turn

CLOSING = """Perfect! The fix is complete and all tests pass.

**Problem:** `apply_discount` returned the discount and not the price, because `RATE` is a share of the total.

**Solution:** Changed `apply_discount()` in orders/pricing.py to:
- Multiply by `1 - RATE`
- Keep the total for unknown codes

## Next steps
- Document the bulk rate
"""
FIX = edited("orders/pricing.py", PRICING, MENDED)


def summarize(*args: object, **kwargs: object) -> SummaryDraft:
    written = Rules().summarize(turn(*args, **kwargs))  # type: ignore[arg-type]
    assert isinstance(written, SummaryDraft)
    return written


def test_a_note_has_the_agents_cause_in_its_own_words() -> None:
    draft = the_only(turn("can you do the fix?", FIX, ran("pytest -q", GREEN), said=CLOSING))
    assert (
        draft.title == "Changed `apply_discount()` in orders/pricing.py to: Multiply by `1 - RATE`"
    )
    assert "because `RATE` is a share of the total.”" in (draft.subtitle or "")
    assert "`pytest -q` passed (12 tests)" in draft.facts
    assert "`orders/pricing.py`: changed `apply_discount`" in draft.facts
    assert "Perfect" not in told(draft)
    assert "all tests pass" not in told(draft)


def test_each_thing_is_said_once() -> None:
    draft = the_only(turn("can you do the fix?", FIX, said=f"{CLOSING}\n\n{CLOSING}"))
    assert told(draft).count("share of the total") == 1


def test_a_commit_gives_the_title_and_its_message_the_reasons() -> None:
    message = "fix: charge the discounted price\n\nThe rate was applied twice because the cart rounds first."
    draft = the_only(
        turn("fix it", FIX, ran(f'git commit -m "{message}"', "[main abc1234] fix: charge"))
    )
    assert draft.type == "bugfix"
    assert draft.title == "fix: charge"
    assert "because the cart rounds first" in told(draft)


def test_a_short_finding_is_a_note_if_a_check_passed() -> None:
    said = "The pump leaked because its seal was worn."
    assert said[:-1] in told(the_only(turn("mend it", ran("pytest -q", GREEN), said=said)))
    assert not observe(turn("mend it", ran("ls", "a.py"), said=said))


def test_words_between_tool_calls_are_read_too() -> None:
    said = (
        "I found it: the cart rounds before the discount because `Decimal` is built from a float."
    )
    draft = the_only(turn("why is it 9.0?", read("a.py"), said="Done.", messages=(said,)))
    assert "built from a float" in told(draft)


@loop_over(
    "text",
    [
        "Der Test schlug fehl, weil `RATE` ein Anteil ist und kein Betrag.",
        "Le test échoue parce que `RATE` est une part du total.",
        "La prueba falla porque `RATE` es una parte del total.",
        "测试失败是因为 `RATE` 是总额的一部分。",
        "`RATE` は合計の割合なので、テストが失敗します。",
    ],
)
def test_causes_are_found_in_other_languages(text: str) -> None:
    assert [each.why for each in choose([("closing", text)])] == [True]


@loop_over(
    "text", ["Let me look at the tests first.", "Great question!", "Should I also update the docs?"]
)
def test_talk_about_the_work_is_left_out(text: str) -> None:
    assert choose([("closing", text)]) == []


def test_a_list_stands_with_its_lead_in() -> None:
    (passage,) = read_passages("This causes:\n- exit status 1\n- usage help")
    assert passage.text == "This causes: exit status 1; usage help"


def test_a_failure_that_remains_is_an_open_end() -> None:
    change = edited("orders/pricing.py", PRICING, EXTENDED)
    events = ("add bulk discounts", change, failed("pytest -q", RED))
    assert "`pytest -q` failed the last time it ran" in told(the_only(turn(*events)))
    assert "failed the last time" in (summarize(*events).next_steps or "")


def test_a_failure_that_was_not_checked_again_is_not_called_failing() -> None:
    change = edited("orders/pricing.py", PRICING, EXTENDED)
    draft = the_only(turn("add bulk discounts", failed("pytest -q", RED), change))
    assert "was not run again after the last edit" in told(draft)


@loop_over(
    ("first", "last"),
    [
        (failed("pytest", RED), ran("pytest tests/test_pricing.py", GREEN)),
        (failed("pytest -k bulk", RED), ran("pytest", GREEN)),
    ],
)
def test_a_check_that_failed_first_and_passes_now_is_a_fix(first: object, last: object) -> None:
    draft = the_only(turn("fix the tests", first, FIX, last))  # type: ignore[arg-type]
    assert draft.type == "bugfix"
    assert "failed first (AssertionError: assert 9.0 == 81) and passes now" in told(draft)


def test_a_smaller_run_that_passes_proves_nothing_of_the_larger_one() -> None:
    red, green = (
        failed("pytest", "5 failed, 11 passed in 1s"),
        ran("pytest tests/test_pricing.py", GREEN),
    )
    draft = the_only(turn("fix the tests", red, FIX, green))
    assert "passes now" not in told(draft)
    assert "failed" not in told(draft)


def test_a_red_test_behind_a_pipe_is_seen() -> None:
    draft = the_only(turn("run the tests", ran("pytest 2>&1 | tail -3", RED)))
    assert draft.type == "discovery"
    assert "AssertionError: assert 9.0 == 81" in told(draft)


def test_warnings_without_errors_are_no_failure() -> None:
    output = "✖ 179 problems (0 errors, 179 warnings)"
    draft = the_only(turn("lint the pricing module", FIX, ran("npx eslint .", output)))
    assert "failed" not in told(draft)


def test_a_change_that_was_taken_back_is_told_as_one() -> None:
    change, undo = (
        edited("orders/pricing.py", PRICING, EXTENDED),
        ran("git checkout -- orders/pricing.py"),
    )
    draft = the_only(turn("try caching the table", change, failed("pytest", RED), undo))
    assert draft.title == "Tried and taken back: Try caching the table"
    assert draft.files_modified == ()


def test_the_users_decision_is_a_note_of_its_own() -> None:
    decided, _ = observe(turn("From now on, use pathlib because os.path is error-prone.", FIX))
    assert (decided.type, decided.title) == ("decision", "Use pathlib")
    assert "Reason: “os.path is error-prone”" in decided.facts


def test_idle_talk_gives_no_note_and_no_summary() -> None:
    assert observe(turn("thanks!", said="You're welcome!")) == []


def test_a_summary_says_what_is_open_and_leaves_the_reasons_to_the_note() -> None:
    summary = summarize("can you do the fix?", FIX, said=CLOSING)
    assert summary.learned is None
    assert summary.next_steps == "“Document the bulk rate”"
    assert summary.request == "can you do the fix?"


@loop_over(
    ("asked", "answered", "title"),
    [
        (
            "are there git hooks that would let us notice a `git restore`?",
            "Unfortunately, git has no hooks for `git restore`, because it only touches files.",
            "Git has no hooks for `git restore`, because it only touches files",
        ),
        (
            "how do we handle unstaged changes when the commit is made?",
            "Hashes are stored in the tree because blobs are never read again by the walker of the trees.",
            "How do we handle unstaged changes when the commit is made",
        ),
        (
            "can you write the summary again?",
            "# Isolation of shadow branches\n\n## Problem\nFiles stay because nothing removes them.",
            "Isolation of shadow branches",
        ),
        (
            "/team:plan can you compare the parsers of both clients?",
            "Both parsers split at the first colon because the older client wrote no escapes.",
            "Compare the parsers of both clients",
        ),
    ],
)
def test_an_answer_is_titled_by_what_was_found_or_asked(
    asked: str, answered: str, title: str
) -> None:
    draft = the_only(turn(asked, read("a.py"), said=answered))
    assert draft.title == title


def test_plans_of_an_answer_are_not_reported_as_completed() -> None:
    said = (
        "Unfortunately no hook exists, because git only touches files.\n- Added aliases could help."
    )
    assert summarize("is there a hook for restore?", read("a.py"), said=said).completed is None


def test_words_that_only_tie_a_sentence_to_the_one_before_are_cut() -> None:
    said = "But `replace` is missing in the list of tools, so no changed file was ever seen by the hook."
    draft = the_only(turn("why is there no checkpoint?", read("a.py"), said=said))
    assert "But" not in told(draft)
    assert "`replace` is missing in the list" in told(draft)


def test_a_label_is_given_once_and_quoted_structure_is_read_as_structure() -> None:
    said = (
        "**Cache layer:**\n- Keys expire because `ttl` is read in seconds\n"
        "- Writes are lost when `flush` runs twice\n\n> ## Plan\n> Nothing here is a finding."
    )
    draft = the_only(turn("why is the cache empty?", read("a.py"), said=said))
    assert told(draft).count("Cache layer") <= 1
    assert ">" not in told(draft)


def test_the_agents_next_steps_between_calls_are_no_findings() -> None:
    said = ("Since the hook won't let me commit, I have two options.", "Now check if `a.py` fails.")
    assert observe(turn("continue", read("a.py"), said="Done.", messages=said)) == []


def test_a_sub_agent_without_a_report_is_quoted_from_its_messages() -> None:
    agent = Subagent("a1", "Explore")
    said = "The cache is never filled because `load()` returns before the store is opened."
    made = turn("look around", *by(agent, read("cache.py")))
    draft = the_only(replace(made, subagent_messages=((agent, said),)))
    assert said in told(draft)
    assert draft.subagent_type == "Explore"
