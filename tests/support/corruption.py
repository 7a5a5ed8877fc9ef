"""Databases that are damaged in seeded ways, and what becomes of them: `python -m tests.support.corruption`.

A home is filled by a real worker, backed up, worked in again, and its worker killed, so that there is a log.
Each case gets a copy, damages it and starts a real worker on it. Then: is the database sound, does it take a
new session, what is missing, and was that said?
"""

import argparse
import os
import random
import re
import shutil
import signal
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from aforesaid import clock, wiring
from aforesaid.backups import recovery_log, repository
from aforesaid.errors import AforesaidError
from aforesaid.ids import digest
from aforesaid.paths import Paths
from aforesaid.worker import rpc
from tests.support import big_home
from tests.support.product import until, work

Damage = Callable[[random.Random, Path], None]
Rows = dict[str, dict[str, str]]  # by table: what is the same everywhere, and a digest of the rest
FLIPS = 50
QUERIES = {
    "sessions": "SELECT agent || ref, project_dir FROM sessions",
    "prompts": "SELECT s.ref || p.number, p.text FROM prompts p JOIN sessions s ON s.id = p.session_id",
    "events": "SELECT s.ref || e.key, e.body FROM events e JOIN sessions s ON s.id = e.session_id",
    "observations": "SELECT id, coalesce(title, '') || coalesce(narrative, '') FROM observations",
    "summaries": "SELECT id, coalesce(request, '') || coalesce(learned, '') FROM summaries",
}


@dataclass(frozen=True, slots=True)
class Result:
    """`stated`: what the user was told, or None. `altered`: rows whose content is another one than it was;
    nobody can see that, as SQLite keeps no checksums."""

    seed: int
    damage: str
    stated: str | None
    lost: dict[str, int]
    altered: int
    sound: bool
    usable: bool
    seconds: float

    @property
    def is_well(self) -> bool:
        return self.sound and self.usable and (self.stated is not None or not self.lost)


def flip(chance: random.Random, database: Path, count: int = FLIPS, first: int = 0) -> None:
    size = database.stat().st_size
    with database.open("r+b") as file:
        for _ in range(count):
            place = chance.randrange(first, size)
            file.seek(place)
            old = file.read(1)[0]
            file.seek(place)
            file.write(bytes([old ^ (1 << chance.randrange(8))]))


def overwrite(chance: random.Random, file: Path, first: int, size: int) -> None:
    with file.open("r+b") as opened:
        opened.seek(first)
        opened.write(chance.randbytes(size))


def cut(chance: random.Random, file: Path) -> None:
    os.truncate(file, chance.randrange(1, file.stat().st_size))


def zero_run(chance: random.Random, database: Path) -> None:
    first = chance.randrange(database.stat().st_size - 65_536)
    with database.open("r+b") as file:
        file.seek(first)
        file.write(bytes(65_536))


def garble_schema(chance: random.Random, database: Path, count: int = 20) -> None:
    """Letters of the schema become bytes that no text has; SQLite quotes them in its errors."""
    data = bytearray(database.read_bytes())
    tables = [found.start() for found in re.finditer(rb"CREATE (?:TABLE|INDEX|TRIGGER) ", data)]
    for _ in range(count):
        data[chance.choice(tables) + chance.randrange(14, 120)] |= 0x80
    database.write_bytes(data)


def lose_log_and_index(database: Path) -> None:
    for end in ("-wal", "-shm"):
        Path(f"{database}{end}").unlink()


def log_of(database: Path) -> Path:
    return Path(f"{database}-wal")


DAMAGES: dict[str, Damage] = {
    "50 bits flipped": flip,
    "50 bits flipped, header spared": lambda chance, file: flip(chance, file, FLIPS, 4096),
    "1 bit flipped": lambda chance, file: flip(chance, file, 1),
    "truncated": cut,
    "0 bytes": lambda _, file: os.truncate(file, 0),
    "64 KB of zeros": zero_run,
    "64 KB of garbage": lambda chance, file: overwrite(
        chance, file, chance.randrange(file.stat().st_size - 65_536), 65_536
    ),
    "log lost": lambda _, file: log_of(file).unlink(),
    "log truncated": lambda chance, file: cut(chance, log_of(file)),
    "log garbled": lambda chance, file: flip(chance, log_of(file), 5),
    "log and index lost": lambda _, file: lose_log_and_index(file),
    "-shm lost": lambda _, file: Path(f"{file}-shm").unlink(),
    "-shm garbled": lambda chance, file: overwrite(chance, Path(f"{file}-shm"), 0, 4096),
    "header garbled": lambda chance, file: overwrite(chance, file, 0, 100),
    "first page garbled": lambda chance, file: overwrite(chance, file, 100, 3996),
    "all garbage": lambda chance, file: overwrite(chance, file, 0, file.stat().st_size),
    "file lost": lambda _, file: file.unlink(),
    "tables garbled": garble_schema,
}


def cases(count: int) -> Iterator[tuple[int, str]]:
    """All kinds in turn, those with chance in them more often than not with another seed."""
    names = list(DAMAGES)
    for seed in range(count):
        yield seed, names[seed % len(names)]


def template(folder: Path, *, sessions: int = 20) -> Path:
    """A home whose worker was killed. It must not move: sessions name their directories."""
    home = folder / "home"
    big_home.make(home, sessions=sessions, per_session=25)
    project = folder / "work" / "later"
    project.mkdir()
    with using(home) as paths:
        rpc.start(paths)
        work(project, "before-the-backup")
        quiet(paths)
        wiring.backup_repository(wiring.home(), clock.now).make(repository.DAILY, 3)
        for number in range(6):
            work(project, f"after-the-backup-{number}")
        quiet(paths)
        kill(paths)
    return home


