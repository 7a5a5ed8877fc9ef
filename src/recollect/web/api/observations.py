"""Observations: a list, one with all that hangs on it, and what people do to them. The worker does it, as it
does for the commands: briefs, search and session memories follow."""

from dataclasses import asdict
from typing import Any

from recollect import freshness
from recollect.model import editing
from recollect.model.observations import TYPES, Observation
from recollect.parameters import Parameter
from recollect.recall import lookup
from recollect.recall.hits import HANDED_OVER
from recollect.recall.shown import said
from recollect.text import tokens
from recollect.web.api import filtering, parts
from recollect.web.api.filtering import FILTERS
from recollect.web.api.parts import (
    BEFORE,
    EVENT,
    FLAG,
    ID,
    MAYBE_TEXT,
    NUMBER,
    OBSERVATION_ROW,
    TEXT,
    many,
    page_of,
    shape,
)
from recollect.web.backend import Backend, Json
from recollect.web.rows import Row, Wrong, not_found

RELATED = 8
TURN_EVENTS = 50
MEANWHILE = (
    "#{0} has other words by now; it was left as it is. GET /api/observations/{0} has them, and their "
    "`version`; send yours with that."
)


def listed(backend: Backend, *, before: str | None, limit: int, **given: Any) -> Json:
    filters = filtering.read(backend, **given)
    cursor = parts.cursor(before, 2, "before")
    found = backend.store.observations_page(filters, cursor, limit + 1)
    names = parts.names(backend)
    items = [parts.observation_json(row, names[row.project_id]) for row in found[:limit]]
    return parts.page(items, [(row.at, row.id) for row in found], limit)


def one(backend: Backend, *, id: int) -> Json:
    store = backend.store
    found = _observation(backend, id)
    session = store.session(found.session_id)
    project = store.project(found.project_id)
    draft = found.draft
    folder = freshness.directory(session.project_dir if session else project.root, project.root)
    texts = (draft.title, draft.subtitle, *draft.facts, draft.narrative)
    merge = store.merge_of(id)
    links = store.observation_links(id)
    told = asdict(draft)
    reasons = {doubt.part: doubt.reason for doubt in draft.doubts}
    return {
        "id": id,
        "session_id": found.session_id,
        "session_ref": session.ref if session else None,
        "project_id": project.id,
        "project": project.name,
        "prompt_number": found.prompt_number,
        "at": found.at,
        **{name: told[name] for name in WORDS},
        "facts": [
            {"text": fact, "doubt": reasons.get(f"facts {number}")}
            for number, fact in enumerate(draft.facts)
        ],
        "provider": found.provider,
        "model": found.model,
        "pinned": found.pinned,
        "edited": found.edited,
        "confirmed": found.confirmed,
        "origins": list(draft.origins or ()),
        "sources": list(draft.sources),
        "edits": store.edits_of(id),
        "version": editing.version_of(draft),
        "freshness": asdict(freshness.of(found, folder)),
        **_evidence(backend, found),
        "related": _related(backend, id),
        "folded": [key for key, what in links if what == "same" and key != draft.repeats],
        "merged": {"into": merge.into, "at": merge.at} if merge else None,
        "tokens": sum(tokens(text or "") for text in texts) + HANDED_OVER,
    }


def edit(backend: Backend, *, id: int, version: str | None, **given: Any) -> Json:
    """What is not given stays; an empty text or list takes a field away."""
    before = editing.fields_of(_observation(backend, id).draft)
    words = {
        name: list(value) if isinstance(value, tuple) else value or None
        for name, value in given.items()
        if value is not None
    }
    after = editing.checked(before | words)
    changed = after if isinstance(after, editing.Unusable) else editing.changes(before, after)
    if isinstance(changed, editing.Unusable):
        why = f"The observation was left as it is: {changed.why}."
        raise Wrong(400, "bad_request", why, changed.field)
    if changed:
        answer = backend.order("edit", id=id, version=version, **changed)
        if must_be_there(backend, id, answer).get("meanwhile"):
            raise Wrong(409, "edited_meanwhile", MEANWHILE.format(id))
    return one(backend, id=id)


def unedit(backend: Backend, *, id: int) -> Json:
    _observation(backend, id)
    if not backend.order("unedit", id=id)["found"]:
        raise not_found(f"Nobody has edited #{id}, or all of that was taken back.")
    return one(backend, id=id)


def pin(backend: Backend, *, id: int, pinned: bool) -> Json:
    """What is stored: of what is folded, the one that it is folded into bears the pin."""
    must_be_there(backend, id, backend.order("pin", id=id, pinned=pinned))
    bearer = _observation(backend, _observation(backend, id).draft.repeats or id)
    return {"id": bearer.id, "pinned": bearer.pinned}


def forget(backend: Backend, *, id: int) -> Json:
    answer = must_be_there(backend, id, backend.order("forget-observation", id=id))
    return {"id": id, "title": answer["title"], "count": answer["count"], "undo": True}


def merge(backend: Backend, *, id: int, into: int) -> Json:
    for number in (id, into):
        _observation(backend, number)
    answer = backend.order("merge", id=id, into=into)
    if why := answer.get("refused"):
        raise Wrong(400, "cannot_merge", why, "into")
    return {"id": id, "into": answer["into"], "moved": answer["moved"], "undo": True}


