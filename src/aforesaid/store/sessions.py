"""Sessions with their prompts, summaries and pauses, and what was injected into them."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from aforesaid.model.observations import Summary, SummaryDraft
from aforesaid.model.search import Filters, Injected, Injection, MemoryInjection
from aforesaid.model.sessions import (
    COMMAND,
    EVERYTHING,
    PROJECT,
    SEEN,
    SESSION,
    TOP,
    ActivityCount,
    Cursor,
    Mark,
    Pause,
    Prompt,
    Session,
    place_of,
)
from aforesaid.store.database import Connection, Part, Row
from aforesaid.store.events import close_turn
from aforesaid.store.values import columns, escaped, read

HAPPENINGS = ("events", "observations", "sessions")
# A transcript may date what began a pause a little earlier than the hook that reported it.
EARLIER = 5_000


class Sessions(Part):
    def get(self, session_id: int) -> Session | None:
        return self._db.one(Session, "sessions", "one", id=session_id)

    def find(self, agent: str, ref: str) -> Session | None:
        return self._db.one(Session, "sessions", "by_ref", agent=agent, ref=ref)

    def recent(self, project_id: int | None, limit: int) -> list[Session]:
        """Newest first."""
        return self.page(Filters(project_id), None, limit)

    def find_by_prefix(self, prefix: str) -> list[Session]:
        return self._db.all(Session, "sessions", "by_prefix", prefix=escaped(prefix))

    def stale(self, before: int) -> list[Session]:
        """Those that `interrupt_stale` would take."""
        return self._db.all(Session, "sessions", "stale", before=before)

    def summarized(self, project_id: int, limit: int) -> list[Session]:
        """Sessions with a summary, newest first."""
        return self._db.all(Session, "sessions", "summarized", project_id=project_id, limit=limit)

    def count_since(self, project_id: int, at: int) -> int:
        """How many have had work in them since."""
        return self._db.number("sessions", "how_many_since", project_id=project_id, at=at)

    def prompts(self, session_id: int) -> list[Prompt]:
        return self._db.all(Prompt, "sessions", "prompts", session_id=session_id)

    def prompt(self, session_id: int, number: int) -> Prompt | None:
        return self._db.one(Prompt, "sessions", "prompt", session_id=session_id, number=number)

    def drop(self, session_id: int, project_id: int) -> None:
        """With everything that hangs on it, and its project if that was the only one."""
        with self._db.transaction() as db:
            db.run("projects", "drop_session", id=session_id)
            keep_place(db, project_id)
            db.run("projects", "drop_if_empty", id=project_id)

    def page(
        self, filters: Filters, before: Cursor | None, limit: int, *, status: str | None = None
    ) -> list[Session]:
        """Those that something happened in, the latest first; the cursor is (last_event_at, id)."""
        at, key = before or TOP
        name = "sessions_of_status" if status else "sessions_anywhere"
        if filters.project_id is not None:
            name = "sessions_of_project"
        wanted = columns(filters) | {"status": status, "at": at, "id": key, "limit": limit}
        return self._db.all(Session, "listings", name, **wanted)

    def observation_types(self, ids: Iterable[int]) -> Mapping[int, Mapping[str, int]]:
        """How many observations of each type, by session."""
        found: dict[int, dict[str, int]] = defaultdict(dict)
        for row in self._db.rows("listings", "types_of_sessions", ids=[*ids]):
            found[row["session_id"]][row["type"]] = row["number"]
        return found

    def marks(self, ids: Iterable[int], since: int, until: int) -> Mapping[int, list[Mark]]:
        """Observations of some time, in its order, by session."""
        found: dict[int, list[Mark]] = defaultdict(list)
        wanted = {"ids": [*ids], "since": since, "until": until}
        for session, *mark in self._db.rows("listings", "marks", **wanted):
            found[session].append(Mark._make(mark))
        return found

    def agents(self, ids: Iterable[int]) -> Mapping[int, str]:
        rows = self._db.rows("listings", "agents_of_sessions", ids=[*ids])
        return {row["id"]: row["agent"] for row in rows}

    def activity(self, project_id: int | None, since: int) -> Mapping[str, list[ActivityCount]]:
        """Events, observations, and the begins and ends of sessions."""
        end = "_anywhere" if project_id is None else ""
        values = {"project_id": project_id, "since": since}
        found = {
            what: self._db.rows("listings", f"{what}_by_quarter{end}", **values)
            for what in HAPPENINGS
        }
        return {what: [*map(ActivityCount._make, rows)] for what, rows in found.items()}

    def prompt_by_id(self, prompt_id: int) -> Prompt | None:
        return self._db.one(Prompt, "lookups", "prompt", id=prompt_id)

    def interrupt_stale(self, before: int, now: int, only: frozenset[int] | None = None) -> int:
        """Ends sessions without activity and queues what they left behind (A8)."""
        with self._db.transaction() as db:
            found = db.rows("sessions", "stale", before=before)
            stale = [row for row in found if only is None or row["id"] in only]
            for row in stale:
                db.run("sessions", "interrupt", id=row["id"])
                close_turn(db, row["id"], row["prompts"], now, only_if_open=True)
        return len(stale)

    def pauses(self) -> list[Pause]:
        """All that there ever were."""
        return self._db.all(Pause, "pauses", "every")

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
        of = {"project_id": project_id, "agent": agent, "ref": ref}
        with self._db.transaction() as db:
            key = db.number("pauses", "add", **values, **of, place=None)
            if project_id is not None:
                keep_place(db, project_id)
            return db.all(Pause, "pauses", "one", id=key)[0]

    def end_pauses(self, ids: list[int], at: int) -> None:
        with self._db.transaction() as db:
            for key in ids:
                db.run("pauses", "end", id=key, at=at)

    def mark_paused(self, agent: str, ref: str, at: int) -> None:
        """A hook reported that its session is not to be recorded: from now until one comes that does not."""
        session = {"agent": agent, "ref": ref}
        with self._db.transaction() as db:
            if db.row("pauses", "seen_at", **session, at=at):
                return
            last = db.row("pauses", "last_seen", **session)
            began_at = max(at - EARLIER, last["last_event_at"] + 1 if last else 0)
            values = {"origin": SEEN, "scope": SESSION, "project_id": None, "place": None}
            db.run("pauses", "add", **session, **values, began_at=min(at, began_at), ends_at=None)

    def mark_resumed(self, agent: str, ref: str, at: int) -> None:
        """One came that does not say it."""
        rows = self._db.rows("pauses", "seen_open", agent=agent, ref=ref, at=at)
        if rows:
            self.end_pauses([row["id"] for row in rows], at)


def keep_place(db: Connection, project_id: int) -> None:
    """Before the project may go: its pauses hold for wherever it lies now."""
    project = db.row("projects", "project", id=project_id)
    if project is not None:
        db.run("pauses", "set_place", project_id=project_id, place=place_of(project["root"]))


class Summaries(Part):
    def for_session(self, session_id: int) -> list[Summary]:
        return self._read_all("summaries", "of_session", session_id=session_id)

    def latest(self, session_id: int, limit: int) -> list[Summary]:
        """Newest first."""
        return self._read_all("summaries", "last", session_id=session_id, limit=limit)

    def get(self, summary_id: int) -> Summary | None:
        return next(iter(self._read_all("lookups", "summary", id=summary_id)), None)

    def _read_all(self, topic: str, name: str, /, **values: Any) -> list[Summary]:
        return [self._summary(row) for row in self._db.rows(topic, name, **values)]

    def _summary(self, row: Row) -> Summary:
        parts = self._db.only("summaries", "parts", id=row["id"])
        values = {**row, **parts}
        return read(Summary, values, draft=read(SummaryDraft, values))


class Injections(Part):
    def add(self, session_id: int, hook: str, injected: Iterable[Injected], at: int) -> None:
        with self._db.transaction() as db:
            for one in injected:
                name = "add" if isinstance(one, Injection) else "add_memory"
                place = {"session_id": session_id, "hook": hook, "at": at}
                db.run("injections", name, **columns(one) | place)

    def for_session(self, session_id: int) -> list[Injection]:
        """In the order in which it was injected."""
        return self._db.all(Injection, "injections", "in_session", session_id=session_id)

    def memories_for_session(self, session_id: int) -> list[MemoryInjection]:
        """In the order in which they were injected."""
        name = "memories_in_session"
        return self._db.all(MemoryInjection, "injections", name, session_id=session_id)
