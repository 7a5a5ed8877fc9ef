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
from aforesaid.english import NUMBER_WORDS, SMALL_NUMBERS
from aforesaid.model.events import FileChanged, FileRead, ToolUsed
from aforesaid.model.observations import (
    SUMMARY_PARTS,
    Doubt,
    ObservationDraft,
    SummaryDraft,
    Turn,
    TurnEvent,
)
from aforesaid.providers.extract.choose import find_open_ends
from aforesaid.providers.extract.passages import plain_prompt, read_sentences, split_sentences
from aforesaid.providers.extract.work import relative_path
from aforesaid.similarity import word_overlap
from aforesaid.synthesis.claims import (
    CLAIM_CHARACTERS,
    IDENTIFIER,
    KEYWORDS,
    Claim,
    bounded,
    is_known_term,
    objects,
    read_claims,
    stems,
    stream,
)
from aforesaid.synthesis.evidence import Sources, draft_parts, find_evidence, read_sources
from aforesaid.synthesis.outcomes import check_outcomes, clauses

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
    doubts = [
        d for part, text in draft_parts(draft) for d in _doubts(part, text, sources, examples)
    ]
    doubts += [Doubt(f"facts {place}", VARIANT) for place in find_variants(draft.facts)]
    changed = _paths(evidence, turn.root, FileChanged)
    named = (*draft.files_read, *draft.files_modified)
    files_read, unknown = _merge_files(evidence, named, changed, sources)
    return replace(
        draft,
        doubts=tuple(doubts + unknown),
        evidence=tuple(dict.fromkeys(item.id for item in evidence)),
        files_read=files_read,
        files_modified=changed,
        subagent_type=_subagent_type(evidence),
    )


def ground_summary(draft: SummaryDraft, turn: Turn, examples: Sequence[str] = ()) -> SummaryDraft:
    sources = read_sources(turn)
    doubts = [
        doubt
        for part in SUMMARY_PARTS
        if (text := getattr(draft, part))
        for doubt in _doubts(part, text, sources, examples, past=part not in FUTURE_PARTS)
    ]
    if draft.next_steps and not turn.last_message:
        doubts.append(Doubt("next_steps", UNNAMED))
    changed = _paths(turn.events, turn.root, FileChanged)
    named = (*draft.files_read, *draft.files_edited)
    files_read, unknown = _merge_files(turn.events, named, changed, sources)
    return replace(
        draft, doubts=tuple(doubts + unknown), files_read=files_read, files_edited=changed
    )


def _doubts(
    part: str, text: str, sources: Sources, examples: Sequence[str], *, past: bool = True
) -> list[Doubt]:
    """`past`: the part tells what happened; a request or a next step does not."""
    reasons = dict.fromkeys(_reasons(text[:CLAIM_CHARACTERS], sources, examples, past=past))
    return [Doubt(part, reason) for reason in list(reasons)[:MOST_DOUBTS]]


def _reasons(text: str, sources: Sources, examples: Sequence[str], *, past: bool) -> Iterator[str]:
    if is_echo(text, examples, sources):
        yield ECHO
    yield from filter(None, (check_claim(claim, sources) for claim in read_claims(text)))
    yield from check_file_counts(text, sources)
    if past:
        yield from check_outcomes(text, sources)
        yield from check_plans(text, sources)


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


def _subagent_type(evidence: Iterable[TurnEvent]) -> str | None:
    """The kind of sub-agent, if all of it is the work of one kind."""
    types = {item.event.subagent.type if item.event.subagent else "" for item in evidence}
    return (types.pop() or None) if len(types) == 1 else None


# Names, code, commands, quotations: they have to occur in the events.

QUOTED_LENGTH = 60
CUT = re.compile(r"…|\.{3,}|\[\.\.\.\]")
PIECES = re.compile(rf"{CUT.pattern}|[.!?]\s")
PLACE = re.compile(r"(?:::.*|#L?\d+.*|(?::\d+)+(?:-\d+)?)$")
ARGUMENT = re.compile(r"[^\s\"';&|()]+")
CODE_NUMBER = re.compile(r"(?<![A-Za-z0-9_.])[0-9]+(?:\.[0-9]+)*")
NAME_LEADS = (" ", "\n", "'", '"', "`", "(")


