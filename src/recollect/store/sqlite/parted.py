"""Links and merges whose other end is not there: they wait, and hold again when it comes back."""

import json
import sqlite3
from typing import Any

from recollect.store.sqlite import merges
from recollect.store.sqlite.database import write, write_one

Json = dict[str, Any]


def note_link(connection: sqlite3.Connection, key: int, link: str, target: int | None) -> None:
    """Whoever calls joins."""
    if target is not None:
        write(connection, "parted", "add", {"id": key, "link": link, "target": target})


def join(connection: sqlite3.Connection) -> None:
    """Links whose two ends are there. Who has another by now keeps that."""
    for row in write(connection, "parted", "joinable", {}).fetchall():
        key, link = row["observation_id"], row["link"]
        if merges.own(connection, key)[link] is None:
            merges.set_own(connection, key, **{link: row["target"]})
        write(connection, "parted", "drop", {"id": key, "link": link})


def put_back_merge(connection: sqlite3.Connection, merge: Json) -> None:
    """A merge is kept with what was forgotten last of the two. If that is gone for good, so is the merge."""
    for key in (merge["observation_id"], merge["into_id"]):
        if write_one(connection, "observations", "one", {"id": key}) is None:
            values = {"missing": key, "merge": json.dumps(merge)}
            write(connection, "parted", "leave_merge", values)
            return
    write(connection, "parted", "put_back_merge", merge)
