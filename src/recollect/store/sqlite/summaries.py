"""Summaries, as they are read."""

from recollect.model.observations import SUMMARY_PARTS, Doubt, Summary, SummaryDraft
from recollect.store.sqlite.database import Database, Row
from recollect.store.sqlite.values import origins_of


class Summaries(Database):
    def summaries_of_session(self, session_id: int) -> list[Summary]:
        rows = self.rows("summaries", "of_session", session_id=session_id)
        return [self._summary(row) for row in rows]

    def last_summaries(self, session_id: int, limit: int) -> list[Summary]:
        """Newest first."""
        rows = self.rows("summaries", "last", session_id=session_id, limit=limit)
        return [self._summary(row) for row in rows]

    def _summary(self, row: Row) -> Summary:
        files = self.rows("summaries", "files", id=row["id"])
        draft = SummaryDraft(
            **{part: row[part] for part in SUMMARY_PARTS},
            files_read=tuple(r["path"] for r in files if r["role"] == "read"),
            files_edited=tuple(r["path"] for r in files if r["role"] == "edited"),
            doubts=tuple(
                Doubt(r["part"], r["reason"])
                for r in self.rows("summaries", "doubts", id=row["id"])
            ),
            origins=origins_of(row["origins"]),
        )
        return Summary(
            id=row["id"],
            session_id=row["session_id"],
            project_id=row["project_id"],
            prompt_number=row["prompt_number"],
            at=row["at"],
            provider=row["provider"],
            model=row["model"],
            draft=draft,
        )
