"""How a command ended: error lines, test counts, the verdict, and the commits that git printed."""

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from aforesaid import text
from aforesaid.model.events import CommandRun, Failure
from aforesaid.providers.extract.commands import CHECKS, Command

HEAD, TAIL = 3000, 6000
LINE_LIMIT = 140

PATTERNS = text.load_sections(Path(__file__).with_name("results.txt"))
ERROR, LATE, WEAK = (
    [re.compile(row, re.MULTILINE) for row in PATTERNS[name]] for name in ("error", "late", "weak")
)
NOISE, REFUSED = (re.compile("".join(PATTERNS[name])) for name in ("noise", "refused"))
GOOD = re.compile("".join(PATTERNS["good"]), re.MULTILINE)
RUNNERS = {
    name.removeprefix("runner "): [re.compile(row, re.MULTILINE) for row in rows]
    for name, rows in PATTERNS.items()
    if name.startswith("runner ")
}
FRAME = " =-*│┃|"


def error_window(output: str) -> str:
    """The parts of a long output where runners say what happened, free of terminal escapes."""
    if len(output) > HEAD + TAIL:
        output = output[:HEAD] + "\n" + output[-TAIL:]
    if output.count("\\n") > 1:  # an error that was printed with its newlines escaped
        output = output.replace("\\n", "\n")
    return text.ESCAPES.sub("", output).replace("\r\n", "\n").replace("\r", "\n")


def find_error(seen: str) -> str | None:
    """The most telling line of an output that is known to be a failure."""
    for pattern in (*ERROR, *WEAK, *LATE):
        for mark in pattern.finditer(seen):
            line = ", ".join(mark[1].split("\n")).strip(FRAME)
            if line and (pattern in LATE or not NOISE.fullmatch(line)):
                if line.endswith(":"):  # the next line says it
                    rest = seen[mark.end() :][:500].splitlines()
                    line += f" {next((other for other in rest if other.strip(FRAME)), '')}"
                return text.one_line(line, LINE_LIMIT)
    kept = [line.strip() for line in seen.splitlines() if not NOISE.fullmatch(line.strip())]
    return text.one_line(kept[-1].strip(FRAME), LINE_LIMIT) if kept else None


NAME_LIMIT = 20


@dataclass(frozen=True, slots=True)
class TestCounts:
    """`passed` is None when the runner did not say; `failing`: names of tests."""

    passed: int | None
    failed: int
    failing: tuple[str, ...] = ()


GO_FAILING = re.compile(r"^[ ]*--- FAIL: (\S+)", re.MULTILINE)
GO_PASSING = re.compile(r"^[ ]*--- PASS: ", re.MULTILINE)
GO_PACKAGES = re.compile(r"^(ok|FAIL)[ \t]+\S+[ \t]+(?:[\d.]+s|\(cached\)|\[)", re.MULTILINE)


def read_test_counts(output: str) -> TestCounts | None:
    """The counts a test runner gave, added up over several runs in one output; None if it gave none."""
    for hint, (totals, *failing) in RUNNERS.items():
        if hint in output:
            found = [mark.groupdict() for mark in totals.finditer(output)]
            if found := [counts for counts in found if any(counts.values())]:
                return _add_up(found, _names(failing, output))
    packages = [mark[1] for mark in GO_PACKAGES.finditer(output)]
    names = _names([GO_FAILING], output)
    if not packages and not names:
        return None
    passed = len(GO_PASSING.findall(output)) or None
    return TestCounts(passed, len(names) or packages.count("FAIL"), names)


def _add_up(found: list[dict[str, str]], failing: tuple[str, ...]) -> TestCounts:
    counts: Counter[str] = Counter()
    for each in found:
        counts.update({name: int(value or 0) for name, value in each.items()})
    failed = counts["failed"] + counts["errors"]
    passed = max(0, counts["total"] - failed) if "total" in counts else counts["passed"]
    return TestCounts(passed, failed, failing if failed else ())


def _names(patterns: list[re.Pattern[str]], output: str) -> tuple[str, ...]:
    marks = (mark for pattern in patterns for mark in pattern.finditer(output))
    found = (next(filter(None, mark.groups()), "") for mark in marks)
    return tuple(dict.fromkeys(" ".join(name.split()) for name in found))[:NAME_LIMIT]


Verdict = Literal["passed", "failed", "quiet", "unseen", "stopped", "refused", "started"]

TIMED_OUT = re.compile(r"^(?:Error: )?Command timed out after", re.MULTILINE)
NO_FOLDER = re.compile(
    r"\bcd(?:: line \d+|:\d+)?: .{0,200}No such file or directory", re.IGNORECASE
)
COUNTING = CHECKS | {"run"}
LOOKED_FOR_ERRORS = CHECKS | {"run", "install", "migration"}


