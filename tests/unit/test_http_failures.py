"""What the errors of HTTP APIs mean: one table, tested with the words that servers use."""

import json
import socket
import ssl
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.clock import DAY, MINUTE, SECOND
from recollect.model.requests import Away, Failure, Misconfigured, Refused, Wait
from recollect.providers import rate_limits
from recollect.providers.http_failures import (
    Service,
    failure_of,
    meaning,
    shown,
    told,
    unreachable,
    unusable,
)
from recollect.providers.scrubbing import MOST_SHOWN

NOW = 1_700_000_000_000  # 2023-11-14 22:13:20 UTC
KEY = "sk-test-0123456789abcdef"


def service(*, local: bool = False, usual: bool = True, key: str = KEY) -> Service:
    return Service(
        name="Example",
        place="api.example.com",
        model="m-1",
        key_fix="EXAMPLE_KEY",
        address_fix="EXAMPLE_URL",
        keyed=bool(key),
        local=local,
        usual=usual,
        secrets=(key,) if key else (),
    )


def failure(status: int, body: object = None, **headers: str) -> Failure:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return meaning(told(status, named, body), service(), now=NOW)


@pytest.mark.parametrize(
    ("status", "kind", "names"),
    [
        (400, Refused, "refuses this request"),
        (401, Misconfigured, "EXAMPLE_KEY"),
        (402, Misconfigured, "no credit"),
        (403, Misconfigured, "EXAMPLE_KEY"),
        (404, Misconfigured, "`synthesis.model`"),
        (405, Misconfigured, "mend EXAMPLE_URL"),
        (407, Misconfigured, "HTTPS_PROXY"),
        (301, Misconfigured, "mend EXAMPLE_URL"),
        (408, Away, "408"),
        (409, Away, "409"),
        (413, Refused, "413"),
        (418, Refused, "418"),
        (422, Refused, "422"),
        (429, Away, "limits how often"),
        (500, Away, "500"),
        (502, Away, "502"),
        (503, Away, "503"),
        (529, Away, "529"),
        (599, Away, "599"),
        (777, Refused, "777"),
    ],
)
def test_a_status_alone_says_what_to_do(status: int, kind: type[Failure], names: str) -> None:
    found = failure(status)
    assert isinstance(found, kind)
    assert names in found.why


@pytest.mark.parametrize(
    ("status", "error", "kind", "names"),
    [
        (400, {"code": "context_length_exceeded", "message": "x"}, Refused, "longer than m-1"),
        (400, {"message": "prompt is too long: 210000 tokens > 200000"}, Refused, "longer than"),
        (
            500,
            {"message": "the request exceeds the available context size"},
            Refused,
            "longer than",
        ),
        (400, {"message": "Your credit balance is too low"}, Misconfigured, "no credit"),
        (429, {"type": "insufficient_quota", "message": "see billing"}, Misconfigured, "no credit"),
        (403, {"message": "requires billing to be enabled"}, Misconfigured, "no credit"),
        (400, {"message": "API key not valid. Please pass one."}, Misconfigured, "EXAMPLE_KEY"),
        (400, {"message": "x/y is not a valid model ID"}, Misconfigured, "synthesis.model"),
        (400, {"code": "model_not_found", "message": ""}, Misconfigured, "synthesis.model"),
        (403, {"message": "your input was flagged"}, Refused, "refuses"),
        (429, {"status": "RESOURCE_EXHAUSTED", "message": "plan and billing"}, Away, "limits"),
    ],
)
def test_what_it_says_comes_before_its_status(
    status: int, error: dict[str, Any], kind: type[Failure], names: str
) -> None:
    for body in ({"error": error}, [{"error": error}], error):
        found = failure(status, body)
        assert isinstance(found, kind), found
        assert names in found.why


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"type": "overloaded_error"}, Away),
        ({"type": "api_error"}, Away),
        ({"code": 502, "message": "upstream"}, Away),
        ({"code": "429"}, Away),
        ({"type": "rate_limit_error"}, Away),
        ({"type": "authentication_error"}, Misconfigured),
        ({"type": "billing_error"}, Misconfigured),
        ({"type": "invalid_request_error"}, Refused),
        ({"type": "something_new"}, Away),
        ("words alone", Away),
    ],
)
def test_an_error_in_the_middle_of_a_stream_has_a_code_of_its_own(
    error: object, kind: type[Failure]
) -> None:
    assert isinstance(failure(200, {"type": "error", "error": error}), kind)


@pytest.mark.parametrize(
    ("headers", "until"),
    [
        ({"retry-after": "30"}, NOW + 30 * SECOND),
        ({"Retry-After": "1.5"}, NOW + 1_500),
        ({"retry-after-ms": "2500", "retry-after": "9"}, NOW + 2_500),
        ({"retry-after": "Tue, 14 Nov 2023 22:15:20 GMT"}, NOW + 2 * MINUTE),
        ({"retry-after": "0"}, NOW + SECOND),
        ({"retry-after": "Tue, 14 Nov 2023 20:00:00 GMT"}, NOW + SECOND),
        ({"retry-after": "99999999"}, NOW + DAY),
        ({"anthropic-ratelimit-tokens-reset": "2023-11-14T22:14:20Z"}, NOW + MINUTE),
        (
            {
                "anthropic-ratelimit-requests-reset": "2023-11-14T23:13:20Z",
                "anthropic-ratelimit-requests-remaining": "12",
                "anthropic-ratelimit-tokens-reset": "2023-11-14T22:14:20Z",
                "anthropic-ratelimit-tokens-remaining": "0",
            },
            NOW + MINUTE,
        ),
        ({"anthropic-ratelimit-unified-reset": "1700000060"}, NOW + MINUTE),
        ({"x-ratelimit-reset": "1700000060000"}, NOW + MINUTE),
        ({"x-ratelimit-reset-requests": "6m0s"}, NOW + 6 * MINUTE),
        ({"x-ratelimit-reset-tokens": "1m1.5s"}, NOW + 61_500),
        ({"x-ratelimit-reset-tokens": "1500ms"}, NOW + 1_500),
        ({"retry-after": "soon", "x-ratelimit-reset": "60"}, NOW + MINUTE),
    ],
)
def test_a_limit_is_waited_for_as_long_as_the_server_asks(
    headers: dict[str, str], until: int
) -> None:
    found = meaning(told(429, headers, None), service(), now=NOW)
    assert isinstance(found, Wait)
    assert found.until == until


