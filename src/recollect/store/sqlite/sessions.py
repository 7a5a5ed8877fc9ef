"""Sessions with their prompts."""

from recollect.model.sessions import Prompt, Session
from recollect.store.sqlite.database import Database, Row
from recollect.store.sqlite.values import escaped
from recollect.text import sqlite_safe


class Sessions(Database):
    def session(self, session_id: int) -> Session | None:
        row = self.row("sessions", "one", id=session_id)
        return as_session(row) if row else None

    def session_by_ref(self, agent: str, ref: str) -> Session | None:
        row = self.row("sessions", "by_ref", agent=agent, ref=sqlite_safe(ref))
        return as_session(row) if row else None

    def sessions(self, project_id: int | None, limit: int) -> list[Session]:
        """Newest first."""
        rows = self.rows("sessions", "newest", project_id=project_id, limit=limit)
        return [as_session(row) for row in rows]

    def sessions_by_prefix(self, prefix: str) -> list[Session]:
        rows = self.rows("sessions", "by_prefix", prefix=escaped(sqlite_safe(prefix)))
        return [as_session(row) for row in rows]

    def stale_sessions(self, before: int) -> list[Session]:
        """Those that `interrupt_stale` would take."""
        return [as_session(row) for row in self.rows("sessions", "stale", before=before)]

    def summarized_sessions(self, project_id: int, limit: int) -> list[Session]:
        """Sessions that have something to tell, newest first."""
        rows = self.rows("sessions", "summarized", project_id=project_id, limit=limit)
        return [as_session(row) for row in rows]

    def sessions_since(self, project_id: int, at: int) -> int:
        """How many have had work in them since."""
        row = self.row("sessions", "how_many_since", project_id=project_id, at=at)
        return int(row[0]) if row else 0

    def prompts(self, session_id: int) -> list[Prompt]:
        rows = self.rows("sessions", "prompts", session_id=session_id)
        return [Prompt(**dict(row)) for row in rows]

    def prompt(self, session_id: int, number: int) -> Prompt | None:
        row = self.row("sessions", "prompt", session_id=session_id, number=number)
        return Prompt(**dict(row)) if row else None


def as_session(row: Row) -> Session:
    return Session(**{name: row[name] for name in Session.__dataclass_fields__})
