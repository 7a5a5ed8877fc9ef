"""The tools that look: search, timeline, get, related, files. Each gives the text of its result."""

from contextlib import suppress
from dataclasses import replace

from recollect.errors import NotFound
from recollect.model.search import OBSERVATION, PROMPT, SESSION, Filters, Query
from recollect.parameters import Misused
from recollect.periods import Period, period
from recollect.recall import lookup
from recollect.recall.telling import name, told
from recollect.server import memories, names, result_text, things
from recollect.server.place import LOOK_IN_ALL, LOOK_IN_ONE, Place, Scope
from recollect.server.things import Thing
from recollect.text import fenced, one_line

NOTHING = "Nothing was found."
WIDER = " Try other words, or project='all' for all projects."
MOST_OF_ONE = 16_000  # characters
FACTS = 3
OWN_PROMPTS = 5  # of the session that asks: it knows them, and the question is one of them


def search(
    place: Place,
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
    scope = place.scope(project)
    filters = Filters(
        project_id=scope.project_id,
        types=type,
        concepts=concept,
        files=tuple(place.path(path) for path in file),
        agent=agent or None,
        session_id=_session(place, scope, session) if session else None,
        since=_begin(since, place) if since else None,
        until=_end(until, place) if until else None,
    )
    asked = Query(query, filters, level, limit + OWN_PROMPTS)
    if called := asked.in_vain:
        raise Misused(f"`{level}` have no {called}. Leave out `{called}` or `level`.")
    if filters.backwards:
        raise Misused("`since` is later than `until`. Exchange them, or leave one out.")
    if type and level == "titles":
        asked = replace(asked, filters=replace(filters, kinds=(OBSERVATION,)))
    answer = place.searcher.search(asked)
    own = place.own_session() if filters.session_id is None else None
    hits = [hit for hit in answer.hits if hit.kind != PROMPT or hit.session_id != own][:limit]
    notes = [f"({one_line(answer.without, 200)})"] if answer.without else []
    curated = memories.found(place, scope, query) if asked.finds_memories else []
    if not hits and not curated:
        return " ".join([NOTHING + (WIDER if scope.project_id is not None else ""), *notes])
    if level == "full":
        found = (_told(place, scope, hit.kind, hit.id, level) for hit in hits)
        read = (memories.read(place, scope, str(line.id)) for line in curated)
        told = [line for each in (*read, *found) for line in ("", *each)]
        return result_text.enveloped(scope, [*told[1:], *map(fenced, notes)])
    excerpt = level in ("facts", "events")
    lines = [*curated, *(result_text.of_hit(hit, excerpt=excerpt) for hit in hits)]
    return result_text.listed(place, scope, lines, notes=notes)


def timeline(
    place: Place,
    *,
    id: str | None,  # noqa: A002
    at: str | None,
    project: str | None,
    before: int,
    after: int,
) -> str:
    if bool(id) == bool(at):
        raise Misused("Give either `id` (what happened around it) or `at` (around a time).")
    scope = place.scope(project, elsewhere=LOOK_IN_ALL if id else LOOK_IN_ONE)
    around, when, project_id = None, None, scope.project_id
    if id:
        around = _name(id)
        project_id = _thing(place, scope, *around).project_id
    elif at:
        when = _begin(at, place)
    if project_id is None:
        raise Misused("A time in all projects is none. Name one project.")
    hits = lookup.timeline(
        place.searcher,
        place.store,
        project_id=project_id,
        around=around,
        at=when,
        before=before,
        after=after,
    )
    if not hits:
        return NOTHING
    lines = [result_text.of_hit(hit) for hit in hits]
    return result_text.listed(place, scope, lines, dated=True, around=around)


def get(place: Place, *, ids: tuple[str, ...], level: str, project: str | None) -> str:
    scope = place.scope(project)
    lines: list[str] = []
    missing: list[str] = []
    for kind, which in dict.fromkeys(_any_name(text) for text in ids):
        try:
            if isinstance(which, str):
                lines += ["", *memories.read(place, scope, which)]
            else:
                lines += ["", *_told(place, scope, kind, which, level)]
        except NotFound as error:  # it does not keep the others back
            missing.append(str(error))
    if not lines:
        raise NotFound(" ".join(missing))
    return result_text.enveloped(scope, [*lines[1:], *missing])


def _told(place: Place, scope: Scope, kind: str, number: int, level: str) -> list[str]:
    thing = _thing(place, scope, kind, number)
    text = told(place.store, kind, number, level) or ""
    heading, *rest = fenced(text[:MOST_OF_ONE]).split("\n")
    if len(text) > MOST_OF_ONE:
        rest.append(f"(cut after {MOST_OF_ONE} of {len(text)} characters)")
    return [heading, fenced(result_text.origin(place, thing)), *rest]


def related(place: Place, *, id: str, project: str | None, limit: int) -> str:  # noqa: A002
    scope = place.scope(project)
    kind, number = _name(id)
    if kind != OBSERVATION:
        raise Misused("Only observations (#12) are related to others. Use `timeline` for the rest.")
    _thing(place, scope, kind, number)
    hits = lookup.related(place.searcher, place.store, number, limit)
    hits = [hit for hit in hits if scope.holds(hit.project_id)]
    if not hits:
        return NOTHING
    return result_text.listed(place, scope, [result_text.of_hit(hit) for hit in hits])


def files(place: Place, *, path: str, project: str | None, limit: int) -> str:
    scope = place.scope(project, elsewhere=LOOK_IN_ONE)
    if scope.project_id is None:
        raise Misused(
            "A path belongs to one project. Name it, or leave `project` out for this one."
        )
    found = lookup.about_file(place.store, scope.project_id, place.path(path), limit)
    lines = memories.about_file(place, scope, place.path(path))
    if not found and not lines:
        return f"{NOTHING} No observation names that path."
    short = path.rpartition("/")[2]
    for observation in found:
        facts = observation.draft.sure_facts
        naming = [fact for fact in facts if short in fact] or list(facts)
        lines.append(result_text.of_observation(observation, facts=naming[:FACTS]))
    return result_text.listed(place, scope, lines)


def _name(text: str) -> tuple[str, int]:
    try:
        return names.parse(text)
    except ValueError as error:
        raise Misused(str(error)) from None


def _any_name(text: str) -> tuple[str, int | str]:
    try:
        return names.parse_any(text)
    except ValueError as error:
        raise Misused(str(error)) from None


def _begin(text: str, place: Place) -> int:
    found = _period(text, place)
    at = found.since if found.since is not None else found.until
    return place.clock() if at is None else at


def _end(text: str, place: Place) -> int:
    """Exclusive. What is named is included: a day to its end; `30d` ends 30 days ago."""
    with suppress(Misused):
        at = _period(f"until {text}", place).until
        if at is not None:
            return at
    at = _period(text, place).until
    return place.clock() if at is None else at


def _period(text: str, place: Place) -> Period:
    try:
        return period(text, place.clock())
    except ValueError as error:
        raise Misused(fenced(str(error))) from None


def _session(place: Place, scope: Scope, text: str) -> int:
    """By `session:3`, or by the agent's own id or its beginning."""
    try:
        kind, number = names.parse(text)
    except ValueError:
        kind, number = "", 0
    if kind == SESSION:
        _thing(place, scope, kind, number)
        return number
    found = [s for s in place.store.sessions_by_prefix(text) if scope.holds(s.project_id)]
    exact = [s for s in found if s.ref == text] or found
    if len(exact) != 1:
        many = "Several sessions begin so; give more of the id." if exact else "There is none."
        raise NotFound(
            f"No one session is called that. {many} search with level='sessions' lists them."
        )
    return exact[0].id


def _thing(place: Place, scope: Scope, kind: str, number: int) -> Thing:
    """Another project's is not there unless it was asked for."""
    found = things.find(place.store, kind, number)
    if found is None or not scope.holds(found.project_id):
        if scope.project_id is None:
            raise NotFound(f"There is no {name(kind, number)}. Find ids with `search`.")
        raise NotFound(
            f"There is no {name(kind, number)} in this project. Find ids with `search`; one of another "
            "project needs project='all'."
        )
    return found
