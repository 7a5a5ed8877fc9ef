"""What hangs together: by time, by story, by file and by concept; and one thing by its number."""

from recollect.model.lookups import KnownFile, Shared
from recollect.model.observations import Observation, Summary
from recollect.model.search import OBSERVATION, PROMPT, Document, FoundEvent
from recollect.model.sessions import Prompt
from recollect.store.sqlite.observations import Observations
from recollect.store.sqlite.search import Search
from recollect.store.sqlite.summaries import Summaries
from recollect.store.sqlite.values import escaped, file_name
from recollect.text import sqlite_safe

ORDER = (
    PROMPT,
    OBSERVATION,
)  # of what stands at the same moment; everything else comes behind them
MOST_FILES = 30  # of one observation
MOST_SHARING = 100  # others that have one name in common: of what many have, few are worth a look
COMMON = 1_000  # from then on nobody counts


class Lookups(Observations, Summaries, Search):
    def documents_beside(
        self, project_id: int, at: int, before: int, after: int, *, kind: str = "", source: int = 0
    ) -> tuple[list[Document], list[Document]]:
        """What comes before a thing and what comes after it, both in the order of time. No kind: around a
        moment; what happened at that moment comes after it."""
        rank = ORDER.index(kind) if kind in ORDER else len(ORDER) if kind else -1
        place = {"project_id": project_id, "at": at, "rank": rank, "source": source}
        earlier = [row["id"] for row in self.rows("lookups", "earlier", **place, limit=before)]
        later = [row["id"] for row in self.rows("lookups", "later", **place, limit=after)]
        found = {document.id: document for document in self.documents([*earlier, *later])}
        return (
            [found[key] for key in reversed(earlier) if key in found],
            [found[key] for key in later if key in found],
        )

    def observation_links(self, observation_id: int) -> list[tuple[int, str]]:
        """Who comes `before` in its story, `after`, or says the `same`."""
        rows = self.rows("lookups", "links", id=observation_id)
        return [(row["id"], row["what"]) for row in rows]

    def observations_sharing(self, observation: Observation) -> list[Shared]:
        """Files and concepts that others of the project have in common with it; of many, the newest."""
        draft = observation.draft
        files = list(dict.fromkeys((*draft.files_modified, *draft.files_read)))[:MOST_FILES]
        return [
            *(self._sharing(observation, "file", path) for path in files),
            *(self._sharing(observation, "concept", concept) for concept in draft.concepts),
        ]

    def _sharing(self, observation: Observation, what: str, name: str) -> Shared:
        whose = {"id": observation.id, "project_id": observation.project_id}
        named = whose | {"name": name, "file": file_name(name)}
        rows = self.rows("lookups", f"sharing_{what}", **named, most=MOST_SHARING)
        spread = len(rows)
        if spread == MOST_SHARING:
            counted = self.row("lookups", f"how_many_share_{what}", **named, most=COMMON)
            spread = int(counted[0]) if counted else spread
        return Shared(what, name, tuple(row["id"] for row in rows), spread)

    def observations_on(self, project_id: int, path: str, limit: int) -> list[Observation]:
        """What read or changed a file, the most telling first. A name, or the end of a path, will do."""
        path = sqlite_safe(path)
        rows = self.rows(
            "lookups",
            "on_file",
            project_id=project_id,
            path=path,
            name=file_name(path),
            escaped=escaped(path),
            limit=limit,
        )
        return [self._observation(row) for row in rows]

    def files_known(self, project_id: int, below: str, limit: int) -> list[KnownFile]:
        """The files that most is known about, among those whose path begins like that."""
        wanted = {"escaped": escaped(sqlite_safe(below)), "limit": limit}
        rows = self.rows("lookups", "files_known", project_id=project_id, **wanted)
        return [KnownFile(**dict(row)) for row in rows]

    def summary(self, summary_id: int) -> Summary | None:
        row = self.row("lookups", "summary", id=summary_id)
        return self._summary(row) if row else None

    def prompt_by_id(self, prompt_id: int) -> Prompt | None:
        row = self.row("lookups", "prompt", id=prompt_id)
        return Prompt(**dict(row)) if row else None

    def event_by_id(self, event_id: int) -> FoundEvent | None:
        row = self.row("lookups", "event", id=event_id)
        return FoundEvent(**dict(row)) if row else None

    def how_many_vectors(self) -> dict[str, int]:
        """By encoder."""
        rows = self.rows("lookups", "how_many_vectors")
        return {row["encoder"]: row["number"] for row in rows}

    def how_many_events_unread(self) -> int:
        """Whose texts are still to be indexed."""
        row = self.row("lookups", "how_many_events_unread")
        return int(row[0]) if row else 0
