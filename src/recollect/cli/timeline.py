"""`recollect timeline`: what happened around something, across sessions."""

import click

from recollect import clock, wiring
from recollect.cli import places, things
from recollect.cli.hits import print_hit
from recollect.cli.output import json_option, print_json, say, styled
from recollect.cli.scope import one_project
from recollect.model.search import SESSION, Hit
from recollect.periods import begin
from recollect.recall import lookup
from recollect.recall.shown import Shown
from recollect.recall.telling import name
from recollect.store.protocol import Reading

SIDE = 5


@click.command()
@click.argument(
    "what", metavar="[ID]", required=False, shell_complete=places.completing(places.anything)
)
@click.option(
    "--at", metavar="WHEN", help="Around a time: 3d, 2026-11-01, 2026-11-01 14:50, yesterday."
)
@places.project_option()
@click.option(
    "--before", type=click.IntRange(0, 500), help=f"How many earlier; {SIDE} if not given."
)
@click.option("--after", type=click.IntRange(0, 500), help=f"How many later; {SIDE} if not given.")
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(1, 1000),
    help="How many in all, instead of --before and --after.",
)
@json_option
def timeline(
    what: str | None,
    at: str | None,
    project: str | None,
    before: int | None,
    after: int | None,
    limit: int | None,
    as_json: bool,
) -> None:
    """Show what stands around ID or a time, in order, across the sessions of its project.

    ID is a number such as 12 or #12, summary:7, prompt:3, event:9, or the first letters of a session's id.
    Without either: the latest.
    """
    if what and at:
        raise click.UsageError("Give either ID or --at.")
    if limit is not None and (before, after) != (None, None):
        raise click.UsageError("Give either --limit or --before and --after.")
    store = places.store()
    searcher = wiring.searcher(store, wiring.home().settings, clock.now)
    around = things.named(store, what) if what else None
    if around:
        _check_project(store, around, project)
    hits = lookup.timeline(
        searcher,
        store,
        project_id=None if around else one_project(store, project),
        around=around,
        at=None if around else _moment(at),
        before=SIDE if before is None else before,
        after=SIDE if after is None else after,
        limit=limit,
    )
    if as_json:
        shown = Shown(store)
        print_json([shown.json(hit) for hit in hits])
    else:
        _print(store, hits, around)


def _check_project(store: Reading, around: tuple[str, int], project: str | None) -> None:
    """A thing has its project; another one's name beside it is a mistake."""
    found = things.found(store, *around)
    if project and (named := places.project_named(store, project)).id != found.project_id:
        its = store.project(found.project_id).name
        what = "This session" if around[0] == SESSION else name(*around)
        raise click.UsageError(
            f"{what} is of project {its}, not of {named.name}. Leave --project out."
        )


def _moment(at: str | None) -> int:
    try:
        return begin(at.strip(), clock.now()) if at else clock.now()
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--at") from None


def _print(store: Reading, hits: list[Hit], around: tuple[str, int] | None) -> None:
    if not hits:
        say("Nothing is remembered around that time.")
        return
    shown = Shown(store)
    session = None
    for hit in hits:
        if hit.session_id != session:
            session = hit.session_id
            found = store.session(session)
            ref = shown.short_id(found.ref if found else None)
            title = f"{ref} {found.title or 'Untitled session'}" if found else "Session"
            here = (SESSION, session) == around
            say(styled(f"{'▶' if here else '──'} {title}", dim=not here, bold=here))
        here = (hit.kind, hit.id) == around
        print_hit(shown, hit, excerpt=here, lead="▶ " if here else "  ")
    say(styled("Show one in full: recollect show <id>", dim=True))
