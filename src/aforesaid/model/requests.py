"""A question to a language model, its reply, and the ways in which there is none."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, assert_never

from aforesaid.ids import digest


@dataclass(frozen=True)
class Request:
    """`system` and `examples` (question, answer) are the same in every request, for caching."""

    system: str
    examples: tuple[tuple[str, str], ...]
    message: str
    most_tokens: int  # of the reply

    @property
    def texts(self) -> tuple[str, ...]:
        """Everything that is sent."""
        return (self.system, *(text for pair in self.examples for text in pair), self.message)

    @cached_property
    def static_digest(self) -> str:
        return digest("\0".join(self.texts[:-1]))

    @cached_property
    def digest(self) -> str:
        return digest(f"{self.static_digest}\0{self.message}", 32)


@dataclass(frozen=True, slots=True)
class Usage:
    """`sent` counts all input tokens; `cached` of them were read from the provider's cache and `written`
    of them were put there. `microdollars`: the cost that the provider reported. `estimated`: it did
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
class Unavailable:
    """Worth another try after a pause. `partial`: what had arrived; `usage`: what was paid."""

    why: str
    partial: Reply | None = None
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class RateLimited:
    """A quota or a rate limit: nothing will be answered before `until`. `usage`: what was paid for."""

    why: str
    until: int
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class Misconfigured:
    """Only the user can fix it: a key, a model's name, a package. `why` names the fix."""

    why: str


@dataclass(frozen=True, slots=True)
class Refused:
    """This one request cannot be answered, however often it is sent. `usage`: what the refusal cost."""

    why: str
    usage: Usage | None = None


Failure = Unavailable | RateLimited | Misconfigured | Refused


def usage_of(answer: Reply | Failure) -> Usage | None:
    """What an answer cost, also one that is none."""
    match answer:
        case Reply(usage=usage) | Unavailable(partial=Reply(usage=usage)):
            return usage
        case Unavailable(usage=spent) | RateLimited(usage=spent) | Refused(usage=spent):
            return spent
        case Misconfigured():
            return None
        case _:
            assert_never(answer)


OBSERVE, SUMMARIZE, REPAIR = "observe", "summarize", "repair"
SELECT, EXTRACT, DREAM = "select", "extract", "dream"  # of curated memories
ANSWERED, UNUSABLE, FAILED = "answered", "unusable", "failed"
GROUPINGS = ("day", "model", "project", "session", "purpose")


@dataclass(frozen=True, slots=True)
class Entry:
    """One request. `microdollars` is None when the price is not known."""

    at: int
    provider: str
    model: str
    prompts: str
    purpose: str
    digest: str
    session_id: int | None
    job_id: int | None
    outcome: str
    error: str | None
    usage: Usage
    microdollars: int | None
    milliseconds: int
    reply: str | None


class StoredReply(NamedTuple):
    """A reply as the ledger has it: just given, or paid for before a crash that lost its effect."""

    id: int
    text: str


@dataclass(frozen=True, slots=True)
class Spent:
    """Requests added up. `unpriced` of them have no known price."""

    label: str
    requests: int
    sent: int
    cached: int
    received: int
    microdollars: int
    unpriced: int


@dataclass(frozen=True, slots=True)
class Written:
    """What came of the requests of a period: answers without repairs, and what the jobs wrote."""

    answers: int
    observations: int
    summaries: int


@dataclass(frozen=True, slots=True)
class Quality:
    """How well the events support what a model wrote: the share of unverified facts."""

    provider: str
    model: str | None
    observations: int
    facts: int
    unverified: int
