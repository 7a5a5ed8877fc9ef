"""Decisions of the user as observations."""

from collections.abc import Iterator, Sequence

from recollect.model.observations import ObservationDraft
from recollect.model.turns import Turn
from recollect.providers.reading.decisions import Decision
from recollect.providers.reading.story import Story
from recollect.providers.writing import places
from recollect.providers.writing.concepts import nouns, path_topics
from recollect.providers.writing.phrases import (
    capital,
    fact,
    first_words,
    plural,
    quoted,
    subtitle,
    title,
)
from recollect.providers.writing.phrases import story as told

TOGETHER = 3
RULES_TOLD = 7
WORDS_TOLD = 3


def decision_drafts(story: Story, decisions: tuple[Decision, ...]) -> list[ObservationDraft]:
    """One observation for each decision; a prompt full of rules makes one for all of them."""
    if not decisions:
        return []
    if len(decisions) >= TOGETHER:
        drafts = [_rules(story.turn, decisions)]
    else:
        drafts = [_single(story, decision) for decision in decisions]
    return [draft for draft in drafts if draft.title not in story.turn.recorded]


def _single(story: Story, decision: Decision) -> ObservationDraft:
    """Each fact adds something: the decision, why, where the same turn changed what."""
    number = story.turn.prompt_number
    why = decision.reason or decision.background
    reason = "The reason given" if decision.reason else "The background given"
    return ObservationDraft(
        type="decision",
        title=title(decision.what)
        or title(f"Decided: {decision.what}")
        or "A decision of the user",
        subtitle=subtitle(
            [
                f"Stated by the user in prompt {number}",
                f"{reason.split()[1]}: {quoted(why.rstrip('.'), 120)}" if why else "",
                _changed(story) or "",
            ]
        ),
        facts=_facts(story.turn, [*_statements(story, decision)]),
        narrative=told(
            [
                f"In prompt {number} of the session the user wrote: {quoted(decision.quote, 280)}",
                f"{reason}: {quoted(why, 200)}" if why else "",
                *_applied(story),
            ]
        ),
        concepts=_concepts([decision], story),
    )


def _statements(story: Story, decision: Decision) -> Iterator[str]:
    where = f"for the project {story.turn.project}" if story.turn.project else ""
    yield f"The user decided {where}: {quoted(decision.what, 100)}"
    if decision.reason:
        yield f"The user's reason for that decision: {quoted(decision.reason, 100)}"
    if decision.background:
        yield f"The user gave as background: {quoted(decision.background, 110)}"
    if decision.instead_of:
        yield f"The decision rules out {quoted(decision.instead_of, 80)}"
    yield from _applied(story)


def _applied(story: Story) -> Iterator[str]:
    """What the same turn changed and recorded."""
    if story.patches:
        ranked = [patch.path for patch in places.by_weight(story.patches)]
        was = "was" if len(ranked) == 1 else "were"
        yield f"In the turn of the decision {places.paths(ranked)} {was} changed"
    for commit in story.commits[:1]:
        short = f"commit {commit.hash}" if commit.hash else "a git commit"
        yield f"Made in the turn of the decision: {short}, {quoted(commit.subject, 80)}"


def _changed(story: Story) -> str | None:
    if not story.patches:
        return None
    return f"{plural(len(story.patches), 'file')} changed in the same turn"


def _rules(turn: Turn, decisions: tuple[Decision, ...]) -> ObservationDraft:
    whose = first_words(turn.project, 3) or "the project"
    return ObservationDraft(
        type="decision",
        title=title(f"{len(decisions)} rules stated for {whose}"),
        subtitle=subtitle(
            [f"Among them: {quoted(first_words(d.what, 8), 80)}" for d in decisions[:1]]
        ),
        facts=_facts(turn, [f"Rule stated by the user: {capital(d.what)}" for d in decisions]),
        narrative=told(
            [
                f"In prompt {turn.prompt_number} of the session the user stated {len(decisions)} rules"
            ]
            + [quoted(d.quote, 200) for d in decisions]
        ),
        concepts=_concepts(decisions),
    )


def _facts(turn: Turn, statements: list[str]) -> tuple[str, ...]:
    contexts = (
        f"for the project {turn.project or 'at hand'}",
        f"(prompt {turn.prompt_number} of the session)",
    )
    found = (fact(statement, *contexts) for statement in statements if statement)
    return tuple(dict.fromkeys(f for f in found if f))[:RULES_TOLD]


def _concepts(decisions: Sequence[Decision], story: Story | None = None) -> tuple[str, ...]:
    """What the decisions are about, and the file that the same turn changed most."""
    words = dict.fromkeys(word for decision in decisions for word in nouns(decision.what))
    main = [path for path in (story.modified if story else ()) if not places.is_test(path)]
    area = [word for path in main[:1] for word in path_topics(path)[-1:]]
    chosen = list(dict.fromkeys([*area, *list(words)[:WORDS_TOLD]]))
    return (*chosen, "conventions") if chosen else ("conventions", "decisions")
