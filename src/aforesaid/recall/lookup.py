"""From one item to others: its neighbours in time, related observations, and what is known about a file."""

import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from aforesaid.model.observations import Observation
from aforesaid.model.search import (
    EVENT,
    OBSERVATION,
    PROMPT,
    SESSION,
    Filters,
    Hit,
    Reason,
)
from aforesaid.model.sessions import Session
from aforesaid.recall.resolve import as_recorded, get_thing
from aforesaid.recall.search import Searcher, event_hit, make_hit
from aforesaid.store.store import Store

LIKENESS_TEXT = 1_500  # characters of an observation that others are compared with
LIKENESS_FACTS = 6
# Of its likeness to itself, in words and in meaning: with less it is another matter.
ALIKE, NEAR = 0.15, 0.4
UNUSUAL = 1.0  # standard deviations in meaning
LINKED = {
    "before": ("story", 2.0, "what came before it"),
    "after": ("story", 2.2, "what came after it"),
    "same": ("repetition", 2.0, "it says the same"),
}
WEIGHTS = {"file": 0.8, "concept": 0.5, "words": 1.0, "meaning": 0.6}
LOOKED_AT = 3  # times the limit
SAME_SESSION = -0.2  # it is found by looking around anyway
NAMED = 3  # shared files or concepts in a reason
BEHIND_ALL = 2**62  # a number that no prompt has
Place = tuple[int, int, str, int]  # project, time, kind, number


def timeline(
    searcher: Searcher,
    store: Store,
    *,
    project_id: int | None,
    around: tuple[str, int] | None = None,
    at: int | None = None,
    before: int = 5,
    after: int = 5,
) -> list[Hit]:
    """The items before and after an item (kind, number) or a time, in order, across the sessions of the
    project. The item itself is included, unless it is a session. Empty if there is no such item."""
    place = _place(store, *around) if around else None
    if around is None and project_id is not None and at is not None:
        place = (project_id, at, "", 0)
    if place is None:
        return []
    project, moment, kind, source = place
    itself = _find_hit(searcher, store, *around) if around else None
    earlier, later = store.index.documents_around(
        project, moment, before, after, kind=kind, source=source
    )
    return list(filter(None, [*map(searcher.hit, earlier), itself, *map(searcher.hit, later)]))


def related(searcher: Searcher, store: Store, observation_id: int, limit: int = 5) -> list[Hit]:
    """Observations of the same project that are related to one, with the reasons: links, shared files and
    concepts, similar words and meaning."""
    observation = store.observations.get(observation_id)
    if observation is None:
        return []
    reasons: dict[int, list[Reason]] = defaultdict(list)
    for key, what in store.observations.links(observation_id):
        reasons[key].append(Reason(*LINKED[what]))
    for key, reason in (*_shared(store, observation), *_alike(searcher, observation)):
        reasons[key].append(reason)
    best = sorted(reasons, key=lambda key: (-_points(reasons[key]), -key))[: limit * LOOKED_AT]
    hits = {key: hit for key in best if (hit := _find_hit(searcher, store, OBSERVATION, key))}
    for key, hit in hits.items():
        if hit.session_id == observation.session_id:
            reasons[key].append(Reason("same session", SAME_SESSION))
    chosen = sorted(hits, key=lambda key: (-_points(reasons[key]), -hits[key].at))[:limit]
    return [
        replace(hits[key], reasons=tuple(reasons[key]), score=_points(reasons[key]))
        for key in chosen
    ]


def about_file(store: Store, project_id: int, path: str, limit: int = 10) -> list[Observation]:
    """Observations that read or changed a file, best first. The path is relative to the project's directory,
    the end of such a path, or absolute. For a directory: observations on the files in it."""
    path = as_recorded(store, project_id, path)
    found = store.observations.for_file(project_id, path, limit)
    if found or not path:
        return found
    below = store.observations.known_files(project_id, f"{path}/", limit)
    every = (store.observations.for_file(project_id, file.path, limit) for file in below)
    return list({one.id: one for some in every for one in some}.values())[:limit]


def is_directory(store: Store, project_id: int, path: str) -> bool:
    """As recorded, whatever is on disk: nothing is known about a file of this name, but about files in it."""
    path = as_recorded(store, project_id, path)
    if not path or store.observations.for_file(project_id, path, 1):
        return False
    return bool(store.observations.known_files(project_id, f"{path}/", 1))


def _place(store: Store, kind: str, source: int) -> Place | None:
    thing = get_thing(store, kind, source)
    if thing is None:
        return None
    if isinstance(thing.value, Session):
        return thing.project_id, thing.value.started_at, "", 0
    if kind == EVENT:  # behind its prompt, before what was made of it
        return thing.project_id, thing.at, PROMPT, BEHIND_ALL
    return thing.project_id, thing.at, kind, source


def _find_hit(searcher: Searcher, store: Store, kind: str, source: int) -> Hit | None:
    """None for a session, which is no moment. One that repeats another is only in the store."""
    if kind == SESSION:
        return None
    event = store.events.get(source) if kind == EVENT else None
    if event is not None:
        return event_hit(event)
    document = store.index.find_document(kind, source)
    if document is not None:
        return next((searcher.hit(each) for each in store.index.documents([document])), None)
    observation = store.observations.get(source) if kind == OBSERVATION else None
    return observation_hit(observation) if observation else None


def observation_hit(observation: Observation) -> Hit:
    draft = observation.draft
    body = "\n".join(filter(None, (draft.subtitle, *draft.facts, draft.narrative)))
    return replace(
        make_hit(OBSERVATION, observation.id, observation, draft.title or "", body),
        type=draft.type,
        unverified=any(doubt.part in ("title", "subtitle") for doubt in draft.doubts),
        pinned=observation.pinned,
        files=tuple(dict.fromkeys((*draft.files_modified, *draft.files_read))),
    )


def _shared(store: Store, observation: Observation) -> Iterator[tuple[int, Reason]]:
    """Observations that share files or concepts. Rare ones count more."""
    found: dict[tuple[int, str], list[tuple[float, str]]] = defaultdict(list)
    for what, name, ids in store.observations.sharing(observation):
        weighted = (1 / math.log2(len(ids) + 2), name)
        for key in ids:
            found[key, what].append(weighted)
    for (key, what), names in found.items():
        names.sort(reverse=True)
        points = WEIGHTS[what] * (1 - math.prod(1 - weight for weight, _ in names))
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        because = ", ".join(name for _, name in names[:NAMED]) + more
        yield key, Reason(f"same {what}", points, because)


def _alike(searcher: Searcher, observation: Observation) -> Iterator[tuple[int, Reason]]:
    """Observations found by its own text as the query, scored relative to its own match."""
    draft = observation.draft
    text = "\n".join(filter(None, (draft.title, draft.subtitle, *draft.facts[:LIKENESS_FACTS])))
    filters = Filters(project_id=observation.project_id, kinds=(OBSERVATION,))
    _, found, _ = searcher.find(text[:LIKENESS_TEXT], filters)
    words = max((each.words for each in found), default=0.0)
    meaning = max((each.meaning for each in found), default=0.0)
    for each in found:
        key = each.document.source
        if key == observation.id:
            continue
        if words and each.words >= ALIKE * words:
            yield key, Reason("like words", WEIGHTS["words"] * each.words / words)
        if meaning and each.meaning > max(UNUSUAL, NEAR * meaning):
            near = (each.meaning / meaning - NEAR) / (1 - NEAR)
            yield key, Reason("like meaning", WEIGHTS["meaning"] * near)


def _points(reasons: list[Reason]) -> float:
    return sum(reason.points for reason in reasons)
