"""`recollect status`: one look that tells whether memory is working."""

import json
from collections import Counter
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click

from recollect import clock, wiring
from recollect.backups import accounts
from recollect.cli import doctor_backups, doctor_client, indexed
from recollect.cli.findings import Finding
from recollect.cli.output import count, heading, json_option, print_json, say, styled
from recollect.cli.paused import paused_lines
from recollect.errors import ConfigError, StoreMissing, WorkerError
from recollect.model.jobs import JobRow
from recollect.model.ledger import Quality
from recollect.model.memories import OF_CLIENT, OF_PROJECT, OF_TEAM, OF_USER
from recollect.model.search import IndexHealth
from recollect.model.stored import EMPTY, Health
from recollect.paths import Paths
from recollect.synthesis.budget import day_of
from recollect.worker import contact
from recollect.worker.disk import MB, Room, measure
from recollect.worker.health import capture_failures, not_recording, problem, waiting

SCOPES = (OF_USER, OF_PROJECT, OF_TEAM, OF_CLIENT)
NOT_CONNECTED = "Nothing new is recorded here until Claude Code is connected: recollect install"


@dataclass(frozen=True, slots=True)
class Viewer:
    """`address`: where it is served now, if it is. A browser is let in by `recollect open`."""

    start: str
    address: str | None

    @property
    def line(self) -> str:
        if self.address:
            return f"{self.address}; `recollect open` lets a browser in"
        if self.start == "off":
            return "turned off; `recollect config set web.start on-demand` turns it on"
        return "not open; `recollect open` opens it"


@dataclass(frozen=True, slots=True)
class Look:
    """All that one look shows."""

    worker: dict[str, Any] | None
    provider: str
    why: str
    budget: str | None
    health: Health | None
    quality: list[Quality]
    skipped: list[JobRow]
    hooks: list[Finding]
    fault: str | None
    index: IndexHealth | None
    memories: Counter[str]  # by where they stand; `broken`: files that are none
    viewer: Viewer
    backup: str
    room: Room
    paused: list[str]  # what is off, a line each


@click.command()
@json_option
def status(as_json: bool) -> None:
    """Is it working? What waits, what failed, who writes. Exit code 4 when something needs attention."""
    home = wiring.home()
    look = _look(home)
    if as_json:
        _print_json(home.paths, look)
    else:
        _print(home.paths, look)
    accounts.see(home.paths)
    if look.fault:
        raise SystemExit(4)


def _look(home: wiring.Home) -> Look:
    worker = _worker(home.paths)
    choice = wiring.provider(home, clock.now)
    running = worker if worker and "error" not in worker else {}
    budget = None
    health, quality, skipped, index = None, [], [], None
    with suppress(StoreMissing):
        store = wiring.open_for_reading(home.paths)
        health, quality, skipped = store.health(), store.quality(), store.skipped_jobs()
        index = indexed.held(home.settings, store)
        if choice.terms is not None:
            budget = choice.terms.budget.left(store.spent(*day_of(clock.now())))
    hooks = list(doctor_client.hooks())
    room = measure(home.paths, home.settings)
    return Look(
        worker,
        # The worker's own choice: it may see other variables than this terminal.
        running.get("provider", str(choice.author)),
        running.get("provider_why", choice.why),
        budget,
        health,
        quality,
        skipped,
        hooks,
        _fault(home.paths, worker, health, room.warning)
        or (None if health else doctor_backups.lost(home, clock.now))
        or _index_fault(home, worker, index)
        or _broken(hooks),
        index,
        _memories(home),
        Viewer(home.settings.text("web.start"), _address(home.paths)),
        doctor_backups.line(home, clock.now),
        room,
        paused_lines(home, clock.now()),
    )