def check_claim(claim: Claim, sources: Sources) -> str | None:
    match claim.kind:
        case "path":
            known, what = has_path(claim.text, sources), "the file"
        case "symbol":
            known, what = _has_symbol(claim.text, sources), "the name"
        case "quote":
            known, what = _has_quote(claim.text, sources), "the quotation"
        case "address":
            known, what = sources.has_code(claim.text.partition("://")[2]), "the address"
        case "hash":
            known, what = claim.text[:7] in sources.text, "the hash"
        case "code":
            return _check_code(claim.text, sources)
        case "command" | "run":
            return _check_command(claim, sources)
        case "number":
            return check_number(claim, sources)
    return None if known else _not_found(what, claim.text)


def _not_found(what: str, name: str) -> str:
    return f"{what} {text.one_line(name, QUOTED_LENGTH)} occurs nowhere in the events"


def has_path(path: str, sources: Sources) -> bool:
    """By its end: `auth.ts` is /home/x/src/auth.ts. Upper and lower case differ."""
    whole = path.replace("\\", "/").strip().removeprefix("file://")
    name = PLACE.sub("", relative_path(whole, sources.turn.root)) or whole
    name = name.removeprefix("./").removeprefix("~").rstrip("/")
    if any(bounded(sources.text, form) for form in _spellings(name, sources)):
        return True
    *folders, last = name.split("/")
    alone = any(bounded(sources.text, lead + last) for lead in NAME_LEADS)
    return bool(folders) and alone and all(_has_part(each, sources) for each in folders if each)


def _spellings(name: str, sources: Sources) -> set[str]:
    """With and without the project's folder, and as an import names it, without its suffix."""
    found = {name}
    first, _, rest = name.partition("/")
    if rest and first in (sources.turn.project, PurePosixPath(sources.turn.root).name):
        found.add(rest)
    stem, dot, _ = name.rpartition(".")
    if rest and dot:
        found |= {stem, stem.replace("/", ".")}
    elif stem:
        found.add(f"/{stem}")
    return found - {"", "."}


def _has_symbol(name: str, sources: Sources) -> bool:
    """Every part of a dotted name."""
    if name.startswith("-"):
        return bounded(sources.text, name)
    return all(_has_part(part, sources) for part in re.split(r"\.|::|#", name) if part)


def _has_part(part: str, sources: Sources) -> bool:
    """A plural is its singular; case matters only where code says so."""
    forms = {part, part.removesuffix("s"), part.removesuffix("es")}
    return any(f in sources.words or f.lower() in sources.lowered for f in forms) or is_known_term(
        part
    )


def _check_code(code: str, sources: Sources) -> str | None:
    """As it stands; or each of its names and numbers, when it was put together or shortened."""
    if sources.has_code(code):
        return None
    plain = CUT.sub(" ", code)
    if not plain.isascii():
        return None if _has_quote(code, sources) else _not_found("the code", code)
    names = [n for n in IDENTIFIER.findall(plain) if n.lower() not in KEYWORDS and len(n) > 1]
    for name in names:
        if not _has_part(name, sources):
            return _not_found("the name", name)
    for number in CODE_NUMBER.findall(plain):
        if len(number) > 1 and number not in sources.numbers:
            return _not_found("the number", number)
    return None if re.search(r"\w", plain) else _not_found("the code", code)


