"""Summaries without a model: request, investigated, learned, completed, next steps, notes."""

from aforesaid.model.events import Subagent
from aforesaid.model.observations import SummaryDraft, SummarySkipped, Turn
from aforesaid.providers.rules import Rules
from tests.support.tables import loop_over
from tests.support.turns import by, edited, failed, ran, read, turn, used, wrote

CART = "class Cart:\n    def total(self):\n        return sum(self.prices)\n"
CENTS = CART.replace("self.prices", "self.cents")
RED = "FAILED tests/test_cart.py::test_total - AssertionError: assert 90 == 81\n1 failed in 0.1s"


def summary(made: Turn) -> SummaryDraft:
    draft = Rules().summarize(made).draft
    assert isinstance(draft, SummaryDraft)
    return draft


def test_a_turn_is_summed_up_under_every_heading_it_has_something_for() -> None:
    draft = summary(
        turn(
            "The total of the cart is wrong. Please fix it.",
            read("orders/money.py"),
            read("orders/cart.py", CART),
            failed("pytest -q", RED),
            edited("orders/cart.py", CART, CENTS),
            ran("pytest -q", "3 passed in 0.1s"),
            ran('git commit -am "fix: cents"', "[main 1a2b3c4] fix: cents"),
            said=(
                "The total was wrong because prices were floats.\n\n"
                "**Next steps:**\n- convert `Invoice.total` too"
            ),
        )
    )
    assert draft.request == "The total of the cart is wrong. Please fix it."
    assert draft.investigated == "Read orders/money.py and orders/cart.py. Ran `pytest -q`."
    assert draft.learned == (
        "`pytest -q` failed with `AssertionError: assert 90 == 81`. "
        "The agent explained: “The total was wrong because prices were floats.”"
    )
    assert draft.completed == (
        "orders/cart.py: `Cart.total` was changed (1 line added, 1 removed). "
        "`pytest -q` passed (3 tests). Committed “fix: cents” as 1a2b3c4."
    )
    assert draft.next_steps == "convert `Invoice.total` too."
    assert draft.files_read == ("orders/money.py", "orders/cart.py")
    assert draft.files_edited == ("orders/cart.py",)
    assert draft.notes == "Read and not changed: orders/money.py."


def test_a_next_step_in_the_midst_of_a_paragraph_is_kept_as_the_agent_wrote_it() -> None:
    said = "Added greet() to hello.py. Next: call it from the command line."
    draft = summary(turn("add a greeting", wrote("hello.py", "def greet(): ...\n"), said=said))
    assert draft.next_steps == "call it from the command line."


def test_what_explains_is_learned_and_not_what_comes_first() -> None:
    draft = summary(
        turn(
            "orders without items fail, fix it",
            edited("orders/cart.py", CART, CENTS),
            said=(
                "An empty order now gets a 422 with the reason.\n\n"
                "- The old check was skipped because `items` may be missing.\n"
                "- Cause: `Cart.total` asks for the `max()` of no lines."
            ),
        )
    )
    assert draft.learned == (
        "The agent explained: “Cause: `Cart.total` asks for the `max()` of no lines.” "
        "The agent explained: “The old check was skipped because `items` may be missing.”"
    )


def test_what_followed_from_what_explains_a_failure_that_was_mended() -> None:
    said = "The total is right now. The smallest tier came first, so 50 pieces got only 5%."
    work = edited("orders/cart.py", CART, CENTS)
    red, green = failed("pytest -q", RED), ran("pytest -q", "3 passed in 0.1s")
    assert "smallest tier" in (summary(turn("go", red, work, green, said=said)).learned or "")
    assert summary(turn("go", work, said=said)).learned is None


@loop_over(
    "made",
    [
        turn("hi", said="Hello! How can I help?"),
        turn("thanks", said="You're welcome!"),
        turn("continue"),
        turn(None),
        turn(""),
        turn("<task-notification>\n<status>completed</status>\n</task-notification>", said="ok"),
    ],
)
def test_a_turn_without_request_or_work_is_skipped_with_a_reason(made: Turn) -> None:
    draft = Rules().summarize(made).draft
    assert isinstance(draft, SummarySkipped)
    assert draft.reason


