"""What the errors of HTTP APIs mean: one table, tested with the words that servers use."""

import json
import socket
import ssl
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from aforesaid.clock import DAY, MINUTE, SECOND
from aforesaid.model.requests import Failure, Misconfigured, RateLimited, Refused, Unavailable
from aforesaid.providers.errors import (
    MOST_SHOWN,
    Service,
    classify,
    failure_from,
    key_problem,
    retry_time,
    server_message,
)
from tests.support.tables import loop_over

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
        default_address=usual,
        secrets=(key,) if key else (),
    )


def failure(status: int, body: object = None, **headers: str) -> Failure:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return classify(status, named, body, service(), now=NOW)


@loop_over(
    ("status", "kind", "names"),
    [
        (400, Refused, "refuses this request"),
        (401, Misconfigured, "EXAMPLE_KEY"),
        (402, Misconfigured, "no credit"),
        (403, Misconfigured, "EXAMPLE_KEY"),
        (404, Misconfigured, "`synthesis.model`"),
        (405, Misconfigured, "check EXAMPLE_URL"),
        (407, Misconfigured, "HTTPS_PROXY"),
        (301, Misconfigured, "check EXAMPLE_URL"),
        (408, Unavailable, "408"),
        (409, Unavailable, "409"),
        (413, Refused, "413"),
        (418, Refused, "418"),
        (422, Refused, "422"),
        (429, Unavailable, "rate limit"),
        (500, Unavailable, "500"),
        (502, Unavailable, "502"),
        (503, Unavailable, "503"),
        (529, Unavailable, "529"),
        (599, Unavailable, "599"),
        (777, Refused, "777"),
    ],
)
def test_a_status_alone_says_what_to_do(status: int, kind: type[Failure], names: str) -> None:
    found = failure(status)
    assert isinstance(found, kind)
    assert names in found.why


@loop_over(
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
        (
            429,
            {"status": "RESOURCE_EXHAUSTED", "message": "plan and billing"},
            Unavailable,
            "rate limit",
        ),
    ],
)
def test_what_it_says_comes_before_its_status(
    status: int, error: dict[str, Any], kind: type[Failure], names: str
) -> None:
    for body in ({"error": error}, [{"error": error}], error):
        found = failure(status, body)
        assert isinstance(found, kind), found
        assert names in found.why


@loop_over(
    ("error", "kind"),
    [
        ({"type": "overloaded_error"}, Unavailable),
        ({"type": "api_error"}, Unavailable),
        ({"code": 502, "message": "upstream"}, Unavailable),
        ({"code": "429"}, Unavailable),
        ({"type": "rate_limit_error"}, Unavailable),
        ({"type": "authentication_error"}, Misconfigured),
        ({"type": "billing_error"}, Misconfigured),
        ({"type": "invalid_request_error"}, Refused),
        ({"type": "something_new"}, Unavailable),
        ("words alone", Unavailable),
    ],
)
def test_an_error_in_the_middle_of_a_stream_has_a_code_of_its_own(
    error: object, kind: type[Failure]
) -> None:
    assert isinstance(failure(200, {"type": "error", "error": error}), kind)


@loop_over(
    ("headers", "until"),
    [
        ({"retry-after": "30"}, NOW + 30 * SECOND),
        ({"Retry-After": "1.5"}, NOW + 1_500),
        ({"retry-after-ms": "2500", "retry-after": "9"}, NOW + 2_500),
        ({"retry-after": "Tue, 14 Nov 2023 22:15:20 GMT"}, NOW + 2 * MINUTE),
        ({"retry-after": "0"}, NOW + SECOND),
        ({"retry-after": "Tue, 14 Nov 2023 20:00:00 GMT"}, NOW + SECOND),
        ({"retry-after": "99999999"}, NOW + DAY),
    ],
)
def test_a_limit_is_waited_for_as_long_as_the_server_asks(
    headers: dict[str, str], until: int
) -> None:
    found = classify(429, headers, None, service(), now=NOW)
    assert isinstance(found, RateLimited)
    assert found.until == until


