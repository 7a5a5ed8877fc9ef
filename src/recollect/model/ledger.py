"""The ledger: every request to a model, with its reply as it came and what it cost."""

from dataclasses import dataclass

from recollect.model.requests import Usage

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


@dataclass(frozen=True, slots=True)
class Kept:
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
    """What came of the requests of some time: how many were answered, repairs not counted, and what the
    jobs that they were made for have left."""

    answers: int
    observations: int
    summaries: int


@dataclass(frozen=True, slots=True)
class Quality:
    """How well a model's words are borne out by the events: the share of doubted facts."""

    provider: str
    model: str | None
    observations: int
    facts: int
    doubted: int
