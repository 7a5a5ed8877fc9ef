"""What a scripted model can do with a request: answer, or fail in one of the ways in which servers fail."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Say:
    """A reply with a reason to stop of its own (`max_tokens`, `length`, `refusal`, `content_filter`), or
    with a pause between its pieces. `thoughts` come first, as reasoning and not as text."""

    text: str
    stop: str | None = None
    pause: float = 0.0
    thoughts: str = ""


@dataclass(frozen=True, slots=True)
class Status:
    """An error before anything was answered. `body` None: as the API in question words it."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str | None = None


@dataclass(frozen=True, slots=True)
class Cut:
    """The text, then the connection is gone. `clean`: the stream ends properly, but has no end of its own."""

    text: str
    clean: bool = False


@dataclass(frozen=True, slots=True)
class Hang:
    """Nothing more comes: not even a head, or with `after`, not a byte after that text."""

    after: str | None = None


@dataclass(frozen=True, slots=True)
class Broken:
    """An error told in the middle of a stream, after that text."""

    text: str
    error: Json


@dataclass(frozen=True, slots=True)
class Raw:
    """Any bytes as the body of a 200."""

    data: bytes
    content_type: str = "text/event-stream"


@dataclass(frozen=True, slots=True)
class Bytes:
    """Any bytes at all, where HTTP was expected."""

    data: bytes


Step = str | Say | Status | Cut | Hang | Broken | Raw | Bytes | Callable[[Json], "Step"]
