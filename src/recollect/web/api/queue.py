"""What waits to be worked up, what was given up, and trying that again."""

from recollect.model.jobs import JobRow
from recollect.parameters import Parameter
from recollect.web.api.parts import LARGEST, MAYBE_NUMBER, MAYBE_TEXT, NUMBER, TEXT, many, shape
from recollect.web.backend import Backend, Json
from recollect.web.rows import Row, not_found


def queue(backend: Backend) -> Json:
    """Of many jobs not all are listed."""
    store = backend.store
    queued = store.queued()
    return {
        "pending": queued.pending,
        "oldest_at": queued.oldest_at,
        "given_up": queued.skipped,
        "jobs": [_job(each) | {"due_at": each.due_at} for each in store.pending_jobs()],
        "skipped": [_job(each) for each in store.skipped_jobs()],
    }


def retry(backend: Backend, *, id: int | None) -> Json:
    answer = backend.order("retry", id=id)
    if id is not None and not answer["requeued"]:
        raise not_found(f"There is no failed job {id}. GET /api/queue lists those there are.")
    return {"requeued": answer["requeued"]}


def _job(job: JobRow) -> Json:
    return {
        "id": job.id,
        "kind": job.kind,
        "session_id": job.session_id,
        "prompt_number": job.prompt_number,
        "why": job.last_error,
        "tries": job.tries,
    }


JOB = shape(
    id=NUMBER, kind=TEXT, session_id=NUMBER, prompt_number=NUMBER, why=MAYBE_TEXT, tries=NUMBER
)
ROWS = (
    Row(
        "GET",
        "/api/queue",
        "What waits, since when, and what failed three times.",
        queue,
        answer=shape(
            pending=NUMBER,
            oldest_at=MAYBE_NUMBER,
            given_up=NUMBER,
            jobs=many(JOB),
            skipped=many(JOB),
        ),
    ),
    Row(
        "POST",
        "/api/queue/retry",
        "Try a failed job again, or all of them; and what waits, now.",
        retry,
        body=(Parameter("id", "Of a job. Left out: all.", "number", most=LARGEST),),
        answer=shape(requeued=NUMBER),
    ),
)
