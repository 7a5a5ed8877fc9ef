"""A question to a language model, its reply, and the ways in which there is none."""

from dataclasses import dataclass
from functools import cached_property
from typing import assert_never

from recollect.ids import digest


@dataclass(frozen=True)
class Request:
    """`system` and `examples` are the same in every request of one set-up, so that they can be cached;
    `message` is what this one is about. `examples` are pairs: what was asked, what was answered."""

    system: str
    examples: tuple[tuple[str, str], ...]
    message: str
    most_tokens: int  # of the reply

    @cached_property
    def static_digest(self) -> str:
        return digest("\0".join((self.system, *(t for pair in self.examples for t in pair))))

    @cached_property
    def digest(self) -> str:
        return digest(f"{self.static_digest}\0{self.message}", 32)


@dataclass(frozen=True, slots=True)
class Usage:
    """`sent` counts all input tokens; `cached` of them were read from the provider's cache and `written`
    of them were put there. `microdollars`: what the provider itself said it costs. `estimated`: it did
    not count, so we did."""

    sent: int
    cached: int
    written: int
    received: int
    microdollars: int | None = None
    estimated: bool = False


@dataclass(frozen=True, slots=True)
class Reply:
    """`complete` is false when the token limit cut it off."""

    text: str
    model: str
    usage: Usage
    complete: bool = True


@dataclass(frozen=True, slots=True)
class Away:
    """Overloaded, unreachable or broken just now: worth another try after a pause. `partial` is what had
    arrived before the connection was cut, with its usage; `usage`, what was paid where no text is known."""

    why: str
    partial: Reply | None = None
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class Wait:
    """A quota or a rate limit: nothing will be answered before `until`. `usage`: what was paid for."""

    why: str
    until: int
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class Misconfigured:
    """Only the user can mend it: a key, a model's name, a package. `why` names the fix."""

    why: str


@dataclass(frozen=True, slots=True)
class Refused:
    """This one request cannot be answered, however often it is sent. `usage`: what the refusal cost."""

    why: str
    usage: Usage | None = None


Failure = Away | Wait | Misconfigured | Refused


def paid(answer: Reply | Failure) -> Usage | None:
    """What an answer cost, also one that is none."""
    match answer:
        case Reply(usage=usage) | Away(partial=Reply(usage=usage)):
            return usage
        case Away(usage=spent) | Wait(usage=spent) | Refused(usage=spent):
            return spent
        case Misconfigured():
            return None
        case _:
            assert_never(answer)
