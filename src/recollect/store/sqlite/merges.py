"""Observations folded into others on a person's word, and taken out again.

What a merge changes is noted with what it was before, field by field. Taking it back puts back what nobody
has changed since. Search, briefs and links follow by themselves: what is folded is found through the other.
"""

import json
import sqlite3

from recollect.model.merges import Merge, Merged, Unmergeable
from recollect.store.sqlite.database import Database, Row, write, write_one

Value = int | None
Changed = tuple[int, str, Value, Value]  # whose, which field, before, after


class Merges(Database):
    def merge_of(self, observation_id: int) -> Merge | None:
        """How it came to be folded, if a person did it."""
        row = self.row("merges", "one", id=observation_id)
        return Merge(row["observation_id"], row["into_id"], row["at"]) if row else None

    def merge(self, observation_id: int, into: int, at: int) -> Merged | Unmergeable:
        """Folds one into another, with all that was folded into it. A second time changes nothing."""
        with self.transaction() as connection:
            one, other = (_row(connection, key) for key in (observation_id, into))
            if other is not None and other["repeats"] not in (None, observation_id):
                other = _row(connection, other["repeats"])
            if one is None or other is None:
                return Unmergeable(
                    f"There is no observation #{observation_id if not one else into}."
                )
            if why := _why_not(one, other):
                return Unmergeable(why)
            known = write_one(connection, "merges", "one", {"id": one["id"]})
            if known is not None and known["into_id"] == one["repeats"] == other["id"]:
                return Merged(one["id"], other["id"])
            if known is not None:  # somebody has thought better of it
                _take_back(connection, known)
                one, other = (_row(connection, row["id"]) for row in (one, other))
                assert one is not None
                assert other is not None
            changes = _fold(connection, one, other)
            values = {"observation_id": one["id"], "into_id": other["id"], "at": at}
            write(connection, "merges", "add", values | {"changes": json.dumps(changes)})
        moved = (key for key, field, _, _ in changes if field == "repeats")
        own = (one["id"], other["id"])
        return Merged(one["id"], other["id"], tuple(key for key in moved if key not in own))

    def unmerge(self, observation_id: int) -> Merged | None:
        """As they were before. None: nobody has merged it."""
        with self.transaction() as connection:
            row = write_one(connection, "merges", "one", {"id": observation_id})
            if row is None:
                return None
            _take_back(connection, row)
            return Merged(observation_id, row["into_id"])


def _take_back(connection: sqlite3.Connection, merge: Row) -> None:
    """Backwards: whoever was folded last stands first again."""
    one = _row(connection, merge["observation_id"])
    for key, field, before, after in reversed(json.loads(merge["changes"])):
        values = {"id": key, "before": before, "after": after}
        if one is not None and (key, field) == (one["id"], "repeats"):
            values["after"] = one["repeats"]  # wherever it went with the other one since
        write(connection, "merges", f"back_{field}", values)
    write(connection, "merges", "drop", {"id": merge["observation_id"]})


def _row(connection: sqlite3.Connection, key: int) -> Row | None:
    return write_one(connection, "observations", "one", {"id": key})


def _why_not(one: Row, other: Row) -> str | None:
    if one["id"] == other["id"]:
        return f"#{one['id']} cannot be merged into itself. Name another observation."
    if one["project_id"] != other["project_id"]:
        of_two = f"#{one['id']} and #{other['id']} are of two projects"
        return f"{of_two}. Only what one project remembers is merged."
    return None


def _fold(connection: sqlite3.Connection, one: Row, other: Row) -> list[Changed]:
    """What was changed, in this order."""
    key, into = one["id"], other["id"]
    pair = {"id": key, "into": into, "at": other["at"]}
    changes: list[Changed] = []
    if other["repeats"] is not None:  # they change places
        changes.append((into, "repeats", other["repeats"], None))
    for row in write(connection, "merges", "folded", pair).fetchall():
        changes.append((row["id"], "repeats", key, into))
    changes.append((key, "repeats", one["repeats"], into))
    for row in write(connection, "merges", "followers", pair).fetchall():
        changes.append((row["id"], "follows", key, into))
    if one["pinned"]:
        changes.append((key, "pinned", 1, 0))
        if not other["pinned"]:
            changes.append((into, "pinned", 0, 1))
    for whose, field, _, after in changes:
        write(connection, "merges", f"set_{field}", {"id": whose, "value": after})
    return changes
