"""Curated memories: the files that hold in a project, changed as the commands change them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from recollect.errors import MemoryRefused
from recollect.memory import curating
from recollect.memory.storage import checking, retiring
from recollect.memory.storage.changes import Memories
from recollect.model.memories import LONGEST_SAID, OF_USER, TYPES, USER, StoredMemory
from recollect.model.sessions import Project
from recollect.parameters import Parameter
from recollect.web.api import parts
from recollect.web.api.parts import (
    FLAG,
    MAYBE_NUMBER,
    MAYBE_TEXT,
    NUMBER,
    PROJECT,
    TEXT,
    many,
    shape,
)
from recollect.web.backend import Backend, Json
from recollect.web.rows import Row, Wrong, not_found


def listed(backend: Backend, *, project: int | None, retired: bool) -> Json:
    """The newest first."""
    where = parts.project(backend, project)
    held = backend.memories(directory(where))
    found = held.retired() if retired else held.all()
    flagged = {} if retired else _flags(held)
    return {
        "items": [
            row(each, where) | {"flagged": flagged.get(each.path)} for each in found.memories
        ],
        "broken": [{"path": str(each.path), "why": each.why} for each in found.broken],
        "left_out": found.left_out,
        "next": None,
    }


def one(backend: Backend, *, name: str, project: int | None, retired: bool) -> Json:
    held = held_in(backend, project)
    stored = held.retired().get(name) if retired else curating.named(held, name)
    if stored is None:
        raise not_found(
            f"No memory called {name!r} was retired. GET /api/memories?retired=1 lists them."
        )
    return _whole(held, stored, parts.project(backend, project))


def remember(
    backend: Backend, *, project: int, text: str, type: str | None, name: str | None, pin: bool
) -> Json:
    """What is known already is not kept twice; what it corrects is updated."""
    found = parts.project(backend, project)
    order: Json = {"dir": directory(found), "agent": "", "session": None, "by": USER}
    order |= {"text": text, "type": type or None, "name": name or None, "pin": pin}
    answer = backend.order("remember", **order, team=False, files=[])
    if why := answer.get("refused"):
        raise MemoryRefused(why)
    return {"name": answer["name"], "scope": answer["of"], "known": answer["known"]}


def change(
    backend: Backend, *, name: str, project: int | None, checksum: str, **given: Any
) -> Json:
    """The whole file as `text`, or some of its parts."""
    held = held_in(backend, project)
    stored = curating.own(held, name)
    text = given.pop("text")
    wanted = {field: value for field, value in given.items() if value is not None}
    if (text is None) == (not wanted):
        why = "Send either the whole file as `text`, or some of `body`, `description`, `type`, `pinned`."
        raise Wrong(400, "bad_request", why, "text")
    if text is not None:
        curating.rewrite(held, stored, text, checksum)
    else:
        curating.put(held, replace(stored.memory, **wanted), checksum)
    return _after(backend, held, project, stored.memory.name, "changed")


def retire(backend: Backend, *, name: str, project: int | None) -> Json:
    gone = curating.retire(held_in(backend, project), name, "by request")
    changed(backend, project, gone, "retired")
    return {"name": gone, "undo": True}


def restore(backend: Backend, *, name: str, project: int | None) -> Json:
    held = held_in(backend, project)
    return _after(backend, held, project, curating.restore(held, name), "restored")


def directory(project: Project | None) -> str:
    """Where memories are looked for; without a project only those of the user are found."""
    return project.root if project else str(Path.home())


def row(stored: StoredMemory, project: Project | None) -> Json:
    """`project`: where it was looked for. What is the user's is of all projects."""
    memory = stored.memory
    return curating.briefly(stored) | {
        "scope": stored.scope,
        "project_id": None if project is None or stored.scope == OF_USER else project.id,
        "ours": stored.is_ours,
        "updated": memory.updated or stored.modified,
        "because": str(memory.extra.get(retiring.BECAUSE) or "") or None,
    }


def held_in(backend: Backend, project: int | None) -> Memories:
    return backend.memories(directory(parts.project(backend, project)))


