"""How a command ended: error lines, test counts, the verdict, and the commits that git printed."""

import re
from dataclasses import dataclass
from typing import Literal

from aforesaid import text
from aforesaid.model.events import CommandRun, Failure
from aforesaid.providers.extract.commands import CHECKS, Command

HEAD, TAIL = 3000, 6000
LINE_LIMIT = 140

# In order of how much they tell. All of them are safe signs that something failed.
STRONG = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        r"^FAILED \S+ - (?!assert False)(\w.+)$",
        r"^E[ ]{2,}(\w*(?:Error|Exception|Warning|Exit)\b.+)$",
        r"^E[ ]{2,}(\S.+)$",
        r"^((?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Interrupt|Exit|NotFound)(?:: .+|$))",
        r"^[ ]*(\*\* \([\w.]+\) .+)$",
        r"^(error(?:\[E\d+\])?: (?!could not compile|aborting|test failed|build failed|script"
        r"|Recipe).+)$",
        r"^thread '[^'\n]*'[^\n]* panicked at (?:[^\n]*:\n)?(.+)$",
        r"^(panic: .+)$",
        r"^[ ]*((?:Expected|expected):? .+\n[ ]*(?:Received|Actual|actual|     got|got):? .+)$",
        r"^[ ]*\w+_test\.go:\d+: (.+)$",
        r"^(\S+\(\d+,\d+\): error TS\d+: .+|\S+ - error TS\d+: .+)$",
        r"^(\S+:\d+(?::\d+)?:? (?:fatal )?error\b.+)$",
        r"^[ ]*((?:[\w.]*Error|Error \[\w+\]): .+)$",
        r"^(\./?\S+\.go:\d+:\d+: .+)$",
        r"^((?:fatal|error): .+)$",
        r"^(\S+:\d+:\d+: [A-Z]+\d+ .+)$",
        r"^npm (?:ERR!|error) (?!code\b|errno|path|command|A complete|Lifecycle|Test failed)(.+)$",
        r"^[ ]*(\d+:\d+\s+error\s+.+)$",
        r"^[ ]*((?:error|Error|ERROR)\b:? ?.{8,})$",
        r"^(.*(?:command not found|No such file or directory|Permission denied"
        r"|permission denied).*)$",
        r"^(Found [1-9]\d* errors?\b.*|[✖×] [1-9]\d* problems?.*|BUILD FAILED.*"
        r"|== Compilation error.*)$",
        r"^(.*(?:undefined reference to|cannot find -l).*)$",
        r"^(could not compile .+)$",
    )
)
WEAK = re.compile(
    r"^(.*\b(?:error|failed|failure|cannot|can't|could not|not found|denied|undefined|unknown"
    r"|invalid"
    r"|missing|refused|timed out|unexpected)\b.*)$",
    re.MULTILINE | re.IGNORECASE,
)
FRAME = " =-*│┃|"
# Signs of a failure that say little about it.
LATE = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        r"^(.*\bfound [1-9]\d* [^\n]*\b(?:issue|problem|error|violation)s?\b.*)$",
        r"^(\S*make(?:\[\d+\])?: \*\*\* .+)$",
    )
)
NOISE = re.compile(
    r"\S*make(?:\[\d+\])?: .*|Exit code -?\d+|[-=_*.\s│┃|+~^]*|Error: Exit code \d+|FAIL"
    r"|\d+ errors?"
)
GOOD = re.compile(
    r"^(?:Success: no issues|All checks passed|All done|BUILD SUCCESS|✔|✓|ok\b|OK\b|PASS"
    r"|Compiled successfully"
    r"|done \(passed successfully\)|Done in|[ ]*Finished |0 errors|.*found no issues"
    r"|.*\bup to date\b|Total errors: 0|Passed)",
    re.MULTILINE,
)


def error_window(output: str) -> str:
    """The parts of a long output where runners say what happened, free of terminal escapes."""
    if len(output) > HEAD + TAIL:
        output = output[:HEAD] + "\n" + output[-TAIL:]
    if output.count("\\n") > 1:  # an error that was printed with its newlines escaped
        output = output.replace("\\n", "\n")
    return text.ESCAPES.sub("", output).replace("\r\n", "\n").replace("\r", "\n")


def find_strong_error(seen: str) -> str | None:
    """The line that says what failed, if one says so beyond doubt. `seen` comes from `window`."""
    for pattern in (*STRONG, *LATE):
        if mark := pattern.search(seen):
            return text.one_line(", ".join(mark[1].split("\n")), LINE_LIMIT)
    return None


def find_error(seen: str) -> str | None:
    """The most telling line of an output that is known to be a failure."""
    for pattern in (*STRONG, WEAK, *LATE):
        for mark in pattern.finditer(seen):
            line = ", ".join(mark[1].split("\n")).strip(FRAME)
            if line and (pattern in LATE or not NOISE.fullmatch(line)):
                return text.one_line(_with_next(line, seen[mark.end() :]), LINE_LIMIT)
    kept = [line.strip() for line in seen.splitlines() if not NOISE.fullmatch(line.strip())]
    return text.one_line(kept[-1].strip(FRAME), LINE_LIMIT) if kept else None


