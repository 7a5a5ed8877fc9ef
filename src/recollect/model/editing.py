"""What a person may change of an observation, and what may come of it."""

from dataclasses import dataclass

from recollect.model.observations import TYPES, ObservationDraft

Fields = dict[str, str | list[str] | None]


@dataclass(frozen=True, slots=True)
class Unusable:
    """Why what was written cannot be taken."""

    why: str


def fields_of(draft: ObservationDraft) -> Fields:
    return {
        "type": draft.type,
        "title": draft.title,
        "subtitle": draft.subtitle,
        "facts": list(draft.facts),
        "narrative": draft.narrative,
        "concepts": list(draft.concepts),
    }


def checked(fields: Fields) -> Fields | Unusable:
    """One line where one line is meant, and a type that there is."""
    lines = {
        name: " ".join(str(fields[name] or "").split()) or None for name in ("title", "subtitle")
    }
    kind = str(fields["type"] or "").strip().lower()
    if kind not in TYPES:
        return Unusable(f"the type is {kind!r}, but must be one of: {', '.join(TYPES)}")
    if not (lines["title"] or fields["facts"] or fields["narrative"]):
        return Unusable("it has neither a title nor a fact nor a narrative")
    return fields | lines | {"type": kind}


def changes(before: Fields, after: Fields) -> Fields:
    return {name: value for name, value in after.items() if value != before[name]}
