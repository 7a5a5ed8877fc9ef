"""The ledger: what models were asked, what they answered and what it cost."""

from aforesaid.model.requests import Entry, Quality, Spent, StoredReply, Written
from aforesaid.model.sessions import TOP
from aforesaid.store.database import Part
from aforesaid.store.values import columns, pack, unpack


class Requests(Part):
    def add(self, entry: Entry) -> int:
        reply = None if entry.reply is None else pack_reply(entry.reply)
        values = columns(entry.usage) | columns(entry) | {"reply": reply}
        with self._db.transaction() as db:
            return db.number("ledger", "add", **values)

    def mark_unusable(self, request_id: int) -> None:
        self._db.run("ledger", "mark_unusable", id=request_id)

    def kept_reply(self, job_id: int, digest: str) -> StoredReply | None:
        """The newest usable answer to this very request, unless the job was finished with it."""
        row = self._db.row("ledger", "kept", job_id=job_id, digest=digest)
        return StoredReply(row["id"], unpack_reply(row["reply"])) if row else None

    def spent(self, since: int = 0, until: int = TOP[0]) -> Spent:
        """Between `since`, inclusive, and `until`, exclusive."""
        return self._db.all(Spent, "ledger", "spent", since=since, until=until)[0]

    def spent_by(
        self, grouping: str, since: int, until: int, *, project_id: int | None = None
    ) -> list[Spent]:
        """By one of `model.requests.GROUPINGS`. Days in their order, everything else by its size."""
        values = {"since": since, "until": until, "project_id": project_id}
        return self._db.all(Spent, "ledger", f"spent_by_{grouping}", **values)

    def written(
        self, since: int = 0, until: int = TOP[0], *, project_id: int | None = None
    ) -> Written:
        return self._db.all(
            Written, "ledger", "written", since=since, until=until, project_id=project_id
        )[0]

    def quality(self) -> list[Quality]:
        return self._db.all(Quality, "ledger", "quality")

    def spent_in_session(self, session_id: int) -> Spent:
        return self._db.all(Spent, "listings", "spent_in_session", session_id=session_id)[0]


def pack_reply(reply: str) -> bytes:
    """As it came: half a surrogate pair is part of the reply."""
    return pack(reply.encode("utf-8", "surrogatepass"))


def unpack_reply(reply: bytes) -> str:
    return unpack(reply).decode("utf-8", "surrogatepass")
