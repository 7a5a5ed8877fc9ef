"""Whether it works: what `aforesaid status` prints, and the checks that it shares with `aforesaid doctor`."""

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from aforesaid import clock, switches, wiring
from aforesaid.agents.connection import Connection
from aforesaid.agents.registry import CONNECTIONS, project_directory
from aforesaid.backups import recovery_log
from aforesaid.english import count
from aforesaid.errors import AforesaidError, ConfigError, StoreError, StoreMissing, WorkerError
from aforesaid.model.events import Health
from aforesaid.model.search import IndexHealth
from aforesaid.model.sessions import ENDS, Where, subject
from aforesaid.model.sessions import paused as describe_until
from aforesaid.paths import Paths, read_regular
from aforesaid.repository import Repository
from aforesaid.settings import Settings
from aforesaid.store.store import Store
from aforesaid.synthesis.cost import day_bounds
from aforesaid.wiring import Home
from aforesaid.worker import rpc
from aforesaid.worker.disk import measure
from aforesaid.worker.health import (
    describe_lost_events,
    lost_events,
    not_recording,
    problem,
    waiting,
    write_problem,
)

Json = dict[str, Any]
ENOUGH_VECTORS = 0.9  # of the documents; the rest may be on its way
LARGEST_SETTINGS = 16 << 20
START_SECONDS = 30  # as long as Claude Code waits for an MCP server
SLOW = "try again when the machine is less busy, or start the client with MCP_TIMEOUT=60000"


@dataclass(frozen=True, slots=True)
class Finding:
    """`level`: ok, warning or fault."""

    level: str
    what: str
    detail: str
    fix: str = ""

    def __str__(self) -> str:
        return f"{self.detail[:1].upper()}{self.detail[1:]}. Fix: {self.fix}"


def check_hooks(env: Mapping[str, str], here: Path) -> Iterator[Finding]:
    """Checks every installed hook line: does what it names exist, and does it work?"""
    found = [finding for each in CONNECTIONS for finding in _check_connection(each, env, here)]
    titles = " and ".join(each.title for each in CONNECTIONS)
    nothing = Finding("warning", "hooks", f"{titles} is not connected", "aforesaid install")
    yield from found or [nothing]


def _check_connection(
    connection: Connection, env: Mapping[str, str], here: Path
) -> Iterator[Finding]:
    # In HOME they are one file.
    files = {connection.hooks_path(scope, env, here): scope for scope in ("project", "user")}
    for file, scope in files.items():
        try:
            if (text := read_settings(file)) is None:
                continue
            commands = connection.installed_commands(text)
        except (AforesaidError, ValueError) as error:
            yield Finding("fault", "hooks", f"{file}: {error}", "correct the file's JSON")
            continue
        if not commands:
            continue
        fix = f"aforesaid install --scope {scope}"
        if missing := connection.missing_hooks(commands):
            lacking = f"{file} lacks {', '.join(sorted(missing))}"
            yield Finding("fault", "hooks", lacking, fix)
        lines = {line for event in commands.values() for line in event}
        for place in {place for line in lines if (place := connection.paths_in_command(line))}:
            yield _check_hook(file, place, scope)
    if connection.is_plugin_enabled(env):
        yield Finding("ok", "hooks", f"the {connection.title} plugin is enabled")


def _check_hook(file: Path, place: tuple[str, ...], scope: str) -> Finding:
    script = Path(place[0], "capture.sh")
    if not script.is_file():
        gone = f"{script} is gone, so {file} captures nothing"
        return Finding("fault", "hooks", gone, f"aforesaid install --scope {scope}")
    if len(place) == 1:
        return Finding("ok", "hooks", f"installed in {file}")
    return check_python("hooks", file, scope, Path(place[1]), "aforesaid")


def check_python(
    what: str, file: Path, scope: str, python: Path, module: str, *, slow: str = "ok"
) -> Finding:
    """Whether the interpreter in a settings file can run our module. `slow`: the level of one that takes
    longer than an agent waits."""
    fix, fine = f"aforesaid install --scope {scope}", f"installed in {file}"
    if not os.access(python, os.X_OK):
        return Finding("fault", what, f"{python} cannot be run", fix)
    if scope == "project" and not _is_known_python(python):
        not_run = f"{python} was not run, because a repository may have named it"
        return Finding("ok", what, f"{fine}; {not_run}")
    starts = _can_import(python, module)
    if starts is None:
        return Finding(slow, what, f"{python} takes more than {START_SECONDS} s to start", SLOW)
    if not starts:
        return Finding("fault", what, f"{python} cannot import {module}", fix)
    return Finding("ok", what, fine)


