"""The story in order: what was asked, what failed, what was changed, what then happened."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from recollect import text
from recollect.providers.reading import messages
from recollect.providers.reading.commands import CHECKS
from recollect.providers.reading.patches import merge
from recollect.providers.reading.steps import Edit, Look, Run, Search, Step
from recollect.providers.reading.story import Story
from recollect.providers.writing import changes, places, runs
from recollect.providers.writing.phrases import code, join, plural, quoted
from recollect.providers.writing.phrases import story as told

ASK_LIMIT = 220
CLOSING_LIMIT = 300
PHASES = 9


def narrative_of(story: Story) -> str:
    return told([*_beginning(story), *_middle(story), *_end(story)])


def _beginning(story: Story) -> Iterator[str]:
    if story.agent is not None:
        errand = f" to {quoted(story.ask.text, 120)}" if story.ask.text else ""
        kind = text.one_line(story.agent.type, 60) or "unnamed"
        yield f"A sub-agent ({kind}) was sent{errand}"
    elif story.ask.text:
        did = "asked" if story.ask.question or story.ask.verb else "wrote"
        yield f"The user {did}: {quoted(story.ask.text, ASK_LIMIT)}"
    if story.ask.pasted and story.agent is None:
        yield f"The prompt shows the error {code(story.ask.pasted, 140)}"
    for trial in story.mended + story.broken:
        if trial.earlier:
            yield f"Earlier in the session {runs.failed(trial.first)}"


def _middle(story: Story) -> list[str]:
    """The phases of the work; of a long one the first and the last."""
    phases = [phrase for phrase in _phases(story) if phrase]
    if len(phases) <= PHASES:
        return phases
    half = PHASES // 2
    left_out = plural(len(phases) - 2 * half, "further step")
    return [*phases[:half], f"{left_out} of editing and checking followed", *phases[-half:]]


def _phases(story: Story) -> Iterator[str]:
    seen: set[str] = set()
    for kind, group in groupby((s for s in story.steps if _counts(s)), key=_kind):
        steps = list(group)
        if kind == "edit":
            yield _edited([step for step in steps if isinstance(step, Edit)], seen)
        elif kind == "look":
            yield _looked(steps, story)
        else:
            yield from _ran([step for step in steps if isinstance(step, Run)], story)


def _counts(step: Step) -> bool:
    match step:
        case Run():
            return step.command.kind not in ("routine", "format") or step.outcome.verdict in (
                "refused",
            )
        case Edit() | Look() | Search():
            return True
        case _:
            return False


def _kind(step: Step) -> str:
    match step:
        case Edit():
            return "edit"
        case Look() | Search():
            return "look"
        case _:
            return "run"


def _looked(steps: Sequence[Step], story: Story) -> str:
    """Looking around counts when nothing of it was changed later; the rest shows in the edits."""
    unused = set(story.unused)
    paths = dict.fromkeys(s.path for s in steps if isinstance(s, Look) and s.path in unused)
    queries = [s.what for s in steps if isinstance(s, Search) and s.tool == "WebSearch"]
    deeds = []
    if paths:
        deeds.append(f"{places.paths(list(paths), 3)} {'was' if len(paths) == 1 else 'were'} read")
    if queries:
        deeds.append(f"the web was searched for {join([quoted(q, 60) for q in queries], 2)}")
    return join(deeds)


def _edited(edits: list[Edit], seen: set[str]) -> str:
    by_path: dict[str, list[Edit]] = {}
    for edit in edits:
        by_path.setdefault(edit.patch.path, []).append(edit)
    if len(by_path) > 2:
        again = " again" if by_path.keys() <= seen else ""
        seen.update(by_path)
        return f"{places.paths(list(by_path), 4)} were changed{again}"
    clauses = []
    for path, found in by_path.items():
        clauses.append(_edit_clause(path, found, again=path in seen))
        seen.add(path)
    return ", and ".join(clauses)


def _edit_clause(path: str, edits: list[Edit], *, again: bool) -> str:
    """One file: what came and what changed in it, and the line itself when only one changed."""
    where = places.short(path)
    patch = merge((edit.change, edit.patch) for edit in edits)[0]
    if patch.created:
        return changes.created(where, patch)
    deeds = changes.what_happened(patch)
    what = f"{deeds} in {where}" if deeds else f"{where} was changed{' again' if again else ''}"
    small = len(patch.swaps) == 1 and patch.plus + patch.minus == 2
    return f"{what} ({changes.swapped(*patch.swaps[0], 50)})" if small else what


def _ran(found: list[Run], story: Story) -> Iterator[str]:
    """Runs in a row: failures one by one, good checks together."""
    for group_kind, group in groupby(found, key=_sort):
        rows = list(group)
        if group_kind == "good":
            yield _passed(rows, story)
        elif group_kind == "bad":
            yield from (_failed(run) for run in runs.once_each(rows))
        else:
            yield from dict.fromkeys(_special(run) for run in rows)


def _sort(run: Run) -> str:
    if run.commits or run.outcome.verdict in ("stopped", "refused", "started", "unseen"):
        return "special"
    return "bad" if run.bad else "good"


def _passed(rows: list[Run], story: Story) -> str:
    clauses = []
    for sort, group in groupby(runs.once_each(rows), key=lambda run: _proof(run, story)):
        found = list(group)
        if sort == "check":
            clauses.append(_checked(found))
        elif sort == "proof":
            clauses += [runs.worked(story, run) for run in found]
        else:
            was = "was" if len(found) == 1 else "were"
            clauses.append(f"{join([runs.name(run) for run in found])} {was} run")
    return ", then ".join(clauses)


def _proof(run: Run, story: Story) -> str:
    if run.command.kind in CHECKS:
        return "check"
    return "proof" if story.proves(run) else "deed"


def _checked(found: list[Run]) -> str:
    if len(found) == 1:
        return runs.ended(found[0])
    quiet = [runs.name(run) for run in found if run.outcome.verdict == "quiet"]
    good = [f"{runs.name(run)}{runs.count(run)}" for run in found if run.outcome.verdict != "quiet"]
    clauses = [f"{join(good, 4)} passed"] if good else []
    clauses += [f"{join(quiet, 4)} showed no error"] if quiet else []
    return ", and ".join(clauses)


def _failed(run: Run) -> str:
    named = runs.failing(run, 3)
    return f"{runs.failed(run)}" + (f" (failing: {named})" if named else "")


def _special(run: Run) -> str:
    if run.commits:
        shown = [
            f"{quoted(c.subject, 90)}" + (f" ({c.hash})" if c.hash else "") for c in run.commits
        ]
        pushed = " and pushed" if "push" in run.command.kinds else ""
        return f"The work was committed as {join(shown)}{pushed}"
    return runs.ended(run)


def _end(story: Story) -> Iterator[str]:
    for patch in story.dead_ends[:2]:
        yield f"The change of {places.short(patch.path)} was taken back before the turn ended"
    for trial in story.broken[:2]:
        yield runs.unmended(story, trial, why=False)
    if story.answers:
        yield join(
            [
                f"asked {quoted(a.question, 90)} the user answered {quoted(a.answer, 60)}"
                for a in story.answers
            ],
            2,
        )
    if story.turn.interrupted and story.agent is None:
        yield "The turn was interrupted"
    closing = messages.opening(story.message, CLOSING_LIMIT)
    if closing:
        who = "The agent's closing words" if story.agent is None else "The sub-agent reported"
        yield f"{who}: {quoted(closing, CLOSING_LIMIT)}"
