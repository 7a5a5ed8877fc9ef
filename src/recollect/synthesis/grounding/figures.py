"""Whether a number in a reply can be found in the turn, said or counted, in this unit or another."""

import re
from datetime import UTC, datetime, timedelta
from http import HTTPStatus

from recollect.english import NUMBER_WORDS, SMALL_NUMBERS
from recollect.synthesis.grounding.claims import Claim
from recollect.synthesis.grounding.sources import Sources

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
ABOUT = re.compile(
    r"(?:~|≈|\b(?:about|around|approximately|roughly|nearly|almost|over|more than|less than|under|up to"
    r"|at least|at most|some|below|above|within))\s*(?:\w+\s)?$",
    re.IGNORECASE,
)
STANDARD = re.compile(r"\b(?:ISO|RFC|IEEE|PEP|CVE|ES|Unicode|UTF|SHA|Windows|Base)[ -]?$")
LINES = re.compile(
    r"\b(?:lines?|L|ll\.|lineno)\s*(?:[0-9]+\s*(?:-|–|to|and|,)\s*)*$", re.IGNORECASE
)
DATE = re.compile(r"[0-9]{4}$")
COUNTED = re.compile(r"\s+(?:[a-z-]+\s+){0,2}?(files?|commands?|commits?)\b")
CHANGED = re.compile(
    r"\b(?:modif|chang|edit|updat|creat|touch|wrote|rewr|refactor)\w*\s+(?:\w+\s+)?$", re.I
)
LISTING = re.compile(r"(?:git (?:-\S+ \S+ )?(?!commit|status|diff|add)|gh )")
WORDS = re.compile(
    rf"\b({'|'.join(SMALL_NUMBERS[2:11])})\b(?=(?:\s+[a-z-]+){{0,2}}?\s+(?:files|commands|commits)\b)",
    re.I,
)


def spelled(prose: str) -> list[Claim]:
    """Counts in words, where they count something that the events can be counted for."""
    return [
        Claim(
            "number",
            NUMBER_WORDS[m[1].lower()],
            prose[m.end() : m.end() + 40],
            prose[max(0, m.start() - 30) : m.start()],
        )
        for m in WORDS.finditer(prose)
    ]


def number_doubt(claim: Claim, sources: Sources) -> str | None:
    number = claim.text.replace("_", "").rstrip(".,")
    counted = COUNTED.match(claim.after)
    if counted and number.isdigit():
        return _count_doubt(int(number), counted[1], claim, sources)
    if ORDINAL.match(claim.after) or STANDARD.search(claim.before) or _is_idle(number, claim):
        return None
    if any(form in sources.numbers for form in _forms(number, claim.after)):
        return None
    if _is_line(number, claim, sources) or _is_date(number, sources) or _is_status(number, sources):
        return None
    if ABOUT.search(claim.before) and _is_near(number, sources):
        return None
    unit = claim.after[:1] if claim.after.startswith("%") else ""
    return f"the number {claim.text}{unit} occurs nowhere in the events"


def _is_idle(number: str, claim: Claim) -> bool:
    """A small number without a unit counts things that nobody can count here: fields, cases, steps."""
    if not number.isdigit() or int(number[:6]) > SMALL:
        return False
    return int(number) < 2 or (
        _unit(claim.after) not in FACTORS and not claim.after.startswith("%")
    )


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


def _is_line(number: str, claim: Claim, sources: Sources) -> bool:
    if not number.isdigit() or len(number) > 9:
        return False
    said = LINES.search(claim.before) or claim.after.lstrip().startswith(("line", "-line"))
    return bool(said) and any(low <= int(number) <= high for low, high in sources.spans)


def _is_date(number: str, sources: Sources) -> bool:
    """The year in which the turn took place."""
    if not DATE.match(number) or not 0 <= sources.turn.at < 4_000_000_000_000:
        return False
    day = datetime.fromtimestamp(sources.turn.at / 1000, UTC)
    return int(number[:4]) in {(day + timedelta(days=d)).year for d in (-1, 0, 1)}


def _is_status(number: str, sources: Sources) -> bool:
    """401 is said by `Unauthorized` too."""
    try:
        phrase = HTTPStatus(int(number)).phrase if len(number) == 3 else ""
    except ValueError:
        return False
    return bool(phrase) and phrase.replace(" ", "").lower() in sources.squeezed.replace("_", "")


def _is_near(number: str, sources: Sources) -> bool:
    plain = number.replace(",", "")
    if plain.count(".") > 1 or len(plain) > 15:
        return False
    value = float(plain)
    return any(abs(other - value) <= value / 5 for other in sources.values)


def _count_doubt(number: int, noun: str, claim: Claim, sources: Sources) -> str | None:
    """No more files, commands or commits than there are; the events may also say the count themselves."""
    one, many = noun.removesuffix("s"), f"{noun.removesuffix('s')}s"
    said = (f"{number} {one}", f"{number} {many}", f"{many} {number}")
    if number < 2 or any(map(sources.says, said)):
        return None
    most = _countable(one, claim, sources)
    return None if number <= most else f"the count {number} {noun} is not borne out: {most} at most"


def _countable(noun: str, claim: Claim, sources: Sources) -> int:
    if noun == "command":
        return len(sources.runs) + len(sources.runs_before)
    if noun == "commit":
        commits = [c for run in (*sources.runs, *sources.runs_before) for c in run.commits]
        listed = any(LISTING.match(run.command.text) for run in sources.runs)
        return 10**6 if listed else len(commits)
    changed = {edit.patch.path for edit in sources.edits}
    only_edits = all(
        run.command.kinds <= {"routine", "test", "lint", "type check"} for run in sources.runs
    )
    if CHANGED.search(claim.before) and only_edits and changed:
        return len(changed)
    return max(len(sources.file_names), len({seen.path for seen in sources.seen if seen.path}))
