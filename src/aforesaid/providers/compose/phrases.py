"""English phrases: lists, quotations, cuts; files, symbols, changes and command results in clauses."""

import re
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

from aforesaid import text
from aforesaid.providers.extract.commands import CHECKS
from aforesaid.providers.extract.patches import Patch, Symbol
from aforesaid.providers.extract.story import FailedCommand, Run, Story

FACT_LEAST, FACT_MOST = 50, 150
TITLE_LEAST, TITLE_MOST = 3, 8
SUBTITLE_MOST = 24
STOPS = (".", "!", "?", "。", "！", "？", ".”", "?”", "!”", "。”", "？”", "！”")
# A phrase that is cut must not end in one of these.
LOOSE_ENDS = set("+&-–—/|=") | frozenset(
    text.words(
        "a an and as at but by for from if in into is it its nor of on onto or over per so than that the "
        "their then this to under until using via was when which while with without your our my be are "
        "not no also both each every any between across after before"
    )
)


def plural(count: int, one: str, many: str | None = None) -> str:
    return f"{count} {one if count == 1 else many or one + 's'}"


def join_items(items: Sequence[str], most: int = 3) -> str:
    """`a`, `a and b`, `a, b and c`, `a, b and 3 more`."""
    kept = (
        list(items)
        if len(items) <= most
        else [*items[: max(1, most - 1)], f"{len(items) - max(1, most - 1)} more"]
    )
    if len(kept) < 2:
        return "".join(kept)
    return f"{', '.join(kept[:-1])} and {kept[-1]}"


def as_code(source: str, limit: int = 80) -> str:
    """In backticks, on one line."""
    inner = text.one_line(source, limit).replace("`", "'")
    return f"`{inner}`" if inner else ""


def quote(source: str, limit: int) -> str:
    """In typographic quotation marks, on one line."""
    inner = text.one_line(source, limit).strip("“”\"'")
    return f"“{inner}”"


def capitalize(phrase: str) -> str:
    """With a capital letter, unless the first word is a path, a name or code: they keep their case."""
    first = phrase.split(None, 1)[0] if phrase.strip() else ""
    plain = first.rstrip(",.:;!?").isalpha() and first[1:] == first[1:].lower()
    return phrase[:1].upper() + phrase[1:] if plain else phrase


def to_sentence(phrase: str) -> str:
    """With a capital letter and a full stop. A phrase that starts with code keeps its case."""
    return capitalize(add_full_stop(phrase))


def add_full_stop(phrase: str) -> str:
    """With a full stop, its words as they are."""
    bare = phrase.strip().rstrip(",;:")
    return bare if not bare or bare.endswith(STOPS) else f"{bare}."


def join_sentences(phrases: Sequence[str]) -> str:
    return " ".join(to_sentence(phrase) for phrase in phrases if phrase.strip())


def first_words(phrase: str, most: int) -> str:
    """At most so many words, and no loose end when it had to be cut."""
    found = phrase.split()
    if len(found) <= most:
        return " ".join(found)
    kept = found[:most]
    while len(kept) > 1 and kept[-1].lower().strip(",;:(") in LOOSE_ENDS:
        kept.pop()
    cut = " ".join(kept).rstrip(",;:(-–—")
    return cut + "`" if cut.count("`") % 2 else cut


def make_title(phrase: str, *fillers: str) -> str | None:
    """A title of three to eight words. Fillers are added at the end, in turn, while it is too short."""
    found = " ".join(text.one_line(phrase, 160).replace("`", "").split()).rstrip(".:;,")
    for filler in fillers:
        if len(found.split()) >= TITLE_LEAST:
            break
        found = f"{found} {filler}".strip()
    cut = first_words(found, TITLE_MOST)
    return capitalize(cut) if len(cut.split()) >= TITLE_LEAST else None


def fits_subtitle(clauses: Sequence[str]) -> bool:
    """Whether all the clauses together have no more words than a subtitle may have."""
    return sum(len(clause.split()) for clause in clauses) <= SUBTITLE_MOST


