"""Records on their way in. The caller holds the transaction; a block is taken whole or not at all.

What is here already wins. It is found by what it is called everywhere: a project by its identities, a session
by its agent's id, a prompt by its id, an event by its key, a job by its place in its turn, an observation by
its words. So a second time nothing is new.
"""

import sqlite3
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import assert_never

from recollect.model.records import (
    Counts,
    JobRecord,
    ObservationRecord,
    ProjectRecord,
    PromptRecord,
    RequestRecord,
    SessionRecord,
    SummaryRecord,
    Taken,
)
from recollect.repository import Identity
from recollect.store.sqlite import import_parts
from recollect.store.sqlite.database import Row, write, write_one
from recollect.store.sqlite.import_parts import Place
from recollect.store.sqlite.prepared import PackedEvent, Ready, values_of
from recollect.store.sqlite.projects import kinds_in, known_project


@dataclass(slots=True)
class RecordImport:
    connection: sqlite3.Connection
    into: int | None  # the project that everything goes to, whatever the records say
    _new: Counter[str] = field(default_factory=Counter)
    _known: Counter[str] = field(default_factory=Counter)
    _project: ProjectRecord | None = None
    _found: int | None = None  # the project of the record
    _project_id: int | None = None  # where things go
    _moved: bool = False
    _session: SessionRecord | None = None
    _place: Place | None = None
    _asked: Counter[tuple[object, ...]] = field(default_factory=Counter)

    def all(self, records: Iterable[Ready]) -> Taken:
        for record in records:
            self._add(record)
        if self._session is not None and self._place is not None:
            values = values_of(self._session) | {"id": self._place.session_id}
            write(self.connection, "transfer", "merge_session", values)
        elif self._project is not None:
            self._find_project()
        new = Counts(**self._new)
        touched = any(new) or self._moved
        return Taken(new, Counts(**self._known), self._project_id if touched else None)

    def _add(self, record: Ready) -> None:
        match record:
            case ProjectRecord():
                self._project = record
            case SessionRecord():
                self._session = record
                self._place = self._begin(record)
            case PromptRecord():
                self._count("prompts", import_parts.add_prompt(self._here(), record))
            case JobRecord():
                self._count("jobs", import_parts.add_job(self._here(), record))
            case PackedEvent():
                self._count("events", import_parts.add_event(self._here(), record))
            case ObservationRecord():
                self._count("observations", import_parts.add_observation(self._here(), record))
            case SummaryRecord():
                self._count("summaries", import_parts.add_summary(self._here(), record))
            case RequestRecord():
                self._count("requests", self._request(record))
            case _:
                assert_never(record)

    def _count(self, noun: str, is_new: bool) -> None:
        (self._new if is_new else self._known)[noun] += 1

    def _here(self) -> Place:
        assert self._place is not None, "a session comes before its parts"
        return self._place

    def _begin(self, record: SessionRecord) -> Place:
        row = write_one(self.connection, "sessions", "by_ref", values_of(record))
        self._count("sessions", row is None)
        if row is None:
            values = values_of(record) | {"project_id": self._find_project()}
            row = write_one(self.connection, "transfer", "add_session", values)
            assert row is not None
            return Place(self.connection, row["id"])
        self._project_id = row["project_id"]
        self._move_home(row, record)
        return Place.known(self.connection, row["id"])

    def _move_home(self, row: Row, record: SessionRecord) -> None:
        """A session that another program told of is in a project that is only a name, until it is known
        which directory that was."""
        found = {"project_id": row["project_id"]}
        if not write_one(self.connection, "transfer", "is_placeholder", found):
            return
        project_id = self._find_project()
        if project_id == row["project_id"]:
            return
        values = {"id": row["id"], "project_id": project_id, "project_dir": record.project_dir}
        for what in ("move_session", "move_observations", "move_summaries"):
            write(self.connection, "transfer", what, values)
        write(self.connection, "projects", "drop_if_empty", {"id": row["project_id"]})
        self._moved = True

    def _find_project(self) -> int:
        """The one that the identities name; a new one if they name none. Its name and place stay."""
        if self._found is None:
            self._found = self.into or self._resolve()
        self._project_id = self._found
        return self._found

    def _resolve(self) -> int:
        record = self._project
        assert record is not None, "a project comes before its sessions"
        found = self._known_project(record)
        self._count("projects", found is None)
        if found is None:
            row = write_one(self.connection, "transfer", "add_project", values_of(record))
            assert row is not None
            found = int(row["id"])
        for identity in record.identities:
            values = values_of(identity) | {"project_id": found}
            write(self.connection, "transfer", "add_identity", values)
        for directory in record.dirs:
            values = values_of(directory) | {"project_id": found}
            write(self.connection, "transfer", "add_dir", values)
        return found

    def _known_project(self, record: ProjectRecord) -> int | None:
        if not record.identities:
            row = write_one(self.connection, "transfer", "nameless_project", values_of(record))
            return int(row["id"]) if row else None
        identities = (Identity(i.kind, i.identity) for i in record.identities)
        return known_project(identities, kinds_in(self.connection))

    def _request(self, record: RequestRecord) -> bool:
        """One that is in the file n times is to be here n times."""
        place = self._place
        values = import_parts.request_values(record, place)
        if place is not None:
            values["project_id"] = self._project_id
        elif self._project is not None:
            values["project_id"] = self._find_project()
        same = tuple(values[name] for name in import_parts.SAME_REQUEST)
        self._asked[same] += 1
        row = write_one(self.connection, "transfer", "same_requests", values)
        assert row is not None
        if row[0] >= self._asked[same]:
            return False
        write(self.connection, "transfer", "add_request", values)
        return True
