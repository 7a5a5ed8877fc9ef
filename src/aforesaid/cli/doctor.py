"""`aforesaid doctor`: checks everything, and names a fix for each fault."""

import json
import os
import shlex
import sqlite3
import stat
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import asdict
from importlib.util import find_spec
from itertools import chain
from pathlib import Path

import click

from aforesaid import __version__, clock, wiring
from aforesaid.agents.connection import MODULE, is_our_server
from aforesaid.agents.registry import DEFAULT
from aforesaid.backups import recovery_log
from aforesaid.cli.output import NEEDS_ATTENTION, json_option, print_json, say, styled, wants_json
from aforesaid.cli.setup import run_hook
from aforesaid.cli.status import index_line
from aforesaid.clock import DAY, HOUR
from aforesaid.english import count
from aforesaid.errors import AforesaidError, ConfigError, StoreMissing, WorkerError, install_command
from aforesaid.filesystems import why_shared
from aforesaid.git import create_repository
from aforesaid.model.sessions import COMPLETED
from aforesaid.paths import Paths, walk
from aforesaid.store import files
from aforesaid.worker import overview, rpc
from aforesaid.worker.disk import MB, measure, sizes
from aforesaid.worker.health import count_files, describe_lost_events, not_recording, write_problem
from aforesaid.worker.overview import Finding, read_settings

Check = Callable[[], Iterator[Finding]]
MARKS = {"ok": ("✓", "green"), "warning": ("!", "yellow"), "fault": ("✗", "red")}
SQLITE_SAFE = (3, 51, 3)
RESTART = "aforesaid worker restart"  # a start checks the database, and repairs it
LATE = 3  # times the interval between backups
REPORTED_FOR = 7 * DAY  # a recovery
LISTED = 5
LARGEST = 4  # parts of what it takes on the disk
PATH = "whole path"
WAIT_SECONDS = 20.0
AGENT, CLIENT = DEFAULT.name, DEFAULT.connection


@click.command()
@click.option("--quick", is_flag=True, help="Do not send a synthetic session through the hooks.")
@json_option
def doctor(quick: bool) -> None:
    """Check everything, then send a synthetic session through the real hooks and remove it again.

    Exit code 4 when there is a fault.
    """
    findings: list[Finding] = []
    for check in CHECKS:
        findings += _run(check, findings)
    if not quick and all(finding.level != "fault" for finding in findings):
        findings += _run(check_whole_path, findings)
    elif not quick and not wants_json():
        say(styled("- whole path: not tried, fix the faults above first", dim=True))
    faults = sum(finding.level == "fault" for finding in findings)
    if wants_json():
        print_json({"version": __version__, "findings": [asdict(f) for f in findings]})
    elif faults:
        say(styled(f"\n{count(faults, 'fault')} found.", fg="red"))
    elif any(finding.level == "warning" for finding in findings):
        say(styled("\nNo faults found. See the warnings above.", fg="yellow"))
    else:
        say(styled("\nNo faults found." if quick else "\nMemory works.", fg="green"))
    if faults:
        raise SystemExit(NEEDS_ATTENTION)


def _run(check: Check, known: list[Finding]) -> list[Finding]:
    """A fault that another check has found, such as one of the config file, is not repeated."""
    try:
        found = list(check())
    except (AforesaidError, OSError) as error:
        if any(finding.detail == str(error) for finding in known):
            return []
        name = check.__name__.removeprefix("check_").replace("_", " ")
        found = [Finding("fault", name, str(error))]
    for finding in [] if wants_json() else found:
        mark, colour = MARKS[finding.level]
        say(f"{styled(mark, fg=colour)} {finding.what}: {styled(finding.detail)}")
        if finding.fix:
            say(f"    {styled('Fix:', bold=True)} {finding.fix}")
    return found


def _judge(
    what: str, problem: str | None, fine: str, fix: str = "", level: str = "fault"
) -> Finding:
    return Finding(level, what, problem, fix) if problem else Finding("ok", what, fine)


