"""What may go because it is old or because space is short: the content of events, and what is found in them.

Observations, summaries, prompts and memories never go in this way. An event's row stays, without its content,
so that no transcript brings it back.
"""

import json
import sqlite3

from recollect.model.retention import Freed
from recollect.store.sqlite.database import Database, write
from recollect.store.sqlite.erasing import EMPTY

WORTH_BYTES, WORTH_SHARE = 16 * 1024 * 1024, 4  # free space that a smaller file is worth the work


class Retention(Database):
    def age_out(self, before: int, limit: int, *, keep_texts: bool = False) -> Freed:
        """The oldest events that happened before a time. `keep_texts`: what search finds of them stays."""
        rows = self.rows("retention", "old_events", before=before, limit=limit)
        if rows:
            ids = {"ids": json.dumps([row["id"] for row in rows]), "empty": EMPTY}
            with self.transaction() as connection:
                write(connection, "erasing", "empty_events", ids)
                if not keep_texts:
                    write(connection, "erasing", "drop_event_texts", ids)
        return Freed(len(rows), sum(row["stored"] for row in rows))

    def drop_old_texts(self, limit: int) -> Freed:
        """What search finds of events whose content went before."""
        rows = self.rows("retention", "old_texts", limit=limit)
        if rows:
            with self.transaction() as connection:
                ids = {"ids": json.dumps([row["id"] for row in rows])}
                write(connection, "erasing", "drop_event_texts", ids)
        return Freed(len(rows), sum(row["stored"] for row in rows))

    def shrink(self, *, at_once: bool = False) -> int:
        """Gives free space back, if it is worth copying the file. How many bytes that was."""
        assert self._writer is not None
        space = self.row("retention", "space")
        assert space is not None
        free, whole = int(space["free"]), int(space["whole"])
        if not at_once and (free < WORTH_BYTES or free * WORTH_SHARE < whole):
            return 0
        with self._lock:
            try:
                self._writer.execute("VACUUM")
                self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            except sqlite3.DatabaseError as error:
                raise self._refused(error) from error
        return free
