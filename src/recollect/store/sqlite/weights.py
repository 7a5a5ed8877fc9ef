"""Whose words things are, where that is found out or said after they were stored."""

from recollect.model.jobs import OBSERVE, SUMMARIZE, Job
from recollect.model.observations import HELD_REASONS, ObservationDraft, SummaryDraft
from recollect.model.search import OBSERVATION, SUMMARY
from recollect.model.weights import Unweighed
from recollect.store.sqlite.database import Database, Row, write, write_one
from recollect.store.sqlite.values import joined


class Weights(Database):
    def unweighed(self, limit: int) -> list[Unweighed]:
        """Observations first: there are more of them, and more is told of them."""
        found = [
            _unweighed(OBSERVATION, OBSERVE, row)
            for row in self.rows("weights", "observations", limit=limit)
        ]
        return found or [
            _unweighed(SUMMARY, SUMMARIZE, row)
            for row in self.rows("weights", "summaries", limit=limit)
        ]

    def add_weight(self, observation_id: int, draft: ObservationDraft) -> None:
        """Its origins, and doubts for what only the web says. What is weighed already stays."""
        with self.transaction() as connection:
            values = {"origins": joined(draft.origins or ()), "sources": joined(draft.sources)}
            owner = {"id": observation_id}
            if write(connection, "weights", "set_observation", values | owner).rowcount:
                for doubt in draft.doubts:
                    if doubt.reason in HELD_REASONS:
                        said = {"part": doubt.part, "reason": doubt.reason}
                        write(connection, "weights", "doubt_observation", owner | said)

    def add_summary_weight(self, summary_id: int, draft: SummaryDraft) -> None:
        with self.transaction() as connection:
            owner = {"id": summary_id}
            values = owner | {"origins": joined(draft.origins or ())}
            if write(connection, "weights", "set_summary", values).rowcount:
                for doubt in draft.doubts:
                    if doubt.reason in HELD_REASONS:
                        said = {"part": doubt.part, "reason": doubt.reason}
                        write(connection, "weights", "doubt_summary", owner | said)

    def confirm(self, observation_id: int, *, confirmed: bool) -> int | None:
        """Which one bears it: what it is folded into, if it is folded. None: there is none."""
        with self.transaction() as connection:
            values = {"id": observation_id, "confirmed": int(confirmed)}
            row = write_one(connection, "weights", "confirm", values)
            return int(row["id"]) if row else None


def _unweighed(kind: str, job_kind: str, row: Row) -> Unweighed:
    turn = (row["session_id"], row["prompt_number"])
    job = None if row["job_id"] is None else Job(row["job_id"], job_kind, *turn, 0, "")
    return Unweighed(kind, row["id"], row["project_id"], job)
