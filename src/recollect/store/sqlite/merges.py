"""Observations folded into others on a person's word, and taken out again.

A merge is kept as what was said; what comes of all of them is worked out by `folds.py`, and written into the
observations where it differs. Search, briefs and links follow by themselves: what is folded is found through
the other.
"""

import json
import sqlite3
from collections.abc import Iterable

from recollect.model.merges import Merge, Merged, Unmergeable
from recollect.store.sqlite.database import Database, Row, write, write_one
from recollect.store.sqlite.folds import Folds, State, Word, fold

FIELDS = ("repeats", "follows", "pinned")


class Merges(Database):
    def merge_of(self, observation_id: int) -> Merge | None:
        """How it came to be folded, if a person did it."""
        row = self.row("merges", "one", id=observation_id)
        return Merge(row["observation_id"], row["into_id"], row["at"]) if row else None

    def merge(self, observation_id: int, into: int, at: int) -> Merged | Unmergeable:
        """Folds one into another, with all that was folded into it. A second time changes nothing."""
        with self.transaction() as connection:
            one, other = (_row(connection, key) for key in (observation_id, into))
            if one is None or other is None:
                missing = observation_id if one is None else into
                return Unmergeable(f"There is no observation #{missing}.")
            if why := _why_not(one, other):
                return Unmergeable(why)
            known = write_one(connection, "merges", "one", {"id": observation_id})
            if known is not None and known["into_id"] == one["repeats"] in (into, other["repeats"]):
                return Merged(observation_id, known["into_id"])
            write(connection, "merges", "drop", {"id": observation_id})
            before = settle(connection, (observation_id, into))
            if before.root(into) == observation_id:  # they change places, whoever has said what
                write(connection, "merges", "drop", {"id": into})
                before = settle(connection, (observation_id, into))
            root = before.root(into)
            said = {"observation_id": observation_id, "at": at}
            said["into_id"] = root = into if root == observation_id else root
            write(connection, "merges", "add", said)
            settle(connection, (observation_id, root))
        moved = [each.id for each in before.states.values() if each.repeats == observation_id]
        return Merged(observation_id, root, tuple(sorted({*moved} - {root})))

    def unmerge(self, observation_id: int) -> Merged | None:
        """As if nobody had merged it, into this or into what it was merged into before. None: nobody has."""
        with self.transaction() as connection:
            row = write_one(connection, "merges", "one", {"id": observation_id})
            if row is None:
                return None
            write(connection, "merges", "drop", {"id": observation_id})
            settle(connection, (observation_id, row["into_id"]))
            return Merged(observation_id, row["into_id"])


def settle(connection: sqlite3.Connection, keys: Iterable[int]) -> Folds:
    """Puts what was said into the observations. `keys`: those that something has happened to."""
    rows = _states(connection, keys)
    folds = fold(map(_own, rows.values()), _words(connection))
    for word in folds.overruled:
        write(connection, "merges", "drop", {"id": word.one})
    for key, row in rows.items():
        state = folds.states[key]
        now = {"repeats": state.repeats, "follows": state.follows, "pinned": int(state.pinned)}
        alone = _own_fields(row)
        if now != {name: row[name] for name in FIELDS}:
            write(connection, "merges", "set", now | {"id": key})
        if now != alone:
            write(connection, "merges", "note", alone | {"id": key})
        elif row["noted"]:
            write(connection, "merges", "unnote", {"id": key})
    return folds


def own(connection: sqlite3.Connection, key: int) -> dict[str, int | None]:
    """What an observation would be without the merges: what it repeats and follows, whether it is pinned."""
    return _own_fields(_state(connection, key))


def set_own(connection: sqlite3.Connection, key: int, **values: int | None) -> None:
    """Whoever calls settles it."""
    row = _state(connection, key)
    changed = _own_fields(row) | values | {"id": key}
    write(connection, "merges", "note" if row["noted"] else "set", changed)


def pinned_through(connection: sqlite3.Connection, key: int) -> list[int]:
    """Whose pins it bears, because they were merged into it."""
    rows = _states(connection, (key,)).values()
    behind = [row for row in rows if row["repeats"] == key and not row["pinned"]]
    return [row["id"] for row in behind if row["own_pinned"]]


def _words(connection: sqlite3.Connection) -> list[Word]:
    """All of them: people say little."""
    rows = write(connection, "merges", "all", {}).fetchall()
    return [Word(row["id"], row["observation_id"], row["into_id"]) for row in rows]


def _states(connection: sqlite3.Connection, keys: Iterable[int]) -> dict[int, Row]:
    """Of all that a merge may change or depends on, and of `keys`."""
    said = {key for word in _words(connection) for key in (word.one, word.into)}
    changed = {row["id"] for row in write(connection, "merges", "changed", {}).fetchall()}
    ids = {*keys} | said | changed
    hanging = write(connection, "merges", "hanging", {"ids": json.dumps(sorted(ids))}).fetchall()
    ids |= {row["id"] for row in hanging}
    found: dict[int, Row] = {}
    while ids:
        rows = write(connection, "merges", "states", {"ids": json.dumps(sorted(ids))}).fetchall()
        found |= {row["id"]: row for row in rows}
        targets = {row[name] for row in rows for name in ("repeats", "own_repeats")}
        ids = targets - found.keys() - {None}
    return found


def _state(connection: sqlite3.Connection, key: int) -> Row:
    row = write_one(connection, "merges", "states", {"ids": json.dumps([key])})
    assert row is not None
    return row


def _own_fields(row: Row) -> dict[str, int | None]:
    return {name: row[f"own_{name}"] for name in FIELDS}


def _own(row: Row) -> State:
    links = (row["own_repeats"], row["own_follows"])
    return State(row["id"], row["at"], *links, pinned=bool(row["own_pinned"]))


def _row(connection: sqlite3.Connection, key: int) -> Row | None:
    return write_one(connection, "observations", "one", {"id": key})


def _why_not(one: Row, other: Row) -> str | None:
    if one["id"] == other["id"]:
        return f"#{one['id']} cannot be merged into itself. Name another observation."
    if one["project_id"] != other["project_id"]:
        of_two = f"#{one['id']} and #{other['id']} are of two projects"
        return f"{of_two}. Only what one project remembers is merged."
    return None