def _flags(held: Memories) -> dict[Path, Json]:
    found = checking.check(held, held.places.top)
    return {each.stored.path: curating.flags(each) for each in found if each.flagged}


def _whole(held: Memories, stored: StoredMemory, project: Project | None) -> Json:
    text, checksum = curating.whole(stored)
    return (
        row(stored, project)
        | curating.said(stored)
        | {
            "flagged": _flags(held).get(stored.path),
            "text": text,
            "checksum": checksum,
            "path": str(stored.path),
            "replaces": list(stored.memory.replaces),
        }
    )


def changed(backend: Backend, project: int | None, name: str | None, what: str) -> None:
    """Has the brief written anew, and whoever watches told."""
    folder = directory(parts.project(backend, project))
    backend.order("memories-changed", dir=folder, project=project, name=name, what=what)


def _after(backend: Backend, held: Memories, project: int | None, name: str, what: str) -> Json:
    changed(backend, project, name, what)
    return _whole(held, curating.named(held, name), parts.project(backend, project))


RETIRED = Parameter("retired", "Those that are no longer told.", "switch")
NAME = Parameter("name", "As its file is called, without the ending.", required=True, most=300)
LONGEST = 300_000  # characters of a file; larger ones are no memories
FLAGS = {
    "anyOf": [shape(changed=many(TEXT), gone=many(TEXT), dead_links=many(TEXT)), {"type": "null"}]
}
ITEM = shape(
    name=TEXT,
    description=TEXT,
    type=TEXT,
    scope=TEXT,
    project_id=MAYBE_NUMBER,
    ours=FLAG,
    pinned=FLAG,
    by_agent=FLAG,
    created=NUMBER,
    updated=NUMBER,
    tokens=NUMBER,
    because=MAYBE_TEXT,
    flagged=FLAGS,
)
WHOLE = shape(
    **ITEM["properties"],
    body=TEXT,
    text=TEXT,
    checksum=TEXT,
    evidence=many(TEXT),
    files=many(TEXT),
    path=TEXT,
    replaces=many(TEXT),
    replaced_by=MAYBE_TEXT,
)
PLACE = "/api/memories/{name}"
ROWS = (
    Row(
        "GET",
        "/api/memories",
        "What is remembered for a project and for the user; without a project, for the user.",
        listed,
        query=(PROJECT, RETIRED),
        answer=shape(items=many(ITEM), broken=many(shape(path=TEXT, why=TEXT)), left_out=NUMBER),
    ),
    Row(
        "POST",
        "/api/memories",
        "Remember something, in a person's words.",
        remember,
        query=(replace(PROJECT, required=True),),
        body=(
            Parameter("text", "What to remember.", required=True, most=LONGEST_SAID),
            Parameter("type", "By default its wording decides.", choices=TYPES),
            Parameter("name", "Write the memory of this name, or write it anew.", most=300),
            Parameter("pin", "First in every brief, and no dream may touch it.", "switch"),
        ),
        answer=shape(name=TEXT, scope=TEXT, known=FLAG),
    ),
    Row("GET", PLACE, "One memory.", one, (NAME,), (PROJECT, RETIRED), answer=WHOLE),
    Row(
        "PUT",
        PLACE,
        "Write one anew. `checksum` says which version was seen: an edited one is not overwritten.",
        change,
        place=(NAME,),
        query=(PROJECT,),
        body=(
            Parameter("checksum", "As it was when it was read.", required=True, most=100),
            Parameter("text", "The whole file.", most=LONGEST),
            Parameter("body", "What it says, in Markdown.", most=LONGEST),
            Parameter("description", "One line.", most=2000),
            Parameter("type", "What it is about.", choices=TYPES),
            Parameter("pinned", "Whether it comes first.", "flag"),
        ),
        answer=WHOLE,
    ),
    Row(
        "DELETE",
        PLACE,
        "Tell it no longer. It can be restored.",
        retire,
        place=(NAME,),
        query=(PROJECT,),
        answer=shape(name=TEXT, undo=FLAG),
    ),
    Row(
        "POST",
        f"{PLACE}/restore",
        "Tell a retired memory again.",
        restore,
        place=(NAME,),
        query=(PROJECT,),
        answer=WHOLE,
    ),
)
