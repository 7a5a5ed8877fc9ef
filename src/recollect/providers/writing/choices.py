"""Decisions of the user as observations."""

from recollect.model.observations import ObservationDraft
from recollect.model.turns import Turn
from recollect.providers.reading.decisions import Decision
from recollect.providers.writing.concepts import topic_words
from recollect.providers.writing.phrases import (
    capital,
    fact,
    first_words,
    quoted,
    story,
    subtitle,
    title,
)

TOGETHER = 3
RULES_TOLD = 7
LITTLE_SAYING = frozenset(
    ("always", "never", "prefer", "every", "decision", "rather", "than", "ones", "don")
)


def decision_drafts(turn: Turn, decisions: tuple[Decision, ...]) -> list[ObservationDraft]:
    """One observation for each decision; a prompt full of rules makes one for all of them."""
    if not decisions:
        return []
    if len(decisions) >= TOGETHER:
        drafts = [_rules(turn, decisions)]
    else:
        drafts = [_single(turn, decision) for decision in decisions]
    return [draft for draft in drafts if draft.title not in turn.recorded]


def _single(turn: Turn, decision: Decision) -> ObservationDraft:
    where = f"for the project {turn.project}" if turn.project else ""
    number = turn.prompt_number
    statements = [
        f"The user decided {where}: {quoted(decision.what, 100)}",
        f"The user's reason for {quoted(decision.what, 50)}: {quoted(decision.reason, 70)}"
        if decision.reason
        else "",
        f"By deciding {quoted(decision.what, 60)} the user ruled out {quoted(decision.instead_of, 50)}"
        if decision.instead_of
        else "",
        f"Prompt {number} of the session states the decision as {quoted(decision.quote, 90)}",
    ]
    return ObservationDraft(
        type="decision",
        title=title(decision.what)
        or title(f"Decided: {decision.what}")
        or "A decision of the user",
        subtitle=subtitle(
            [f"The user stated in prompt {number}: {quoted(first_words(decision.quote, 17), 160)}"]
        ),
        facts=_facts(turn, statements),
        narrative=story(
            [
                f"In prompt {number} of the session the user wrote: {quoted(decision.quote, 280)}",
                f"The reason given: {quoted(decision.reason, 200)}" if decision.reason else "",
            ]
        ),
        concepts=_concepts([decision]),
    )


def _rules(turn: Turn, decisions: tuple[Decision, ...]) -> ObservationDraft:
    whose = first_words(turn.project, 3) or "the project"
    return ObservationDraft(
        type="decision",
        title=title(f"{len(decisions)} rules stated for {whose}"),
        subtitle=subtitle(
            [f"Among them: {quoted(first_words(d.what, 8), 80)}" for d in decisions[:1]]
        ),
        facts=_facts(turn, [f"Rule stated by the user: {capital(d.what)}" for d in decisions]),
        narrative=story(
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


def _concepts(decisions: tuple[Decision, ...] | list[Decision]) -> tuple[str, ...]:
    words = dict.fromkeys(word for decision in decisions for word in topic_words(decision.what))
    chosen = [word for word in words if word not in LITTLE_SAYING and not word.endswith("ly")][:4]
    return (*chosen, "conventions") if chosen else ("conventions", "decisions")
