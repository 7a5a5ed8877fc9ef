"""Search with facets, which count all results and not only `hits`; and the preview of a brief."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from aforesaid.briefing import write_brief
from aforesaid.memory.ranking import likely_matches
from aforesaid.model.search import EVENT, LEVELS, OBSERVATION, Document, Hit, Query
from aforesaid.parameters import Parameter
from aforesaid.recall.brief import Brief
from aforesaid.recall.results import HitDetails
from aforesaid.store.store import Store
from aforesaid.terms import query_terms
from aforesaid.text import one_line
from aforesaid.text import tokens as count_tokens
from aforesaid.web.api import common, memories
from aforesaid.web.api.common import FILTERS, PROJECT, TITLE_LENGTH
from aforesaid.web.backend import Backend, Json
from aforesaid.web.endpoint import endpoint, many, shape

MOST_VALUES = 20  # of one facet
HIT = shape(
    "kind:str id:int name:str title:str marked_title:str type:str? excerpt:str at:int project_id:int "
    "project:str session_id:int session:str? tokens:int score:float pinned:bool unverified:bool "
    "superseded:bool duplicates:[int] freshness:dict? origin:str?",
    reasons=many(shape("name:str points:float because:str")),
)
FACET = many(shape("count:int", value={"type": ["string", "integer"]}))
FACETS = ("project", "type", "concept", "file", "agent", "day")


@endpoint(
    "GET",
    "/api/search",
    Parameter("q", "Words, or a whole question.", required=True, most=10_000),
    *FILTERS,
    Parameter("level", "What to search.", choices=LEVELS, default="titles"),
    common.limit_parameter(20),
    response=shape(
        "query:str level:str without:str? total:int complete:bool weak:bool more:bool",
        hits=many(HIT),
        memories=many(shape("name:str description:str type:str tokens:int project_id:int?")),
        facets=shape(**dict.fromkeys(FACETS, FACET)),
    ),
)
def search(backend: Backend, *, q: str, level: str, limit: int, **given: Any) -> Json:
    """Search by words, meaning, names and times."""
    query = Query(q, common.read_filters(backend, **given), level, limit)
    query.check()
    answer, documents = backend.searcher.explore(query)
    shown = HitDetails(backend.store, terms=query_terms(q))
    events = [each for each in answer.hits if each.kind == EVENT]
    return {
        "query": q,
        "level": level,
        "without": answer.without,
        "hits": [
            shown.json(each) | {"excerpt": each.excerpt, "marked_title": shown.title(each)}
            for each in answer.hits
        ],
        "total": answer.total,
        "complete": answer.complete,
        "weak": answer.weak,
        "more": answer.total > len(answer.hits),
        "memories": _memories(backend, query),
        "facets": count_facets(backend, [*documents, *events]),
    }


def count_facets(backend: Backend, found: list[Document | Hit]) -> Json:
    """The commonest values first; days in their order."""
    names = common.project_names(backend)
    sessions = backend.store.sessions.agents({each.session_id for each in found})
    agents = Counter(sessions.get(each.session_id, "") for each in found)
    projects = Counter(each.project_id for each in found)
    days = Counter(common.local_day(each.at) for each in found)
    ids = [each.source for each in found if isinstance(each, Document) and each.kind == OBSERVATION]
    counted = backend.store.observations.facets(ids, MOST_VALUES)
    facets = {name: _values(values) for name, values in counted.items()}
    facets["project"] = [
        each | {"label": names.get(each["value"], "")}
        for each in _values(projects.most_common(MOST_VALUES))
    ]
    facets["agent"] = _values(agents.most_common(MOST_VALUES))
    facets["day"] = _values(sorted(days.items()))
    return facets


def _values(counts: Iterable[tuple[str | int, int]]) -> list[Json]:
    return [{"value": value, "count": count} for value, count in counts if value]


def _memories(backend: Backend, query: Query) -> list[Json]:
    if not query.finds_memories:
        return []
    project = common.find_project(backend, query.filters.project_id)
    held = backend.memories(memories.directory(project))
    return [
        memories.memory_json(each.memory, project)
        | {"why": each.why, "score": round(each.score, 3)}
        for each in likely_matches(backend.finder.near(held.all().memories, query.text))
    ]


MOST_TOKENS = 2400
BRIEF_SETTINGS = (
    *("brief.tokens", "memory.tokens", "recall.tokens", "recall.file_tokens"),
    "memory.client",
)


@endpoint(
    "GET",
    "/api/brief",
    replace(PROJECT, required=True),
    Parameter("tokens", "The budget.", "number", least=0, most=MOST_TOKENS),
    Parameter("memories", "Include the index of memories.", "flag", default=True),
    Parameter("work", "Include the current work.", "flag", default=True),
    response=shape(
        "text:str tokens:int",
        parts=many(shape("kind:str id:int? name:str? title:str tokens:int reason:str")),
        options=shape("tokens:int memories:bool work:bool settings:dict"),
    ),
)
def preview_brief(
    backend: Backend, *, project: int, tokens: int | None, memories: bool, work: bool
) -> Json:
    """Preview the brief of the project's next session, with the tokens of each part. Nothing is recorded as
    injected."""
    settings = backend.home.settings
    budget = settings.number("brief.tokens") if tokens is None else tokens
    root = common.find_project(backend, project)
    assert root is not None
    written = write_brief(
        backend.store,
        backend.searcher,
        backend.memories if memories else None,
        project,
        root.root,
        budget,
        with_work=work,
    )
    parts, total = list(_parts(backend.store, written)), count_tokens(written.text)
    rest = max(0, total - sum(each["tokens"] for each in parts))
    frame = _part("frame", "Headings and introduction", rest, "always included")
    return {
        "text": written.text,
        "tokens": total,
        "parts": [*parts, frame] if written.text else [],
        "options": {
            "tokens": budget,
            "memories": memories,
            "work": work,
            "settings": {name: settings.values[name] for name in BRIEF_SETTINGS},
        },
    }


def _parts(store: Store, written: Brief) -> Iterator[Json]:
    for memory in written.memories:
        part = _part("memory", memory.name, memory.tokens, memory.reason)
        yield part | {"name": memory.name}
    for each in written.injections:
        if each.kind == OBSERVATION:
            found = store.observations.get(each.source)
            title = (found.draft.title or found.draft.subtitle) if found else ""
        else:
            summary = store.summaries.get(each.source)
            title = (summary.draft.request or summary.draft.completed) if summary else ""
        part = _part(each.kind, one_line(title or "", TITLE_LENGTH), each.tokens, each.reason)
        yield part | {"id": each.source}


def _part(kind: str, title: str, tokens: int, reason: str) -> Json:
    found = {"kind": kind, "id": None, "name": None, "title": title}
    return found | {"tokens": tokens, "reason": reason}