def make_subtitle(clauses: Sequence[str]) -> str | None:
    """As many clauses as fit into the words a subtitle may have."""
    kept = ""
    for clause in filter(None, clauses):
        longer = f"{kept}; {clause}" if kept else clause
        if len(longer.split()) <= SUBTITLE_MOST:
            kept = longer
        elif not kept:
            kept = first_words(longer, SUBTITLE_MOST)
    return to_sentence(kept) or None


def make_fact(statement: str, *contexts: str) -> str | None:
    """One statement of the right length. Contexts are true additions for one that is too short."""
    found = to_sentence(" ".join(statement.split()))
    for context in contexts:
        if len(found) >= FACT_LEAST:
            break
        found = to_sentence(f"{found.rstrip('.')} {context}")
    found = text.cut(found, FACT_MOST)
    if found.count("`") % 2:
        found = (
            found.rstrip("…").rstrip() + "…`"
            if len(found) < FACT_MOST
            else found[: FACT_MOST - 2] + "…`"
        )
    return found if len(found) >= FACT_LEAST else None


TEST = re.compile(
    r"(?:^|/)(?:tests?|spec|specs|__tests__|e2e)/|(?:^|/)test_[^/]*$|[._-](?:test|spec)s?\.[^/]+$"
    r"|Test\.\w+$"
)
DOCS = re.compile(r"\.(?:md|mdx|rst|adoc|txt)$|(?:^|/)docs?/", re.IGNORECASE)
CONFIG = re.compile(
    r"\.(?:toml|ya?ml|json|ini|cfg|lock|env|conf)$|(?:^|/)(?:Dockerfile|Makefile|\.[^/]+)$",
    re.IGNORECASE,
)
LABELLED = frozenset(("section", "test", "rule", "target", "stage"))


def is_test(path: str) -> bool:
    return bool(TEST.search(path))


def is_docs(path: str) -> bool:
    return bool(DOCS.search(path))


def is_config(path: str) -> bool:
    return bool(CONFIG.search(path))


def short_path(path: str) -> str:
    """The last two parts of a path, enough to know the file by."""
    parts = PurePosixPath(path).parts
    return "/".join(parts[-2:]) if len(parts) > 2 else path


def patch_weight(patch: Patch) -> tuple[int, int]:
    """How much a patch is the point of a change: source before tests before settings and docs."""
    if is_test(patch.path):
        rank = 2
    elif is_docs(patch.path):
        rank = 1
    elif is_config(patch.path):
        rank = 0
    else:
        rank = 3
    return rank, patch.plus + patch.minus


def sort_patches(patches: Sequence[Patch]) -> list[Patch]:
    return sorted(patches, key=patch_weight, reverse=True)


def main_symbols(symbols: Sequence[Symbol]) -> list[Symbol]:
    """Functions and classes before single values; what stands inside a named one is left out."""
    kept = [s for s in symbols if s.kind not in ("value", "module")] or list(symbols)
    names = {s.name for s in kept}
    return [s for s in kept if s.name.rpartition(".")[0] not in names]


def name_symbols(symbols: Sequence[Symbol], most: int = 3) -> str:
    """Symbols in a sentence: `a`, `b` and 2 more; sections `Install` and `Use`."""
    kept = main_symbols(symbols)
    kinds = {symbol.kind for symbol in kept}
    if len(kinds) == 1 and kinds <= LABELLED and len(kept) > 1:
        return f"{kept[0].kind}s {join_items([as_code(s.name, 50) for s in kept], most)}"
    return join_items([_called(symbol) for symbol in kept], most)


def symbols_done(symbols: Sequence[Symbol], verb: str, most: int = 3) -> str:
    """`a and b were added`."""
    return f"{name_symbols(symbols, most)} {'was' if len(main_symbols(symbols)) == 1 else 'were'} {verb}"


def _called(symbol: Symbol) -> str:
    if symbol.kind in LABELLED:
        return f"{symbol.kind} {as_code(symbol.name, 50)}"
    return as_code(symbol.name, 60)


def join_paths(found: Sequence[str], most: int = 3) -> str:
    return join_items([short_path(path) for path in found], most)


SWAP_LIMIT = 45
LEAD_IN = 15


