"""What was forgotten, and bringing it back."""

from recollect.web.api import parts
from recollect.web.api.parts import BEFORE, ID, MAYBE_TEXT, NUMBER, PROJECT, page_of, shape
from recollect.web.backend import Backend, Json
from recollect.web.rows import Row, not_found


def listed(backend: Backend, *, project: int | None, before: str | None, limit: int) -> Json:
    """The latest first."""
    wanted = parts.project(backend, project)
    projects = [wanted] if wanted else backend.store.projects()
    cursor = parts.cursor(before, 2, "before")
    ids = [each.id for each in projects]
    found = backend.store.forgotten_page(ids, cursor, limit + 1)
    items = [
        {
            "id": each.observation_id,
            "at": each.at,
            "title": each.title,
            "project_id": each.project_id,
            "session_id": each.session_id,
        }
        for each in found[:limit]
    ]
    return parts.page(items, [(each.at, each.observation_id) for each in found], limit)


def restore(backend: Backend, *, id: int) -> Json:
    answer = backend.order("restore", id=id)
    if not answer["found"]:
        raise not_found(f"#{id} was not forgotten. GET /api/forgotten lists what was.")
    return {"id": id, "title": answer["title"]}


ROWS = (
    Row(
        "GET",
        "/api/forgotten",
        "What was forgotten, the latest first.",
        listed,
        query=(PROJECT, BEFORE, parts.limit(50)),
        answer=page_of(
            shape(id=NUMBER, at=NUMBER, title=MAYBE_TEXT, project_id=NUMBER, session_id=NUMBER)
        ),
    ),
    Row(
        "POST",
        "/api/observations/{id}/restore",
        "Bring a forgotten one back as it was.",
        restore,
        place=(ID,),
        answer=shape(id=NUMBER, title=MAYBE_TEXT),
    ),
)
