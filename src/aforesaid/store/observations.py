"""Observations, as they are read, and what people do with them: edit, pin, merge, hide, verify.

One that repeats another is folded into it: it is found by its id and in its session only. What is injected
leaves out more: what a later one carries on, and what is doubted.

All that people do can be undone: an edit keeps the words before it, a merge what the observation was folded
into before it, and hiding is a column. Files and evidence are never edited: they are what happened.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from aforesaid.model.jobs import Job
from aforesaid.model.observations import (
    HiddenObservation,
    Merge,
    Observation,
    ObservationDraft,
    Unusable,
    stored_type,
)
from aforesaid.model.search import Filters, KnownFile
from aforesaid.model.sessions import TOP, Cursor, ObservationRow
from aforesaid.store.database import Connection, Database, Part, Row
from aforesaid.store.jobs import add_lists
from aforesaid.store.search_index import Index
from aforesaid.store.values import columns, escaped, file_name, match_any, read
from aforesaid.terms import query_terms
from aforesaid.text import sqlite_safe

MOST_WORDS = 64
EARLIEST = -(2**62)
FACETS = ("type", "concept", "file")
MOST_FILES = 30  # of one observation
MOST_SHARING = 100  # others that have one name in common: of what many have, few are worth a look
Json = dict[str, Any]
TEXTS = ("type", "title", "subtitle", "narrative", "edited")
PARTS = ("facts", "concepts", "doubts")


class Observations(Part):
    def __init__(self, database: Database, index: Index) -> None:
        super().__init__(database)
        self._index = index

    def get(self, observation_id: int) -> Observation | None:
        return next(iter(self._read_all("observations", "one", id=observation_id)), None)

    def for_session(self, session_id: int) -> list[Observation]:
        return self._read_all("observations", "of_session", session_id=session_id)

    def for_prompt(self, session_id: int, number: int) -> list[Observation]:
        turn = {"session_id": session_id, "prompt_number": number}
        return self._read_all("observations", "of_prompt", **turn)

    def recent(self, project_id: int, limit: int) -> list[Observation]:
        """Newest first."""
        return self._read_all("observations", "recent", project_id=project_id, limit=limit)

    def newest_id(self) -> int:
        return self._db.number("observations", "newest_id")

    def pinned(self, project_id: int) -> list[Observation]:
        return self._read_all("observations", "pinned", project_id=project_id)

    def similar(
        self, project_id: int, words: Iterable[str], *, not_of_job: int, limit: int
    ) -> list[Observation]:
        """Those that share most words, newest first. The caller decides whether they say the same."""
        found = dict.fromkeys(term for word in words for term in query_terms(word))
        terms = list(found)[:MOST_WORDS]
        if not terms:
            return []
        self._index.update_observations()
        scope = f'scope : "p_{project_id}" AND scope : "k_observation"'
        return self._read_all(
            "observations",
            "similar",
            match=f"{scope} AND {{title body labels}} : ({match_any(terms)})",
            job_id=not_of_job,
            limit=limit,
        )

    def titles_for_session(self, session_id: int) -> tuple[str, ...]:
        name = "titles_of_session"
        return tuple(self._db.column(str, "observations", name, session_id=session_id))

    def titles_for_job(self, job: Job) -> frozenset[tuple[str, str | None]]:
        """(type, title) of what other jobs wrote about the same turn."""
        turn = {"session_id": job.session_id, "prompt_number": job.prompt_number}
        rows = self._db.rows("observations", "titles_of_prompt", **turn, job_id=job.id)
        return frozenset((row[0], row[1]) for row in rows)

    def _read_all(self, topic: str, name: str, /, **values: Any) -> list[Observation]:
        return [self._observation(row) for row in self._db.rows(topic, name, **values)]

    def _observation(self, row: Row) -> Observation:
        parts = self._db.only("observations", "parts", id=row["id"])
        values = {**row, **parts, "verified": row["confirmed"], "corroborates": row["bears_out"]}
        return read(Observation, values, draft=read(ObservationDraft, values))

    def page(self, filters: Filters, before: Cursor | None, limit: int) -> list[ObservationRow]:
        """The latest first, without what is folded into another; the cursor is (at, id)."""
        at, key = before or TOP
        if filters.until is not None and filters.until <= at:
            at, key = filters.until, -1
        types = [*filters.types]
        named = self._named(filters)
        if named is not None:
            name = "observations_among"
        elif len(types) == 1:
            name = "observations_of_type"
        else:
            name = f"observations_{'anywhere' if filters.project_id is None else 'of_project'}"
        wanted = columns(filters) | {
            "since": EARLIEST if filters.since is None else filters.since,
            "types": types or None,
            "type": types[0] if types else None,
        }
        place = {"at": at, "id": key, "ids": [*(named or ())], "limit": limit}
        return self._observation_rows(self._db.rows("listings", name, **wanted, **place))

    def rows_for_session(self, session_id: int) -> list[ObservationRow]:
        """In the order of time, those too that are folded into another."""
        rows = self._db.rows("listings", "observations_of_session", session_id=session_id)
        return self._observation_rows(rows)

    def facets(
        self, observations: Iterable[int], limit: int
    ) -> Mapping[str, list[tuple[str, int]]]:
        """Types, concepts and files that observations have, the commonest of each first."""
        ids = [*observations]
        found = {
            name: self._db.rows("listings", f"facet_{name}", ids=ids, limit=limit)
            for name in FACETS
        }
        return {name: [(row[0], row[1]) for row in rows] for name, rows in found.items()}

    def _named(self, filters: Filters) -> set[int] | None:
        """Those of a session, with a concept and about a file; None where none of these is asked for."""
        found: list[set[int]] = []
        if filters.session_id is not None:
            found.append(self._ids("session", session_id=filters.session_id))
        if filters.concepts:
            found.append(self._ids("concepts", names=[*filters.concepts]))
        if filters.files:
            paths = {path: file_name(path) for path in map(sqlite_safe, filters.files)}
            found.append(self._ids("files", names=paths))
        return set.intersection(*found) if found else None

    def _ids(self, of: str, **values: Any) -> set[int]:
        return set(self._db.column(int, "listings", f"ids_of_{of}", **values))

    def _observation_rows(self, rows: list[Row]) -> list[ObservationRow]:
        ids = [row["id"] for row in rows]
        doubted = set(self._db.column(int, "listings", "doubted", ids=ids))
        return [read(ObservationRow, row, unverified=row["id"] in doubted) for row in rows]

    def links(self, observation_id: int) -> list[tuple[int, str]]:
        """Who comes `before` in its story, `after`, or says the `same`."""
        rows = self._db.rows("lookups", "links", id=observation_id)
        return [(row["id"], row["what"]) for row in rows]

    def duplicates(self, observation_id: int) -> list[int]:
        """What is folded into it."""
        return self._db.column(int, "lookups", "duplicates", id=observation_id)

    def sharing(self, observation: Observation) -> Iterator[tuple[str, str, list[int]]]:
        """Files and concepts that others of the project have in common with it; of many, the newest."""
        draft = observation.draft
        files = list(dict.fromkeys((*draft.files_modified, *draft.files_read)))[:MOST_FILES]
        whose = {"id": observation.id, "project_id": observation.project_id, "most": MOST_SHARING}
        for what, names in (("file", files), ("concept", draft.concepts)):
            for name in names:
                named = whose | {"name": name, "file": file_name(name)}
                yield what, name, self._db.column(int, "lookups", f"sharing_{what}", **named)

    def for_file(self, project_id: int, path: str, limit: int) -> list[Observation]:
        """What read or changed a file, the most telling first. A name, or the end of a path, will do."""
        return self._read_all(
            "lookups", "on_file", project_id=project_id, limit=limit, **_path_values(path)
        )

    def known_files(self, project_id: int, below: str, limit: int) -> list[KnownFile]:
        """The files that most is known about, among those whose path begins like that."""
        wanted = {"escaped": escaped(below), "limit": limit}
        return self._db.all(KnownFile, "lookups", "files_known", project_id=project_id, **wanted)

    def files_to_recall(self, project_id: int, *, untold_in: int, limit: int) -> list[str]:
        """The files that other sessions may have left something about, newest first."""
        values = {"project_id": project_id, "session_id": untold_in, "limit": limit}
        return self._db.column(str, "opened_files", "worth_asking", **values)

    def for_opened_file(
        self, project_id: int, path: str, *, untold_in: int, since: int = 0, limit: int
    ) -> list[Observation]:
        """What changed a file, and the decisions, bugfixes and discoveries for which it was read; pinned and
        newest first, without what that session did, or was given after `since`."""
        place = {"project_id": project_id, "session_id": untold_in, "since": since, "limit": limit}
        return self._read_all("opened_files", "speaking_of", **place, **_path_values(path))

    def current(self, ids: Iterable[int]) -> frozenset[int]:
        """Those that nothing speaks against: not doubted, not carried on by a later one, not folded."""
        return frozenset(self._db.column(int, "search", "standing", ids=[*ids]))

    def edit(self, observation_id: int, draft: ObservationDraft) -> bool:
        """Replaces its words; it is no longer doubted nor folded. False: there is none."""
        with self._db.transaction() as db:
            row = db.row("observations", "one", id=observation_id)
            if row is None:
                return False
            words = db.only("observations", "words", id=observation_id)
            merge = db.row("merges", "one", id=observation_id)
            before = {part: json.loads(words[part]) for part in PARTS} | {
                "texts": {name: row[name] for name in TEXTS},
                "repeats": merge["was"] if merge else row["repeats"],
            }
            db.run("observations", "add_edit", id=observation_id, before=before)
            _stand_alone(db, observation_id)
            kind = stored_type(draft.type)
            _set_words(db, observation_id, columns(draft) | {"type": kind, "edited": 1})
            lists = {"facts": draft.facts, "concepts": draft.concepts}
            add_lists(db, "observations", observation_id, lists)
            return True

    def undo_edit(self, observation_id: int) -> bool:
        """It is not merged again. False: there is no edit to undo."""
        with self._db.transaction() as db:
            edit = db.row("observations", "last_edit", id=observation_id)
            if edit is None:
                return False
            before = json.loads(edit["before"])
            _set_words(db, observation_id, before["texts"])
            lists = {part: before[part] for part in PARTS}
            add_lists(db, "observations", observation_id, lists)
            if db.row("merges", "one", id=observation_id) is None:
                _fold_again(db, observation_id, before["repeats"])
            db.run("observations", "drop_edit", id=edit["id"])
            return True

    def count_edits(self, observation_id: int) -> int:
        return self._db.number("observations", "how_many_edits", id=observation_id)

    def pin(self, observation_id: int, *, pinned: bool) -> bool:
        """Or what it is folded into. False: there is no such observation."""
        return self._mark("pin", observation_id, pinned=pinned) is not None

    def verify(self, observation_id: int, *, verified: bool) -> int | None:
        """Which one is verified: what it is folded into, if it is folded. None: there is none."""
        return self._mark("verify", observation_id, verified=verified)

    def _mark(self, name: str, observation_id: int, **values: bool) -> int | None:
        with self._db.transaction() as db:
            root = db.value(int, "merges", "root", id=observation_id)
            if root is not None:
                db.run("observations", name, id=root, **values)
            return root

    def get_merge(self, observation_id: int) -> Merge | None:
        return self._db.one(Merge, "merges", "one", id=observation_id)

    def merge(self, observation_id: int, into: int, at: int) -> Merge | Unusable:
        """Folds one into another, or into what that is folded into; not into what was merged into it. Its pin
        goes over to that one. A second time changes nothing."""
        with self._db.transaction() as db:
            one, other = (db.row("observations", "one", id=key) for key in (observation_id, into))
            if one is None or other is None:
                missing = observation_id if one is None else into
                return Unusable(f"There is no observation #{missing}.")
            if one["id"] == other["id"]:
                why = f"#{one['id']} cannot be merged into itself. Name another observation."
                return Unusable(why)
            if one["project_id"] != other["project_id"]:
                of_two = f"#{one['id']} and #{other['id']} are of two projects"
                return Unusable(f"{of_two}. Only what one project remembers is merged.")
            root = db.number("merges", "root", id=into)
            if root == observation_id and (known := db.one(Merge, "merges", "one", id=into)):
                undo = f"Undo that first: `aforesaid merge {into} --undo`."
                return Unusable(f"#{into} is itself merged into #{known.into}. {undo}")
            if root == observation_id:  # it was folded by itself: they change places
                _stand_alone(db, into)
                root = into
            known = db.one(Merge, "merges", "one", id=observation_id)
            if known is not None and known.into == root:
                return known
            db.run("merges", "add", id=observation_id, into=root, at=at)
            db.run("merges", "fold", id=observation_id, into=root)
            if one["pinned"]:
                db.run("observations", "pin", id=root, pinned=True)
                db.run("observations", "pin", id=observation_id, pinned=False)
            return Merge(observation_id, root, at)

    def unmerge(self, observation_id: int) -> Merge | None:
        """It is folded as it was before. None: it was not merged."""
        with self._db.transaction() as db:
            row = db.row("merges", "one", id=observation_id)
            if row is None:
                return None
            db.run("merges", "drop", id=observation_id)
            _fold_again(db, observation_id, row["was"])
            return read(Merge, row)

    def hidden(
        self, project_ids: Iterable[int], before: Cursor | None = None, limit: int = -1
    ) -> list[HiddenObservation]:
        """The latest first, of these projects; the cursor is (at, observation_id). -1: all."""
        at, key = before or TOP
        page = {"project_ids": [*project_ids], "at": at, "id": key, "limit": limit}
        return self._db.all(HiddenObservation, "hidden", "page", **page)

    def get_hidden(self, observation_id: int) -> HiddenObservation | None:
        return self._db.one(HiddenObservation, "hidden", "one", id=observation_id)

    def hide(self, observation_id: int, at: int) -> int | None:
        """Soft-deletes it and what is folded into it. How many; None: there is none."""
        with self._db.transaction() as db:
            if db.row("observations", "one", id=observation_id) is None:
                return None
            ids = with_folded(db, {observation_id})
            return db.run("hidden", "hide", ids=ids, at=at, id=observation_id).rowcount

    def restore(self, observation_id: int) -> bool:
        """With what was hidden with it. It is no longer folded into one that stays hidden."""
        with self._db.transaction() as db:
            for step in ("unmerge", "unfold", "restore"):
                count = db.run("hidden", step, id=observation_id).rowcount
            return count > 0


def with_folded(db: Connection, ids: Iterable[int]) -> set[int]:
    """Them, and what is folded into them; hidden ones, too."""
    return set(db.column(int, "hidden", "with_folded", ids=[*ids]))


def _stand_alone(db: Connection, key: int) -> None:
    db.run("merges", "drop", id=key)
    db.run("merges", "fold", id=key, into=None)


def _fold_again(db: Connection, key: int, target: int | None) -> None:
    """Where it was folded before, unless that is gone, or folded into this one by now."""
    root = db.value(int, "merges", "root", id=target)
    db.run("merges", "fold", id=key, into=None if root in (None, key) else target)


def _set_words(db: Connection, observation_id: int, words: Json) -> None:
    db.run("observations", "set_words", **(words | {"id": observation_id}))
    for part in PARTS:
        db.run("observations", f"drop_{part}", id=observation_id)


def _path_values(path: str) -> dict[str, str]:
    return {"path": path, "name": file_name(path), "escaped": escaped(path)}
