"""Observations without a model: what the rules provider tells about a turn, and what it refuses to."""

import re

from aforesaid.model.events import Event, Failure, Subagent, ToolUsed
from aforesaid.model.observations import Turn
from tests.support.observed import EXTENDED, GREEN, MENDED, PRICING, RED, observe, the_only, told
from tests.support.tables import loop_over
from tests.support.turns import by, edited, failed, ran, read, turn, used, wrote


def test_a_command_that_failed_and_then_passed_is_told_as_a_fix() -> None:
    draft = the_only(
        turn(
            "customers pay the wrong price, fix it",
            failed("python -m pytest -q", RED),
            edited("orders/pricing.py", PRICING, MENDED),
            ran("python -m pytest -q", GREEN),
            said="`apply_discount` was wrong because it multiplied by the rate.",
        )
    )
    assert draft.type == "bugfix"
    assert draft.title == "Now passing: test_bulk, after changing apply_discount"
    assert draft.facts == (
        "`python -m pytest -q` failed with `AssertionError: assert 9.0 == 81`.",
        "`python -m pytest -q` had 1 failing test: `test_bulk`.",
        "orders/pricing.py: `apply_discount` was changed (1 line added, 1 removed).",
        "`python -m pytest -q` passed (12 tests) after edits in orders/pricing.py.",
        "Agent's explanation: `apply_discount` was wrong because it multiplied by the rate.",
        "orders/pricing.py: `return total * RATE` became `return total * (1 - RATE)`.",
    )
    assert draft.files_modified == ("orders/pricing.py",)
    assert "testing" in draft.concepts
    assert "pricing" in draft.concepts


SCRIPT = "python3 - <<'EOF'\nfrom orders.pricing import apply_discount\napply_discount(1, 2)\nEOF"
TRACE = "Traceback (most recent call last):\nValueError: max() arg is an empty sequence"
REPORT = "Support reports that an empty order gets a 500. Please find out why, fix it and commit."


def test_a_script_that_failed_before_the_edit_and_works_after_it_proves_the_fix() -> None:
    draft = the_only(
        turn(
            REPORT,
            read("orders/tax.py"),
            failed(SCRIPT, TRACE),
            edited("orders/pricing.py", PRICING, EXTENDED),
            ran(SCRIPT),
            ran("pytest -q", GREEN),
            ran('git commit -am "Refuse an empty order"', "[main 1a2b3c4] Refuse an empty order"),
            said="Fixed it.\n\n- Cause: `apply_discount` asks for the `max()` of an empty list.",
        )
    )
    error = "`ValueError: max() arg is an empty sequence`"
    assert (draft.type, draft.title) == ("bugfix", "Refused an empty order")
    assert draft.subtitle == (
        f"A Python script failed with {error}; `bulk_rate` was added in orders/pricing.py; "
        "then `pytest -q` passed (12 tests)."
    )
    assert draft.facts == (
        f"A Python script failed with {error}.",
        "orders/pricing.py: `bulk_rate` was added (4 lines added).",
        "The Python script that had failed ran without an error after edits in orders/pricing.py.",
        "`pytest -q` passed (12 tests) after the last edit.",
        "Commit 1a2b3c4 recorded the work as “Refuse an empty order”.",
        "Cause, as the agent explains it: `apply_discount` asks for the `max()` of an empty list.",
    )
    assert "python3 -" not in told(draft)


def test_another_script_that_works_proves_nothing() -> None:
    draft = the_only(
        turn(
            "look after the rates",
            failed(SCRIPT, TRACE),
            edited("orders/pricing.py", PRICING, MENDED),
            ran(SCRIPT.replace("(1, 2)", "(3, 4)")),
        )
    )
    assert draft.type == "change"
    assert "had failed" not in told(draft)


def test_a_script_that_works_at_the_second_try_is_not_worth_telling() -> None:
    assert observe(turn("try it", failed(SCRIPT, TRACE), ran(SCRIPT))) == []


