"""What working up some jobs would take, told beforehand: requests, tokens, and what comes of them.

The requests are written as they would be, for a sample if there are many, and counted instead of sent.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil

from recollect.agents.protocol import Agent
from recollect.model.jobs import OBSERVE, SUMMARIZE, Job
from recollect.model.ledger import Spent, Written
from recollect.model.requests import Request
from recollect.model.turns import Turn
from recollect.providers.protocol import Observed, Writer
from recollect.store.protocol import Reading
from recollect.synthesis import prompting, turns
from recollect.synthesis.by_model import SHORTEST_PROMPT
from recollect.text import tokens

SAMPLE = 100  # jobs of each kind
ENOUGH_ANSWERS = 20  # of the past, to judge the future by
# Observations for each part of a turn, by how much is to be written.
THUMB = {"minimal": (0.0, 1.0), "normal": (1.0, 2.0), "verbose": (1.0, 4.0)}
SPREAD = 0.25


@dataclass(frozen=True, slots=True)
class Needs:
    """`found`: observations that the rules find. `sampled`: some jobs stood for all."""

    requests: int
    observing: int
    sent: int
    received: int
    found: int
    sampled: bool


@dataclass(frozen=True, slots=True)
class Expected:
    low: int
    high: int
    basis: str


def needs(
    store: Reading,
    agents: Mapping[str, Agent],
    jobs: Sequence[Job],
    style: prompting.Style,
    budget: int,
    rules: Writer,
) -> Needs:
    """Each kind by a sample of its own: in the queue they alternate."""
    kinds = [[job for job in jobs if job.kind == kind] for kind in (OBSERVE, SUMMARIZE)]
    samples = [same[:: max(1, ceil(len(same) / SAMPLE))] for same in kinds]
    requests, sent, received = [0.0, 0.0], 0.0, 0.0
    found = 0.0
    for which, (same, sample) in enumerate(zip(kinds, samples, strict=True)):
        scale = len(same) / max(1, len(sample))
        for job in sample:
            turn = _turn(store, agents, job)
            if job.kind == OBSERVE:
                written = rules.observe(turn)
                found += scale * len(written.drafts) if isinstance(written, Observed) else 0
            request = _request(turn, job.kind, style, budget)
            if request is not None:
                requests[which] += scale
                sent += scale * _size(request)
                received += scale * _reply(job.kind)
    sampled = any(len(s) < len(same) for s, same in zip(samples, kinds, strict=True))
    observing = round(requests[0])
    total = observing + round(requests[1])
    return Needs(total, observing, round(sent), round(received), round(found), sampled)


def expected(
    needs: Needs, *, by_rules: bool, verbosity: str, past: Written, spent: Spent
) -> tuple[Needs, Expected]:
    """Observations; and the needs, corrected by how long past answers were."""
    if past.answers >= ENOUGH_ANSWERS:
        needs = replace(needs, received=spent.received * needs.requests // past.answers)
    if by_rules:
        # Told twice, a thing is kept once.
        fewest = int(needs.found * (1 - SPREAD))
        most = ceil(needs.found * (1 + SPREAD)) if needs.sampled else needs.found
        basis = "what the rules find in a sample" if needs.sampled else "what the rules find"
        return needs, Expected(fewest, most, basis)
    observed = past.answers - past.summaries
    if past.answers >= ENOUGH_ANSWERS and observed > 0:
        each = past.observations / observed
        low, high = each * (1 - SPREAD), each * (1 + SPREAD)
        basis = f"{past.observations} from {observed} parts of turns so far"
    else:
        low, high = THUMB[verbosity]
        basis = f"a rule of thumb: {low:.0f} to {high:.0f} for each part of a turn"
    return needs, Expected(int(low * needs.observing), ceil(high * needs.observing), basis)


def _turn(store: Reading, agents: Mapping[str, Agent], job: Job) -> Turn:
    session = store.session(job.session_id)
    assert session is not None, "jobs are deleted with their session"
    return turns.build(store, agents, job, session)


def _request(turn: Turn, kind: str, style: prompting.Style, budget: int) -> Request | None:
    """None where no model is asked."""
    if kind == OBSERVE:
        if not turn.events and len(turn.prompt or "") < SHORTEST_PROMPT:
            return None
        return prompting.observe(turn, style, budget)
    if not turn.events and not turn.last_message:
        return None
    return prompting.summarize(turn, style)


def _size(request: Request) -> int:
    texts = (request.system, request.message, *(t for pair in request.examples for t in pair))
    return sum(map(tokens, texts))


def _reply(kind: str) -> int:
    """As long as the answer in the worked example."""
    (_, summary), (_, observations) = prompting.examples()
    return tokens(observations if kind == OBSERVE else summary)