def test_a_long_prompt_is_cut_after_whole_sentences() -> None:
    draft = summary(
        turn("Add a discount engine. " + "It has tiers. " * 60, wrote("a.py", "x = 1\n"))
    )
    assert draft.request is not None
    assert draft.request.startswith("Add a discount engine. It has tiers.")
    assert len(draft.request) <= 300
    assert draft.request.endswith(".")


def test_the_request_is_what_the_user_wrote_and_not_what_was_pasted() -> None:
    trace = 'Traceback (most recent call last):\n  File "a.py", line 1\nKeyError: 3'
    draft = summary(turn(f"Look at this:\n\n{trace}\n\nwhy?", read("a.py")))
    assert draft.request == "Look at this: why?"


def test_a_slash_command_is_told_by_its_name_and_arguments() -> None:
    prompt = "<command-name>/review</command-name>\n<command-args>the last commit</command-args>"
    assert summary(turn(prompt, read("a.py"))).request == "/review the last commit."


def test_what_still_fails_is_a_next_step() -> None:
    draft = summary(turn("fix the build", failed("make test", "ld: cannot find -lssl")))
    assert draft.next_steps == (
        "`make test` was still failing when the turn ended: `ld: cannot find -lssl`."
    )


def test_an_interrupted_turn_says_where_it_stopped() -> None:
    draft = summary(
        turn("add cents", edited("orders/cart.py", CART, CENTS), ran("pytest"), interrupted=True)
    )
    assert draft.next_steps == "The turn was interrupted; the last command was `pytest`."


def test_an_answer_without_work_is_what_was_completed() -> None:
    draft = summary(
        turn(
            "what does Cart.total return?",
            said="`Cart.total` returns the sum of all prices in cents, as an integer.",
        )
    )
    assert draft.completed is not None
    assert draft.completed.startswith("Answered: “`Cart.total` returns the sum")


def test_the_agent_s_open_question_is_a_next_step() -> None:
    draft = summary(turn("review it", read("a.py"), said="It is fine. Shall I merge it?"))
    assert draft.next_steps == "The agent asked: “Shall I merge it?”"


def test_decisions_and_answers_of_the_user_are_learned() -> None:
    draft = summary(
        turn(
            "From now on, amounts are in cents.",
            used("AskUserQuestion", 'User has answered: "Which currency?"="Euro".'),
        )
    )
    assert draft.learned == (
        "The user decided: “Amounts are in cents”. To “Which currency?” the user answered “Euro”."
    )


def test_sub_agents_and_refusals_are_noted_and_their_files_counted() -> None:
    draft = summary(
        turn(
            "find the leak",
            used("Task", "done", description="Search for leaks", subagent_type="Explore"),
            *by(Subagent("a", "Explore"), read("pool.py"), said="Nothing."),
            failed("rm -rf build", "The user doesn't want to proceed", code=None),
        )
    )
    assert draft.files_read == ("pool.py",)
    assert draft.notes == (
        "Sub-agents at work: Explore (“Search for leaks”). Not allowed to run: `rm -rf build`."
    )


def test_searches_are_told_with_their_words() -> None:
    draft = summary(
        turn(
            "how do others do it",
            used("WebSearch", "…", query="rate limiting"),
            used("WebFetch", "…", url="https://example.com/limits"),
            used("Grep", "…", pattern="limit"),
        )
    )
    assert draft.investigated == (
        "Searched the code for `limit`. Searched the web for “rate limiting”. "
        "Fetched https://example.com/limits."
    )


def test_a_prompt_in_another_language_is_summed_up_all_the_same() -> None:
    draft = summary(
        turn(
            "合計が間違っています。直してください。",
            edited("orders/cart.py", CART, CENTS),
            said="直しました。",
        )
    )
    assert draft.request == "合計が間違っています。 直してください。"
    assert draft.completed == "orders/cart.py: `Cart.total` was changed (1 line added, 1 removed)."
