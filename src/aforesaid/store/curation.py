"""What people do with observations: edit, pin, merge, hide, confirm. All of it can be undone.

A merge is stored as a statement ("one says what the other says"), and hiding as a column. What follows from
all of them together is computed by `_fold` and written into `repeats`, `follows` and `pinned`; `own_links`
keeps what an observation would have without merges and hidden targets. So undoing anything in any order
leaves what would be there without it. Files and evidence are never edited: they are what happened.
"""

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from aforesaid.model.observations import (
    FALLBACK_TYPE,
    TYPES,
    Doubt,
    HiddenObservation,
    Merge,
    Merged,
    ObservationDraft,
    Unmergeable,
)
from aforesaid.model.sessions import TOP, Cursor
from aforesaid.store.database import Part, Row, write, write_one
from aforesaid.store.jobs import add_doubts, add_words
from aforesaid.store.values import columns

Json = dict[str, Any]
TEXTS = ("type", "title", "subtitle", "narrative", "edited")
PARTS = ("facts", "concepts", "doubts")
LINKS = ("repeats", "follows", "pinned")


class Curation(Part):
    def edit(self, observation_id: int, draft: ObservationDraft) -> bool:
        """Replaces its words; it is no longer doubted nor folded. False: there is none."""
        with self._db.transaction() as connection:
            row = _read(connection, observation_id)
            if row is None:
                return False
            before = json.dumps(_before_edit(connection, row))
            write(connection, "observations", "add_edit", {"id": observation_id, "before": before})
            write(connection, "merges", "drop", {"id": observation_id})
            _set_own(connection, observation_id, repeats=None)
            kind = draft.type if draft.type in TYPES else FALLBACK_TYPE
            _set_words(connection, observation_id, columns(draft) | {"type": kind, "edited": 1})
            add_words(connection, observation_id, draft.facts, draft.concepts)
            settle(connection, (observation_id,))
            return True

    def undo_edit(self, observation_id: int) -> bool:
        """As before the last edit; merged again only if it was not merged since. False: there is no edit
        to undo."""
        with self._db.transaction() as connection:
            edit = write_one(connection, "observations", "last_edit", {"id": observation_id})
            if edit is None:
                return False
            before = json.loads(edit["before"])
            _set_words(connection, observation_id, before["texts"])
            add_words(connection, observation_id, before["facts"], before["concepts"])
            doubts = (Doubt(*each) for each in before["doubts"])
            add_doubts(connection, "observations", observation_id, doubts)
            target = write_one(connection, "merges", "existing", {"id": before["repeats"]})
            _set_own(connection, observation_id, repeats=target["id"] if target else None)
            if before["merge"]:
                write(connection, "merges", "put_back", before["merge"])
            write(connection, "observations", "drop_edit", {"id": edit["id"]})
            settle(connection, (observation_id,))
            return True

    def count_edits(self, observation_id: int) -> int:
        return self._db.number("observations", "how_many_edits", id=observation_id)

    def pin(self, observation_id: int, *, pinned: bool) -> bool:
        """Unpinning also unpins what was merged into it. False: there is no such observation."""
        with self._db.transaction() as connection:
            if _read(connection, observation_id) is None:
                return False
            states = _states(connection, (observation_id,)).values()
            merged = [each for each in states if each["repeats"] == observation_id]
            through = [each["id"] for each in merged if each["own_pinned"] and not each["pinned"]]
            for key in (observation_id, *(() if pinned else through)):
                _set_own(connection, key, pinned=int(pinned))
            settle(connection, (observation_id,))
            return True

    def get_merge(self, observation_id: int) -> Merge | None:
        row = self._db.row("merges", "one", id=observation_id)
        return Merge(row["observation_id"], row["into_id"], row["at"]) if row else None

    def merge(self, observation_id: int, into: int, at: int) -> Merged | Unmergeable:
        """Folds one into another, with all that was folded into it. A second time changes nothing."""
        with self._db.transaction() as connection:
            one, other = (_read(connection, key) for key in (observation_id, into))
            if one is None or other is None:
                missing = observation_id if one is None else into
                return Unmergeable(f"There is no observation #{missing}.")
            if one["id"] == other["id"]:
                why = f"#{one['id']} cannot be merged into itself. Name another observation."
                return Unmergeable(why)
            if one["project_id"] != other["project_id"]:
                of_two = f"#{one['id']} and #{other['id']} are of two projects"
                return Unmergeable(f"{of_two}. Only what one project remembers is merged.")
            known = write_one(connection, "merges", "one", {"id": observation_id})
            if known is not None and known["into_id"] == one["repeats"] in (into, other["repeats"]):
                return Merged(observation_id, known["into_id"])
            write(connection, "merges", "drop", {"id": observation_id})
            states = settle(connection, (observation_id, into))
            if _root(states, into) == observation_id:  # they change places
                write(connection, "merges", "drop", {"id": into})
                states = settle(connection, (observation_id, into))
            root = _root(states, into)
            root = into if root == observation_id else root
            merge = {"observation_id": observation_id, "into_id": root, "at": at}
            write(connection, "merges", "add", merge)
            settle(connection, (observation_id, root))
        moved = {each.id for each in states.values() if each.repeats == observation_id}
        return Merged(observation_id, root, tuple(sorted(moved - {root})))

    def unmerge(self, observation_id: int) -> Merged | None:
        """None: it was not merged."""
        with self._db.transaction() as connection:
            row = write_one(connection, "merges", "one", {"id": observation_id})
            if row is None:
                return None
            write(connection, "merges", "drop", {"id": observation_id})
            settle(connection, (observation_id, row["into_id"]))
            return Merged(observation_id, row["into_id"])

    def hidden(self, project_id: int) -> list[HiddenObservation]:
        """The latest first."""
        return self._db.all(HiddenObservation, "hidden", "of_project", project_id=project_id)

    def hidden_page(
        self, project_ids: Iterable[int], before: Cursor | None, limit: int
    ) -> list[HiddenObservation]:
        """The latest first, of these projects; the cursor is (at, observation_id)."""
        at, key = before or TOP
        ids = json.dumps(list(project_ids))
        return self._db.all(
            HiddenObservation, "hidden", "page", project_ids=ids, at=at, id=key, limit=limit
        )

    def get_hidden(self, observation_id: int) -> HiddenObservation | None:
        return self._db.one(HiddenObservation, "hidden", "one", id=observation_id)

    def hide(self, observation_id: int, at: int) -> int | None:
        """Soft-deletes it and what is folded into it, which would take its place. How many; None: there is
        none."""
        with self._db.transaction() as connection:
            if _read(connection, observation_id) is None:
                return None
            ids = with_folded(connection, {observation_id})
            values = {"ids": json.dumps(sorted(ids)), "at": at, "id": observation_id}
            count = write(connection, "hidden", "hide", values).rowcount
            settle(connection, ids)
            return count

    def restore(self, observation_id: int) -> bool:
        """With what was hidden with it."""
        with self._db.transaction() as connection:
            rows = write(connection, "hidden", "restore", {"id": observation_id}).fetchall()
            settle(connection, [row["id"] for row in rows])
            return bool(rows)

    def confirm(self, observation_id: int, *, confirmed: bool) -> int | None:
        """Which one is confirmed: what it is folded into, if it is folded. None: there is none."""
        with self._db.transaction() as connection:
            values = {"id": observation_id, "confirmed": int(confirmed)}
            row = write_one(connection, "weights", "confirm", values)
            return int(row["id"]) if row else None