@loop_over("value", ["", "soon", "-5", "nan", "inf", "1e999", "12 parsecs"])
def test_a_limit_without_a_time_is_tried_again_like_any_trouble(value: str) -> None:
    assert isinstance(failure(429, None, retry_after=value), Unavailable)


HEADER_NAMES = st.sampled_from(["retry-after", "retry-after-ms"])
VALUES = st.text(max_size=20) | st.floats().map(str) | st.integers().map(str) | st.dates().map(str)


@given(st.dictionaries(HEADER_NAMES, VALUES))
def test_no_header_makes_it_raise_or_wait_longer_than_a_day(headers: dict[str, str]) -> None:
    until = retry_time(headers, NOW)
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
    found = classify(status, {}, body, service(), now=NOW)
    assert isinstance(found, Unavailable | RateLimited | Misconfigured | Refused)
    assert "{" not in found.why.partition("It said")[0]


def test_a_key_is_never_shown_wherever_it_hides() -> None:
    for words in (KEY, f"x {KEY}.", f"sk-\x00test-{KEY[8:]}", "y" * 190 + KEY, f"Bearer {KEY}"):
        assert "0123456789" not in server_message(words, service())
        assert "0123456789" not in failure(401, {"error": {"message": words}}).why
    assert "another-key-0123456789" not in server_message("sk-another-key-0123456789", service())


def test_a_servers_words_are_short_and_on_one_line() -> None:
    words = server_message("a\x1b[31m\n\tb " + "word " * 5_000, service())
    assert words.startswith("a b word")
    assert len(words) <= MOST_SHOWN


def test_of_a_page_only_the_title_is_shown() -> None:
    page = "\n<!DOCTYPE html><html><head><title>502 Bad\nGateway</title></head><body>…"
    assert server_message(page, service()) == "502 Bad Gateway"
    assert server_message("<html>" * 50, service()) == ""


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


@loop_over(
    ("cause", "usual", "kind", "names"),
    [
        (TimeoutError(), True, Unavailable, "did not answer in time"),
        (ConnectionRefusedError(), True, Unavailable, "may be down"),
        (ConnectionResetError(), True, Unavailable, "ConnectionResetError"),
        (socket.gaierror(), True, Unavailable, "not found"),
        (socket.gaierror(), False, Unavailable, "check EXAMPLE_URL"),
        (ssl.SSLError(), True, Unavailable, "SSLError"),
        (ssl.SSLCertVerificationError(), True, Unavailable, "not trusted"),
        (ssl.SSLCertVerificationError(), False, Misconfigured, "SSL_CERT_FILE"),
        (json.JSONDecodeError("x", "y", 0), True, Unavailable, "cannot be read (JSONDecodeError)"),
        (json.JSONDecodeError("x", "y", 0), True, Unavailable, "check EXAMPLE_URL"),
    ],
)
def test_no_answer_at_all_is_told_by_its_cause(
    cause: BaseException, usual: bool, kind: type[Failure], names: str
) -> None:
    found = failure_from(caused(cause), service(usual=usual), now=NOW)
    assert isinstance(found, kind)
    assert names in found.why


def test_a_local_server_that_is_not_running_is_asked_after() -> None:
    found = failure_from(caused(ConnectionRefusedError()), service(local=True), now=NOW)
    assert isinstance(found, Unavailable)
    assert "is it running? e.g. `ollama serve`" in found.why


@loop_over("key", ["", "two words", "sk-…", "line\nbreak", "ключ"])
def test_a_key_that_cannot_be_one_is_not_sent(key: str) -> None:
    found = key_problem(service(key=key))
    assert found is not None
    assert "EXAMPLE_KEY" in found.why
    assert not key or key not in found.why


def test_a_plain_key_is_sent() -> None:
    assert key_problem(service()) is None