def check_versions() -> Iterator[Finding]:
    sqlite = ".".join(map(str, sqlite3.sqlite_version_info))
    safe = sqlite3.sqlite_version_info >= SQLITE_SAFE
    note = "" if safe else " (below 3.51.3 only one process may write; only the worker does)"
    python = ".".join(map(str, sys.version_info[:3]))
    yield Finding(
        "ok", "versions", f"aforesaid {__version__}, Python {python}, SQLite {sqlite}{note}"
    )


def check_config() -> Iterator[Finding]:
    file = wiring.home().paths.config_file
    yield Finding("ok", "config", str(file) if file.exists() else "defaults, no file")


def check_folders() -> Iterator[Finding]:
    paths = Paths.of(os.environ)
    try:
        paths.make()
    except (ConfigError, OSError) as error:
        taken = getattr(error, "filename", None)
        fix = f"move {taken} away, or make it a directory of yours"
        yield Finding("fault", "folders", str(error), fix if taken else "chown, or AFORESAID_HOME")
        return
    wrong = []
    for root in {paths.config, paths.data, paths.state}:
        for path in chain([root], (Path(entry.path) for entry in walk(root))):
            with suppress(FileNotFoundError):  # the worker has just removed it
                status = path.lstat()
                if status.st_uid != os.getuid():
                    wrong.append((path, f"belongs to user {status.st_uid}", f"chown {os.getuid()}"))
                    continue
                mode = 0 if stat.S_ISLNK(status.st_mode) else stat.S_IMODE(status.st_mode)
                # People create memories, with their own modes; the folder is private.
                if mode & 0o077 and paths.memory not in path.parents:
                    wrong.append((path, f"mode {mode:o}", "chmod go-rwx"))
    for path, why, fix in wrong[:LISTED]:
        yield Finding("fault", "privacy", f"{path}: {why}", f"{fix} {shlex.quote(str(path))}")
    if not wrong:
        yield Finding("ok", "privacy", f"only you can read {paths.state} and what is in it")


def check_captures() -> Iterator[Finding]:
    paths = Paths.of(os.environ)
    fix = f"make {paths.spool} and {paths.data} writable, with free space"
    yield _judge("spool", write_problem(paths), str(paths.spool), fix)
    store = None
    with suppress(AforesaidError):
        store = wiring.open_for_reading(paths)
    if lost := describe_lost_events(paths, store):
        new = describe_lost_events(paths, store, unreported_only=True) and lost
        fix = f"free space on the disk; reported for 30 days, or delete {paths.capture_failures}"
        yield _judge("spool", new, lost, fix, "warning")


