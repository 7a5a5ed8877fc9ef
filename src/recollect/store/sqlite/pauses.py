"""Pauses as rows. They stay when they are over, and when their project goes: what a transcript tells of such
a time is not taken later.
"""

import sqlite3

from recollect.model.pauses import COMMAND, EVERYTHING, PROJECT, SEEN, SESSION, Pause, place_of
from recollect.store.sqlite.database import Database, Row, write, write_one
from recollect.text import sqlite_safe

# A transcript may date what began a pause a little earlier than the hook that told of it.
EARLIER = 5_000


class Pauses(Database):
    def pauses(self) -> list[Pause]:
        """All that there ever were."""
        return [_pause(row) for row in self.rows("pauses", "every")]

    def add_pause(
        self,
        began_at: int,
        ends_at: int | None,
        *,
        project_id: int | None = None,
        session: tuple[str, str] | None = None,
    ) -> Pause:
        agent, ref = session or (None, None)
        scope = SESSION if session else PROJECT if project_id is not None else EVERYTHING
        values = {"origin": COMMAND, "scope": scope, "began_at": began_at, "ends_at": ends_at}
        of = {"project_id": project_id, "agent": agent, "ref": ref and sqlite_safe(ref)}
        with self.transaction() as connection:
            added = write_one(connection, "pauses", "add", values | of | {"place": None})
            assert added is not None
            if project_id is not None:
                keep_place(connection, project_id)
            row = write_one(connection, "pauses", "one", {"id": added["id"]})
        assert row is not None
        return _pause(row)

    def end_pauses(self, ids: list[int], at: int) -> None:
        with self.transaction() as connection:
            for key in ids:
                write(connection, "pauses", "end", {"id": key, "at": at})

    def see_paused(self, agent: str, ref: str, at: int) -> None:
        """A hook said that its session is not to be recorded: from now until one comes that does not."""
        session = {"agent": agent, "ref": sqlite_safe(ref)}
        with self.transaction() as connection:
            rows = write(connection, "pauses", "of_session", session).fetchall()
            if any(_pause(row).holds(at) for row in rows if row["origin"] == SEEN):
                return
            last = write_one(connection, "pauses", "last_seen", session)
            earliest = max(at - EARLIER, last["last_event_at"] + 1 if last else 0)
            values = {"origin": SEEN, "scope": SESSION, "project_id": None, "place": None}
            span = {"began_at": min(at, earliest), "ends_at": None}
            write(connection, "pauses", "add", session | values | span)

    def see_resumed(self, agent: str, ref: str, at: int) -> None:
        """One came that does not say it."""
        session = {"agent": agent, "ref": sqlite_safe(ref)}
        seen = [
            row["id"]
            for row in self.rows("pauses", "of_session", **session)
            if row["origin"] == SEEN and row["ends_at"] is None and row["began_at"] <= at
        ]
        if seen:
            self.end_pauses(seen, at)


def keep_place(connection: sqlite3.Connection, project_id: int) -> None:
    """Before the project may go: its pauses hold for wherever it lies now."""
    project = write_one(connection, "projects", "project", {"id": project_id})
    if project is not None:
        values = {"project_id": project_id, "place": place_of(project["root"])}
        write(connection, "pauses", "set_place", values)


def _pause(row: Row) -> Pause:
    return Pause(**dict(row))
