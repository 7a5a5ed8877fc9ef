"""When something was last kept from being remembered: a pause, an erasure. In `run/withheld.json`.

What exactly is in the database, so that transcripts do not bring it back. With a database that part can get
lost; then transcripts are not read unasked unless a backup knows all of it.
"""

import json
from collections.abc import Iterable
from typing import Any

from recollect.ids import digest
from recollect.paths import Paths, write_private


def note_pauses(paths: Paths, pauses: Iterable[object], now: int) -> None:
    """If they are others than before."""
    told = "\n".join(map(repr, pauses))
    known = _read(paths)
    if told and known.get("pauses") != digest(told):
        _write(paths, known | {"pauses": digest(told), "at": now})


def note_erasure(paths: Paths, now: int) -> None:
    _write(paths, _read(paths) | {"at": now})


def last(paths: Paths) -> int | None:
    """None: never."""
    found = _read(paths).get("at")
    return found if isinstance(found, int) else None


def _read(paths: Paths) -> dict[str, Any]:
    try:
        found = json.loads(paths.withheld_file.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError):
        return {"at": 2**53}  # nobody knows: nothing is read unasked
    return found if isinstance(found, dict) else {}


def _write(paths: Paths, known: dict[str, Any]) -> None:
    write_private(paths.withheld_file, json.dumps(known).encode())
