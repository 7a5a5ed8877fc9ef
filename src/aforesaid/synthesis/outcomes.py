"""Checks what a draft says about test runs, builds, commits and pushes against the runs of the turn."""

import re
from collections.abc import Iterable, Iterator

from aforesaid import text
from aforesaid.model.events import OtherTool, ToolUsed
from aforesaid.providers.extract.commands import CHECKS
from aforesaid.providers.extract.work import Run
from aforesaid.synthesis.claims import bounded
from aforesaid.synthesis.evidence import NOUNS, Sources

# Finer than `prose.CLAUSE_END`, which divides displayed text: here a hedge must excuse its own clause alone,
# so every comma and every turn of thought ends one, and the words that end it may go.
CLAUSE = re.compile(
    r"(?:[.;:,!?](?=\s|$))|\s[-–—]\s|\n|\b(?:but|although|though|while|whereas|because|which|after"
    r"|and then)\b"
)
HEDGE = re.compile(
    r"\b(?:should|would|could|may|might|must|can|cannot|will|until|if|once|when|whenever|unless"
    r"|ensur\w+|make sure|to (?:make|get|let|have|see|be|pass|keep)|makes?|so|in order|not|never"
    r"|no longer|expect\w*|need\w*|requir\w+|whether|previously|earlier|initially|originally|only"
    r"|some|most|many|planned|goal|aim|want\w*|ask\w*|request\w*|verify|checked (?:that|if)|confirm"
    r"|before|how|why|either|or)\b|n't\b",
    re.IGNORECASE,
)
_ADVERBS = r"(?:now |all |still |then |again |finally |also |both |already |currently )*"
# A test that "passes the token to the handler" has not passed.
_PASS = (
    r"pass(?:es|ed|ing)?(?! (?:an?|the|its|this|to|through|on|along|it|them|null|None|as|into"
    r"|\w+ as|\w+ to)\b)"
)
_FINE = (
    r"(?:green|passing|successful(?:ly)?|clean(?:ly)?"
    r"|without (?:any )?(?:errors?|failures?|issues?|problems?))"
)
GOOD = (
    rf"{_ADVERBS}(?:{_PASS}|succeed(?:s|ed)?"
    rf"|(?:is|are|was|were|ran|runs?|completes?|completed|finish(?:es|ed)) {_ADVERBS}{_FINE})"
)
BAD = rf"{_ADVERBS}(?:fail(?:s|ed)?\b(?! to)|(?:is|are|was|were) {_ADVERBS}(?:failing|broken|red))"
_SPECIAL = {
    "test": r"|\bpass(?:es|ed) (?:all |the |\d+ |of |existing )*tests?\b",
    "build": r"|\b(?:built|compiled|compiles|builds) (?:successfully|cleanly|fine"
    r"|without (?:any )?(?:errors?|warnings?))|\bsuccessful(?:ly)? (?:built|compiled|build)\b"
    r"|\bno (?:build|compil\w+) errors?\b",
    "lint": r"|\bno (?:lint\w*) (?:errors?|issues?|warnings?)\b",
    "type check": r"|\bno type errors?\b",
}
SAID_GOOD = {
    kind: re.compile(
        rf"\b{noun}(?: \([^)]*\))?(?: (?:in|of|under) \S+)? {GOOD}(?!\w){_SPECIAL[kind]}", re.I
    )
    for kind, noun in NOUNS.items()
}
SAID_BAD = {
    kind: re.compile(rf"\b{noun}(?: \([^)]*\))?(?: (?:in|of|under) \S+)? {BAD}(?!\w)", re.I)
    for kind, noun in NOUNS.items()
}
MENDED = {
    kind: re.compile(
        rf"\b(?:fix(?:ed|es)?|resolved?|mended|repaired) (?:the |all |both |every |\d+ )*"
        rf"(?:failing |broken |remaining |flaky |red )*(?:{noun})(?: suite| errors?| failures?)?"
        r"(?= by| in|$|[,.;])",
        re.I,
    )
    for kind, noun in NOUNS.items()
}
RAN_TESTS = re.compile(
    r"^\W*(?:re-?)?(?:ran|executed) (?:\w+ ){0,4}?tests?\b(?! (?:script|command|server))",
    re.I,
)
VERIFIED = re.compile(
    r"\b(?:fix(?:ed|es)? and (?:verified|tested)"
    r"|(?:verified|confirmed) (?:that )?(?:the |this )?(?:fix|change|solution)\w*"
    r"|(?:fix|change|solution|it)e?s? (?:was|were|is|has been|have been) (?:verified|tested)"
    r"|verified (?:by|with|via|through|using) (?:\w+ ){0,3}(?:tests?|run\w*|build\w*))\b",
    re.I,
)
DELIVERED = {
    "commit": re.compile(
        r"^\W*(?:\w+ and )?committed\b(?! to)|\b(?:was|were|been|and) committed\b", re.I
    ),
    "push": re.compile(
        r"^\W*(?:\w+ and )?pushed (?!to (?:an? |the )?(?:stack|queue|array|list))"
        r"|\b(?:was|were|been|and) pushed to\b",
        re.I,
    ),
}
REASSURING = re.compile(r"\b(?:pass(?:e[sd]|ing)?|success\w*|succeeded|PASS|OK|green)\b|✓|✔")
SAID_FAILING = re.compile(
    r"\b(?:fail\w*|broken?|breaks|red|errors?|crash\w*|not work\w*|doesn't work)\b", re.I
)
PASSED, FAILED = re.compile(rf"{GOOD}(?!\w)", re.I), re.compile(rf"{BAD}(?!\w)", re.I)
COMMAND = re.compile(r"`([^`\n]{2,200})`(?: (?:command|run|script|step|check|suite))?\s+(.{0,60})")
LOOKS = frozenset(("routine", "run", "server", "deploy"))
ENDED = ("passed", "failed", "quiet", "unseen")