def _with_next(line: str, rest: str) -> str:
    """A line that ends with a colon says it in the next one."""
    if not line.endswith(":"):
        return line
    following = next((other for other in rest[:500].splitlines() if other.strip(FRAME)), "")
    return f"{line} {following}"


def says_success(seen: str) -> bool:
    """The output says that all is well."""
    return bool(GOOD.search(seen))


NAME_LIMIT = 20


@dataclass(frozen=True, slots=True)
class TestCounts:
    """`passed` is None when the runner did not say. `failing`: the names, as the runner gives them."""

    passed: int | None
    failed: int
    failing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one runner speaks. `hint` is a cheap test before the patterns are tried.

    `totals` may name the groups passed, failed, errors, total; a missing group counts as nothing.
    """

    hint: str
    totals: re.Pattern[str]
    failing: re.Pattern[str] | None = None


def _lines(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.MULTILINE)


DIALECTS = (
    Dialect(
        " in ",
        _lines(
            r"^=*[ ]*(?=\d)(?=.{0,120} in [\d.]+s)"
            r"(?:(?P<failed>\d+) failed,? ?)?(?:(?P<passed>\d+) passed,? ?)?"
            r"(?:\d+ (?:skipped|deselected|xfailed|xpassed|warnings?|rerun|subtests passed),? ?)*"
            r"(?:(?P<errors>\d+) errors?)?.*? in [\d.]+s"
        ),
        _lines(r"^(?:FAILED|ERROR) (\S+(?:\[[^\]\n]*\])?)"),
    ),
    Dialect(
        "Ran ",
        _lines(
            r"^Ran (?P<total>\d+) tests? in [^\n]*\s+"
            r"(?:OK|FAILED \((?:failures=(?P<failed>\d+))?(?:, )?(?:errors=(?P<errors>\d+))?)"
        ),
        _lines(r"^(?:FAIL|ERROR): (\w+)"),
    ),
    Dialect(
        "Tests:",
        _lines(
            r"^[ ]*Tests:[ ]+(?:(?P<failed>\d+) failed, )?(?:\d+ (?:skipped|todo), )*"
            r"(?:(?P<passed>\d+) passed, )?(?:\d+ (?:skipped|todo), )*\d+ total"
        ),
        _lines(r"^[ ]*● (?!Console)(.+ › .+)$"),
    ),
    Dialect(
        "Tests ",
        _lines(
            r"^[ ]*Tests[ ]+(?:(?P<failed>\d+) failed)?(?:[ |]*(?P<passed>\d+) passed)?[^\n]*\(\d+\)"
        ),
        _lines(r"^[ ]*FAIL[ ]+(?:\S+ > )?(\S.+)$"),
    ),
    Dialect(
        "passing",
        _lines(
            r"^[ ]*(?P<passed>\d+) passing\b[^\n]*(?:\s+\d+ pending)?(?:\s+(?P<failed>\d+) failing)?"
        ),
        _lines(r"^  \d+\) (.+?):?$"),
    ),
    Dialect(
        "test result:",
        _lines(r"^test result: \w+\. (?P<passed>\d+) passed; (?P<failed>\d+) failed"),
        _lines(r"^test (\S+) \.\.\. FAILED"),
    ),
    Dialect(
        "failure",
        _lines(
            r"^(?:\d+ (?:doctests?|properties|property), )*(?P<total>\d+) "
            r"(?:tests?|examples?|runs), (?:\d+ assertions, )?"
            r"(?P<failed>\d+) failures?(?:, (?P<errors>\d+) errors?)?"
        ),
        _lines(r"^(?:[ ]+\d+\) test (.+) \([\w.]+\)|rspec (\S+) #.*)$"),
    ),
    Dialect(
        "Tests run:",
        _lines(r"Tests run: (?P<total>\d+), Failures: (?P<failed>\d+), Errors: (?P<errors>\d+)"),
        _lines(r"^(?:\[ERROR\])?[ ]+(\w+(?:\.\w+)+):\d+"),
    ),
    Dialect(
        "tests completed",
        _lines(r"^(?P<total>\d+) tests completed, (?P<failed>\d+) failed"),
        _lines(r"^(\S+ > .+) FAILED$"),
    ),
    Dialect("OK (", _lines(r"^OK \((?P<passed>\d+) tests?")),
    Dialect(
        "Assertions:",
        _lines(
            r"^Tests: (?P<total>\d+), Assertions: \d+"
            r"(?:, Errors: (?P<errors>\d+))?(?:, Failures: (?P<failed>\d+))?"
        ),
        _lines(r"^\d+\) (\S+::\S+)"),
    ),
    Dialect("Failed: ", _lines(r"- Failed:\s+(?P<failed>\d+), Passed:\s+(?P<passed>\d+)")),
    Dialect("# fail", _lines(r"^(?:#|ℹ) pass (?P<passed>\d+)\n(?:#|ℹ) fail (?P<failed>\d+)")),
    Dialect(
        "tests passed", _lines(r"tests passed, (?P<failed>\d+) tests failed out of (?P<total>\d+)")
    ),
    Dialect("Executed ", _lines(r"Executed (?P<total>\d+) tests?, with (?P<failed>\d+) failures?")),
    Dialect("passed |", _lines(r"(?P<passed>\d+) passed \| (?P<failed>\d+) failed")),
    Dialect(
        " pass\n",
        _lines(r"^[ ]*(?P<passed>\d+) pass\n(?:[ ]*\d+ skip\n)?[ ]*(?P<failed>\d+) fail$"),
        _lines(r"^\(fail\) (.+?)(?: \[[\d.]+ms\])?$"),
    ),
)
GO_FAILING = _lines(r"^[ ]*--- FAIL: (\S+)")
GO_PASSING = _lines(r"^[ ]*--- PASS: ")
GO_PACKAGES = _lines(r"^(ok|FAIL)[ \t]+\S+[ \t]+(?:[\d.]+s|\(cached\)|\[)")


def read_test_counts(output: str) -> TestCounts | None:
    """The counts a test runner gave, added up over several runs in one output; None if it gave none."""
    for dialect in DIALECTS:
        if dialect.hint in output:
            found = [
                mark for mark in dialect.totals.finditer(output) if any(mark.groupdict().values())
            ]
            if found:
                return _add_up(found, _names(dialect.failing, output))
    return _read_go(output)


def _add_up(found: list[re.Match[str]], failing: tuple[str, ...]) -> TestCounts:
    counts = {"passed": 0, "failed": 0, "errors": 0, "total": 0}
    for mark in found:
        for name, value in mark.groupdict().items():
            counts[name] += int(value or 0)
    failed = counts["failed"] + counts["errors"]
    if any("total" in mark.groupdict() for mark in found):
        return TestCounts(max(0, counts["total"] - failed), failed, failing if failed else ())
    return TestCounts(counts["passed"], failed, failing if failed else ())


def _read_go(output: str) -> TestCounts | None:
    packages = [mark[1] for mark in GO_PACKAGES.finditer(output)]
    failing = _names(GO_FAILING, output)
    if not packages and not failing:
        return None
    passed = len(GO_PASSING.findall(output)) or None
    return TestCounts(passed, len(failing) or packages.count("FAIL"), failing)


def _names(pattern: re.Pattern[str] | None, output: str) -> tuple[str, ...]:
    if pattern is None:
        return ()
    found = (next((g for g in mark.groups() if g), "") for mark in pattern.finditer(output))
    return tuple(dict.fromkeys(" ".join(name.split()) for name in found))[:NAME_LIMIT]


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
    if failure.exit_code is None and REFUSED.search(head):
        return Outcome("refused")
    if command.kind == "routine":
        return Outcome("failed")
    seen = error_window(failure.error)
    tally = read_test_counts(seen) if command.kinds & COUNTING else None
    error = find_error(seen)
    return Outcome("failed", error or _exit(failure), tally)


def _exit(failure: Failure) -> str | None:
    return None if failure.exit_code is None else f"exit code {failure.exit_code} and no output"


def _from_output(command: Command, seen: str) -> Outcome:
    """Only the output is left to tell: a pipe or a list swallowed the exit status."""
    error = find_strong_error(seen)
    if error:
        return Outcome("failed", error)
    if says_success(seen):
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
    subject, _, body = (_message(command[:LOOKED_AT]) or "").partition("\n")
    body = TRAILER.sub("", body).strip()
    printed = PRINTED.findall(text.ESCAPES.sub("", output[:LOOKED_AT]))
    if printed:
        one = len(printed) == 1
        return tuple(_commit(said, short[:7], body if one else "") for _, short, said in printed)
    return (_commit(subject, None, body),) if subject.strip() else ()


def _message(command: str) -> str | None:
    """The message of `git commit -m` or of its here-document."""
    at = command.find("commit")
    if at < 0:
        return None
    parts = [mark[1] for mark in MESSAGE.finditer(command, at)]
    if parts and "<<" not in parts[0]:
        return "\n\n".join(part.strip("\"'").strip() for part in parts)
    here = HEREDOC.search(command, at)
    return here[3].strip() if here else None


def _commit(subject: str, short: str | None, body: str) -> Commit:
    line = text.one_line(subject, SUBJECT_LIMIT)
    mark = CONVENTIONAL.match(line)
    return Commit(line, short, mark[1].lower() if mark else None, body)
