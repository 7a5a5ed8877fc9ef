"""The parts of a session on their way in: each function says whether its record was new."""

import sqlite3
import zlib
from dataclasses import dataclass, field, replace

from recollect.model.observations import FALLBACK_TYPE, TYPES
from recollect.model.records import (
    JobRecord,
    ObservationRecord,
    PromptRecord,
    Record,
    RequestRecord,
    SummaryRecord,
    fingerprint,
)
from recollect.store.sqlite import export_rows
from recollect.store.sqlite.database import Row, write, write_one
from recollect.store.sqlite.prepared import PackedEvent, Values, values_of
from recollect.store.sqlite.values import file_name

DONE = "done"
SAME_REQUEST = (
    *("at", "provider", "model", "purpose", "digest", "outcome", "sent", "received"),
    *("milliseconds", "session_id", "project_id"),
)


@dataclass(slots=True)
class Place:
    """A session as it was when its block began, and what the records' names stand for in it."""

    connection: sqlite3.Connection
    session_id: int
    prompts: list[Row] = field(default_factory=list)
    taken_numbers: set[int] = field(default_factory=set)
    numbers: dict[int, int] = field(default_factory=dict)
    unmatched_jobs: dict[tuple[str, int], list[Row]] = field(default_factory=dict)
    jobs: dict[int, int] = field(default_factory=dict)
    older_jobs: dict[int, str] = field(default_factory=dict)  # with their state
    said: dict[str, list[int]] = field(default_factory=dict)

    @classmethod
    def known(cls, connection: sqlite3.Connection, session_id: int) -> "Place":
        owner = {"session_id": session_id}
        prompts = write(connection, "transfer", "numbers", owner).fetchall()
        place = cls(connection, session_id, prompts, {row["number"] for row in prompts})
        for row in write(connection, "transfer", "jobs_here", owner).fetchall():
            turn = (row["kind"], row["prompt_number"])
            place.unmatched_jobs.setdefault(turn, []).append(row)
            place.older_jobs[row["id"]] = row["state"]
        for row in write(connection, "transfer", "observations", owner).fetchall():
            words = fingerprint(export_rows.observation(row, "", 0, {}))
            place.said.setdefault(words, []).append(row["id"])
        return place

    def number(self, told: int) -> int:
        return self.numbers.get(told, told)

    def job(self, told: int | None) -> int | None:
        return None if told is None else self.jobs.get(told)


def add_prompt(place: Place, record: PromptRecord) -> bool:
    """It may have another number here: prompts that hooks had missed were put before it."""
    if same := _same_prompt(place.prompts, record):
        place.numbers[record.number] = same["number"]
        return False
    number = record.number
    if number in place.taken_numbers:
        number = max(place.taken_numbers) + 1
    place.taken_numbers.add(number)
    place.numbers[record.number] = number
    values = _here(place, record) | {"number": number}
    write(place.connection, "transfer", "add_prompt", values)
    return True


def _same_prompt(rows: list[Row], record: PromptRecord) -> Row | None:
    """By the agent's id, which a prompt may share with another; else by its number or its time."""
    same = [row for row in rows if row["text"] == record.text]
    ids = () if record.prompt_id is None else (("prompt_id", record.prompt_id),)
    for name, value in (*ids, ("number", record.number), ("at", record.at)):
        for row in same:
            if row[name] == value:
                return row
    return None


def add_job(place: Place, record: JobRecord) -> bool:
    number = place.number(record.prompt_number)
    if older := place.unmatched_jobs.get((record.kind, number)):
        place.jobs[record.job] = older.pop(0)["id"]
        return False
    values = _here(place, record) | {"prompt_number": number}
    row = write_one(place.connection, "transfer", "add_job", values)
    assert row is not None
    place.jobs[record.job] = row["id"]
    return True


def add_event(place: Place, event: PackedEvent) -> bool:
    job_id = place.job(event.job)
    values = event.values | {
        "session_id": place.session_id,
        "prompt_number": place.number(event.prompt_number),
        "job_id": job_id,
    }
    if write(place.connection, "transfer", "add_event", values).rowcount == 1:
        return True
    if job_id is not None and job_id not in place.older_jobs:
        write(place.connection, "transfer", "adopt_event", values)
    return False


def add_observation(place: Place, record: ObservationRecord) -> bool:
    """A turn that was worked up here, by whomever, is not told twice; but a person's words are kept."""
    number = place.number(record.prompt_number)
    kind = record.type if record.type in TYPES else FALLBACK_TYPE
    told = replace(record, prompt_number=number, type=kind)
    job_id = place.job(record.job)
    if same := place.said.get(fingerprint(told)):
        _note(place, record, same.pop(0))
        return False
    settled = job_id is not None and place.older_jobs.get(job_id) == DONE
    if settled and not (record.pinned or record.edited):
        return False
    values = _here(place, told) | {"job_id": job_id}
    free = write_one(place.connection, "transfer", "next_ordinal", values)
    assert free is not None
    row = write_one(place.connection, "transfer", "add_observation", values | {"ordinal": free[0]})
    assert row is not None
    _add_parts(place, told, row["id"])
    _note(place, record, row["id"])
    return True


def _note(place: Place, record: ObservationRecord, observation_id: int) -> None:
    links = {"repeats": record.repeats, "follows": record.follows}
    values = {"name": record.observation, "id": observation_id} | links
    write(place.connection, "transfer", "note_moved", values)


def _add_parts(place: Place, record: ObservationRecord, observation_id: int) -> None:
    def add(noun: str, query: str, /, **values: object) -> None:
        write(place.connection, noun, query, {"observation_id": observation_id} | values)

    for ordinal, fact in enumerate(record.facts):
        add("observations", "add_fact", ordinal=ordinal, text=fact)
    for concept in record.concepts:
        add("observations", "add_concept", concept=concept)
    blobs = {found.path: found.blob for found in record.blobs}
    for role, paths in (("read", record.files_read), ("modified", record.files_modified)):
        for path in paths:
            what = {"name": file_name(path), "role": role, "blob": blobs.get(path)}
            add("observations", "add_file", path=path, **what)
    for ordinal, doubt in enumerate(record.doubts):
        add("observations", "add_doubt", ordinal=ordinal, part=doubt.part, reason=doubt.reason)
    for key in record.evidence:
        add("transfer", "add_evidence", session_id=place.session_id, key=key)


def add_summary(place: Place, record: SummaryRecord) -> bool:
    values = _here(place, record) | {"prompt_number": place.number(record.prompt_number)}
    row = write_one(place.connection, "transfer", "add_summary", values)
    if row is None:
        return False

    def add(name: str, **values: object) -> None:
        write(place.connection, "summaries", name, {"summary_id": row["id"]} | values)

    for role, paths in (("read", record.files_read), ("edited", record.files_edited)):
        for path in paths:
            add("add_file", path=path, role=role)
    for ordinal, doubt in enumerate(record.doubts):
        add("add_doubt", ordinal=ordinal, part=doubt.part, reason=doubt.reason)
    return True


def request_values(record: RequestRecord, place: Place | None) -> Values:
    values = values_of(record) | {
        "session_id": place.session_id if place else None,
        "project_id": None,
        "job_id": place.job(record.job) if place else None,
    }
    if record.reply is not None:
        values["reply"] = zlib.compress(record.reply.encode("utf-8", "surrogatepass"))
    return values


def _here(place: Place, record: Record) -> Values:
    return values_of(record) | {"session_id": place.session_id}
