"""What each tool does, and the text of its result. The worker writes; it is started if necessary."""

from collections.abc import Callable
from contextlib import suppress
from operator import attrgetter
from typing import Any

from aforesaid import times
from aforesaid.errors import AforesaidError, Misused, NotFound, StoreMissing
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
from aforesaid.recall import lookup
from aforesaid.recall.render import item_name, render_item
from aforesaid.recall.resolve import Thing, get_thing
from aforesaid.recall.results import HitDetails
from aforesaid.recall.search import ITEM_OVERHEAD
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
        session_id=_find_session(context, scope, session) if session else None,
        since=_parse_time(times.begin, since, context) if since else None,
        until=_parse_time(times.end, until, context) if until else None,
    )
    asked = Query(query, filters, level, limit + OWN_PROMPTS)
    asked.check()
    answer = context.searcher.search(asked)
    own = None  # the calling session, if it is known
    if filters.session_id is None and context.session:
        own = context.store.sessions.find(AGENT, context.session)
    hits = [hit for hit in answer.hits if hit.kind != PROMPT or not own or hit.session_id != own.id]
    hits = hits[:limit]
    notes = [f"({one_line(answer.without, 200)})"] if answer.without else []
    notes += [WEAK] if answer.weak and hits else []
    held = context.memories(scope.project_id)
    curated: list[StoredMemory] = []
    if asked.finds_memories:
        near = context.ranker.near(held.all().memories, query)
        curated = [each.memory for each in likely_matches(near)]
    if not hits and not curated:
        return " ".join([NOTHING + (WIDER if scope.project_id is not None else ""), *notes])
    if level == "full":
        texts = [_read_memory(held, each) for each in curated]
        texts += [_read_item(context, scope, hit.kind, hit.id, level) for hit in hits]
        told = [line for text in texts for line in ("", *text)]
        return results.enveloped(scope, [*told[1:], *map(fenced, notes)])
    details, excerpt = HitDetails(context.store), level in ("facts", "events")
    lines = [_of_memory(held, each) for each in curated]
    lines += [results.of_hit(details, hit, excerpt=excerpt) for hit in hits]
    return results.listed(context, scope, lines, notes=notes)


def timeline(
    context: Context, *, id: str | None, at: str | None, project: str | None, **sides: int
) -> str:
    if bool(id) == bool(at):
        raise Misused("Give either `id` (what happened around it) or `at` (around a time).")
    scope = context.scope(project, hint=LOOK_IN_ALL if id else LOOK_IN_ONE)
    around = parse_number(id) if id else None
    project_id = _find_item(context, scope, *around).project_id if around else scope.project_id
    if project_id is None:
        raise Misused("`at` needs one project. Name it with `project`.")
    when = _parse_time(times.begin, at, context) if at else None
    hits = lookup.timeline(
        context.searcher, context.store, project_id=project_id, around=around, at=when, **sides
    )
    if not hits:
        return NOTHING
    details = HitDetails(context.store)
    lines = [results.of_hit(details, hit) for hit in hits]
    name = item_name(*around) if around else None
    return results.listed(context, scope, lines, dated=True, around=name)


def get(context: Context, *, ids: tuple[str, ...], level: str, project: str | None) -> str:
    scope = context.scope(project)
    lines: list[str] = []
    missing: list[str] = []
    for kind, which in dict.fromkeys(parse_id(text) for text in ids):
        try:
            if isinstance(which, str):
                held = context.memories(scope.project_id)
                lines += ["", *_read_memory(held, _find_memory(held, which))]
            else:
                lines += ["", *_read_item(context, scope, kind, which, level)]
        except NotFound as error:  # it does not keep the others back
            missing.append(str(error))
    if not lines:
        raise NotFound(" ".join(missing))
    return results.enveloped(scope, [*lines[1:], *missing])


def related(context: Context, *, id: str, project: str | None, limit: int) -> str:
    scope = context.scope(project)
    kind, number = parse_number(id)
    if kind != OBSERVATION:
        raise Misused("Only observations (#12) are related to others. Use `timeline` for the rest.")
    _find_item(context, scope, kind, number)
    hits = lookup.related(context.searcher, context.store, number, limit)
    details = HitDetails(context.store)
    lines = [results.of_hit(details, hit) for hit in hits if scope.holds(hit.project_id)]
    return results.listed(context, scope, lines) if lines else NOTHING


def files(context: Context, *, path: str, project: str | None, limit: int) -> str:
    scope = context.scope(project, hint=LOOK_IN_ONE)
    if scope.project_id is None:
        raise Misused(
            "A path belongs to one project. Name it, or leave `project` out for this one."
        )
    path = context.path(path)
    held, details = context.memories(scope.project_id), HitDetails(context.store)
    lines = [
        _of_memory(held, each)
        for each in held.all().memories
        if any(f"/{file}".endswith(f"/{path}") for file, _ in each.memory.files)
    ]
    short = path.rpartition("/")[2]
    for observation in lookup.about_file(context.store, scope.project_id, path, limit):
        facts = observation.draft.sure_facts
        naming = [fact for fact in facts if short in fact] or list(facts)
        lines.append(results.of_observation(details, observation, facts=naming[:FACTS]))
    if not lines:
        return f"{NOTHING} No observation names that path."
    return results.listed(context, scope, lines)


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
    name = fenced(item_name(MEMORY, answer["name"]))
    removed = " Secrets in it were replaced by marks." if answer["redacted"] else ""
    if answer["known"]:
        return f"Already known: {name}.{removed}"
    text = f"Remembered as {name}, for later sessions. `forget` undoes this.{removed}"
    for word, what in (("same", "It says the same as"), ("contradicted", "It contradicts")):
        if others := ", ".join(fenced(item_name(MEMORY, each)) for each in answer[word]):
            text += f" {what} {others}."
    return text