def test_the_subtitle_ends_with_the_tests_that_passed() -> None:
    draft = the_only(
        turn(
            "add bulk discounts to the pricing",
            edited("orders/pricing.py", PRICING, EXTENDED),
            wrote("tests/test_bulk.py", "def test_ten():\n    assert True\n"),
            failed("python3 -m unittest", "AssertionError: 9500.0 != 9000\nFAILED (failures=1)"),
            edited("orders/pricing.py", EXTENDED, EXTENDED.replace("10 else", "5 else")),
            ran("python3 -m unittest", "Ran 4 tests in 0.001s\n\nOK"),
        )
    )
    assert draft.type == "feature"
    assert draft.subtitle == (
        "`python3 -m unittest` failed with `AssertionError: 9500.0 != 9000`; `bulk_rate` was added "
        "in orders/pricing.py; then `python3 -m unittest` passed (4 tests)."
    )


def test_a_changed_comment_is_no_fact_when_there_are_others() -> None:
    before = '"""What it costs."""\nA = 1\nB = 2\nC = 3\nRATE = 0.1  # a share\n'
    after = '"""What an order costs."""\nA = 1\nB = 3\nC = 3\nRATE = 0.1  # of the price\n'
    draft = the_only(
        turn("update B", read("c.py"), edited("orders/tax.py", before, after), ran("pytest", GREEN))
    )
    became = [fact for fact in draft.facts if " became " in fact]
    assert became == ["orders/tax.py: `B = 2` became `B = 3` in the project shop."]


def test_concepts_are_names_in_the_code_and_kinds_of_work() -> None:
    work = EXTENDED + '\n\ndef check(count):\n    raise ValueError("no items")\n'
    draft = the_only(
        turn(
            "Customers get a wrong bulk rate per line without items, keep it small",
            edited("orders/pricing.py", PRICING, work),
            ran("pytest", GREEN),
            ran('git commit -am "Refuse gets per line"', "[main 1a2b3c4] Refuse gets per line"),
        )
    )
    assert set(draft.concepts) == {"pricing", "bulk-rate", "testing", "error-handling", "orders"}


def test_the_narrative_tells_the_story_in_order() -> None:
    draft = the_only(
        turn(
            "the bulk discount is wrong",
            read("docs/pricing.md"),
            failed("pytest -q", RED),
            edited("orders/pricing.py", PRICING, MENDED),
            ran("pytest -q", GREEN),
            ran('git commit -am "fix: bulk discount"', "[main 1a2b3c4] fix: bulk discount"),
            said="Customers now pay ninety percent.",
        )
    )
    story = draft.narrative or ""
    marks = ["The user", "docs/pricing.md was read", "failed with", "became", "passed (12 tests)"]
    marks += ["committed as “fix: bulk discount” (1a2b3c4)", "Customers now pay"]
    places = [story.index(mark) for mark in marks]
    assert places == sorted(places)


def test_one_turn_s_edits_checks_and_commit_are_one_observation() -> None:
    draft = the_only(
        turn(
            "add bulk discounts to the pricing",
            read("orders/pricing.py", PRICING),
            edited("orders/pricing.py", PRICING, EXTENDED),
            wrote("tests/test_bulk.py", "def test_ten():\n    assert True\n"),
            ran("pytest -q", "14 passed in 0.04s"),
            ran(
                'git commit -am "feat(pricing): add bulk discounts"',
                "[main abc1234] feat(pricing): x",
            ),
        )
    )
    assert draft.type == "feature"
    assert draft.files_modified == ("orders/pricing.py", "tests/test_bulk.py")
    assert any(fact.startswith("Commit abc1234 recorded the work") for fact in draft.facts)


@loop_over(
    ("prompt", "commit", "title"),
    [
        ("add bulk discounts to the pricing", None, "Added bulk discounts to the pricing"),
        ("please could you add bulk discounts", None, "Added bulk discounts"),
        ("whatever", "feat: introduce bulk rates", "Introduced bulk rates"),
        ("whatever", "fix: total ignored the count", "Fixed: total ignored the count"),
        ("whatever", "Refuse an order without items", "Refused an order without items"),
        ("whatever", "Keep money as integer cents", "Keep money as integer cents"),
        ("whatever", "Zap the old rates", "Zap the old rates"),
        ("whatever", "wip", "Added bulk_rate to orders/pricing.py"),
        ("Füge einen Mengenrabatt hinzu", None, "Added bulk_rate to orders/pricing.py"),
        (None, None, "Added bulk_rate to orders/pricing.py"),
    ],
)
def test_the_title_takes_the_best_name_there_is(
    prompt: str | None, commit: str | None, title: str
) -> None:
    done = [edited("orders/pricing.py", PRICING, EXTENDED)]
    if commit:
        done.append(ran(f'git commit -am "{commit}"', f"[main 1a2b3c4] {commit}"))
    assert the_only(turn(prompt, *done)).title == title


