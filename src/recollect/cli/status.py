"""`recollect status`: one look that tells whether memory is working."""

from dataclasses import asdict
from typing import Any

import click

from recollect import clock, wiring
from recollect.cli import doctor_checks
from recollect.cli.output import count, heading, json_option, print_json, say, styled
from recollect.errors import StoreMissing, WorkerError
from recollect.model.jobs import JobRow
from recollect.model.stored import EMPTY, Health
from recollect.paths import Paths
from recollect.worker import contact
from recollect.worker.health import capture_failures, not_recording, problem, waiting


@click.command()
@json_option
def status(as_json: bool) -> None:
    """Is it working? What waits, what failed, who writes. Exit code 4 when something needs attention."""
    home = wiring.home()
    paths = home.paths
    try:
        store = wiring.open_for_reading(paths)
        health, skipped = store.health(), store.skipped_jobs()
    except StoreMissing:
        health, skipped = None, []
    worker = _worker(paths)
    choice = wiring.provider(home.settings)
    fault = _fault(paths, worker, health)
    hooks = list(doctor_checks.hooks())
    if as_json:
        print_json(
            {
                "worker": worker,
                "provider": {"name": choice.provider.name, "why": choice.why},
                "store": asdict(health) if health else None,
                "skipped_jobs": [asdict(job) for job in skipped],
                "spool": waiting(paths),
                "capture_failures": capture_failures(paths),
                "hooks": [asdict(finding) for finding in hooks],
                "problem": fault,
                "paths": {
                    "config": str(paths.config),
                    "data": str(paths.data),
                    "state": str(paths.state),
                },
            }
        )
    else:
        _print(paths, worker, choice, health, skipped, hooks, fault)
    if fault:
        raise SystemExit(4)


def _print(
    paths: Paths,
    worker: dict[str, Any] | None,
    choice: wiring.Choice,
    health: Health | None,
    skipped: list[JobRow],
    hooks: list[doctor_checks.Finding],
    fault: str | None,
) -> None:
    lines = [("Hooks", f.detail + (f". Fix: {f.fix}" if f.fix else "")) for f in hooks]
    lines += [
        ("Worker", _worker_line(worker)),
        ("Provider", f"{choice.provider.name}: {choice.why}"),
    ]
    if health is None:
        lines.append(("Memory", "empty"))
    else:
        lines.append(("Memory", _memory_line(health)))
        lines.append(("Queue", _queue_line(health)))
    lines.append(("Spool", f"{waiting(paths)} waiting"))
    lines.append(("Data", str(paths.data)))
    for name, text in lines:
        say(f"{heading(f'{name:<9}')} {text}")
    for job in skipped:
        why = f"job {job.id} ({job.kind}, prompt {job.prompt_number}) failed {job.tries} times"
        say(styled(f"  {why}: {job.last_error}. Try again: recollect retry {job.id}", fg="yellow"))
    say(styled(fault, fg="red") if fault else styled("All is well.", fg="green"))


def _fault(paths: Paths, worker: dict[str, Any] | None, health: Health | None) -> str | None:
    """What keeps memory from working, if anything does."""
    try:
        paths.make()
    except OSError as error:
        return f"recollect cannot use its folders: {error}. Run `recollect doctor`."
    if worker and worker["fault"]:
        return str(worker["fault"])
    if worker is None and (note := not_recording(paths)):
        return note
    return problem(paths, health or EMPTY, clock.now())


def _memory_line(health: Health) -> str:
    kept = f"{count(health.observations, 'observation')} and {count(health.summaries, 'summary')}"
    seen = f"{count(health.sessions, 'session')} ({health.active_sessions} active)"
    return f"{kept} from {seen} in {count(health.projects, 'project')}; {count(health.events, 'event')}"


def _queue_line(health: Health) -> str:
    now = clock.now()
    oldest = (
        f", oldest {clock.age(health.oldest_pending, now=now)}" if health.oldest_pending else ""
    )
    last = f", last success {clock.age(health.last_done, now=now)} ago" if health.last_done else ""
    bad = f", {health.quarantined} unreadable captures kept aside" if health.quarantined else ""
    return f"{health.pending} pending{oldest}{last}{bad}"


def _worker_line(worker: dict[str, Any] | None) -> str:
    if worker is None:
        return "not running; the next capture starts it"
    if "error" in worker:
        return str(worker["error"])
    return f"running, version {worker['version']}, pid {worker['pid']}"


def _worker(paths: Paths) -> dict[str, Any] | None:
    if contact.running_pid(paths) is None:
        return None
    try:
        return contact.status(paths)
    except WorkerError as error:
        return {"error": str(error), "fault": str(error)}
