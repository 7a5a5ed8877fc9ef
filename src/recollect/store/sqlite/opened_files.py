"""What to tell about a file that is opened, and which files are worth the question."""

from recollect.model.observations import Observation
from recollect.store.sqlite.observations import Observations
from recollect.store.sqlite.values import escaped, file_name


class OpenedFiles(Observations):
    def files_worth_asking(self, project_id: int, *, untold_in: int, limit: int) -> list[str]:
        """The files that other sessions may have left something to tell about, newest first."""
        values = {"project_id": project_id, "session_id": untold_in, "limit": limit}
        return [row["path"] for row in self.rows("opened_files", "worth_asking", **values)]

    def observations_on_opening(
        self, project_id: int, path: str, *, untold_in: int, since: int = 0, limit: int
    ) -> list[Observation]:
        """What changed a file, and the decisions, bugfixes and discoveries for which it was read; pinned and
        newest first, without what that session did, or was told after `since`."""
        rows = self.rows(
            "opened_files",
            "speaking_of",
            project_id=project_id,
            path=path,
            name=file_name(path),
            escaped=escaped(path),
            session_id=untold_in,
            since=since,
            limit=limit,
        )
        found = [self.observation(row["id"]) for row in rows]
        return [observation for observation in found if observation is not None]
