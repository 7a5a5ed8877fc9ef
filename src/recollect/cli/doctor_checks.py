"""The doctor's looks: each is a function that yields findings and changes nothing."""

import json
import os
import shlex
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from recollect import __version__, clock, wiring
from recollect.agents import claude_code_install as claude_code
from recollect.cli.install import settings_file
from recollect.errors import RecollectError, StoreMissing, WorkerError
from recollect.paths import Paths
from recollect.worker import contact
from recollect.worker.health import capture_failures, not_recording

SQLITE_SAFE = (3, 51, 3)


@dataclass(frozen=True, slots=True)
class Finding:
    """`level`: ok, warning or fault."""

    level: str
    what: str
    detail: str
    fix: str = ""


Check = Callable[[], Iterator[Finding]]


def versions() -> Iterator[Finding]:
    sqlite = ".".join(map(str, sqlite3.sqlite_version_info))
    note = "" if sqlite3.sqlite_version_info >= SQLITE_SAFE else " (one process writes, as it must)"
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
        fix = f"pip install 'recollect[{name}]'"
        yield Finding("fault", "provider", f"{name}: its package is not installed", fix)
        return
    parked = None
    with suppress(WorkerError):
        parked = contact.status(home.paths)["parked"]
    if parked:
        yield Finding("warning", "provider", f"{choice.author} does not answer: {parked['why']}")
    else:
        yield Finding("ok", "provider", f"{choice.author}: {choice.why}")


def hooks() -> Iterator[Finding]:
    """Every line we installed: is what it names still there, and does it work?"""
    found = False
    files = {settings_file(scope): scope for scope in ("project", "user")}  # in HOME they are one
    for file, scope in files.items():
        if not file.exists():
            continue
        try:
            commands = claude_code.installed_commands(file.read_text("utf-8-sig"))
        except (RecollectError, ValueError) as error:
            yield Finding("fault", "hooks", f"{file}: {error}", "mend the file's JSON")
            continue
        if not commands:
            continue
        found = True
        missing = {row.event for row in claude_code.HOOK_EVENTS} - set(commands)
        if missing:
            what = f"{file} lacks {', '.join(sorted(missing))}"
            yield Finding("fault", "hooks", what, f"recollect install --scope {scope}")
        yield from _lines(file, {c for lines in commands.values() for c in lines}, scope)
    if _plugin_enabled():
        found = True
        yield Finding("ok", "hooks", "the Claude Code plugin is enabled")
    if not found:
        yield Finding("warning", "hooks", "Claude Code is not connected", "recollect install")


def _lines(file: Path, commands: set[str], scope: str) -> Iterator[Finding]:
    fix = f"recollect install --scope {scope}"
    # `set -- <hook> <dir> [<python>];`: the last word before the test keeps the semicolon.
    words = [shlex.split(command) for command in commands]
    places = {tuple(w.removesuffix(";") for w in line[3 : line.index("[")]) for line in words}
    for place in places:
        script = Path(place[0], "capture.sh")
        python = Path(place[1]) if len(place) > 1 else None
        if not script.is_file():
            yield Finding("fault", "hooks", f"{script} is gone, so {file} captures nothing", fix)
        elif python is not None and not os.access(python, os.X_OK):
            yield Finding("fault", "hooks", f"{python} cannot be run", fix)
        elif python is not None and not _has_recollect(python):
            yield Finding("fault", "hooks", f"{python} does not have recollect", fix)
        else:
            yield Finding("ok", "hooks", f"installed in {file}")


def _has_recollect(python: Path) -> bool:
    try:
        done = subprocess.run(
            [python, "-I", "-c", "import recollect"], capture_output=True, timeout=20, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _plugin_enabled() -> bool:
    try:
        settings = json.loads(settings_file("user").read_text("utf-8-sig"))
        plugins = settings.get("enabledPlugins", {})
        return any(name.startswith("recollect@") and on for name, on in plugins.items())
    except (OSError, ValueError, AttributeError):
        return False


def folders() -> Iterator[Finding]:
    """Owner only, and ours."""
    paths = Paths.of(os.environ)
    try:
        paths.make()
    except OSError as error:
        fix = f"move {error.filename} away, or make it a directory of yours"
        yield Finding("fault", "folders", str(error), fix)
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
        file = paths.state / "capture-failures"
        what = f"{failed} events could not be written (a full disk, or a read-only spool)"
        yield Finding("warning", "spool", what, f"see to free space, then delete {file}")


def database() -> Iterator[Finding]:
    paths = Paths.of(os.environ)
    for name in ("", "-wal", "-shm"):
        file = Path(f"{paths.database}{name}")
        if file.exists() and not os.access(file, os.R_OK | os.W_OK):
            fix = f"chmod u+rw {shlex.quote(str(file))}"
            yield Finding("fault", "database", f"{file} may not be read and written", fix)
            return
    try:
        store = wiring.open_for_reading(paths)
    except StoreMissing:
        lost = contact.running_pid(paths) is not None and not paths.database.exists()
        if lost:
            what = "the file was deleted under the worker"
            yield Finding("warning", "database", what, "recollect worker restart")
        else:
            yield Finding("ok", "database", "none yet; the worker makes it")
        return
    except RecollectError as error:
        yield Finding("fault", "database", str(error), _move_aside(paths))
        return
    try:
        store.check()
        health = store.health()
    except RecollectError as error:
        yield Finding("fault", "database", str(error), _move_aside(paths))
        return
    what = f"sound: {health.events} events, {health.observations} observations"
    yield Finding("ok", "database", what)
    if health.skipped:
        what = f"{health.skipped} jobs failed three times"
        yield Finding("warning", "queue", what, "recollect status, then recollect retry")
    if health.quarantined:
        what = f"{health.quarantined} captures could not be read; they are in {paths.spool_bad}"
        yield Finding("warning", "queue", what, "recollect worker logs tells why")


def _move_aside(paths: Paths) -> str:
    file = shlex.quote(str(paths.database))
    return f"recollect worker stop; mv {file} {file}.damaged; recollect worker start"


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
        yield Finding("fault", "worker", str(error), "recollect worker restart")
        return
    if found["version"] != __version__:
        what = f"it is version {found['version']}, this is {__version__}"
        yield Finding("warning", "worker", what, "recollect worker restart")
    if found["fault"]:
        yield Finding("fault", "worker", found["fault"], "recollect worker logs")
    else:
        yield Finding("ok", "worker", f"answers, pid {found['pid']}")


CHECKS: tuple[Check, ...] = (
    versions,
    config,
    folders,
    spool,
    database,
    worker,
    provider,
    hooks,
)
