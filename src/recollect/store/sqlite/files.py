"""The database file and its companions, as `store/files.py` wants them."""

import os
from contextlib import closing
from pathlib import Path

from recollect.store.files import Contents, Log, Progress, Reach, Salvaged, nothing
from recollect.store.sqlite import checking, copying, tables, wal_index
from recollect.store.sqlite.salvage import salvage
from recollect.store.sqlite.store import SqliteStore


class SqliteFiles:
    def copy(self, source: Path, target: Path, progress: Progress = nothing) -> Contents:
        return copying.copy(source, target, progress)

    def check(self, path: Path) -> Contents:
        return copying.check(path)

    def version(self, path: Path) -> int:
        return copying.version(path)

    def newest_version(self) -> int:
        return tables.newest()

    def roll_back(self, path: Path) -> None:
        if self.parts(path)[-1].exists():
            checking.roll_back(path)

    def glance(self, path: Path) -> str | None:
        return checking.glance(path)

    def quick(self, path: Path, seconds: float) -> tuple[str | None, bool]:
        return checking.quick(path, seconds)

    def certain(self, path: Path) -> str | None:
        return checking.certain(path)

    def salvage(
        self, damaged: Path, backup: Path | None, target: Path, progress: Progress = nothing
    ) -> Salvaged | None:
        return salvage(damaged, backup, target, progress)

    def ready(
        self, path: Path, since: int | None = None, *, passed_over: int | None = None
    ) -> None:
        with closing(SqliteStore(path, writer=True)) as store:
            store.forget_index()
            if since is not None:
                store.read_transcripts_again(since)
            if passed_over is not None:
                store.pass_over_transcripts(passed_over)

    def log_of(self, database: Path) -> Log:
        return wal_index.WalIndex(database)

    def log_lost(self, database: Path, known: Reach) -> bool:
        return wal_index.lost(database, known)

    def newest_event(self, database: Path) -> int:
        return copying.newest_event(database)

    def parts(self, database: Path) -> tuple[Path, ...]:
        # The journal is there instead of a log where the file system is shared.
        ends = ("", "-wal", "-shm", "-journal")
        return tuple(Path(os.fspath(database) + end) for end in ends)
