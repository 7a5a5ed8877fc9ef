"""Projects, with how much there is of each."""

from dataclasses import asdict

from recollect.web.api.parts import MAYBE_NUMBER, NUMBER, TEXT, page_of, shape
from recollect.web.backend import Backend, Json
from recollect.web.rows import Row

ITEM = shape(
    id=NUMBER, name=TEXT, root=TEXT, sessions=NUMBER, observations=NUMBER, last_at=MAYBE_NUMBER
)


def listed(backend: Backend) -> Json:
    return {"items": [asdict(each) for each in backend.store.project_totals()], "next": None}


ROWS = (
    Row(
        "GET",
        "/api/projects",
        "All projects; the one that was worked on last comes first.",
        listed,
        answer=page_of(ITEM),
    ),
)
