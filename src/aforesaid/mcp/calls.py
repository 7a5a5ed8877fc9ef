"""What each tool does, and the text of its result. The worker writes; it is started if necessary."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from operator import attrgetter
from typing import Any

from aforesaid import times
from aforesaid.errors import AforesaidError, NotFound, StoreMissing
from aforesaid.mcp import results
from aforesaid.mcp.context import AGENT, LOOK_IN_ALL, LOOK_IN_ONE, Context, Scope
from aforesaid.mcp.results import Line, parse_id, parse_number
from aforesaid.memory.changes import Memories
from aforesaid.memory.curation import files_freshness, get_memory, restore_memory, retire_memory
from aforesaid.memory.ranking import likely_matches
from aforesaid.memory.selection import render_for_agent, sort_for_catalog
from aforesaid.model.memories import AGENT as BY_AGENT
from aforesaid.model.memories import MEMORY, StoredMemory
from aforesaid.model.search import OBSERVATION, PROMPT, SESSION, Filters, Query
from aforesaid.parameters import Misused
from aforesaid.recall import lookup
from aforesaid.recall.render import item_name, render_item
from aforesaid.recall.resolve import Thing, get_thing
from aforesaid.recall.search import HANDED_OVER
from aforesaid.text import fenced, one_line, tokens
from aforesaid.worker import rpc

NOTHING = "Nothing was found."
WEAK = "(No close match: these results may have nothing to do with the question.)"
NO_MEMORIES = "There are no memories here, and nothing is pinned."
WIDER = " Try other words, or project='all' for all projects."
MOST_OF_ONE = 16_000  # characters
FACTS = 3
OWN_PROMPTS = 5  # of the calling session, which are left out: the question is one of them


def search(
    context: Context, *, query: str, project: str | None, level: str, limit: int, **given: Any
) -> str:
    scope = context.scope(project)
    session, since, until = given["session"], given["since"], given["until"]
    filters = Filters(
        project_id=scope.project_id,
        types=given["type"],
        concepts=given["concept"],
        files=tuple(context.path(path) for path in given["file"]),
        agent=given["agent"] or None,
        session_id=_session(context, scope, session) if session else None,
        since=_parse_time(times.begin, since, context) if since else None,
        until=_parse_time(times.end, until, context) if until else None,
    )
    asked = Query(query, filters, level, limit + OWN_PROMPTS)
    if called := asked.in_vain:
        raise Misused(f"`{level}` have no {called}. Leave out `{called}` or `level`.")
    if filters.backwards:
        raise Misused("`since` is later than `until`. Swap them, or leave one out.")
    if filters.types and level == "titles":
        asked = replace(asked, filters=replace(filters, kinds=(OBSERVATION,)))
    answer = context.searcher.search(asked)
    own = None  # the calling session, if it is known
    if filters.session_id is None and context.session:
        own = context.store.sessions.find(AGENT, context.session)
    hits = [hit for hit in answer.hits if hit.kind != PROMPT or not own or hit.session_id != own.id]
    hits = hits[:limit]
    notes = [f"({one_line(answer.without, 200)})"] if answer.without else []
    notes += [WEAK] if answer.weak and hits else []
    curated = _matching_memories(context, scope, query) if asked.finds_memories else []
    if not hits and not curated:
        return " ".join([NOTHING + (WIDER if scope.project_id is not None else ""), *notes])
    if level == "full":
        found = (_told(context, scope, hit.kind, hit.id, level) for hit in hits)
        read = (_read_memory(context, scope, str(line.id)) for line in curated)
        told = [line for each in (*read, *found) for line in ("", *each)]
        return results.enveloped(scope, [*told[1:], *map(fenced, notes)])
    excerpt = level in ("facts", "events")
    lines = [*curated, *(results.of_hit(hit, excerpt=excerpt) for hit in hits)]
    return results.listed(context, scope, lines, notes=notes)


def timeline(
    context: Context, *, id: str | None, at: str | None, project: str | None, **sides: int
) -> str:
    if bool(id) == bool(at):
        raise Misused("Give either `id` (what happened around it) or `at` (around a time).")
    scope = context.scope(project, hint=LOOK_IN_ALL if id else LOOK_IN_ONE)
    around, when, project_id = None, None, scope.project_id
    if id:
        around = parse_number(id)
        project_id = _thing(context, scope, *around).project_id
    elif at:
        when = _parse_time(_moment, at, context)
    if project_id is None:
        raise Misused("A time in all projects is none. Name one project.")
    hits = lookup.timeline(
        context.searcher,
        context.store,
        project_id=project_id,
        around=around,
        at=when,
        **sides,
    )
    if not hits:
        return NOTHING
    lines = [results.of_hit(hit) for hit in hits]
    return results.listed(context, scope, lines, dated=True, around=around)


def get(context: Context, *, ids: tuple[str, ...], level: str, project: str | None) -> str:
    scope = context.scope(project)
    lines: list[str] = []
    missing: list[str] = []
    for kind, which in dict.fromkeys(parse_id(text) for text in ids):
        try:
            if isinstance(which, str):
                lines += ["", *_read_memory(context, scope, which)]
            else:
                lines += ["", *_told(context, scope, kind, which, level)]
        except NotFound as error:  # it does not keep the others back
            missing.append(str(error))
    if not lines:
        raise NotFound(" ".join(missing))
    return results.enveloped(scope, [*lines[1:], *missing])


def _told(context: Context, scope: Scope, kind: str, number: int, level: str) -> list[str]:
    thing = _thing(context, scope, kind, number)
    text = render_item(context.store, kind, number, level) or ""
    heading, *rest = fenced(text[:MOST_OF_ONE]).split("\n")
    if len(text) > MOST_OF_ONE:
        rest.append(f"(cut after {MOST_OF_ONE} of {len(text)} characters)")
    return [heading, fenced(results.origin(context, thing)), *rest]


def related(context: Context, *, id: str, project: str | None, limit: int) -> str:
    scope = context.scope(project)
    kind, number = parse_number(id)
    if kind != OBSERVATION:
        raise Misused("Only observations (#12) are related to others. Use `timeline` for the rest.")
    _thing(context, scope, kind, number)
    hits = lookup.related(context.searcher, context.store, number, limit)
    hits = [hit for hit in hits if scope.holds(hit.project_id)]
    if not hits:
        return NOTHING
    return results.listed(context, scope, [results.of_hit(hit) for hit in hits])


def files(context: Context, *, path: str, project: str | None, limit: int) -> str:
    scope = context.scope(project, hint=LOOK_IN_ONE)
    if scope.project_id is None:
        raise Misused(
            "A path belongs to one project. Name it, or leave `project` out for this one."
        )
    found = lookup.about_file(context.store, scope.project_id, context.path(path), limit)
    lines = _memories_about(context, scope, context.path(path))
    if not found and not lines:
        return f"{NOTHING} No observation names that path."
    short = path.rpartition("/")[2]
    for observation in found:
        facts = observation.draft.sure_facts
        naming = [fact for fact in facts if short in fact] or list(facts)
        lines.append(results.of_observation(observation, facts=naming[:FACTS]))
    return results.listed(context, scope, lines)


def _moment(text: str, now: int) -> int:
    """The beginning of what is named, or the end of what has none, such as `before May`."""
    found = times.period(text, now)
    at = found.until if found.since is None else found.since
    return now if at is None else at


def _parse_time(parse: Callable[[str, int], int], text: str, context: Context) -> int:
    try:
        return parse(text, context.clock())
    except ValueError as error:
        raise Misused(fenced(str(error))) from None


def _session(context: Context, scope: Scope, text: str) -> int:
    """By `session:3`, or by the agent's own id or its beginning."""
    with suppress(Misused):
        kind, number = parse_number(text)
        if kind == SESSION:
            _thing(context, scope, kind, number)
            return number
    found = [s for s in context.store.sessions.find_by_prefix(text) if scope.holds(s.project_id)]
    exact = [s for s in found if s.ref == text] or found
    if len(exact) != 1:
        many = "Several sessions begin so; give more of the id." if exact else "There is none."
        raise NotFound(
            f"No one session is called that. {many} search with level='sessions' lists them."
        )
    return exact[0].id


