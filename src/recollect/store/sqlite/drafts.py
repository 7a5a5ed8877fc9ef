"""Drafts on their way into rows. The caller holds the transaction, and has seen that the job is still his."""

import sqlite3
from collections.abc import Iterable
from dataclasses import replace

from recollect.model.jobs import Job
from recollect.model.observations import (
    FALLBACK_TYPE,
    TYPES,
    Author,
    ObservationDraft,
    SummaryDraft,
)
from recollect.store.sqlite.database import Row, write, write_one
from recollect.store.sqlite.values import file_name, joined, safe
from recollect.text import sqlite_safe

Values = dict[str, object]


def replace_observations(
    connection: sqlite3.Connection,
    job: Job,
    author: Author,
    drafts: Iterable[ObservationDraft],
    at: int,
) -> tuple[int, ...]:
    """What the job wrote before goes, but not what a person has pinned or edited. A draft with the title
    of one of those says what is there already."""
    seen = write(connection, "observations", "seen_by_job", {"job_id": job.id}).fetchall()
    write(connection, "observations", "drop_of_job", {"job_id": job.id})
    kept = write(connection, "observations", "kept_of_job", {"job_id": job.id}).fetchall()
    titles = {row["title"] for row in kept} - {None}
    first = max((row["ordinal"] + 1 for row in kept), default=0)
    place = _place(connection, job, author, at)
    new = [draft for draft in drafts if safe(draft.title) not in titles]
    return tuple(
        _add_observation(connection, place | {"ordinal": ordinal}, _as_seen(draft, seen))
        for ordinal, draft in enumerate(new, first)
    )


def replace_summary(
    connection: sqlite3.Connection, job: Job, author: Author, draft: SummaryDraft | None, at: int
) -> int | None:
    place = _place(connection, job, author, at)
    write(connection, "summaries", "drop", place)
    if draft is None:
        return None
    texts = {
        "request": safe(draft.request),
        "investigated": safe(draft.investigated),
        "learned": safe(draft.learned),
        "completed": safe(draft.completed),
        "next_steps": safe(draft.next_steps),
        "notes": safe(draft.notes),
        "origins": joined(draft.origins),
    }
    row = write_one(connection, "summaries", "add", place | texts)
    assert row is not None
    owner: Values = {"summary_id": row["id"]}
    for role, paths in (("read", draft.files_read), ("edited", draft.files_edited)):
        for path in paths:
            values = owner | {"path": sqlite_safe(path), "role": role}
            write(connection, "summaries", "add_file", values)
    for number, doubt in enumerate(draft.doubts):
        said = {"part": sqlite_safe(doubt.part), "reason": sqlite_safe(doubt.reason)}
        write(connection, "summaries", "add_doubt", owner | said | {"ordinal": number})
    return int(row["id"])


def _as_seen(draft: ObservationDraft, before: list[Row]) -> ObservationDraft:
    """Who works a turn up again, much later, cannot see its files as they were; who did it first could."""
    if not before:
        return draft
    first = next((row["revision"] for row in before if row["revision"]), None)
    older = {row["path"]: row["blob"] for row in before if row["blob"]}
    newer = {sqlite_safe(path): blob for path, blob in draft.blobs}
    blobs = tuple((older | newer).items())
    return replace(draft, revision=draft.revision or first, blobs=blobs)


def _add_observation(connection: sqlite3.Connection, place: Values, draft: ObservationDraft) -> int:
    links = {
        "repeats": _link(connection, place, draft.repeats),
        "follows": _link(connection, place, draft.follows, only_earlier=True),
        "subagent_type": safe(draft.subagent_type),
        "revision": safe(draft.revision),
        "origins": joined(draft.origins),
        "sources": joined(draft.sources),
        "bears_out": _link(connection, place, draft.bears_out),
    }
    row = write_one(connection, "observations", "add", place | texts(draft) | links)
    assert row is not None
    key = int(row["id"])
    add_words(connection, key, draft)
    owner: Values = {"observation_id": key}
    blobs = {sqlite_safe(path): blob for path, blob in draft.blobs}
    for role, paths in (("read", draft.files_read), ("modified", draft.files_modified)):
        for path in map(sqlite_safe, paths):
            what = {"name": file_name(path), "role": role, "blob": safe(blobs.get(path))}
            write(connection, "observations", "add_file", owner | {"path": path} | what)
    for number, doubt in enumerate(draft.doubts):
        said = {"part": sqlite_safe(doubt.part), "reason": sqlite_safe(doubt.reason)}
        write(connection, "observations", "add_doubt", owner | said | {"ordinal": number})
    for event in draft.evidence:
        values = owner | {"event_id": event, "session_id": place["session_id"]}
        write(connection, "observations", "add_event", values)
    return key


def texts(draft: ObservationDraft) -> Values:
    return {
        "type": draft.type if draft.type in TYPES else FALLBACK_TYPE,
        "title": safe(draft.title),
        "subtitle": safe(draft.subtitle),
        "narrative": safe(draft.narrative),
    }


def add_words(connection: sqlite3.Connection, observation_id: int, draft: ObservationDraft) -> None:
    owner: Values = {"observation_id": observation_id}
    for number, fact in enumerate(draft.facts):
        values = owner | {"ordinal": number, "text": sqlite_safe(fact)}
        write(connection, "observations", "add_fact", values)
    for concept in draft.concepts:
        write(connection, "observations", "add_concept", owner | {"concept": sqlite_safe(concept)})


def _link(
    connection: sqlite3.Connection, place: Values, target: int | None, *, only_earlier: bool = False
) -> int | None:
    """Where a draft may really point to. A turn that is worked up again may not take the place of what was
    written about later ones."""
    if target is None:
        return None
    row = write_one(connection, "observations", "standing", place | {"id": target})
    if row is None or (only_earlier and row["at"] > place["at"]):
        return None
    return int(row["id"])


def _place(connection: sqlite3.Connection, job: Job, author: Author, at: int) -> Values:
    session = write_one(connection, "sessions", "one", {"id": job.session_id})
    assert session is not None
    return {
        "session_id": job.session_id,
        "project_id": session["project_id"],
        "job_id": job.id,
        "prompt_number": job.prompt_number,
        "at": at,
        "provider": author.provider,
        "model": safe(author.model),
    }
