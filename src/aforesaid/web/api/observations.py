"""Observations: lists, one with its evidence and related ones, and changes, which the worker makes."""

from dataclasses import asdict
from typing import Any

from aforesaid import freshness
from aforesaid.model import observations
from aforesaid.model.observations import Unusable
from aforesaid.parameters import Parameter
from aforesaid.recall import lookup
from aforesaid.recall.resolve import find_observation
from aforesaid.recall.results import describe_reasons
from aforesaid.web.api import common
from aforesaid.web.api.common import BEFORE, EVENT, FILTERS, OBSERVATION_ROW, PROJECT
from aforesaid.web.backend import Backend, Json
from aforesaid.web.endpoint import MAX_ID, TREE, ApiError, endpoint, many, page_of, shape
from aforesaid.web.markdown import parse_line

RELATED = 8
TURN_EVENTS = 50
COPIED = (
    *("type", "title", "subtitle", "narrative", "concepts", "files_read", "files_modified"),
    *("doubts", "repeats", "follows", "revision", "subagent_type"),
)
OWN_FIELDS = "id session_id project_id prompt_number at provider model pinned edited verified"
PATH = "/api/observations/{id}"
OBSERVATION = shape(
    "session_ref:str? narrative:str? concepts:[str] files_read:[str] files_modified:[str] provider:str "
    "model:str? revision:str? verified:bool origins:[str] sources:[str] edits:int version:str "
    "duplicates:[int] tokens:int",
    **{n: v for n, v in OBSERVATION_ROW["properties"].items() if n != "unverified"},
    facts=many(shape("text:str doubt:str?")),
    content=shape(subtitle=TREE, narrative=TREE, facts=many(TREE)),
    doubts=many(shape("part:str reason:str")),
    freshness=shape("state:str changed:[str] gone:[str]"),
    evidence=many(EVENT),
    evidence_of={"enum": ["itself", "turn"]},
    related=many(shape("id:int title:str type:str? at:int why:str")),
    merged={"anyOf": [shape("into:int at:int"), {"type": "null"}]},
)


@endpoint(
    "GET",
    "/api/observations",
    *FILTERS,
    BEFORE,
    common.limit_parameter(50),
    response=page_of(OBSERVATION_ROW),
)
def list_observations(backend: Backend, *, before: str | None, limit: int, **given: Any) -> Json:
    """List observations, the latest first, without duplicates."""
    filters = common.read_filters(backend, **given)
    cursor = common.parse_cursor(before, 2, "before")
    found = backend.store.observations.page(filters, cursor, limit + 1)
    names = common.project_names(backend)
    items = [common.observation_json(row, names[row.project_id]) for row in found[:limit]]
    return common.page(items, [(row.at, row.id) for row in found], limit)


@endpoint("GET", PATH, response=OBSERVATION)
def read_observation(backend: Backend, *, id: int) -> Json:
    """Read an observation with its evidence and related observations."""
    store = backend.store
    found = find_observation(backend.store, id)
    draft, fields = found.draft, asdict(found.draft)
    session = store.sessions.get(found.session_id)
    project = store.projects.get(found.project_id)
    folder = freshness.directory(session.project_dir if session else project.root, project.root)
    merged = store.observations.get_merge(id)
    doubts = {doubt.part: doubt.reason for doubt in draft.doubts}
    rows, of = store.events.by_ids(draft.evidence), "itself"
    # Observations written without a model name no events; then it is the tool calls of the turn.
    if not rows and (tools := store.events.tool_calls(id, TURN_EVENTS)):
        rows, of = tools, "turn"
    related = lookup.related(backend.searcher, store, id, RELATED)
    return {
        **common.pick(found, OWN_FIELDS),
        **{name: fields[name] for name in COPIED},
        "session_ref": session.ref if session else None,
        "project": project.name,
        "facts": [
            {"text": fact, "doubt": doubts.get(f"facts {number}")}
            for number, fact in enumerate(draft.facts)
        ],
        "content": {
            "subtitle": parse_line(draft.subtitle),
            "narrative": parse_line(draft.narrative),
            "facts": [parse_line(fact) for fact in draft.facts],
        },
        "origins": list(draft.origins or ()),
        "sources": list(draft.sources),
        "edits": store.observations.count_edits(id),
        "version": observations.draft_version(draft),
        "freshness": asdict(freshness.check_files(found, folder)),
        "evidence": [common.event_json(row, {}) for row in rows],
        "evidence_of": of,
        "related": [
            common.pick(hit, "id title type at") | {"why": describe_reasons(hit.reasons)}
            for hit in related
        ],
        "duplicates": store.observations.duplicates(id),
        "merged": {"into": merged.into, "at": merged.at} if merged else None,
        "tokens": lookup.observation_hit(found).tokens,
    }


