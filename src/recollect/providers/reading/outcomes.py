"""How a command went: what its exit status and its output say, and no more than that."""

import re
from dataclasses import dataclass
from typing import Literal

from recollect.model.events import CommandRun, Failure
from recollect.providers.reading import complaints
from recollect.providers.reading.commands import CHECKS, Command
from recollect.providers.reading.tallies import Tally, read_tally

Verdict = Literal["passed", "failed", "quiet", "unseen", "stopped", "refused", "started"]

REFUSED = re.compile(
    r"user rejected|user doesn't want|rejected by the user|permission to use|requires approval"
    r"|was blocked|haven't granted|denied by|Sibling tool call errored|Cancelled:"
    r"|hook.{0,40}(?:blocked|denied)",
    re.IGNORECASE,
)
TIMED_OUT = re.compile(r"^(?:Error: )?Command timed out after", re.MULTILINE)
COUNTING = CHECKS | {"run"}
LOOKED_FOR_ERRORS = CHECKS | {"run", "install", "migration"}


@dataclass(frozen=True, slots=True)
class Outcome:
    """`quiet`: the exit status was hidden by a pipe, and the output shows no error.

    `unseen`: it was hidden, and what was shown does not tell. `stopped`: it was interrupted or ran out
    of time. `refused`: it never ran. `started`: it went to the background and its end was not seen.
    """

    verdict: Verdict
    error: str | None = None
    tally: Tally | None = None


def read_outcome(command: Command, run: CommandRun, failure: Failure | None) -> Outcome:
    if failure is not None:
        return _failed(command, failure)
    if run.background:
        return Outcome("started")
    if command.kind in ("routine", "files", "format"):
        return Outcome("passed")
    seen = complaints.window(f"{run.stdout}\n{run.stderr}" if run.stderr else run.stdout)
    tally = read_tally(seen) if command.kinds & COUNTING else None
    if tally is not None:
        error = complaints.complaint(seen) if tally.failed else None
        return Outcome("failed" if tally.failed else "passed", error, tally)
    if not command.hidden or command.kind not in LOOKED_FOR_ERRORS:
        return Outcome("passed")
    return _from_output(command, seen)


def _failed(command: Command, failure: Failure) -> Outcome:
    head = failure.error[:600]
    if failure.interrupted or TIMED_OUT.search(head):
        return Outcome("stopped", "timed out" if TIMED_OUT.search(head) else None)
    if failure.exit_code is None and REFUSED.search(head):
        return Outcome("refused")
    if command.kind == "routine":
        return Outcome("failed")
    seen = complaints.window(failure.error)
    tally = read_tally(seen) if command.kinds & COUNTING else None
    error = complaints.complaint(seen)
    return Outcome("failed", error or _exit(failure), tally)


def _exit(failure: Failure) -> str | None:
    return None if failure.exit_code is None else f"exit code {failure.exit_code} and no output"


def _from_output(command: Command, seen: str) -> Outcome:
    """Only the output is left to tell: a pipe or a list swallowed the exit status."""
    error = complaints.strong_complaint(seen)
    if error:
        return Outcome("failed", error)
    if complaints.reassuring(seen):
        return Outcome("passed")
    silent = not seen.strip() or command.kind not in ("lint", "type check", "test")
    return Outcome("quiet" if silent and not command.filtered else "unseen")
