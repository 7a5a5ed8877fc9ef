"""`recollect search`."""

import click

from recollect import clock, wiring
from recollect.cli import places
from recollect.cli.hits import Shown, print_hit, print_reasons
from recollect.cli.output import count, json_option, print_json, say, styled, wrapped
from recollect.cli.period import since_option, until_option
from recollect.cli.scope import chosen, file_name, scope_options
from recollect.model.observations import TYPES
from recollect.model.search import LEVELS, Answer, Filters, Query
from recollect.recall.telling import FULL, told
from recollect.store.protocol import Reading
from recollect.text import one_line

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
@click.option("--agent", help="Only what this agent did, such as claude-code.")
@click.option(
    "--session",
    metavar="ID",
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
    if as_json:
        _print_json(store, query, answer)
    else:
        _print(store, query, answer, explain=explain)


def _print_json(store: Reading, query: Query, answer: Answer) -> None:
    shown = Shown(store)
    hits = [shown.json(hit) for hit in answer.hits]
    if query.level == FULL:
        for hit in hits:
            hit["text"] = told(store, hit["kind"], hit["id"], FULL)
    found = {"query": query.text, "level": query.level, "without": answer.without, "hits": hits}
    print_json(found)


def _print(store: Reading, query: Query, answer: Answer, *, explain: bool) -> None:
    shown = Shown(store, everywhere=query.filters.project_id is None)
    for hit in answer.hits:
        print_hit(shown, hit, excerpt=query.level != FULL)
        if query.level == FULL:
            text = (told(store, hit.kind, hit.id, FULL) or "").split("\n")[1:]
            say("".join(styled(wrapped(line, first="   ", rest="   ")) + "\n" for line in text))
        if explain:
            print_reasons(hit.reasons, hit.score)
    if not answer.hits:
        say(_nothing(store, query))
    else:
        say(styled("Show one in full: recollect show <id>", dim=True))
    if answer.without:
        said = f"{answer.without[:1].upper()}{answer.without[1:]}".rstrip(".")
        say(styled(f"{said}. {MEND}", fg="yellow"))


def _nothing(store: Reading, query: Query) -> str:
    said = [f"Nothing found for {one_line(query.text, 200)!r}."]
    if waiting := store.index_health().waiting:
        said.append(f"{count(waiting, 'thing')} still to be indexed: see `recollect status`.")
    if query.filters != Filters(project_id=query.filters.project_id):
        said.append("Fewer filters find more.")
    if query.filters.project_id is not None:
        said.append("`--all` looks in all projects.")
    return " ".join(said)
