"""`recollect search`."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from recollect import clock, wiring
from recollect.cli import places
from recollect.cli.hits import print_hit, print_reasons
from recollect.cli.output import count, heading, json_option, print_json, say, styled, wrapped
from recollect.cli.period import since_option, until_option
from recollect.cli.scope import chosen, file_name, scope_options
from recollect.model.memories import MEMORY
from recollect.model.observations import TYPES
from recollect.model.search import LEVELS, Answer, Filters, Query
from recollect.recall.shown import Shown
from recollect.recall.telling import FULL, name, told
from recollect.store.protocol import Reading
from recollect.terms import asked
from recollect.text import one_line, tokens

if TYPE_CHECKING:
    from recollect.memory.choosing.finding import Near

RECENT = 100  # sessions whose agents are named
MEND = "The words alone decided. `recollect status` shows the index, and `recollect rebuild` makes it again."


@click.command()
@click.argument("words", nargs=-1, required=True)
@scope_options
@click.option(
    "--type",
    "types",
    type=click.Choice(TYPES),
    multiple=True,
    help="Only observations of this type; several times for several types.",
)
@click.option("--concept", "concepts", multiple=True, help="Only what is tagged with this concept.")
@click.option("--file", "files", multiple=True, help="Only what is about this file.")
@click.option(
    "--agent", callback=places.not_empty, help="Only what this agent did, such as claude-code."
)
@click.option(
    "--session",
    metavar="ID",
    callback=places.not_empty,
    shell_complete=places.completing(places.session_names),
    help="Only of this session; the first letters of its id are enough.",
)
@since_option("Only what happened")
@until_option("Only what happened")
@click.option(
    "--level",
    type=click.Choice(LEVELS),
    default="titles",
    show_default=True,
    help="From whole sessions to the raw events; `full` prints each finding whole.",
)
@click.option(
    "-n", "--limit", type=click.IntRange(1, 1000), default=10, show_default=True, help="How many."
)
@click.option("--explain", is_flag=True, help="Show what each finding got its points for.")
@json_option
def search(
    words: tuple[str, ...],
    project: str | None,
    everywhere: bool,
    types: tuple[str, ...],
    concepts: tuple[str, ...],
    files: tuple[str, ...],
    agent: str | None,
    session: str | None,
    since: int | None,
    until: int | None,
    level: str,
    limit: int,
    explain: bool,
    as_json: bool,
) -> None:
    """Find what is remembered by words, meaning, names and times: WORDS may be a whole question."""
    _check(Query("", Filters(None, (), types, concepts, files, since=since, until=until), level))
    store = places.store()
    of_session = places.session_named(store, session) if session else None
    where = of_session.project_id if of_session else chosen(store, project, everywhere=everywhere)
    filters = Filters(
        project_id=where,
        types=types,
        concepts=concepts,
        files=tuple(file_name(store, where, file) for file in files),
        agent=agent,
        session_id=of_session.id if of_session else None,
        since=since,
        until=until,
    )
    query = Query(" ".join(words), filters, level, limit)
    answer = wiring.searcher(store, wiring.home().settings, clock.now).search(query)
    curated = _curated(store, query)
    if as_json:
        _print_json(store, query, answer, curated)
    else:
        _print(store, query, answer, curated, explain=explain)


def _check(query: Query) -> None:
    """What can never hold is a mistake, and no search that finds nothing."""
    if option := query.in_vain:
        have = f"--level {query.level} finds {query.level}, and these have no {option}"
        raise click.UsageError(f"{have}. Leave out --{option} or --level.")
    if query.filters.backwards:
        raise click.UsageError("--since is later than --until. Exchange them, or leave one out.")


def _curated(store: Reading, query: Query) -> "list[Near]":
    """The memories that it is about."""
    if not query.finds_memories:
        return []
    from recollect.memory.choosing.finding import among, near

    home, project = wiring.home(), query.filters.project_id
    root = store.project(project).root if project is not None else str(Path.cwd())
    held = wiring.memories(home, root, clock.now)
    return among(near(held.all().memories, query.text, wiring.encoder(home.settings)))


def _print_json(store: Reading, query: Query, answer: Answer, curated: "list[Near]") -> None:
    shown = Shown(store, terms=asked(query.text))
    hits = [shown.json(hit) for hit in answer.hits]
    if query.level == FULL:
        for hit in hits:
            hit["text"] = told(store, hit["kind"], hit["id"], FULL)
    found = {"query": query.text, "level": query.level, "without": answer.without, "hits": hits}
    from recollect.memory import curating

    memories = [curating.plain(each.memory) | {"why": each.why} for each in curated]
    print_json(found | {"memories": memories})


def _print(
    store: Reading, query: Query, answer: Answer, curated: "list[Near]", *, explain: bool
) -> None:
    for each in curated:
        _print_memory(each, full=query.level == FULL, explain=explain)
    everywhere = query.filters.project_id is None
    shown = Shown(store, everywhere=everywhere, terms=asked(query.text))
    for hit in answer.hits:
        print_hit(shown, hit, excerpt=query.level != FULL)
        if query.level == FULL:
            text = (told(store, hit.kind, hit.id, FULL) or "").split("\n")[1:]
            say("".join(styled(wrapped(line, first="   ", rest="   ")) + "\n" for line in text))
        if explain:
            print_reasons(shown.reasons(hit), hit.score)
    if not answer.hits and not curated:
        say(_nothing(store, query))
    elif query.level != FULL:
        say(styled("Show one in full: recollect show <id>", dim=True))
    if answer.without:
        said = f"{answer.without[:1].upper()}{answer.without[1:]}".rstrip(".")
        say(styled(f"{said}. {MEND}", fg="yellow"))


def _print_memory(found: "Near", *, full: bool, explain: bool) -> None:
    one = found.memory.memory
    parts = [
        heading(name(MEMORY, one.name)),
        styled(one_line(one.description, 200), bold=True),
        styled(found.memory.label, fg="magenta"),
        styled(clock.day_and_time(one.updated or found.memory.modified), dim=True),
        *([styled("pinned", fg="magenta")] if found.memory.pinned else []),
        styled(f"~{tokens(one.text):,} tokens", dim=True),
    ]
    say(f"{parts[0]} {'  '.join(parts[1:])}")
    if full:
        for line in one.body.strip().split("\n"):
            say(styled(wrapped(line, first="   ", rest="   ")))
        say()
    if explain:
        say(styled(f"   {found.why}", dim=True))


def _nothing(store: Reading, query: Query) -> str:
    said = [f"Nothing found for {one_line(query.text, 200)!r}."]
    if waiting := store.index_health().waiting:
        said.append(f"{count(waiting, 'thing')} still to be indexed: see `recollect status`.")
    if query.filters != Filters(project_id=query.filters.project_id):
        said.append("Fewer filters find more.")
    if query.filters.project_id is not None:
        said.append("`--all` looks in all projects.")
    return "\n".join((" ".join(said), *_never_borne(store, query.filters)))


def _never_borne(store: Reading, filters: Filters) -> Iterator[str]:
    """Names that nothing bears, whatever is asked for."""
    here = Filters(project_id=filters.project_id)
    where = "is remembered" if here.project_id is None else "is remembered in this project"
    for concept in filters.concepts:
        if not store.documents_within(replace(here, concepts=(concept,)), 1):
            yield f"Nothing that {where} is tagged with the concept {one_line(concept, 60)!r}."
    if filters.agent and not store.documents_within(replace(here, agent=filters.agent), 1):
        agents = sorted({each.agent for each in store.sessions(here.project_id, RECENT)})
        known = f" There is: {', '.join(agents)}." if agents else ""
        yield f"Nothing that {where} is of the agent {one_line(filters.agent, 60)!r}.{known}"
