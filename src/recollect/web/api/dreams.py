"""Dreams: the memories of a project put in order, or shown what that would do."""

from dataclasses import replace

from recollect.errors import MemoryRefused
from recollect.parameters import Parameter
from recollect.web.api import parts
from recollect.web.api.memories import directory
from recollect.web.api.parts import FLAG, MAYBE_TEXT, PROJECT, TEXT, many, shape
from recollect.web.backend import Backend, Json
from recollect.web.rows import Row


def dream(backend: Backend, *, project: int, dry_run: bool | None) -> Json:
    """A model, if there is one, is asked once, in a dry run too. Unless it is told to, it changes nothing."""
    folder = directory(parts.project(backend, project))
    answer = backend.order("dream", dir=folder, project=project, dry_run=dry_run is not False)
    if why := answer.get("refused"):
        raise MemoryRefused(why)
    return answer | {"dry_run": dry_run is not False}


ROWS = (
    Row(
        "POST",
        "/api/dream",
        "Put the memories in order: duplicates, contradictions, dead links, relative dates.",
        dream,
        query=(replace(PROJECT, required=True),),
        body=(
            Parameter("dry_run", "Only show what would change; true unless it is false.", "flag"),
        ),
        answer=shape(completed=FLAG, lines=many(TEXT), diff=TEXT, entry=MAYBE_TEXT, dry_run=FLAG),
        slow=True,
    ),
)
