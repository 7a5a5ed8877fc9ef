"""Rows as records, on their way out of the store and in.

An export is one snapshot of the store, read row by row as it is asked for. An import takes a block (a
project, or a session with all its parts) in one transaction. What is here already stays: a project is found
by its identities, a session by its agent's id, a prompt by its id, an event by its key, a job by its place
in its turn, an observation by its words. So a second import adds nothing.
"""

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

from aforesaid.ids import digest
from aforesaid.model.observations import stored_type
from aforesaid.model.records import (
    NAMES,
    Counts,
    DirRecord,
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
    Taken,
    fingerprint,
    map_texts,
    session_name,
)
from aforesaid.repository import find_owner
from aforesaid.store.database import Connection, Part, Row, translate
from aforesaid.store.jobs import add_doubts, add_files, add_parts
from aforesaid.store.projects import known_in
from aforesaid.store.requests import pack_reply, unpack_reply
from aforesaid.store.values import columns, pack, read, unpack
from aforesaid.text import sqlite_safe

Values = dict[str, Any]
DONE = "done"
SAME_REQUEST = (
    *("at", "provider", "model", "purpose", "digest", "outcome", "sent", "received"),
    *("milliseconds", "session_id", "project_id"),
)


class _Undone(Exception):
    """A trial run is over."""


class Transfer(Part):
    def count(self, project_id: int | None) -> Counts:
        return self._db.all(Counts, "transfer", "counts", project_id=project_id)[0]

    def export(self, project_id: int | None, *, replies: bool) -> Iterator[Record]:
        """One snapshot, in order: loose requests, then each project, its sessions and their parts."""
        reader = self._db.reader()
        try:
            reader.execute("BEGIN")
            for record in _export(reader, project_id):
                if isinstance(record, RequestRecord) and not replies:
                    yield replace(record, reply=None)
                else:
                    yield record
        except sqlite3.DatabaseError as error:
            raise translate(error, self._db.path) from error
        finally:
            with suppress(sqlite3.ProgrammingError):  # left unfinished, and the store is closed
                reader.rollback()

    def begin(self) -> None:
        with self._db.transaction() as db:
            db.run("transfer", "make_moved")
            db.run("transfer", "forget_moved")

    def import_records(
        self, records: Iterable[Record], *, into: int | None = None, undo: bool = False
    ) -> Taken:
        """A block, in one transaction. With `undo` nothing is changed, and it is only known what would be."""
        taken: Taken | None = None
        ready = [_prepare(record) for record in records]
        with suppress(_Undone), self._db.transaction() as db:
            taken = _Import(db, into).run(ready)
            if undo:
                raise _Undone
        assert taken is not None
        return taken

    def end(self) -> None:
        """Now that everything is here: a link may point to a session that came later."""
        with self._db.transaction() as db:
            for step in ("link_repeats", "link_follows", "forget_moved"):
                db.run("transfer", step)


def _export(db: Connection, only: int | None) -> Iterator[Record]:
    if only is None:
        for row in db.run("transfer", "loose_requests", project_id=None):
            yield _read_request(row)
    for number, row in enumerate(db.rows("transfer", "projects", project_id=only), 1):
        name, owner = f"p{number}", {"project_id": row["id"], "id": row["id"]}
        identities = tuple(db.all(IdentityRecord, "transfer", "identities", **owner))
        dirs = tuple(db.all(DirRecord, "transfer", "dirs", **owner))
        yield read(ProjectRecord, row, project=name, identities=identities, dirs=dirs)
        for found in db.run("transfer", "loose_requests", **owner):
            yield _read_request(found, project=name)
        for session in db.rows("transfer", "sessions", **owner):
            yield from _export_session(db, session, name)


def _export_session(db: Connection, row: Row, project: str) -> Iterator[Record]:
    name, owner = session_name(row["agent"], row["ref"]), {"session_id": row["id"]}
    yield read(SessionRecord, row, session=name, project=project)
    for found in db.run("transfer", "prompts", **owner):
        yield read(PromptRecord, found, session=name)
    jobs: dict[int | None, int] = {}
    for number, found in enumerate(db.run("transfer", "jobs", **owner), 1):
        jobs[found["id"]] = number
        yield read(JobRecord, found, session=name, job=number)
    for found in db.run("transfer", "events", **owner):
        job, body = jobs.get(found["job_id"]), unpack(found["body"])
        yield read(EventRecord, found, session=name, job=job, body=body)
    for number, found in enumerate(db.run("transfer", "observations", **owner), 1):
        yield _read_observation(found, name, number, jobs.get(found["job_id"]))
    for found in db.run("transfer", "summaries", **owner):
        yield read(SummaryRecord, found, session=name)
    for found in db.run("transfer", "requests", **owner):
        yield _read_request(found, name, project, jobs.get(found["job_id"]))


