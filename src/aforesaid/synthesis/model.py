"""Synthesis by a model: one request per turn, its reply stored, parsed, repaired once, and grounded.

A reply is stored before it is parsed. If the worker is killed between a reply and its effect, the next try
reuses the stored reply. Statements without support in the events are kept and marked.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import TypeVar

from aforesaid import log
from aforesaid.agents.base import Agent
from aforesaid.clock import Clock
from aforesaid.ids import digest
from aforesaid.model.jobs import OBSERVE, SUMMARIZE, Job
from aforesaid.model.observations import (
    Author,
    ObservationDraft,
    SummaryDraft,
    SummarySkipped,
    Turn,
)
from aforesaid.model.requests import (
    ANSWERED,
    FAILED,
    REPAIR,
    Entry,
    Failure,
    Refused,
    Reply,
    Request,
    StoredReply,
    Unavailable,
    Usage,
    usage_of,
)
from aforesaid.providers.base import Model, Writer
from aforesaid.store.store import Store
from aforesaid.synthesis import prompt
from aforesaid.synthesis.cost import Budget, Prices, largest_usage
from aforesaid.synthesis.ground import ground_observation, ground_summary
from aforesaid.synthesis.parse import (
    Unusable,
    parse_observations,
    parse_summary,
    shape_draft,
)
from aforesaid.synthesis.turn import build_turn
from aforesaid.text import tokens

NOTHING = Usage(0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Terms:
    """Under which questions are asked at all."""

    prompts: str
    prices: Prices
    budget: Budget


@dataclass(frozen=True, slots=True)
class Requester:
    store: Store
    model: Model
    terms: Terms
    clock: Clock
    session_id: int | None
    job_id: int | None

    def ask(self, request: Request, purpose: str) -> StoredReply | Failure:
        if self.job_id is not None:
            kept = self.store.requests.kept_reply(self.job_id, self._digest(request))
            if kept:
                log.action("model.reused", job=self.job_id, purpose=purpose)
                return kept
        most = largest_usage(request, self.model.name)
        budget, prices = self.terms.budget, self.terms.prices
        if refusal := budget.refusal(self.store, prices, self.model.model, most):
            return refusal
        began = self.clock()
        answer = self.model.ask(request)
        took = self.clock() - began
        outcome = type(answer).__name__.lower()
        number = self.store.requests.add(self._entry(request, purpose, answer, began, took))
        log.action("model.asked", job=self.job_id, purpose=purpose, outcome=outcome, ms=took)
        return StoredReply(number, answer.text) if isinstance(answer, Reply) else answer

    def unusable(self, reply: StoredReply) -> None:
        """Kept as it came, but the next try sends the request again."""
        self.store.requests.mark_unusable(reply.id)

    def _digest(self, request: Request) -> str:
        return digest(f"{self.model.name}\0{self.model.model}\0{request.digest}", 32)

    def _entry(
        self, request: Request, purpose: str, answer: Reply | Failure, at: int, took: int
    ) -> Entry:
        if isinstance(answer, Reply):
            reply: Reply | None = answer
            error = None if answer.complete else "cut off by the token limit"
        else:
            reply = answer.partial if isinstance(answer, Unavailable) else None
            error = answer.why
        usage = usage_of(answer)
        model = reply.model if reply else self.model.model
        price: int | None = 0  # nothing answered, nothing counted: that is no unknown price
        if usage:
            # Else of the one that was asked, whose price the budget went by: a server may have a name of its
            # own for it, and money must not go uncounted for that.
            price = self.terms.prices.microdollars(model, usage)
            if price is None:
                price = self.terms.prices.microdollars(self.model.model, usage)
        return Entry(
            at=at,
            provider=self.model.name,
            model=model,
            prompts=self.terms.prompts,
            purpose=purpose,
            digest=self._digest(request),
            session_id=self.session_id,
            job_id=self.job_id,
            outcome=ANSWERED if isinstance(answer, Reply) else FAILED,
            error=error,
            usage=usage or NOTHING,
            microdollars=price,
            milliseconds=took,
            reply=reply.text if reply else None,
        )


Parsed = TypeVar("Parsed")
SHORTEST_PROMPT = 40  # characters; a shorter one without any event says nothing that lasts


def build_request(turn: Turn, kind: str, style: prompt.Style, budget: int) -> Request | None:
    """None where there is nothing to ask about."""
    if kind == OBSERVE:
        if not turn.events and len(turn.prompt or "") < SHORTEST_PROMPT:
            return None
        return prompt.observe(turn, style, budget)
    if not (turn.events or turn.observed or turn.last_message):
        return None
    return prompt.summarize(turn, style)


@dataclass(frozen=True, slots=True)
class ModelWriter:
    """`asking` puts a question to the model on behalf of one job."""

    asking: Requester
    author: Author
    style: prompt.Style
    budget: int

    def observe(self, turn: Turn) -> tuple[ObservationDraft, ...] | Failure:
        request = build_request(turn, OBSERVE, self.style, self.budget)
        if request is None:
            return ()
        lacking = prompt.EMPTY if prompt.changed_files(turn) else None
        parsed = self._read(request, OBSERVE, parse_observations, lacking)
        if not isinstance(parsed, tuple):
            return parsed
        examples = prompt.example_fields()
        return tuple(ground_observation(shape_draft(draft), turn, examples) for draft in parsed)

    def summarize(self, turn: Turn) -> SummaryDraft | SummarySkipped | Failure:
        request = build_request(turn, SUMMARIZE, self.style, self.budget)
        if request is None:
            return SummarySkipped("nothing was done")
        parsed: SummaryDraft | SummarySkipped | Failure
        parsed = self._read(request, SUMMARIZE, parse_summary)
        if isinstance(parsed, SummaryDraft):
            return ground_summary(parsed, turn, prompt.example_fields())
        return parsed

    def _read(
        self,
        request: Request,
        kind: str,
        parse: Callable[[str], Parsed | Unusable],
        lacking: str | None = None,
    ) -> Parsed | Failure:
        """The reply as values. One that yields nothing where something was due (`lacking` says what) is asked
        for once more. Said twice, nothing is taken for an answer; what cannot be read costs the job a try."""
        answer = self.asking.ask(request, kind)
        if not isinstance(answer, StoredReply):
            return answer
        parsed = parse(answer.text)
        if not isinstance(parsed, Unusable) and (parsed or lacking is None):
            return parsed
        fault = prompt.UNREADABLE if isinstance(parsed, Unusable) else lacking or ""
        # The first answer stays kept until all is stored: after a crash the next try goes on from here.
        repaired = self.asking.ask(prompt.repair(request, answer.text, kind, fault), REPAIR)
        again = parse(repaired.text) if isinstance(repaired, StoredReply) else repaired
        if not isinstance(again, Unusable | Refused):
            return again
        if not isinstance(parsed, Unusable):
            return parsed
        for reply in (answer, repaired):
            if isinstance(reply, StoredReply):
                self.asking.unusable(reply)
        if isinstance(again, Refused):
            return again
        return Refused(f"the model's reply could not be used, also when asked again: {again.why}")


SAMPLE = 100  # jobs of each kind
SPREAD = 0.25


@dataclass(frozen=True, slots=True)
class Estimate:
    """Of a model: requests and tokens; and `low` to `high` observations."""

    requests: int
    sent: int
    received: int
    low: int
    high: int


def estimate(
    store: Store,
    agents: Mapping[str, Agent],
    jobs: Sequence[Job],
    style: prompt.Style,
    budget: int,
    rules: Writer,
) -> Estimate:
    """From a sample of each kind of job: in the queue they alternate. `rules` write at first what a model
    then improves."""
    requests = sent = received = found = 0.0
    (_, summary), (_, observations) = prompt.examples()
    for kind, answer in ((OBSERVE, observations), (SUMMARIZE, summary)):
        same = [job for job in jobs if job.kind == kind]
        sample = same[:: max(1, ceil(len(same) / SAMPLE))]
        scale = len(same) / max(1, len(sample))
        for job in sample:
            session = store.sessions.get(job.session_id)
            assert session is not None, "jobs are deleted with their session"
            if job.kind == OBSERVE and store.jobs.is_last_part(job):
                written = rules.observe(build_turn(store, agents, job, session, whole=True))
                found += scale * len(written) if isinstance(written, tuple) else 0
            turn = build_turn(store, agents, job, session)
            if request := build_request(turn, job.kind, style, budget):
                requests += scale
                sent += scale * sum(map(tokens, request.texts))
                received += scale * tokens(answer)  # as long as the one in the worked example
    low, high = int(found * (1 - SPREAD)), ceil(found * (1 + SPREAD))
    return Estimate(round(requests), round(sent), round(received), low, high)
