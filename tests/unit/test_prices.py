"""What requests cost: known, corrected by the user, free, or plainly unknown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aforesaid.errors import ConfigError
from aforesaid.model.requests import Usage
from aforesaid.synthesis.cost import FREE, KNOWN, Price, Prices
from tests.support.tables import loop_over

PLAIN = Prices.of(())
counts = st.integers(0, 10_000_000)


def test_input_output_and_both_ways_of_caching_have_their_own_price() -> None:
    price = Price(sent=3, cached=0.3, written=3.75, received=15)
    usage = Usage(sent=1_000, cached=600, written=300, received=200)
    assert price.microdollars(usage) == 100 * 3 + 180 + 1_125 + 200 * 15


@loop_over(
    ("model", "known"),
    [
        ("claude-haiku-4-5", "claude-haiku-4-5"),
        ("claude-haiku-4-5-20251001", "claude-haiku-4-5"),
        ("anthropic/claude-haiku-4.5", "claude-haiku-4-5"),
        ("Claude-Haiku-4-5", "claude-haiku-4-5"),
        ("claude-opus-4-20250514", "claude-opus-4"),
        ("claude-opus-4-1-20250805", "claude-opus-4"),
        ("claude-opus-4-5-20251101", "claude-opus-4-5"),
        ("claude-opus-5-5", "claude-opus-5-5"),
        ("claude-opus-5", "claude-opus-5"),
        ("openai/gpt-4.1-mini", "gpt-4.1-mini"),
        ("gpt-4o-mini-2024-07-18", "gpt-4o-mini"),
    ],
)
def test_a_model_is_found_with_its_date_its_maker_and_either_spelling(
    model: str, known: str
) -> None:
    assert PLAIN.find(model) == KNOWN[known]


@loop_over("model", ["", "gpt-4o", "qwen2.5-coder:1.5b", "claude", "my-gpt-5-mini"])
def test_an_unknown_price_is_unknown_and_not_guessed(model: str) -> None:
    assert PLAIN.find(model) is None
    assert PLAIN.microdollars(model, Usage(10, 0, 0, 10)) is None


def test_what_the_provider_says_it_costs_is_believed() -> None:
    said = Usage(10, 0, 0, 10, microdollars=77)
    assert PLAIN.microdollars("claude-haiku-4-5", said) == 77
    assert PLAIN.microdollars("never-heard-of", said) == 77


def test_the_users_own_price_wins_whatever_its_length() -> None:
    prices = Prices.of(["claude-haiku=7/9"])
    assert prices.find("claude-haiku-4-5") == Price(7, 7, 7, 9)
    assert prices.find("gpt-5-mini") == KNOWN["gpt-5-mini"]


def test_a_price_may_tell_what_cached_input_costs() -> None:
    prices = Prices.of(["qwen/qwen3-coder = 0.2/0.05/0.8"])
    assert prices.find("qwen/qwen3-coder-30b") == Price(0.2, 0.05, 0.2, 0.8)


def test_a_model_on_this_machine_is_free_unless_its_name_is_one_that_is_paid_for() -> None:
    local = Prices.of((), all_free=True)
    assert local.find("qwen2.5-coder:1.5b") is FREE
    assert local.find("gpt-4o-mini") == KNOWN["gpt-4o-mini"]  # a proxy
    assert Prices.of(["gpt-4o-mini=0/0"], all_free=True).find("gpt-4o-mini") == FREE


@loop_over(
    "row", ["", "m", "m=", "m=1", "m=a/b", "m=1/2/3/4", "=1/2", "m=-1/2", "m=nan/1", "m=1/inf"]
)
def test_what_is_no_price_is_an_error_that_shows_how_to_write_one(row: str) -> None:
    with pytest.raises(ConfigError, match="model=input/output"):
        Prices.of([row])


@given(st.sampled_from(sorted(KNOWN)), counts, counts, counts, counts)
def test_a_cost_is_never_negative_and_grows_with_the_tokens(
    model: str, fresh: int, cached: int, written: int, received: int
) -> None:
    usage = Usage(fresh + cached + written, cached, written, received)
    cost = PLAIN.microdollars(model, usage)
    more = PLAIN.microdollars(model, Usage(usage.sent + 1_000, cached, written, received))
    assert cost is not None
    assert more is not None
    assert 0 <= cost <= more