@dataclass(frozen=True, slots=True)
class State:
    """What a merge may change of an observation; `at` and `id` say which comes first in a story."""

    id: int
    at: int
    repeats: int | None
    follows: int | None
    pinned: bool


def settle(connection: sqlite3.Connection, keys: Iterable[int]) -> Mapping[int, State]:
    """Applies all merges to the visible observations. `keys`: those that something has happened to."""
    rows = _states(connection, keys)
    merges = write(connection, "merges", "all", {}).fetchall()
    states, overruled = _fold([_own_state(row) for row in rows.values()], merges)
    for merge in overruled:
        write(connection, "merges", "drop", {"id": merge["observation_id"]})
    for key, row in rows.items():
        state = states[key]
        now = {"repeats": state.repeats, "follows": state.follows, "pinned": int(state.pinned)}
        own = {name: row[f"own_{name}"] for name in LINKS}
        if now != {name: row[name] for name in LINKS}:
            write(connection, "merges", "set", now | {"id": key})
        if now != own:
            write(connection, "merges", "note_own", own | {"id": key})
        elif row["noted"]:
            write(connection, "merges", "drop_own", {"id": key})
    return states


def with_folded(connection: sqlite3.Connection, ids: Iterable[int]) -> set[int]:
    """Them, and what is folded into them or would be without merges; hidden ones, too."""
    found, new = {*ids}, {*ids}
    while new:
        values = {"ids": json.dumps(sorted(new))}
        rows = write(connection, "hidden", "folded_into", values).fetchall()
        new = {row["id"] for row in rows} - found
        found |= new
    return found


