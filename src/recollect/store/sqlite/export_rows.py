"""Rows on their way out: each becomes a record, read as it is asked for."""

import json
import sqlite3
from collections.abc import Iterator
from typing import Any

from recollect.model.records import (
    BlobRecord,
    DirRecord,
    DoubtRecord,
    EventRecord,
    IdentityRecord,
    JobRecord,
    ObservationRecord,
    ProjectRecord,
    PromptRecord,
    Record,
    RequestRecord,
    SessionRecord,
    SummaryRecord,
    session_name,
)
from recollect.store.sqlite.bodies import unpack
from recollect.store.sqlite.database import Row, write

LISTS = ("facts", "concepts", "files_read", "files_modified", "files_edited", "evidence")


def project_records(
    reader: sqlite3.Connection, row: Row, name: str, *, replies: bool
) -> Iterator[Record]:
    owner = {"id": row["id"]}
    identities = write(reader, "transfer", "identities", owner).fetchall()
    dirs = write(reader, "transfer", "dirs", owner).fetchall()
    yield ProjectRecord(
        project=name,
        name=row["name"],
        root=row["root"],
        created_at=row["created_at"],
        identities=tuple(IdentityRecord(**dict(found)) for found in identities),
        dirs=tuple(DirRecord(**dict(found)) for found in dirs),
    )
    place = {"project_id": row["id"]}
    for found in write(reader, "transfer", "loose_requests", place):
        yield request(found, None, name, {}, replies=replies)
    for session in write(reader, "transfer", "sessions", place).fetchall():
        yield from session_records(reader, session, name, replies=replies)


def session_records(
    reader: sqlite3.Connection, row: Row, project: str, *, replies: bool
) -> Iterator[Record]:
    name = session_name(row["agent"], row["ref"])
    columns = [c for c in SessionRecord.__dataclass_fields__ if c not in ("session", "project")]
    yield SessionRecord(
        session=name, project=project, **{column: row[column] for column in columns}
    )
    owner = {"session_id": row["id"]}
    for found in write(reader, "transfer", "prompts", owner):
        yield PromptRecord(session=name, **dict(found))
    jobs: dict[int, int] = {}
    for number, found in enumerate(write(reader, "transfer", "jobs", owner), 1):
        values = dict(found)
        jobs[values.pop("id")] = number
        yield JobRecord(session=name, job=number, **values)
    for found in write(reader, "transfer", "events", owner):
        yield _event(found, name, jobs)
    for number, found in enumerate(write(reader, "transfer", "observations", owner), 1):
        yield observation(found, name, number, jobs)
    for found in write(reader, "transfer", "summaries", owner):
        yield SummaryRecord(session=name, **_parts(found))
    for found in write(reader, "transfer", "requests", owner):
        yield request(found, name, project, jobs, replies=replies)


def _event(row: Row, session: str, jobs: dict[int, int]) -> EventRecord:
    values = dict(row)
    job = jobs.get(values.pop("job_id"))
    body = unpack(values.pop("body"))
    values |= {"boring": bool(values["boring"]), "healed": bool(values["healed"])}
    return EventRecord(session=session, job=job, body=body, **values)


def observation(row: Row, session: str, place: int, jobs: dict[int, int]) -> ObservationRecord:
    values = _parts(row)
    del values["id"]
    job = jobs.get(values.pop("job_id"))
    values |= {flag: bool(values[flag]) for flag in ("pinned", "edited", "confirmed")}
    values["blobs"] = tuple(BlobRecord(*pair) for pair in json.loads(values["blobs"]))
    return ObservationRecord(session=session, observation=f"{session}#{place}", job=job, **values)


def _parts(row: Row) -> dict[str, Any]:
    """A row whose lists came as JSON."""
    values = dict(row)
    for name in LISTS:
        if name in values:
            values[name] = tuple(json.loads(values[name]))
    values["doubts"] = tuple(DoubtRecord(*pair) for pair in json.loads(values["doubts"]))
    return values


def request(
    row: Row, session: str | None, project: str | None, jobs: dict[int, int], *, replies: bool
) -> RequestRecord:
    values = dict(row)
    job = jobs.get(values["job_id"])
    for column in ("id", "session_id", "project_id", "job_id"):
        del values[column]
    values |= {"estimated": bool(values["estimated"]), "stored": bool(values["stored"])}
    reply = values.pop("reply")
    if replies and reply is not None:
        values["reply"] = unpack(reply).decode("utf-8", "surrogatepass")
    return RequestRecord(session=session, project=project, job=job, **values)
