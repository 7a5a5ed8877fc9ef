"""What sessions were told unasked."""

from collections.abc import Iterable
from dataclasses import asdict

from recollect.model.told import Injected, InjectedMemory, Told, ToldMemory
from recollect.store.sqlite.database import Database, write
from recollect.text import sqlite_safe


class ToldThings(Database):
    def add_told(self, session_id: int, hook: str, told: Iterable[Told], at: int) -> None:
        common = {"session_id": session_id, "hook": hook, "at": at}
        with self.transaction() as connection:
            for one in told:
                values = asdict(one) | {"reason": sqlite_safe(one.reason)}
                write(connection, "told", "add", common | values)

    def told_in(self, session_id: int) -> list[Injected]:
        """In the order in which it was told."""
        rows = self.rows("told", "in_session", session_id=session_id)
        return [Injected(**dict(row)) for row in rows]

    def add_told_memories(
        self, session_id: int, hook: str, told: Iterable[ToldMemory], at: int
    ) -> None:
        common = {"session_id": session_id, "hook": hook, "at": at}
        with self.transaction() as connection:
            for one in told:
                values = asdict(one) | {"name": sqlite_safe(one.name)}
                write(connection, "told", "add_memory", common | values)

    def told_memories(self, session_id: int) -> list[InjectedMemory]:
        """In the order in which they were told."""
        rows = self.rows("told", "memories_in_session", session_id=session_id)
        return [InjectedMemory(**dict(row)) for row in rows]
