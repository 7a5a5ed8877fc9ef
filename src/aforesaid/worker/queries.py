"""Queries of the command line: search, timeline, related, files, show, sessions, why, status.

The running worker answers them, because it has everything loaded; without one the command does so itself,
with the same functions. The answers are JSON: what `--json` prints, and beside it what only people read.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

from aforesaid import __version__, clock, wiring
from aforesaid.english import count
from aforesaid.errors import Misused, NotFound
from aforesaid.freshness import CHANGED, GONE, UNCHANGED
from aforesaid.memory.curation import memory_json
from aforesaid.memory.ranking import MemoryRanker, RankedMemory, likely_matches
from aforesaid.model.memories import MEMORY
from aforesaid.model.observations import Author
from aforesaid.model.search import OBSERVATION, SESSION, Filters, Hit, Query
from aforesaid.recall import lookup, render, resolve
from aforesaid.recall.excerpts import BETWEEN, without_marks
from aforesaid.recall.results import HitDetails, describe_reasons, short_id
from aforesaid.recall.search import Searcher
from aforesaid.store.store import Store
from aforesaid.terms import query_terms
from aforesaid.text import ELLIPSIS, one_line, tokens
from aforesaid.wiring import Home
from aforesaid.worker import overview
from aforesaid.worker.context import Context
from aforesaid.worker.projects import ProjectFinder

Json = dict[str, Any]
RECENT = 100  # sessions whose agents are listed
FILES = {UNCHANGED: "files unchanged", CHANGED: "files changed since", GONE: "files gone"}
PREFIX = "AFORESAID_"
STATUS = "status"  # answered also where there is no store


class Reader(NamedTuple):
    """What a question is answered from. `here`, `env`: of whoever asks. `projects`: the worker's, which need
    not ask git about a directory that they know."""

    home: Home
    store: Store
    searcher: Searcher
    here: Path
    env: Mapping[str, str]
    projects: ProjectFinder | None = None

    def current_project(self) -> int | None:
        known = self.projects.find(os.path.normpath(self.here)) if self.projects else None
        return known or resolve.project_at(self.store, self.here)


def answer(request: Json, reader: Reader) -> Json:
    return {"value": QUERIES[request["name"]](reader, **request["values"])}


def answer_in_worker(request: Json, context: Context, status: Callable[[], Json]) -> Json:
    """`declined`: who asks has another version or other settings than this process, and answers itself."""
    env = request["env"]
    own, given = ({k: v for k, v in e.items() if k.startswith(PREFIX)} for e in (os.environ, env))
    if request["version"] != __version__ or own != given:
        return {"declined": True}
    home, store, here = context.home, context.store, Path(request["dir"])
    if request["name"] == STATUS:
        there = context.projects.repository(str(here))
        return {"value": overview.collect(home, env, here, status(), store, there)}
    return answer(request, Reader(home, store, context.searcher, here, env, context.projects))


def answer_here(request: Json) -> Json:
    home, here = wiring.home(), Path.cwd()
    if request["name"] == STATUS:
        worker = overview.worker_status(home.paths)
        return {"value": overview.collect(home, os.environ, here, worker)}
    store = wiring.open_for_reading(home.paths)
    searcher = wiring.searcher(store, home.settings, clock.now)
    found = answer(request, Reader(home, store, searcher, here, os.environ))
    value: Json = json.loads(json.dumps(found))  # lists for tuples, as the socket gives them
    return value


def search(reader: Reader, *, text: str, level: str, limit: int, **given: Any) -> Json:
    store, filters = reader.store, _filters(reader, **given)
    query = Query(text, filters, level, limit)
    query.check()
    result = reader.searcher.search(query)
    memories = _matching_memories(reader, query)
    details = HitDetails(store, terms=query_terms(text))
    whole = store if level == render.FULL else None
    nothing = not result.hits and not memories
    return {
        "hits": [_hit(details, hit, whole) for hit in result.hits],
        "memories": [_memory(each) for each in memories],
        "without": result.without,
        "total": result.total,
        "complete": result.complete,
        "weak": result.weak,
        "everywhere": filters.project_id is None,
        "hints": list(_explain_nothing(store, query)) if nothing else [],
    }


def _filters(
    reader: Reader, *, project: str | None, everywhere: bool, session: str | None, **given: Any
) -> Filters:
    store, here = reader.store, reader.here
    found = resolve.find_session(store, session) if session else None
    if found:
        where: int | None = found.project_id
    elif project:
        where = resolve.find_project(store, project, here).id
    else:
        where = None if everywhere else reader.current_project()
    return Filters(
        where,
        types=tuple(given["types"]),
        concepts=tuple(given["concepts"]),
        files=tuple(resolve.file_name(store, where, file, here) for file in given["files"]),
        agent=given["agent"],
        session_id=found.id if found else None,
        since=given["since"],
        until=given["until"],
    )


def _matching_memories(reader: Reader, query: Query) -> list[RankedMemory]:
    if not query.finds_memories:
        return []
    project, home = query.filters.project_id, reader.home
    there, root = None, str(reader.here)
    if project is not None:
        there = reader.store.projects.repository(project)
        root = there.root
    elif reader.projects is not None:
        there = reader.projects.repository(root)
    memories = wiring.memories(home, root, clock.now, reader.env, repository=there).all().memories
    return likely_matches(MemoryRanker(wiring.encoder(home.settings)).near(memories, query.text))


def _memory(found: RankedMemory) -> Json:
    one = found.memory.memory
    return {
        "json": memory_json(found.memory) | {"why": found.why},
        "name": render.item_name(MEMORY, one.name),
        "title": one_line(one.description, 200),
        "label": found.memory.label,
        "at": one.updated or found.memory.modified,
        "tokens": tokens(one.text),
    }


def _explain_nothing(store: Store, query: Query) -> Iterator[str]:
    filters = query.filters
    here = Filters(project_id=filters.project_id)
    hints = [f"Nothing found for {one_line(query.text, 200)!r}."]
    if waiting := store.index.health().waiting:
        hints.append(f"{count(waiting, 'entry')} not indexed yet: see `aforesaid status`.")
    if filters != here:
        hints.append("Fewer filters find more.")
    if filters.project_id is not None:
        hints.append("`--all` searches all projects.")
    yield " ".join(hints)
    where = "" if filters.project_id is None else " in this project"
    for concept in filters.concepts:
        if not store.index.filter_documents(replace(here, concepts=(concept,)), 1):
            yield f"Nothing{where} is tagged with the concept {one_line(concept, 60)!r}."
    if filters.agent and not store.index.filter_documents(replace(here, agent=filters.agent), 1):
        agents = sorted({each.agent for each in store.sessions.recent(here.project_id, RECENT)})
        known = f" Known agents: {', '.join(agents)}." if agents else ""
        yield f"Nothing{where} is of the agent {one_line(filters.agent, 60)!r}.{known}"


def _hit(details: HitDetails, hit: Hit, store: Store | None = None) -> Json:
    """`json`: as `--json` prints it, with the whole text if a `store` is given. Matches are marked in title
    and excerpt; lines of the excerpt that repeat the title are left out."""
    title = hit.title.casefold()
    lines = hit.excerpt.split(BETWEEN)
    beyond = [line for line in lines if without_marks(line).strip(ELLIPSIS).casefold() not in title]
    found = details.observation(hit) or details.summary(hit)
    source = f"source: {hit.origin}" if hit.origin else ""
    if found is not None:
        web, origins = render.is_web_only(found.draft), render.list_origins(found.draft.origins)
        source = render.FROM_WEB if web else f"source: {origins}"
    value = details.json(hit)
    if store is not None:
        value["text"] = render.render_item(store, hit.kind, hit.id, render.FULL)
    fresh = value["freshness"]
    return {
        "json": value,
        "title": details.title(hit),
        "excerpt": BETWEEN.join(beyond),
        "source": source,
        "files": FILES.get(fresh["state"]) if fresh else None,
        "same": [render.item_name(hit.kind, other) for other in hit.duplicates],
        "because": describe_reasons(hit.reasons),
    }


def timeline(
    reader: Reader, *, what: str | None, project: str | None, at: int, **sides: int
) -> Json:
    """`sessions`: by the number that hits have."""
    store = reader.store
    thing = resolve.parse_id(store, what) if what else None
    if thing:  # it has its project; the name of another one beside it is a mistake
        own = resolve.find_thing(store, *thing).project_id
        other = resolve.find_project(store, project, reader.here) if project else None
        if other and other.id != own:
            item = "This session" if thing[0] == SESSION else render.item_name(*thing)
            name = store.projects.get(own).name
            raise Misused(f"{item} is of project {name}, not of {other.name}. Leave --project out.")
    hits = lookup.timeline(
        reader.searcher,
        store,
        project_id=None if thing else resolve.choose_project(store, project, reader.here),
        around=thing,
        at=None if thing else at,
        **sides,
    )
    details, sessions = HitDetails(store), {}
    for key in {hit.session_id for hit in hits}:
        found = store.sessions.get(key)
        title = (
            f"{details.short_id(found.ref)} {found.title or 'Untitled session'}" if found else ""
        )
        sessions[str(key)] = title or "Session"
    return {"hits": [_hit(details, hit) for hit in hits], "sessions": sessions, "around": thing}


def related(reader: Reader, *, number: int, limit: int) -> list[Json]:
    resolve.find_observation(reader.store, number)
    details = HitDetails(reader.store)
    hits = lookup.related(reader.searcher, reader.store, number, limit)
    return [_hit(details, hit) for hit in hits]


def files(reader: Reader, *, path: str | None, project: str | None, limit: int) -> Json:
    """`observations` about a file, or the known `files` of a directory."""
    store, here = reader.store, reader.here
    where = resolve.choose_project(store, project, here)
    file = resolve.file_name(store, where, path.rstrip("/") or "/", here) if path else ""
    # A directory of another machine is known by the files below it.
    is_folder = (
        not path
        or path.endswith("/")
        or (here / path).is_dir()
        or lookup.is_directory(store, where, file)
    )
    if is_folder:
        below = file.removeprefix("./").rstrip("/")
        below = f"{below}/" if below not in ("", ".") else ""
        known = store.observations.known_files(where, below, limit)
        return {"files": [asdict(each) for each in known], "below": below}
    details, found = HitDetails(store), []
    for each in lookup.about_file(store, where, file, limit):
        fresh = details.freshness_of(each)
        value = asdict(each) | {"freshness": asdict(fresh)}
        text = render.render_item(store, OBSERVATION, each.id, render.FACTS)
        found.append({"json": value, "files": str(fresh), "text": text})
    return {"path": file, "observations": found}


def show(reader: Reader, *, what: str, level: str) -> Json:
    """The `text` of a thing; `json`: all fields of a whole observation or session, else the text, too."""
    store = reader.store
    kind, number = resolve.parse_id(store, what)
    thing = resolve.find_thing(store, kind, number)
    project = store.projects.get(thing.project_id).name
    session = store.sessions.get(thing.session_id)
    about = [f"project {project}"]
    about += [f"session {short_id(store, session.ref)}"] if session else []
    text = render.render_item(store, kind, number, level)
    value: Json = {"kind": kind, "id": number, "level": level, "text": text}
    if level == render.FULL and (observation := thing.observation):
        draft, fresh = observation.draft, HitDetails(store).freshness_of(observation)
        about += [f"prompt {prompt}"] if (prompt := observation.prompt_number) else []
        about += [f"written by {Author(observation.provider, observation.model)}"]
        about += [f"from sub-agent {draft.subagent_type}"] if draft.subagent_type else []
        about += [render.describe_provenance(observation)]
        about += [f"at commit {draft.revision[:8]}"] if draft.revision else []
        text = f"{text}\nFiles: {fresh}" if str(fresh) else text
        value = asdict(observation) | {"project": project, "freshness": asdict(fresh)}
        value["duplicates"] = store.observations.duplicates(number)
    elif level == render.FULL and kind == SESSION and session:
        value = asdict(session) | {
            "prompts": [asdict(each) for each in store.sessions.prompts(session.id)],
            "observations": [asdict(each) for each in store.observations.for_session(session.id)],
            "summaries": [asdict(each) for each in store.summaries.for_session(session.id)],
        }
        text = render.render_turns(store, session)
        about += [session.status]
    return {"json": value, "text": text, "about": about}


def sessions(reader: Reader, *, everywhere: bool, limit: int) -> Json:
    """`project`: the only one that was looked in."""
    store = reader.store
    project = None if everywhere else reader.current_project()
    names = {each.id: each.name for each in store.projects.all()}
    found = [
        {
            "json": asdict(each) | {"project": names[each.project_id]},
            "id": short_id(store, each.ref),
        }
        for each in store.sessions.recent(project, limit)
    ]
    return {"sessions": found, "project": names[project] if project is not None else None}


def why(reader: Reader, *, session: str | None) -> Json:
    """What was injected, in order. `id`: by which `show` takes a row."""
    store = reader.store
    if session:
        found = resolve.find_session(store, session)
    else:
        fix = "Name a session: `aforesaid sessions --all` lists them."
        project = resolve.require_project(store, reader.here, fix)
        latest = store.sessions.recent(project, 1)
        if not latest:
            raise NotFound(
                "This project has no sessions yet. `aforesaid sessions --all` lists others."
            )
        found = latest[0]
    observations = store.injections.for_session(found.id)
    memories = store.injections.memories_for_session(found.id)
    rows: list[Json] = [asdict(each) | {"id": f"memory:{each.name}"} for each in memories]
    for each in observations:
        other = short_id(store, each.session) if each.session else ""
        rows.append(asdict(each) | {"id": f"#{each.source}" if each.kind == OBSERVATION else other})
    return {
        "json": {
            "session": found.ref,
            "injected": [asdict(each) for each in observations],
            "memories": [asdict(each) for each in memories],
            "tokens": sum(each["tokens"] for each in rows),
        },
        "rows": sorted(rows, key=lambda each: int(each["at"])),
        "session": asdict(found),
        "project": store.projects.get(found.project_id).name,
    }


QUERIES: Mapping[str, Callable[..., Any]] = {
    query.__name__: query for query in (search, timeline, related, files, show, sessions, why)
}
