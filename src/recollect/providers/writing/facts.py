"""Three to seven facts: each one whole, each one seen in the events."""

from collections import Counter
from collections.abc import Iterator

from recollect.providers.reading import messages, symbols
from recollect.providers.reading.commands import CHECKS
from recollect.providers.reading.patches import is_remark
from recollect.providers.reading.steps import Run
from recollect.providers.reading.story import Story
from recollect.providers.reading.trials import Trial
from recollect.providers.writing import changes, places, runs
from recollect.providers.writing.phrases import FACT_MOST, code, fact, join, plural, quoted

LEAST, MOST = 3, 7
FILES_TOLD = 3
SMALL = 30
FINDINGS_TOLD = 4
FINDINGS_UNDER_ONE = 2
LASTING = frozenset(("install", "migration", "deploy", "history", "files"))


def facts_of(story: Story) -> tuple[str, ...]:
    """The most telling statements that keep to the length of a fact."""
    project = story.turn.project or "the project"
    contexts = (f"in the project {project}", f"(prompt {story.turn.prompt_number} of the session)")
    kept: list[str] = []
    for statement in _statements(story):
        found = fact(statement, *contexts)
        if found and not any(_same(found, other) for other in kept):
            kept.append(found)
        if len(kept) == MOST:
            return tuple(kept)
    for statement in _fillers(story):
        found = fact(statement, *contexts)
        if len(kept) < LEAST and found and not any(_same(found, other) for other in kept):
            kept.append(found)
    return tuple(kept)


def _same(one: str, other: str) -> bool:
    """One sentence of the agent, once as a report and once as an explanation, is one fact."""
    if one.startswith("Agent's") and other.startswith("Agent's"):
        return one.partition(": ")[2][:80] == other.partition(": ")[2][:80]
    return one == other


def _statements(story: Story) -> Iterator[str]:
    ranked = places.by_weight(story.patches)
    yield from _failures(story)
    yield from (changes.of_file(patch) for patch in ranked[:FILES_TOLD])
    yield from _ends(story)
    yield from _commits(story)
    yield from _dead_ends(story)
    if not story.patches:
        yield from _found(story)
        yield from (runs.ended(run) for run in runs.once_each(story.deeds)[:4])
    yield from changes.moves(story)[:1]
    yield from _causes(story)
    yield from _swaps(story, remarks=False)
    yield from (runs.mended(trial) for trial in story.mended if not trial.is_check)
    yield from _deeds(story) if story.patches else ()
    yield from _asked_back(story)
    yield from _rest(story)


def _swaps(story: Story, *, remarks: bool) -> Iterator[str]:
    """Lines of the main file that became others, when the change is small enough to be shown."""
    for patch in places.by_weight(story.patches)[:1]:
        if patch.plus + patch.minus <= SMALL:
            found = [swap for swap in patch.swaps if is_remark(swap) == remarks]
            yield from (changes.of_swap(patch, *swap) for swap in found[:2])


def _failures(story: Story) -> Iterator[str]:
    """What failed first, before the work mended it or met the next failure."""
    if story.ask.pasted and story.agent is None:
        yield f"The user's prompt shows the error {code(story.ask.pasted, 100)}"
    met_another = [t for t in story.unsolved if t.first.outcome.error != t.last.outcome.error]
    told = [t for t in (*story.mended, *met_another) if t.is_check]
    for trial in told[:2]:
        yield f"{runs.failed(trial.first)}{' in an earlier turn' if trial.earlier else ''}"
    names = (runs.had_failing(trial.first) for trial in told)
    yield from [name for name in names if name][:1]


def _ends(story: Story) -> Iterator[str]:
    """How the checks stood at the end."""
    for trial in story.broken[:2]:
        yield runs.unmended(story, trial)
    for trial in story.partly[:1]:
        if trial.partial:
            part = runs.ended(trial.partial)
            yield f"{part}; the failed {runs.name(trial.last)} was not repeated in full"
    last = {run.command.program: run for run in runs.last_checks(story)}
    for trial in [trial for trial in story.mended if trial.is_check][:2]:
        if trial.end:
            end = last.pop(trial.end.command.program, trial.end)
            yield f"{runs.worked(story, end)}{_between(story, trial, end)}"
    for run in list(last.values())[:1]:
        yield f"{runs.ended(run)}{' after the last edit' if runs.after_edits(story, run) else ''}"


