"""The ledger: what models were asked, what they answered and what it cost."""

import zlib

from recollect.model.ledger import GROUPINGS, Entry, Kept, Quality, Spent, Written
from recollect.store.sqlite.bodies import unpack
from recollect.store.sqlite.database import Database, write, write_one
from recollect.store.sqlite.values import safe
from recollect.text import sqlite_safe

QUERIES = {grouping: f"spent_by_{grouping}" for grouping in GROUPINGS}


class Ledger(Database):
    def add_request(self, entry: Entry) -> int:
        usage = entry.usage
        values = {
            "at": entry.at,
            "provider": entry.provider,
            "model": sqlite_safe(entry.model),
            "prompts": sqlite_safe(entry.prompts),
            "purpose": entry.purpose,
            "digest": entry.digest,
            "session_id": entry.session_id,
            "job_id": entry.job_id,
            "outcome": entry.outcome,
            "error": safe(entry.error),
            "sent": usage.sent,
            "cached": usage.cached,
            "written": usage.written,
            "received": usage.received,
            "estimated": usage.estimated,
            "microdollars": entry.microdollars,
            "milliseconds": entry.milliseconds,
            "reply": None if entry.reply is None else _packed(entry.reply),
        }
        with self.transaction() as connection:
            row = write_one(connection, "ledger", "add", values)
        assert row is not None
        return int(row["id"])

    def mark_unusable(self, request_id: int) -> None:
        with self.transaction() as connection:
            write(connection, "ledger", "mark_unusable", {"id": request_id})

    def kept_reply(self, job_id: int, digest: str) -> Kept | None:
        """The newest usable answer to this very request, unless the job was finished with it."""
        row = self.row("ledger", "kept", job_id=job_id, digest=digest)
        return Kept(row["id"], _unpacked(row["reply"])) if row else None

    def spent(self, since: int, until: int) -> Spent:
        """Between `since`, inclusive, and `until`, exclusive."""
        row = self.row("ledger", "spent", since=since, until=until)
        assert row is not None
        return Spent(**dict(row))

    def spent_by(
        self, grouping: str, since: int, until: int, *, project_id: int | None = None
    ) -> list[Spent]:
        """`grouping` is one of GROUPINGS. Days in their order, everything else by its size."""
        time = {"since": since, "until": until}
        rows = self.rows("ledger", QUERIES[grouping], **time, project_id=project_id)
        return [Spent(**dict(row)) for row in rows]

    def written(self, since: int, until: int, *, project_id: int | None = None) -> Written:
        row = self.row("ledger", "written", since=since, until=until, project_id=project_id)
        assert row is not None
        return Written(**dict(row))

    def quality(self) -> list[Quality]:
        return [Quality(**dict(row)) for row in self.rows("ledger", "quality")]


def _packed(reply: str) -> bytes:
    """As it came: half a surrogate pair is part of what a model said."""
    return zlib.compress(reply.encode("utf-8", "surrogatepass"))


def _unpacked(reply: bytes) -> str:
    return unpack(reply).decode("utf-8", "surrogatepass")
