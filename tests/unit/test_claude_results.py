"""How the client's own words for trouble become values, each by what can be done about it."""

import pytest
from claude_agent_sdk import AssistantMessage, ResultMessage, StreamEvent, TextBlock

from aforesaid.clock import HOUR, MINUTE
from aforesaid.model.requests import (
    Failure,
    Misconfigured,
    RateLimited,
    Refused,
    Reply,
    Unavailable,
    Usage,
    usage_of,
)
from aforesaid.providers.claude import PLAN_PAUSE, RATE_PAUSE, Received, classify, outcome
from tests.support.tables import loop_over

NOW = 1_800_000_000_000
LATER = NOW // 1000 + 3600


def told(
    text: str, error: str | None = None, status: int | None = None, resets_at: int | None = None
) -> Failure:
    return classify(error, status, text, model="haiku", resets_at=resets_at, now=NOW)


@loop_over(
    ("text", "resets_at", "until"),
    [
        (f"Claude AI usage limit reached|{LATER}", None, NOW + HOUR),
        ("You've hit your 5-hour limit · resets 4:19am (UTC)", LATER, NOW + HOUR),
        ("You've hit your weekly limit", None, NOW + PLAN_PAUSE),
        ("You've hit your weekly limit", LATER - 7200, NOW + PLAN_PAUSE),
        ("API Error: Request rejected (429) · slow down", None, NOW + RATE_PAUSE),
    ],
)
def test_a_limit_is_waited_for_until_it_ends_or_a_while(
    text: str, resets_at: int | None, until: int
) -> None:
    assert told(text, "rate_limit", 429, resets_at) == RateLimited(text, until)


def test_the_old_form_of_a_limit_needs_no_category() -> None:
    text = f"Claude AI usage limit reached|{LATER}"
    assert told(text) == RateLimited(text, NOW + 60 * MINUTE)


@loop_over(
    ("text", "error", "status", "kind", "names"),
    [
        (
            "Not logged in · Please run /login",
            "authentication_failed",
            None,
            Misconfigured,
            "/login",
        ),
        ("Not logged in · Please run /login", None, None, Misconfigured, "/login"),
        ("Invalid API key · Fix external API key", "unknown", 401, Misconfigured, "API_KEY"),
        ("Failed to authenticate. API Error: 403", "unknown", 403, Misconfigured, "/login"),
        ("Credit balance is too low", "billing_error", 400, Misconfigured, "credit"),
        ("There's an issue", "model_not_found", 404, Misconfigured, "synthesis.model"),
        ("Prompt is too long", "invalid_request", 400, Refused, "too long"),
        ("API Error: 400 no", "unknown", 400, Refused, "400"),
        ("API Error: 529 Overloaded.", "server_error", 529, Unavailable, "529"),
        ("API Error: Connection was lost", "server_error", None, Unavailable, "lost"),
        ("error_during_execution", None, None, Unavailable, "execution"),
        ("something newer than this", "brand_new", None, Unavailable, "newer"),
    ],
)
def test_trouble_is_told_by_category_and_status(
    text: str, error: str | None, status: int | None, kind: type[Failure], names: str
) -> None:
    found = told(text, error, status)
    assert isinstance(found, kind)
    assert names in found.why


def test_a_message_is_one_short_line() -> None:
    found = told("API Error: 500 \x1b[31m" + "long\n" * 400, "server_error", 500)
    assert isinstance(found, Unavailable)
    assert len(found.why) <= 200
    assert found.why.isprintable()


@pytest.mark.parametrize("variable", ["ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN"])
def test_no_key_is_shown(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, "of-no-known-shape-42")
    for words in (
        "invalid x-api-key: sk-ant-api03-0123456789abcdef",
        "sent of-no-known-shape-42 in vain",
        "Authorization: Bearer 0123456789",
    ):
        found = told(words, "authentication_failed", 401)
        assert "0123456789" not in found.why
        assert "shape-42" not in found.why
        assert "…" in found.why


def result(status: int | None, *, usage: dict[str, int] | None, cost: float) -> ResultMessage:
    return ResultMessage(
        subtype="success",
        duration_ms=1,
        duration_api_ms=1,
        is_error=status is not None,
        num_turns=1,
        session_id="s",
        total_cost_usd=cost,
        usage=usage,
        result="no",
        api_error_status=status,
    )


def heard(*pieces: str) -> Received:
    found = Received(sent=90)
    for piece in pieces:
        event = {"type": "content_block_delta", "delta": {"type": "text_delta", "text": piece}}
        found.add(StreamEvent("u", "s", event))
    return found


COUNTED = {"input_tokens": 100, "cache_read_input_tokens": 20, "output_tokens": 7}


@pytest.mark.parametrize(
    ("status", "kind"), [(400, Refused), (429, RateLimited), (529, Unavailable)]
)
def test_a_failure_that_was_paid_for_says_so(status: int, kind: type[Failure]) -> None:
    said = result(status, usage=COUNTED, cost=0.75)
    found = outcome(heard(), said, model="haiku", now=NOW)
    assert isinstance(found, kind)
    assert usage_of(found) == Usage(120, 20, 0, 7, microdollars=750_000)


def test_an_answer_that_broke_off_uncounted_is_estimated_and_one_that_never_began_is_free() -> None:
    said = result(529, usage={"input_tokens": 0, "output_tokens": 0}, cost=0.0)
    broken = outcome(heard("So f", "ar."), said, model="haiku", now=NOW)
    assert usage_of(broken) == Usage(90, 0, 0, 2, estimated=True)
    assert usage_of(outcome(heard(), said, model="haiku", now=NOW)) is None
    paid = result(529, usage={"input_tokens": 0, "output_tokens": 0}, cost=0.25)
    dollars = outcome(heard(), paid, model="haiku", now=NOW)
    assert usage_of(dollars) == Usage(90, 0, 0, 0, microdollars=250_000, estimated=True)


def test_what_is_streamed_is_not_said_twice() -> None:
    found = heard("Do", "ne.")
    found.add(AssistantMessage([TextBlock("Done.")], "claude-haiku"))
    said = result(None, usage=COUNTED, cost=0.5)
    reply = outcome(found, said, model="haiku", now=NOW)
    assert isinstance(reply, Reply)
    assert (reply.text, reply.usage.received) == ("Done.", 7)