def _fold(own: Sequence[State], merges: Sequence[Row]) -> tuple[dict[int, State], list[Row]]:
    """`own`: the states without any merge. Merges of what is not there are skipped. Also those that a later
    one overrules: two cannot stand for each other."""
    alone = {each.id: each for each in own}
    states = {}
    for key, state in alone.items():
        root = _root(alone, key)
        states[key] = replace(state, repeats=None if root == key else root)
    done: dict[int, Row] = {}
    for merge in merges:
        key, into = merge["observation_id"], merge["into_id"]
        if key not in alone or into not in alone:
            continue
        root = _root(states, into)
        if root == key and into in done:
            rest, overruled = _fold(own, [each for each in merges if each is not done[into]])
            return rest, [*overruled, done[into]]
        if root == key:  # they change places
            root = into
            states[root] = replace(states[root], repeats=None)
        one, other = states[key], states[root]
        for each in list(states.values()):
            if each.repeats == key:
                states[each.id] = replace(each, repeats=root)
            # No story leads back to itself.
            if each.follows == key and each.id != root and (each.at, each.id) > (other.at, root):
                states[each.id] = replace(states[each.id], follows=root)
        states[key] = replace(states[key], repeats=root, pinned=False)
        if one.pinned:
            states[root] = replace(states[root], pinned=True)
        done[key] = merge
    return states, []


def _root(states: Mapping[int, State], key: int) -> int:
    """What stands for it; itself, if it is not folded."""
    seen: set[int] = set()
    while key not in seen:
        seen.add(key)
        above = states[key].repeats
        key = above if above is not None and above in states else key
    return key


def _states(connection: sqlite3.Connection, keys: Iterable[int]) -> dict[int, Row]:
    """The visible ones of all that a merge may change or depends on, and of `keys`."""
    involved = write(connection, "merges", "involved", {}).fetchall()
    ids = {*keys} | {row["id"] for row in involved}
    linked = write(connection, "merges", "linked", {"ids": json.dumps(sorted(ids))}).fetchall()
    ids |= {row["id"] for row in linked}
    found: dict[int, Row] = {}
    while ids:
        rows = write(connection, "merges", "states", {"ids": json.dumps(sorted(ids))}).fetchall()
        found |= {row["id"]: row for row in rows}
        targets = {row[name] for row in rows for name in ("repeats", "own_repeats")}
        ids = targets - found.keys() - {None} if rows else set()
    return found


def _own_state(row: Row) -> State:
    links = {"repeats": row["own_repeats"], "follows": row["visible_follows"]}
    return State(id=row["id"], at=row["at"], **links, pinned=bool(row["own_pinned"]))


def _own(connection: sqlite3.Connection, key: int) -> Row:
    row = write_one(connection, "merges", "states", {"ids": json.dumps([key])})
    assert row is not None
    return row


def _set_own(connection: sqlite3.Connection, key: int, **values: int | None) -> None:
    """The caller settles it."""
    row = _own(connection, key)
    changed = {name: row[f"own_{name}"] for name in LINKS} | values | {"id": key}
    write(connection, "merges", "note_own" if row["noted"] else "set", changed)


def _read(connection: sqlite3.Connection, key: int) -> Row | None:
    return write_one(connection, "observations", "one", {"id": key})


def _before_edit(connection: sqlite3.Connection, row: Row) -> Json:
    """All that an edit replaces."""
    owner = {"id": row["id"]}
    words = write_one(connection, "observations", "words", owner)
    merge = write_one(connection, "merges", "one", owner)
    assert words is not None
    return {part: json.loads(words[part]) for part in PARTS} | {
        "texts": {name: row[name] for name in TEXTS},
        "repeats": _own(connection, row["id"])["own_repeats"],
        "merge": dict(merge) if merge else None,
    }


def _set_words(connection: sqlite3.Connection, observation_id: int, words: Json) -> None:
    owner = {"id": observation_id}
    write(connection, "observations", "set_words", words | owner)
    for part in PARTS:
        write(connection, "observations", f"drop_{part}", owner)