def clauses(prose: str) -> list[str]:
    return [part.strip() for part in CLAUSE.split(prose) if part and part.strip()]


def check_outcomes(prose: str, sources: Sources) -> Iterator[str]:
    for clause in clauses(prose):
        yield from _check_named_commands(clause, sources)
        plain = clause.replace("`", "")
        if not HEDGE.search(plain):
            yield from _check_success(plain, sources)
            yield from _check_failure(plain, sources)


def _check_success(clause: str, sources: Sources) -> Iterator[str]:
    for kind in NOUNS:
        if SAID_GOOD[kind].search(clause) and (reason := _contradicts(kind, clause, sources)):
            yield reason
        elif MENDED[kind].search(clause):
            yield from _check_last(kind, _ended(_runs_of_kind(kind, sources.runs)))
    if RAN_TESTS.search(clause) and not (
        _runs_of_kind("test", sources.all_runs) or _is_reassured(sources)
    ):
        yield "no test run in the events"
    if VERIFIED.search(clause):
        yield from _check_verified(sources)
    for kind, pattern in DELIVERED.items():
        if pattern.search(clause) and not _is_delivered(kind, sources):
            yield f"no {kind} in the events"


def _check_last(kind: str, runs: list[Run]) -> Iterator[str]:
    if runs and runs[-1].bad:
        yield f"the last {kind} run failed: {text.one_line(runs[-1].command.text, 60)}"


def _ended(runs: Iterable[Run]) -> list[Run]:
    return [run for run in runs if run.outcome.verdict in ENDED]


def _runs_of_kind(kind: str, runs: Iterable[Run]) -> list[Run]:
    """Runs of a kind. A script that prints a tally is a test run whatever it is called."""
    return [
        run
        for run in runs
        if kind in run.command.kinds
        or (kind == "test" and (run.outcome.tally or "test" in run.command.text))
        or (kind == "build" and run.command.kinds & {"type check"})
    ]


