"""What people and agents want forgotten. It leaves everything at once, search and briefs too, and is kept as
a record that can be put back; what was captured stays as it is.
"""

import json
import sqlite3
from typing import Any

from recollect.model.forgotten import Forgotten
from recollect.store.sqlite.database import Database, Row, write, write_one
from recollect.store.sqlite.values import file_name

Json = dict[str, Any]
PARTS = ("facts", "concepts", "files", "doubts", "events")


class ForgottenThings(Database):
    def forgotten(self, project_id: int) -> list[Forgotten]:
        """The latest first."""
        rows = self.rows("forgotten", "of_project", project_id=project_id)
        return [
            Forgotten(row["observation_id"], row["at"], json.loads(row["record"])["row"]["title"])
            for row in rows
        ]

    def forget_observation(self, observation_id: int, at: int) -> int | None:
        """How many went: it, and what was folded into it and would take its place. None: there is none."""
        with self.transaction() as connection:
            rows = write(connection, "forgotten", "with_folded", {"id": observation_id}).fetchall()
            if not rows or rows[0]["id"] != observation_id:
                return None
            records = [_record(connection, row) for row in rows]
            values = {
                "id": observation_id,
                "session_id": rows[0]["session_id"],
                "project_id": rows[0]["project_id"],
                "at": at,
                "record": json.dumps(records[0] | {"folded": records[1:]}),
            }
            write(connection, "forgotten", "add", values)
            for row in reversed(rows):
                write(connection, "forgotten", "remove", {"id": row["id"]})
                write(connection, "forgotten", "index_session", {"session_id": row["session_id"]})
            return len(rows)

    def restore_observation(self, observation_id: int) -> bool:
        """As it was, as far as what it hung on is still there."""
        with self.transaction() as connection:
            row = write_one(connection, "forgotten", "one", {"id": observation_id})
            if row is None:
                return False
            record = json.loads(row["record"])
            for each in (record, *record["folded"]):
                _put_back(connection, each)
            for each in (record, *record["folded"]):
                for follower in each["followers"]:
                    link = {"id": follower, "follows": each["row"]["id"]}
                    write(connection, "forgotten", "follow_again", link)
            write(connection, "forgotten", "drop", {"id": observation_id})
            return True


def _record(connection: sqlite3.Connection, row: Row) -> Json:
    """All of an observation, as JSON can hold it."""
    owner = {"id": row["id"]}
    parts = {
        part: [dict(found) for found in write(connection, "observations", part, owner).fetchall()]
        for part in PARTS
    }
    followers = write(connection, "forgotten", "followers", owner).fetchall()
    return {"row": dict(row), "followers": [found["id"] for found in followers]} | parts


def _put_back(connection: sqlite3.Connection, record: Json) -> None:
    row = write_one(connection, "forgotten", "put_back", record["row"])
    if row is None:
        return
    owner = {"observation_id": row["id"]}

    def add(noun: str, query: str, **values: object) -> None:
        write(connection, noun, query, owner | values)

    for number, fact in enumerate(record["facts"]):
        add("observations", "add_fact", ordinal=number, text=fact["text"])
    for concept in record["concepts"]:
        add("observations", "add_concept", concept=concept["concept"])
    for file in record["files"]:
        add("observations", "add_file", name=file_name(file["path"]), **file)
    for number, doubt in enumerate(record["doubts"]):
        add("observations", "add_doubt", ordinal=number, **doubt)
    for event in record["events"]:
        add("forgotten", "put_back_event", event_id=event["event_id"])
