"""What is remembered, row by row: observations with facts, concepts and files, and summaries."""

import sqlite3
from collections.abc import Iterable

from recollect.model.jobs import Job
from recollect.model.observations import (
    FALLBACK_TYPE,
    TYPES,
    Observation,
    ObservationDraft,
    Summary,
    SummaryDraft,
)
from recollect.model.sessions import Prompt, Session
from recollect.store.sqlite.database import Database, Row, write, write_one
from recollect.text import sqlite_safe


class Records(Database):
    def observation(self, observation_id: int) -> Observation | None:
        row = self.row("observations", "one", id=observation_id)
        return self._observation(row) if row else None

    def observations_of_session(self, session_id: int) -> list[Observation]:
        rows = self.rows("observations", "of_session", session_id=session_id)
        return [self._observation(row) for row in rows]

    def recent_observations(self, project_id: int, limit: int) -> list[Observation]:
        """Newest first."""
        rows = self.rows("observations", "recent", project_id=project_id, limit=limit)
        return [self._observation(row) for row in rows]

    def pinned_observations(self, project_id: int) -> list[Observation]:
        rows = self.rows("observations", "pinned", project_id=project_id)
        return [self._observation(row) for row in rows]

    def observations_about(
        self, project_id: int, path: str, *, untold_in: int, limit: int
    ) -> list[Observation]:
        """What changed a file, newest first, without what that session did or was told already."""
        rows = self.rows(
            "observations",
            "about_file",
            project_id=project_id,
            path=path,
            name=file_name(path),
            escaped=_escaped(path),
            session_id=untold_in,
            limit=limit,
        )
        return [self._observation(row) for row in rows]

    def titles_of_session(self, session_id: int) -> tuple[str, ...]:
        rows = self.rows("observations", "titles_of_session", session_id=session_id)
        return tuple(row[0] for row in rows)

    def titles_of_prompt(self, job: Job) -> frozenset[tuple[str, str | None]]:
        """(type, title) of what other jobs wrote about the same turn."""
        rows = self.rows(
            "observations",
            "titles_of_prompt",
            session_id=job.session_id,
            prompt_number=job.prompt_number,
            job_id=job.id,
        )
        return frozenset((row[0], row[1]) for row in rows)

    def pin(self, observation_id: int, *, pinned: bool) -> bool:
        values = {"id": observation_id, "pinned": pinned}
        with self.transaction() as connection:
            return write(connection, "observations", "pin", values).rowcount == 1

    def add_injections(
        self, session_id: int, hook: str, told: Iterable[tuple[int, str]], at: int
    ) -> None:
        """`told`: which observations, and why each."""
        common = {"session_id": session_id, "hook": hook, "at": at}
        with self.transaction() as connection:
            for number, reason in told:
                values = common | {"observation_id": number, "reason": reason}
                write(connection, "observations", "add_injection", values)

    def summaries_of_session(self, session_id: int) -> list[Summary]:
        rows = self.rows("observations", "summaries_of_session", session_id=session_id)
        return [self._summary(row) for row in rows]

    def last_summaries(self, session_id: int, limit: int) -> list[Summary]:
        """Newest first."""
        rows = self.rows("observations", "last_summaries", session_id=session_id, limit=limit)
        return [self._summary(row) for row in rows]

    def summarized_sessions(self, project_id: int, limit: int) -> list[Session]:
        """Sessions that have something to tell, newest first."""
        rows = self.rows("observations", "summarized_sessions", project_id=project_id, limit=limit)
        return [_session(row) for row in rows]

    def session(self, session_id: int) -> Session | None:
        row = self.row("observations", "session", id=session_id)
        return _session(row) if row else None

    def session_by_ref(self, agent: str, ref: str) -> Session | None:
        row = self.row("events", "session_by_ref", agent=agent, ref=sqlite_safe(ref))
        return _session(row) if row else None

    def sessions(self, project_id: int | None, limit: int) -> list[Session]:
        rows = self.rows("observations", "sessions", project_id=project_id, limit=limit)
        return [_session(row) for row in rows]

    def sessions_by_prefix(self, prefix: str) -> list[Session]:
        rows = self.rows("observations", "sessions_by_prefix", prefix=_escaped(sqlite_safe(prefix)))
        return [_session(row) for row in rows]

    def prompts(self, session_id: int) -> list[Prompt]:
        rows = self.rows("observations", "prompts_of_session", session_id=session_id)
        return [Prompt(**dict(row)) for row in rows]

    def prompt(self, session_id: int, number: int) -> Prompt | None:
        row = self.row("observations", "prompt", session_id=session_id, number=number)
        return Prompt(**dict(row)) if row else None

    def _observation(self, row: Row) -> Observation:
        key = row["id"]
        files = self.rows("observations", "files", id=key)
        draft = ObservationDraft(
            type=row["type"],
            title=row["title"],
            subtitle=row["subtitle"],
            facts=tuple(r[0] for r in self.rows("observations", "facts", id=key)),
            narrative=row["narrative"],
            concepts=tuple(r[0] for r in self.rows("observations", "concepts", id=key)),
            files_read=tuple(r["path"] for r in files if r["role"] == "read"),
            files_modified=tuple(r["path"] for r in files if r["role"] == "modified"),
            subagent_type=row["subagent_type"],
        )
        return Observation(
            id=key,
            session_id=row["session_id"],
            project_id=row["project_id"],
            prompt_number=row["prompt_number"],
            at=row["at"],
            provider=row["provider"],
            pinned=bool(row["pinned"]),
            draft=draft,
        )

    def _summary(self, row: Row) -> Summary:
        files = self.rows("observations", "summary_files", id=row["id"])
        parts = ("request", "investigated", "learned", "completed", "next_steps", "notes")
        draft = SummaryDraft(
            **{part: row[part] for part in parts},
            files_read=tuple(r["path"] for r in files if r["role"] == "read"),
            files_edited=tuple(r["path"] for r in files if r["role"] == "edited"),
        )
        return Summary(
            id=row["id"],
            session_id=row["session_id"],
            project_id=row["project_id"],
            prompt_number=row["prompt_number"],
            at=row["at"],
            provider=row["provider"],
            draft=draft,
        )