def forget(context: Context, *, id: str, undo: bool) -> str:
    kind, which = parse_id(id)
    if isinstance(which, str):
        name = item_name(MEMORY, _forget_memory(context, which, undo=undo))
    elif kind == OBSERVATION:
        name = item_name(OBSERVATION, which)
        _forget_observation(context, which, undo=undo)
    else:
        raise Misused("Only observations (#12) and memories (memory:NAME) can be hidden.")
    if undo:
        return f"Restored: {name}."
    return f"Hidden: {name}. forget(id='{name}', undo=true) restores it."


def _forget_memory(context: Context, name: str, *, undo: bool) -> str:
    held = context.memories()
    if undo:
        name = restore_memory(held, name)
    elif _find_memory(held, name).pinned:
        raise Misused(f"The user pinned it, and only they can hide it: `aforesaid forget {name}`.")
    else:
        name = retire_memory(held, name, "an agent was asked to forget it")
    change = {"dir": context.directory, "name": name, "what": "restored" if undo else "retired"}
    with suppress(AforesaidError):  # it is done; only the prepared brief is older
        rpc.order(context.paths, "memories-changed", **change)
    return name


def _forget_observation(context: Context, number: int, *, undo: bool) -> None:
    scope, store = context.scope(None, hint=""), context.store.observations
    known = store.get_hidden(number) if undo else store.get(number)
    order = "restore" if undo else "forget-observation"
    if known is None or not scope.holds(known.project_id):
        hidden = f"{item_name(OBSERVATION, number)} is not hidden in this project."
        raise NotFound(hidden if undo else _missing(OBSERVATION, number))
    rpc.order(context.paths, order, id=number)


def memories(context: Context, *, limit: int) -> str:
    held = context.memories()
    found = sorted(held.all().memories, key=attrgetter("importance"))
    lines = [_of_memory(held, each) for each in sort_for_catalog(found[:limit])]
    notes = [f"({len(found) - limit} more: raise `limit`.)"] if len(found) > limit else []
    try:
        scope = context.scope(None, hint="")
    except (NotFound, StoreMissing):  # nobody has worked here yet
        repository = held.places.repository
        scope = Scope(None, repository.name if repository else context.directory)
    if scope.project_id is not None:
        details = HitDetails(context.store)
        pinned = context.store.observations.pinned(scope.project_id)[: limit - len(lines)]
        lines += [results.of_observation(details, each) for each in pinned]
    return results.listed(context, scope, lines, notes=notes) if lines else NO_MEMORIES


def _parse_time(parse: Callable[[str, int], int], text: str, context: Context) -> int:
    try:
        return parse(text, context.clock())
    except ValueError as error:
        raise Misused(fenced(str(error))) from None


def _find_session(context: Context, scope: Scope, text: str) -> int:
    """By `session:3`, or by the agent's own id or its beginning."""
    with suppress(Misused):
        kind, number = parse_number(text)
        if kind == SESSION:
            _find_item(context, scope, kind, number)
            return number
    found = [s for s in context.store.sessions.find_by_prefix(text) if scope.holds(s.project_id)]
    exact = [s for s in found if s.ref == text] or found
    if len(exact) != 1:
        many = "Several sessions begin so; give more of the id." if exact else "There is none."
        raise NotFound(
            f"There is no single session with that id. {many} search with level='sessions' lists them."
        )
    return exact[0].id


def _find_item(context: Context, scope: Scope, kind: str, number: int) -> Thing:
    """One of another project is found only if `scope` includes it."""
    found = get_thing(context.store, kind, number)
    if found is not None and scope.holds(found.project_id):
        return found
    if scope.project_id is None:
        raise NotFound(f"There is no {item_name(kind, number)}. Find ids with `search`.")
    raise NotFound(_missing(kind, number))


def _missing(kind: str, number: int) -> str:
    return (
        f"There is no {item_name(kind, number)} in this project. Find ids with `search`; one of another "
        "project needs project='all'."
    )


def _read_item(context: Context, scope: Scope, kind: str, number: int, level: str) -> list[str]:
    thing = _find_item(context, scope, kind, number)
    text = render_item(context.store, kind, number, level) or ""
    heading, *rest = fenced(text[:MOST_OF_ONE]).split("\n")
    if len(text) > MOST_OF_ONE:
        rest.append(f"(cut after {MOST_OF_ONE} of {len(text)} characters)")
    return [heading, fenced(results.describe_origin(context, thing)), *rest]


def _read_memory(held: Memories, stored: StoredMemory) -> list[str]:
    heading, *rest = render_for_agent(stored).split("\n")
    state = str(files_freshness(stored.memory, held.places.top))
    return [heading, *([f"(its files: {state})"] if state else []), *rest]


def _find_memory(held: Memories, name: str) -> StoredMemory:
    """The error names a tool: an agent knows no commands."""
    try:
        return get_memory(held, name)
    except NotFound:
        raise NotFound(
            f"There is no {item_name(MEMORY, name)} here. `memories` lists them."
        ) from None


def _of_memory(held: Memories, stored: StoredMemory) -> Line:
    memory = stored.memory
    return Line(
        item_name(MEMORY, memory.name),
        stored.label,
        memory.updated or memory.created or stored.modified,
        memory.description,
        tokens(memory.text) + ITEM_OVERHEAD,
        ("pinned",) if stored.pinned else (),
        files_freshness(memory, held.places.top).state,
    )
