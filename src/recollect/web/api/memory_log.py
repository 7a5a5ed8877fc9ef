"""The history of the memories: what changed when and why, and taking it back."""

from pathlib import PurePosixPath

from recollect.memory import curating
from recollect.memory.storage.undoing import undo as undo_change
from recollect.parameters import Parameter
from recollect.web.api import parts
from recollect.web.api.memories import changed, held_in
from recollect.web.api.parts import BEFORE, MAYBE_TEXT, NUMBER, PROJECT, TEXT, many, page_of, shape
from recollect.web.backend import Backend, Json
from recollect.web.rows import Row, Wrong


def log(
    backend: Backend, *, project: int | None, name: str | None, before: str | None, limit: int
) -> Json:
    """Every change, the latest first, hand edits too."""
    held = held_in(backend, project)
    history = held.history
    if name:
        entries = curating.changes_of(held, name)
    else:
        entries = history.log(None if before else limit + 1, held.folders)
    if before:
        last = next((n for n, each in enumerate(entries) if each.id == before), None)
        if last is None:
            why = "`before` is `next` of the page before, or left out."
            raise Wrong(400, "bad_cursor", why, "before")
        entries = entries[last + 1 :]
    items = [
        {"id": each.id, "at": each.at, "reason": each.reason, "files": list(each.paths)}
        for each in entries[:limit]
    ]
    more = len(entries) > limit
    return {
        "items": items,
        "next": items[-1]["id"] if more else None,
        "unseen": history.cannot_show(),
    }


def diff(backend: Backend, *, id: str, project: int | None) -> Json:
    history = held_in(backend, project).history
    entry = history.entry(id)
    return {
        "id": entry.id,
        "at": entry.at,
        "reason": entry.reason,
        "files": list(entry.paths),
        "diff": history.diff(entry.id),
    }


def undo(backend: Backend, *, id: str, project: int | None, force: bool) -> Json:
    """Undo the undo to have it again."""
    done = undo_change(held_in(backend, project), id, force=force)
    names = {PurePosixPath(path).stem for path in done.paths}
    changed(backend, project, names.pop() if len(names) == 1 else None, "changed")
    return {
        "undone": done.undone.id,
        "entry": done.entry,
        "files": list(done.paths),
        "kept_by_hand": [str(each) for each in done.kept_by_hand],
    }


CHANGE = Parameter("id", "Of a change, or its beginning.", required=True, most=100)
ENTRY = shape(id=TEXT, at=NUMBER, reason=TEXT, files=many(TEXT))
PLACE = "/api/memories-log/{id}"
ROWS = (
    Row(
        "GET",
        "/api/memories-log",
        "Every change of the memories, the latest first.",
        log,
        query=(
            PROJECT,
            Parameter("name", "Only of this memory, whatever it was called before.", most=300),
            BEFORE,
            parts.limit(50),
        ),
        answer=page_of(ENTRY),
    ),
    Row(
        "GET",
        PLACE,
        "What a change has changed, as a unified diff.",
        diff,
        place=(CHANGE,),
        query=(PROJECT,),
        answer=shape(**ENTRY["properties"], diff=TEXT),
    ),
    Row(
        "POST",
        f"{PLACE}/undo",
        "Take a change back. It is refused where a file was changed since, unless it is forced.",
        undo,
        place=(CHANGE,),
        query=(PROJECT,),
        body=(Parameter("force", "Also where a file was changed since.", "switch"),),
        answer=shape(undone=TEXT, entry=MAYBE_TEXT, files=many(TEXT), kept_by_hand=many(TEXT)),
    ),
)
