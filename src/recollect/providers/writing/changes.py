"""What was changed, said in clauses: by file, by function, by line."""

from recollect import text
from recollect.providers.reading.patches import Patch
from recollect.providers.reading.story import Story
from recollect.providers.writing import places
from recollect.providers.writing.phrases import FACT_MOST, code, plural

SWAP_LIMIT = 45
LEAD_IN = 15


def lines(patch: Patch) -> str:
    """` (4 lines added, 2 removed)`, or nothing when the lines are not known."""
    if not patch.plus and not patch.minus:
        return ""
    if patch.minus == 0:
        return f" ({plural(patch.plus, 'line')} added)"
    if patch.plus == 0:
        return f" ({plural(patch.minus, 'line')} removed)"
    return f" ({plural(patch.plus, 'line')} added, {patch.minus} removed)"


def of_file(patch: Patch) -> str:
    """A whole statement about one file, with as many names as a fact has room for."""
    found = ""
    for most in (4, 3, 2, 1):
        for size in (lines(patch), ""):
            found = f"{_told(patch, most)}{size}"
            if len(found) < FACT_MOST:
                return found
    return found


def _told(patch: Patch, most: int) -> str:
    path = text.one_line(patch.path, 70)
    if patch.created:
        return created(path, patch, most)
    deeds = what_happened(patch, most=most)
    return f"{path}: {deeds}" if deeds else f"{path} was changed"


def created(where: str, patch: Patch, most: int = 3) -> str:
    """`a.py was created with `f` and `g``."""
    symbols = places.named(patch.added, most)
    return f"{where} was created" + (f" with {symbols}" if symbols else "")


def what_happened(patch: Patch, *, most: int = 3) -> str:
    """`a` and `b` were added, and `c` was changed."""
    renamed = patch.renamed
    named = {symbol for pair in renamed for symbol in pair}
    deeds = [f"{code(old.name)} was renamed to {code(new.name)}" for old, new in renamed[:most]]
    for symbols, verb in (
        (patch.added, "added"),
        (patch.changed, "changed"),
        (patch.removed, "removed"),
    ):
        kept = [symbol for symbol in symbols if symbol not in named]
        deeds += [places.done(kept, verb, most)] if kept else []
    return ", ".join(deeds[:-1]) + (", and " if len(deeds) > 1 else "") + "".join(deeds[-1:])


def of_swap(patch: Patch, old: str, new: str) -> str:
    """One line that became another."""
    return f"{text.one_line(patch.path, 60)}: {swapped(old, new, SWAP_LIMIT)}"


def swapped(old: str, new: str, limit: int) -> str:
    """`a` became `b`; of long lines the part where they differ."""
    differ = (at for at, (a, b) in enumerate(zip(old, new, strict=False)) if a != b)
    alike = next(differ, min(len(old), len(new)))
    start = max(0, alike - LEAD_IN) if max(len(old), len(new)) > limit else 0
    start = old.rfind(" ", 0, start + 1) + 1 if start else 0
    mark = "…" if start else ""
    return f"{code(mark + old[start:], limit)} became {code(mark + new[start:], limit)}"


def moves(story: Story) -> list[str]:
    """Symbols that left one file and came into another in the same turn."""
    went = {s.name: patch.path for patch in story.patches for s in patch.removed}
    return [
        f"{code(symbol.name)} was moved from {places.short(went[symbol.name])} "
        f"to {places.short(patch.path)}"
        for patch in story.patches
        for symbol in patch.added
        if symbol.name in went and went[symbol.name] != patch.path
    ]


def in_short(story: Story) -> list[str]:
    """The changes in one clause, for a subtitle: all of them, and shorter, the main one alone."""
    ranked = places.by_weight(story.patches)
    if not ranked:
        return []
    clause, rest = _main_clause(ranked[0]), ranked[1:]
    if not rest:
        return [clause]
    if len(rest) > 2:
        return [f"{clause}, and {plural(len(rest), 'more file')} changed", clause]
    verb = "created" if all(patch.created for patch in rest) else "changed"
    was = "was" if len(rest) == 1 else "were"
    return [f"{clause}, and {places.paths([p.path for p in rest])} {was} {verb}", clause]


def _main_clause(patch: Patch) -> str:
    where = places.short(patch.path)
    if patch.created:
        return created(where, patch)
    deeds = (
        (patch.added, "added in"),
        (patch.changed, "changed in"),
        (patch.removed, "removed from"),
    )
    found = (f"{places.done(symbols, verb)} {where}" for symbols, verb in deeds if symbols)
    return next(found, f"{where} was changed")
