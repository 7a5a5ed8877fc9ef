"""What remembering costs in tokens: one growing conversation with a turn per tool call, against ours.

The same events of a recorded session go through both, counted by the same rule. Our side is the real one:
store, jobs, prompts; only the model is scripted.
"""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from aforesaid import clock, wiring
from aforesaid.ids import lease_name
from aforesaid.model.events import Arrival, Capture, Event, PromptSubmitted, TurnEnded
from aforesaid.model.observations import Author
from aforesaid.model.requests import Reply, Request, Usage
from aforesaid.repository import Identity, Repository
from aforesaid.store.store import Store
from aforesaid.synthesis.cost import Budget, Prices
from aforesaid.synthesis.model import Terms
from aforesaid.synthesis.prompt import VERSION, Style
from aforesaid.text import tokens
from aforesaid.wiring import Choice
from aforesaid.worker.context import Context
from aforesaid.worker.jobs import JobRunner
from benchmarks import table, transcript

# Characters of the prompts of the flow that we compare with: at its start, around each tool call, and
# for a summary. Its replies are one sentence each.
FIRST, EACH, SUMMARY, REPLY = 2_084, 757, 1_777, 240
WINDOW = 200_000  # tokens; a conversation that is longer has to be cut
CALLS_PER_OBSERVATION = 5
REQUEST_TOKENS = 6_000
OBSERVATION = """<observation><type>change</type><title>Step {number} of the work</title>
<subtitle>One of the results of this session.</subtitle><facts><fact>Step {number} was made.</fact></facts>
<narrative>Step {number} was made in this session.</narrative><concepts><concept>work</concept></concepts>
</observation>"""


def run(*, quick: bool, file: Path | None) -> list[table.Table]:
    del quick  # nothing is timed
    if file is None:
        return [_skipped()]
    root = transcript.directory(file)
    found = transcript.events(transcript.payloads(file), root)
    calls = [(c, e) for c, e in found if e.kind == "tool" and not _boring(e)]
    grown, windowed = _conversation(found)
    model = Scripted(len(calls))
    observations = _ours(found, root, model)
    title = f"Input tokens for the {len(calls)} tool calls of {file.name[:13]}…"
    made = table.Table(title, ("", "requests", "input tokens", "per observation", "x ours", "aim"))
    ours = sum(tokens_of(request) for request in model.requests)
    rows = (
        ("one conversation, a turn per tool call", len(calls), grown, ""),
        (f"the same, cut to {WINDOW:,} tokens", len(calls), windowed, ">= 20"),
        ("aforesaid", len(model.requests), ours, ""),
    )
    for name, requests, sent, aim in rows:
        each = f"{sent / observations:,.0f}"
        made.add(name, f"{requests:,}", f"{sent:,}", each, f"{sent / ours:.1f}", aim)
    static = sum(tokens_of(r) - tokens(r.message) for r in model.requests)
    made.notes.append(
        f"{observations} observations; aim below 2,500 input tokens each. {static:,} of ours are the same in "
        "every request and can be cached."
    )
    return [made]


def _skipped() -> table.Table:
    made = table.Table("Input tokens of a recorded session", ("",))
    made.notes.append("Left out: name a transcript with --transcript FILE.")
    return made


@dataclass(slots=True)
class Scripted:
    """Answers one observation for every five tool calls it is told of, and a short summary."""

    calls: int
    requests: list[Request] = field(default_factory=list)
    name: str = "scripted"
    model: str = "scripted"
    longest_seconds: float = 1.0
    _told: int = 0
    _numbers: "count[int]" = field(default_factory=lambda: count(1))

    def ask(self, request: Request) -> Reply:
        self.requests.append(request)
        if request.message.endswith("Write the summary."):
            text = "<summary><request>Go on.</request><completed>Done.</completed></summary>"
        else:
            text = self._observations(request.message)
        return Reply(text, self.model, Usage(tokens_of(request), 0, 0, tokens(text)))

    def _observations(self, message: str) -> str:
        events = sum(line.startswith("[") and "] " in line[:8] for line in message.splitlines())
        due = (self._told % CALLS_PER_OBSERVATION + events) // CALLS_PER_OBSERVATION
        self._told += events
        texts = [OBSERVATION.format(number=next(self._numbers)) for _ in range(due)]
        return "\n".join(texts) or "<none/>"

    def close(self) -> None: ...


def tokens_of(request: Request) -> int:
    pairs = (text for pair in request.examples for text in pair)
    return sum(map(tokens, (request.system, request.message, *pairs)))


def _conversation(found: list[tuple[Capture, Event]]) -> tuple[int, int]:
    """(as it grows, cut to the window): the sum over all requests of everything said so far."""
    history = FIRST // 4
    grown = windowed = 0
    for capture, event in found:
        if event.kind == "tool" and not _boring(event):
            history += EACH // 4 + tokens(capture.body.decode())
        elif isinstance(event.what, TurnEnded):
            history += SUMMARY // 4
        else:
            continue
        grown += history
        windowed += min(history, WINDOW)
        history += REPLY // 4
    return grown, windowed


def _boring(event: Event) -> bool:
    return event.tool in ("Glob", "Grep", "ToolSearch", "ListMcpResourcesTool")


def _ours(found: list[tuple[Capture, Event]], root: str, model: Scripted) -> int:
    """How many observations were stored."""
    with replayed(root) as (store, project):
        work = runner(store, scripted_choice(model))
        for capture, event in found:
            store.events.add([Arrival(capture, event, project, _boring(event))], capture.at)
            if isinstance(event.what, PromptSubmitted | TurnEnded):
                work.run_due(lambda: True)
        work.run_due(lambda: True)
        return store.health().observations


@contextmanager
def replayed(root: str) -> Iterator[tuple[Store, int]]:
    """An empty store, and the project that a recording goes into."""
    with tempfile.TemporaryDirectory(prefix="aforesaid-bench-") as folder:
        store = Store(Path(folder, "memory.db"), writer=True)
        try:
            repository = Repository("replayed", root, (Identity("path", f"path:{root}"),))
            yield store, store.projects.resolve(repository, root, clock.now())
        finally:
            store.close()


def scripted_choice(model: Scripted) -> Choice:
    terms = Terms(VERSION, Prices.of(()), Budget(0, 0, clock.now))
    return Choice(
        Author(model.name, model.model, VERSION),
        "bench",
        model=model,
        terms=terms,
        style=Style(),
        request_tokens=REQUEST_TOKENS,
    )


def runner(store: Store, choice: Choice) -> JobRunner:
    context = Context(wiring.home(), store, clock.now, choice=choice)
    return JobRunner(context, holder=lease_name(), lease=60_000)
