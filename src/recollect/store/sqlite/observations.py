"""Observations, as they are read.

One that repeats another is folded into it: it is found by its id and in its session only. What is told
unasked leaves out more: what a later one carries on, and what is doubted.
"""

from collections.abc import Iterable

from recollect.model.jobs import Job
from recollect.model.lookups import NamedFiles
from recollect.model.observations import Doubt, Observation, ObservationDraft
from recollect.store.sqlite.database import Row
from recollect.store.sqlite.indexing import Indexing
from recollect.store.sqlite.values import matching, origins_of
from recollect.terms import asked

MOST_WORDS = 64


class Observations(Indexing):
    def observation(self, observation_id: int) -> Observation | None:
        row = self.row("observations", "one", id=observation_id)
        return self._observation(row) if row else None

    def observations_of_session(self, session_id: int) -> list[Observation]:
        rows = self.rows("observations", "of_session", session_id=session_id)
        return [self._observation(row) for row in rows]

    def observations_of_prompt(self, session_id: int, number: int) -> list[Observation]:
        turn = {"session_id": session_id, "prompt_number": number}
        return [self._observation(row) for row in self.rows("observations", "of_prompt", **turn)]

    def recent_observations(self, project_id: int, limit: int) -> list[Observation]:
        """Newest first."""
        rows = self.rows("observations", "recent", project_id=project_id, limit=limit)
        return [self._observation(row) for row in rows]

    def pinned_observations(self, project_id: int) -> list[Observation]:
        rows = self.rows("observations", "pinned", project_id=project_id)
        return [self._observation(row) for row in rows]

    def similar_observations(
        self, project_id: int, words: Iterable[str], *, not_of_job: int, limit: int
    ) -> list[Observation]:
        """Those that share most with the words, newest first. Whether they say the same is not ours to
        judge."""
        terms = list(dict.fromkeys(term for word in words for term in asked(word)))[:MOST_WORDS]
        if not terms:
            return []
        self.index_observations()
        scope = f'scope : "p_{project_id}" AND scope : "k_observation"'
        rows = self.rows(
            "observations",
            "similar",
            match=f"{scope} AND {{title body labels}} : ({matching(terms, 'OR')})",
            job_id=not_of_job,
            limit=limit,
        )
        return [self._observation(row) for row in rows]

    def titles_of_session(self, session_id: int) -> tuple[str, ...]:
        rows = self.rows("observations", "titles_of_session", session_id=session_id)
        return tuple(row[0] for row in rows)

    def titles_of_prompt(self, job: Job) -> frozenset[tuple[str, str | None]]:
        """(type, title) of what other jobs wrote about the same turn."""
        rows = self.rows(
            "observations",
            "titles_of_prompt",
            session_id=job.session_id,
            prompt_number=job.prompt_number,
            job_id=job.id,
        )
        return frozenset((row[0], row[1]) for row in rows)

    def _observation(self, row: Row) -> Observation:
        key = row["id"]
        return Observation(
            id=key,
            session_id=row["session_id"],
            project_id=row["project_id"],
            prompt_number=row["prompt_number"],
            at=row["at"],
            provider=row["provider"],
            model=row["model"],
            pinned=bool(row["pinned"]),
            draft=self._draft(row),
            edited=bool(row["edited"]),
            confirmed=bool(row["confirmed"]),
        )

    def files_of(self, observation_id: int) -> NamedFiles:
        """None at all where there is no such observation."""
        rows = self.rows("observations", "files", id=observation_id)
        return NamedFiles(
            files_read=tuple(r["path"] for r in rows if r["role"] == "read"),
            files_modified=tuple(r["path"] for r in rows if r["role"] == "modified"),
            blobs=tuple({r["path"]: r["blob"] for r in rows if r["blob"]}.items()),
        )

    def _draft(self, row: Row) -> ObservationDraft:
        key = row["id"]
        files = self.files_of(key)
        doubts = self.rows("observations", "standing_doubts", id=key)
        return ObservationDraft(
            type=row["type"],
            title=row["title"],
            subtitle=row["subtitle"],
            facts=tuple(r[0] for r in self.rows("observations", "facts", id=key)),
            narrative=row["narrative"],
            concepts=tuple(r[0] for r in self.rows("observations", "concepts", id=key)),
            files_read=files.files_read,
            files_modified=files.files_modified,
            subagent_type=row["subagent_type"],
            evidence=tuple(r[0] for r in self.rows("observations", "events", id=key)),
            doubts=tuple(Doubt(r["part"], r["reason"]) for r in doubts),
            repeats=row["repeats"],
            follows=row["follows"],
            revision=row["revision"],
            blobs=files.blobs,
            origins=origins_of(row["origins"]),
            sources=tuple((row["sources"] or "").split()),
            bears_out=row["bears_out"],
        )