def run(home: Path, seed: int, damage: str, copy: Path) -> Result:
    """One case, in a copy of the home that is thrown away."""
    shutil.copytree(home, copy, symlinks=True)
    truth = rows_of(_merged_copy(home, copy.parent))
    DAMAGES[damage](random.Random(seed), copy / "aforesaid.db")
    began = time.monotonic()
    with using(copy) as paths:
        try:
            _start(paths)
            quiet(paths)
            seconds = time.monotonic() - began
            stated = recovery_log.unseen_message(paths)
            now = rows_of(paths.database)
            usable = _takes_a_session(paths, copy.parent / "project")
            sound = _is_sound(paths.database)
        finally:
            rpc.stop(paths)
    lost = {table: len(set(truth[table]) - set(now[table])) for table in truth}
    altered = sum(now[t].get(key, was) != was for t in truth for key, was in truth[t].items())
    shutil.rmtree(copy)
    missing = {table: count for table, count in lost.items() if count}
    return Result(seed, damage, stated, missing, altered, sound, usable, seconds)


def run_all(folder: Path, count: int) -> Iterator[Result]:
    """For whoever wants them all; each is judged by `is_well`."""
    home = template(folder)
    for seed, damage in cases(count):
        yield run(home, seed, damage, folder / f"case-{seed}")


@contextmanager
def using(home: Path) -> Iterator[Paths]:
    """In this process and those that it starts. Transcripts are looked for where there are none."""
    names = ("AFORESAID_HOME", "CLAUDE_CONFIG_DIR")
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(AFORESAID_HOME=str(home), CLAUDE_CONFIG_DIR=str(home / "no-client"))
    try:
        yield Paths.of(os.environ)
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def quiet(paths: Paths) -> None:
    """Until the worker, or the one that took its place, has nothing left to do."""
    quiet_for = 0

    def is_quiet() -> bool:
        nonlocal quiet_for
        try:
            quiet_for = quiet_for + 1 if rpc.status(paths)["idle"] else 0
        except AforesaidError:
            quiet_for = 0
        return quiet_for > 5

    until(is_quiet, seconds=120)


def kill(paths: Paths) -> None:
    pid = rpc.running_pid(paths)
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    until(lambda: rpc.running_pid(paths) is None)
    for file in (paths.pid_file, paths.socket):
        file.unlink(missing_ok=True)


def rows_of(database: Path) -> Rows:
    """A database without a table has none of its rows."""
    with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)) as connection:
        connection.text_factory = bytes
        return {table: dict(_read(connection, query)) for table, query in QUERIES.items()}


def _read(connection: sqlite3.Connection, query: str) -> Iterator[tuple[str, str]]:
    for key, value in connection.execute(query):
        named = key.decode("utf-8", "replace") if isinstance(key, bytes) else str(key)
        yield named, digest(value)


def _merged_copy(home: Path, folder: Path) -> Path:
    """The database with its log, as a reader sees it; the original is not touched by that."""
    target = folder / "truth.db"
    if not target.exists():
        scratch = folder / "truth"
        scratch.mkdir()
        for part in home.glob("aforesaid.db*"):
            shutil.copy(part, scratch)
        with (
            closing(sqlite3.connect(scratch / "aforesaid.db")) as source,
            closing(sqlite3.connect(target)) as copied,
        ):
            source.backup(copied)
    return target


def _start(paths: Paths) -> None:
    """As a user would, who was told that the worker does not answer yet."""
    end = time.monotonic() + 60
    while True:
        try:
            rpc.start(paths)
            return
        except AforesaidError:
            if time.monotonic() > end:
                raise
            time.sleep(0.2)


def _takes_a_session(paths: Paths, project: Path) -> bool:
    project.mkdir(exist_ok=True)
    name = f"after-the-damage-{paths.data.name}"
    work(project, name)
    quiet(paths)
    return any(name in key for key in rows_of(paths.database)["prompts"])


def _is_sound(database: Path) -> bool:
    with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)) as connection:
        found = connection.execute("PRAGMA integrity_check").fetchall()
        return found == [("ok",)] and not connection.execute("PRAGMA foreign_key_check").fetchall()


def _print(results: Iterable[Result]) -> bool:
    well = True
    out = sys.stdout.write
    out("| case | damage | told | lost | altered | sound | usable | seconds | well |\n")
    out("|---|---|---|---|---|---|---|---|---|\n")
    for one in results:
        lost = ", ".join(f"{count} {table}" for table, count in one.lost.items()) or "0"
        told = "yes" if one.stated else "no need" if not one.lost else "NO"
        out(
            f"| {one.seed} | {one.damage} | {told} | {lost} | {one.altered} | {one.sound} "
            f"| {one.usable} | {one.seconds:.1f} | {one.is_well} |\n"
        )
        sys.stdout.flush()
        well = well and one.is_well
    return well


def main() -> int:
    parser = argparse.ArgumentParser(description="Damage databases; see what becomes of them.")
    parser.add_argument("--cases", type=int, default=50)
    with tempfile.TemporaryDirectory(prefix="aforesaid-corruption-") as folder:
        return 0 if _print(run_all(Path(folder), parser.parse_args().cases)) else 1


if __name__ == "__main__":
    sys.exit(main())
