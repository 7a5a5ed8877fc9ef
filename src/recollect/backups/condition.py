"""How the database was left, beside it in `run/database.json`.

A worker that ends well says so, with the file's size and time: then a glance is enough the next time. One
that was killed cannot; but it has noted how far the log reached, so that commits that got lost are noticed.
It is a hint and no more: whatever it cannot tell is looked up in the database itself.
"""

import json
import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from recollect.paths import Paths, write_private
from recollect.store.files import Reach


@dataclass(frozen=True, slots=True)
class Condition:
    """`suspected`: why somebody at work thought the file damaged. `cleared_at`: when such a suspicion last
    turned out to be none."""

    open: bool = True
    size: int = 0
    modified_ns: int = 0
    log: Reach | None = None
    events: int = 0
    at: int = 0
    suspected: str | None = None
    cleared_at: int = 0

    def closed_well(self, database: Path) -> bool:
        """And nobody has touched the file since."""
        try:
            found = database.stat()
        except OSError:
            return False
        known = not self.open and not self.suspected
        return known and (self.size, self.modified_ns) == (found.st_size, found.st_mtime_ns)


def read(paths: Paths) -> Condition | None:
    """None: nothing is known."""
    try:
        found: dict[str, Any] = json.loads(paths.condition_file.read_bytes())
        log = found.pop("log")
        return Condition(**found, log=Reach(**log) if log else None)
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


def write(paths: Paths, condition: Condition) -> None:
    write_private(paths.condition_file, json.dumps(asdict(condition)).encode())


def closed(paths: Paths, condition: Condition) -> None:
    """Once it is. A log that is still there belongs to a reader, and is part of what was left."""
    found = os.stat(paths.database)  # noqa: PTH116 - it is there, or this is an error
    write(
        paths,
        replace(condition, open=False, size=found.st_size, modified_ns=found.st_mtime_ns, log=None),
    )
