"""Success and failure as a reply tells them, held against how the commands went. English only.

What the user or the agent said about an outcome proves nothing here; exit codes and tallies do. A sentence
that hopes, asks or looks back is no claim, and where the outcome was not seen nothing is contradicted.
"""

import re
from collections.abc import Iterable, Iterator

from recollect import text
from recollect.model.events import OtherTool, ToolUsed
from recollect.providers.reading.commands import CHECKS
from recollect.providers.reading.steps import Run
from recollect.synthesis.grounding.assertions import (
    COUNT,
    DELIVERED,
    FAILED,
    HEDGE,
    MENDED,
    NAMED,
    NOUNS,
    PASSED,
    RAN_TESTS,
    REASSURING,
    SAID_BAD,
    SAID_FAILING,
    SAID_GOOD,
    VERIFIED,
    clauses,
)
from recollect.synthesis.grounding.sources import Sources
from recollect.synthesis.grounding.wording import bounded

LOOKS = frozenset(("routine", "run", "server", "deploy"))
OVER = ("passed", "failed", "quiet", "unseen")


def outcome_doubts(prose: str, sources: Sources) -> Iterator[str]:
    for clause in clauses(prose):
        yield from _named_commands(clause, sources)
        plain = clause.replace("`", "")
        if not HEDGE.search(plain):
            yield from _good(plain, sources)
            yield from _bad(plain, sources)
        yield from _counts(plain, sources)


def _good(clause: str, sources: Sources) -> Iterator[str]:
    for kind in NOUNS:
        if SAID_GOOD[kind].search(clause) and (reason := _contradicts(kind, clause, sources)):
            yield reason
        elif MENDED[kind].search(clause) and (red := _last_red(_of(kind, sources.runs))):
            yield _failed(kind, red)
    tests = _of("test", (*sources.runs, *sources.runs_before))
    if RAN_TESTS.search(clause) and not tests and not _reassured(sources):
        yield "no test run in the events"
    if VERIFIED.search(clause):
        yield from _verified(sources)
    for kind, pattern in DELIVERED.items():
        if pattern.search(clause) and not _delivered(kind, sources):
            yield f"no {kind} in the events"


def _of(kind: str, runs: Iterable[Run]) -> list[Run]:
    """Runs of a kind. A script that prints a tally is a test run whatever it is called."""
    return [
        run
        for run in runs
        if kind in run.command.kinds
        or (kind == "test" and (run.outcome.tally or "test" in run.command.text))
        or (kind == "build" and run.command.kinds & {"type check"})
    ]


def _contradicts(kind: str, clause: str, sources: Sources) -> str | None:
    runs = _about(_of(kind, sources.runs), clause)
    over = [run for run in runs if run.outcome.verdict in OVER]
    if over:
        whole = re.search(r"\b(?:all|every|entire|full|whole)\b", clause, re.I)
        reds = [run for run in (_last_of_each(over) if whole else over[-1:]) if run.bad]
        return _failed(kind, reds[-1]) if reds else None
    if _reassured(sources) or (_good_before(kind, sources) and not sources.edits):
        return None
    return f"the {kind} run did not end" if runs else f"no {kind} run in the events"


def _about(runs: list[Run], clause: str) -> list[Run]:
    """Those that the clause names by program or file, if it names any."""
    named = [
        run
        for run in runs
        if any(
            bounded(clause, part.rsplit("/", 1)[-1])
            for part in (*run.command.scope, *run.command.program.split()[:1])
            if len(part) > 3
        )
    ]
    return named or runs


def _last_of_each(runs: list[Run]) -> list[Run]:
    return list({run.command.program: run for run in runs}.values())


def _last_red(runs: list[Run]) -> Run | None:
    over = [run for run in runs if run.outcome.verdict in OVER]
    return over[-1] if over and over[-1].bad else None


def _failed(kind: str, run: Run) -> str:
    return f"the last {kind} run failed: {text.one_line(run.command.text, 60)}"


def _good_before(kind: str, sources: Sources) -> bool:
    runs = _of(kind, sources.runs_before)
    return bool(runs) and runs[-1].good


