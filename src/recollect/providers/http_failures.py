"""What an HTTP API's errors mean to us: one table for every provider that speaks HTTP.

A message is short, names the fix, and carries a little of what the server said, which is untrusted and may
repeat the key: it is cleaned, freed of secrets, then cut.
"""

import re
import socket
import ssl
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from recollect.model.requests import Away, Failure, Misconfigured, Refused, Wait
from recollect.providers import rate_limits
from recollect.providers.scrubbing import scrubbed

DEEPEST_CAUSE = 12
OF_SUCCESS = 200
UNREADABLE = (ValueError, TypeError, AttributeError, LookupError)

TITLE = re.compile(r"<title[^>]*>(.*?)</title", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Service:
    """Who was asked, as a message names it. `usual`: at its own address, not at one the user typed.
    `address_fix`: where the user did."""

    name: str
    place: str
    model: str
    key_fix: str
    address_fix: str
    keyed: bool  # there is a key, or none is needed
    local: bool
    usual: bool
    secrets: tuple[str, ...]

    @property
    def where(self) -> str:
        known = self.place.startswith(self.name)
        return self.place if known else f"{self.name} at {self.place}"


@dataclass(frozen=True, slots=True)
class Told:
    """An error as a server told it. `codes` are its own words for the kind, in one string."""

    status: int
    headers: Mapping[str, str]
    body: object
    message: str
    codes: str


@dataclass(frozen=True, slots=True)
class Row:
    """`says`: what its codes or its message must contain. `why` may use {name}, {where}, {model},
    {key_fix}, {address_fix} and {status}."""

    statuses: Collection[int]
    says: re.Pattern[str] | None
    kind: type[Away] | type[Wait] | type[Misconfigured] | type[Refused]
    why: str


def unusable(service: Service) -> Misconfigured | None:
    """Why it need not even be asked."""
    if not service.keyed:
        return Misconfigured(f"There is no key for {service.name}. Set {service.key_fix}.")
    if any(not (s.isascii() and s.isprintable()) or " " in s for s in service.secrets):
        return Misconfigured(
            f"The key for {service.name} has characters that no key has. Set {service.key_fix}."
        )
    return None


def failure_of(error: BaseException, service: Service, *, now: int) -> Failure:
    """For an error of either SDK, or of anything below it."""
    response = getattr(error, "response", None)
    body = getattr(error, "body", None)
    if response is not None:
        return meaning(told(response.status_code, response.headers, body), service, now=now)
    if body is not None:
        return meaning(told(OF_SUCCESS, {}, body), service, now=now)
    return unreachable(error, service)


def told(status: int, headers: Mapping[str, str], body: object) -> Told:
    """`status` 200: the error came in the middle of a stream and has a code of its own."""
    error = _error_in(body)
    codes = [str(error[name]) for name in ("type", "code", "status", "param") if error.get(name)]
    message = error.get("message") or error.get("detail") or ""
    if status < 300:
        status = next((STATUS_OF[code] for code in codes if code in STATUS_OF), 500)
    return Told(status, headers, body, str(message), " ".join(codes))


def meaning(error: Told, service: Service, *, now: int) -> Failure:
    said = f"{error.codes} {error.message}"[:4_000]
    row = next(
        (
            row
            for row in TABLE
            if error.status in row.statuses and (row.says is None or row.says.search(said))
        ),
        OTHERWISE,
    )
    words = shown(error.message, service)
    why = row.why.format(
        name=service.name,
        where=service.where,
        model=service.model,
        key_fix=service.key_fix,
        address_fix=service.address_fix,
        status=error.status,
    ) + (f" It said: {words}" if words else "")
    if issubclass(row.kind, Wait):
        until = rate_limits.until(error.headers, error.body, now)
        return Away(why) if until is None else Wait(why, until)
    return row.kind(why)


def unreachable(error: BaseException, service: Service) -> Failure:
    """No answer at all. Where the network may be at fault it is `Away`, since networks come back."""
    where = service.where
    causes = tuple(_causes(error))
    if any(isinstance(cause, TimeoutError) for cause in causes):
        return Away(f"{where} did not answer in time.")
    if any(isinstance(cause, ConnectionRefusedError) for cause in causes):
        hint = "is it running? e.g. `ollama serve`" if service.local else "it may be down"
        return Away(f"{where} refuses connections: {hint}.")
    if any(isinstance(cause, socket.gaierror) for cause in causes):
        hint = "" if service.usual else f" If the network is up, mend {service.address_fix}."
        return Away(f"The address of {where} is not found.{hint}")
    if any(isinstance(cause, ssl.SSLCertVerificationError) for cause in causes):
        why = f"The certificate of {where} is not trusted."
        # In a hotel's network that is true of everybody for a while.
        fix = f" Name the authority's file in SSL_CERT_FILE, or mend {service.address_fix}."
        return Away(why) if service.usual else Misconfigured(why + fix)
    kind = type(causes[-1]).__name__
    if any(isinstance(cause, UNREADABLE) for cause in causes):
        return Away(
            f"{where} answered in a form that cannot be read ({kind}). "
            f"If that stays, mend {service.address_fix}."
        )
    return Away(f"The connection to {where} failed ({kind}).")


def shown(words: str, service: Service) -> str:
    """What may be shown of a server's words: of a page, its title."""
    title = TITLE.search(words[:4_000])
    if words.lstrip()[:1] == "<":
        words = title[1] if title else ""
    return scrubbed(words, service.secrets)


def _error_in(body: object) -> dict[str, object]:
    if isinstance(body, list) and body:  # Gemini wraps it in a list
        body = body[0]
    if isinstance(body, dict) and body.get("error"):
        body = body["error"]
    return body if isinstance(body, dict) else {"message": body if isinstance(body, str) else ""}


def _causes(error: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = error
    for _ in range(DEEPEST_CAUSE):
        if cause is None:
            return
        yield cause
        cause = cause.__cause__ or cause.__context__


def _words(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


TOO_LONG = _words(
    r"context[ _](?:length|window|size)", r"prompt is too long", r"too many (?:input )?tokens"
)
NO_CREDIT = _words(
    r"insufficient[_ ](?:quota|credit|balance|funds)",
    r"credit balance",
    r"billing_",
    r"no credits?\b",
)
BILLING = _words(r"\bbilling\b")
BAD_KEY = _words(
    r"api[ _]key (?:not valid|not found|expired)", r"invalid[ _]api[ _]key", r"API_KEY_INV"
)
BAD_MODEL = _words(
    r"model_not_found",
    r"not a valid model",
    r"model\W.{0,80}(?:not found|does not exist|not loaded)",
)
FLAGGED = _words(r"\bflagged\b", r"moderation", r"content[ _](?:policy|filter)")

CREDIT = "There is no credit left at {name}: add some there."
KEY = "{name} does not accept the key ({status}). Set {key_fix}."
LONG = "The request is longer than {model} can take."
NAMES = (
    "{where} does not know the model {model} or this address ({status}). "
    "Set `synthesis.model` with `recollect config set`, or mend {address_fix}."
)
NO = "{name} refuses this request ({status})."

# The first row that fits. What a server says comes before its status where servers disagree about those.
TABLE = (
    Row((400, 413, 422, 500), TOO_LONG, Refused, LONG),
    Row((402,), None, Misconfigured, CREDIT),
    Row((400, 403, 429), NO_CREDIT, Misconfigured, CREDIT),
    Row((400, 403), BILLING, Misconfigured, CREDIT),
    Row((400, 403), FLAGGED, Refused, NO),
    Row((400,), BAD_KEY, Misconfigured, KEY),
    Row((401, 403), None, Misconfigured, KEY),
    Row((400, 422), BAD_MODEL, Misconfigured, NAMES),
    Row((404, 405, 410, *range(300, 400)), None, Misconfigured, NAMES),
    Row((407,), None, Misconfigured, "The proxy wants a password. Put it into HTTPS_PROXY."),
    Row((429,), None, Wait, "{name} limits how often it is asked."),
    Row(
        (408, 409, 425, 499, *range(500, 600)),
        None,
        Away,
        "{name} cannot answer just now ({status}).",
    ),
)
OTHERWISE = Row((), None, Refused, NO)

# For errors in the middle of a stream, whose head said 200.
STATUS_OF = {
    "invalid_request_error": 400,
    "context_length_exceeded": 400,
    "authentication_error": 401,
    "invalid_api_key": 401,
    "billing_error": 402,
    "insufficient_quota": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "model_not_found": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "overloaded_error": 529,
    **{str(status): status for status in range(400, 600)},
}


def rejects(error: Exception, parameter: str) -> bool:
    """Whether a server names a parameter of ours in its refusal."""
    response = getattr(error, "response", None)
    if response is None or response.status_code not in (400, 422):
        return False
    said = told(response.status_code, {}, getattr(error, "body", None))
    # A request that is too long is told in terms of `max_tokens`, too, and doing without does not help.
    if TOO_LONG.search(f"{said.codes} {said.message}"):
        return False
    return parameter in f"{said.codes} {said.message or said.body}"