def _thing(context: Context, scope: Scope, kind: str, number: int) -> Thing:
    """Another project's is not there unless it was asked for."""
    found = get_thing(context.store, kind, number)
    if found is None or not scope.holds(found.project_id):
        if scope.project_id is None:
            raise NotFound(f"There is no {item_name(kind, number)}. Find ids with `search`.")
        raise NotFound(
            f"There is no {item_name(kind, number)} in this project. Find ids with `search`; one of another "
            "project needs project='all'."
        )
    return found


def remember(context: Context, *, text: str, type: str | None, files: tuple[str, ...]) -> str:
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
    text = f"Remembered as {name}, for later sessions. `forget` undoes this."
    for word, what in (("same", "It says the same as"), ("contradicted", "It contradicts")):
        if others := ", ".join(fenced(item_name(MEMORY, each)) for each in answer[word]):
            text += f" {what} {others}."
    return text


def forget(context: Context, *, id: str, undo: bool) -> str:
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
    return results.listed(context, scope, lines, notes=notes) if lines else NO_MEMORIES


def _matching_memories(context: Context, scope: Scope, query: str) -> list[Line]:
    held = context.memories(scope.project_id)
    near = likely_matches(context.ranker.near(held.all().memories, query))
    return [_line(each.memory, held) for each in near]


def _memories_about(context: Context, scope: Scope, path: str) -> list[Line]:
    held = context.memories(scope.project_id)
    named = [
        each
        for each in held.all().memories
        if any(file == path or file.endswith(f"/{path}") for file, _ in each.memory.files)
    ]
    return [_line(each, held) for each in named]


def _read_memory(context: Context, scope: Scope, name: str) -> list[str]:
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
    at = memory.updated or memory.created or stored.modified
    size = tokens(memory.text) + HANDED_OVER
    about = MEMORY, memory.name, None, at, stored.label, memory.description, size
    state = files_freshness(memory, held.places.top).state
    return Line(*about, ("pinned",) if stored.pinned else (), files=state)
