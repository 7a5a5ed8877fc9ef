"""Errors of HTTP providers as `Failure` values: one table for every provider.

Messages name the fix and quote a little of what the server said. That text is untrusted and may contain the
key, so it is cleaned, scrubbed and cut.
"""

import re
import socket
import ssl
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from pathlib import Path

from aforesaid import text
from aforesaid.clock import DAY, SECOND
from aforesaid.model.requests import Failure, Misconfigured, RateLimited, Refused, Unavailable

MOST_SHOWN = 200  # characters of a server's message
DEEPEST_CAUSE = 12
UNREADABLE = (ValueError, TypeError, AttributeError, LookupError)
TITLE = re.compile(r"<title[^>]*>(.*?)</title", re.IGNORECASE | re.DOTALL)
LOOKS_LIKE_A_KEY = re.compile(r"\b(?:sk|key|AIza)[-\w]{16,}|(?<=Bearer )\S+")


@dataclass(frozen=True, slots=True)
class Service:
    """The server that was asked, for messages. `default_address`: the user has not set another one.
    `address_fix`: where it is set."""

    name: str
    place: str
    model: str
    key_fix: str
    address_fix: str
    keyed: bool  # there is a key, or none is needed
    local: bool
    default_address: bool
    secrets: tuple[str, ...]

    @property
    def where(self) -> str:
        known = self.place.startswith(self.name)
        return self.place if known else f"{self.name} at {self.place}"


# The first match wins; what a server says comes before its status where servers disagree about those.
KINDS = {kind.__name__: kind for kind in (Misconfigured, RateLimited, Refused, Unavailable)}
TABLE = [
    (heading.split(), "".join(pattern), why)
    for heading, (why, *pattern) in text.load_sections(
        Path(__file__).with_name("errors.txt")
    ).items()
]
TOO_LONG = TABLE[0][1]
# For errors in the middle of a stream, whose status was 200. Others are the server's fault.
STATUS_OF = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "rate_limit_error": 429,
    **{str(status): status for status in range(400, 600)},
}


def key_problem(service: Service) -> Misconfigured | None:
    if not service.keyed:
        return Misconfigured(f"There is no key for {service.name}. Set {service.key_fix}.")
    if any(not (s.isascii() and s.isprintable()) or " " in s for s in service.secrets):
        return Misconfigured(
            f"The key for {service.name} has characters that no key has. Set {service.key_fix}."
        )
    return None


def failure_from(error: BaseException, service: Service, *, now: int) -> Failure:
    """For an exception of either SDK, or of anything below it."""
    response, body = getattr(error, "response", None), getattr(error, "body", None)
    if response is not None:
        return classify(response.status_code, response.headers, body, service, now=now)
    if body is not None:
        return classify(200, {}, body, service, now=now)
    return _connection_failure(error, service)


def classify(
    status: int, headers: Mapping[str, str], body: object, service: Service, *, now: int
) -> Failure:
    """With status 200 the error came in the middle of a stream, with a code of its own."""
    codes, message = _read_body(body)
    if status < 300:
        status = next((STATUS_OF[code] for code in codes if code in STATUS_OF), 500)
    said = f"{' '.join(codes)} {message}"[:4_000]
    (name, *_), why = next(
        (heading, why)
        for heading, pattern, why in TABLE
        if {str(status), f"{status // 100}xx", "*"} & set(heading)
        and re.search(pattern, said, re.IGNORECASE)
    )
    kind, why = KINDS[name], why.format(service, status)
    if words := server_message(message, service):
        why += f" It said: {words}"
    if kind is RateLimited:
        until = retry_time(headers, now)
        return Unavailable(why) if until is None else RateLimited(why, until)
    return kind(why)  # type: ignore[call-arg]  # only RateLimited needs more


