"""The queue: claimed by lease, acknowledged last, in the same transaction as the effect."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from aforesaid.clock import DAY
from aforesaid.model.jobs import DRAFT, MAX_TRIES, OBSERVE, Again, Fenced, Job
from aforesaid.model.observations import Author, ObservationDraft, SummaryDraft, stored_type
from aforesaid.model.sessions import UNTITLED, SessionTitle
from aforesaid.store.database import Connection, Part, Row
from aforesaid.store.values import columns, file_name, joined, safe

if TYPE_CHECKING:  # an import of a file needs it, and no reader
    from aforesaid.model.records import ObservationRecord, SummaryRecord

Values = dict[str, Any]
LISTED = 50
Lists = dict[str, Iterable[object]]  # by the statement that adds it


class Jobs(Part):
    def is_last_part(self, job: Job) -> bool:
        """Whether its turn is over, and no other job has later events of it."""
        turn = {"session_id": job.session_id, "prompt_number": job.prompt_number, "id": job.id}
        later = self._db.row("jobs", "later_part", **turn)
        return later is None and self._db.row("jobs", "summary_after", **turn) is not None

    def claim(self, holder: str, now: int, lease_until: int) -> Job | None:
        """The next job that is due. One whose tries are used up by crashes is parked, not tried."""
        values = {"holder": holder, "now": now, "lease_until": lease_until, "lately": now - DAY}
        while True:
            with self._db.transaction() as db:
                job = db.one(Job, "jobs", "claim", **values)
                if job is None or job.tries <= MAX_TRIES:
                    return job
                why = f"the worker ended {MAX_TRIES} times while it was working on this"
                db.run("jobs", "skip", **_held(job), now=now, why=why)

    def release_leases(self) -> int:
        """For a worker that has just got the lock: whoever held a lease is dead. Its tries count."""
        return self._db.run("jobs", "release")

    def undrafted(self, now: int) -> list[Job]:
        """Jobs of turns that are over and have no note yet, in their order; not all of many."""
        return self._db.all(Job, "jobs", "undrafted", now=now, limit=LISTED)

    def finish_observations(
        self,
        job: Job,
        author: Author,
        drafts: Iterable[ObservationDraft],
        at: int,
        now: int,
        *,
        draft: bool = False,
        whole: bool = False,
    ) -> tuple[int, ...] | Fenced:
        """Store what a job found and acknowledge it, unless it is a `draft` that a model will replace.
        Running it twice replaces, never doubles. `whole`: it is about the whole turn, and replaces what the
        same author wrote in earlier jobs of it."""
        with self._db.transaction() as db:
            if not _acknowledge(db, job, author, now, draft=draft):
                return Fenced()
            if whole:
                turn = {"session_id": job.session_id, "prompt_number": job.prompt_number}
                db.run(
                    "observations", "drop_of_turn", **turn, provider=author.provider, job_id=job.id
                )
            return _replace_observations(db, job, drafts, _place(db, job, author, at))

    def finish_summary(
        self,
        job: Job,
        author: Author,
        draft: SummaryDraft | None,
        at: int,
        now: int,
        *,
        title: SessionTitle = UNTITLED,
        draft_only: bool = False,
    ) -> int | Fenced | None:
        with self._db.transaction() as db:
            if not _acknowledge(db, job, author, now, draft=draft_only):
                return Fenced()
            db.run("sessions", "entitle", id=job.session_id, **columns(title))
            place = _place(db, job, author, at)
            db.run("summaries", "drop", **place)
            if draft is None:
                return None
            values = place | columns(draft) | {"origins": joined(draft.origins)}
            key = db.number("summaries", "add", **values)
            add_lists(db, "summaries", key, summary_lists(draft))
            return key

    def retry(self, job: Job, why: str, due_at: int) -> None:
        self._db.run("jobs", "retry", **_held(job), why=why, due_at=due_at)

    def give_back(self, job: Job) -> None:
        self._db.run("jobs", "give_back", **_held(job))

    def postpone(self, job: Job, why: str, due_at: int) -> None:
        self._db.run("jobs", "postpone", **_held(job), why=why, due_at=due_at)

    def keep_draft(self, job: Job, author: Author, why: str, now: int) -> bool:
        """The job is done: its draft stands. False if there is none that says what the job is about."""
        if job.kind == OBSERVE and not self.is_last_part(job):
            return False
        values = {"author": str(author), "draft": DRAFT, "why": why, "now": now}
        return self._db.run("jobs", "keep", **_held(job), **values) == 1

    def skip(self, job: Job, why: str, now: int) -> None:
        self._db.run("jobs", "skip", **_held(job), why=why, now=now)

    def requeue_skipped(self, job_id: int | None, now: int) -> int:
        return self._db.run("jobs", "requeue", id=job_id, now=now)

    def make_due(self, now: int) -> int:
        return self._db.run("jobs", "make_due", now=now)

    def reprocess(self, again: Again, now: int) -> int:
        """What is there stays until something takes its place."""
        with self._db.transaction() as db:
            chosen = db.rows("jobs", "again", **columns(again))
            for row in chosen:
                db.run("jobs", "do_again", id=row["id"], now=now)
        return len(chosen)

    def count_reprocess(self, again: Again) -> int:
        return len(self._db.rows("jobs", "again", **columns(again)))

    def next_due(self) -> int | None:
        return self._db.value(int, "jobs", "next_due")

    def skipped(self) -> list[Job]:
        """The latest first, and not all of many."""
        return self._db.all(Job, "jobs", "skipped", limit=LISTED)

    def pending(self) -> list[Job]:
        """Those that are due first, and not all of many."""
        return self._db.all(Job, "jobs", "pending", limit=LISTED)

    def count_pending(self, session_id: int) -> int:
        return self._db.number("jobs", "pending_of_session", session_id=session_id)

    def release_held(self, agent: str, ref: str, now: int) -> int:
        """The jobs of a session that were made for a later time may be done now."""
        return self._db.run("tallies", "release_held_jobs", agent=agent, ref=ref, now=now)

    def unfinished(self) -> list[Job]:
        return self._db.all(Job, "jobs", "unfinished")


def _acknowledge(db: Connection, job: Job, author: Author, now: int, *, draft: bool) -> bool:
    """False when the lease went to another worker meanwhile, or somebody wrote before a draft: then this try
    must have no effect."""
    if draft:
        return db.run("jobs", "draft", id=job.id, draft=DRAFT).rowcount == 1
    if db.run("jobs", "finish", **_held(job), now=now, author=str(author)).rowcount != 1:
        return False
    db.run("ledger", "settle", job_id=job.id)
    return True


def _held(job: Job) -> Values:
    return {"id": job.id, "holder": job.holder, "tries": job.tries}


def _place(db: Connection, job: Job, author: Author, at: int) -> Values:
    return {
        "session_id": job.session_id,
        "project_id": db.only("sessions", "one", id=job.session_id)["project_id"],
        "job_id": job.id,
        "prompt_number": job.prompt_number,
        "at": at,
        "provider": author.provider,
        "model": author.model,
    }


def _replace_observations(
    db: Connection, job: Job, drafts: Iterable[ObservationDraft], place: Values
) -> tuple[int, ...]:
    """Keeps what a person has pinned or edited; a draft with the same title is left out."""
    seen = db.rows("observations", "seen_by_job", job_id=job.id)
    db.run("observations", "drop_of_job", job_id=job.id)
    kept = db.rows("observations", "kept_of_job", job_id=job.id)
    titles = {row["title"] for row in kept} - {None}
    first = max((row["ordinal"] + 1 for row in kept), default=0)
    new = [draft for draft in drafts if safe(draft.title) not in titles]
    return tuple(
        _add_observation(db, place | {"ordinal": ordinal}, _as_seen(draft, seen))
        for ordinal, draft in enumerate(new, first)
    )


def _as_seen(draft: ObservationDraft, before: list[Row]) -> ObservationDraft:
    """A turn that is processed again much later no longer sees its files as they were; the first time did."""
    if not before:
        return draft
    first = next((row["revision"] for row in before if row["revision"]), None)
    older = {row["path"]: row["blob"] for row in before if row["blob"]}
    blobs = tuple((older | dict(draft.blobs)).items())
    return replace(draft, revision=draft.revision or first, blobs=blobs)


def _add_observation(db: Connection, place: Values, draft: ObservationDraft) -> int:
    values = {
        "type": stored_type(draft.type),
        "repeats": _link(db, place, draft.repeats),
        "follows": _link(db, place, draft.follows, only_earlier=True),
        "bears_out": _link(db, place, draft.corroborates),
        "origins": joined(draft.origins),
        "sources": joined(draft.sources),
    }
    key = db.number("observations", "add", **(place | columns(draft) | values))
    add_lists(db, "observations", key, observation_lists(draft, dict(draft.blobs)))
    evidence = {"items": [*draft.evidence], "session_id": place["session_id"]}
    db.run("observations", "add_events", owner=key, **evidence)
    return key


def add_lists(
    db: Connection, topic: str, owner: int, lists: Mapping[str, Iterable[object]]
) -> None:
    for name, items in lists.items():
        db.run(topic, f"add_{name}", owner=owner, items=[*items])


def observation_lists(
    source: "ObservationDraft | ObservationRecord", blobs: Mapping[str, str]
) -> Lists:
    """`blobs`: what git calls the content that its files had."""
    files = {"read": source.files_read, "modified": source.files_modified}
    return {
        "facts": source.facts,
        "concepts": source.concepts,
        "files": [
            (path, file_name(path), role, blobs.get(path)) for role in files for path in files[role]
        ],
        "doubts": [(doubt.part, doubt.reason) for doubt in source.doubts],
    }


def summary_lists(source: "SummaryDraft | SummaryRecord") -> Lists:
    files = {"read": source.files_read, "edited": source.files_edited}
    return {
        "files": [(path, role) for role in files for path in files[role]],
        "doubts": [(doubt.part, doubt.reason) for doubt in source.doubts],
    }


def _link(
    db: Connection, place: Values, target: int | None, *, only_earlier: bool = False
) -> int | None:
    """Where a draft may point to; a reprocessed turn may not follow later ones."""
    if target is None:
        return None
    row = db.row("observations", "standing", **(place | {"id": target}))
    if row is None or (only_earlier and row["at"] > place["at"]):
        return None
    return int(row["id"])
