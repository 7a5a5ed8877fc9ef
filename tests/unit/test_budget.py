"""The daily budget: hard, by the user's day, and honest about why it says no."""

import time
from dataclasses import replace

import pytest

from aforesaid.clock import DAY, HOUR, MINUTE, local
from aforesaid.model.requests import (
    ANSWERED,
    OBSERVE,
    Entry,
    Failure,
    Misconfigured,
    RateLimited,
    Request,
    Spent,
    Usage,
)
from aforesaid.store.store import Store
from aforesaid.synthesis.cost import Budget, Prices, day_bounds, largest_usage
from tests.support.arrivals import START

REQUEST = Request("s" * 400, (("q" * 200, "a" * 200),), "m" * 800, 600)
MOST = 1_600 // 4 * 5 // 4 + 600
MODEL = "claude-haiku-4-5"
PRICES = Prices.of([f"{MODEL}=1/5"])
LARGEST = largest_usage(REQUEST, "anthropic")
ENTRY = Entry(
    at=START,
    provider="anthropic",
    model=MODEL,
    prompts="v1",
    purpose=OBSERVE,
    digest="d",
    session_id=1,
    job_id=1,
    outcome=ANSWERED,
    error=None,
    usage=Usage(0, 0, 0, 0),
    microdollars=0,
    milliseconds=1,
    reply="",
)


def refusal(store: Store, budget: Budget, model: str = MODEL) -> Failure | None:
    return budget.refusal(store, PRICES, model, LARGEST)


def tokens(limit: int, at: int = START) -> Budget:
    return Budget(limit, 0, lambda: at)


def cents(limit: int, at: int = START) -> Budget:
    return Budget(0, limit, lambda: at)


def spend(
    store: Store, sent: int, received: int, *, at: int = START, microdollars: int = 0
) -> None:
    usage = Usage(sent, 0, 0, received)
    store.requests.add(replace(ENTRY, at=at, usage=usage, microdollars=microdollars))


def test_without_a_budget_nothing_is_refused(store: Store) -> None:
    spend(store, 10**9, 10**9, microdollars=10**12)
    assert refusal(store, Budget(0, 0, lambda: START), "unknown-model") is None


def test_a_request_that_fits_exactly_is_made_and_one_token_more_is_not(store: Store) -> None:
    assert Usage(MOST - 600, 0, 0, 600) == LARGEST
    spend(store, 700, 300)
    assert refusal(store, tokens(1_000 + MOST)) is None
    refused = refusal(store, tokens(999 + MOST))
    assert isinstance(refused, RateLimited)
    assert f"{999 + MOST:,} tokens a day is used up" in refused.why


def test_what_claude_code_may_ask_on_by_itself_is_within_the_budget(store: Store) -> None:
    most = largest_usage(REQUEST, "claude")
    assert most.received == 4 * 600
    assert (
        most.sent == 4 * (MOST - 600) + (1 + 2 + 3) * 600
    )  # what was written is sent back each time
    assert tokens(most.sent + most.received).refusal(store, PRICES, MODEL, most) is None
    refused = tokens(most.sent + most.received - 1).refusal(store, PRICES, MODEL, most)
    assert isinstance(refused, Misconfigured)


def test_the_wait_is_until_the_users_midnight_and_then_all_is_free_again(store: Store) -> None:
    spend(store, 5_000, 0)
    refused = refusal(store, tokens(5_500))
    assert isinstance(refused, RateLimited)
    assert local(refused.until).strftime("%H:%M:%S") == "00:00:00"
    assert START < refused.until <= START + DAY + HOUR
    assert refusal(store, tokens(5_500, at=refused.until)) is None


def test_yesterdays_spending_does_not_count(store: Store) -> None:
    begin, _ = day_bounds(START)
    spend(store, 5_000, 0, at=begin - 1)
    assert refusal(store, tokens(MOST)) is None


def test_a_budget_that_no_request_fits_into_is_a_mistake_not_a_wait(store: Store) -> None:
    refused = refusal(store, tokens(MOST - 1))
    assert isinstance(refused, Misconfigured)
    assert "config set cost.daily_tokens" in refused.why
    dear = Prices.of([f"{MODEL}=1000/5000"])
    refused = cents(1).refusal(store, dear, MODEL, LARGEST)
    assert isinstance(refused, Misconfigured)
    assert "config set cost.daily_cents" in refused.why


def test_money_is_counted_at_the_models_price(store: Store) -> None:
    most = (MOST - 600) * 1 + 600 * 5  # in microdollars
    spend(store, 1, 1, microdollars=10_000 - most)
    assert refusal(store, cents(1)) is None
    spend(store, 1, 1, microdollars=1)
    refused = refusal(store, cents(1))
    assert isinstance(refused, RateLimited)
    assert "0.01 dollars a day is used up" in refused.why


def test_a_money_budget_without_a_price_names_the_fix(store: Store) -> None:
    refused = refusal(store, cents(100), "mystery-1")
    assert isinstance(refused, Misconfigured)
    assert "aforesaid config set cost.prices mystery-1=INPUT/OUTPUT" in refused.why


def test_both_limits_hold_at_once(store: Store) -> None:
    spend(store, 5_000, 0, microdollars=9_999)
    assert refusal(store, Budget(100_000, 1, lambda: START)) is not None
    assert refusal(store, Budget(5_500, 100, lambda: START)) is not None
    assert refusal(store, Budget(100_000, 100, lambda: START)) is None


def test_what_is_left_is_told_in_the_words_of_the_budget() -> None:
    spent = Spent("", 3, 1_200, 0, 300, 12_345, 0)
    assert Budget(0, 0, lambda: START).left(spent) is None
    assert tokens(9_000).left(spent) == "1,500 of 9,000 tokens used today"
    assert cents(50).left(spent) == "0.0123 of 0.50 dollars used today"
    both = Budget(9_000, 50, lambda: START).left(spent)
    assert both == "1,500 of 9,000 tokens and 0.0123 of 0.50 dollars used today"


@pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Asia/Kathmandu", "Pacific/Apia"])
def test_a_day_is_the_users_and_may_have_23_or_25_hours(
    zone: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        for day in range(366):
            at = START + day * DAY + 17 * MINUTE
            begin, end = day_bounds(at)
            assert begin <= at < end
            assert (end - begin) in (23 * HOUR, DAY, 25 * HOUR)
            assert day_bounds(end)[0] == end
            assert day_bounds(begin - 1)[1] == begin
    finally:
        monkeypatch.undo()
        time.tzset()
