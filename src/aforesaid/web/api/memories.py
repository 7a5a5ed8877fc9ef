"""Curated memories, changed as the commands change them; their history; dreams; Markdown previews."""

from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from aforesaid.memory import curation
from aforesaid.memory.changes import Memories, undo_change
from aforesaid.memory.format import RETIRED_REASON
from aforesaid.memory.history import Entry
from aforesaid.model.memories import LONGEST_SAID, OF_USER, TYPES, USER, StoredMemory
from aforesaid.model.sessions import Project
from aforesaid.parameters import Parameter
from aforesaid.web.api import common
from aforesaid.web.api.common import BEFORE, PROJECT
from aforesaid.web.backend import Backend, Json
from aforesaid.web.endpoint import TREE, ApiError, endpoint, many, not_found, page_of, shape
from aforesaid.web.markdown import parse_markdown

LONGEST = 300_000  # characters of a file
NAME = Parameter("name", "Its file's name without the extension.", required=True, most=300)
ONE_PROJECT = replace(PROJECT, required=True)
RETIRED = Parameter("retired", "Retired memories instead.", "flag", default=False)
CHANGE_ID = Parameter("id", "A change's id, or its beginning.", required=True, most=100)
MEMORY_PATH = "/api/memories/{name}"
CHANGE_PATH = "/api/memories-log/{id}"
EITHER = "Send either the whole file as `text`, or some of `body`, `description`, `type`, `pinned`."
FLAGS = {"anyOf": [shape("changed:[str] gone:[str] dead_links:[str]"), {"type": "null"}]}
ITEM = shape(
    "name:str description:str type:str scope:str project_id:int? ours:bool pinned:bool by_agent:bool "
    "created:int updated:int tokens:int because:str?",
    flagged=FLAGS,
)
MEMORY = shape(
    "body:str text:str checksum:str evidence:[str] files:[str] path:str replaces:[str] replaced_by:str?",
    **ITEM["properties"],
    content=TREE,
)
CHANGE = shape("id:str at:int reason:str files:[str]")


@endpoint(
    "GET",
    "/api/memories",
    PROJECT,
    RETIRED,
    response=shape(
        "left_out:int next:str?", items=many(ITEM), broken=many(shape("path:str why:str"))
    ),
)
def list_memories(backend: Backend, *, project: int | None, retired: bool) -> Json:
    """List the memories of a project and of the user; without a project, only of the user."""
    where = common.find_project(backend, project)
    held = backend.memories(directory(where))
    found = held.retired() if retired else held.all()
    flags = {} if retired else _flags(held)
    return {
        "items": [
            memory_json(each, where) | {"flagged": flags.get(each.path)} for each in found.memories
        ],
        "broken": [{"path": str(each.path), "why": each.why} for each in found.broken],
        "left_out": found.left_out,
        "next": None,
    }


@endpoint(
    "POST",
    "/api/memories",
    Parameter("text", "What to remember.", required=True, most=LONGEST_SAID),
    Parameter("type", "Default: chosen by its wording.", choices=TYPES),
    Parameter("name", "Write or replace the memory with this name.", most=300),
    Parameter("pin", "Always in the brief, never changed by a dream.", "flag", default=False),
    query=(ONE_PROJECT,),
    response=shape("name:str scope:str known:bool redacted:bool"),
)
def add_memory(
    backend: Backend, *, project: int, text: str, type: str | None, name: str | None, pin: bool
) -> Json:
    """Add a memory. A known one is not stored twice; one that it corrects is updated. `redacted`: secrets in
    the text were replaced by marks."""
    folder = directory(common.find_project(backend, project))
    order: Json = {"dir": folder, "agent": "", "session": None, "by": USER, "pin": pin}
    order |= {"text": text, "type": type or None, "name": name or None, "team": False, "files": []}
    answer = backend.order("remember", **order)
    return {key: answer[key] for key in ("scope", "name", "known", "redacted")}


@endpoint("GET", MEMORY_PATH, NAME, PROJECT, RETIRED, response=MEMORY)
def read_memory(backend: Backend, *, name: str, project: int | None, retired: bool) -> Json:
    """Read a memory."""
    held = _memories(backend, project)
    stored = held.retired().get(name) if retired else curation.get_memory(held, name)
    if stored is None:
        raise not_found(
            f"There is no retired memory {name!r}. GET /api/memories?retired=1 lists them."
        )
    return _memory_json(held, stored, common.find_project(backend, project))


@endpoint(
    "PUT",
    MEMORY_PATH,
    NAME,
    Parameter("checksum", "Of the version that was read.", required=True, most=100),
    Parameter("text", "The whole file.", most=LONGEST),
    Parameter("body", "The content, in Markdown.", most=LONGEST),
    Parameter("description", "One line.", most=2000),
    Parameter("type", "Its type.", choices=TYPES),
    Parameter("pinned", "Pin or unpin.", "flag"),
    query=(PROJECT,),
    response=MEMORY,
)
def edit_memory(
    backend: Backend, *, name: str, project: int | None, checksum: str, **given: Any
) -> Json:
    """Edit a memory: the whole file as `text`, or some parts. Refused if the file has changed since
    `checksum`."""
    held = _memories(backend, project)
    stored = curation.get_own_memory(held, name)
    text = given.pop("text")
    wanted = {field: value for field, value in given.items() if value is not None}
    if (text is None) == (not wanted):
        raise ApiError(400, "bad_request", EITHER, "text")
    if text is not None:
        curation.rewrite_memory(held, stored, text, checksum)
    else:
        curation.save_memory(held, replace(stored.memory, **wanted), checksum)
    return _changed(backend, held, project, stored.memory.name, "changed")


