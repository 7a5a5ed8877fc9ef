"""How far the write-ahead log reaches, as SQLite notes it in the `-shm` file.

A log that was cut, overwritten or deleted after a crash is used up to where it is sound, without a word: the
commits behind that are gone. Whoever knows how far it reached before sees that.
https://sqlite.org/walformat.html#the_wal_index_header_format: 32-bit numbers in the machine's own order.
"""

import sqlite3
import struct
from contextlib import closing
from pathlib import Path

from recollect.store.files import Reach

HEADER = struct.Struct("=4s4sI2B1H II 8s 8s")  # the first of two copies, without its checksum
VERSION = struct.pack("=I", 3007000)


def reach(database: Path) -> Reach | None:
    """None while there is no log, or nothing is known of it."""
    try:
        with Path(f"{database}-shm").open("rb") as file:
            version, _, _, ready, _, _, frames, _, _, salt = HEADER.unpack(file.read(HEADER.size))
    except (OSError, struct.error):
        return None
    return Reach(salt.hex(), frames) if version == VERSION and ready else None


def lost(database: Path, known: Reach) -> bool:
    """Whether commits that were in the log are gone. Asked before anybody writes, after an end that was
    none; SQLite reads the log for us."""
    if known.frames == 0:
        return False
    log = Path(f"{database}-wal")
    if not log.exists() or log.stat().st_size == 0:
        return True
    uri = f"{database.absolute().as_uri()}?mode=ro"
    with closing(sqlite3.connect(uri, uri=True)) as connection:
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        now = reach(database)
    if now is None:
        return True
    return now.salt == known.salt and now.frames < known.frames
