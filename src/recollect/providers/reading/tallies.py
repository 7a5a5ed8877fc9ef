"""How many tests passed and failed, and which, from what a test runner printed."""

import re
from dataclasses import dataclass

NAME_LIMIT = 20


@dataclass(frozen=True, slots=True)
class Tally:
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


def read_tally(output: str) -> Tally | None:
    """The counts a test runner gave, added up over several runs in one output; None if it gave none."""
    for dialect in DIALECTS:
        if dialect.hint in output:
            found = [
                mark for mark in dialect.totals.finditer(output) if any(mark.groupdict().values())
            ]
            if found:
                return _add_up(found, _names(dialect.failing, output))
    return _read_go(output)


def _add_up(found: list[re.Match[str]], failing: tuple[str, ...]) -> Tally:
    counts = {"passed": 0, "failed": 0, "errors": 0, "total": 0}
    for mark in found:
        for name, value in mark.groupdict().items():
            counts[name] += int(value or 0)
    failed = counts["failed"] + counts["errors"]
    if any("total" in mark.groupdict() for mark in found):
        return Tally(max(0, counts["total"] - failed), failed, failing if failed else ())
    return Tally(counts["passed"], failed, failing if failed else ())


def _read_go(output: str) -> Tally | None:
    packages = [mark[1] for mark in GO_PACKAGES.finditer(output)]
    failing = _names(GO_FAILING, output)
    if not packages and not failing:
        return None
    passed = len(GO_PASSING.findall(output)) or None
    return Tally(passed, len(failing) or packages.count("FAIL"), failing)


def _names(pattern: re.Pattern[str] | None, output: str) -> tuple[str, ...]:
    if pattern is None:
        return ()
    found = (next((g for g in mark.groups() if g), "") for mark in pattern.finditer(output))
    return tuple(dict.fromkeys(" ".join(name.split()) for name in found))[:NAME_LIMIT]
