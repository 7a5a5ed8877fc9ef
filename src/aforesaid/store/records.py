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
from aforesaid.repository import Identity, find_owner
from aforesaid.store.database import Connection, Part, Row, translate
from aforesaid.store.jobs import add_lists, observation_lists, summary_lists
from aforesaid.store.projects import known_in
from aforesaid.store.requests import pack_reply, unpack_reply
from aforesaid.store.values import columns, joined, pack, read, unpack
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
    def count(self, project_id: int | None) -> int:
        """How many records an export has."""
        return sum(self._db.only("transfer", "counts", project_id=project_id))

    def count_hidden(self, project_id: int | None) -> int:
        """How many of an export's observations are hidden."""
        return self._db.number("transfer", "hidden", project_id=project_id)

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
            for step in ("hidden", "repeats", "merges", "follows"):
                db.run("transfer", f"link_{step}")
            db.run("transfer", "forget_moved")


def _export(db: Connection, only: int | None) -> Iterator[Record]:
    if only is None:
        for row in db.run("transfer", "loose_requests", project_id=None):
            yield _read_request(row)
    for number, row in enumerate(db.rows("transfer", "projects", project_id=only), 1):
        name, owner = f"p{number}", {"project_id": row["id"], "id": row["id"]}
        identities = tuple(db.all(Identity, "transfer", "identities", **owner))
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
        place = {"observation": f"{name}#{number}", "job": jobs.get(found["job_id"])}
        place["verified"] = bool(found["confirmed"])
        yield read(ObservationRecord, found, session=name, **place)
    for found in db.run("transfer", "summaries", **owner):
        yield read(SummaryRecord, found, session=name)
    for found in db.run("transfer", "requests", **owner):
        yield _read_request(found, name, project, jobs.get(found["job_id"]))


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
    elif isinstance(safe, ObservationRecord):
        values |= {"origins": joined(safe.origins), "sources": joined(safe.sources)}
    elif isinstance(safe, SummaryRecord):
        values["origins"] = joined(safe.origins)
    elif isinstance(record, RequestRecord) and record.reply is not None:
        values["reply"] = pack_reply(record.reply)  # as it came
    return safe, values


class _Import:
    """One block: a project, and perhaps a session. `into`: the project that all goes to."""

    def __init__(self, db: Connection, into: int | None) -> None:
        self._db, self._into = db, into
        self._new, self._known = Counts(), Counts()
        self._project: ProjectRecord | None = None
        self._project_id: int | None = None  # where things go
        self._moved = False
        self._session: Values = {}  # the record's columns
        self._session_id: int | None = None
        self._last_prompt = 0  # its id; those with a higher one have just been added
        self._numbers: dict[int, int] = {}  # of prompts, by their number in the records
        self._older_jobs: dict[int, str] = {}  # with their state
        self._jobs: dict[int | None, int] = {}  # by their place in the records
        self._observations: dict[str, list[int]] = defaultdict(list)  # by fingerprint
        self._asked: Counter[tuple[object, ...]] = Counter()
        self._adders: dict[type, Callable[[Any, Values], bool]] = {
            SessionRecord: self._add_session,
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
            job_id = self._jobs.get(values.get("job"))
            place = {"session_id": self._session_id, "job_id": job_id}
            self._count(NAMES[type(record)][1], self._adders[type(record)](record, values | place))
        if self._session_id is not None:
            self._db.run("transfer", "merge_session", **self._session, id=self._session_id)
        elif self._project is not None:
            self._project_id = self._find_project()
        touched = self._new.total() or self._moved
        return Taken(self._new, self._known, self._project_id if touched else None)

    def _count(self, noun: str, is_new: bool) -> None:
        (self._new if is_new else self._known)[noun] += 1

    def _add_session(self, _record: SessionRecord, values: Values) -> bool:
        self._session = values
        row = self._db.row("sessions", "by_ref", **values)
        if row is None:
            self._project_id = self._find_project()
            place = values | {"project_id": self._project_id}
            self._session_id = self._db.number("transfer", "add_session", **place)
            return True
        self._session_id, self._project_id = row["id"], row["project_id"]
        self._move_home(row, values["project_dir"])
        owner = {"session_id": row["id"]}
        self._last_prompt = self._db.number("transfer", "last_prompt", **owner)
        for each in self._db.rows("transfer", "observations", **owner):
            known = read(ObservationRecord, each, session="", observation="", job=None)
            self._observations[fingerprint(known)].append(each["id"])
        return False

    def _move_home(self, row: Row, project_dir: str) -> None:
        """A session from claude-mem is in a placeholder project until its directory is known."""
        if not self._db.row("transfer", "is_placeholder", project_id=row["project_id"]):
            return
        project_id = self._project_id = self._find_project()
        if project_id == row["project_id"]:
            return
        values = {"id": row["id"], "project_id": project_id, "project_dir": project_dir}
        for what in ("move_session", "move_observations", "move_summaries"):
            self._db.run("transfer", what, **values)
        self._db.run("projects", "drop_if_empty", id=row["project_id"])
        self._moved = True

    def _find_project(self) -> int:
        """The one that it belongs to; a new one if there is none. Its name and place stay."""
        if self._into is None:
            self._into = self._resolve_project()
        return self._into

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
        same = self._db.value(int, "transfer", "same_prompt", **values, last=self._last_prompt)
        number = same or self._db.number("transfer", "add_prompt", **values)
        self._numbers[record.number] = number
        return same is None

    def _add_job(self, record: JobRecord, values: Values) -> bool:
        values["prompt_number"] = self._number(record.prompt_number)
        used = [*self._jobs.values()]
        if older := self._db.row("transfer", "same_job", **values, used=used):
            self._jobs[record.job] = older["id"]
            self._older_jobs[older["id"]] = older["state"]
            return False
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
            kept = {"id": same.pop(0), "hidden_with": None, "merged_at": None}
            self._db.run("transfer", "note_moved", **links, **kept)
            return False
        settled = self._older_jobs.get(values["job_id"]) == DONE
        if settled and not (record.pinned or record.edited):
            return False
        values |= {"prompt_number": number, "type": kind}
        values["ordinal"] = self._db.number("transfer", "next_ordinal", **values)
        key = self._db.number("transfer", "add_observation", **values)
        blobs = {found.path: found.blob for found in record.blobs}
        add_lists(self._db, "observations", key, observation_lists(record, blobs))
        evidence = {"observation_id": key, "keys": [*record.evidence]}
        self._db.run("transfer", "add_evidence", **values, **evidence)
        self._db.run("transfer", "note_moved", **(values | links | {"id": key}))
        if record.hidden_at is not None:
            self._db.run("hidden", "hide", ids=[key], at=record.hidden_at, id=key)
        return True

    def _add_summary(self, record: SummaryRecord, values: Values) -> bool:
        values["prompt_number"] = self._number(record.prompt_number)
        row = self._db.row("summaries", "add", **values)
        if row is None:
            return False
        add_lists(self._db, "summaries", row["id"], summary_lists(record))
        return True

    def _add_request(self, _record: RequestRecord, values: Values) -> bool:
        """One that is in the file n times is to be here n times."""
        if self._session_id is None and self._project is not None:
            self._project_id = self._find_project()
        values["project_id"] = self._project_id
        same = tuple(values[name] for name in SAME_REQUEST)
        self._asked[same] += 1
        if self._db.number("transfer", "same_requests", **values) >= self._asked[same]:
            return False
        self._db.run("transfer", "add_request", **values)
        return True
