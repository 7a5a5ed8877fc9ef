"""The tools of curated memories: remember, forget, memories; and what the looking tools need of them.

The worker writes; it is started if need be. Where it cannot be reached, its error says so.
"""

from contextlib import suppress
from operator import attrgetter

from recollect.errors import NotFound, RecollectError, StoreMissing
from recollect.memory import curating
from recollect.memory.choosing import selecting
from recollect.memory.choosing.finding import among
from recollect.memory.storage import checking
from recollect.memory.storage.changes import Memories
from recollect.model.memories import AGENT as BY_AGENT
from recollect.model.memories import MEMORY, StoredMemory
from recollect.model.search import OBSERVATION
from recollect.parameters import Misused
from recollect.recall.hits import HANDED_OVER
from recollect.recall.telling import name as called
from recollect.server import names, result_text
from recollect.server.place import AGENT, Place, Scope
from recollect.server.result_text import Line
from recollect.text import fenced, tokens
from recollect.worker import contact

NOTHING = "Nothing is remembered on request here, and nothing is pinned."


def remember(
    place: Place,
    *,
    text: str,
    type: str | None,  # noqa: A002
    files: tuple[str, ...],
) -> str:
    """Never as the user's: an agent may have read somewhere what it is to remember."""
    if why := place.paused():
        raise Misused(
            f"recollect is paused here: {why}. Nothing is kept until the user resumes it."
        )
    order: dict[str, object] = {"dir": place.directory, "session": place.session}
    # Only Claude Code names the session, and only its sessions are recorded.
    order |= {"agent": AGENT if place.session else ""}
    order |= {"text": text, "type": type, "by": BY_AGENT, "files": list(map(place.path, files))}
    answer = contact.order(place.paths, "remember", **order, name=None, team=False, pin=False)
    if "refused" in answer:
        raise Misused(answer["refused"])
    name = fenced(called(MEMORY, answer["name"]))
    if answer["known"]:
        return f"It was known already: {name}."
    return f"Remembered as {name}; later sessions are told it. `forget` takes it back."


def forget(place: Place, *, id: str, undo: bool) -> str:  # noqa: A002
    try:
        kind, which = names.parse_any(id)
    except ValueError as error:
        raise Misused(str(error)) from None
    if isinstance(which, str):
        return _forget_memory(place, which, undo=undo)
    if kind != OBSERVATION:
        raise Misused("Only observations (#12) and memories (memory:NAME) can be forgotten.")
    return _forget_observation(place, which, undo=undo)


def memories(place: Place, *, limit: int) -> str:
    held = place.memories()
    found = sorted(held.all().memories, key=attrgetter("importance"))
    lines = [_line(each, held) for each in selecting.ordered(found[:limit])]
    notes = [f"({len(found) - limit} more: raise `limit`.)"] if len(found) > limit else []
    try:
        scope = place.scope(None, elsewhere="")
    except (NotFound, StoreMissing):  # nobody has worked here yet
        scope = Scope(
            None, held.places.repository.name if held.places.repository else place.directory
        )
    if scope.project_id is not None:
        pinned = place.store.pinned_observations(scope.project_id)
        lines += [result_text.of_observation(each) for each in pinned[: limit - len(lines)]]
    return result_text.listed(place, scope, lines, notes=notes) if lines else NOTHING


def found(place: Place, scope: Scope, query: str) -> list[Line]:
    """The memories that a question is about."""
    held = place.memories(scope.project_id)
    near = among(place.finder.near(held.all().memories, query))
    return [_line(each.memory, held) for each in near]


def about_file(place: Place, scope: Scope, path: str) -> list[Line]:
    """Those that speak of a file, by its path or its name."""
    held = place.memories(scope.project_id)
    named = [
        each
        for each in held.all().memories
        if any(file == path or file.endswith(f"/{path}") for file, _ in each.memory.files)
    ]
    return [_line(each, held) for each in named]


def read(place: Place, scope: Scope, name: str) -> list[str]:
    """What one says, as lines."""
    held = place.memories(scope.project_id)
    stored = _named(held, name)
    heading, *rest = selecting.shown(stored).split("\n")
    state = str(checking.of(stored.memory, held.places.top))
    return [heading, *([f"(its files: {state})"] if state else []), *rest]


def _forget_memory(place: Place, name: str, *, undo: bool) -> str:
    held = place.memories()
    if undo:
        name = curating.restore(held, name)
    elif _named(held, name).pinned:
        raise Misused(f"The user has pinned it. Only they forget it: `recollect forget {name}`.")
    else:
        name = curating.retire(held, name, "an agent was asked to forget it")
    said = {"dir": place.directory, "name": name, "what": "restored" if undo else "retired"}
    with suppress(RecollectError):  # done is done; the next brief is right anyway
        contact.order(place.paths, "memories-changed", **said)
    shown = called(MEMORY, name)
    if undo:
        return f"{shown} is back as it was."
    return f"Forgotten: {shown}. forget(id='{shown}', undo=true) brings it back."


def _forget_observation(place: Place, number: int, *, undo: bool) -> str:
    scope = place.scope(None, elsewhere="")
    store, shown = place.store, called(OBSERVATION, number)
    assert scope.project_id is not None
    if undo:
        known = number in {each.observation_id for each in store.forgotten(scope.project_id)}
        if not (known and contact.order(place.paths, "restore", id=number)["found"]):
            raise NotFound(f"{shown} was not forgotten in this project.")
        return f"{shown} is back as it was."
    observation = store.observation(number)
    here = observation is not None and scope.holds(observation.project_id)
    answer = contact.order(place.paths, "forget-observation", id=number) if here else None
    if answer is None or not answer["found"]:
        raise NotFound(f"There is no {shown} in this project. Find ids with `search`.")
    return f"Forgotten: {shown}. forget(id='{number}', undo=true) brings it back."


def _named(held: Memories, name: str) -> StoredMemory:
    """In the words of the tools: an agent knows no commands."""
    try:
        return curating.named(held, name)
    except NotFound:
        raise NotFound(f"There is no {called(MEMORY, name)} here. `memories` lists them.") from None


def _line(stored: StoredMemory, held: Memories) -> Line:
    memory = stored.memory
    state = checking.of(memory, held.places.top).state
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