def line_counts(patch: Patch) -> str:
    """` (4 lines added, 2 removed)`, or nothing when the lines are not known."""
    if not patch.plus and not patch.minus:
        return ""
    if patch.minus == 0:
        return f" ({plural(patch.plus, 'line')} added)"
    if patch.plus == 0:
        return f" ({plural(patch.minus, 'line')} removed)"
    return f" ({plural(patch.plus, 'line')} added, {patch.minus} removed)"


def file_clause(patch: Patch) -> str:
    """A whole statement about one file, with as many names as a fact has room for."""
    found = ""
    for most in (4, 3, 2, 1):
        for size in (line_counts(patch), ""):
            found = f"{_told(patch, most)}{size}"
            if len(found) < FACT_MOST:
                return found
    return found


def _told(patch: Patch, most: int) -> str:
    path = text.one_line(patch.path, 70)
    if patch.created:
        return created_clause(path, patch, most)
    deeds = symbols_clause(patch, most=most)
    return f"{path}: {deeds}" if deeds else f"{path} was changed"


def created_clause(where: str, patch: Patch, most: int = 3) -> str:
    """`a.py was created with `f` and `g``."""
    symbols = name_symbols(patch.added, most)
    return f"{where} was created" + (f" with {symbols}" if symbols else "")


def symbols_clause(patch: Patch, *, most: int = 3) -> str:
    """`a` and `b` were added, and `c` was changed."""
    renamed = patch.renamed
    named = {symbol for pair in renamed for symbol in pair}
    deeds = [
        f"{as_code(old.name)} was renamed to {as_code(new.name)}" for old, new in renamed[:most]
    ]
    for symbols, verb in (
        (patch.added, "added"),
        (patch.changed, "changed"),
        (patch.removed, "removed"),
    ):
        kept = [symbol for symbol in symbols if symbol not in named]
        deeds += [symbols_done(kept, verb, most)] if kept else []
    return ", ".join(deeds[:-1]) + (", and " if len(deeds) > 1 else "") + "".join(deeds[-1:])


def swap_clause(patch: Patch, old: str, new: str) -> str:
    """One line that became another."""
    return f"{text.one_line(patch.path, 60)}: {swapped_lines(old, new, SWAP_LIMIT)}"


def swapped_lines(old: str, new: str, limit: int) -> str:
    """`a` became `b`; of long lines the part where they differ."""
    differ = (at for at, (a, b) in enumerate(zip(old, new, strict=False)) if a != b)
    alike = next(differ, min(len(old), len(new)))
    start = max(0, alike - LEAD_IN) if max(len(old), len(new)) > limit else 0
    start = old.rfind(" ", 0, start + 1) + 1 if start else 0
    mark = "…" if start else ""
    return f"{as_code(mark + old[start:], limit)} became {as_code(mark + new[start:], limit)}"


def move_clauses(story: Story) -> list[str]:
    """Symbols that left one file and came into another in the same turn."""
    went = {s.name: patch.path for patch in story.patches for s in patch.removed}
    return [
        f"{as_code(symbol.name)} was moved from {short_path(went[symbol.name])} "
        f"to {short_path(patch.path)}"
        for patch in story.patches
        for symbol in patch.added
        if symbol.name in went and went[symbol.name] != patch.path
    ]


def short_clauses(story: Story) -> list[str]:
    """The changes in one clause, for a subtitle: all of them, and shorter, the main one alone."""
    ranked = sort_patches(story.patches)
    if not ranked:
        return []
    clause, rest = _main_clause(ranked[0]), ranked[1:]
    if not rest:
        return [clause]
    if len(rest) > 2:
        return [f"{clause}, and {plural(len(rest), 'more file')} changed", clause]
    verb = "created" if all(patch.created for patch in rest) else "changed"
    was = "was" if len(rest) == 1 else "were"
    return [f"{clause}, and {join_paths([p.path for p in rest])} {was} {verb}", clause]


def _main_clause(patch: Patch) -> str:
    where = short_path(patch.path)
    if patch.created:
        return created_clause(where, patch)
    deeds = (
        (patch.added, "added in"),
        (patch.changed, "changed in"),
        (patch.removed, "removed from"),
    )
    found = (f"{symbols_done(symbols, verb)} {where}" for symbols, verb in deeds if symbols)
    return next(found, f"{where} was changed")