def _read_body(body: object) -> tuple[list[str], str]:
    """The server's own names for the kind of error, and its message."""
    error = body
    if isinstance(error, list) and error:  # Gemini wraps it in a list
        error = error[0]
    if isinstance(error, dict) and error.get("error"):
        error = error["error"]
    if not isinstance(error, dict):
        return [], error if isinstance(error, str) else ""
    codes = [str(error[name]) for name in ("type", "code", "status", "param") if error.get(name)]
    return codes, str(error.get("message") or error.get("detail") or "")


# Without a response. `Unavailable` wherever the network may be at fault.
CONNECTION: tuple[tuple[tuple[type[BaseException], ...], str], ...] = (
    ((TimeoutError,), "{0.where} did not answer in time."),
    ((ConnectionRefusedError,), "{0.where} refuses connections: {1}."),
    ((socket.gaierror,), "The address of {0.where} is not found."),
    ((ssl.SSLCertVerificationError,), "The certificate of {0.where} is not trusted."),
    (UNREADABLE, "{0.where} answered in a form that cannot be read ({2})."),
    ((BaseException,), "The connection to {0.where} failed ({2})."),
)


def _connection_failure(error: BaseException, service: Service) -> Failure:
    causes = [error]
    while (cause := causes[-1].__cause__ or causes[-1].__context__) and len(causes) < DEEPEST_CAUSE:
        causes.append(cause)
    kinds, why = next(row for row in CONNECTION if any(isinstance(c, row[0]) for c in causes))
    hint = "is it running? e.g. `ollama serve`" if service.local else "it may be down"
    why = why.format(service, hint, type(causes[-1]).__name__)
    if kinds == UNREADABLE or (socket.gaierror in kinds and not service.default_address):
        why += f" If that persists, check {service.address_fix}."
    if ssl.SSLCertVerificationError in kinds and not service.default_address:
        # A captive portal causes that for every address, for a while; here it is more likely the address.
        return Misconfigured(
            f"{why} Set SSL_CERT_FILE to the authority's file, or check {service.address_fix}."
        )
    return Unavailable(why)


def rejects(error: Exception, parameter: str) -> bool:
    """Whether a server names a parameter of ours in its refusal."""
    response, body = getattr(error, "response", None), getattr(error, "body", None)
    if response is None or response.status_code not in (400, 422):
        return False
    codes, message = _read_body(body)
    said = f"{' '.join(codes)} {message or body}"
    # A request that is too long is reported in terms of `max_tokens`, too; omitting it does not help.
    return parameter in said and not re.search(TOO_LONG, said, re.IGNORECASE)


def server_message(words: str, service: Service) -> str:
    """What may be shown of a server's message: of an HTML page, its title."""
    if words.lstrip()[:1] == "<":
        title = TITLE.search(words[:4_000])
        words = title[1] if title else ""
    return scrub_message(words, service.secrets)


def scrub_message(words: str, secrets: Iterable[str] = ()) -> str:
    """One short line without keys. Cleaned first, since control characters may split a key; cut last,
    since half a key is not recognised."""
    plain = text.one_line(words, MOST_SHOWN * 8)
    for secret in filter(None, secrets):
        plain = plain.replace(secret, text.ELLIPSIS)
    return text.one_line(LOOKS_LIKE_A_KEY.sub(text.ELLIPSIS, plain), MOST_SHOWN)


LONGEST_WAIT = DAY  # a wrong clock or a broken header must not block the queue for a year


def retry_time(headers: Mapping[str, str], now: int) -> int | None:
    """When to retry, as the server asks for it in `Retry-After`: seconds or a date."""
    lower = {name.lower(): value for name, value in headers.items()}
    for name, scale in (("retry-after-ms", 1), ("retry-after", SECOND)):
        with suppress(ValueError, OverflowError):
            delay = float(lower.get(name, "")) * scale
            if 0 <= delay < float("inf"):
                return now + round(min(max(delay, SECOND), LONGEST_WAIT))
    with suppress(ValueError, TypeError, OverflowError):
        at = parsedate_to_datetime(lower.get("retry-after", "")).timestamp() * SECOND
        return round(min(max(at, now + SECOND), now + LONGEST_WAIT))
    return None