def test_gemini_tells_the_delay_in_the_body() -> None:
    body = [{"error": {"code": 429, "message": "quota", "details": [{"retryDelay": "36s"}]}}]
    found = failure(429, body)
    assert isinstance(found, Wait)
    assert found.until == NOW + 36 * SECOND


@pytest.mark.parametrize("value", ["", "soon", "-5", "nan", "inf", "1e999", "12 parsecs"])
def test_a_limit_without_a_time_is_tried_again_like_any_trouble(value: str) -> None:
    assert isinstance(failure(429, None, retry_after=value), Away)


HEADER_NAMES = st.sampled_from(
    ["retry-after", "retry-after-ms", "x-ratelimit-reset", "anthropic-ratelimit-tokens-reset"]
)
VALUES = st.text(max_size=20) | st.floats().map(str) | st.integers().map(str) | st.dates().map(str)


@given(st.dictionaries(HEADER_NAMES, VALUES), st.text(max_size=40))
def test_no_header_makes_it_raise_or_wait_longer_than_a_day(
    headers: dict[str, str], delay: str
) -> None:
    until = rate_limits.until(headers, {"retryDelay": delay}, NOW)
    assert until is None or NOW + SECOND <= until <= NOW + DAY


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["error", "message", "type", "code", "detail"]), inner, max_size=3
        )
    ),
    max_leaves=8,
)


@given(st.integers(100, 700), JSON)
def test_every_status_with_every_body_has_a_meaning(status: int, body: object) -> None:
    found = meaning(told(status, {}, body), service(), now=NOW)
    assert isinstance(found, Away | Wait | Misconfigured | Refused)
    assert "{" not in found.why.partition("It said")[0]


def test_a_key_is_never_shown_wherever_it_hides() -> None:
    for words in (KEY, f"x {KEY}.", f"sk-\x00test-{KEY[8:]}", "y" * 190 + KEY, f"Bearer {KEY}"):
        assert "0123456789" not in shown(words, service())
        assert "0123456789" not in failure(401, {"error": {"message": words}}).why
    assert "another-key-0123456789" not in shown("sk-another-key-0123456789", service())


def test_a_servers_words_are_short_and_on_one_line() -> None:
    words = shown("a\x1b[31m\n\tb " + "word " * 5_000, service())
    assert words.startswith("a b word")
    assert len(words) <= MOST_SHOWN


def test_of_a_page_only_the_title_is_shown() -> None:
    page = "\n<!DOCTYPE html><html><head><title>502 Bad\nGateway</title></head><body>…"
    assert shown(page, service()) == "502 Bad Gateway"
    assert shown("<html>" * 50, service()) == ""


def caused(cause: BaseException) -> Exception:
    """As the SDKs do it: two errors of their own around the system's."""
    try:
        try:
            raise cause
        except BaseException as inner:
            raise RuntimeError("middle") from inner
    except RuntimeError as middle:
        outer = RuntimeError("Connection error.")
        outer.__cause__ = middle
        return outer


@pytest.mark.parametrize(
    ("cause", "usual", "kind", "names"),
    [
        (TimeoutError(), True, Away, "did not answer in time"),
        (ConnectionRefusedError(), True, Away, "may be down"),
        (ConnectionResetError(), True, Away, "ConnectionResetError"),
        (socket.gaierror(), True, Away, "not found"),
        (socket.gaierror(), False, Away, "mend EXAMPLE_URL"),
        (ssl.SSLError(), True, Away, "SSLError"),
        (ssl.SSLCertVerificationError(), True, Away, "not trusted"),
        (ssl.SSLCertVerificationError(), False, Misconfigured, "SSL_CERT_FILE"),
        (json.JSONDecodeError("x", "y", 0), True, Away, "cannot be read (JSONDecodeError)"),
        (json.JSONDecodeError("x", "y", 0), True, Away, "mend EXAMPLE_URL"),
    ],
)
def test_no_answer_at_all_is_told_by_its_cause(
    cause: BaseException, usual: bool, kind: type[Failure], names: str
) -> None:
    found = failure_of(caused(cause), service(usual=usual), now=NOW)
    assert isinstance(found, kind)
    assert names in found.why


def test_a_local_server_that_is_not_running_is_asked_after() -> None:
    found = unreachable(caused(ConnectionRefusedError()), service(local=True))
    assert isinstance(found, Away)
    assert "is it running? e.g. `ollama serve`" in found.why


@pytest.mark.parametrize("key", ["", "two words", "sk-…", "line\nbreak", "ключ"])
def test_a_key_that_cannot_be_one_is_not_sent(key: str) -> None:
    found = unusable(service(key=key))
    assert found is not None
    assert "EXAMPLE_KEY" in found.why
    assert not key or key not in found.why


def test_a_plain_key_is_sent() -> None:
    assert unusable(service()) is None
