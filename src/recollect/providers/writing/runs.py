"""How commands went, said in clauses."""

from collections.abc import Iterable

from recollect.providers.reading.commands import CHECKS
from recollect.providers.reading.steps import Run
from recollect.providers.reading.story import Story
from recollect.providers.reading.trials import Trial
from recollect.providers.writing import places
from recollect.providers.writing.phrases import code, join, plural

ERROR_LIMIT = 90
TEST_NAME_LIMIT = 60


def name(run: Run) -> str:
    """In backticks, unless it is a description: a Python script."""
    return run.command.text if run.command.described else code(run.command.text, 72)


def once_each(found: Iterable[Run]) -> list[Run]:
    """The last run of each command."""
    return list({(run.command.text, run.command.program): run for run in found}.values())


def test_name(full: str) -> str:
    """`tests/test_cart.py::TestCart::test_total` is known as `test_total`."""
    return full.rsplit("::", 1)[-1] if ".py::" in full else full


def failing(run: Run, most: int = 3) -> str:
    """The names of the tests that failed."""
    tally = run.outcome.tally
    names = [code(test_name(full), TEST_NAME_LIMIT) for full in tally.failing] if tally else []
    return join(names, most)


def had_failing(run: Run) -> str | None:
    """`pytest` had 2 failing tests: `test_a` and `test_b`."""
    tally = run.outcome.tally
    if tally is None or not tally.failing:
        return None
    return f"{name(run)} had {plural(tally.failed, 'failing test')}: {failing(run)}"


def failed(run: Run, limit: int = ERROR_LIMIT) -> str:
    """`pytest` failed with `AssertionError: 90 != 81`."""
    error = f" with {code(run.outcome.error, limit)}" if run.outcome.error else ""
    return f"{name(run)} failed{error}"


def count(run: Run) -> str:
    """` (12 tests)`, or nothing when the runner gave no number."""
    tally = run.outcome.tally
    if tally is None:
        return ""
    if tally.failed:
        return f" ({plural(tally.failed, 'test')} failed)"
    return f" ({plural(tally.passed, 'test')})" if tally.passed else ""


def ended(run: Run) -> str:
    """How a run ended, in words that claim no more than was seen."""
    said = {
        "passed": f"passed{count(run)}" if run.command.kind in CHECKS else "ran without an error",
        "failed": "failed",
        "quiet": "showed no error",
        "unseen": "was run; the outcome was not shown",
        "stopped": "was stopped before it ended",
        "refused": "was not allowed to run",
        "started": "was started in the background",
    }
    return f"{name(run)} {said[run.outcome.verdict]}"


def last_checks(story: Story) -> list[Run]:
    """The last good run of each check, tests first; only those after which nothing was edited come
    with an "after the edits", so callers ask `after_edits`."""
    last: dict[str, Run] = {}
    for run in story.runs:
        if run.command.kind in CHECKS:
            last.pop(run.command.program, None)
            if run.good:
                last[run.command.program] = run
    return sorted(last.values(), key=lambda run: (run.command.kind != "test", -run.place))


def worked(story: Story, run: Run) -> str:
    """`ended`, and of a script without a name: that it is the one which had failed."""
    if run.command.described and story.proves(run):
        return f"the {name(run).removeprefix('a ')} that had failed ran without an error"
    return ended(run)


def after_edits(story: Story, run: Run) -> bool:
    return bool(story.edits) and run.place > story.edits[-1].place


def mended(trial: Trial) -> str:
    """`git push` failed with `fatal: no upstream`; then `git push -u origin x` worked."""
    end = f"; {name(trial.end)} worked later" if trial.end else ""
    return f"{failed(trial.first)}{end}"


def unmended(story: Story, trial: Trial, *, why: bool = True) -> str:
    """How a failure stood at the end. A run that was not repeated after edits may pass by now."""
    last = trial.last
    later = [edit.patch.path for edit in story.edits if edit.place > last.place]
    said = failed(last, 50) if why else f"{name(last)} failed"
    if later:
        return f"{said} and was not run again after the edit of {places.short(later[-1])}"
    if last.command.kind not in CHECKS:
        return f"{said} and did not succeed later in the turn"
    error = f": {code(last.outcome.error, ERROR_LIMIT)}" if why and last.outcome.error else ""
    return f"{name(last)} was still failing when the turn ended{error}"