def _address(paths: Paths) -> str | None:
    """As the running worker has noted it; the note of one that was killed is nobody's."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        noted = json.loads(paths.web_file.read_bytes())
        if noted["pid"] == contact.running_pid(paths):
            return f"http://127.0.0.1:{int(noted['port'])}/"
    return None


def _memories(home: wiring.Home) -> Counter[str]:
    found = wiring.memories(home, str(Path.cwd()), clock.now).all()
    return Counter([*(each.scope for each in found.memories), *("broken" for _ in found.broken)])


def _print_json(paths: Paths, look: Look) -> None:
    print_json(
        {
            "worker": look.worker,
            "provider": {"name": look.provider, "why": look.why, "budget": look.budget},
            "quality": [asdict(each) for each in look.quality],
            "store": asdict(look.health) if look.health else None,
            "index": asdict(look.index) if look.index else None,
            "memories": look.memories,
            "viewer": asdict(look.viewer),
            "disk": asdict(look.room),
            "skipped_jobs": [asdict(job) for job in look.skipped],
            "paused": look.paused,
            "spool": waiting(paths),
            "capture_failures": capture_failures(paths),
            "hooks": [asdict(finding) for finding in look.hooks],
            "backup": look.backup,
            "problem": look.fault,
            "paths": {
                "config": str(paths.config),
                "data": str(paths.data),
                "state": str(paths.state),
            },
        }
    )


def _print(paths: Paths, look: Look) -> None:
    lines = [("Hooks", f.detail + (f". Fix: {f.fix}" if f.fix else "")) for f in look.hooks]
    lines += [("Worker", _worker_line(look.worker)), ("Provider", f"{look.provider}: {look.why}")]
    lines += [("", line) for line in _provider_lines(look)]
    if look.health is None or not look.health.sessions:
        lines.append(("Memory", "empty; `recollect import claude-code` brings in the past"))
    else:
        lines.append(("Memory", _memory_line(look.health)))
    lines.append(("Memories", _memories_line(look.memories)))
    if look.health is not None:
        lines.append(("Queue", _queue_line(look.health)))
    if look.index is not None:
        lines.append(("Index", indexed.line(look.index)))
    if (found := (look.worker or {}).get("import")) is not None:
        lines.append(("Import", f"{found['done']:,} of {count(found['sessions'], 'session')}"))
    lines.append(("Backup", look.backup))
    lines += [("Paused", each) for each in look.paused]
    lines.append(("Spool", f"{waiting(paths)} waiting"))
    lines.append(("Disk", _disk_line(look.room)))
    if replaced := sum((look.worker or {}).get("redacted", {}).values()):
        lines.append(("Secrets", f"{replaced:,} replaced since the worker started"))
    lines.append(("Viewer", look.viewer.line))
    lines.append(("Data", str(paths.data)))
    for name, text in lines:
        say(f"{heading(f'{name:<9}')} {text}")
    for job in look.skipped:
        why = f"job {job.id} ({job.kind}, prompt {job.prompt_number}) failed {count(job.tries, 'time')}"
        say(styled(f"  {why}: {job.last_error}. Try again: recollect retry {job.id}", fg="yellow"))
    if look.fault:
        say(styled(look.fault, fg="red"))
    elif any(finding.level != "ok" for finding in look.hooks):
        say(styled(NOT_CONNECTED, fg="yellow"))
    else:
        say(styled("All is well.", fg="green"))


def _provider_lines(look: Look) -> list[str]:
    lines = [f"budget: {look.budget}"] if look.budget else []
    parked = look.worker.get("parked") if look.worker else None
    if parked:
        lines.append(f"does not answer: {parked['why']}; next try {_in(parked['until'])}")
    for each in look.quality:
        name = " ".join(filter(None, (each.provider, each.model)))
        line = f"{name}: {count(each.observations, 'observation')}"
        if each.facts:
            share = round(100 * each.doubted / each.facts)
            line += f", {share} % of {count(each.facts, 'fact')} unverified"
        lines.append(line)
    return lines


def _in(at: int) -> str:
    now = clock.now()
    return f"in {clock.age(now, now=at)}" if at > now else "now"


def _fault(
    paths: Paths, worker: dict[str, Any] | None, health: Health | None, disk: str | None
) -> str | None:
    """What keeps memory from working, if anything does."""
    try:
        paths.make()
    except (OSError, ConfigError) as error:
        return f"recollect cannot use its folders: {error}. Run `recollect doctor`."
    if worker and (known := worker.get("fault") or worker.get("problem")):
        return str(known)
    if worker is None and (note := not_recording(paths)):
        return note
    return problem(paths, health or EMPTY, clock.now(), disk=disk)


def _index_fault(
    home: wiring.Home, worker: dict[str, Any] | None, index: IndexHealth | None
) -> str | None:
    if missing := wiring.encoder_problem(home.settings):
        return str(indexed.off(missing))
    few = indexed.too_few(index, worker) if index else None
    return str(few) if few else None


def _broken(hooks: list[Finding]) -> str | None:
    """Hooks that are there and capture nothing."""
    faults = (f"{one.detail}. Fix: {one.fix}" for one in hooks if one.level == "fault")
    return next(faults, None)


def _memory_line(health: Health) -> str:
    kept = f"{count(health.observations, 'observation')} and {count(health.summaries, 'summary')}"
    seen = f"{count(health.sessions, 'session')} ({health.active_sessions} active)"
    told = count(health.events, "event")
    if health.healed:
        told += f", {health.healed:,} of them from transcripts alone"
    return f"{kept} from {seen} in {count(health.projects, 'project')}; {told}"


def _memories_line(found: Counter[str]) -> str:
    """In the directory that it is asked in."""
    ours = [f"{found[scope]} of the {scope}" for scope in SCOPES if found[scope]]
    line = ", ".join(ours) or "none here yet; `recollect remember` keeps one"
    if found["broken"]:
        line += f"; {count(found['broken'], 'file')} cannot be read: `recollect memory list`"
    return line


def _disk_line(room: Room) -> str:
    allowed = f" of {room.allowed // MB:,} MB" if room.allowed else ""
    free = f"; {room.free // MB:,} MB free" if room.free is not None else ""
    return f"{-(-room.used // MB):,} MB{allowed}{free}"


def _queue_line(health: Health) -> str:
    now = clock.now()
    oldest = (
        f", oldest {clock.age(health.oldest_pending, now=now)}" if health.oldest_pending else ""
    )
    last = f", last success {clock.age(health.last_done, now=now)} ago" if health.last_done else ""
    unread = count(health.quarantined, "unreadable capture")
    bad = f", {unread} kept aside" if health.quarantined else ""
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