ERROR_LIMIT = 90
TEST_NAME_LIMIT = 60


def run_name(run: Run) -> str:
    """In backticks, unless it is a description: a Python script."""
    return run.command.text if run.command.described else as_code(run.command.text, 72)


def once_each(found: Iterable[Run]) -> list[Run]:
    """The last run of each command."""
    return list({(run.command.text, run.command.program): run for run in found}.values())


def test_name(full: str) -> str:
    """`tests/test_cart.py::TestCart::test_total` is known as `test_total`."""
    return full.rsplit("::", 1)[-1] if ".py::" in full else full


def failing_tests(run: Run, most: int = 3) -> str:
    """The names of the tests that failed."""
    tally = run.outcome.tally
    names = [as_code(test_name(full), TEST_NAME_LIMIT) for full in tally.failing] if tally else []
    return join_items(names, most)


def failing_clause(run: Run) -> str | None:
    """`pytest` had 2 failing tests: `test_a` and `test_b`."""
    tally = run.outcome.tally
    if tally is None or not tally.failing:
        return None
    return f"{run_name(run)} had {plural(tally.failed, 'failing test')}: {failing_tests(run)}"


def failed_clause(run: Run, limit: int = ERROR_LIMIT) -> str:
    """`pytest` failed with `AssertionError: 90 != 81`."""
    error = f" with {as_code(run.outcome.error, limit)}" if run.outcome.error else ""
    return f"{run_name(run)} failed{error}"


def test_count(run: Run) -> str:
    """` (12 tests)`, or nothing when the runner gave no number."""
    tally = run.outcome.tally
    if tally is None:
        return ""
    if tally.failed:
        return f" ({plural(tally.failed, 'test')} failed)"
    return f" ({plural(tally.passed, 'test')})" if tally.passed else ""


def ended_clause(run: Run) -> str:
    """How a run ended, in words that claim no more than was seen."""
    said = {
        "passed": f"passed{test_count(run)}"
        if run.command.kind in CHECKS
        else "ran without an error",
        "failed": "failed",
        "quiet": "showed no error",
        "unseen": "was run; the outcome was not shown",
        "stopped": "was stopped before it ended",
        "refused": "was not allowed to run",
        "started": "was started in the background",
    }
    return f"{run_name(run)} {said[run.outcome.verdict]}"


def last_checks(story: Story) -> list[Run]:
    """The last good run of each check, tests first; only those after which nothing was edited come
    with an "after the edits", so callers ask `after_edits`."""
    last: dict[str, Run] = {}
    for run in story.runs:
        if run.command.kind in CHECKS:
            last.pop(run.command.program, None)
            if run.good:
                last[run.command.program] = run
    return sorted(last.values(), key=lambda run: (run.command.kind != "test", -run.place))


def worked_clause(story: Story, run: Run) -> str:
    """`ended`, and of a script without a name: that it is the one which had failed."""
    if run.command.described and story.proves(run):
        return f"the {run_name(run).removeprefix('a ')} that had failed ran without an error"
    return ended_clause(run)


def after_edits(story: Story, run: Run) -> bool:
    return bool(story.edits) and run.place > story.edits[-1].place


def mended(trial: FailedCommand) -> str:
    """`git push` failed with `fatal: no upstream`; then `git push -u origin x` worked."""
    end = f"; {run_name(trial.end)} worked later" if trial.end else ""
    return f"{failed_clause(trial.first)}{end}"


def unmended_clause(story: Story, trial: FailedCommand, *, why: bool = True) -> str:
    """How a failure stood at the end. A run that was not repeated after edits may pass by now."""
    last = trial.last
    later = [edit.patch.path for edit in story.edits if edit.place > last.place]
    said = failed_clause(last, 50) if why else f"{run_name(last)} failed"
    if later:
        return f"{said} and was not run again after the edit of {short_path(later[-1])}"
    if last.command.kind not in CHECKS:
        return f"{said} and did not succeed later in the turn"
    error = f": {as_code(last.outcome.error, ERROR_LIMIT)}" if why and last.outcome.error else ""
    return f"{run_name(last)} was still failing when the turn ended{error}"
