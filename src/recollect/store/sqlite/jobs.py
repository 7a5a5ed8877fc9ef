"""The queue: claimed by lease, acknowledged last, in the same transaction as the effect."""

import sqlite3

from recollect.model.jobs import MAX_TRIES, SKIPPED, Fenced, Job, JobRow
from recollect.model.observations import ObservationDraft, SummaryDraft
from recollect.model.sessions import UNTITLED, SessionTitle
from recollect.model.stored import Health
from recollect.store.sqlite.database import Database, write, write_one
from recollect.store.sqlite.records import add_observation, add_summary
from recollect.text import sqlite_safe

LISTED = 50


class Jobs(Database):
    def claim_job(self, holder: str, now: int, lease_until: int) -> Job | None:
        """The next job that is due. One whose tries are used up by crashes is parked, not tried."""
        values = {"holder": holder, "now": now, "lease_until": lease_until}
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
        self, job: Job, provider: str, drafts: list[ObservationDraft], at: int, now: int
    ) -> tuple[int, ...] | Fenced:
        """Store what a job found and acknowledge it. Running it twice replaces, never doubles."""
        with self.transaction() as connection:
            if not _acknowledge(connection, job, now):
                return Fenced()
            write(connection, "observations", "drop_of_job", {"job_id": job.id})
            return tuple(
                add_observation(connection, job, provider, at, ordinal, draft)
                for ordinal, draft in enumerate(drafts)
            )

    def finish_summary(
        self,
        job: Job,
        provider: str,
        draft: SummaryDraft | None,
        at: int,
        now: int,
        *,
        title: SessionTitle = UNTITLED,
    ) -> int | Fenced | None:
        with self.transaction() as connection:
            if not _acknowledge(connection, job, now):
                return Fenced()
            turn = {"session_id": job.session_id, "prompt_number": job.prompt_number}
            write(connection, "observations", "drop_summary", turn)
            names = {"title": title.title, "subtitle": title.subtitle}
            write(connection, "events", "title_session", names | {"id": job.session_id})
            return add_summary(connection, job, provider, at, draft) if draft else None

    def retry_job(self, job: Job, why: str, due_at: int) -> None:
        values = _held(job) | {"why": sqlite_safe(why), "due_at": due_at}
        with self.transaction() as connection:
            write(connection, "jobs", "retry", values)

    def give_back(self, job: Job) -> None:
        with self.transaction() as connection:
            write(connection, "jobs", "give_back", _held(job))

    def skip_job(self, job: Job, why: str, now: int) -> None:
        with self.transaction() as connection:
            write(connection, "jobs", "skip", _held(job) | {"why": sqlite_safe(why), "now": now})

    def requeue_skipped(self, job_id: int | None, now: int) -> int:
        with self.transaction() as connection:
            return write(connection, "jobs", "requeue", {"id": job_id, "now": now}).rowcount

    def next_due(self) -> int | None:
        row = self.row("jobs", "next_due")
        return row[0] if row else None

    def skipped_jobs(self) -> list[JobRow]:
        rows = self.rows("jobs", "jobs_in_state", state=SKIPPED, limit=LISTED)
        return [JobRow(**dict(row)) for row in rows]

    def health(self) -> Health:
        row = self.row("jobs", "counts")
        assert row is not None
        return Health(**dict(row))


def _acknowledge(connection: sqlite3.Connection, job: Job, now: int) -> bool:
    """False when the lease went to somebody else meanwhile: then this try must have no effect."""
    return write(connection, "jobs", "finish", _held(job) | {"now": now}).rowcount == 1


def _held(job: Job) -> dict[str, object]:
    return {"id": job.id, "holder": job.holder, "tries": job.tries}
