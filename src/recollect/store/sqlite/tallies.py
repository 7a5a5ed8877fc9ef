"""What there is of a session, counted."""

from recollect.model.tallies import Tally
from recollect.store.sqlite.database import Database, write
from recollect.text import sqlite_safe


class Tallies(Database):
    def tally(self, agent: str, ref: str) -> Tally:
        row = self.row("tallies", "session", agent=agent, ref=sqlite_safe(ref))
        return Tally(1, *row) if row else Tally()

    def release_held_jobs(self, agent: str, ref: str, now: int) -> int:
        """The jobs of a session that were made for a later time may be done now."""
        values = {"agent": agent, "ref": sqlite_safe(ref), "now": now}
        with self.transaction() as connection:
            return write(connection, "tallies", "release_held_jobs", values).rowcount
