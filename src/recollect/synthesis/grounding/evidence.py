"""Which events a draft speaks of: those it names by file, command, symbol, number or quotation."""

import re

from recollect.model.events import CommandRun, FileChanged, FileRead, ToolUsed
from recollect.model.observations import ObservationDraft
from recollect.model.turns import TurnEvent
from recollect.providers.reading.commands import read_command
from recollect.synthesis.grounding.assertions import NOUNS
from recollect.synthesis.grounding.claims import Claim, read_claims
from recollect.synthesis.grounding.seen import Seen
from recollect.synthesis.grounding.sources import Sources
from recollect.synthesis.grounding.wording import bounded, objects, stems, stream

ENOUGH = 2
LOOKED_AT = 40_000
CHECKED = {kind: re.compile(rf"\b{noun}\b", re.I) for kind, noun in NOUNS.items()}


def find_evidence(draft: ObservationDraft, sources: Sources) -> tuple[TurnEvent, ...]:
    """In order. All events of the batch when none of them is named."""
    told = "\n".join(text for _, text in parts(draft))
    claims = read_claims(told)
    files = {
        *draft.files_read,
        *draft.files_modified,
        *(c.text for c in claims if c.kind == "path"),
    }
    names = {_last(path) for path in files} - {""}
    about = objects(told)
    found = [
        seen.item
        for seen in sources.seen
        if _named(seen, names, told)
        + _claimed(seen, claims)
        + _ran(seen, told)
        + _like(seen, about)
        >= ENOUGH
    ]
    return tuple(found) or tuple(seen.item for seen in sources.seen)


def parts(draft: ObservationDraft) -> list[tuple[str, str]]:
    """The prose of a draft with the name of each part."""
    found = [("title", draft.title), ("subtitle", draft.subtitle), ("narrative", draft.narrative)]
    found += [(f"facts {at}", fact) for at, fact in enumerate(draft.facts)]
    return [(part, text) for part, text in found if text]


def _last(path: str) -> str:
    return re.split(r"[/\\]", path.strip().rstrip("/"))[-1].partition(":")[0]


def _named(seen: Seen, names: set[str], told: str) -> int:
    if seen.path:
        last = _last(seen.path)
        return 3 if last in names or (last and bounded(told, last)) else 0
    return 2 if any(bounded(seen.did, name) for name in names) else 0


def _claimed(seen: Seen, claims: tuple[Claim, ...]) -> int:
    own = seen.told[:LOOKED_AT]
    score = 0
    for claim in claims:
        match claim.kind:
            case "symbol" | "code" if len(claim.text) > 2:
                score += 2 * bounded(
                    own,
                    re.split(r"\.|::|#", claim.text)[-1] if claim.kind == "symbol" else claim.text,
                )
            case "command" | "run":
                score += 3 * all(bounded(seen.did, word) for word in claim.text.split())
            case "number" if len(claim.text) > 2:
                score += 2 * bounded(own, claim.text)
            case "quote":
                score += 3 * (f" {stream(claim.text)} " in f" {stream(own)} ")
            case "hash":
                score += 2 * (claim.text[:7] in own)
    return score


def _ran(seen: Seen, told: str) -> int:
    """A draft that speaks of tests speaks of the test runs."""
    what = seen.item.event.what
    if not isinstance(what, ToolUsed) or not isinstance(what.action, CommandRun):
        return 0
    kinds = read_command(what.action.command).kinds
    return 2 * any(kind in kinds and pattern.search(told) for kind, pattern in CHECKED.items())


def _like(seen: Seen, about: set[str]) -> int:
    """Plain words count only against what was done: any long text holds a few of them by chance."""
    what = seen.item.event.what
    if not isinstance(what, ToolUsed) or isinstance(what.action, FileRead):
        return 0
    did = seen.did[:LOOKED_AT] if isinstance(what.action, FileChanged | CommandRun) else ""
    return min(2, len(about & stems(f"{_last(seen.path)} {did}")))
