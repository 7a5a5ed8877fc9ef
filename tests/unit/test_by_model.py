"""A model as a writer: its replies are read, asked for once more if they cannot be, and never believed."""

from collections.abc import Iterator

import pytest

from aforesaid.agents.registry import AGENTS
from aforesaid.clock import HOUR
from aforesaid.errors import StoreError
from aforesaid.model.observations import ObservationDraft, SummaryDraft, SummarySkipped
from aforesaid.model.requests import Misconfigured, RateLimited, Refused, Request, Unavailable
from aforesaid.paths import Paths
from aforesaid.store.jobs import Jobs
from aforesaid.synthesis import prompt
from aforesaid.synthesis.model import ModelWriter
from aforesaid.synthesis.prompt import Style
from aforesaid.synthesis.turn import build_turn
from tests.support import payloads
from tests.support.observed import MENDED, PRICING
from tests.support.stub_model import (
    Desk,
    StubModel,
    asking,
    claimed,
    dutiful,
    observation,
)
from tests.support.turns import edited, ran, turn

CHATTER = "Sure! Here is what I found: nothing in particular, but it was fun to look at."
GOOD = observation("Bulk discount fixed", "apply_discount in shop/pricing.py subtracts RATE now.")
FIX = turn("Mend the discount", edited("shop/pricing.py", PRICING, MENDED), ran("pytest -q"))


@pytest.fixture
def desk(home: Paths) -> Iterator[Desk]:
    """With one turn that waits: a job for its observations, one for its summary."""
    desk = Desk.of(home, StubModel())
    desk.turns.add("s1", 1)
    yield desk
    desk.store.close()


def writer(
    desk: Desk, *steps: str | Unavailable | RateLimited | Misconfigured | Refused
) -> ModelWriter:
    desk.model.steps = list(steps)
    asked = asking(desk.store, desk.model, desk.clock, claimed(desk.store, desk.clock))
    return ModelWriter(asked, desk.runner.context.choice.author, Style(), 6_000)


def drafts(written: object) -> tuple[ObservationDraft, ...]:
    assert isinstance(written, tuple), written
    return written


def ledger(desk: Desk) -> list[tuple[object, ...]]:
    return desk.rows("SELECT purpose, outcome FROM requests ORDER BY id")


def test_one_turn_is_one_request(desk: Desk) -> None:
    (draft,) = drafts(writer(desk, GOOD).observe(FIX))
    assert draft.title == "Bulk discount fixed"
    assert draft.doubts == ()
    assert len(desk.model.requests) == 1
    assert ledger(desk) == [("observe", "answered")]


def test_the_changed_files_come_from_the_tools_whatever_the_model_says(desk: Desk) -> None:
    lie = GOOD.replace("</facts>", "</facts><files_modified><file>evil.py</file></files_modified>")
    (draft,) = drafts(writer(desk, lie).observe(FIX))
    assert draft.files_modified == ("shop/pricing.py",)


def test_what_the_events_do_not_bear_out_is_kept_and_marked(desk: Desk) -> None:
    reply = observation(
        "Bulk discount fixed",
        "apply_discount in shop/pricing.py subtracts RATE now.",
        "The class DiscountEngine in shop/engine.py was rewritten with 417 lines.",
    )
    (draft,) = drafts(writer(desk, reply).observe(FIX))
    assert len(draft.facts) == 2
    assert draft.sure_facts == draft.facts[:1]


def test_the_answer_that_nothing_is_worth_keeping_needs_no_repair(desk: Desk) -> None:
    assert drafts(writer(desk, "<none/>").observe(turn("What is in here?", ran("ls")))) == ()
    assert ledger(desk) == [("observe", "answered")]


def test_a_reply_that_cannot_be_used_is_asked_for_once_more_with_itself_in_it(desk: Desk) -> None:
    (draft,) = drafts(writer(desk, CHATTER, GOOD).observe(FIX))
    assert draft.title == "Bulk discount fixed"
    first, second = desk.model.requests
    assert CHATTER in second.message
    assert first.message in second.message
    assert second.static_digest == first.static_digest
    # It stays kept until all is stored: after a crash nothing is paid for again.
    assert ledger(desk) == [("observe", "answered"), ("repair", "answered")]