@endpoint("DELETE", MEMORY_PATH, NAME, query=(PROJECT,), response=shape("name:str undo:bool"))
def retire_memory(backend: Backend, *, name: str, project: int | None) -> Json:
    """Retire a memory: it is no longer injected. Can be undone."""
    gone = curation.retire_memory(_memories(backend, project), name, "by request")
    _notify(backend, project, gone, "retired")
    return {"name": gone, "undo": True}


@endpoint("POST", f"{MEMORY_PATH}/restore", NAME, query=(PROJECT,), response=MEMORY)
def restore_memory(backend: Backend, *, name: str, project: int | None) -> Json:
    """Restore a retired memory."""
    held = _memories(backend, project)
    return _changed(backend, held, project, curation.restore_memory(held, name), "restored")


@endpoint(
    "GET",
    "/api/memories-log",
    PROJECT,
    Parameter("name", "Only of this memory, under earlier names too.", most=300),
    BEFORE,
    common.limit_parameter(50),
    response=page_of(CHANGE),
)
def list_changes(
    backend: Backend, *, project: int | None, name: str | None, before: str | None, limit: int
) -> Json:
    """List changes of memories, the latest first, including edits by hand."""
    held = _memories(backend, project)
    if name:
        entries = curation.list_changes(held, name)
    else:
        entries = held.history.log(None if before else limit + 1, held.folders)
    if before:
        last = next((n for n, each in enumerate(entries) if each.id == before), None)
        if last is None:
            raise common.bad_cursor("before")
        entries = entries[last + 1 :]
    items = [_change_json(each) for each in entries[:limit]]
    more = len(entries) > limit
    return {"items": items, "next": items[-1]["id"] if more else None}


@endpoint(
    "GET", CHANGE_PATH, CHANGE_ID, PROJECT, response=shape("diff:str", **CHANGE["properties"])
)
def read_change(backend: Backend, *, id: str, project: int | None) -> Json:
    """Read a change as a unified diff."""
    history = _memories(backend, project).history
    entry = history.entry(id)
    return _change_json(entry) | {"diff": history.diff(entry.id)}


@endpoint(
    "POST",
    f"{CHANGE_PATH}/undo",
    CHANGE_ID,
    Parameter("force", "Even if a file has changed since.", "flag", default=False),
    query=(PROJECT,),
    response=shape("undone:str entry:str? files:[str] kept_by_hand:[str]"),
)
def undo_memory_change(backend: Backend, *, id: str, project: int | None, force: bool) -> Json:
    """Undo a change. Refused if a file has changed since, unless forced. An undo can be undone."""
    done = undo_change(_memories(backend, project), id, force=force)
    names = {PurePosixPath(path).stem for path in done.paths}
    _notify(backend, project, names.pop() if len(names) == 1 else None, "changed")
    return {
        "undone": done.undone.id,
        "entry": done.entry,
        "files": list(done.paths),
        "kept_by_hand": [str(each) for each in done.kept_by_hand],
    }


@endpoint(
    "POST",
    "/api/dream",
    Parameter("dry_run", "Only show the changes.", "flag", default=True),
    query=(ONE_PROJECT,),
    response=shape("completed:bool lines:[str] diff:str entry:str? dry_run:bool"),
    slow=True,
)
def run_dream(backend: Backend, *, project: int, dry_run: bool) -> Json:
    """Consolidate memories: duplicates, contradictions, dead links, relative dates. A model, if any, is asked
    once, also in a dry run."""
    folder = directory(common.find_project(backend, project))
    answer = backend.order("dream", dir=folder, project=project, dry_run=dry_run)
    return answer | {"dry_run": dry_run}


@endpoint(
    "POST",
    "/api/markdown",
    Parameter("text", "The source.", most=LONGEST),
    response=shape(content=TREE),
)
def render_markdown(_: Backend, *, text: str | None) -> Json:
    """Parse Markdown, for a preview."""
    return {"content": parse_markdown(text or "")}


def directory(project: Project | None) -> str:
    """Where memories are looked for; without a project only those of the user are found."""
    return project.root if project else str(Path.home())


def memory_json(stored: StoredMemory, project: Project | None) -> Json:
    """`project`: where it was found. The user's own belong to no project."""
    memory = stored.memory
    return curation.summary_json(stored) | {
        "scope": stored.scope,
        "project_id": None if project is None or stored.scope == OF_USER else project.id,
        "ours": stored.is_ours,
        "updated": memory.updated or stored.modified,
        "because": str(memory.extra.get(RETIRED_REASON) or "") or None,
    }


def _memories(backend: Backend, project: int | None) -> Memories:
    return backend.memories(directory(common.find_project(backend, project)))


def _flags(held: Memories) -> dict[Path, Json]:
    found = curation.check_memories(held, held.places.top)
    return {each.stored.path: curation.problems_json(each) for each in found if each.flagged}


def _memory_json(held: Memories, stored: StoredMemory, project: Project | None) -> Json:
    text, checksum = curation.read_whole(stored)
    return {
        **memory_json(stored, project),
        **curation.content_json(stored),
        "content": parse_markdown(stored.memory.body),
        "flagged": _flags(held).get(stored.path),
        "text": text,
        "checksum": checksum,
        "path": str(stored.path),
        "replaces": list(stored.memory.replaces),
    }


def _change_json(entry: Entry) -> Json:
    return common.pick(entry, "id at reason") | {"files": list(entry.paths)}


def _notify(backend: Backend, project: int | None, name: str | None, what: str) -> None:
    folder = directory(common.find_project(backend, project))
    backend.order("memories-changed", dir=folder, project=project, name=name, what=what)


def _changed(backend: Backend, held: Memories, project: int | None, name: str, what: str) -> Json:
    _notify(backend, project, name, what)
    found = curation.get_memory(held, name)
    return _memory_json(held, found, common.find_project(backend, project))
