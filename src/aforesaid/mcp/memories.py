"""The tools of curated memories: remember, forget, memories; and what the search tools need of them.

The worker writes; it is started if necessary.
"""

from contextlib import suppress
from operator import attrgetter

from aforesaid.errors import AforesaidError, NotFound, StoreMissing
from aforesaid.mcp import results
from aforesaid.mcp.context import AGENT, Context, Scope
from aforesaid.mcp.ids import parse_id
from aforesaid.mcp.results import Line
from aforesaid.memory.changes import Memories
from aforesaid.memory.curation import files_freshness, get_memory, restore_memory, retire_memory
from aforesaid.memory.ranking import likely_matches
from aforesaid.memory.selection import render_for_agent, sort_for_catalog
from aforesaid.model.memories import AGENT as BY_AGENT
from aforesaid.model.memories import MEMORY, StoredMemory
from aforesaid.model.search import OBSERVATION
from aforesaid.parameters import Misused
from aforesaid.recall.render import item_name
from aforesaid.recall.search import HANDED_OVER
from aforesaid.text import fenced, tokens
from aforesaid.worker import rpc

NOTHING = "There are no memories here, and nothing is pinned."


def remember(
    context: Context,
    *,
    text: str,
    type: str | None,  # noqa: A002
    files: tuple[str, ...],
) -> str:
    """Never as the user's words: an agent may have read somewhere what to remember."""
    if why := context.paused():
        raise Misused(
            f"aforesaid is paused here: {why}. Nothing is stored until the user resumes it."
        )
    order: dict[str, object] = {"dir": context.directory, "session": context.session}
    # Only Claude Code names the session, and only its sessions are recorded.
    order |= {"agent": AGENT if context.session else ""}
    order |= {"text": text, "type": type, "by": BY_AGENT, "files": list(map(context.path, files))}
    answer = rpc.order(context.paths, "remember", **order, name=None, team=False, pin=False)
    if "refused" in answer:
        raise Misused(answer["refused"])
    name = fenced(item_name(MEMORY, answer["name"]))
    if answer["known"]:
        return f"Already known: {name}."
    return f"Remembered as {name}, for later sessions. `forget` undoes this."


def forget(context: Context, *, id: str, undo: bool) -> str:  # noqa: A002
    kind, which = parse_id(id)
    if isinstance(which, str):
        return _forget_memory(context, which, undo=undo)
    if kind != OBSERVATION:
        raise Misused("Only observations (#12) and memories (memory:NAME) can be hidden.")
    return _forget_observation(context, which, undo=undo)


def memories(context: Context, *, limit: int) -> str:
    held = context.memories()
    found = sorted(held.all().memories, key=attrgetter("importance"))
    lines = [_line(each, held) for each in sort_for_catalog(found[:limit])]
    notes = [f"({len(found) - limit} more: raise `limit`.)"] if len(found) > limit else []
    try:
        scope = context.scope(None, hint="")
    except (NotFound, StoreMissing):  # nobody has worked here yet
        scope = Scope(
            None, held.places.repository.name if held.places.repository else context.directory
        )
    if scope.project_id is not None:
        pinned = context.store.observations.pinned(scope.project_id)
        lines += [results.of_observation(each) for each in pinned[: limit - len(lines)]]
    return results.listed(context, scope, lines, notes=notes) if lines else NOTHING


def found(context: Context, scope: Scope, query: str) -> list[Line]:
    """The memories that match a question."""
    held = context.memories(scope.project_id)
    near = likely_matches(context.ranker.near(held.all().memories, query))
    return [_line(each.memory, held) for each in near]


def about_file(context: Context, scope: Scope, path: str) -> list[Line]:
    """The memories about a file, by its path or its name."""
    held = context.memories(scope.project_id)
    named = [
        each
        for each in held.all().memories
        if any(file == path or file.endswith(f"/{path}") for file, _ in each.memory.files)
    ]
    return [_line(each, held) for each in named]


def read(context: Context, scope: Scope, name: str) -> list[str]:
    """The text of one, as lines."""
    held = context.memories(scope.project_id)
    stored = _named(held, name)
    heading, *rest = render_for_agent(stored).split("\n")
    state = str(files_freshness(stored.memory, held.places.top))
    return [heading, *([f"(its files: {state})"] if state else []), *rest]


def _forget_memory(context: Context, name: str, *, undo: bool) -> str:
    held = context.memories()
    if undo:
        name = restore_memory(held, name)
    elif _named(held, name).pinned:
        raise Misused(f"The user pinned it, and only they can hide it: `aforesaid forget {name}`.")
    else:
        name = retire_memory(held, name, "an agent was asked to forget it")
    said = {"dir": context.directory, "name": name, "what": "restored" if undo else "retired"}
    with suppress(AforesaidError):  # it is done; only the prepared brief is older
        rpc.order(context.paths, "memories-changed", **said)
    shown = item_name(MEMORY, name)
    if undo:
        return f"Restored: {shown}."
    return f"Hidden: {shown}. forget(id='{shown}', undo=true) brings it back."


def _forget_observation(context: Context, number: int, *, undo: bool) -> str:
    scope = context.scope(None, hint="")
    store, shown = context.store, item_name(OBSERVATION, number)
    assert scope.project_id is not None
    if undo:
        known = number in {
            each.observation_id for each in store.observations.hidden(scope.project_id)
        }
        if not (known and rpc.order(context.paths, "restore", id=number)["found"]):
            raise NotFound(f"{shown} is not hidden in this project.")
        return f"Restored: {shown}."
    observation = store.observations.get(number)
    here = observation is not None and scope.holds(observation.project_id)
    answer = rpc.order(context.paths, "forget-observation", id=number) if here else None
    if answer is None or not answer["found"]:
        raise NotFound(f"There is no {shown} in this project. Find ids with `search`.")
    return f"Hidden: {shown}. forget(id='{number}', undo=true) brings it back."


def _named(held: Memories, name: str) -> StoredMemory:
    """The error names a tool: an agent knows no commands."""
    try:
        return get_memory(held, name)
    except NotFound:
        raise NotFound(
            f"There is no {item_name(MEMORY, name)} here. `memories` lists them."
        ) from None


def _line(stored: StoredMemory, held: Memories) -> Line:
    memory = stored.memory
    state = files_freshness(memory, held.places.top).state
    return Line(
        MEMORY,
        memory.name,
        None,
        memory.updated or memory.created or stored.modified,
        stored.label,
        memory.description,
        tokens(memory.text) + HANDED_OVER,
        ("pinned",) if stored.pinned else (),
        files=state,
    )
