"""Transcripts: where a session's lies, and how far it has been read."""

from recollect.store.sqlite.database import Database, write
from recollect.text import sqlite_safe


class Transcripts(Database):
    def transcript_mark(self, agent: str, ref: str) -> str | None:
        row = self.row("transcripts", "mark", agent=agent, ref=sqlite_safe(ref))
        return row["mark"] if row else None

    def set_transcript_mark(self, agent: str, ref: str, mark: str, now: int) -> None:
        values = {"agent": agent, "ref": sqlite_safe(ref), "mark": sqlite_safe(mark), "now": now}
        with self.transaction() as connection:
            write(connection, "transcripts", "set_mark", values)

    def read_transcripts_again(self, since: int) -> None:
        """Those that were written to since then, from their beginning: what is here is not taken twice."""
        with self.transaction() as connection:
            write(connection, "transcripts", "forget_marks", {})
            write(connection, "transcripts", "look_again", {"since": since})

    def pass_over_transcripts(self, until: int) -> None:
        """Those that were not written to after that are not looked at unasked."""
        with self.transaction() as connection:
            write(connection, "transcripts", "look_from", {"until": until})

    def transcript_path(self, agent: str, ref: str) -> str | None:
        row = self.row("transcripts", "path", agent=agent, ref=sqlite_safe(ref))
        return row["transcript"] if row else None

    def project_known_since(self, project_id: int) -> int:
        row = self.row("transcripts", "known_since", id=project_id)
        assert row is not None, project_id
        return int(row[0])