def test_a_title_that_the_session_already_has_is_not_used_again() -> None:
    made = turn(
        "add bulk discounts to the pricing",
        edited("orders/pricing.py", PRICING, EXTENDED),
        recorded=("Added bulk discounts to the pricing",),
    )
    assert the_only(made).title == "Added bulk_rate to orders/pricing.py"


def test_a_decision_in_the_prompt_is_an_observation_of_its_own() -> None:
    decision, work = observe(
        turn(
            "Let's use httpx instead of requests because we need async. Please migrate the client.",
            edited("client.py", "import requests\n", "import httpx\n"),
            number=3,
        )
    )
    assert (decision.type, decision.title) == ("decision", "Use httpx instead of requests")
    assert "“we need async”" in told(decision)
    assert decision.files_modified == ()
    assert (work.type, work.title) == ("change", "Migrated the client")


def test_the_facts_of_a_decision_each_add_something() -> None:
    decision, _ = observe(
        turn(
            "We decided to keep money as integer cents. Rounding has cost us three invoices. "
            "Please apply that.",
            edited("orders/pricing.py", PRICING, EXTENDED),
            ran('git commit -am "Use cents only"', "[main 1a2b3c4] Use cents only"),
        )
    )
    assert decision.subtitle == (
        "Stated by the user in prompt 1; background: “Rounding has cost us three invoices”; "
        "1 file changed in the same turn."
    )
    assert decision.facts == (
        "The user decided for the project shop: “Keep money as integer cents”.",
        "The user gave as background: “Rounding has cost us three invoices.”",
        "In the turn of the decision orders/pricing.py was changed.",
        "Made in the turn of the decision: commit 1a2b3c4, “Use cents only”.",
    )
    assert (decision.narrative or "").count("integer cents") == 1
    assert decision.concepts == ("pricing", "money", "integer", "cents", "conventions")


def test_a_prompt_full_of_rules_makes_one_observation() -> None:
    draft = the_only(
        turn(
            "Always run make check. Never push to main. Prefer small modules over big ones. "
            "Don't use mocks in integration tests."
        )
    )
    assert draft.title == "4 rules stated for shop"
    assert "Rule stated by the user: Never push to main for the project shop." in draft.facts


def test_the_same_change_in_two_files_is_two_facts() -> None:
    draft = the_only(
        turn("fix both", edited("a.py", PRICING, MENDED), edited("b.py", PRICING, MENDED))
    )
    changed = [fact for fact in draft.facts if "`apply_discount` was changed" in fact]
    assert [fact[:4] for fact in changed] == ["a.py", "b.py"]


def test_a_rename_is_told_as_a_rename() -> None:
    draft = the_only(
        turn(
            "rename apply_discount to discounted",
            edited("a.py", PRICING, PRICING.replace("apply_discount", "discounted")),
        )
    )
    assert draft.type == "refactor"
    assert "`apply_discount` was renamed to `discounted`" in told(draft)


def test_code_that_moves_between_files_is_told_as_moved() -> None:
    body = PRICING.split("\n\n\n")[1]
    draft = the_only(turn("tidy up", edited("a.py", PRICING, "RATE = 0.1\n"), wrote("b.py", body)))
    assert draft.type == "refactor"
    assert "`apply_discount` was moved from a.py to b.py" in told(draft)


def test_commits_that_have_nothing_in_common_are_told_apart() -> None:
    year, health = observe(
        turn(
            "two chores",
            edited("LICENSE", "Copyright 2024\n", "Copyright 2025\n"),
            ran('git commit -am "Bump the year"', "[main aaaaaaa] Bump the year"),
            edited("api/routes.py", "x = 1\n", "x = 1\n\n\ndef health():\n    return 1\n"),
            ran('git commit -am "Add a health endpoint"', "[main bbbbbbb] Add a health endpoint"),
        )
    )
    assert (year.title, year.files_modified) == ("Bumped the year", ("LICENSE",))
    assert (health.title, health.files_modified) == ("Added a health endpoint", ("api/routes.py",))


