"""The filters that a search and a list have in common."""

from recollect.model.observations import TYPES
from recollect.model.search import Filters
from recollect.parameters import Parameter
from recollect.recall import lookup
from recollect.web.api import parts
from recollect.web.backend import Backend
from recollect.web.rows import Wrong

BACKWARDS = "`since` is later than `until`. Exchange them, or leave one out."
FILTERS = (
    parts.PROJECT,
    Parameter("type", "Only observations of this type; repeat it.", "names", choices=TYPES),
    Parameter("concept", "Only what is tagged with this; repeat it.", "names", most=500),
    Parameter("file", "Only what is about this file; repeat it.", "names", most=4096),
    Parameter("agent", "Only what this agent did.", most=100),
    Parameter("session", "Only of this session: its number.", "number", most=parts.LARGEST),
    parts.SINCE,
    parts.UNTIL,
)


def read(
    backend: Backend,
    *,
    project: int | None,
    type: tuple[str, ...],
    concept: tuple[str, ...],
    file: tuple[str, ...],
    agent: str | None,
    session: int | None,
    since: str | None,
    until: str | None,
) -> Filters:
    """What can never hold is a mistake, and no search that finds nothing."""
    parts.project(backend, project)
    if session is not None:
        parts.session(backend, session)
    found = Filters(
        project_id=project,
        types=type,
        concepts=concept,
        files=tuple(_as_recorded(backend, project, path) for path in file),
        agent=agent or None,
        session_id=session,
        since=parts.begin(backend, since),
        until=parts.end(backend, until),
    )
    if found.backwards:
        raise Wrong(400, "bad_request", BACKWARDS, "since")
    return found


def _as_recorded(backend: Backend, project: int | None, path: str) -> str:
    return path if project is None else lookup.as_recorded(backend.store, project, path)
