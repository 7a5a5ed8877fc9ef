"""The doctor's looks: each is a function that yields findings and changes nothing."""

import os
import shlex
import sqlite3
import stat
import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec

from recollect import __version__, clock, extras, wiring
from recollect.cli import doctor_backups, indexed
from recollect.cli.doctor_backups import backups, recoveries
from recollect.cli.doctor_client import hooks, server
from recollect.cli.findings import Check, Finding
from recollect.cli.output import count
from recollect.errors import ConfigError, RecollectError, StoreMissing, WorkerError
from recollect.filesystems import why_shared
from recollect.paths import Paths
from recollect.worker import contact
from recollect.worker.disk import MB, measure, sizes
from recollect.worker.health import capture_failures, not_recording

SQLITE_SAFE = (3, 51, 3)
RESTART = "recollect worker restart"  # a start looks at the database, and mends it


def versions() -> Iterator[Finding]:
    sqlite = ".".join(map(str, sqlite3.sqlite_version_info))
    safe = sqlite3.sqlite_version_info >= SQLITE_SAFE
    note = "" if safe else " (below 3.51.3 only one process may write; only the worker does)"
    python = ".".join(map(str, sys.version_info[:3]))
    yield Finding(
        "ok", "versions", f"recollect {__version__}, Python {python}, SQLite {sqlite}{note}"
    )


def config() -> Iterator[Finding]:
    file = Paths.of(os.environ).config_file
    wiring.home()
    yield Finding("ok", "config", str(file) if file.exists() else "defaults, no file")


def provider() -> Iterator[Finding]:
    """Who writes, and whether it answers."""
    home = wiring.home()
    choice = wiring.provider(home, clock.now)
    name = choice.author.provider
    if name in wiring.PACKAGES and find_spec(wiring.PACKAGES[name]) is None:
        fix = extras.install(name)
        yield Finding("fault", "provider", f"{name}: its package is not installed", fix)
        return
    parked = None
    with suppress(WorkerError):
        parked = contact.status(home.paths)["parked"]
    if parked:
        yield Finding("warning", "provider", f"{choice.author} does not answer: {parked['why']}")
    else:
        yield Finding("ok", "provider", f"{choice.author}: {choice.why}")


def folders() -> Iterator[Finding]:
    """Owner only, and ours."""
    paths = Paths.of(os.environ)
    try:
        paths.make()
    except OSError as error:
        fix = f"move {error.filename} away, or make it a directory of yours"
        yield Finding("fault", "folders", str(error), fix)
        return
    except ConfigError as error:
        yield Finding("fault", "folders", str(error), "chown, or RECOLLECT_HOME")
        return
    wrong = []
    for root in {paths.config, paths.data, paths.state}:
        for path in (root, *root.rglob("*")):
            try:
                status = path.lstat()
            except FileNotFoundError:  # the worker has just dealt with it
                continue
            if status.st_uid != os.getuid():
                wrong.append((path, f"belongs to user {status.st_uid}", f"chown {os.getuid()}"))
            elif paths.memory in path.parents:
                continue  # people make files there, with the modes of theirs; nobody else gets in
            elif not stat.S_ISLNK(status.st_mode) and status.st_mode & 0o077:
                wrong.append((path, f"mode {stat.S_IMODE(status.st_mode):o}", "chmod go-rwx"))
    for path, why, fix in wrong[:5]:
        yield Finding("fault", "privacy", f"{path}: {why}", f"{fix} {shlex.quote(str(path))}")
    if not wrong:
        yield Finding("ok", "privacy", f"{paths.state} and what is in it is yours alone")


