"""The worker: its health, queue and cost."""

from dataclasses import asdict

from aforesaid.model.jobs import Job
from aforesaid.parameters import Parameter
from aforesaid.synthesis.cost import load_costs
from aforesaid.times import begin
from aforesaid.web.api import common
from aforesaid.web.api.common import PROJECT
from aforesaid.web.backend import Backend, Json
from aforesaid.web.endpoint import MAX_ID, endpoint, many, shape

JOB = shape("id:int kind:str session_id:int prompt_number:int why:str? tries:int")
FIGURES = "requests:int sent:int received:int cached:int microdollars:int unpriced:int"
SPENT_BY = {"models": "model", "projects": "project", "purposes": "purpose"}


@endpoint(
    "GET",
    "/health",
    response=shape(
        "version:str pid:int uptime_seconds:int memory_bytes:int? active_sessions:int spool:int "
        "paused:[str] problem:str?",
        status={"enum": ["ok", "degraded"]},
        provider=shape("name:str why:str"),
        queue=shape("pending:int oldest_at:int? last_done_at:int? skipped:int"),
    ),
)
def read_health(backend: Backend) -> Json:
    """Report whether the worker is healthy, and what is pending."""
    found = backend.status()
    queue, memory = found["queue"], found["memory_kb"]
    return {name: found[name] for name in ("version", "pid", "spool", "problem")} | {
        "status": "degraded" if found["problem"] else "ok",
        "uptime_seconds": found["uptime_s"],
        "memory_bytes": None if memory is None else memory * 1024,
        "active_sessions": queue["active_sessions"],
        "provider": {"name": found["provider"], "why": found["provider_why"]},
        "queue": {
            "pending": queue["pending"],
            "oldest_at": queue["oldest_pending"],
            "last_done_at": queue["last_done"],
            "skipped": queue["skipped"],
        },
        "paused": [each["why"] for each in found["paused"]],
    }


@endpoint(
    "GET",
    "/api/queue",
    response=shape("pending:int oldest_at:int? given_up:int", jobs=many(JOB), skipped=many(JOB)),
)
def read_queue(backend: Backend) -> Json:
    """List pending and failed jobs. Long lists are cut."""
    jobs = backend.store.jobs
    health = backend.store.health()
    return {
        "pending": health.pending,
        "oldest_at": health.oldest_pending,
        "given_up": health.skipped,
        "jobs": [_job_json(each) | {"due_at": each.due_at} for each in jobs.pending()],
        "skipped": [_job_json(each) for each in jobs.skipped()],
    }


@endpoint(
    "POST",
    "/api/queue/retry",
    Parameter("id", "A job's id. Default: all failed jobs.", "number", most=MAX_ID),
    response=shape("requeued:int"),
)
def retry_jobs(backend: Backend, *, id: int | None) -> Json:
    """Retry failed jobs, and process pending ones now."""
    return {"requeued": backend.order("retry", id=id)["requeued"]}


@endpoint(
    "GET",
    "/api/cost",
    Parameter("days", "How many days back.", "number", default=30, most=3660),
    PROJECT,
    response=shape(
        "since:int",
        days=many(shape(f"day:str {FIGURES}")),
        **dict.fromkeys(SPENT_BY, many(shape(f"label:str {FIGURES}"))),
        **dict.fromkeys(("total", "today"), shape(FIGURES)),
        budget=shape("daily_tokens:int daily_cents:int left:str?"),
        written=shape("observations:int summaries:int tokens_each:int?"),
    ),
)
def read_cost(backend: Backend, *, days: int, project: int | None) -> Json:
    """Report tokens and money by day, model, project and purpose. `unpriced`: requests of unknown price."""
    found = common.find_project(backend, project)
    since = begin(f"{days}d", backend.clock())
    costs = load_costs(
        backend.store, backend.home.settings, backend.clock, by="day", since=since, project=found
    )
    spent_by = backend.store.requests.spent_by
    by_day = [asdict(each) for each in costs.days]
    return {
        "since": since,
        "days": [{"day": each.pop("label"), **each} for each in by_day],
        **{
            name: [asdict(each) for each in spent_by(by, since, costs.until, project_id=project)]
            for name, by in SPENT_BY.items()
        },
        "total": asdict(costs.total),
        "today": asdict(costs.today),
        "written": asdict(costs.written) | {"tokens_each": costs.each},
        "budget": {
            "daily_tokens": costs.budget.tokens,
            "daily_cents": costs.budget.cents,
            "left": costs.budget.left(costs.today),
        },
    }


def _job_json(job: Job) -> Json:
    return common.pick(job, "id kind session_id prompt_number tries") | {"why": job.last_error}