def _check_command(claim: Claim, sources: Sources) -> str | None:
    """A command that was run must be among the commands. Of another it is enough that it is written."""
    wanted = [w for w in ARGUMENT.findall(CUT.sub(" ", claim.text)) if w.strip("\\$")]
    if any(all(bounded(line, word) for word in wanted) for line in sources.commands):
        return None
    if claim.kind == "command" and (sources.has_code(claim.text) or sources.says(claim.text)):
        return None
    return f"the command {text.one_line(claim.text, QUOTED_LENGTH)} was not run"


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
    "week": (604_800, 7), "month": (30,), "year": (365,),
    "kb": (1000, 1024), "kib": (1024,), "mb": (1_000_000, 1_048_576, 1024, 1000), "mib": (1_048_576, 1024),
    "gb": (10**9, 1_073_741_824, 1024, 1000), "gib": (1_073_741_824, 1024),
    "byte": (), "retry": (), "retrie": (), "attempt": (), "px": (), "port": (), "x": (), "time": (),
}  # fmt: skip
UNIT = re.compile(r"\s?-?([A-Za-z]+)")
ORDINAL = re.compile(r"(?:st|nd|rd|th)\b")
# Numbers that cannot be looked up as they are: rough ones, and those of standards.
NOT_EXACT = re.compile(
    r"(?:~|≈|\b(?:about|around|approximately|roughly|nearly|almost))\s*(?:\w+\s)?$"
    r"|\b(?:ISO|RFC|IEEE|PEP|CVE|ES|Unicode|UTF|SHA|Windows|Base)[ -]?$",
    re.IGNORECASE,
)
LINE = re.compile(r"\b(?:lines?|L|ll\.|lineno)\s*(?:[0-9]+\s*(?:-|–|to|and|,)\s*)*$", re.IGNORECASE)
FILE_COUNT = re.compile(
    rf"\b([0-9]{{1,6}}|{'|'.join(SMALL_NUMBERS[2:11])})\s+(?:[a-z-]+\s+){{0,2}}?files\b",
    re.IGNORECASE,
)


def check_file_counts(prose: str, sources: Sources) -> Iterator[str]:
    """No more files than occur in the events, unless these have the count themselves."""
    for found in FILE_COUNT.finditer(prose):
        number = NUMBER_WORDS.get(found[1].lower(), found[1])
        most = len(sources.file_names)
        printed = sources.says(f"{number} files") or sources.says(f"files {number}")
        if int(number) > most and not printed:
            yield f"the count {found[0]} is too high: {most} at most"


def check_number(claim: Claim, sources: Sources) -> str | None:
    number = claim.text.replace("_", "").rstrip(".,")
    if ORDINAL.match(claim.after) or NOT_EXACT.search(claim.before) or _is_small(number, claim):
        return None
    if any(form in sources.numbers for form in _forms(number, claim.after)):
        return None
    if number.isdigit() and len(number) < 9 and _is_implied(int(number), claim, sources):
        return None
    unit = "%" if claim.after.startswith("%") else ""
    return f"the number {claim.text}{unit} occurs nowhere in the events"


def _is_small(number: str, claim: Claim) -> bool:
    """A small number without a unit counts things that cannot be counted here: fields, cases, steps."""
    if not number.isdigit() or int(number[:6]) > SMALL:
        return False
    return int(number) < 2 or (
        _unit(claim.after) not in FACTORS and not claim.after.startswith("%")
    )


def _is_implied(number: int, claim: Claim, sources: Sources) -> bool:
    """The number of a line, the year of the turn, or the status that `Unauthorized` stands for."""
    if LINE.search(claim.before) or claim.after.lstrip().startswith(("line", "-line")):
        return number <= sources.last_line
    if number == local(sources.turn.at).year:
        return True
    try:
        phrase = HTTPStatus(number).phrase
    except ValueError:
        return False
    return phrase.replace(" ", "").lower() in sources.squeezed.replace("_", "")


def _unit(after: str) -> str:
    mark = UNIT.match(after)
    word = mark[1].lower() if mark else ""
    return word if word in FACTORS or len(word) < 3 else word.removesuffix("s")


def _forms(number: str, after: str) -> set[str]:
    plain = number.replace(",", "")
    found = {number, plain, number.replace(",", "."), plain.lstrip("0") or "0"}
    if re.fullmatch(r"[0-9]{1,3}(?:\.[0-9]{3})+", number):
        found.add(number.replace(".", ""))
    if plain.count(".") > 1 or len(plain) > 15 or not re.fullmatch(r"[0-9.]+", plain):
        return found
    value = float(plain)
    found.add(f"{value:g}")
    if after.lstrip().startswith(("%", "percent")):
        found |= {f"{v:.6g}" for v in (value / 100, 1 - value / 100, 1 + value / 100)}
    return found | {f"{value * factor:.15g}" for factor in FACTORS.get(_unit(after), ())}


# Plans that are reported as done, and changes where nothing was changed.

