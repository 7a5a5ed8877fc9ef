"""The observations of a turn: decisions, the main agent's work, then the sub-agents'."""

from recollect import text
from recollect.model.observations import ObservationDraft
from recollect.model.turns import Turn
from recollect.providers.reading import messages
from recollect.providers.reading.commands import CHECKS
from recollect.providers.reading.decisions import read_decisions
from recollect.providers.reading.story import Story, helper_stories, main_story, parts
from recollect.providers.reading.trials import Trial
from recollect.providers.writing import changes, places, runs
from recollect.providers.writing.choices import decision_drafts
from recollect.providers.writing.concepts import concepts_of
from recollect.providers.writing.facts import facts_of
from recollect.providers.writing.kinds import kind_of
from recollect.providers.writing.narrative import narrative_of
from recollect.providers.writing.phrases import code, fits, join, quoted, subtitle
from recollect.providers.writing.titles import title_of

LASTING = frozenset(("install", "migration", "deploy", "history"))
SUBSTANTIAL = 200
FILES_KEPT = 40


def observations_of(turn: Turn) -> list[ObservationDraft]:
    main = main_story(turn)
    drafts = decision_drafts(main, read_decisions(turn.prompt))
    for story in (*parts(main), *helper_stories(turn)):
        if is_worth_telling(story):
            drafts.append(_draft(story))
    return drafts


def is_worth_telling(story: Story) -> bool:
    """Routine work yields nothing: looking around, a formatter, a server that was started."""
    if story.patches or story.commits or story.dead_ends or story.mended or story.broken:
        return True
    kinds = {run.command.kind for run in story.deeds}
    if kinds & LASTING:
        return True
    if (
        "run" in kinds
        and story.ask.verb
        and story.ask.thing
        and story.ask.intent not in ("ask", "fix")
    ):
        return True
    return _is_finding(story)


def _is_finding(story: Story) -> bool:
    """Something was looked into, and the answer says something that stands on its own."""
    least = SUBSTANTIAL if story.agent is None else SUBSTANTIAL // 2
    if len(story.message or "") < least or (story.ask.trivial and story.agent is None):
        return False
    looked = len(story.read) + len(story.searches) + len(story.runs) + len(story.helpers)
    asked = (
        story.agent is not None
        or story.ask.intent == "ask"
        or story.ask.bug
        or bool(story.ask.question)
    )
    return bool(looked and (asked or looked > 2) and messages.findings(story.message))


def _draft(story: Story) -> ObservationDraft:
    return ObservationDraft(
        type=kind_of(story),
        title=title_of(story),
        subtitle=_subtitle(story),
        facts=facts_of(story),
        narrative=narrative_of(story),
        concepts=concepts_of(story),
        files_read=story.read[:FILES_KEPT],
        files_modified=story.modified[:FILES_KEPT],
        subagent_type=(text.one_line(story.agent.type, 60) or "unnamed") if story.agent else None,
    )


def _subtitle(story: Story) -> str | None:
    """The evidence in one line: what failed, what was changed, how the checks stood."""
    trial = next((t for t in story.mended if t.is_check), None)
    before = [runs.failed(trial.first)] if trial else []
    after = _outcome(story, trial)
    if not story.patches:
        after += _without_changes(story)
    for changed in changes.in_short(story):
        whole = [*before, changed, *after]
        if fits(whole):
            return subtitle(whole)
    return subtitle([*before, *changes.in_short(story)[-1:], *after])


def _outcome(story: Story, trial: Trial | None) -> list[str]:
    if story.broken:
        return [runs.unmended(story, story.broken[-1])]
    checks = runs.last_checks(story)
    if trial and trial.end:
        end = trial.end if trial.end.command.kind in CHECKS or not checks else checks[0]
        return [f"then {runs.worked(story, end)}"]
    return [runs.ended(run) for run in checks[:1]]


def _without_changes(story: Story) -> list[str]:
    if story.commits:
        return [f"commit {story.commits[0].hash or ''} {quoted(story.commits[0].subject, 100)}"]
    if story.dead_ends:
        return [f"a change of {places.short(story.dead_ends[0].path)} was taken back"]
    if story.deeds and not story.read:
        return [
            f"{join([code(run.command.text, 60) for run in story.deeds], 2)} ran without an error"
        ]
    said = messages.findings(story.message)
    return [quoted(said[0], 140)] if said else []
