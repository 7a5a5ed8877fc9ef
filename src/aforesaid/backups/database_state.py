"""What is known of the database outside of it, in `run/`: how it was left, and when something was excluded.

`database.json`: a worker that shuts down cleanly says so, with the file's size and time; then nothing is
checked the next time. One that was killed has noted the newest event: lost commits are noticed.

`exclusions`: its time is when something was last paused or purged. What exactly is in the database, so that
transcripts do not bring it back. If the database is lost, transcripts are not read automatically unless a
backup is newer than the last exclusion.
"""

import json
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from aforesaid.clock import MINUTE
from aforesaid.paths import PRIVATE_FILE, Paths, write_private

AGAIN_MINUTES = 10  # damage that returns within them is a failing disk


@dataclass(frozen=True, slots=True)
class DatabaseState:
    """`suspected`: why the file seemed damaged. `cleared_at`: when that was last wrong."""

    open: bool = True
    size: int = 0
    modified_ns: int = 0
    events: int = 0
    suspected: str | None = None
    cleared_at: int = 0

    def is_clean(self, database: Path) -> bool:
        """It was closed, and nobody has touched the file since."""
        try:
            found = database.stat()
        except OSError:
            return False
        known = not self.open and not self.suspected
        return known and (self.size, self.modified_ns) == (found.st_size, found.st_mtime_ns)


def load(paths: Paths) -> DatabaseState | None:
    with suppress(OSError, ValueError, TypeError):
        return DatabaseState(**json.loads(paths.database_state_file.read_bytes()))
    return None


def save(paths: Paths, state: DatabaseState) -> None:
    write_private(paths.database_state_file, json.dumps(asdict(state)).encode())


def save_closed(paths: Paths, state: DatabaseState) -> None:
    """Once the database is closed."""
    found = paths.database.stat()
    closed = replace(state, open=False, size=found.st_size, modified_ns=found.st_mtime_ns)
    save(paths, closed)


def note_suspicion(paths: Paths, why: str, now: int) -> bool:
    """Whether to restart and check every row: not if that has just found nothing."""
    known = load(paths) or DatabaseState()
    if now - known.cleared_at < AGAIN_MINUTES * MINUTE:
        return False
    save(paths, replace(known, suspected=why))
    return True


def record_exclusion(paths: Paths) -> None:
    """Something was paused or purged just now."""
    paths.exclusions_file.touch(PRIVATE_FILE)


def last_exclusion(paths: Paths) -> int | None:
    try:
        return paths.exclusions_file.stat().st_mtime_ns // 1_000_000
    except FileNotFoundError:
        return None