def check_disk() -> Iterator[Finding]:
    home = wiring.home()
    room = measure(home.paths, home.settings)
    # In tenths of a MB; the last part takes what was rounded off, so that the parts sum up to the whole.
    found = sizes(home.paths)
    total = sum(found.values()) * 10 // MB
    largest = sorted(found.items(), key=lambda each: -each[1])[:LARGEST]
    parts = {name: size * 10 // MB for name, size in largest}
    parts["other"] = total - sum(parts.values())
    used = ", ".join(f"{name} {size / 10:,.1f} MB" for name, size in parts.items() if size > 0)
    full = room.warning and f"{room.warning}; largest: {used}"
    fix = "aforesaid config set limits.home_mb, or free space on the disk"
    fine = f"{total / 10:,.1f} MB" + (f": {used}" if used else "")
    yield _judge("disk", full, fine, fix, "warning")
    for folder in {home.paths.data, home.paths.state}:
        if why := why_shared(folder):
            fix = "set AFORESAID_HOME, or XDG_DATA_HOME and XDG_STATE_HOME, to a local disk"
            yield Finding("warning", "disk", f"{why}: the database is slower there", fix)


def check_database() -> Iterator[Finding]:
    paths = Paths.of(os.environ)
    for file in files.parts(paths.database):
        if file.exists() and not os.access(file, os.R_OK | os.W_OK):
            fix = f"chmod u+rw {shlex.quote(str(file))}"
            yield Finding("fault", "database", f"{file} may not be read and written", fix)
            return
    try:
        store = wiring.open_for_reading(paths)
        store.database.check()
        health = store.health()
    except StoreMissing:
        deleted = rpc.running_pid(paths) is not None and not paths.database.exists()
        what = "the file was deleted while the worker runs" if deleted else None
        what = what or overview.lost_database(wiring.home())
        yield _judge("database", what, "none yet; the worker creates it", RESTART, "warning")
        return
    except AforesaidError as error:
        yield Finding("fault", "database", str(error), RESTART)
        return
    what = f"sound: {count(health.events, 'event')}, {count(health.observations, 'observation')}"
    yield Finding("ok", "database", what)
    if health.skipped:
        what = f"{count(health.skipped, 'job')} failed three times"
        yield Finding("warning", "queue", what, "aforesaid status, then aforesaid retry")
    if health.quarantined:
        unread, kept = count(health.quarantined, "capture"), count_files(paths.spool_bad)
        what = f"{unread} could not be read; {kept} of them kept in {paths.spool_bad} (30 days, 256 MB)"
        yield Finding("warning", "queue", what, "aforesaid worker logs says why")


def check_recoveries() -> Iterator[Finding]:
    home = wiring.home()
    since = clock.now() - REPORTED_FOR
    for account in recovery_log.load_all(home.paths):
        if account.at > since and account.what != recovery_log.BY_HAND and account.done:
            level = "ok" if account.seen else "warning"
            yield Finding(level, "recovery", account.message)
    recovery_log.mark_seen(home.paths)


def check_backups() -> Iterator[Finding]:
    """Is there one, and is it young enough? `aforesaid backup check` checks the backups themselves."""
    home = wiring.home()
    every = home.settings.number("backup.every_hours") * HOUR
    found, late = wiring.backup_repository(home, clock.now).all(), None
    with suppress(FileNotFoundError):
        # What has not changed since needs no new backup.
        written = home.paths.database.stat().st_mtime_ns // 1_000_000
        if every and found and written - found[0].manifest.made_at > LATE * every:
            age = clock.age(found[0].manifest.made_at, now=written)
            late = f"the last one is {age} older than what is remembered"
    fix = "aforesaid backup; aforesaid worker logs"
    yield _judge("backups", late, overview.backup_line(home), fix, "warning")


def check_worker() -> Iterator[Finding]:
    paths = Paths.of(os.environ)
    found = overview.worker_status(paths)
    if found is None:
        fix = "fix what it names, then aforesaid worker start"
        yield _judge("worker", not_recording(paths), "not running; the next capture starts it", fix)
    elif "error" in found:
        yield Finding("fault", "worker", found["error"], RESTART)
    else:
        if found["version"] != __version__:
            what = f"it is version {found['version']}, this is {__version__}"
            yield Finding("warning", "worker", what, RESTART)
        fine = f"answers, pid {found['pid']}"
        yield _judge("worker", found["fault"], fine, "aforesaid worker logs")


def check_provider() -> Iterator[Finding]:
    home = wiring.home()
    choice = wiring.provider(home, clock.now)
    name = choice.author.provider
    if name in wiring.PACKAGES and find_spec(wiring.PACKAGES[name]) is None:
        missing = f"{name}: its package is not installed"
        yield Finding("fault", "provider", missing, install_command(name))
        return
    outage = (overview.worker_status(home.paths) or {}).get("outage")
    silent = outage and f"{choice.author} does not answer: {outage['why']}"
    yield _judge("provider", silent, f"{choice.author}: {choice.why}", level="warning")


def check_search() -> Iterator[Finding]:
    home = wiring.home()
    if missing := overview.encoder_problem(home.settings):
        yield missing
        return
    with suppress(StoreMissing):
        index = overview.index_health(home.settings, wiring.open_for_reading(home.paths))
        few = overview.missing_vectors(index, overview.worker_status(home.paths))
        yield few or Finding("ok", "search", index_line(asdict(index)))


def check_hooks() -> Iterator[Finding]:
    return overview.check_hooks(os.environ, Path.cwd())


def check_server() -> Iterator[Finding]:
    """The MCP server: does the program that the client runs exist, and does it start?"""
    found = False
    places = {CLIENT.server_path(scope, os.environ): scope for scope in ("project", "user")}
    for file, scope in places.items():
        try:
            entry = CLIENT.installed_server(read_settings(file) or "")
        except (AforesaidError, ValueError) as error:
            yield Finding("fault", "MCP server", f"{file}: {error}", "correct the file's JSON")
            continue
        if entry is not None:
            found = True
            if is_our_server(entry):
                python = Path(str(entry.get("command")))
                yield overview.check_python(
                    "MCP server", file, scope, python, MODULE, slow="warning"
                )
            else:
                yield Finding("ok", "MCP server", f"added to {file} by hand")
    if found:
        return
    if CLIENT.is_plugin_enabled(os.environ):
        yield Finding("ok", "MCP server", f"the {CLIENT.title} plugin has it")
    elif any(f.level != "warning" for f in check_hooks()):
        unknown = f"{CLIENT.title} does not know it"
        yield Finding("warning", "MCP server", unknown, "aforesaid install")


CHECKS: tuple[Check, ...] = (
    check_versions,
    check_config,
    check_folders,
    check_captures,
    check_disk,
    check_database,
    check_recoveries,
    check_backups,
    check_worker,
    check_provider,
    check_search,
    check_hooks,
    check_server,
)


def check_whole_path() -> Iterator[Finding]:
    """Sends a synthetic session in a scratch project through the installed hook lines: hook, spool, worker,
    store, observation. It runs in the user's own home and leaves nothing behind. No model is asked: where one
    is in use, the check ends at the store, because the queue may be waiting for the model."""
    paths = Paths.of(os.environ)
    reference = f"doctor-{uuid.uuid4()}"
    with tempfile.TemporaryDirectory(prefix="aforesaid-doctor-") as scratch:
        # A repository of its own: the folder for temporary files may be in one of the user's.
        create_repository(Path(scratch, ".git"))
        try:
            began = time.monotonic()
            for hook, payload in CLIENT.probe_session(reference, scratch):
                done = run_hook(hook, payload, scratch)
                if done.returncode or done.stderr:
                    detail = done.stderr.decode("utf-8", "replace")[:300]
                    raise AforesaidError(f"the {hook} hook ended with {done.returncode}: {detail}")
                if done.stdout.strip():
                    json.loads(done.stdout)
            with_model = wiring.provider(wiring.home(), clock.now).model is not None
            yield _wait_for(paths, reference, began, with_model=with_model)
        except (AforesaidError, subprocess.SubprocessError, ValueError) as error:
            yield Finding("fault", PATH, str(error), "aforesaid worker logs")
        finally:
            with suppress(WorkerError):
                rpc.order(paths, "drop-doctor-session", session=reference)


def _wait_for(paths: Paths, reference: str, began: float, *, with_model: bool) -> Finding:
    while time.monotonic() - began < WAIT_SECONDS:
        with suppress(StoreMissing), closing(wiring.open_for_reading(paths)) as store:
            session = store.sessions.find(AGENT, reference)
            # Only when its last event is in: one that came after the clean-up would restore it.
            ended = session is not None and session.status == COMPLETED
            seconds = f"{time.monotonic() - began:.1f} s"
            if session and ended and with_model:
                return Finding("ok", PATH, f"hook, spool, worker, store: {seconds}")
            if session and ended and store.summaries.for_session(session.id):
                if store.observations.for_session(session.id):
                    done = f"hook, spool, worker, store, observation: {seconds}"
                    return Finding("ok", PATH, done)
                what = "the event arrived, but there is no observation"
                return Finding("fault", PATH, what, "a bug: report it")
        time.sleep(0.05)
    what = f"the synthetic event did not arrive within {WAIT_SECONDS:.0f} s"
    return Finding("fault", PATH, what, "aforesaid worker restart, then aforesaid worker logs")