def unmerge(backend: Backend, *, id: int) -> Json:
    _observation(backend, id)
    answer = backend.order("unmerge", id=id)
    if not answer["found"]:
        raise not_found(f"Nobody has merged #{id} into another one. Look at its `repeats`.")
    return {"id": id, "into": answer["into"]}


def _observation(backend: Backend, id: int) -> Observation:
    found = backend.store.observation(id)
    if found is None:
        raise _missing(backend, id)
    return found


def _missing(backend: Backend, id: int) -> Wrong:
    if backend.store.was_forgotten(id):
        undo = f"POST /api/observations/{id}/restore brings it back."
        return not_found(f"Observation #{id} was forgotten. {undo}")
    return not_found(f"There is no observation #{id}. GET /api/observations lists them.")


def must_be_there(backend: Backend, id: int, answer: Json) -> Json:
    if not answer["found"]:
        raise _missing(backend, id)
    return answer


def _evidence(backend: Backend, found: Observation) -> Json:
    """What is written without a model names no events: it is of its whole turn."""
    rows, of = backend.store.event_rows(found.draft.evidence), "itself"
    if not rows and (tools := backend.store.tools_of_turn(found.id, TURN_EVENTS)):
        rows, of = tools, "turn"
    return {"evidence": [parts.event_json(row, {}) for row in rows], "evidence_of": of}


def _related(backend: Backend, id: int) -> list[Json]:
    hits = lookup.related(backend.searcher, backend.store, id, RELATED)
    return [
        {"id": hit.id, "title": hit.title, "type": hit.type, "at": hit.at, "why": said(hit.reasons)}
        for hit in hits
    ]


WORDS = (
    *("type", "title", "subtitle", "narrative", "concepts", "files_read", "files_modified"),
    *("doubts", "repeats", "follows", "revision", "subagent_type"),
)
DOUBT = shape(part=TEXT, reason=TEXT)
WHOLE = shape(
    **{n: v for n, v in OBSERVATION_ROW["properties"].items() if n != "doubted"},
    session_ref=MAYBE_TEXT,
    facts=many(shape(text=TEXT, doubt=MAYBE_TEXT)),
    narrative=MAYBE_TEXT,
    concepts=many(TEXT),
    files_read=many(TEXT),
    files_modified=many(TEXT),
    provider=TEXT,
    model=MAYBE_TEXT,
    revision=MAYBE_TEXT,
    doubts=many(DOUBT),
    freshness=shape(state=TEXT, changed=many(TEXT), gone=many(TEXT)),
    evidence=many(EVENT),
    evidence_of={"enum": ["itself", "turn"]},
    related=many(shape(id=NUMBER, title=TEXT, type=MAYBE_TEXT, at=NUMBER, why=TEXT)),
    confirmed=FLAG,
    origins=many(TEXT),
    sources=many(TEXT),
    edits=NUMBER,
    version=TEXT,
    folded=many(NUMBER),
    merged={"anyOf": [shape(into=NUMBER, at=NUMBER), {"type": "null"}]},
    tokens=NUMBER,
)
INTO = Parameter(
    "into", "The one that stands for both.", "number", required=True, most=parts.LARGEST
)
PLACE = "/api/observations/{id}"
ROWS = (
    Row(
        "GET",
        "/api/observations",
        "Observations, the latest first, without what is folded into another.",
        listed,
        query=(*FILTERS, BEFORE, parts.limit(50)),
        answer=page_of(OBSERVATION_ROW),
    ),
    Row("GET", PLACE, "One observation, with all that hangs on it.", one, (ID,), answer=WHOLE),
    Row(
        "PATCH",
        PLACE,
        "Put it into a person's words: it is doubted no longer, and nothing takes its place.",
        edit,
        place=(ID,),
        body=(
            Parameter("type", "What kind of thing it is.", choices=TYPES),
            Parameter("title", "What it is about, in a few words."),
            Parameter("subtitle", "One sentence."),
            Parameter("narrative", "The story."),
            Parameter("facts", "All of them.", "texts"),
            Parameter("concepts", "All of them.", "texts"),
            Parameter(
                "version",
                "As it was read: nothing is changed if it has other words by now.",
                most=100,
            ),
        ),
        answer=WHOLE,
    ),
    Row(
        "POST",
        f"{PLACE}/unedit",
        "Take the last edit back: it is again what it was before. `edits` says how many more there are.",
        unedit,
        place=(ID,),
        answer=WHOLE,
    ),
    Row(
        "POST",
        f"{PLACE}/pin",
        "Put it first in every brief of its project, or no longer. `id`: the one that bears the pin, which "
        "is another where it is folded into one.",
        pin,
        place=(ID,),
        body=(Parameter("pinned", "Whether it is.", "flag", required=True),),
        answer=shape(id=NUMBER, pinned=FLAG),
    ),
    Row(
        "DELETE",
        PLACE,
        "Forget it, and what is folded into it. It can be restored.",
        forget,
        place=(ID,),
        answer=shape(id=NUMBER, title=MAYBE_TEXT, count=NUMBER, undo=FLAG),
    ),
    Row(
        "POST",
        f"{PLACE}/merge",
        "Fold it into another one, which stands for both.",
        merge,
        place=(ID,),
        body=(INTO,),
        answer=shape(id=NUMBER, into=NUMBER, moved=many(NUMBER), undo=FLAG),
    ),
    Row(
        "POST",
        f"{PLACE}/unmerge",
        "Take a merge back.",
        unmerge,
        place=(ID,),
        answer=shape(id=NUMBER, into=NUMBER),
    ),
)
