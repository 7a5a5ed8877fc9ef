"""A database that has all migrations and no rows. They are run once for a process, then the file is copied:
what most tests are about begins after them. Those of the migrations themselves begin with no file."""

import os
import tempfile
from functools import cache
from pathlib import Path

from aforesaid.paths import PRIVATE_FILE, private_dir
from aforesaid.store.store import Store


def laid(path: Path) -> Path:
    """The same path, with a database where there was no file."""
    private_dir(path.parent)
    if not path.exists():
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, PRIVATE_FILE)
        with os.fdopen(descriptor, "wb") as file:
            file.write(_database())
    return path


@cache
def _database() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "aforesaid.db")
        Store(path, writer=True).close()
        return path.read_bytes()