def test_nothing_is_no_answer_where_files_were_changed(desk: Desk) -> None:
    (draft,) = drafts(writer(desk, "<none/>", GOOD).observe(FIX))
    assert draft.title == "Bulk discount fixed"
    assert prompt.EMPTY in desk.model.requests[1].message


@pytest.mark.parametrize("second", ["<none/>", CHATTER, Refused("no")])
def test_nothing_said_again_is_taken_for_an_answer(desk: Desk, second: str | Refused) -> None:
    assert drafts(writer(desk, "<none/>", second).observe(FIX)) == ()
    assert len(desk.model.requests) == 2


def test_an_empty_reply_is_asked_for_once_more(desk: Desk) -> None:
    assert drafts(writer(desk, "", GOOD).observe(FIX))
    assert "(it was empty)" in desk.model.requests[1].message


def test_a_second_unusable_reply_costs_the_job_a_try(desk: Desk) -> None:
    refused = writer(desk, CHATTER, CHATTER).observe(FIX)
    assert isinstance(refused, Refused)
    assert "could not be used" in refused.why
    assert ledger(desk) == [("observe", "unusable"), ("repair", "unusable")]


@pytest.mark.parametrize(
    "absence", [Unavailable("overloaded"), RateLimited("a quota", 1), Misconfigured("no key")]
)
def test_a_repair_that_nobody_is_there_for_goes_on_from_the_reply_that_is_there(
    desk: Desk, absence: Unavailable | RateLimited | Misconfigured
) -> None:
    by_model = writer(desk, CHATTER, absence, GOOD)
    assert by_model.observe(FIX) == absence
    assert drafts(by_model.observe(FIX))
    purposes = ["observe", "repair", "repair"]
    assert [purpose for purpose, _ in ledger(desk)] == purposes


def test_a_refused_repair_begins_again(desk: Desk) -> None:
    by_model = writer(desk, CHATTER, Refused("too long"), GOOD)
    assert by_model.observe(FIX) == Refused("too long")
    assert drafts(by_model.observe(FIX))
    assert [purpose for purpose, _ in ledger(desk)] == ["observe", "repair", "observe"]


def test_a_turn_in_which_nothing_happened_asks_nobody(desk: Desk) -> None:
    by_model = writer(desk)
    assert drafts(by_model.observe(turn("thanks"))) == ()
    skipped = by_model.summarize(turn("thanks"))
    assert isinstance(skipped, SummarySkipped)
    assert desk.model.requests == []


def test_a_long_prompt_is_worth_a_request_even_where_nothing_was_done(desk: Desk) -> None:
    decision = turn("We use decimal for money from now on, never float, because of rounding.")
    drafts(writer(desk, GOOD).observe(decision))
    assert len(desk.model.requests) == 1


def test_a_summary_is_read_and_checked(desk: Desk) -> None:
    reply = (
        "<summary><request>Mend the discount.</request><completed>apply_discount in shop/pricing.py "
        "subtracts RATE.</completed><learned>DiscountEngine in shop/engine.py is slow.</learned></summary>"
    )
    written = writer(desk, reply).summarize(FIX)
    assert isinstance(written, SummaryDraft)
    assert written.files_edited == ("shop/pricing.py",)
    assert written.sure.completed is not None
    assert written.learned is not None
    assert written.sure.learned is None
    assert ledger(desk) == [("summarize", "answered")]


def test_a_summary_that_is_declined_is_none(desk: Desk) -> None:
    written = writer(desk, '<skip_summary reason="only looked around"/>').summarize(FIX)
    assert written == SummarySkipped("only looked around")


# With the job around it.


def test_what_the_model_wrote_is_stored_with_its_author(desk: Desk) -> None:
    desk.work()
    assert desk.rows("SELECT title, provider, model, prompt_number FROM observations") == [
        ("s1_1.py written", "stub", "stub-1", 1)
    ]
    assert desk.rows("SELECT request, provider, model FROM summaries") == [
        ("Write s1_1.py.", "stub", "stub-1")
    ]
    assert desk.rows("SELECT outcome, stored FROM requests") == [("answered", 1)] * 2
    assert desk.rows("SELECT DISTINCT written_by FROM jobs") == [("stub stub-1 v1",)]