def test_commits_of_the_same_files_stay_together() -> None:
    other = EXTENDED.replace("10 else", "5 else")
    draft = the_only(
        turn(
            "two steps",
            edited("orders/pricing.py", PRICING, EXTENDED),
            ran('git commit -am "Add bulk rates"', "[main aaaaaaa] Add bulk rates"),
            edited("orders/pricing.py", EXTENDED, other),
            ran('git commit -am "Lower the bound"', "[main bbbbbbb] Lower the bound"),
        )
    )
    assert sum("recorded the work" in fact for fact in draft.facts) == 2


ANSWER = (
    "`Checkout.tax_rate` in `orders/checkout.py` looks the rate up in `config/tax.toml`. "
    "Countries that are not listed fall back to `DEFAULT_RATE`, which is 0.19. "
    "The rate is cached per request because `TaxTable.load` parses the file every time."
)


def test_a_question_that_was_looked_into_and_answered_is_a_discovery() -> None:
    draft = the_only(
        turn(
            "How is the tax rate chosen?",
            read("orders/tax.py"),
            read("config/tax.toml"),
            said=ANSWER,
        )
    )
    assert draft.type == "discovery"
    assert draft.title == "Answered: how is the tax rate chosen"
    assert draft.facts[0].startswith("Agent's report: `Checkout.tax_rate`")
    assert draft.files_read == ("orders/tax.py", "config/tax.toml")


def test_a_sub_agent_s_work_is_its_own_observation_after_the_main_agent_s() -> None:
    explorer = Subagent("a1", "Explore")
    main, helper = observe(
        turn(
            "add bulk discounts",
            used("Task", "done", description="Find the pricing code", subagent_type="Explore"),
            *by(explorer, read("orders/pricing.py"), said=ANSWER),
            edited("orders/pricing.py", PRICING, EXTENDED),
        )
    )
    assert (main.subagent_type, main.files_read) == (None, ())
    assert helper.subagent_type == "Explore"
    assert helper.title == "Investigated the pricing code"
    assert helper.files_read == ("orders/pricing.py",)


@loop_over(
    "made",
    [
        turn("hi"),
        turn("thanks!", said="You're welcome!"),
        turn("continue"),
        turn(None),
        turn("what is the status?", ran("git status", "clean"), said="The tree is clean."),
        turn("list the files", ran("ls -la", "a\nb"), read("a"), said="There are two."),
        turn("start the server", ran("npm run dev", background=True), said="It is running."),
        turn("run the tests", ran("pytest -q", GREEN), said="All pass."),
        turn("read it", failed("cat nope", "cat: nope: No such file or directory")),
        turn("go", failed("make", "The user doesn't want to proceed", code=None)),
    ],
)
def test_routine_work_yields_nothing(made: Turn) -> None:
    assert observe(made) == []


def test_an_edit_that_the_client_refused_did_not_happen() -> None:
    event = edited("a.py", "x = 1\n", "x = 2\n")
    assert isinstance(event.what, ToolUsed)
    refused = ToolUsed(
        "Edit", "1", event.what.action, Failure("File has not been read", None, False), 1
    )
    assert observe(turn("change x", Event("a", "s", None, refused, None, None, "", None))) == []


def test_no_claim_of_success_without_sight_of_it() -> None:
    draft = the_only(
        turn(
            "add types",
            edited("orders/pricing.py", PRICING, EXTENDED),
            ran("mypy src | grep orders", "orders/pricing.py:3: note: something"),
        )
    )
    assert "passed" not in told(draft)
    assert "the outcome was not shown" in (draft.narrative or "")


def test_escapes_and_control_characters_never_reach_an_observation() -> None:
    draft = the_only(
        turn(
            "fix\x1b[31m the \x07bug",
            failed("make\x00", "\x1b[31merror: bad\x1b[0m \x08thing"),
            edited("a\x1b[2J.py", "x = 1\n", "x = '\x1b[5m'\n"),
        )
    )
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", told(draft))


# --- any turn at all -------------------------------------------------------------------------------
