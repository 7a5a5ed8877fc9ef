"""From one thing to others: what stands around it in time, what it hangs together with, what is known of a
file. What one of them says: `telling.told`.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace

from recollect.model.observations import Observation
from recollect.model.search import (
    EVENT,
    OBSERVATION,
    PROMPT,
    SESSION,
    Document,
    Filters,
    FoundEvent,
    Hit,
    Reason,
)
from recollect.recall.excerpts import excerpt
from recollect.recall.hits import HANDED_OVER
from recollect.recall.search import Searcher
from recollect.store.protocol import Reading
from recollect.text import one_line, tokens

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
TITLE_LENGTH = 120
LOOKED_AT = 3  # times the limit
SAME_SESSION = -0.2  # it is found by looking around anyway
NAMED = 3  # shared files or concepts in a reason
NOT_INDEXED = "(what it says is not indexed)"
BEHIND_ALL = 2**62  # a number that no prompt has
Place = tuple[int, int, str, int]  # project, time, kind, number


def timeline(
    searcher: Searcher,
    store: Reading,
    *,
    project_id: int | None,
    around: tuple[str, int] | None = None,
    at: int | None = None,
    before: int = 5,
    after: int = 5,
    limit: int | None = None,
) -> list[Hit]:
    """What stands around a thing (kind, number) or a time, in the order of time, across the sessions of the
    project; the thing itself is among them, unless it is a session. `limit`: so many in all, instead of so
    many before and after. Nothing, if there is no such thing."""
    if around is not None:
        place = _place(store, *around)
    else:
        place = (project_id, at, "", 0) if project_id is not None and at is not None else None
    if place is None:
        return []
    project, moment, kind, source = place
    itself = _itself(searcher, store, *around) if around else None
    beside = None if limit is None else limit - (itself is not None)
    if beside is not None:
        before = after = beside
    earlier, later = store.documents_beside(
        project, moment, before, after, kind=kind, source=source
    )
    if beside is not None:
        # Where one side has too few, the other makes up for it. What happens at a time comes after it.
        after = min(len(later), max((beside + (itself is None)) // 2, beside - len(earlier)))
        earlier, later = earlier[max(0, len(earlier) - beside + after) :], later[:after]
    hits = [*map(searcher.hit, earlier), itself, *map(searcher.hit, later)]
    return [hit for hit in hits if hit is not None]


def related(searcher: Searcher, store: Reading, observation_id: int, limit: int = 5) -> list[Hit]:
    """What hangs together with an observation, in whichever session of its project: its story, its files, its
    concepts, what speaks of the same. Each says why."""
    observation = store.observation(observation_id)
    if observation is None:
        return []
    reasons: dict[int, list[Reason]] = defaultdict(list)
    for key, what in store.observation_links(observation_id):
        reasons[key].append(Reason(*LINKED[what]))
    for key, reason in (*_shared(store, observation), *_alike(searcher, observation)):
        reasons[key].append(reason)
    best = sorted(reasons, key=lambda key: (-_points(reasons[key]), -key))[: limit * LOOKED_AT]
    places = _places(store, best)
    for key, place in places.items():
        if place.session_id == observation.session_id:
            reasons[key].append(Reason("same session", SAME_SESSION))
    chosen = sorted(places, key=lambda key: (-_points(reasons[key]), -places[key].at))[:limit]
    hits = [(key, _told(searcher, places[key])) for key in chosen]
    return [
        replace(hit, reasons=tuple(reasons[key]), score=_points(reasons[key]))
        for key, hit in hits
        if hit is not None
    ]


def about_file(store: Reading, project_id: int, path: str, limit: int = 10) -> list[Observation]:
    """What read or changed a file, the most telling first. Its path from the project's directory, or the end
    of it, or an absolute one. Of a directory: of the files in it that most is known about."""
    path = as_recorded(store, project_id, path)
    found = store.observations_on(project_id, path, limit)
    if found or not path:
        return found
    below = store.files_known(project_id, f"{path}/", limit)
    every = (one for file in below for one in store.observations_on(project_id, file.path, limit))
    return list({one.id: one for one in every}.values())[:limit]


def is_directory(store: Reading, project_id: int, path: str) -> bool:
    """By what is recorded, whatever is on disk: nothing is known about such a file, but about files in it."""
    path = as_recorded(store, project_id, path)
    if not path or store.observations_on(project_id, path, 1):
        return False
    return bool(store.files_known(project_id, f"{path}/", 1))


def as_recorded(store: Reading, project_id: int, path: str) -> str:
    """From the project's directory."""
    for root in (store.project(project_id).root, *store.dirs_of_project(project_id)):
        path = path.removeprefix(root.rstrip("/") + "/")
    return path.removeprefix("./").rstrip("/")


