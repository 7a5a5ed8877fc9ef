"""A store to try things in: beside the real one, with what it knows, and thrown away."""

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from recollect.model.jobs import Job
from recollect.store.sqlite.database import translate, write
from recollect.store.sqlite.store import SqliteStore
from recollect.text import sqlite_safe

# Small tables are taken whole. Of a session, what decides on what is missing and what is to be done.
WHOLE = ("projects", "identities", "dirs", "marks", "pauses", "erased_sessions")
OF_SESSION = ("sessions", "prompts", "jobs", "events")


class ScratchStore(SqliteStore):
    """Nothing in it needs to survive, so nothing waits for the disk."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, writer=True)
        assert self._writer is not None
        self._writer.execute("PRAGMA synchronous = OFF")

    def borrow(self, live: Path, sessions: Iterable[tuple[str, str]]) -> None:
        """What the real store knows of projects, and all of these sessions. To be called first and once:
        the rows keep their numbers."""
        with closing(sqlite3.connect(self._path, uri=True, isolation_level=None)) as connection:
            try:
                source = f"{live.absolute().as_uri()}?mode=ro"
                write(connection, "scratch", "attach", {"path": source})
                connection.execute("BEGIN IMMEDIATE")
                for table in WHOLE:
                    write(connection, "scratch", table, {})
                for agent, ref in sessions:
                    for table in OF_SESSION:
                        values = {"agent": agent, "ref": sqlite_safe(ref)}
                        write(connection, "scratch", table, values)
                connection.commit()
            except sqlite3.DatabaseError as error:
                raise translate(error, live) from error

    def waiting_jobs(self) -> list[Job]:
        return [Job(**dict(row)) for row in self.rows("scratch", "waiting_jobs")]
