"""`recollect search`."""

from dataclasses import asdict

import click

from recollect import clock
from recollect.cli import places
from recollect.cli.output import TYPE_COLOURS, heading, json_option, print_json, say, styled
from recollect.model.observations import TYPES
from recollect.model.search import MATCH_END, MATCH_START, Hit
from recollect.text import one_line


@click.command()
@click.argument("words", nargs=-1, required=True)
@click.option("--type", "kind", type=click.Choice(TYPES), help="Only observations of this type.")
@click.option(
    "--all", "everywhere", is_flag=True, help="In all projects, not only this directory's."
)
@click.option(
    "-n", "--limit", type=click.IntRange(1), default=10, show_default=True, help="How many."
)
@json_option
def search(
    words: tuple[str, ...], kind: str | None, everywhere: bool, limit: int, as_json: bool
) -> None:
    """Find observations, summaries and prompts by their words."""
    store = places.store()
    project = places.scope(store, everywhere=everywhere)
    hits = store.search(" ".join(words), project_id=project, type=kind, limit=limit)
    if as_json:
        refs = {hit.session_id: store.session(hit.session_id) for hit in hits}
        print_json(
            [
                asdict(hit)
                | {
                    "excerpt": _plain(hit.excerpt),
                    "session": found.ref if (found := refs[hit.session_id]) else None,
                }
                for hit in hits
            ]
        )
        return
    if not hits:
        elsewhere = "" if everywhere else " `--all` looks in all projects."
        say(f"Nothing found for {' '.join(words)!r}.{elsewhere}")
        return
    for hit in hits:
        session = store.session(hit.session_id)
        _print(hit, session=session.ref[:8] if session else "a session that is gone")
    say(styled("Show one in full: recollect show <id or session>", dim=True))


def _print(hit: Hit, *, session: str) -> None:
    when = styled(clock.day_and_time(hit.at), dim=True)
    if hit.doubted:
        when += styled("  unverified", fg="yellow")
    if hit.kind == "observation":
        kind = styled(hit.type or "", fg=TYPE_COLOURS.get(hit.type or ""))
        say(f"{heading(f'#{hit.id}')} {heading(one_line(hit.title, 100))}  {kind}  {when}")
    else:
        name = heading(f"{hit.kind} in {session}")
        say(f"{name} {styled(one_line(hit.title, 100))}  {when}")
    # Cleaned piece by piece: the marks are control characters themselves.
    parts = hit.excerpt.replace(MATCH_END, MATCH_START).split(MATCH_START)
    lines = [
        styled(" ".join(p.split("\n")), bold=number % 2 == 1) for number, p in enumerate(parts)
    ]
    say("   " + "".join(lines))


def _plain(excerpt: str) -> str:
    return excerpt.replace(MATCH_START, "").replace(MATCH_END, "")