def _place(store: Reading, kind: str, source: int) -> Place | None:
    match kind:
        case "observation" | "summary":
            found = store.observation(source) if kind == OBSERVATION else store.summary(source)
            return (found.project_id, found.at, kind, source) if found else None
        case "prompt":
            prompt = store.prompt_by_id(source)
            session = store.session(prompt.session_id) if prompt else None
            return (session.project_id, prompt.at, kind, source) if prompt and session else None
        case "session":
            session = store.session(source)
            return (session.project_id, session.started_at, "", 0) if session else None
        case "event":
            event = store.event_by_id(source)
            # Behind its prompt, before what was made of it.
            return (event.project_id, event.at, PROMPT, BEHIND_ALL) if event else None
    return None


def _itself(searcher: Searcher, store: Reading, kind: str, source: int) -> Hit | None:
    """None for a session: it is no moment. One that is folded into another is not in the index, but there."""
    if kind == SESSION:
        return None
    event = store.event_by_id(source) if kind == EVENT else None
    if event is not None:
        return _of_event(event)
    document = store.document_of(kind, source)
    if document is not None:
        return next((searcher.hit(each) for each in store.documents([document])), None)
    observation = store.observation(source) if kind == OBSERVATION else None
    return _hit(observation) if observation else None


def _places(store: Reading, ids: Iterable[int]) -> dict[int, Document | Observation]:
    """Where observations stand. One that is folded into another is not in the index, but there."""
    numbers = {key: store.document_of(OBSERVATION, key) for key in ids}
    known = [number for number in numbers.values() if number is not None]
    documents: dict[int, Document] = {each.source: each for each in store.documents(known)}
    found = {key: documents.get(key) or store.observation(key) for key in numbers}
    return {key: place for key, place in found.items() if place is not None}


def _told(searcher: Searcher, place: Document | Observation) -> Hit | None:
    return searcher.hit(place) if isinstance(place, Document) else _hit(place)


def _of_event(event: FoundEvent) -> Hit:
    text = event.text or NOT_INDEXED
    return Hit(
        kind=EVENT,
        id=event.id,
        session_id=event.session_id,
        project_id=event.project_id,
        at=event.at,
        type=event.tool,
        title=one_line(text, TITLE_LENGTH),
        excerpt=excerpt(text, ()),
        doubted=False,
        tokens=tokens(text) + HANDED_OVER,
        origin=event.origin,
    )


def _hit(observation: Observation) -> Hit:
    draft = observation.draft
    body = "\n".join(filter(None, (draft.subtitle, *draft.facts, draft.narrative)))
    return Hit(
        kind=OBSERVATION,
        id=observation.id,
        session_id=observation.session_id,
        project_id=observation.project_id,
        at=observation.at,
        type=draft.type,
        title=one_line(draft.title or body, TITLE_LENGTH),
        excerpt=excerpt(body or draft.title or "", ()),
        doubted=any(doubt.part in ("title", "subtitle") for doubt in draft.doubts),
        pinned=observation.pinned,
        tokens=tokens(draft.title or "") + tokens(body) + HANDED_OVER,
        files=tuple(dict.fromkeys((*draft.files_modified, *draft.files_read))),
    )


def _shared(store: Reading, observation: Observation) -> Iterator[tuple[int, Reason]]:
    """What few have in common says more than what everything is about."""
    found: dict[tuple[int, str], list[tuple[float, str]]] = defaultdict(list)
    for shared in store.observations_sharing(observation):
        weighed = (1 / math.log2(shared.spread + 2), shared.name)
        for key in shared.ids:
            found[key, shared.what].append(weighed)
    for (key, what), names in found.items():
        names.sort(reverse=True)
        points = WEIGHTS[what] * (1 - math.prod(1 - weight for weight, _ in names))
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        because = ", ".join(name for _, name in names[:NAMED]) + more
        yield key, Reason(f"same {what}", points, because)


def _alike(searcher: Searcher, observation: Observation) -> Iterator[tuple[int, Reason]]:
    """By its own words, asked like a question; how well it answers that itself is the measure."""
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
