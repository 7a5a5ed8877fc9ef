"""`aforesaid status`. What it prints is found by `worker/overview.py`, if possible in the worker itself."""

from collections.abc import Iterator
from typing import Any

import click

from aforesaid import clock
from aforesaid.cli import arguments
from aforesaid.cli import output as out
from aforesaid.english import count

Json = dict[str, Any]
SCOPES = ("user", "project", "team", "client")
NOT_CONNECTED = "Nothing new is recorded until Claude Code is connected: aforesaid install"
LABEL = 10  # width of the labels
MB = 1024 * 1024


@click.command()
@out.json_option
def status() -> None:
    """Show whether it is working: hooks, worker, queue. Exit code 4 when something needs attention."""
    found = arguments.ask("status")
    if not out.print_if_json(found):
        _print(found)
    if found["problem"]:
        raise SystemExit(out.NEEDS_ATTENTION)


def _print(found: Json) -> None:
    for name, text in _lines(found):
        out.say(f"{out.heading(f'{name:<{LABEL - 1}}')} {text}", indent=LABEL)
    for job in found["skipped_jobs"]:
        what = f"job {job['id']} ({job['kind']}, prompt {job['prompt_number']})"
        why = f"{what} failed {count(job['tries'], 'time')}: {job['last_error']}"
        out.say(out.styled(f"  {why}. Retry: aforesaid retry {job['id']}", fg="yellow"))
    if found["problem"]:
        out.say(out.styled(found["problem"], fg="red"))
    elif any(finding["level"] != "ok" for finding in found["hooks"]):
        out.say(out.styled(NOT_CONNECTED, fg="yellow"))
    elif found["paused"]:
        out.say(out.styled("Paused: see above. Everything else is well.", fg="yellow"))
    else:
        out.say(out.styled("All is well.", fg="green"))


def _lines(found: Json) -> Iterator[tuple[str, str]]:
    worker, health, room = found["worker"] or {}, found["store"], found["disk"]
    for hook in found["hooks"]:
        yield "Hooks", hook["detail"] + (f". Fix: {hook['fix']}" if hook["fix"] else "")
    yield "Worker", _worker_line(found["worker"])
    yield "Provider", f"{found['provider']['name']}: {found['provider']['why']}"
    for line in _provider_lines(found):
        yield "", line
    yield "Memory", _memory_line(health)
    yield "Memories", _memories_line(found["memories"])
    if health is not None:
        yield "Queue", _queue_line(health)
    if found["index"] is not None:
        yield "Index", index_line(found["index"])
    if (running := worker.get("import")) is not None:
        yield "Import", f"{running['done']:,} of {count(running['sessions'], 'session')}"
    yield "Backup", found["backup"]
    for line in found["paused"]:
        yield "Paused", line
    yield "Spool", f"{found['spool']} waiting"
    if found["lost_events"]:
        yield "Lost", found["lost_events"]
    allowed = f" of {room['allowed'] // MB:,} MB" if room["allowed"] else ""
    free = f"; {room['free'] // MB:,} MB free" if room["free"] is not None else ""
    yield "Disk", f"{-(-room['used'] // MB):,} MB{allowed}{free}"
    if redacted := sum(worker.get("redacted", {}).values()):
        yield "Secrets", f"{redacted:,} redacted since the worker started"
    yield "Viewer", _viewer_line(found["viewer"])
    yield "Data", found["paths"]["data"]


def _worker_line(worker: Json | None) -> str:
    if worker is None:
        return "not running; the next capture starts it"
    if "error" in worker:
        return str(worker["error"])
    return f"running, version {worker['version']}, pid {worker['pid']}"


def _provider_lines(found: Json) -> Iterator[str]:
    if budget := found["provider"]["budget"]:
        yield f"budget: {budget}"
    if outage := (found["worker"] or {}).get("outage"):
        now, until = clock.now(), outage["until"]
        when = f"in {clock.age(now, now=until)}" if until > now else "now"
        yield f"does not answer: {outage['why']}; next try {when}"
    for each in found["quality"]:
        name = " ".join(filter(None, (each["provider"], each["model"])))
        line = f"{name}: {count(each['observations'], 'observation')}"
        if each["facts"]:
            share = round(100 * each["unverified"] / each["facts"])
            line += f", {share} % of {count(each['facts'], 'fact')} unverified"
        yield line


def _memory_line(health: Json | None) -> str:
    if health is None or not health["sessions"]:
        return "empty; `aforesaid import claude-code` imports past sessions"
    kept = f"{count(health['observations'], 'observation')} and {count(health['summaries'], 'summary')}"
    sessions = f"{count(health['sessions'], 'session')} ({health['active_sessions']} active)"
    events = count(health["events"], "event")
    if health["from_transcripts"]:
        events += f", {health['from_transcripts']:,} of them from transcripts only"
    return f"{kept} from {sessions} in {count(health['projects'], 'project')}; {events}"


def _memories_line(found: Json) -> str:
    ours = [f"{found[scope]} of the {scope}" for scope in SCOPES if found.get(scope)]
    line = ", ".join(ours) or "none here yet; `aforesaid remember` adds one"
    if found.get("broken"):
        line += f"; {count(found['broken'], 'file')} cannot be read: `aforesaid memory list`"
    return line


def _queue_line(health: Json) -> str:
    now = clock.now()
    line = f"{health['pending']} pending"
    if oldest := health["oldest_pending"]:
        line += f", oldest {clock.age(oldest, now=now)}"
    if last := health["last_done"]:
        line += f", last success {clock.age(last, now=now)} ago"
    if unreadable := health["quarantined"]:
        line += f", {count(unreadable, 'unreadable capture')} quarantined"
    return line


def index_line(index: Json) -> str:
    waiting = f"; {count(index['waiting'], 'entry')} not indexed yet" if index["waiting"] else ""
    documents = count(index["documents"], "document")
    if index["encoder"] is None:
        return f"{documents}, found by words only (recall.encoder){waiting}"
    return f"{documents}, {count(index['vectors'], 'vector')} by {index['encoder']}{waiting}"


def _viewer_line(viewer: Json) -> str:
    if viewer["address"]:
        return f"{viewer['address']}; `aforesaid open` signs a browser in"
    if viewer["start"] == "off":
        return "turned off; `aforesaid config set web.start on-demand` turns it on"
    return "not open; `aforesaid open` opens it"
