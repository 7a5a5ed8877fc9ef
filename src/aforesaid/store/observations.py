"""Observations, as they are read.

One that repeats another is folded into it: it is found by its id and in its session only. What is injected
leaves out more: what a later one carries on, and what is doubted.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from aforesaid.model.jobs import Job
from aforesaid.model.observations import Observation, ObservationDraft
from aforesaid.model.search import Filters, KnownFile, SharedName
from aforesaid.model.sessions import TOP, Cursor, ObservationRow
from aforesaid.store.curation import Curation
from aforesaid.store.database import Database, Row
from aforesaid.store.search_index import Indexing
from aforesaid.store.values import escaped, file_name, make, match_any, read_origins, read_row
from aforesaid.terms import query_terms
from aforesaid.text import sqlite_safe

MOST_WORDS = 64
EARLIEST = -(2**62)
FACETS = ("type", "concept", "file")
MOST_FILES = 30  # of one observation
MOST_SHARING = 100  # others that have one name in common: of what many have, few are worth a look
COMMON = 1_000  # beyond that it is not counted


class Observations(Curation):
    def __init__(self, database: Database, index: Indexing) -> None:
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
        rows = self._db.rows("observations", "titles_of_session", session_id=session_id)
        return tuple(row[0] for row in rows)

    def titles_for_job(self, job: Job) -> frozenset[tuple[str, str | None]]:
        """(type, title) of what other jobs wrote about the same turn."""
        turn = {"session_id": job.session_id, "prompt_number": job.prompt_number}
        rows = self._db.rows("observations", "titles_of_prompt", **turn, job_id=job.id)
        return frozenset((row[0], row[1]) for row in rows)

    def _read_all(self, topic: str, name: str, /, **values: Any) -> list[Observation]:
        return [self._observation(row) for row in self._db.rows(topic, name, **values)]

    def _observation(self, row: Row) -> Observation:
        parts = self._db.only("observations", "parts", id=row["id"])
        values = read_row(row) | read_row(parts)
        values["origins"] = read_origins(row["origins"])
        values["sources"] = tuple((row["sources"] or "").split())
        return make(Observation, values, draft=make(ObservationDraft, values))

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
        return {row["id"] for row in self._db.rows("listings", f"ids_of_{of}", **values)}

    def _observation_rows(self, rows: list[Row]) -> list[ObservationRow]:
        ids = json.dumps([row["id"] for row in rows])
        doubted = {row["id"] for row in self._db.rows("listings", "doubted", ids=ids)}
        return [make(ObservationRow, read_row(row), doubted=row["id"] in doubted) for row in rows]

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
        return [row["path"] for row in self._db.rows("opened_files", "worth_asking", **values)]

    def for_opened_file(
        self, project_id: int, path: str, *, untold_in: int, since: int = 0, limit: int
    ) -> list[Observation]:
        """What changed a file, and the decisions, bugfixes and discoveries for which it was read; pinned and
        newest first, without what that session did, or was given after `since`."""
        place = {"project_id": project_id, "session_id": untold_in, "since": since, "limit": limit}
        rows = self._db.rows("opened_files", "speaking_of", **place, **_path_values(path))
        found = [self.get(row["id"]) for row in rows]
        return [observation for observation in found if observation is not None]

    def current(self, ids: Iterable[int]) -> frozenset[int]:
        """Those that nothing speaks against: not doubted, not carried on by a later one, not folded."""
        rows = self._db.rows("search", "standing", ids=json.dumps(list(ids)))
        return frozenset(row[0] for row in rows)


def _path_values(path: str) -> dict[str, str]:
    return {"path": path, "name": file_name(path), "escaped": escaped(path)}
