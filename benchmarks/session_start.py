"""What the opening brief costs: with the prepared copy, and asked of a worker that knows a lot."""

import itertools
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from aforesaid import clock, settings, wiring
from aforesaid.agents.claude_code.install import AGENT
from aforesaid.hook.capture import brief_head, brief_name, header
from aforesaid.worker import rpc
from benchmarks import data, rounds, table
from benchmarks.home import PYTHON_PASS, SH_TRUE, Home, temporary, wait_until_idle, worker
from benchmarks.memory import selection
from benchmarks.priority import undisturbed
from benchmarks.rounds import Variant

OBSERVATIONS = 10_000
ROUNDS = 40
QUESTIONS = 200
SESSION = "past-1700000000000"
Prompts = Callable[[int], list[bytes]]


def run(*, quick: bool) -> list[table.Table]:
    observations = OBSERVATIONS // 20 if quick else OBSERVATIONS
    with ExitStack() as stack:
        live, prompts = stack.enter_context(_live(observations))
        dead = stack.enter_context(_prepared(live))
        return [
            _hooks(live, dead, prompts, observations, quick),
            _answers(live, prompts, observations, quick),
        ]


def _hooks(live: Home, dead: Home, prompts: Prompts, observations: int, quick: bool) -> table.Table:
    baseline = Variant("python -I -S -c pass", PYTHON_PASS)
    asked = f"live worker, {observations:,} observations"
    variants = [
        baseline,
        Variant("sh -c true", SH_TRUE),
        Variant(
            "session start, prepared copy, no worker",
            dead.hook("context"),
            _starts,
            before=dead.pretend_starting,
            after=lambda: _check(dead.clear_spool() == 1),
            aim="<= 2.5",
        ),
        Variant(f"session start, {asked}", live.hook("context"), _starts, after=live.settle),
        Variant(f"prompt, {asked}", live.hook("new"), prompts, after=live.settle, aim="<= 4"),
    ]
    for home in (dead, live):
        home.pretend_starting()
        _check(b"additionalContext" in _output(home, "context", data.session_started()))
        home.clear_spool()
    rounds.run(variants, at_once=1, rounds=3 if quick else ROUNDS)
    return table.of_times(
        "Session start and prompt, as the user waits for them", variants, baseline
    )


def _answers(live: Home, prompts: Prompts, observations: int, quick: bool) -> table.Table:
    """Without a hook: what the worker itself needs, over its socket."""
    name = f"The worker's answer at {observations:,} observations"
    found = table.Table(name, ("", "p50 ms", "p95 ms", "most ms", "aim"))
    questions = QUESTIONS // 10 if quick else QUESTIONS
    for label, hook, body, aim in (
        ("to a session start", "context", data.session_started, "<= 50"),
        ("to a prompt", "new", lambda: prompts(1)[0], ""),
    ):
        with undisturbed(int(live.paths.pid_file.read_text())):
            times = [_ask(live, hook, body) for _ in range(questions)]
        cells = (table.median(times), table.p95(times), max(times))
        found.add(label, *(table.ms(cell) for cell in cells), aim)
    return found


def _ask(home: Home, hook: str, body: Callable[[], bytes]) -> float:
    request = b"ask " + header(AGENT, hook, str(home.project)) + body()
    began = time.perf_counter()
    answer = rpc.ask(home.paths, request)
    took = (time.perf_counter() - began) * 1000
    # A prompt is searched for whether or not something is near enough to be told.
    _check(b"additionalContext" in answer or (hook == "new" and answer != b""))
    return took


def _starts(count: int) -> list[bytes]:
    return [data.session_started() for _ in range(count)]


def _asking(prompts: list[str]) -> Prompts:
    """In a session that the store knows, each another one."""
    each = itertools.cycle(prompts)
    return lambda count: [data.prompt_submitted(SESSION, next(each)) for _ in range(count)]


def _output(home: Home, hook: str, payload: bytes) -> bytes:
    command = home.hook(hook)
    return subprocess.run(
        command.argv, env=dict(command.env), input=payload, capture_output=True, check=True
    ).stdout


def _check(holds: bool) -> None:
    assert holds, "the hook did not answer as this row says"


@contextmanager
def _live(observations: int) -> Iterator[tuple[Home, Prompts]]:
    with temporary() as home:
        prompts = data.remember(home, observations)
        _keep_memories(home)
        with worker(home):
            wait_until_idle(home)
            yield home, _asking(prompts)


def _keep_memories(home: Home) -> None:
    """As many as a project that was worked on for long has: a prompt is compared with all of them."""
    held = wiring.memories(
        wiring.Home(home.paths, settings.load(home.paths.config_file, {})),
        str(home.project),
        clock.now,
        {},
    )
    with held.change("kept") as change:
        for project in selection.half(selection.TUNE):
            for stored in project.memories:
                if change.get(stored.memory.name) is None:
                    change.write(stored.memory)


@contextmanager
def _prepared(live: Home) -> Iterator[Home]:
    """A home without a worker that has the live one's brief."""
    with temporary() as home:
        answer = rpc.ask(
            live.paths,
            b"ask " + header(AGENT, "context", str(live.project)) + data.session_started(),
        )
        brief = home.paths.briefs / brief_name(AGENT, str(home.project))
        brief.write_bytes(brief_head(str(home.project)) + b"\0\n" + answer.partition(b"\n")[2])
        yield home