def read_settings(file: Path) -> str | None:
    """None if it is missing or cannot be read; in a repository it may be anything."""
    data = read_regular(file, LARGEST_SETTINGS, follow=True)
    return None if data is None else data.decode("utf-8-sig")


def _is_known_python(python: Path) -> bool:
    """A repository can bring settings, too. Of the programs that they name, only our own interpreters are
    run: the one that runs this, and the one that ran the worker last."""
    last = read_regular(Paths.of(os.environ).python_file, LARGEST_SETTINGS) or b""
    return str(python) in (sys.executable, os.fsdecode(last.strip()))


def _can_import(python: Path, module: str) -> bool | None:
    """Returns None if it takes longer than a client waits: that is no proof that it fails."""
    if sys.flags.isolated and str(python) == sys.executable and module == "aforesaid":
        return True  # it runs this
    try:
        command = [str(python), "-I", "-c", f"import {module}"]
        done = subprocess.run(command, capture_output=True, timeout=START_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return None
    except OSError:
        return False
    return done.returncode == 0


def index_health(settings: Settings, store: Store) -> IndexHealth:
    """A reader has no encoder of its own; the settings name the one that counts."""
    encoder = wiring.encoder(settings)
    return store.index.health(encoder.name if encoder else None)


def encoder_problem(settings: Settings) -> Finding | None:
    missing = wiring.encoder_problem(settings)
    if missing is None:
        return None
    what, _, fix = missing.partition(". ")
    off = f"search by meaning is off: {what[:1].lower()}{what[1:]}"
    return Finding("fault", "search", off, fix.rstrip("."))


def missing_vectors(index: IndexHealth, worker: Mapping[str, Any] | None) -> Finding | None:
    """Most documents have no vector, and none are being computed. `worker`: its status; one that was
    started with another encoder makes vectors of that."""
    busy = index.waiting or (worker is not None and not worker.get("idle", True))
    if index.encoder is None or busy or index.vectors >= ENOUGH_VECTORS * index.documents:
        return None
    held = f"{index.vectors:,} of {count(index.documents, 'document')} have a vector"
    other = worker is not None and worker.get("index", {}).get("encoder") != index.encoder
    fix = "aforesaid worker restart" if other else "aforesaid rebuild"
    little = f"search by meaning finds little: {held} by {index.encoder}"
    return Finding("warning", "search", little, fix)


def backup_line(home: Home) -> str:
    found = wiring.backup_repository(home, clock.now).all()
    if not found:
        return "none yet; `aforesaid backup` makes one"
    age = clock.age(found[0].manifest.made_at, now=clock.now())
    return f"the last one is {age} old ({found[0].manifest.reason}); {len(found)} in all"


def lost_database(home: Home) -> str | None:
    """There is no database, or an empty one, though there are backups of one."""
    if not wiring.backup_repository(home, clock.now).all():
        return None
    file = home.paths.database
    return (
        f"{file} is gone or empty, and there is a backup: `aforesaid worker restart` restores it."
    )


def why_nothing_injected(home: Home, project_id: int | None) -> str | None:
    """In this directory, whatever is remembered about it."""
    if switched := _switched_off(home, os.environ, Path.cwd()):
        return switched[0]
    where = Where(project_id)
    for each in wiring.open_for_reading(home.paths).sessions.pauses():
        if each.is_requested(clock.now()) and each.covers(where, None):
            return f"it is paused; {ENDS}"
    return None


def _switched_off(home: Home, env: Mapping[str, str], here: Path) -> list[str]:
    """By a variable, a file or a setting, in that directory."""
    skipped = home.settings.names("capture.skip_dirs")
    off = switches.off_reason(project_directory(env, here), skipped)
    return [why for why in (off, switches.off_reason_in_env(env)) if why]


def collect(
    home: Home,
    env: Mapping[str, str],
    here: Path,
    worker: Json | None,
    store: Store | None = None,
    repository: Repository | None = None,
) -> Json:
    """What `aforesaid status --json` prints, and the lines of some parts. `env`, `here`: of whoever asks;
    `worker`: its status, None where none is running; `store`, `repository`: if they are known already."""
    paths, choice = home.paths, wiring.provider(home, clock.now, env)
    running = worker if worker and "error" not in worker else {}
    hooks = list(check_hooks(env, here))
    room = measure(paths, home.settings)
    memories = wiring.memories(home, str(here), clock.now, env, repository).all()
    scopes = [each.scope for each in memories.memories] + ["broken"] * len(memories.broken)
    found: Json = {
        "worker": worker,
        "provider": {
            # The worker's own choice: it may see other variables than this terminal.
            "name": running.get("provider", str(choice.author)),
            "why": running.get("provider_why", choice.why),
            "budget": None,
        },
        "quality": [],
        "store": None,
        "index": None,
        "memories": Counter(scopes),
        "viewer": {"start": home.settings.text("web.start"), "address": _address(paths)},
        "disk": asdict(room),
        "skipped_jobs": [],
        "paused": [f"here: {why}" for why in _switched_off(home, env, here)],
        "spool": waiting(paths),
        "capture_failures": len(lost_events(paths)),
        "lost_events": None,
        "hooks": [asdict(finding) for finding in hooks],
        "backup": backup_line(home),
        "problem": None,
        "paths": {name: str(getattr(paths, name)) for name in ("config", "data", "state")},
    }
    health = index = unreported = None
    # A database on a read-only or full disk may not open: the status says so all the same.
    with suppress(StoreError if write_problem(paths) else StoreMissing):
        store = store or wiring.open_for_reading(paths)
        found["lost_events"] = describe_lost_events(paths, store)
        unreported = describe_lost_events(paths, store, unreported_only=True)
        health, index = store.health(), index_health(home.settings, store)
        found["store"], found["index"] = asdict(health), asdict(index)
        found["quality"] = [asdict(each) for each in store.requests.quality()]
        found["skipped_jobs"] = [asdict(job) for job in store.jobs.skipped()]
        names = {each.id: each.name for each in store.projects.all()}
        for each in store.sessions.pauses():
            if each.is_requested(clock.now()):
                what = subject(each.scope, names.get(each.project_id or 0), each.ref)
                found["paused"].append(f"{describe_until(what, each.ends_at, verb='is')}; {ENDS}")
        if choice.terms is not None:
            spent = store.requests.spent(*day_bounds(clock.now()))
            found["provider"]["budget"] = choice.terms.budget.left(spent)
    fault = (
        _config_problem(env)
        or _fault(paths, worker, health, room.warning, unreported)
        or (None if health else lost_database(home))
        or encoder_problem(home.settings)
        or (missing_vectors(index, worker) if index else None)
        or next((each for each in hooks if each.level == "fault"), None)
    )
    recovery_log.mark_seen(paths)
    found["problem"] = str(fault) if fault else None
    return found


def _config_problem(env: Mapping[str, str]) -> str | None:
    """A running worker keeps the settings that it could read."""
    try:
        wiring.home(env)
    except ConfigError as error:
        return str(error)
    return None


def worker_status(paths: Paths) -> Json | None:
    """None where none is running."""
    if rpc.running_pid(paths) is None:
        return None
    try:
        return rpc.status(paths)
    except WorkerError as error:
        return {"error": str(error), "fault": str(error)}


def _address(paths: Paths) -> str | None:
    """Of the viewer, as the running worker has noted it."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        noted = json.loads(paths.web_file.read_bytes())
        if noted["pid"] == rpc.running_pid(paths):
            return f"http://127.0.0.1:{int(noted['port'])}/"
    return None


def _fault(
    paths: Paths,
    worker: Json | None,
    health: Health | None,
    disk: str | None,
    lost: str | None,
) -> str | None:
    """What keeps it from recording, if anything does."""
    try:
        paths.make()
    except (OSError, ConfigError) as error:
        return f"aforesaid cannot use its folders: {error}. Run `aforesaid doctor`."
    if worker and (known := worker.get("problem") or worker.get("fault")):
        return str(known)
    if worker is None and (note := not_recording(paths)):
        return note
    return problem(paths, health or Health(), clock.now(), disk, lost)