def add_observation(
    connection: sqlite3.Connection,
    job: Job,
    provider: str,
    at: int,
    ordinal: int,
    draft: ObservationDraft,
) -> int:
    row = write_one(
        connection,
        "observations",
        "add",
        _place(connection, job, provider, at)
        | {
            "job_id": job.id,
            "ordinal": ordinal,
            "type": draft.type if draft.type in TYPES else FALLBACK_TYPE,
            "title": _safe(draft.title),
            "subtitle": _safe(draft.subtitle),
            "narrative": _safe(draft.narrative),
            "subagent_type": _safe(draft.subagent_type),
        },
    )
    assert row is not None
    owner = {"observation_id": int(row["id"])}
    for number, fact in enumerate(draft.facts):
        values = owner | {"ordinal": number, "text": sqlite_safe(fact)}
        write(connection, "observations", "add_fact", values)
    for concept in draft.concepts:
        write(connection, "observations", "add_concept", owner | {"concept": sqlite_safe(concept)})
    for role, paths in (("read", draft.files_read), ("modified", draft.files_modified)):
        for path in paths:
            stored = sqlite_safe(path)
            values = owner | {"path": stored, "name": file_name(stored), "role": role}
            write(connection, "observations", "add_file", values)
    return owner["observation_id"]


def add_summary(
    connection: sqlite3.Connection, job: Job, provider: str, at: int, draft: SummaryDraft
) -> int:
    row = write_one(
        connection,
        "observations",
        "add_summary",
        _place(connection, job, provider, at)
        | {
            "request": _safe(draft.request),
            "investigated": _safe(draft.investigated),
            "learned": _safe(draft.learned),
            "completed": _safe(draft.completed),
            "next_steps": _safe(draft.next_steps),
            "notes": _safe(draft.notes),
        },
    )
    assert row is not None
    owner = {"summary_id": int(row["id"])}
    for role, paths in (("read", draft.files_read), ("edited", draft.files_edited)):
        for path in paths:
            values = owner | {"path": sqlite_safe(path), "role": role}
            write(connection, "observations", "add_summary_file", values)
    return owner["summary_id"]


def _place(connection: sqlite3.Connection, job: Job, provider: str, at: int) -> dict[str, object]:
    session = write_one(connection, "observations", "session", {"id": job.session_id})
    assert session is not None
    return {
        "session_id": job.session_id,
        "project_id": session["project_id"],
        "prompt_number": job.prompt_number,
        "at": at,
        "provider": provider,
    }


def _session(row: Row) -> Session:
    fields = Session.__dataclass_fields__
    return Session(**{name: row[name] for name in fields})


def _safe(text: str | None) -> str | None:
    return None if text is None else sqlite_safe(text)


def file_name(path: str) -> str:
    return path.rpartition("/")[2]


def _escaped(text: str) -> str:
    """For LIKE … ESCAPE: the text itself, not a pattern."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
