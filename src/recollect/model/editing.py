"""What a person may change of an observation, and what may come of it."""

import json
from dataclasses import dataclass
from hashlib import sha256

from recollect.model.observations import TYPES, ObservationDraft

Fields = dict[str, str | list[str] | None]


@dataclass(frozen=True, slots=True)
class Unusable:
    """Why what was written cannot be taken; `field`: which part of it, if it is one."""

    why: str
    field: str | None = None


def fields_of(draft: ObservationDraft) -> Fields:
    return {
        "type": draft.type,
        "title": draft.title,
        "subtitle": draft.subtitle,
        "facts": list(draft.facts),
        "narrative": draft.narrative,
        "concepts": list(draft.concepts),
    }


def version_of(draft: ObservationDraft) -> str:
    """Of the words: who has read others has read an older text."""
    return sha256(json.dumps(fields_of(draft)).encode()).hexdigest()[:16]


def checked(fields: Fields) -> Fields | Unusable:
    """One line where one line is meant, and a type that there is."""
    lines = {
        name: " ".join(str(fields[name] or "").split()) or None for name in ("title", "subtitle")
    }
    kind = str(fields["type"] or "").strip().lower()
    if kind not in TYPES:
        why = f"the type is {kind!r}, but must be one of: {', '.join(TYPES)}"
        return Unusable(why, "type")
    if not (lines["title"] or fields["facts"] or fields["narrative"]):
        return Unusable("it has neither a title nor a fact nor a narrative")
    return fields | lines | {"type": kind}


def changes(before: Fields, after: Fields) -> Fields | Unusable:
    """What is known by a title keeps one."""
    if before["title"] and not after["title"]:
        return Unusable("its title is empty. Give it one, or leave the title as it is", "title")
    return {name: value for name, value in after.items() if value != before[name]}
