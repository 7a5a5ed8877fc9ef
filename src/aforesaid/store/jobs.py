"""The queue: claimed by lease, acknowledged last, in the same transaction as the effect."""

import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import replace

from aforesaid.clock import DAY
from aforesaid.model.jobs import MAX_TRIES, Again, Fenced, Job, JobRow, QueueState
from aforesaid.model.observations import (
    FALLBACK_TYPE,
    TYPES,
    Author,
    Doubt,
    ObservationDraft,
    SummaryDraft,
)
from aforesaid.model.sessions import UNTITLED, SessionTitle
from aforesaid.store.database import Part, Row, write, write_id, write_many, write_one
from aforesaid.store.values import columns, file_name, joined, safe

LISTED = 50
NO_BLOBS: Mapping[str, str] = {}


class Jobs(Part):
    def is_last_part(self, job: Job) -> bool:
        """Whether no other job has later events of its turn."""
        turn = {"session_id": job.session_id, "prompt_number": job.prompt_number, "id": job.id}
        return self._db.row("jobs", "later_part", **turn) is None

    def claim(self, holder: str, now: int, lease_until: int) -> Job | None:
        """The next job that is due. One whose tries are used up by crashes is parked, not tried."""
        values = {"holder": holder, "now": now, "lease_until": lease_until, "lately": now - DAY}
        while True:
            with self._db.transaction() as connection:
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
        return self._db.execute("jobs", "release", {})

    def finish_observations(
        self, job: Job, author: Author, drafts: Iterable[ObservationDraft], at: int, now: int
    ) -> tuple[int, ...] | Fenced:
        """Store what a job found and acknowledge it. Running it twice replaces, never doubles."""
        with self._db.transaction() as connection:
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
        names = {"title": title.title, "subtitle": title.subtitle}
        with self._db.transaction() as connection:
            if not _acknowledge(connection, job, author, now):
                return Fenced()
            write(connection, "sessions", "entitle", names | {"id": job.session_id})
            return replace_summary(connection, job, author, draft, at)

    def retry(self, job: Job, why: str, due_at: int) -> None:
        values = _held(job) | {"why": why, "due_at": due_at}
        self._db.execute("jobs", "retry", values)

    def give_back(self, job: Job) -> None:
        self._db.execute("jobs", "give_back", _held(job))

    def postpone(self, job: Job, why: str, due_at: int) -> None:
        values = _held(job) | {"why": why, "due_at": due_at}
        self._db.execute("jobs", "postpone", values)

    def skip(self, job: Job, why: str, now: int) -> None:
        self._db.execute("jobs", "skip", _held(job) | {"why": why, "now": now})

    def requeue_skipped(self, job_id: int | None, now: int) -> int:
        return self._db.execute("jobs", "requeue", {"id": job_id, "now": now})

    def make_due(self, now: int) -> int:
        return self._db.execute("jobs", "make_due", {"now": now})

    def reprocess(self, again: Again, now: int) -> int:
        """What is there stays until something takes its place."""
        with self._db.transaction() as connection:
            chosen = write(connection, "jobs", "again", columns(again)).fetchall()
            for row in chosen:
                write(connection, "jobs", "do_again", {"id": row["id"], "now": now})
        return len(chosen)

    def count_reprocess(self, again: Again) -> int:
        return len(self._db.rows("jobs", "again", **columns(again)))

    def next_due(self) -> int | None:
        found: int | None = self._db.value("jobs", "next_due")
        return found

    def skipped(self) -> list[JobRow]:
        """The latest first, and not all of many."""
        return self._db.all(JobRow, "jobs", "skipped", limit=LISTED)

    def pending(self) -> list[JobRow]:
        """Those that are due first, and not all of many."""
        return self._db.all(JobRow, "jobs", "pending", limit=LISTED)

    def count_pending(self, session_id: int) -> int:
        return self._db.number("jobs", "pending_of_session", session_id=session_id)

    def queued(self) -> QueueState:
        return self._db.all(QueueState, "jobs", "waiting")[0]

    def release_held(self, agent: str, ref: str, now: int) -> int:
        """The jobs of a session that were made for a later time may be done now."""
        values = {"agent": agent, "ref": ref, "now": now}
        return self._db.execute("tallies", "release_held_jobs", values)

    def unfinished(self) -> list[Job]:
        return self._db.all(Job, "scratch", "waiting_jobs")


def _acknowledge(connection: sqlite3.Connection, job: Job, author: Author, now: int) -> bool:
    """False when the lease went to another worker meanwhile: then this try must have no effect."""
    values = _held(job) | {"now": now, "author": str(author)}
    if write(connection, "jobs", "finish", values).rowcount != 1:
        return False
    write(connection, "ledger", "settle", {"job_id": job.id})
    return True


def _held(job: Job) -> dict[str, object]:
    return {"id": job.id, "holder": job.holder, "tries": job.tries}


Values = dict[str, object]


