"""How far the write-ahead log reaches, as SQLite notes it in the `-shm` file.

A log that was cut, overwritten or deleted after a crash is used up to where it is sound, without a word: the
commits behind that are gone. Whoever knows how far it reached before sees that.

SQLite's locks are on that file, and a process that closes any descriptor of it loses them all: another one
would take the database for closed, and cut the file under us. So it is opened once and closed last.
https://sqlite.org/walformat.html#the_wal_index_header_format: 32-bit numbers in the machine's own order.
"""

import os
import sqlite3
import struct
from contextlib import closing
from pathlib import Path

from recollect.store.files import Reach

HEADER = struct.Struct("=4s4sI2B1H II 8s 8s")  # the first of two copies, without its checksum
VERSION = struct.pack("=I", 3007000)


class WalIndex:
    """Of a database that this process has open; to be closed when nothing of it is."""

    def __init__(self, database: Path) -> None:
        self._path = Path(f"{database}-shm")
        self._descriptor: int | None = None

    def reach(self) -> Reach | None:
        """None while there is no log, or nothing is known of it."""
        try:
            if self._descriptor is None:
                self._descriptor = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
            found = HEADER.unpack(os.pread(self._descriptor, HEADER.size, 0))
        except (OSError, struct.error):
            return None
        version, _, _, ready, _, _, frames, _, _, salt = found
        return Reach(salt.hex(), frames) if version == VERSION and ready else None

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def lost(database: Path, known: Reach) -> bool:
    """Whether commits that were in the log are gone. Asked before this process opens it, after an end that
    was none; SQLite reads the log for us."""
    if known.frames == 0:
        return False
    log = Path(f"{database}-wal")
    if not log.exists() or log.stat().st_size == 0:
        return True
    uri = f"{database.absolute().as_uri()}?mode=ro"
    index = WalIndex(database)
    with closing(index), closing(sqlite3.connect(uri, uri=True)) as connection:
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        now = index.reach()
    if now is None:
        return True
    return now.salt == known.salt and now.frames < known.frames