def _between(story: Story, trial: Trial, end: Run) -> str:
    """What happened between the failure and the success."""
    first = trial.first.place
    failures = f" {plural(trial.reds, 'failed run')} and" if trial.reds > 1 else ""
    edited = dict.fromkeys(e.patch.path for e in story.edits if first < e.place < end.place)
    if edited:
        return f" after{failures} edits in {places.paths(list(edited), 2)}"
    installed = [r for r in story.runs if first < r.place < end.place and r.good and _acts(r)]
    return f" after {runs.name(installed[-1])}" if installed else ""


def _acts(run: Run) -> bool:
    return run.command.kind not in CHECKS | {"routine"}


def _commits(story: Story) -> Iterator[str]:
    for commit in story.commits[:2]:
        short = f"Commit {commit.hash}" if commit.hash else "A git commit"
        yield f"{short} recorded the work as {quoted(commit.subject, 100)}"


def _causes(story: Story) -> Iterator[str]:
    """The agent's explanation. One that is too long for a fact loses what stands behind a semicolon."""
    found = messages.causes(story.message, mended=bool(story.mended))
    for cause in [s for s in found if not messages.POINTING.match(s)][:1]:
        label = messages.CAUSE_LABEL.match(cause)
        lead = "Cause, as the agent explains it" if label else "Agent's explanation"
        said = f"{lead}: {cause[label.end() if label else 0 :]}"
        yield said if len(said) <= FACT_MOST else said.rpartition("; ")[0] or said


def _dead_ends(story: Story) -> Iterator[str]:
    for patch in story.dead_ends[:2]:
        symbols = places.named(patch.changed or patch.added, 2)
        where = f"{symbols} in {patch.path}" if symbols else patch.path
        yield f"A change of {where} was made and then taken back in the same turn"


def _found(story: Story) -> Iterator[str]:
    """What the agent reported, as its report, in its order: the sentences that name things."""
    said = messages.findings(story.message)
    chosen: list[str] = []
    under: Counter[str] = Counter()
    for finding in sorted(said, key=_tells_less):
        heading = finding.partition(": ")[0]
        if under[heading] < FINDINGS_UNDER_ONE:
            under[heading] += 1
            chosen.append(finding)
    for finding in [s for s in said if s in chosen[:FINDINGS_TOLD]]:
        yield f"Agent's report: {finding}"


def _tells_less(finding: str) -> tuple[bool, bool, bool]:
    return "`" not in finding, not messages.CAUSE.search(finding), not 60 <= len(finding) <= 130


def _deeds(story: Story) -> Iterator[str]:
    """Installs, migrations and the like beside the edits."""
    lasting = [run for run in runs.once_each(story.deeds) if run.command.kind in LASTING]
    if lasting:
        yield f"Also run: {join([runs.name(run) for run in lasting], 3)}"


def _asked_back(story: Story) -> Iterator[str]:
    for answer in story.answers[:2]:
        yield f"The user answered {quoted(answer.answer, 50)} to {quoted(answer.question, 70)}"


def _rest(story: Story) -> Iterator[str]:
    """What still tells something when the facts are few."""
    more = places.by_weight(story.patches)[FILES_TOLD:]
    if more:
        yield f"Also changed: {join([patch.path for patch in more], 3)}"
    checked = any(runs.after_edits(story, run) and _acts_or_checks(run) for run in story.runs)
    if not checked and not story.broken and any(map(_is_program, story.modified)):
        where = places.short(story.edits[-1].patch.path)
        yield f"No test and no other check ran after the last edit of {where}"
    for search in [s for s in story.searches if s.tool == "WebSearch"][:1]:
        yield f"The web was searched for {quoted(search.what, 90)}"
    if story.turn.interrupted:
        yield "The turn was interrupted before the agent gave a final answer"


def _is_program(path: str) -> bool:
    return not places.is_docs(path) and symbols.language_of(path) is not None


def _acts_or_checks(run: Run) -> bool:
    return run.command.kind not in ("routine", "format", "commit", "push")


def _fillers(story: Story) -> Iterator[str]:
    """Said by others or of little weight, and still better than an observation of one fact."""
    if story.patches:
        yield from (
            f"Agent's report: {finding}" for finding in messages.findings(story.message)[:2]
        )
    yield from _swaps(story, remarks=True)
    if story.unused:
        yield f"Read without being changed: {join([code(p, 60) for p in story.unused], 3)}"
    if story.ask.text and not story.ask.trivial and story.agent is None:
        yield f"The request in the user's words: {quoted(story.ask.text, 110)}"