PLAN_CHARACTERS = 12_000
MADE = (
    r"added|created|implemented|wrote|updated|fixed|removed|deleted|refactored|renamed|replaced"
    r"|introduced|modified|rewrote|extracted"
)
DEED = re.compile(
    rf"\b(?:{MADE}|written|extended|improved|enabled|configured|installed|migrated|completed|integrated"
    r"|built|moved|converted|documented|deployed|published|merged|upgraded|rewritten"
    r"|optimi[sz]ed|mocked|set up|wired|switched)\b",
    re.I,
)
OPENING = re.compile(
    rf"^\W*(?:(?:successfully|also|then|the agent|agent|the assistant|assistant|claude|i|we)\s+)*"
    rf"(?:(?:{MADE})|(?:add|implement|create|refactor|rename|fix(?! (?:for|is|in|was)))(?=\s))\s",
    re.I,
)
PASSIVE = re.compile(rf"\b(?:has|have) been (?:\w+ly )?(?:{MADE})\b", re.I)
FUTURE = re.compile(
    r"\b(?:next|to-?do|still|will|should|would|could|remain\w*|later|follow-?ups?|not|yet|need\w*"
    r"|plan\w*|going to|must|want\w*|propos\w*|suggest\w*|recommend\w*|future|pending|if|asked"
    r"|requested|intend\w*|upcoming)\b|n't\b",
    re.I,
)
PROMISED = re.compile(
    r"\b(?:next(?: step| up|,|:| i| we)|to-?do|still needs?|will (?!be able)|i'll|should|remains?|later"
    r"|follow-?ups?|going to|plan to|not yet|haven't|hasn't|have not|has not|left to do|future"
    r"|recommend|suggest|you (?:may|might|can))\b",
    re.I,
)
ASKED_LATER = re.compile(
    r"\b(?:later|next (?:time|step|week|turn)|to-?do|follow-?ups?|not (?:now|yet)|afterwards)\b",
    re.I,
)
HISTORY = re.compile(
    r"\b(?:in (?:version|commit|release|v?\d)|previous\w*|original\w*|earlier|already|existing"
    r"|by (?:the )?user)\b",
    re.I,
)
LEAST_SHARED, MOSTLY = 0.6, 0.8


def check_plans(prose: str, sources: Sources) -> Iterator[str]:
    planned = _planned(sources.turn.last_message, sources.turn.prompt)
    for sentence in split_sentences(prose[:PLAN_CHARACTERS]):
        if FUTURE.search(sentence):
            continue
        if _is_unmade(sentence, sources):
            yield "no file was changed"
        for clause in clauses(sentence) if planned else ():
            step = next((s for s in planned if _is_planned(clause, s, sources)), None)
            if step and DEED.search(clause):
                yield f"reported as done, but planned: {text.one_line(step, 80)}"


def _is_unmade(sentence: str, sources: Sources) -> bool:
    """A change where nothing was changed, now or, as far as its words can be traced, before."""
    reported = OPENING.match(sentence) or (
        PASSIVE.search(sentence) and not HISTORY.search(sentence)
    )
    if not reported or sources.may_write:
        return False
    return not _changed_before(objects(sentence), sources)


def _changed_before(about: set[str], sources: Sources) -> bool:
    return bool(about) and len(about & sources.done_before) >= len(about) / 2


@lru_cache(maxsize=4)
def _planned(message: str | None, prompt: str | None) -> tuple[str, ...]:
    """What the agent calls left to do, and what the user asks for at another time."""
    sentences = read_sentences(text.clean((message or "")[:PLAN_CHARACTERS]))
    asked = read_sentences(plain_prompt(prompt)) if prompt else []
    steps = (
        *find_open_ends(message),
        *filter(PROMISED.search, sentences),
        *filter(ASKED_LATER.search, asked),
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


def is_echo(prose: str, examples: Sequence[str], sources: Sources) -> bool:
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


def find_variants(facts: Sequence[str]) -> Iterator[int]:
    """Places of the facts that belong to a row of variants."""
    words = [frozenset(stream(fact).split()) for fact in facts]
    for place, own in enumerate(words):
        alike = (len(own & w) >= VARIANT_OVERLAP * max(len(own), len(w), 1) for w in words)
        if sum(alike) >= LEAST_VARIANTS:
            yield place