def replace_observations(
    connection: sqlite3.Connection,
    job: Job,
    author: Author,
    drafts: Iterable[ObservationDraft],
    at: int,
) -> tuple[int, ...]:
    """What the job wrote before goes, but not what a person has pinned or edited. A draft with the title
    of one of those says what is there already."""
    seen = write(connection, "observations", "seen_by_job", {"job_id": job.id}).fetchall()
    write(connection, "observations", "drop_of_job", {"job_id": job.id})
    kept = write(connection, "observations", "kept_of_job", {"job_id": job.id}).fetchall()
    titles = {row["title"] for row in kept} - {None}
    first = max((row["ordinal"] + 1 for row in kept), default=0)
    place = _place(connection, job, author, at)
    new = [draft for draft in drafts if safe(draft.title) not in titles]
    return tuple(
        _add_observation(connection, place | {"ordinal": ordinal}, _as_seen(draft, seen))
        for ordinal, draft in enumerate(new, first)
    )


def replace_summary(
    connection: sqlite3.Connection, job: Job, author: Author, draft: SummaryDraft | None, at: int
) -> int | None:
    place = _place(connection, job, author, at)
    write(connection, "summaries", "drop", place)
    if draft is None:
        return None
    values = place | columns(draft) | {"origins": joined(draft.origins)}
    key = write_id(connection, "summaries", "add", values)
    add_files(
        connection, "summaries", key, {"read": draft.files_read, "edited": draft.files_edited}
    )
    add_doubts(connection, "summaries", key, draft.doubts)
    return key


def _as_seen(draft: ObservationDraft, before: list[Row]) -> ObservationDraft:
    """A turn that is processed again much later no longer sees its files as they were; the first time did."""
    if not before:
        return draft
    first = next((row["revision"] for row in before if row["revision"]), None)
    older = {row["path"]: row["blob"] for row in before if row["blob"]}
    blobs = tuple((older | dict(draft.blobs)).items())
    return replace(draft, revision=draft.revision or first, blobs=blobs)


def _add_observation(connection: sqlite3.Connection, place: Values, draft: ObservationDraft) -> int:
    values = {
        "type": draft.type if draft.type in TYPES else FALLBACK_TYPE,
        "repeats": _link(connection, place, draft.repeats),
        "follows": _link(connection, place, draft.follows, only_earlier=True),
        "bears_out": _link(connection, place, draft.bears_out),
        "origins": joined(draft.origins),
        "sources": joined(draft.sources),
    }
    key = write_id(connection, "observations", "add", place | columns(draft) | values)
    files = {"read": draft.files_read, "modified": draft.files_modified}
    add_words(connection, key, draft.facts, draft.concepts)
    add_files(connection, "observations", key, files, dict(draft.blobs))
    add_doubts(connection, "observations", key, draft.doubts)
    evidence = ({"id": event, "session_id": place["session_id"]} for event in draft.evidence)
    write_many(
        connection, "observations", "add_event", ({"owner": key} | each for each in evidence)
    )
    return key


def add_words(
    connection: sqlite3.Connection, owner: int, facts: Iterable[str], concepts: Iterable[str]
) -> None:
    rows = ({"owner": owner, "ordinal": n, "text": fact} for n, fact in enumerate(facts))
    write_many(connection, "observations", "add_fact", rows)
    named = ({"owner": owner, "concept": concept} for concept in concepts)
    write_many(connection, "observations", "add_concept", named)


def add_files(
    connection: sqlite3.Connection,
    topic: str,
    owner: int,
    files: Mapping[str, Iterable[str]],
    blobs: Mapping[str, str] = NO_BLOBS,
) -> None:
    """Paths by role, and what git calls the content that they had."""
    for role, paths in files.items():
        for path in paths:
            what = {"name": file_name(path), "role": role, "blob": blobs.get(path)}
            write(connection, topic, "add_file", {"owner": owner, "path": path} | what)


def add_doubts(
    connection: sqlite3.Connection, topic: str, owner: int, doubts: Iterable[Doubt]
) -> None:
    rows = (columns(doubt) | {"owner": owner, "ordinal": n} for n, doubt in enumerate(doubts))
    write_many(connection, topic, "add_doubt", rows)


def _link(
    connection: sqlite3.Connection, place: Values, target: int | None, *, only_earlier: bool = False
) -> int | None:
    """Where a draft may really point to. A turn that is processed again may not take the place of what was
    written about later ones."""
    if target is None:
        return None
    row = write_one(connection, "observations", "standing", place | {"id": target})
    if row is None or (only_earlier and row["at"] > place["at"]):
        return None
    return int(row["id"])


def _place(connection: sqlite3.Connection, job: Job, author: Author, at: int) -> Values:
    session = write_one(connection, "sessions", "one", {"id": job.session_id})
    assert session is not None
    return {
        "session_id": job.session_id,
        "project_id": session["project_id"],
        "job_id": job.id,
        "prompt_number": job.prompt_number,
        "at": at,
        "provider": author.provider,
        "model": author.model,
    }