def _read_observation(row: Row, session: str, place: int, job: int | None) -> ObservationRecord:
    values = {**row, "repeats": row["repeated"], "follows": row["followed"]}
    name = f"{session}#{place}"
    return read(ObservationRecord, values, session=session, observation=name, job=job)


def _read_request(
    row: Row, session: str | None = None, project: str | None = None, job: int | None = None
) -> RequestRecord:
    reply = None if row["reply"] is None else unpack_reply(row["reply"])
    return read(RequestRecord, row, reply=reply, session=session, project=project, job=job)


def _prepare(record: Record) -> tuple[Record, Values]:
    """With its columns, cleaned and compressed: the transaction has only the inserts to do."""
    safe: Record = map_texts(record, sqlite_safe)
    values = columns(safe)
    if isinstance(safe, EventRecord):
        hashed = {"content_hash": digest(safe.body, 32), "size": len(safe.body)}
        values |= hashed | {"body": pack(safe.body)}
        safe = replace(safe, body=b"")
    elif isinstance(record, RequestRecord) and record.reply is not None:
        values["reply"] = pack_reply(record.reply)  # as it came
    return safe, values


class _Import:
    """One block: a project, and perhaps a session. `into`: the project that all goes to."""

    def __init__(self, db: Connection, into: int | None) -> None:
        self._db, self._into = db, into
        self._new: Counter[str] = Counter()
        self._known: Counter[str] = Counter()
        self._project: ProjectRecord | None = None
        self._found: int | None = None  # the project of the record
        self._project_id: int | None = None  # where things go
        self._moved = False
        self._session: Values = {}  # the record's columns
        self._session_id: int | None = None
        self._prompts: list[Row] = []
        self._taken_numbers: set[int] = set()
        self._numbers: dict[int, int] = {}  # of prompts, by their number in the records
        self._unmatched_jobs: dict[tuple[str, int], list[int]] = defaultdict(list)
        self._older_jobs: dict[int, str] = {}  # with their state
        self._jobs: dict[int | None, int] = {}  # by their place in the records
        self._observations: dict[str, list[int]] = defaultdict(list)  # by fingerprint
        self._asked: Counter[tuple[object, ...]] = Counter()
        self._adders: dict[type, Callable[[Any, Values], bool]] = {
            PromptRecord: self._add_prompt,
            JobRecord: self._add_job,
            EventRecord: self._add_event,
            ObservationRecord: self._add_observation,
            SummaryRecord: self._add_summary,
            RequestRecord: self._add_request,
        }

    def run(self, records: Iterable[tuple[Record, Values]]) -> Taken:
        for record, values in records:
            if isinstance(record, ProjectRecord):
                self._project = record
                continue
            if isinstance(record, SessionRecord):
                self._session = values
                is_new = self._add_session(values)
            else:
                place = {
                    "session_id": self._session_id,
                    "job_id": self._jobs.get(values.get("job")),
                }
                is_new = self._adders[type(record)](record, values | place)
            self._count(NAMES[type(record)][1], is_new)
        if self._session_id is not None:
            self._db.run("transfer", "merge_session", **self._session, id=self._session_id)
        elif self._project is not None:
            self._find_project()
        new = Counts(**self._new)
        touched = any(new) or self._moved
        return Taken(new, Counts(**self._known), self._project_id if touched else None)

    def _count(self, noun: str, is_new: bool) -> None:
        (self._new if is_new else self._known)[noun] += 1

    def _add_session(self, values: Values) -> bool:
        row = self._db.row("sessions", "by_ref", **values)
        if row is None:
            place = values | {"project_id": self._find_project()}
            self._session_id = self._db.number("transfer", "add_session", **place)
            return True
        self._session_id, self._project_id = row["id"], row["project_id"]
        self._move_home(row, values["project_dir"])
        owner = {"session_id": row["id"]}
        self._prompts = self._db.rows("transfer", "prompts", **owner)
        self._taken_numbers = {each["number"] for each in self._prompts}
        for job in self._db.rows("transfer", "jobs_here", **owner):
            self._unmatched_jobs[job["kind"], job["prompt_number"]].append(job["id"])
            self._older_jobs[job["id"]] = job["state"]
        for each in self._db.rows("transfer", "observations", **owner):
            words = fingerprint(_read_observation(each, "", 0, None))
            self._observations[words].append(each["id"])
        return False

    def _move_home(self, row: Row, project_dir: str) -> None:
        """A session from claude-mem is in a placeholder project until its directory is known."""
        if not self._db.row("transfer", "is_placeholder", project_id=row["project_id"]):
            return
        project_id = self._find_project()
        if project_id == row["project_id"]:
            return
        values = {"id": row["id"], "project_id": project_id, "project_dir": project_dir}
        for what in ("move_session", "move_observations", "move_summaries"):
            self._db.run("transfer", what, **values)
        self._db.run("projects", "drop_if_empty", id=row["project_id"])
        self._moved = True

    def _find_project(self) -> int:
        """The one that it belongs to; a new one if there is none. Its name and place stay."""
        if self._found is None:
            self._found = self._into or self._resolve_project()
        self._project_id = self._found
        return self._found

    def _resolve_project(self) -> int:
        record = self._project
        assert record is not None, "a project comes before its sessions"
        if record.identities:
            owner = find_owner(record.repository, known_in(self._db), local=False)
            found = owner.key[0] if owner else None
        else:
            row = self._db.row("transfer", "nameless_project", **columns(record))
            found = int(row["id"]) if row else None
        self._count("projects", found is None)
        if found is not None:  # it takes neither identities nor directories from a file
            return found
        project_id = self._db.number("projects", "add_project", **columns(record))
        for identity in dict.fromkeys(record.identities):
            whose = {"project_id": project_id, "link": 0}
            self._db.run("projects", "add_identity", **columns(identity), **whose)
        for directory in record.dirs:
            self._db.run("transfer", "add_dir", **columns(directory), project_id=project_id)
        return project_id

    def _number(self, given: int) -> int:
        return self._numbers.get(given, given)

    def _add_prompt(self, record: PromptRecord, values: Values) -> bool:
        """It may have another number here: prompts that hooks had missed were put before it."""
        if same := _same_prompt(self._prompts, record):
            self._numbers[record.number] = same["number"]
            return False
        number = record.number
        if number in self._taken_numbers:
            number = max(self._taken_numbers) + 1
        self._taken_numbers.add(number)
        self._numbers[record.number] = number
        self._db.run("sessions", "add_prompt", **(values | {"number": number}))
        return True

    def _add_job(self, record: JobRecord, values: Values) -> bool:
        number = self._number(record.prompt_number)
        if older := self._unmatched_jobs[record.kind, number]:
            self._jobs[record.job] = older.pop(0)
            return False
        values["prompt_number"] = number
        self._jobs[record.job] = self._db.number("transfer", "add_job", **values)
        return True

    def _add_event(self, record: EventRecord, values: Values) -> bool:
        values["prompt_number"] = self._number(record.prompt_number)
        if self._db.row("events", "add", **values):
            return True
        if values["job_id"] is not None and values["job_id"] not in self._older_jobs:
            self._db.run("transfer", "adopt_event", **values)
        return False

    def _add_observation(self, record: ObservationRecord, values: Values) -> bool:
        """A turn that was processed here is not stored twice; but a person's words are kept."""
        number = self._number(record.prompt_number)
        kind = stored_type(record.type)
        stored = replace(record, prompt_number=number, type=kind)
        links = {"name": record.observation, "repeats": record.repeats, "follows": record.follows}
        if same := self._observations[fingerprint(stored)]:
            self._db.run("transfer", "note_moved", **links, id=same.pop(0))
            return False
        settled = self._older_jobs.get(values["job_id"]) == DONE
        if settled and not (record.pinned or record.edited):
            return False
        values |= {"prompt_number": number, "type": kind}
        values["ordinal"] = self._db.number("transfer", "next_ordinal", **values)
        key = self._db.number("transfer", "add_observation", **values)
        add_parts(self._db, key, record, {found.path: found.blob for found in record.blobs})
        for event in record.evidence:
            self._db.run("transfer", "add_evidence", **values, observation_id=key, key=event)
        self._db.run("transfer", "note_moved", **links, id=key)
        return True

    def _add_summary(self, record: SummaryRecord, values: Values) -> bool:
        values["prompt_number"] = self._number(record.prompt_number)
        row = self._db.row("summaries", "add", **values, origins=None)
        if row is None:
            return False
        files = {"read": record.files_read, "edited": record.files_edited}
        add_files(self._db, "summaries", row["id"], files)
        add_doubts(self._db, "summaries", row["id"], record.doubts)
        return True

    def _add_request(self, _record: RequestRecord, values: Values) -> bool:
        """One that is in the file n times is to be here n times."""
        project_id = None
        if self._session_id is not None:
            project_id = self._project_id
        elif self._project is not None:
            project_id = self._find_project()
        values["project_id"] = project_id
        same = tuple(values[name] for name in SAME_REQUEST)
        self._asked[same] += 1
        if self._db.number("transfer", "same_requests", **values) >= self._asked[same]:
            return False
        self._db.run("transfer", "add_request", **values)
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
