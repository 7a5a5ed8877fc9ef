"""The tools that change something: remember and forget; and memories, which lists what they left.

The worker writes; it is started if need be. Where it cannot be reached, its error says so.
"""

from recollect.errors import NotFound
from recollect.model.notes import AGENT as BY_AGENT
from recollect.model.search import OBSERVATION
from recollect.recall.telling import name
from recollect.server import names, result_text
from recollect.server.parameters import Misused
from recollect.server.place import AGENT, Place
from recollect.worker import contact


def remember(
    place: Place,
    *,
    text: str,
    type: str,  # noqa: A002
    files: tuple[str, ...],
) -> str:
    """Never as the user's: an agent may have read somewhere what it is to remember."""
    order = {"dir": place.directory, "agent": AGENT, "session": place.session}
    said = {
        "text": text,
        "type": type,
        "by": BY_AGENT,
        "files": [place.path(path) for path in files],
    }
    answer = contact.order(place.paths, "remember", **order, **said)
    key = answer["id"]
    return (
        f"Remembered as #{key}; every later session here is told its title. `forget` takes it back."
    )


def forget(place: Place, *, id: str, undo: bool) -> str:  # noqa: A002
    try:
        kind, number = names.parse(id)
    except ValueError as error:
        raise Misused(str(error)) from None
    if kind != OBSERVATION:
        raise Misused("Only observations (#12) can be forgotten.")
    scope = place.scope(None, elsewhere="")
    store, called = place.store, name(kind, number)
    assert scope.project_id is not None
    if undo:
        known = number in {each.observation_id for each in store.forgotten(scope.project_id)}
        if not (known and contact.order(place.paths, "restore", id=number)["found"]):
            raise NotFound(f"{called} was not forgotten in this project.")
        return f"{called} is back as it was."
    observation = store.observation(number)
    here = observation is not None and scope.holds(observation.project_id)
    answer = contact.order(place.paths, "forget-observation", id=number) if here else None
    if answer is None or not answer["found"]:
        raise NotFound(
            f"There is no {called} in this project. Find ids with `search` or `memories`."
        )
    return f"Forgotten: {called}. forget(id='{number}', undo=true) brings it back."


def memories(place: Place, *, limit: int) -> str:
    scope = place.scope(None, elsewhere="")
    assert scope.project_id is not None
    found = place.store.remembered(scope.project_id, limit)
    if not found:
        return "Nothing is pinned or was remembered on request in this project yet."
    return result_text.listed(place, scope, [result_text.of_memory(each) for each in found])