@dataclass(frozen=True, slots=True)
class Outcome:
    """`quiet`: a pipe hid the exit status, and the output shows no error; `unseen`: nor does it tell.
    `stopped`: it was interrupted or ran out of time. `refused`: it never ran. `started`: in the
    background."""

    verdict: Verdict
    error: str | None = None
    tally: TestCounts | None = None


def read_outcome(command: Command, run: CommandRun, failure: Failure | None) -> Outcome:
    if failure is not None:
        return _failed(command, failure)
    if run.background:
        return Outcome("started")
    if command.kind in ("routine", "files", "format"):
        return Outcome("passed")
    seen = error_window(f"{run.stdout}\n{run.stderr}" if run.stderr else run.stdout)
    tally = read_test_counts(seen) if command.kinds & COUNTING else None
    if tally is not None:
        error = find_error(seen) if tally.failed else None
        return Outcome("failed" if tally.failed else "passed", error, tally)
    if not command.hidden or command.kind not in LOOKED_FOR_ERRORS:
        return Outcome("passed")
    return _from_output(command, seen)


def _failed(command: Command, failure: Failure) -> Outcome:
    head = failure.error[:600]
    if failure.interrupted or TIMED_OUT.search(head):
        return Outcome("stopped", "timed out" if TIMED_OUT.search(head) else None)
    if NO_FOLDER.search(head):
        return Outcome("stopped", "not started: the folder does not exist")
    if failure.exit_code is None and REFUSED.search(head):
        return Outcome("refused")
    if command.kind == "routine":
        return Outcome("failed")
    seen = error_window(failure.error)
    tally = read_test_counts(seen) if command.kinds & COUNTING else None
    code = None if failure.exit_code is None else f"exit code {failure.exit_code} and no output"
    return Outcome("failed", find_error(seen) or code, tally)


def _from_output(command: Command, seen: str) -> Outcome:
    """Only the output is left to tell: a pipe or a list swallowed the exit status."""
    mark = next(filter(None, (pattern.search(seen) for pattern in (*ERROR, *LATE))), None)
    if mark:
        return Outcome("failed", text.one_line(", ".join(mark[1].split("\n")), LINE_LIMIT))
    if GOOD.search(seen):
        return Outcome("passed")
    silent = not seen.strip() or command.kind not in ("lint", "type check", "test")
    return Outcome("quiet" if silent and not command.filtered else "unseen")


SUBJECT_LIMIT = 120
LOOKED_AT = 20_000

PRINTED = re.compile(
    r"^\[([^\]\n]{1,100}?) (?:\(root-commit\) )?([0-9a-f]{6,40})\] (.+)$", re.MULTILINE
)
HEREDOC = re.compile(r"<<-?\s*(['\"]?)(\w+)\1[^\n]*\n(.+?)(?:^\s*\2|\Z)", re.DOTALL | re.MULTILINE)
TRAILER = re.compile(r"^(?:[A-Z][\w-]*-[Bb]y: .*|🤖 .*|Co-authored-by: .*)$", re.MULTILINE)
MESSAGE = re.compile(r"\s(?:-\w*m|--message)[ =]?\s*(\"(?:\\.|[^\"\\])*\"|'[^']*'|\S+)")
CONVENTIONAL = re.compile(r"([a-z]+)(?:\(([^)]{1,40})\))?!?: +(?=\S)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Commit:
    """`label` is that of a conventional subject: `fix: …`. `body`: the rest of the message."""

    subject: str
    hash: str | None
    label: str | None
    body: str = ""


def read_commits(command: str, output: str) -> tuple[Commit, ...]:
    """The commits git says it made; else the one the command asked for. For commands that worked."""
    subject, _, body = _message(command[:LOOKED_AT]).partition("\n")
    body = TRAILER.sub("", body).strip()
    printed = PRINTED.findall(text.ESCAPES.sub("", output[:LOOKED_AT]))
    rows = [(said, short[:7], body if len(printed) == 1 else "") for _, short, said in printed]
    found = []
    for said, short, rest in rows or ([(subject, None, body)] if subject.strip() else []):
        line = text.one_line(said, SUBJECT_LIMIT)
        mark = CONVENTIONAL.match(line)
        found.append(Commit(line, short, mark[1].lower() if mark else None, rest))
    return tuple(found)


def _message(command: str) -> str:
    """The message of `git commit -m` or of its here-document."""
    at = command.find("commit")
    parts = [mark[1] for mark in MESSAGE.finditer(command, at)] if at >= 0 else []
    if parts and "<<" not in parts[0]:
        return "\n\n".join(part.strip("\"'").strip() for part in parts)
    here = HEREDOC.search(command, at) if at >= 0 else None
    return here[3].strip() if here else ""