@endpoint(
    "PATCH",
    PATH,
    Parameter("type", "Its type.", choices=observations.TYPES),
    Parameter("title", "A few words."),
    Parameter("subtitle", "One sentence."),
    Parameter("narrative", "The details."),
    Parameter("facts", "All facts.", "names"),
    Parameter("concepts", "All concepts.", "names"),
    Parameter(
        "version",
        "The version that was read: if it has changed since, the edit is refused.",
        most=100,
    ),
    response=OBSERVATION,
)
def edit_observation(backend: Backend, *, id: int, version: str | None, **given: Any) -> Json:
    """Edit an observation. Fields that are left out stay; an empty text or list removes one. An edited
    observation is no longer unverified or replaced."""
    before = observations.draft_fields(find_observation(backend.store, id).draft)
    fields = {
        name: list(value) if isinstance(value, tuple) else value or None
        for name, value in given.items()
        if value is not None
    }
    after = observations.checked(before | fields)
    changed = after if isinstance(after, Unusable) else observations.changes(before, after)
    if isinstance(changed, Unusable):
        why = f"The observation was left as it is: {changed.why}."
        raise ApiError(400, "bad_request", why, changed.field)
    if changed:
        backend.order("edit", id=id, version=version, **changed)
    return read_observation(backend, id=id)


@endpoint("POST", f"{PATH}/unedit", response=OBSERVATION)
def undo_edit(backend: Backend, *, id: int) -> Json:
    """Undo the last edit. `edits` is how many are left."""
    backend.order("unedit", id=id)
    return read_observation(backend, id=id)


@endpoint(
    "POST",
    f"{PATH}/pin",
    Parameter("pinned", "Pin or unpin.", "flag", required=True),
    response=shape("id:int pinned:bool"),
)
def pin_observation(backend: Backend, *, id: int, pinned: bool) -> Json:
    """Pin an observation, so that it comes first in every brief of its project, or unpin it. A duplicate pins
    the observation it repeats, whose `id` is returned."""
    backend.order("pin", id=id, pinned=pinned)
    found = find_observation(backend.store, id)
    found = find_observation(backend.store, found.draft.repeats or id)
    return {"id": found.id, "pinned": found.pinned}


@endpoint(
    "POST",
    f"{PATH}/verify",
    Parameter("verified", "Mark as verified, or undo that.", "flag", required=True),
    response=shape("id:int verified:bool"),
)
def verify_observation(backend: Backend, *, id: int, verified: bool) -> Json:
    """Mark an observation that only the web supports as verified, or undo that. A duplicate marks the
    observation it repeats, whose `id` is returned."""
    return backend.order("verify", id=id, verified=verified) | {"verified": verified}


@endpoint("DELETE", PATH, response=shape("id:int title:str? count:int undo:bool"))
def hide_observation(backend: Backend, *, id: int) -> Json:
    """Hide an observation and its duplicates. Can be undone."""
    return {"id": id, "undo": True} | backend.order("forget-observation", id=id)


@endpoint("POST", f"{PATH}/restore", response=shape("id:int title:str?"))
def restore_observation(backend: Backend, *, id: int) -> Json:
    """Restore a hidden observation as it was."""
    return {"id": id} | backend.order("restore", id=id)


@endpoint(
    "GET",
    "/api/hidden",
    PROJECT,
    BEFORE,
    common.limit_parameter(50),
    response=page_of(shape("id:int at:int title:str? project_id:int session_id:int")),
)
def list_hidden(backend: Backend, *, project: int | None, before: str | None, limit: int) -> Json:
    """List hidden observations, the latest first."""
    wanted = common.find_project(backend, project)
    projects = [wanted] if wanted else backend.store.projects.all()
    cursor = common.parse_cursor(before, 2, "before")
    ids = [each.id for each in projects]
    found = backend.store.observations.hidden(ids, cursor, limit + 1)
    items = [
        {"id": each.observation_id} | common.pick(each, "at title project_id session_id")
        for each in found[:limit]
    ]
    return common.page(items, [(each.at, each.observation_id) for each in found], limit)


@endpoint(
    "POST",
    f"{PATH}/merge",
    Parameter("into", "The id that remains.", "number", required=True, most=MAX_ID),
    response=shape("id:int into:int undo:bool"),
)
def merge_observation(backend: Backend, *, id: int, into: int) -> Json:
    """Merge an observation into another one as its duplicate. Can be undone."""
    return {"id": id, "undo": True} | backend.order("merge", id=id, into=into)


@endpoint("POST", f"{PATH}/unmerge", response=shape("id:int into:int"))
def undo_merge(backend: Backend, *, id: int) -> Json:
    """Undo a merge."""
    return {"id": id} | backend.order("unmerge", id=id)