def spool() -> Iterator[Finding]:
    """Can a hook write, and did it always?"""
    paths = Paths.of(os.environ)
    probe = paths.spool_tmp / f"doctor-{os.getpid()}"
    landed = paths.spool_bad / probe.name  # not new/: the worker would take it for a capture
    try:
        probe.write_bytes(b"x" * 4096)
        probe.replace(landed)
        landed.unlink()
        (paths.spool_new / ".").stat()
        yield Finding("ok", "spool", str(paths.spool))
    except OSError as error:
        fix = f"make {paths.spool} a writable directory with free space: {error.strerror}"
        yield Finding("fault", "spool", f"hooks cannot write to {paths.spool} ({error})", fix)
    if failed := capture_failures(paths):
        file = paths.capture_failures
        last = clock.day_and_time(file.stat().st_mtime_ns // 1_000_000)
        what = f"{count(failed, 'event')} could not be written (a full disk, or a read-only spool)"
        what += f", the last {last}; what the transcripts tell of them is healed by itself"
        yield Finding("warning", "spool", what, f"see to free space, then delete {file}")


def disk() -> Iterator[Finding]:
    """Is there room, and who takes it?"""
    home = wiring.home()
    room = measure(home.paths, home.settings)
    most = sorted(sizes(home.paths).items(), key=lambda each: -each[1])[:4]
    taken = ", ".join(f"{name} {-(-size // MB):,} MB" for name, size in most)
    if room.warning:
        fix = "recollect config set limits.home_mb, or free space on the disk"
        yield Finding("warning", "disk", f"{room.warning}; the most: {taken}", fix)
    else:
        yield Finding("ok", "disk", f"{-(-room.used // MB):,} MB: {taken}")
    for folder in {home.paths.data, home.paths.state}:
        if why := why_shared(folder):
            safer = "set RECOLLECT_HOME, or XDG_DATA_HOME and XDG_STATE_HOME, to a local disk"
            yield Finding("warning", "disk", f"{why}: the database is slower there", safer)


def database() -> Iterator[Finding]:
    paths = Paths.of(os.environ)
    for file in wiring.database_files().parts(paths.database):
        if file.exists() and not os.access(file, os.R_OK | os.W_OK):
            fix = f"chmod u+rw {shlex.quote(str(file))}"
            yield Finding("fault", "database", f"{file} may not be read and written", fix)
            return
    try:
        store = wiring.open_for_reading(paths)
    except StoreMissing:
        deleted = contact.running_pid(paths) is not None and not paths.database.exists()
        what = "the file was deleted under the worker" if deleted else None
        if what := what or doctor_backups.lost(wiring.home(), clock.now):
            yield Finding("warning", "database", what, RESTART)
        else:
            yield Finding("ok", "database", "none yet; the worker makes it")
        return
    except RecollectError as error:
        yield Finding("fault", "database", str(error), RESTART)
        return
    try:
        store.check()
        health = store.health()
    except RecollectError as error:
        yield Finding("fault", "database", str(error), RESTART)
        return
    what = f"sound: {count(health.events, 'event')}, {count(health.observations, 'observation')}"
    yield Finding("ok", "database", what)
    if health.skipped:
        what = f"{count(health.skipped, 'job')} failed three times"
        yield Finding("warning", "queue", what, "recollect status, then recollect retry")
    if health.quarantined:
        unread = count(health.quarantined, "capture")
        kept = sum(1 for _ in paths.spool_bad.iterdir())
        what = f"{unread} could not be read; {kept} of them kept in {paths.spool_bad} (30 days, 256 MB)"
        yield Finding("warning", "queue", what, "recollect worker logs tells why")


def worker() -> Iterator[Finding]:
    paths = Paths.of(os.environ)
    if contact.running_pid(paths) is None:
        if note := not_recording(paths):
            yield Finding(
                "fault", "worker", note, "mend what it names, then recollect worker start"
            )
        else:
            yield Finding("ok", "worker", "not running; the next capture starts it")
        return
    try:
        found = contact.status(paths)
    except WorkerError as error:
        yield Finding("fault", "worker", str(error), RESTART)
        return
    if found["version"] != __version__:
        what = f"it is version {found['version']}, this is {__version__}"
        yield Finding("warning", "worker", what, RESTART)
    if found["fault"]:
        yield Finding("fault", "worker", found["fault"], "recollect worker logs")
    else:
        yield Finding("ok", "worker", f"answers, pid {found['pid']}")


def search_index() -> Iterator[Finding]:
    """Is there what a search by words and by meaning needs?"""
    home = wiring.home()
    if missing := wiring.encoder_problem(home.settings):
        yield Finding("fault", "search", *indexed.off(missing))
        return
    with suppress(StoreMissing):
        held = indexed.held(home.settings, wiring.open_for_reading(home.paths))
        running = None
        with suppress(WorkerError):
            running = contact.status(home.paths)
        if few := indexed.too_few(held, running):
            yield Finding("warning", "search", *few)
        else:
            yield Finding("ok", "search", indexed.line(held))


CHECKS: tuple[Check, ...] = (
    versions,
    config,
    folders,
    spool,
    disk,
    database,
    recoveries,
    backups,
    worker,
    provider,
    search_index,
    hooks,
    server,
)
