"""Commands that failed and what became of them: mended, partly mended, or still failing."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from recollect.providers.reading.commands import CHECKS, STANDING
from recollect.providers.reading.scripts import UNKNOWN
from recollect.providers.reading.steps import Edit, Run


@dataclass(frozen=True, slots=True)
class Trial:
    """One program from its first failure on.

    `end` is the run that made up for the failure; `partial` one that passed on a smaller part only.
    `earlier`: it failed first in an earlier turn.
    """

    first: Run
    last: Run
    reds: int
    earlier: bool
    end: Run | None = None
    partial: Run | None = None

    @property
    def is_check(self) -> bool:
        """A test, a build or the like; or a script that was written only to see whether it works."""
        return self.first.command.kind in CHECKS or bool(self.first.command.script)

    def counts(self, edits: Iterable[Edit]) -> bool:
        """A script in the line is a passing fancy, unless an edit lies between its red and its green."""
        if not self.first.command.script:
            return True
        end = self.end.place if self.end else -1
        return any(self.first.place < edit.place < end for edit in edits)


def read_trials(runs: Iterable[Run], before: Iterable[Run]) -> tuple[Trial, ...]:
    """The trials of this turn, one for each program, in order of their first failure."""
    open_trials: dict[str, Trial] = {}
    for run in before:
        _follow(open_trials, run, earlier=True)
    found: dict[str, Trial] = {}
    for run in runs:
        closed = _follow(open_trials, run, earlier=False)
        if closed:
            _join(found, closed)
    for trial in open_trials.values():
        if trial.last.place >= 0 or (trial.partial and trial.partial.place >= 0):
            _join(found, trial)
    return tuple(sorted(found.values(), key=lambda trial: trial.first.place))


def _join(found: dict[str, Trial], later: Trial) -> None:
    """A program that went red and green several times is one trial, from its first to its last."""
    name = later.first.command.program
    earlier = found.get(name)
    if earlier:
        later = replace(
            later, first=earlier.first, reds=earlier.reds + later.reds, earlier=earlier.earlier
        )
    found[name] = later


def _follow(open_trials: dict[str, Trial], run: Run, *, earlier: bool) -> Trial | None:
    """Take one more run into account; the trial that it brings to a good end, if any."""
    command = run.command
    if command.kind == "routine" or command.script == UNKNOWN:
        return None
    if command.script and run.outcome.verdict not in ("passed", "failed"):
        return None
    # Runs of earlier turns get places below zero, so that "here" can be told from "before".
    run = replace(run, place=run.place - 1_000_000) if earlier else run
    trial = open_trials.get(command.program)
    if run.bad:
        open_trials[command.program] = (
            replace(trial, last=run, reds=trial.reds + 1) if trial else Trial(run, run, 1, earlier)
        )
        return None
    for name, other in list(open_trials.items()):
        if run.good and covers(run, other.first):
            del open_trials[name]
            if not earlier:
                return replace(other, end=run)
        elif run.good and name == command.program:
            open_trials[name] = replace(other, partial=run)
    return None


def covers(good: Run, red: Run) -> bool:
    """The good run looked at everything that had failed."""
    if not red.command.programs <= good.command.programs:
        return False
    if red.command.kind not in CHECKS or not good.command.scope:
        return True
    if red.command.scope:
        return all(_within(item, good.command.scope) for item in red.command.scope)
    tally = red.outcome.tally
    known = tally is not None and len(tally.failing) == tally.failed > 0
    return (
        known
        and tally is not None
        and all(_within(name, good.command.scope) for name in tally.failing)
    )


def _within(item: str, scope: frozenset[str]) -> bool:
    return any(item.startswith(part.rstrip("/")) for part in scope)


def matters(trial: Trial, last_place: int) -> bool:
    """Whether a failure is worth telling when nothing mended it: a check, or the end of the story."""
    return trial.last.command.kind in STANDING or trial.last.place >= last_place - 2