def _reassured(sources: Sources) -> bool:
    """Some output says that a thing passed: a look at the CI, a runner that is no command."""
    looks = [
        r.place
        for r in sources.runs
        if r.command.kinds <= LOOKS and not r.outcome.tally and not r.bad
    ]
    return any(
        REASSURING.search(sources.seen[at].shown[-6000:]) for at in (*looks, *_tools(sources))
    )


def _tools(sources: Sources) -> list[int]:
    """The places of the tools that are neither commands nor work on files."""
    used = enumerate(seen.item.event.what for seen in sources.seen)
    return [
        at
        for at, what in used
        if isinstance(what, ToolUsed) and not what.failure and isinstance(what.action, OtherTool)
    ]


def _verified(sources: Sources) -> Iterator[str]:
    over = [run for run in sources.runs if run.outcome.verdict in OVER]
    checks = [run for run in over if run.command.kinds & CHECKS]
    if checks and checks[-1].bad:
        yield _failed(checks[-1].command.kind, checks[-1])
    elif not over and not _reassured(sources) and not sources.runs_before:
        yield "nothing was run that could verify it"


def _delivered(kind: str, sources: Sources) -> bool:
    kinds = {kind, "history"} if kind == "commit" else {kind}
    runs = (*sources.runs, *sources.runs_before)
    if any(run.command.kinds & kinds and not run.bad for run in runs):
        return True
    printed = any(kind in sources.seen[at].whole[:20_000].lower() for at in _tools(sources))
    return printed or any("git log" in run.command.text for run in runs)


def _bad(clause: str, sources: Sources) -> Iterator[str]:
    """Only where there are such runs, all of them good, and nobody spoke of a failure."""
    said = f"{sources.turn.prompt or ''}\n{sources.turn.last_message or ''}"
    for kind, pattern in SAID_BAD.items():
        if not pattern.search(clause) or SAID_FAILING.search(said):
            continue
        red_before = any(run.bad for run in _of(kind, sources.runs_before))
        if _all_passed(_of(kind, sources.runs)) and not red_before:
            yield f"every {kind} run in the events passed"


def _all_passed(runs: list[Run]) -> bool:
    return bool(runs) and all(run.outcome.verdict == "passed" for run in runs)


def _named_commands(clause: str, sources: Sources) -> Iterator[str]:
    """`make deploy` succeeded, when its last run failed; or failed, when it never did."""
    for mark in NAMED.finditer(clause):
        runs = _runs_of(mark[1], sources.runs)
        if not runs:
            continue
        if PASSED.match(mark[2]) and not HEDGE.search(clause) and runs[-1].bad:
            yield f"the command failed: {text.one_line(mark[1], 60)}"
        red_before = any(run.bad for run in _runs_of(mark[1], sources.runs_before))
        if FAILED.match(mark[2]) and _all_passed(runs) and not red_before:
            yield f"the command did not fail: {text.one_line(mark[1], 60)}"


def _runs_of(command: str, runs: Iterable[Run]) -> list[Run]:
    """The runs that ended and hold the words of the command; one word must be the program itself."""
    words = command.split()
    return [
        run
        for run in runs
        if run.outcome.verdict in OVER
        and all(word in run.command.text for word in words)
        and (len(words) > 1 or run.command.program == command)
    ]


def _counts(clause: str, sources: Sources) -> Iterator[str]:
    """`12 tests pass` beside a runner that said 11."""
    tallies = [
        run.outcome.tally for run in (*sources.runs, *sources.runs_before) if run.outcome.tally
    ]
    told = {
        n
        for t in tallies
        for n in (t.passed, t.failed, (t.passed or 0) + t.failed)
        if n is not None
    }
    for mark in COUNT.finditer(clause):
        number = int(next(group for group in mark.groups() if group)[:9])
        if told and number not in told and not _printed(number, sources):
            yield f"no test run told of {number} tests"


def _printed(number: int, sources: Sources) -> bool:
    return any(
        sources.says(f"{number} {word}") for word in ("passed", "tests", "passing", "test", "pass")
    )
