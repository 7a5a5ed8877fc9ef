"""Observations in a person's words, and pinned. Each edit can be taken back, the last one first.

Files and events stay as they were: they are what happened, not what was said of it.
"""

import json
import sqlite3
from typing import Any

from recollect.model.observations import ObservationDraft
from recollect.store.sqlite import merges, parted
from recollect.store.sqlite.database import Database, Row, write, write_one
from recollect.store.sqlite.drafts import add_words, texts

Json = dict[str, Any]
TEXTS = ("type", "title", "subtitle", "narrative", "edited")
PARTS = ("facts", "concepts", "doubts")


class Editing(Database):
    def edit(self, observation_id: int, draft: ObservationDraft) -> bool:
        """It is doubted no longer, and stands by itself. False: there is none."""
        with self.transaction() as connection:
            row = write_one(connection, "observations", "one", {"id": observation_id})
            if row is None:
                return False
            before = json.dumps(_said(connection, row))
            note = {"id": observation_id, "before": before}
            write(connection, "observations", "add_edit", note)
            write(connection, "merges", "drop", {"id": observation_id})
            merges.set_own(connection, observation_id, repeats=None)
            _set_words(connection, observation_id, texts(draft) | {"edited": 1})
            add_words(connection, observation_id, draft)
            merges.settle(connection, (observation_id,))
            return True

    def unedit(self, observation_id: int) -> bool:
        """As it was before the last edit; merged again only if nobody has merged it since. False: there is no
        edit to take back."""
        with self.transaction() as connection:
            edit = write_one(connection, "observations", "last_edit", {"id": observation_id})
            if edit is None:
                return False
            before = json.loads(edit["before"])
            _set_words(connection, observation_id, before["texts"])
            put_back_words(connection, observation_id, before)
            parted.note_link(connection, observation_id, "repeats", before["repeats"])
            parted.join(connection)
            if before["merge"]:
                parted.put_back_merge(connection, before["merge"])
            write(connection, "observations", "drop_edit", {"id": edit["id"]})
            merges.settle(connection, (observation_id,))
            return True

    def edits_of(self, observation_id: int) -> int:
        """How many can be taken back."""
        row = self.row("observations", "how_many_edits", id=observation_id)
        return int(row[0]) if row else 0

    def pin(self, observation_id: int, *, pinned: bool) -> bool:
        """Who takes a pin away takes it from all that it stands for. False: there is no such observation."""
        with self.transaction() as connection:
            if write_one(connection, "observations", "one", {"id": observation_id}) is None:
                return False
            for key in (observation_id, *merges.pinned_through(connection, observation_id)):
                if key == observation_id or not pinned:
                    merges.set_own(connection, key, pinned=int(pinned))
            merges.settle(connection, (observation_id,))
            return True


def put_back_words(connection: sqlite3.Connection, observation_id: int, parts: Json) -> None:
    """Facts, concepts and doubts, as they were read."""
    owner = {"observation_id": observation_id}
    for number, fact in enumerate(parts["facts"]):
        values = owner | {"ordinal": number, "text": fact["text"]}
        write(connection, "observations", "add_fact", values)
    for concept in parts["concepts"]:
        write(connection, "observations", "add_concept", owner | concept)
    for number, doubt in enumerate(parts["doubts"]):
        write(connection, "observations", "add_doubt", owner | doubt | {"ordinal": number})


def _said(connection: sqlite3.Connection, row: Row) -> Json:
    """All that an edit takes away."""
    owner = {"id": row["id"]}
    merge = write_one(connection, "merges", "one", owner)
    parts = {part: write(connection, "observations", part, owner).fetchall() for part in PARTS}
    return {part: [dict(each) for each in rows] for part, rows in parts.items()} | {
        "texts": {name: row[name] for name in TEXTS},
        "repeats": merges.own(connection, row["id"])["repeats"],
        "merge": dict(merge) if merge else None,
    }


def _set_words(connection: sqlite3.Connection, observation_id: int, words: Json) -> None:
    owner = {"id": observation_id}
    write(connection, "observations", "set_words", words | owner)
    for part in PARTS:
        write(connection, "observations", f"drop_{part}", owner)
