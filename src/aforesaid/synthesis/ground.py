"""Checks a draft against the events of its turn, without a model.

Small models invent names, copy the worked example, report plans as done or failures as success. Nothing is
removed: an unsupported part gets a `Doubt` with the reason. The tools alone tell which files were changed.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from http import HTTPStatus
from pathlib import PurePosixPath

from aforesaid import text
from aforesaid.clock import local
from aforesaid.model.events import FileChanged, FileRead, OtherTool, ToolUsed
from aforesaid.model.observations import (
    SUMMARY_PARTS,
    Doubt,
    ObservationDraft,
    SummaryDraft,
    Turn,
    TurnEvent,
)
from aforesaid.providers.extract.choose import find_open_ends
from aforesaid.providers.extract.commands import CHECKS
from aforesaid.providers.extract.passages import plain_prompt, read_sentences, split_sentences
from aforesaid.providers.extract.work import Run, relative_path
from aforesaid.similarity import word_overlap
from aforesaid.synthesis.evidence import (
    CLAIM_CHARACTERS,
    IDENTIFIER,
    PATTERNS,
    SEPARATORS,
    WORDS,
    Claim,
    Sources,
    bounded,
    draft_parts,
    find_evidence,
    objects,
    read_claims,
    read_sources,
    squeezed,
    stems,
    stream,
)

MOST_DOUBTS = 4  # of one part: more reasons make it no more doubtful
ECHO = "repeats the worked example"
VARIANT = "one of many variants of the same sentence"
UNNAMED = "the agent named no next step"
FUTURE_PARTS = ("request", "next_steps")
NO_FILE = re.compile(r"\W*(?:none|n/?a|null|nil|unknown|no files?.*)?\W*", re.IGNORECASE)


def ground_observation(
    draft: ObservationDraft, turn: Turn, examples: Sequence[str] = ()
) -> ObservationDraft:
    sources = read_sources(turn)
    evidence = find_evidence(draft, sources)
    doubts = _doubts(draft_parts(draft), sources, examples)
    words = [frozenset(stream(fact).split()) for fact in draft.facts]
    for place, own in enumerate(words):
        alike = (len(own & w) >= VARIANT_OVERLAP * max(len(own), len(w), 1) for w in words)
        if sum(alike) >= LEAST_VARIANTS:
            doubts.append(Doubt(f"facts {place}", VARIANT))
    changed = _paths(evidence, turn.root, FileChanged)
    named = (*draft.files_read, *draft.files_modified)
    files_read, unknown = _merge_files(evidence, named, changed, sources)
    # Named if all of it is the work of one kind of sub-agent.
    agents = {item.event.subagent.type if item.event.subagent else None for item in evidence}
    return replace(
        draft,
        doubts=tuple(doubts + unknown),
        evidence=tuple(dict.fromkeys(item.id for item in evidence)),
        files_read=files_read,
        files_modified=changed,
        subagent_type=agents.pop() if len(agents) == 1 else None,
    )


def ground_summary(draft: SummaryDraft, turn: Turn, examples: Sequence[str] = ()) -> SummaryDraft:
    sources = read_sources(turn)
    doubts = _doubts(
        [(part, getattr(draft, part) or "") for part in SUMMARY_PARTS], sources, examples
    )
    if draft.next_steps and not turn.last_message:
        doubts.append(Doubt("next_steps", UNNAMED))
    changed = _paths(turn.events, turn.root, FileChanged)
    named = (*draft.files_read, *draft.files_edited)
    files_read, unknown = _merge_files(turn.events, named, changed, sources)
    return replace(
        draft, doubts=tuple(doubts + unknown), files_read=files_read, files_edited=changed
    )


def _doubts(
    parts: Iterable[tuple[str, str]], sources: Sources, examples: Sequence[str]
) -> list[Doubt]:
    found: list[Doubt] = []
    for part, whole in parts:
        prose = whole[:CLAIM_CHARACTERS]
        reasons = [ECHO] if _is_echo(prose, examples, sources) else []
        reasons += filter(None, (_check_claim(claim, sources) for claim in read_claims(prose)))
        if part not in FUTURE_PARTS:
            reasons += (*_check_outcomes(prose, sources), *_check_plans(prose, sources))
        found += [Doubt(part, reason) for reason in list(dict.fromkeys(reasons))[:MOST_DOUBTS]]
    return found


def _paths(
    events: Iterable[TurnEvent], root: str, kind: type[FileChanged | FileRead]
) -> tuple[str, ...]:
    """What failed did not happen."""
    found: dict[str, None] = {}
    for item in events:
        what = item.event.what
        if isinstance(what, ToolUsed) and what.failure is None and isinstance(what.action, kind):
            found[relative_path(what.action.path, root)] = None
    return tuple(found)


def _merge_files(
    events: Iterable[TurnEvent], named: Iterable[str], changed: tuple[str, ...], sources: Sources
) -> tuple[tuple[str, ...], list[Doubt]]:
    """The files that were read, then those the model named, by the name that the events use."""
    root = sources.turn.root
    files = list(_paths(events, root, FileRead))
    known = [relative_path(event.path, root) for event in sources.events if event.path]
    doubts: list[Doubt] = []
    for name in named:
        if NO_FILE.fullmatch(name):
            continue
        path = relative_path(name, root).removeprefix("./")
        ends = {k for k in known if k == path or k.endswith("/" + path) or path.endswith("/" + k)}
        path = ends.pop() if len(ends) == 1 else path
        if path in files or path in changed:
            continue
        if not has_path(path, sources):
            doubts.append(Doubt(f"files_read {len(files)}", _not_found("the file", path)))
        files.append(path)
    return tuple(files), doubts


# Names, code, commands, quotations: they have to occur in the events.

QUOTED_LENGTH = 60
CUT = re.compile(r"…|\.{3,}|\[\.\.\.\]")
PIECES = re.compile(rf"{CUT.pattern}|[.!?]\s")
PLACE = re.compile(r"(?:::.*|#L?\d+.*|(?::\d+)+(?:-\d+)?)$")
ARGUMENT = re.compile(r"[^\s\"';&|()]+")
CODE_NUMBER = re.compile(r"(?<![A-Za-z0-9_.])[0-9]+(?:\.[0-9]+)*")
NAME_LEADS = (" ", "\n", "'", '"', "`", "(")
NOUNS = {"path": "the file", "symbol": "the name", "quote": "the quotation", "code": "the code"}
NOUNS |= {"address": "the address", "number": "the number", "hash": "the hash"}


def _check_claim(claim: Claim, sources: Sources) -> str | None:
    said = claim.text
    match claim.kind:
        case "path":
            known = has_path(said, sources)
        case "symbol" if said.startswith("-"):
            known = bounded(sources.text, said)
        case "symbol":
            known = all(sources.has_name(part) for part in SEPARATORS.split(said) if part)
        case "quote":
            known = _has_quote(said, sources)
        case "address" | "hash":
            known = sources.has_code(said.rpartition("://")[2])
        case "code":
            return _check_code(said, sources)
        case "command" | "run":
            # One that was run must be among the commands; of another it is enough that it is written.
            words = [word for word in ARGUMENT.findall(CUT.sub(" ", said)) if word.strip("\\$")]
            known = any(all(bounded(line, word) for word in words) for line in sources.commands)
            if not known and claim.kind == "command":
                known = sources.has_code(said) or sources.says(said)
            return (
                None if known else f"the command {text.one_line(said, QUOTED_LENGTH)} was not run"
            )
        case "number":
            known = _is_known_number(claim, sources)
            said += "%" if claim.after.startswith("%") else ""
    return None if known else _not_found(NOUNS[claim.kind], said)


def _not_found(what: str, name: str) -> str:
    return f"{what} {text.one_line(name, QUOTED_LENGTH)} occurs nowhere in the events"


def has_path(path: str, sources: Sources) -> bool:
    """By its end: `auth.ts` is /home/x/src/auth.ts. Upper and lower case differ."""
    whole = path.replace("\\", "/").strip().removeprefix("file://")
    name = PLACE.sub("", relative_path(whole, sources.turn.root)) or whole
    name = name.removeprefix("./").removeprefix("~").rstrip("/")
    # With and without the project's folder, and as an import names it, without its suffix.
    forms = {name}
    first, _, rest = name.partition("/")
    if rest and first in (sources.turn.project, PurePosixPath(sources.turn.root).name):
        forms.add(rest)
    stem, dot, _ = name.rpartition(".")
    if dot and stem:
        forms |= {stem, stem.replace("/", ".")} if rest else {f"/{stem}"}
    if any(bounded(sources.text, form) for form in forms - {"", "."}):
        return True
    *folders, last = name.split("/")
    alone = any(bounded(sources.text, lead + last) for lead in NAME_LEADS)
    return bool(folders) and alone and all(map(sources.has_name, filter(None, folders)))


def _check_code(code: str, sources: Sources) -> str | None:
    """As it stands; or each of its names and numbers, when it was put together or shortened."""
    if sources.has_code(code):
        return None
    plain = CUT.sub(" ", code)
    if not plain.isascii():
        return None if _has_quote(code, sources) else _not_found("the code", code)
    for name in IDENTIFIER.findall(plain):
        if len(name) > 1 and name.lower() not in WORDS["keywords"] and not sources.has_name(name):
            return _not_found("the name", name)
    for number in CODE_NUMBER.findall(plain):
        if len(number) > 1 and number not in sources.numbers:
            return _not_found("the number", number)
    return None if re.search(r"\w", plain) else _not_found("the code", code)


def _has_quote(quoted: str, sources: Sources) -> bool:
    """Word by word; what an ellipsis leaves out is left out."""
    pieces = [stream(piece) for piece in PIECES.split(quoted)]
    return all(sources.says(piece) for piece in pieces if piece) or sources.has_code(quoted)


# Numbers: in the same or another unit.

SMALL = 10
FACTORS = {
    "k": (1000, 1024), "m": (1_000_000, 1_048_576, 60), "ms": (0.001,), "millisecond": (0.001,),
    "s": (1000,), "sec": (1000,), "second": (1000,), "min": (60, 60_000), "minute": (60, 60_000),
    "h": (3600, 3_600_000, 60), "hour": (3600, 3_600_000, 60), "day": (86_400, 86_400_000, 24, 1440),
    "kb": (1000, 1024), "kib": (1024,), "mb": (1_000_000, 1_048_576, 1024, 1000), "mib": (1_048_576, 1024),
    "gb": (10**9, 1_073_741_824, 1024, 1000), "gib": (1_073_741_824, 1024), "byte": (), "week": (7,),
}  # fmt: skip
UNIT = re.compile(r"\s?-?([A-Za-z]+?)s?(?![A-Za-z])")
ORDINAL = re.compile(r"(?:st|nd|rd|th)\b")
STATUSES = {status.value: squeezed(status.phrase) for status in HTTPStatus}


def _is_known_number(claim: Claim, sources: Sources) -> bool:
    number = claim.text.replace("_", "").rstrip(".,")
    percent = claim.after.lstrip().startswith(("%", "percent"))
    whole = int(number) if number.isdigit() and len(number) < 9 else None
    of_line = PATTERNS["line"].search(claim.before) or claim.after.lstrip(" -").startswith("line")
    if of_line or ORDINAL.match(claim.after) or PATTERNS["not exact"].search(claim.before):
        return True
    mark = UNIT.match(claim.after)
    factors = FACTORS.get(mark[1].lower() if mark else "")
    # A small number without a unit counts things that cannot be counted here: fields, cases, steps.
    if whole is not None and (whole < 2 or (whole <= SMALL and factors is None and not percent)):
        return True
    plain = number.replace(",", "")
    forms = {number, plain, number.replace(",", "."), plain.lstrip("0") or "0"}
    if re.fullmatch(r"[0-9]{1,3}(?:\.[0-9]{3})+", number):
        forms.add(number.replace(".", ""))
    if plain.count(".") < 2 and len(plain) < 16 and re.fullmatch(r"[0-9.]+", plain):
        value = float(plain)
        shares = (value / 100, 1 - value / 100, 1 + value / 100) if percent else ()
        forms |= {f"{each:.6g}" for each in (value, *shares)}
        forms |= {f"{value * factor:.15g}" for factor in factors or ()}
    if not forms.isdisjoint(sources.numbers) or whole == local(sources.turn.at).year:
        return True
    status = STATUSES.get(whole or 0)
    return status is not None and status in sources.squeezed.replace("_", "")


# Plans that are reported as done, and changes where nothing was changed.

PLAN_CHARACTERS = 12_000
LEAST_SHARED, MOSTLY = 0.6, 0.8


def _check_plans(prose: str, sources: Sources) -> Iterator[str]:
    planned = _planned(sources.turn.last_message, sources.turn.prompt)
    for sentence in split_sentences(prose[:PLAN_CHARACTERS]):
        if PATTERNS["future"].search(sentence):
            continue
        reported = PATTERNS["opening"].match(sentence) or (
            PATTERNS["passive"].search(sentence) and not PATTERNS["history"].search(sentence)
        )
        if reported and not sources.may_write and not _changed_before(objects(sentence), sources):
            yield "no file was changed"
        for clause in _clauses(sentence) if planned else ():
            step = next((s for s in planned if _is_planned(clause, s, sources)), None)
            if step and PATTERNS["deed"].search(clause):
                yield f"reported as done, but planned: {text.one_line(step, 80)}"


def _changed_before(about: set[str], sources: Sources) -> bool:
    """As far as its words can be traced."""
    return bool(about) and len(about & sources.done_before) >= len(about) / 2


@lru_cache(maxsize=4)
def _planned(message: str | None, prompt: str | None) -> tuple[str, ...]:
    """What the agent calls left to do, and what the user asks for at another time."""
    sentences = read_sentences(text.clean((message or "")[:PLAN_CHARACTERS]))
    asked = read_sentences(plain_prompt(prompt)) if prompt else []
    steps = (
        *find_open_ends(message),
        *filter(PATTERNS["promised"].search, sentences),
        *filter(PATTERNS["asked later"].search, asked),
    )
    return tuple(dict.fromkeys(steps))


def _is_planned(clause: str, step: str, sources: Sources) -> bool:
    """They share most words of either, and most of what they share was neither changed nor run."""
    about, meant = objects(clause), objects(step)
    shared = about & (meant | stems(step))
    alike = len(shared) >= LEAST_SHARED * len(about) or (
        len(shared) >= 2 and len(about & meant) >= MOSTLY * len(meant)
    )
    if not shared or not alike or max(map(len, shared)) < 5:
        return False
    return len(shared & sources.done) <= len(shared) / 2 and not _changed_before(shared, sources)


# Copies of the worked example, and a model that repeats itself.

ECHO_OVERLAP = 0.75
LEAST_WORDS = 3
SHARED = 0.5
PROPER = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{3,}\b")  # not at the beginning of a sentence
LEAST_VARIANTS = 4  # three files that were changed in the same way are no loop
VARIANT_OVERLAP = 0.7


def _is_echo(prose: str, examples: Sequence[str], sources: Sources) -> bool:
    """Nearly a text of the example, and most of what it is about does not occur in the turn; or it has a
    name from there that occurs nowhere else."""
    names = {name for example in examples for name in PROPER.findall(example)}
    if not names.isdisjoint(set(prose.split()) - sources.words):
        return True
    words = stream(prose).split()
    if len(words) < LEAST_WORDS or not any(
        word_overlap(words, stream(example).split()) >= ECHO_OVERLAP for example in examples
    ):
        return False
    about = objects(prose)
    return len(about & sources.stems) < SHARED * len(about) or not about


# What is said about test runs, builds, commits and pushes, against the runs of the turn.

COMMAND = re.compile(r"`([^`\n]{2,200})`(?: (?:command|run|script|step|check|suite))?\s+(.{0,60})")
LOOKS = frozenset(("routine", "run", "server", "deploy"))
ENDED = ("passed", "failed", "quiet", "unseen")
KINDS = ("test", "build", "lint", "type check")
EVERY = re.compile(r"\b(?:all|every|entire|full|whole)\b", re.IGNORECASE)
Runs = Sequence[Run]


def _clauses(prose: str) -> list[str]:
    return [part.strip() for part in PATTERNS["clause"].split(prose) if part.strip()]


def _check_outcomes(prose: str, sources: Sources) -> Iterator[str]:
    spoken = f"{sources.turn.prompt or ''}\n{sources.turn.last_message or ''}"
    may_fail = PATTERNS["failing"].search(spoken)
    for clause in _clauses(prose):
        plain = clause.replace("`", "")
        hedged = PATTERNS["hedge"].search(plain)
        for mark in COMMAND.finditer(clause):
            runs, before = (_runs_of(mark[1], each) for each in (sources.runs, sources.runs_before))
            label = text.one_line(mark[1], 60)
            if runs and runs[-1].bad and not hedged and PATTERNS["good"].match(mark[2]):
                yield f"the command failed: {label}"
            if PATTERNS["bad"].match(mark[2]) and _never_failed(runs, before):
                yield f"the command did not fail: {label}"
        if hedged:
            continue
        for kind in KINDS:
            runs, before = (_of_kind(kind, each) for each in (sources.runs, sources.runs_before))
            if PATTERNS[f"{kind} passed"].search(plain):
                yield from _check_passed(kind, plain, runs, before, sources)
            elif PATTERNS[f"{kind} fixed"].search(plain):
                yield from _check_last(kind, _ended(runs))
            failed = not may_fail and PATTERNS[f"{kind} failed"].search(plain)
            if failed and _never_failed(runs, before):
                yield f"every {kind} run in the events passed"
        yield from _check_done(plain, sources)


def _check_passed(
    kind: str, clause: str, runs: Runs, before: Runs, sources: Sources
) -> Iterator[str]:
    named = [run for run in runs if _is_named(run, clause)] or runs
    if ended := _ended(named):
        if EVERY.search(clause):
            last_of_each = {run.command.program: run for run in ended}.values()
            ended = [run for run in last_of_each if run.bad]
        yield from _check_last(kind, ended)
    elif not _is_reassured(sources) and not (before and before[-1].good and not sources.edits):
        yield f"the {kind} run did not end" if named else f"no {kind} run in the events"


def _check_done(clause: str, sources: Sources) -> Iterator[str]:
    reassured = _is_reassured(sources)
    if PATTERNS["ran tests"].search(clause) and not (
        _of_kind("test", sources.all_runs) or reassured
    ):
        yield "no test run in the events"
    if PATTERNS["verified"].search(clause):
        ended = _ended(sources.runs)
        if checks := [run for run in ended if run.command.kinds & CHECKS]:
            yield from _check_last(checks[-1].command.kind, checks)
        elif not (ended or reassured or sources.runs_before):
            yield "nothing was run that could verify it"
    for kind, kinds in (("commit", {"commit", "history"}), ("push", {"push"})):
        if PATTERNS[kind].search(clause) and not (
            any(run.command.kinds & kinds and not run.bad for run in sources.all_runs)
            or any(kind in output[:20_000].lower() for output in _tool_outputs(sources))
            or any("git log" in run.command.text for run in sources.all_runs)
        ):
            yield f"no {kind} in the events"


def _check_last(kind: str, runs: Runs) -> Iterator[str]:
    if runs and runs[-1].bad:
        yield f"the last {kind} run failed: {text.one_line(runs[-1].command.text, 60)}"


def _ended(runs: Runs) -> list[Run]:
    return [run for run in runs if run.outcome.verdict in ENDED]


def _of_kind(kind: str, runs: Runs) -> list[Run]:
    """Runs of a kind. A script that prints a tally is a test run whatever it is called."""
    return [
        run
        for run in runs
        if kind in run.command.kinds
        or (kind == "test" and (run.outcome.tally or "test" in run.command.text))
        or (kind == "build" and run.command.kinds & {"type check"})
    ]


def _runs_of(command: str, runs: Runs) -> list[Run]:
    """The runs that ended and hold the words of the command; one word must be the program itself."""
    words = command.split()
    return [
        run
        for run in _ended(runs)
        if all(word in run.command.text for word in words)
        and (len(words) > 1 or run.command.program == command)
    ]


def _is_named(run: Run, clause: str) -> bool:
    parts = (*run.command.scope, *run.command.program.split()[:1])
    return any(len(part) > 3 and bounded(clause, part.rsplit("/", 1)[-1]) for part in parts)


def _is_reassured(sources: Sources) -> bool:
    """Some output says that a thing passed: a look at the CI, a runner that is no command."""
    looks = (
        sources.events[run.place].output
        for run in sources.runs
        if run.command.kinds <= LOOKS and not run.outcome.tally and not run.bad
    )
    outputs = (*looks, *_tool_outputs(sources))
    return any(PATTERNS["reassuring"].search(each[-6000:]) for each in outputs)


def _tool_outputs(sources: Sources) -> Iterator[str]:
    """Of the tools that are neither commands nor work on files."""
    for event in sources.events:
        what = event.item.event.what
        if isinstance(what, ToolUsed) and not what.failure and isinstance(what.action, OtherTool):
            yield event.output


def _never_failed(runs: Runs, before: Runs) -> bool:
    passed = bool(runs) and all(run.outcome.verdict == "passed" for run in runs)
    return passed and not any(run.bad for run in before)
