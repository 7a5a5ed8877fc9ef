"""The one line of an output that says what went wrong."""

import re

from recollect import text

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


def window(output: str) -> str:
    """The parts of a long output where runners say what happened, free of terminal escapes."""
    if len(output) > HEAD + TAIL:
        output = output[:HEAD] + "\n" + output[-TAIL:]
    if output.count("\\n") > 1:  # an error that was printed with its newlines escaped
        output = output.replace("\\n", "\n")
    return text.ESCAPES.sub("", output).replace("\r\n", "\n").replace("\r", "\n")


def strong_complaint(seen: str) -> str | None:
    """The line that says what failed, if one says so beyond doubt. `seen` comes from `window`."""
    for pattern in (*STRONG, *LATE):
        if mark := pattern.search(seen):
            return text.one_line(", ".join(mark[1].split("\n")), LINE_LIMIT)
    return None


def complaint(seen: str) -> str | None:
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


def reassuring(seen: str) -> bool:
    """The output says that all is well."""
    return bool(GOOD.search(seen))
