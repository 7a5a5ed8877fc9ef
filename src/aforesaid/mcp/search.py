"""The read-only tools: search, timeline, get, related, files. Each returns the text of its result."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from aforesaid import times
from aforesaid.errors import NotFound
from aforesaid.mcp import memories, results
from aforesaid.mcp.context import LOOK_IN_ALL, LOOK_IN_ONE, Context, Scope
from aforesaid.mcp.ids import parse_id, parse_number
from aforesaid.model.search import OBSERVATION, PROMPT, SESSION, Filters, Query
from aforesaid.parameters import Misused
from aforesaid.recall import lookup
from aforesaid.recall.render import item_name, render_item
from aforesaid.recall.resolve import Thing, get_thing
from aforesaid.text import fenced, one_line

NOTHING = "Nothing was found."
WIDER = " Try other words, or project='all' for all projects."
MOST_OF_ONE = 16_000  # characters
FACTS = 3
OWN_PROMPTS = 5  # of the calling session, which are left out: the question is one of them


def search(
    context: Context,
    *,
    query: str,
    project: str | None,
    level: str,
    type: tuple[str, ...],  # noqa: A002 - the parameter's name for the model
    concept: tuple[str, ...],
    file: tuple[str, ...],
    agent: str | None,
    session: str | None,
    since: str | None,
    until: str | None,
    limit: int,
) -> str:
    scope = context.scope(project)
    filters = Filters(
        project_id=scope.project_id,
        types=type,
        concepts=concept,
        files=tuple(context.path(path) for path in file),
        agent=agent or None,
        session_id=_session(context, scope, session) if session else None,
        since=_parse_time(times.begin, since, context) if since else None,
        until=_parse_time(times.end, until, context) if until else None,
    )
    asked = Query(query, filters, level, limit + OWN_PROMPTS)
    if called := asked.in_vain:
        raise Misused(f"`{level}` have no {called}. Leave out `{called}` or `level`.")
    if filters.backwards:
        raise Misused("`since` is later than `until`. Exchange them, or leave one out.")
    if type and level == "titles":
        asked = replace(asked, filters=replace(filters, kinds=(OBSERVATION,)))
    answer = context.searcher.search(asked)
    own = context.own_session() if filters.session_id is None else None
    hits = [hit for hit in answer.hits if hit.kind != PROMPT or hit.session_id != own][:limit]
    notes = [f"({one_line(answer.without, 200)})"] if answer.without else []
    curated = memories.found(context, scope, query) if asked.finds_memories else []
    if not hits and not curated:
        return " ".join([NOTHING + (WIDER if scope.project_id is not None else ""), *notes])
    if level == "full":
        found = (_told(context, scope, hit.kind, hit.id, level) for hit in hits)
        read = (memories.read(context, scope, str(line.id)) for line in curated)
        told = [line for each in (*read, *found) for line in ("", *each)]
        return results.enveloped(scope, [*told[1:], *map(fenced, notes)])
    excerpt = level in ("facts", "events")
    lines = [*curated, *(results.of_hit(hit, excerpt=excerpt) for hit in hits)]
    return results.listed(context, scope, lines, notes=notes)


def timeline(
    context: Context,
    *,
    id: str | None,  # noqa: A002
    at: str | None,
    project: str | None,
    before: int,
    after: int,
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
        before=before,
        after=after,
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
                lines += ["", *memories.read(context, scope, which)]
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


def related(context: Context, *, id: str, project: str | None, limit: int) -> str:  # noqa: A002
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
    lines = memories.about_file(context, scope, context.path(path))
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