def _contradicts(kind: str, clause: str, sources: Sources) -> str | None:
    runs = _about(_runs_of_kind(kind, sources.runs), clause)
    if ended := _ended(runs):
        if re.search(r"\b(?:all|every|entire|full|whole)\b", clause, re.I):
            last_of_each = {run.command.program: run for run in ended}.values()
            ended = [run for run in last_of_each if run.bad]
        return next(_check_last(kind, ended), None)
    before = _runs_of_kind(kind, sources.runs_before)
    if _is_reassured(sources) or (before and before[-1].good and not sources.edits):
        return None
    return f"the {kind} run did not end" if runs else f"no {kind} run in the events"


def _about(runs: list[Run], clause: str) -> list[Run]:
    """Those that the clause names by program or file, if it names any."""

    def is_named(run: Run) -> bool:
        parts = (*run.command.scope, *run.command.program.split()[:1])
        return any(len(part) > 3 and bounded(clause, part.rsplit("/", 1)[-1]) for part in parts)

    return list(filter(is_named, runs)) or runs


def _is_reassured(sources: Sources) -> bool:
    """Some output says that a thing passed: a look at the CI, a runner that is no command."""
    looks = (
        sources.events[run.place].output
        for run in sources.runs
        if run.command.kinds <= LOOKS and not run.outcome.tally and not run.bad
    )
    return any(REASSURING.search(each[-6000:]) for each in (*looks, *_tool_outputs(sources)))


def _tool_outputs(sources: Sources) -> Iterator[str]:
    """Of the tools that are neither commands nor work on files."""
    for event in sources.events:
        what = event.item.event.what
        if isinstance(what, ToolUsed) and not what.failure and isinstance(what.action, OtherTool):
            yield event.output


def _check_verified(sources: Sources) -> Iterator[str]:
    ended = _ended(sources.runs)
    checks = [run for run in ended if run.command.kinds & CHECKS]
    if checks:
        yield from _check_last(checks[-1].command.kind, checks)
    elif not ended and not _is_reassured(sources) and not sources.runs_before:
        yield "nothing was run that could verify it"


def _is_delivered(kind: str, sources: Sources) -> bool:
    kinds = {kind, "history"} if kind == "commit" else {kind}
    return (
        any(run.command.kinds & kinds and not run.bad for run in sources.all_runs)
        or any(kind in output[:20_000].lower() for output in _tool_outputs(sources))
        or any("git log" in run.command.text for run in sources.all_runs)
    )


def _check_failure(clause: str, sources: Sources) -> Iterator[str]:
    """Only where there are such runs, all of them good, and no message speaks of a failure."""
    spoken = f"{sources.turn.prompt or ''}\n{sources.turn.last_message or ''}"
    for kind, pattern in SAID_BAD.items():
        if pattern.search(clause) and not SAID_FAILING.search(spoken):
            before = _runs_of_kind(kind, sources.runs_before)
            if _never_failed(_runs_of_kind(kind, sources.runs), before):
                yield f"every {kind} run in the events passed"


def _never_failed(runs: list[Run], before: list[Run]) -> bool:
    passed = bool(runs) and all(run.outcome.verdict == "passed" for run in runs)
    return passed and not any(run.bad for run in before)


def _check_named_commands(clause: str, sources: Sources) -> Iterator[str]:
    """`make deploy` succeeded, when its last run failed; or failed, when it never did."""
    for mark in COMMAND.finditer(clause):
        runs, before = (_runs_of(mark[1], each) for each in (sources.runs, sources.runs_before))
        label = text.one_line(mark[1], 60)
        if runs and runs[-1].bad and PASSED.match(mark[2]) and not HEDGE.search(clause):
            yield f"the command failed: {label}"
        if FAILED.match(mark[2]) and _never_failed(runs, before):
            yield f"the command did not fail: {label}"


def _runs_of(command: str, runs: Iterable[Run]) -> list[Run]:
    """The runs that ended and hold the words of the command; one word must be the program itself."""
    words = command.split()
    return [
        run
        for run in _ended(runs)
        if all(word in run.command.text for word in words)
        and (len(words) > 1 or run.command.program == command)
    ]