def test_an_observation_knows_the_events_it_came_from(desk: Desk) -> None:
    desk.work()
    assert desk.rows(
        "SELECT e.tool FROM observation_events o JOIN events e ON e.id = o.event_id"
    ) == [("Write",)]


def test_after_an_unusable_reply_and_its_repair_the_extracted_note_stands(desk: Desk) -> None:
    desk.model.then = CHATTER
    desk.work()
    assert [state for _, state, _, _ in desk.jobs()] == ["done", "done"]
    assert all("could not be used" in str(why) for _, _, _, why in desk.jobs())
    assert desk.rows("SELECT count(*) FROM requests WHERE outcome = 'unusable'") == [(4,)]
    assert desk.rows("SELECT provider FROM observations") == [("rules",)]
    assert desk.rows("SELECT DISTINCT written_by FROM jobs") == [("rules",)]


def test_an_exception_of_a_provider_costs_a_try_and_nothing_else(desk: Desk) -> None:
    def broken(_: Request) -> str:
        raise RuntimeError("a bug")

    desk.model.steps = [broken]
    desk.work()
    assert [(state, tries) for _, state, tries, _ in desk.jobs()] == [("done", 2), ("done", 1)]


@pytest.mark.parametrize("method", ["finish_observations", "finish_summary"])
def test_a_reply_survives_when_its_effect_could_not_be_stored(
    desk: Desk, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = getattr(Jobs, method)

    def full(*args: object, **options: object) -> object:
        if options.get("draft") or options.get("draft_only"):
            return real(*args, **options)
        raise StoreError("the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(Jobs, method, full)
        with pytest.raises(StoreError):
            desk.work()
    asked = len(desk.model.requests)
    desk.work()
    assert [(state, tries) for _, state, tries, _ in desk.jobs()] == [("done", 1)] * 2
    assert desk.rows("SELECT count(*) FROM observations") == [(1,)]
    assert desk.rows("SELECT count(*) FROM summaries") == [(1,)]
    # The reply of the job that failed was there; only what came after it was asked for.
    assert len(desk.model.requests) == 2
    assert asked == (1 if method == "finish_observations" else 2)


def test_a_worker_that_dies_between_reply_and_commit_has_its_reply_when_it_comes_back(
    home: Paths, desk: Desk
) -> None:
    job = claimed(desk.store, desk.clock)
    session = desk.store.sessions.get(job.session_id)
    assert session is not None
    dying = desk.runner.context.choice.writer(desk.store, job, desk.clock)
    assert drafts(dying.observe(build_turn(desk.store, AGENTS, job, session)))
    desk.store.close()

    again = Desk.of(home, StubModel(clock=desk.clock))
    again.store.jobs.release_leases()
    again.work()
    assert [purpose for purpose, _ in ledger(again)] == ["observe", "summarize"]
    assert len(again.model.requests) == 1
    assert again.rows("SELECT count(*) FROM observations") == [(1,)]
    desk.store = again.store


def test_a_try_that_lost_its_lease_has_no_effect(desk: Desk) -> None:
    """Another worker took over while the model was thinking."""

    def slow(request: Request) -> str:
        desk.clock.at += 2 * HOUR
        claimed(desk.store, desk.clock)
        return dutiful(request)

    desk.model.steps = [slow]
    desk.runner.run_due(lambda: len(desk.model.requests) == 0)
    assert desk.rows("SELECT count(*) FROM observations") == [(0,)]
    assert desk.jobs()[0][:3] == ("observe", "pending", 2)


def test_untitled_observations_of_two_parts_of_a_turn_do_not_hide_each_other(desk: Desk) -> None:
    desk.work()
    tools = [payloads.tool("s2", f"t{n}", prompt_id="p", output=f"{n}") for n in range(40)]
    desk.turns.deliver(payloads.prompt("s2", "p", "A long one"), *tools, payloads.stop("s2", "p"))
    untitled = "<observation><type>change</type><narrative>Part {}.</narrative></observation>"
    desk.model.steps = [untitled.format("one"), untitled.format("two")]
    desk.work()
    found = desk.rows("SELECT narrative FROM observations WHERE session_id = 2 ORDER BY id")
    assert found == [("Part one.",), ("Part two.",)]
