"""Records on their way out of the store, and in.

All of an export is one look at the store, however long it takes and whatever is written meanwhile; rows are
read as they are asked for, so that its size does not matter.
"""

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import suppress

from recollect.model.records import Counts, Record, Taken
from recollect.store.sqlite import export_rows
from recollect.store.sqlite.database import Database, translate, write
from recollect.store.sqlite.import_records import RecordImport
from recollect.store.sqlite.prepared import prepared


class _Undone(Exception):
    """A trial run is over."""


class Transfer(Database):
    def record_counts(self, project_id: int | None) -> Counts:
        row = self.row("transfer", "counts", project_id=project_id)
        assert row is not None
        return Counts(**dict(row))

    def records(self, project_id: int | None, *, replies: bool) -> Iterator[Record]:
        """Everything, or all of one project. A project comes before its sessions, a session before its
        parts; what belongs to no session stands before those that do. Until it is over, this thread sees
        the store as it was when it began."""
        reader = self._reader()
        try:
            reader.execute("BEGIN")
            if project_id is None:
                for row in write(reader, "transfer", "loose_requests", {"project_id": None}):
                    yield export_rows.request(row, None, None, {}, replies=replies)
            projects = write(reader, "transfer", "projects", {"project_id": project_id})
            for number, row in enumerate(projects.fetchall(), 1):
                yield from export_rows.project_records(reader, row, f"p{number}", replies=replies)
        except sqlite3.DatabaseError as error:
            raise translate(error, self._path) from error
        finally:
            with suppress(
                sqlite3.ProgrammingError
            ):  # it was left unfinished, and the store is closed
                reader.rollback()

    def begin_import(self) -> None:
        with self.transaction() as connection:
            write(connection, "transfer", "make_moved", {})
            write(connection, "transfer", "forget_moved", {})

    def take(
        self, records: Iterable[Record], *, into: int | None = None, undo: bool = False
    ) -> Taken:
        """A project, or a session with its project and all its parts, in one transaction. What is here
        already stays as it is. With `undo` all of it does, and it is only known what would be."""
        taken: Taken | None = None
        try:
            with prepared(records) as ready, self.transaction() as connection:
                taken = RecordImport(connection, into).all(ready)
                if undo:
                    raise _Undone
        except _Undone:
            pass
        assert taken is not None
        return taken

    def end_import(self) -> None:
        """Now that everything is here: a link may point to a session that came later."""
        with self.transaction() as connection:
            write(connection, "transfer", "link_repeats", {})
            write(connection, "transfer", "link_follows", {})
            write(connection, "transfer", "forget_moved", {})
