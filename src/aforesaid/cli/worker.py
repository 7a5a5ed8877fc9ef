"""`aforesaid worker`, `pause`, `resume`, `synthesize`, `retry` and `open`: commands to the worker."""

import os
import re
import time
from pathlib import Path
from typing import Any

import click

from aforesaid import clock, switches, wiring
from aforesaid.agents.registry import project_directory
from aforesaid.cli import arguments
from aforesaid.cli import output as out
from aforesaid.english import count
from aforesaid.errors import WorkerDown
from aforesaid.model.sessions import ENDS, subject
from aforesaid.model.sessions import paused as describe_until
from aforesaid.paths import Paths
from aforesaid.recall import resolve
from aforesaid.web import VIEWS
from aforesaid.worker import rpc

NOT_RUNNING = 3  # exit code of `worker status`
UNITS = {"m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400}
LENGTH = re.compile(r"(\d{1,5})\s*([mhdw])")
VIEWER_SECONDS = 15.0  # for the worker to load the web server
# Browsers that draw into the terminal and would take it from the shell.
TERMINAL_BROWSERS = ("w3m", "lynx", "links", "elinks", "www-browser")


@click.group()
def worker() -> None:
    """Start, stop and inspect the background worker. Captures start it automatically."""


@worker.command()
@out.json_option
def start() -> None:
    """Start the worker if it is not running. A newer version replaces an older one."""
    _report_worker(rpc.start(Paths.of(os.environ)))


@worker.command()
@out.json_option
def stop() -> None:
    """Stop the worker after its current job. Waiting events are kept."""
    was_running = rpc.stop(Paths.of(os.environ))
    out.report({"was_running": was_running}, "Stopped." if was_running else "It was not running.")


@worker.command()
@out.json_option
def restart() -> None:
    """Stop the worker and start it again."""
    paths = Paths.of(os.environ)
    rpc.stop(paths)
    _report_worker(rpc.start(paths))


@worker.command("status")
@out.json_option
def worker_status() -> None:
    """Print whether the worker is running. Exit code 3 if not."""
    try:
        found = rpc.status(Paths.of(os.environ))
    except WorkerDown:
        text = "Not running. The next capture starts it, or `aforesaid worker start`."
        out.report({"running": False}, text)
        raise SystemExit(NOT_RUNNING) from None
    _report_worker(found)


@worker.command()
@arguments.number_option("-n", "--lines", default=40, most=100_000, what="Number of lines.")
@click.option("-f", "--follow", is_flag=True, help="Print new lines as they come; end with Ctrl-C.")
def logs(lines: int, follow: bool) -> None:
    """Print the end of the worker's log."""
    file = Paths.of(os.environ).log_file
    if not file.exists():
        out.say(f"There is no log yet: {file}")
        return
    with file.open(encoding="utf-8", errors="replace") as stream:
        for line in stream.readlines()[-lines:]:
            out.say(line.rstrip("\n"))
        while follow:
            if line := stream.readline():
                out.say(line.rstrip("\n"))
            else:
                time.sleep(0.2)


def _report_worker(found: dict[str, Any]) -> None:
    memory = f", {int(found['memory_kb']) // 1024} MB" if found["memory_kb"] else ""
    version, pid, uptime = found["version"], found["pid"], found["uptime_s"]
    text = f"Running: version {version}, pid {pid}, up {uptime} s{memory}."
    out.report({"running": True} | found, text)


def _parse_length(_: click.Context, __: click.Parameter, value: str | None) -> int | None:
    if value is None:
        return None
    found = LENGTH.fullmatch(value.strip().lower())
    if found is None or int(found[1]) == 0:
        raise click.BadParameter("give a length such as 30m, 2h, 1d or 1w.")
    return int(found[1]) * UNITS[found[2]]


def _session_key(name: str | None) -> tuple[str, str] | None:
    if name is None:
        return None
    found = resolve.find_session(arguments.open_store(), name)
    return found.agent, found.ref


@click.command()
@arguments.session_option("One session")
@click.option("--all", "everything", is_flag=True, help="All projects.")
@click.option(
    "--for", "seconds", metavar="LENGTH", callback=_parse_length, help="Such as 30m, 2h, 1d."
)
@out.json_option
def pause(session: str | None, everything: bool, seconds: int | None) -> None:
    """Record and inject nothing, here or everywhere, until `aforesaid resume`.

    What happens in the meantime is not read from transcripts later, either. AFORESAID_PAUSED=1 does the same
    for an agent that is started with it, a file .aforesaid/off for a repository.
    """
    if session and everything:
        raise click.UsageError("Give either --session or --all.")
    paused = arguments.call_worker(
        "pause",
        scope="session" if session else "everything" if everything else "project",
        dir=project_directory(os.environ),
        session=_session_key(session),
        milliseconds=None if seconds is None else seconds * clock.SECOND,
    )["paused"]
    out.report(paused, f"{_describe_pause(paused, 'is')}. {ENDS}.")


def _describe_pause(paused: dict[str, Any], verb: str) -> str:
    what = subject(paused["scope"], paused["project"], paused["session"])
    return describe_until(what, paused["until"], verb=verb)


@click.command()
@arguments.session_option("One session")
@click.option("--all", "everything", is_flag=True, help="End all pauses, in all projects.")
@out.json_option
def resume(session: str | None, everything: bool) -> None:
    """End what `aforesaid pause` paused here: this project, its sessions, and everything."""
    answer = arguments.call_worker(
        "resume",
        dir=None if session else project_directory(os.environ),
        session=_session_key(session),
        everything=everything,
    )
    if out.print_if_json(answer):
        return
    for each in answer["ended"]:
        out.say(f"{_describe_pause(each, 'was')}; it is recorded again.")
    if not answer["ended"]:
        out.say("Nothing was paused here.")
    if still := answer["still"] or switches.off_reason_in_env(os.environ):
        out.say(out.styled(f"Still off: {still}.", fg="yellow"))


@click.command()
@click.option("--again", is_flag=True, help="Also reprocess what another author has written.")
@arguments.session_option("With --again: only this session")
@arguments.project_option("With --again: only this project")
@arguments.since_option("With --again: only turns")
@click.option("--dry-run", is_flag=True, help="Only count, and estimate the tokens.")
@out.json_option
def synthesize(
    again: bool, session: str | None, project: str | None, since: int | None, dry_run: bool
) -> None:
    """Process pending turns now, and watch the progress.

    With --again, what another author wrote (the rules, another model, older prompts) is replaced by what
    the current provider writes. Pinned and edited observations stay. Running it again changes nothing.

    Exit code 4 when something is left because the model does not answer. Ctrl-C leaves the rest to the
    worker.
    """
    if not again and (session or project or since is not None):
        raise click.UsageError("--session, --project and --since need --again.")
    home = wiring.home()
    limits: dict[str, int | None] = {"session_id": None, "project_id": None, "since": since}
    if session or project:
        store = arguments.open_store()
        limits["session_id"] = resolve.find_session(store, session).id if session else None
        limits["project_id"] = (
            resolve.find_project(store, project, Path.cwd()).id if project else None
        )
    if dry_run:
        _print_plan(home, limits if again else None)
        return
    # Before anything is spent: a worker does not see later changes of the settings.
    wanted, running = str(wiring.provider(home, clock.now).author), rpc.start(home.paths)
    if wanted != running["provider"]:
        out.say(
            f"The worker writes as {running['provider']}; the settings, as this terminal sees them, say "
            f"{wanted}. `aforesaid worker restart` applies them.",
            err=True,
        )
    requeued = 0
    if again:
        requeued = int(arguments.call_worker("again", **limits)["requeued"])
    else:
        arguments.call_worker("wake")
    failed_before, most = int(running["queue"]["skipped"]), requeued

    def count_left(found: dict[str, Any]) -> int:
        nonlocal most  # a quick worker has done some of it before we look
        most = max(most, _pending(found))
        return 0 if _why_stopped(found) else _pending(found)

    found = arguments.watch_worker(
        "Writing", count_left, "The worker continues. See `aforesaid status`."
    )
    result = {
        "author": str(found["provider"]),
        "requeued": requeued,
        "done": most - _pending(found),
        "waiting": _pending(found),
        "failed": max(0, int(found["queue"]["skipped"]) - failed_before),
        "stopped": _why_stopped(found),
    }
    if not out.print_if_json(result):
        _print_synthesis(result, again=again)
    if result["stopped"] or result["failed"]:
        raise SystemExit(out.NEEDS_ATTENTION)


def _print_plan(home: wiring.Home, limits: dict[str, int | None] | None) -> None:
    from aforesaid.model.jobs import Again

    store = arguments.open_store()
    # The worker's own choice, if it runs: it may see other variables than this terminal.
    running = rpc.running_pid(home.paths) is not None
    author = rpc.status(home.paths)["provider"] if running else None
    author = str(author or wiring.provider(home, clock.now).author)
    jobs = store.health().pending
    if limits is not None:
        jobs = store.jobs.count_reprocess(Again(author, **limits))
    tokens: int | None = 0
    if jobs and not author.startswith("rules"):
        # From the tokens of earlier replies, repairs included.
        spent, replies = store.requests.spent(), store.requests.written().answers
        tokens = (spent.sent + spent.received) * jobs // replies if replies else None
    known = "an unknown number of tokens" if tokens is None else f"about {count(tokens, 'token')}"
    what = "to reprocess" if limits is not None else "pending"
    text = f"{count(jobs, 'job')} {what} (provider: {author}), {known}. Nothing was changed."
    out.report({"author": author, "jobs": jobs, "tokens": tokens}, text)


def _pending(found: dict[str, Any]) -> int:
    return int(found["queue"]["pending"]) + int(found["spool"])


def _why_stopped(found: dict[str, Any]) -> str | None:
    """A model that is unavailable, out of quota or misconfigured; or a fault of the worker."""
    outage = found["outage"]
    return str(outage["why"]) if outage else found["fault"]


def _print_synthesis(result: dict[str, Any], *, again: bool) -> None:
    if result["done"] or result["waiting"]:
        done = f"{count(result['done'], 'job')} done (provider: {result['author']})"
        out.say(f"{done}, {result['waiting']} pending.")
    elif again:
        out.say(f"All notes are from {result['author']} already.")
    else:
        out.say("Nothing is pending.")
    if result["failed"]:
        failed = f"{count(result['failed'], 'job')} failed three times: `aforesaid status`."
        out.say(out.styled(failed, fg="yellow"))
    if result["stopped"]:
        out.say(f"Not finished: {result['stopped']}", err=True)


@click.command()
@click.argument("job", type=int, required=False)
@out.json_option
def retry(job: int | None) -> None:
    """Retry JOB, or every job that failed three times. `aforesaid status` lists them."""
    answer = arguments.call_worker("retry", id=job)
    out.report(answer, f"{count(answer['requeued'], 'job')} to be retried.")


@click.command("open")
@click.argument("view", required=False, type=click.Choice(VIEWS), metavar="[VIEW]")
@click.option("--print", "only_print", is_flag=True, help="Print the link, open nothing.")
@out.json_option
def open_(view: str | None, only_print: bool) -> None:
    """Open the viewer in a browser, at VIEW if given.

    Views: now, timeline, search, sessions, memories, brief, cost, settings. The link works once and for one
    minute; then the browser has a cookie.
    """
    answer = arguments.call_worker("web", seconds=VIEWER_SECONDS, view=view or "")
    link, port = str(answer["link"]), answer["port"]
    if out.print_if_json({"link": link, "port": port}):
        return
    if not only_print and _browse(link):
        out.say(f"Opened http://127.0.0.1:{port}/{view or ''} in your browser.")
        return
    click.echo(link)
    if not only_print:
        out.say(
            "Open this link in a browser on this machine within a minute. It works once.", err=True
        )


def _browse(link: str) -> bool:
    import webbrowser

    try:
        browser = webbrowser.get()
        terminal = getattr(browser, "basename", "") in TERMINAL_BROWSERS
        return not terminal and browser.open(link)
    except webbrowser.Error:
        return False
