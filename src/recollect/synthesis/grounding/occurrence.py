"""Whether a claim occurs in what the turn says; if not, the reason to doubt it."""

import re
from pathlib import PurePosixPath

from recollect import text
from recollect.providers.reading.steps import relative
from recollect.synthesis.grounding.claims import Claim
from recollect.synthesis.grounding.figures import number_doubt
from recollect.synthesis.grounding.names import KEYWORDS, is_known
from recollect.synthesis.grounding.sources import Sources
from recollect.synthesis.grounding.wording import IDENTIFIER, bounded, stream

SHOWN = 60
CUT = re.compile(r"…|\.{3,}|\[\.\.\.\]")
PIECES = re.compile(rf"{CUT.pattern}|[.!?]\s")
PLACE = re.compile(r"(?:::.*|#L?\d+.*|(?::\d+)+(?:-\d+)?)$")
IMPORTED = (".ts", ".tsx", ".js", ".jsx", ".mjs", ".vue", ".svelte")
ARGUMENT = re.compile(r"[^\s\"';&|()]+")


def doubt_of(claim: Claim, sources: Sources) -> str | None:
    match claim.kind:
        case "path":
            return None if has_path(claim.text, sources) else _nowhere("the file", claim.text)
        case "symbol":
            return None if _has_symbol(claim.text, sources) else _nowhere("the name", claim.text)
        case "code":
            return _code_doubt(claim.text, sources)
        case "command" | "run":
            return _command_doubt(claim, sources)
        case "number":
            return number_doubt(claim, sources)
        case "quote":
            return (
                None if _has_quote(claim.text, sources) else _nowhere("the quotation", claim.text)
            )
        case "address":
            bare = claim.text.partition("://")[2]
            return None if sources.has_code(bare) else _nowhere("the address", claim.text)
        case "hash":
            short = claim.text[:7]
            return None if short in sources.text else _nowhere("the hash", claim.text)


def _nowhere(what: str, name: str) -> str:
    return f"{what} {text.one_line(name, SHOWN)} occurs nowhere in the events"


def has_path(path: str, sources: Sources) -> bool:
    """By its end: `auth.ts` is /home/x/src/auth.ts. Upper and lower case differ."""
    whole = path.replace("\\", "/").strip().removeprefix("file://")
    name = PLACE.sub("", relative(whole, sources.turn.root)) or whole
    name = name.removeprefix("./").removeprefix("~").rstrip("/")
    if any(bounded(sources.text, form) for form in _spellings(name, sources)):
        return True
    *folders, last = name.split("/")
    loose = any(bounded(sources.text, lead + last) for lead in (" ", "\n", "'", '"', "`", "("))
    return (
        bool(folders)
        and loose
        and all(f in sources.words or f.lower() in sources.lowered for f in folders if f)
    )


def _spellings(name: str, sources: Sources) -> set[str]:
    """With and without the project's folder, and as an import says it, without its ending."""
    found = {name}
    first, _, rest = name.partition("/")
    if rest and first in (sources.turn.project, PurePosixPath(sources.turn.root).name):
        found.add(rest)
    stem, ending = (
        str(PurePosixPath(name).with_suffix("")) if name.strip("/.") else name,
        PurePosixPath(name).suffix,
    )
    if "/" in name.strip("/") and ending:
        found.add(stem)
        found |= {stem.replace("/", ".")} if ending == ".py" else set()
    elif ending in IMPORTED:
        found.add(f"/{stem}")
    return found - {"", "."}


def _has_symbol(name: str, sources: Sources) -> bool:
    """Every part of a dotted name. A plural is its singular; case matters only where code says so."""
    if name.startswith("-"):
        return bounded(sources.text, name)
    parts = [part for part in re.split(r"\.|::|#", name) if part]
    return all(_has_part(part, sources) for part in parts)


def _has_part(part: str, sources: Sources) -> bool:
    forms = {part, part.removesuffix("s"), part.removesuffix("es")}
    return any(f in sources.words or f.lower() in sources.lowered for f in forms) or is_known(part)


def _code_doubt(code: str, sources: Sources) -> str | None:
    """As it stands; or each of its names and numbers, when it was put together or shortened."""
    if sources.has_code(code) or (
        IDENTIFIER.fullmatch(code) and (code.lower() in KEYWORDS or is_known(code))
    ):
        return None
    plain = CUT.sub(" ", code)
    if not plain.isascii():
        return None if _has_quote(code, sources) else _nowhere("the code", code)
    names = [n for n in IDENTIFIER.findall(plain) if n.lower() not in KEYWORDS and len(n) > 1]
    for name in names:
        if not _has_part(name, sources):
            return _nowhere("the name", name)
    numbers = re.findall(r"(?<![A-Za-z0-9_.])[0-9]+(?:\.[0-9]+)*", plain)
    missing = [n for n in numbers if len(n) > 1 and n not in sources.numbers]
    if missing:
        return _nowhere("the number", missing[0])
    if names or numbers or not re.search(r"[A-Za-z0-9]", plain):
        return None
    return _nowhere("the code", code)


def _command_doubt(claim: Claim, sources: Sources) -> str | None:
    """Said to have been run: some command must hold its words. Else it is enough that it is written."""
    if was_run(claim.text, sources):
        return None
    if claim.kind == "command" and (sources.has_code(claim.text) or sources.says(claim.text)):
        return None
    return f"the command {text.one_line(claim.text, SHOWN)} was not run"


def was_run(command: str, sources: Sources) -> bool:
    wanted = [w for w in ARGUMENT.findall(CUT.sub(" ", command)) if w.strip("\\$")]
    return any(all(bounded(line, word) for word in wanted) for line in sources.commands)


def _has_quote(said: str, sources: Sources) -> bool:
    """Word by word; what an ellipsis leaves out is left out."""
    pieces = [stream(piece) for piece in PIECES.split(said)]
    return all(sources.says(piece) for piece in pieces if piece) or sources.has_code(said)
