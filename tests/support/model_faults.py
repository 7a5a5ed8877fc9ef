"""The ways in which an HTTP API fails, and what each provider must make of them."""

from dataclasses import dataclass

from aforesaid.model.requests import Failure, Misconfigured, RateLimited, Refused, Unavailable
from tests.support.scripted_models import Bytes, Raw, Status, Step


@dataclass(frozen=True, slots=True)
class Fault:
    """A step of the script, the failure it must become, and words of its message."""

    name: str
    step: Step
    kind: type[Failure]
    words: str


FAULTS = (
    Fault("bad request", Status(400), Refused, "scripted 400"),
    Fault(
        "too long",
        Status(400, body='{"error": {"message": "prompt is too long: 9 tokens"}}'),
        Refused,
        "longer than",
    ),
    Fault("wrong key", Status(401), Misconfigured, "synthesis.api_key"),
    Fault("no permission", Status(403), Misconfigured, "synthesis.api_key"),
    Fault("unknown model", Status(404), Misconfigured, "Set `synthesis.model`"),
    Fault("must pay", Status(402), Misconfigured, "no credit"),
    Fault(
        "no quota",
        Status(429, {"retry-after": "5"}, '{"error": {"type": "insufficient_quota"}}'),
        Misconfigured,
        "no credit",
    ),
    Fault("slow", Status(408), Unavailable, "408"),
    Fault("conflict", Status(409), Unavailable, "409"),
    Fault("too large", Status(413), Refused, "413"),
    Fault("limited", Status(429), Unavailable, "rate limit"),
    Fault("limited for a while", Status(429, {"retry-after": "30"}), RateLimited, "rate limit"),
    Fault("broken", Status(500), Unavailable, "500"),
    Fault("bad gateway", Status(502, {"content-type": "text/html"}, "<p>"), Unavailable, "502"),
    Fault("overloaded", Status(529), Unavailable, "529"),
    Fault("an error without a body", Status(500, body=""), Unavailable, "500"),
    Fault("an error that is not JSON", Status(400, body="{{{"), Refused, "400"),
    Fault("an error that is a list", Status(503, body="[[], 1]"), Unavailable, "503"),
    Fault("a redirect to nowhere", Status(302), Misconfigured, "or this address"),
    Fault("nothing", Raw(b""), Unavailable, "broke off"),
    Fault(
        "a page", Raw(b"<html><body>Log in</body></html>", "text/html"), Unavailable, "broke off"
    ),
    Fault("not JSON", Raw(b"event: message_start\ndata: {nope\n\n"), Unavailable, "cannot be read"),
    Fault(
        "JSON of the wrong shape",
        Raw(b'event: message_start\ndata: {"type": "message_start", "choices": [7]}\n\n'),
        Unavailable,
        "cannot be read",
    ),
    Fault("not even text", Raw(bytes(range(256)) * 40), Unavailable, ""),
    Fault("a wrong type", Raw(b"\x00\xff" * 99, "image/png"), Unavailable, ""),
    Fault("not HTTP", Bytes(b"SSH-2.0-OpenSSH_9.6\r\n"), Unavailable, "failed"),
    Fault("hung up", Bytes(b""), Unavailable, "failed"),
    Fault(
        "a head that never ends",
        Bytes(b"HTTP/1.1 200 OK\r\n" + b"x-filler: 0123456789\r\n" * 20_000),
        Unavailable,
        "failed",
    ),
    Fault(
        "a length that lies",
        Bytes(b"HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n"),
        Unavailable,
        "",
    ),
    Fault(
        "an encoding that lies",
        Bytes(b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 4\r\n\r\nabcd"),
        Unavailable,
        "",
    ),
)
