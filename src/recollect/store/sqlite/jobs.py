"""The queue: claimed by lease, acknowledged last, in the same transaction as the effect."""

import sqlite3
from collections.abc import Iterable
from dataclasses import asdict

from recollect.clock import DAY
from recollect.model.jobs import MAX_TRIES, Again, Fenced, Job, JobRow, Queued
from recollect.model.observations import Author, ObservationDraft, SummaryDraft
from recollect.model.sessions import UNTITLED, SessionTitle
from recollect.model.stored import Health
from recollect.store.sqlite.database import Database, write, write_one
from recollect.store.sqlite.drafts import replace_observations, replace_summary
from recollect.store.sqlite.values import safe
from recollect.text import sqlite_safe

LISTED = 50


class Jobs(Database):
    def claim_job(self, holder: str, now: int, lease_until: int) -> Job | None:
        """The next job that is due. One whose tries are used up by crashes is parked, not tried."""
        values = {"holder": holder, "now": now, "lease_until": lease_until, "lately": now - DAY}
        while True:
            with self.transaction() as connection:
                row = write_one(connection, "jobs", "claim", values)
                if row is None:
                    return None
                job = Job(**dict(row))
                if job.tries <= MAX_TRIES:
                    return job
                why = f"the worker ended {MAX_TRIES} times while it was working on this"
                write(connection, "jobs", "skip", _held(job) | {"now": now, "why": why})

    def release_leases(self) -> int:
        """For a worker that has just got the lock: whoever held a lease is dead. Its tries count."""
        with self.transaction() as connection:
            return write(connection, "jobs", "release", {}).rowcount

    def finish_observe(
        self, job: Job, author: Author, drafts: Iterable[ObservationDraft], at: int, now: int
    ) -> tuple[int, ...] | Fenced:
        """Store what a job found and acknowledge it. Running it twice replaces, never doubles."""
        with self.transaction() as connection:
            if not _acknowledge(connection, job, author, now):
                return Fenced()
            return replace_observations(connection, job, author, drafts, at)

    def finish_summary(
        self,
        job: Job,
        author: Author,
        draft: SummaryDraft | None,
        at: int,
        now: int,
        *,
        title: SessionTitle = UNTITLED,
    ) -> int | Fenced | None:
        names = {"title": safe(title.title), "subtitle": safe(title.subtitle)}
        with self.transaction() as connection:
            if not _acknowledge(connection, job, author, now):
                return Fenced()
            write(connection, "sessions", "entitle", names | {"id": job.session_id})
            return replace_summary(connection, job, author, draft, at)

    def retry_job(self, job: Job, why: str, due_at: int) -> None:
        values = _held(job) | {"why": sqlite_safe(why), "due_at": due_at}
        with self.transaction() as connection:
            write(connection, "jobs", "retry", values)

    def give_back(self, job: Job) -> None:
        with self.transaction() as connection:
            write(connection, "jobs", "give_back", _held(job))

    def postpone(self, job: Job, why: str, due_at: int) -> None:
        values = _held(job) | {"why": sqlite_safe(why), "due_at": due_at}
        with self.transaction() as connection:
            write(connection, "jobs", "postpone", values)

    def skip_job(self, job: Job, why: str, now: int) -> None:
        with self.transaction() as connection:
            write(connection, "jobs", "skip", _held(job) | {"why": sqlite_safe(why), "now": now})

    def requeue_skipped(self, job_id: int | None, now: int) -> int:
        with self.transaction() as connection:
            return write(connection, "jobs", "requeue", {"id": job_id, "now": now}).rowcount

    def make_due(self, now: int) -> int:
        with self.transaction() as connection:
            return write(connection, "jobs", "make_due", {"now": now}).rowcount

    def do_again(self, again: Again, now: int) -> int:
        """What is there stays until something takes its place."""
        with self.transaction() as connection:
            chosen = write(connection, "jobs", "again", _limits(again)).fetchall()
            for row in chosen:
                write(connection, "jobs", "do_again", {"id": row["id"], "now": now})
        return len(chosen)

    def count_again(self, again: Again) -> int:
        return len(self.rows("jobs", "again", **_limits(again)))

    def next_due(self) -> int | None:
        row = self.row("jobs", "next_due")
        return row[0] if row else None

    def skipped_jobs(self) -> list[JobRow]:
        """The latest first, and not all of many."""
        rows = self.rows("jobs", "skipped", limit=LISTED)
        return [JobRow(**dict(row)) for row in rows]

    def pending_jobs(self) -> list[JobRow]:
        """Those that are due first, and not all of many."""
        return [JobRow(**dict(row)) for row in self.rows("jobs", "pending", limit=LISTED)]

    def pending_of_session(self, session_id: int) -> int:
        row = self.row("jobs", "pending_of_session", session_id=session_id)
        assert row is not None
        return int(row[0])

    def queued(self) -> Queued:
        row = self.row("jobs", "waiting")
        assert row is not None
        return Queued(**dict(row))

    def health(self) -> Health:
        row = self.row("jobs", "counts")
        assert row is not None
        return Health(**dict(row))


def _acknowledge(connection: sqlite3.Connection, job: Job, author: Author, now: int) -> bool:
    """False when the lease went to somebody else meanwhile: then this try must have no effect."""
    values = _held(job) | {"now": now, "author": safe(str(author))}
    if write(connection, "jobs", "finish", values).rowcount != 1:
        return False
    write(connection, "ledger", "settle", {"job_id": job.id})
    return True


def _held(job: Job) -> dict[str, object]:
    return {"id": job.id, "holder": job.holder, "tries": job.tries}


def _limits(again: Again) -> dict[str, object]:
    return asdict(again) | {"author": sqlite_safe(again.author)}
