"""Search, as `recollect search` does it, with what the findings have in common."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from recollect.memory.choosing.finding import among
from recollect.model.search import LEVELS, OBSERVATION, Document, Hit, Query
from recollect.parameters import Parameter
from recollect.recall.shown import Shown
from recollect.terms import asked
from recollect.web.api import filtering, memories, parts
from recollect.web.api.filtering import FILTERS
from recollect.web.api.parts import FLAG, MAYBE_NUMBER, MAYBE_TEXT, NUMBER, TEXT, many, shape
from recollect.web.backend import Backend, Json
from recollect.web.rows import Row, Wrong

COUNTED = 200  # the best findings, for what they have in common
MOST_VALUES = 20  # of one kind


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a finding stands."""

    kind: str
    source: int
    project_id: int
    session_id: int
    at: int


def search(backend: Backend, *, q: str, level: str, limit: int, **given: Any) -> Json:
    query = _possible(Query(q, filtering.read(backend, **given), level, limit + 1))
    answer, documents = backend.searcher.explore(query)
    hits = answer.hits[:limit]
    shown = Shown(backend.store, terms=asked(q))
    places = [_of_document(each) for each in documents] or [_of_hit(each) for each in hits]
    return {
        "query": q,
        "level": level,
        "without": answer.without,
        "hits": [_hit(shown, each) for each in hits],
        "more": len(answer.hits) > limit,
        "memories": _memories(backend, query),
        "facets": facets(backend, places[:COUNTED]),
        "counted": len(places[:COUNTED]),
    }


def facets(backend: Backend, places: Iterable[_Place]) -> Json:
    """The commonest first; days in their order."""
    found = list(places)
    names = parts.names(backend)
    projects = Counter(each.project_id for each in found)
    days = Counter(parts.day(each.at) for each in found)
    sessions = backend.store.agents_of_sessions({each.session_id for each in found})
    agents = Counter(sessions.get(each.session_id, "") for each in found)
    said = backend.store.facets_of(
        [each.source for each in found if each.kind == OBSERVATION], MOST_VALUES
    )
    told: Json = {
        name: [{"value": value, "count": number} for value, number in values]
        for name, values in said.items()
    }
    told["project"] = [
        {"value": key, "label": names.get(key, ""), "count": number}
        for key, number in projects.most_common(MOST_VALUES)
    ]
    told["agent"] = [{"value": v, "count": n} for v, n in agents.most_common(MOST_VALUES) if v]
    told["day"] = [{"value": value, "count": n} for value, n in sorted(days.items()) if value]
    return told


def _possible(query: Query) -> Query:
    """What can never hold is a mistake, and no search that finds nothing."""
    if name := query.in_vain:
        why = f"`{query.level}` have no {name}. Leave out `{name}` or `level`."
        raise Wrong(400, "bad_request", why, name)
    if query.filters.types and query.level in ("titles", "full"):
        return replace(query, filters=replace(query.filters, kinds=(OBSERVATION,)))
    return query


def _hit(shown: Shown, hit: Hit) -> Json:
    return shown.json(hit) | {"excerpt": hit.excerpt, "marked_title": shown.title(hit)}


def _memories(backend: Backend, query: Query) -> list[Json]:
    if not query.finds_memories:
        return []
    project = parts.project(backend, query.filters.project_id)
    held = backend.memories(memories.directory(project))
    return [
        memories.row(each.memory, project) | {"why": each.why, "score": round(each.score, 3)}
        for each in among(backend.finder.near(held.all().memories, query.text))
    ]


def _of_document(each: Document) -> _Place:
    return _Place(each.kind, each.source, each.project_id, each.session_id, each.at)


def _of_hit(hit: Hit) -> _Place:
    return _Place(hit.kind, hit.id, hit.project_id, hit.session_id, hit.at)


REASON = shape(name=TEXT, points={"type": "number"}, because=TEXT)
HIT = shape(
    kind=TEXT,
    id=NUMBER,
    name=TEXT,
    title=TEXT,
    marked_title=TEXT,
    type=MAYBE_TEXT,
    excerpt=TEXT,
    at=NUMBER,
    project_id=NUMBER,
    project=TEXT,
    session_id=NUMBER,
    session=MAYBE_TEXT,
    tokens=NUMBER,
    score={"type": "number"},
    reasons=many(REASON),
    pinned=FLAG,
    doubted=FLAG,
    superseded=FLAG,
    folded=many(NUMBER),
    freshness={"type": ["object", "null"]},
    origin=MAYBE_TEXT,
)
FACET = many(shape(value={"type": ["string", "integer"]}, count=NUMBER))
NAMES = ("project", "type", "concept", "file", "agent", "day")
ROWS = (
    Row(
        "GET",
        "/api/search",
        "Find what is remembered, by words, meaning, names and times.",
        search,
        query=(
            Parameter("q", "Words, or a whole question.", required=True, most=10_000),
            *FILTERS,
            Parameter("level", "From sessions to events.", choices=LEVELS, default="titles"),
            parts.limit(20),
        ),
        answer=shape(
            query=TEXT,
            level=TEXT,
            without=MAYBE_TEXT,
            hits=many(HIT),
            more=FLAG,
            memories=many(
                shape(
                    name=TEXT, description=TEXT, type=TEXT, tokens=NUMBER, project_id=MAYBE_NUMBER
                )
            ),
            facets=shape(**dict.fromkeys(NAMES, FACET)),
            counted=NUMBER,
        ),
    ),
)
