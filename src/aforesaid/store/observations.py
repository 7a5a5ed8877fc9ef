"""Observations, as they are read, and what people do with them: edit, pin, merge, hide, confirm.

One that repeats another is folded into it: it is found by its id and in its session only. What is injected
leaves out more: what a later one carries on, and what is doubted.

All that people do can be undone. A merge is stored as a statement ("one says what the other says"), and
hiding as a column. What follows from all of them together is computed by `_fold` and written into `repeats`,
`follows` and `pinned`; `own_links` keeps what an observation would have without merges and hidden targets. So
undoing anything in any order leaves what would be there without it. Files and evidence are never edited: they
are what happened.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from aforesaid.model.jobs import Job
from aforesaid.model.observations import (
    Doubt,
    HiddenObservation,
    Merge,
    Merged,
    Observation,
    ObservationDraft,
    Unmergeable,
    stored_type,
)
from aforesaid.model.search import Filters, KnownFile, SharedName
from aforesaid.model.sessions import TOP, Cursor, ObservationRow
from aforesaid.store.database import Connection, Database, Part, Row
from aforesaid.store.jobs import add_doubts, add_words
from aforesaid.store.search_index import Index
from aforesaid.store.values import columns, escaped, file_name, match_any, read
from aforesaid.terms import query_terms
from aforesaid.text import sqlite_safe

MOST_WORDS = 64
EARLIEST = -(2**62)
FACETS = ("type", "concept", "file")
MOST_FILES = 30  # of one observation
MOST_SHARING = 100  # others that have one name in common: of what many have, few are worth a look
COMMON = 1_000  # beyond that it is not counted
Json = dict[str, Any]
TEXTS = ("type", "title", "subtitle", "narrative", "edited")
PARTS = ("facts", "concepts", "doubts")
LINKS = ("repeats", "follows", "pinned")


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
        values = {**row, **parts}
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
        rows = self._db.rows(
            "listings",
            name,
            at=at,
            id=key,
            since=EARLIEST if filters.since is None else filters.since,
            project_id=filters.project_id,
            types=json.dumps(types) if types else None,
            type=types[0] if types else None,
            agent=filters.agent,
            ids=json.dumps(sorted(named or ())),
            limit=limit,
        )
        return self._observation_rows(rows)

    def rows_for_session(self, session_id: int) -> list[ObservationRow]:
        """In the order of time, those too that are folded into another."""
        rows = self._db.rows("listings", "observations_of_session", session_id=session_id)
        return self._observation_rows(rows)

    def facets(
        self, observations: Iterable[int], limit: int
    ) -> Mapping[str, list[tuple[str, int]]]:
        """Types, concepts and files that observations have, the commonest of each first."""
        ids = json.dumps(list(observations))
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
            names = [*map(sqlite_safe, filters.concepts)]
            found.append(self._ids("concepts", names=json.dumps(names)))
        if filters.files:
            paths = {path: file_name(path) for path in map(sqlite_safe, filters.files)}
            found.append(self._ids("files", names=json.dumps(paths)))
        return set.intersection(*found) if found else None

    def _ids(self, of: str, **values: Any) -> set[int]:
        return set(self._db.column(int, "listings", f"ids_of_{of}", **values))

    def _observation_rows(self, rows: list[Row]) -> list[ObservationRow]:
        ids = json.dumps([row["id"] for row in rows])
        doubted = set(self._db.column(int, "listings", "doubted", ids=ids))
        return [read(ObservationRow, row, doubted=row["id"] in doubted) for row in rows]

    def links(self, observation_id: int) -> list[tuple[int, str]]:
        """Who comes `before` in its story, `after`, or says the `same`."""
        rows = self._db.rows("lookups", "links", id=observation_id)
        return [(row["id"], row["what"]) for row in rows]

    def sharing(self, observation: Observation) -> list[SharedName]:
        """Files and concepts that others of the project have in common with it; of many, the newest."""
        draft = observation.draft
        files = list(dict.fromkeys((*draft.files_modified, *draft.files_read)))[:MOST_FILES]
        return [
            *(self._sharing(observation, "file", path) for path in files),
            *(self._sharing(observation, "concept", concept) for concept in draft.concepts),
        ]

    def _sharing(self, observation: Observation, what: str, name: str) -> SharedName:
        whose = {"id": observation.id, "project_id": observation.project_id}
        named = whose | {"name": name, "file": file_name(name)}
        rows = self._db.rows("lookups", f"sharing_{what}", **named, most=MOST_SHARING)
        spread = len(rows)
        if spread == MOST_SHARING:
            spread = self._db.number("lookups", f"how_many_share_{what}", **named, most=COMMON)
        return SharedName(what, name, tuple(row["id"] for row in rows), spread)

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
        query = ("opened_files", "speaking_of")
        found = map(self.get, self._db.column(int, *query, **place, **_path_values(path)))
        return [observation for observation in found if observation is not None]

    def current(self, ids: Iterable[int]) -> frozenset[int]:
        """Those that nothing speaks against: not doubted, not carried on by a later one, not folded."""
        return frozenset(self._db.column(int, "search", "standing", ids=json.dumps(list(ids))))

    def edit(self, observation_id: int, draft: ObservationDraft) -> bool:
        """Replaces its words; it is no longer doubted nor folded. False: there is none."""
        with self._db.transaction() as db:
            row = _read(db, observation_id)
            if row is None:
                return False
            before = json.dumps(_before_edit(db, row))
            db.run("observations", "add_edit", id=observation_id, before=before)
            db.run("merges", "drop", id=observation_id)
            _set_own(db, observation_id, repeats=None)
            kind = stored_type(draft.type)
            _set_words(db, observation_id, columns(draft) | {"type": kind, "edited": 1})
            add_words(db, observation_id, draft.facts, draft.concepts)
            settle(db, (observation_id,))
            return True

    def undo_edit(self, observation_id: int) -> bool:
        """Merged again only if it was not merged since. False: there is no edit to undo."""
        with self._db.transaction() as db:
            edit = db.row("observations", "last_edit", id=observation_id)
            if edit is None:
                return False
            before = json.loads(edit["before"])
            _set_words(db, observation_id, before["texts"])
            add_words(db, observation_id, before["facts"], before["concepts"])
            doubts = (Doubt(*each) for each in before["doubts"])
            add_doubts(db, "observations", observation_id, doubts)
            target = db.row("merges", "existing", id=before["repeats"])
            _set_own(db, observation_id, repeats=target["id"] if target else None)
            if before["merge"]:
                db.run("merges", "put_back", **before["merge"])
            db.run("observations", "drop_edit", id=edit["id"])
            settle(db, (observation_id,))
            return True

    def count_edits(self, observation_id: int) -> int:
        return self._db.number("observations", "how_many_edits", id=observation_id)

    def pin(self, observation_id: int, *, pinned: bool) -> bool:
        """Unpinning also unpins what was merged into it. False: there is no such observation."""
        with self._db.transaction() as db:
            if _read(db, observation_id) is None:
                return False
            states = _states(db, (observation_id,)).values()
            merged = [each for each in states if each["repeats"] == observation_id]
            through = [each["id"] for each in merged if each["own_pinned"] and not each["pinned"]]
            for key in (observation_id, *(() if pinned else through)):
                _set_own(db, key, pinned=int(pinned))
            settle(db, (observation_id,))
            return True

    def get_merge(self, observation_id: int) -> Merge | None:
        row = self._db.row("merges", "one", id=observation_id)
        return Merge(row["observation_id"], row["into_id"], row["at"]) if row else None

    def merge(self, observation_id: int, into: int, at: int) -> Merged | Unmergeable:
        """Folds one into another, with all that was folded into it. A second time changes nothing."""
        with self._db.transaction() as db:
            one, other = (_read(db, key) for key in (observation_id, into))
            if one is None or other is None:
                missing = observation_id if one is None else into
                return Unmergeable(f"There is no observation #{missing}.")
            if one["id"] == other["id"]:
                why = f"#{one['id']} cannot be merged into itself. Name another observation."
                return Unmergeable(why)
            if one["project_id"] != other["project_id"]:
                of_two = f"#{one['id']} and #{other['id']} are of two projects"
                return Unmergeable(f"{of_two}. Only what one project remembers is merged.")
            known = db.row("merges", "one", id=observation_id)
            if known is not None and known["into_id"] == one["repeats"] in (into, other["repeats"]):
                return Merged(observation_id, known["into_id"])
            db.run("merges", "drop", id=observation_id)
            states = settle(db, (observation_id, into))
            if _root(states, into) == observation_id:  # they change places
                db.run("merges", "drop", id=into)
                states = settle(db, (observation_id, into))
            root = _root(states, into)
            root = into if root == observation_id else root
            db.run("merges", "add", observation_id=observation_id, into_id=root, at=at)
            settle(db, (observation_id, root))
        moved = {each.id for each in states.values() if each.repeats == observation_id}
        return Merged(observation_id, root, tuple(sorted(moved - {root})))

    def unmerge(self, observation_id: int) -> Merged | None:
        """None: it was not merged."""
        with self._db.transaction() as db:
            row = db.row("merges", "one", id=observation_id)
            if row is None:
                return None
            db.run("merges", "drop", id=observation_id)
            settle(db, (observation_id, row["into_id"]))
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
        """Soft-deletes it and what is folded into it. How many; None: there is none."""
        with self._db.transaction() as db:
            if _read(db, observation_id) is None:
                return None
            ids = with_folded(db, {observation_id})
            chosen = json.dumps(sorted(ids))
            count = db.run("hidden", "hide", ids=chosen, at=at, id=observation_id).rowcount
            settle(db, ids)
            return count

    def restore(self, observation_id: int) -> bool:
        """With what was hidden with it."""
        with self._db.transaction() as db:
            rows = db.rows("hidden", "restore", id=observation_id)
            settle(db, [row["id"] for row in rows])
            return bool(rows)

    def confirm(self, observation_id: int, *, confirmed: bool) -> int | None:
        """Which one is confirmed: what it is folded into, if it is folded. None: there is none."""
        with self._db.transaction() as db:
            row = db.row("weights", "confirm", id=observation_id, confirmed=int(confirmed))
            return int(row["id"]) if row else None


@dataclass(frozen=True, slots=True)
class State:
    """What a merge may change of an observation; `at` and `id` say which comes first in a story."""

    id: int
    at: int
    repeats: int | None
    follows: int | None
    pinned: bool


def settle(db: Connection, keys: Iterable[int]) -> Mapping[int, State]:
    """Applies all merges to the visible observations. `keys`: those that something has happened to."""
    rows = _states(db, keys)
    merges = db.rows("merges", "all")
    states, overruled = _fold([_own_state(row) for row in rows.values()], merges)
    for merge in overruled:
        db.run("merges", "drop", id=merge["observation_id"])
    for key, row in rows.items():
        state = states[key]
        now = {"repeats": state.repeats, "follows": state.follows, "pinned": int(state.pinned)}
        own = {name: row[f"own_{name}"] for name in LINKS}
        if now != {name: row[name] for name in LINKS}:
            db.run("merges", "set", **now, id=key)
        if now != own:
            db.run("merges", "note_own", **own, id=key)
        elif row["noted"]:
            db.run("merges", "drop_own", id=key)
    return states


def with_folded(db: Connection, ids: Iterable[int]) -> set[int]:
    """Them, and what is folded into them or would be without merges; hidden ones, too."""
    return set(db.column(int, "hidden", "with_folded", ids=json.dumps(sorted(ids))))


def _fold(own: Sequence[State], merges: Sequence[Row]) -> tuple[dict[int, State], list[Row]]:
    """From the states without merges. Also the merges that a later one overrules: no cycles."""
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


def _states(db: Connection, keys: Iterable[int]) -> dict[int, Row]:
    """The visible ones of all that a merge may change or depends on, and of `keys`."""
    ids = json.dumps(db.column(int, "merges", "involved", ids=json.dumps(sorted(keys))))
    return {row["id"]: row for row in db.rows("merges", "states", ids=ids)}


def _own_state(row: Row) -> State:
    links = {"repeats": row["own_repeats"], "follows": row["visible_follows"]}
    return State(id=row["id"], at=row["at"], **links, pinned=bool(row["own_pinned"]))


def _own(db: Connection, key: int) -> Row:
    return db.only("merges", "states", ids=json.dumps([key]))


def _set_own(db: Connection, key: int, **values: int | None) -> None:
    """The caller settles it."""
    row = _own(db, key)
    changed = {name: row[f"own_{name}"] for name in LINKS} | values
    db.run("merges", "note_own" if row["noted"] else "set", **changed, id=key)


def _read(db: Connection, key: int) -> Row | None:
    return db.row("observations", "one", id=key)


def _before_edit(db: Connection, row: Row) -> Json:
    """All that an edit replaces."""
    words = db.only("observations", "words", id=row["id"])
    merge = db.row("merges", "one", id=row["id"])
    return {part: json.loads(words[part]) for part in PARTS} | {
        "texts": {name: row[name] for name in TEXTS},
        "repeats": _own(db, row["id"])["own_repeats"],
        "merge": dict(merge) if merge else None,
    }


def _set_words(db: Connection, observation_id: int, words: Json) -> None:
    db.run("observations", "set_words", **(words | {"id": observation_id}))
    for part in PARTS:
        db.run("observations", f"drop_{part}", id=observation_id)


def _path_values(path: str) -> dict[str, str]:
    return {"path": path, "name": file_name(path), "escaped": escaped(path)}
