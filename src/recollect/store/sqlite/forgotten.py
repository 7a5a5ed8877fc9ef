"""What people and agents want forgotten. It leaves everything at once, search and briefs too, and is kept as
a record that can be put back; what was captured stays as it is.
"""

import json
import sqlite3
from collections.abc import Iterable
from typing import Any

from recollect.model.forgotten import Forgotten
from recollect.model.listings import TOP, Cursor
from recollect.store.sqlite import merges, parted
from recollect.store.sqlite.database import Database, Row, write, write_one
from recollect.store.sqlite.editing import put_back_words
from recollect.store.sqlite.values import file_name

Json = dict[str, Any]
PARTS = ("facts", "concepts", "files", "doubts", "events")
UNKNOWN = {"confirmed": 0, "origins": None, "sources": None}  # in records of older releases
HANGING = {"followers": "follows", "repeaters": "repeats"}  # who hangs on it, by which link


class ForgottenThings(Database):
    def forgotten(self, project_id: int) -> list[Forgotten]:
        """The latest first."""
        rows = self.rows("forgotten", "of_project", project_id=project_id)
        return [_forgotten(row) for row in rows]

    def forgotten_page(
        self, project_ids: Iterable[int], before: Cursor | None, limit: int
    ) -> list[Forgotten]:
        """The latest first, of these projects; the cursor is (at, observation_id)."""
        at, key = before or TOP
        found = [
            _forgotten(row)
            for project_id in project_ids
            for row in self.rows(
                "forgotten", "page", project_id=project_id, at=at, id=key, limit=limit
            )
        ]
        return sorted(found, key=lambda each: (-each.at, -each.observation_id))[:limit]

    def was_forgotten(self, observation_id: int) -> Forgotten | None:
        row = self.row("forgotten", "one", id=observation_id)
        return _forgotten(row) if row else None

    def forget_observation(self, observation_id: int, at: int) -> int | None:
        """How many went: it, and what says the same and would take its place. None: there is none."""
        with self.transaction() as connection:
            ids = with_folded(connection, observation_id)
            rows = write(connection, "forgotten", "named", {"ids": json.dumps(ids)}).fetchall()
            if not rows:
                return None
            rows.sort(key=lambda row: row["id"] != observation_id)
            records = [_record(connection, row) for row in rows]
            said = write(connection, "merges", "of_observations", {"ids": json.dumps(ids)})
            values = {
                "id": observation_id,
                "session_id": rows[0]["session_id"],
                "project_id": rows[0]["project_id"],
                "at": at,
                "record": json.dumps(
                    records[0] | {"folded": records[1:], "merges": _dicts(said.fetchall())}
                ),
            }
            write(connection, "forgotten", "add", values)
            for row in reversed(rows):
                write(connection, "forgotten", "remove", {"id": row["id"]})
                write(connection, "forgotten", "index_session", {"session_id": row["session_id"]})
            merges.settle(connection, ())
            return len(rows)

    def restore_observation(self, observation_id: int) -> bool:
        """As it was, as far as what it hung on is still there, or comes back."""
        with self.transaction() as connection:
            row = write_one(connection, "forgotten", "one", {"id": observation_id})
            if row is None:
                return False
            record = json.loads(row["record"])
            every = (record, *record["folded"])
            for each in every:
                _put_back(connection, each)
            for each in every:
                _note_links(connection, each)
            write(connection, "forgotten", "drop", {"id": observation_id})
            parted.join(connection)
            for merge in record.get("merges", ()):
                parted.put_back_merge(connection, merge)
            merges.settle(connection, [each["row"]["id"] for each in every])
            return True


def with_folded(connection: sqlite3.Connection, observation_id: int) -> list[int]:
    """It, and what is folded into it, or would be if it stood by itself."""
    found, new = {observation_id}, {observation_id}
    while new:
        ids = json.dumps(sorted(new))
        rows = write(connection, "forgotten", "folded_into", {"ids": ids}).fetchall()
        new = {row["id"] for row in rows} - found
        found |= new
    return sorted(found)


def _forgotten(row: Row) -> Forgotten:
    title = json.loads(row["record"])["row"]["title"]
    return Forgotten(row["observation_id"], row["at"], title, row["project_id"], row["session_id"])


def _dicts(rows: list[Row]) -> list[Json]:
    return [dict(row) for row in rows]


def _record(connection: sqlite3.Connection, row: Row) -> Json:
    """All of an observation, as JSON can hold it."""
    owner = {"id": row["id"]}
    parts = {
        part: _dicts(write(connection, "observations", part, owner).fetchall()) for part in PARTS
    }
    hanging = {
        name: [found["id"] for found in write(connection, "forgotten", name, owner).fetchall()]
        for name in HANGING
    }
    return {
        "row": dict(row) | merges.own(connection, row["id"]),
        "edits": _dicts(write(connection, "observations", "edits", owner).fetchall()),
    } | (hanging | parts)


def _put_back(connection: sqlite3.Connection, record: Json) -> None:
    row = write_one(connection, "forgotten", "put_back", UNKNOWN | record["row"])
    if row is None:
        return
    owner = {"observation_id": row["id"]}

    put_back_words(connection, row["id"], record)
    for file in record["files"]:
        values = owner | file | {"name": file_name(file["path"])}
        write(connection, "observations", "add_file", values)
    for event in record["events"]:
        write(connection, "forgotten", "put_back_event", owner | event)
    for edit in record.get("edits", ()):
        write(connection, "observations", "put_back_edit", edit)


def _note_links(connection: sqlite3.Connection, record: Json) -> None:
    """What it hung on, and what hung on it."""
    key = record["row"]["id"]
    for link in ("repeats", "follows"):
        parted.note_link(connection, key, link, record["row"][link])
    for name, link in HANGING.items():
        for each in record.get(name, ()):
            parted.note_link(connection, each, link, key)
