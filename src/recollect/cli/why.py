"""`recollect why`: what a session was told unasked, and why."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict

import click

from recollect import clock
from recollect.cli import places
from recollect.cli.output import (
    count,
    heading,
    json_option,
    print_json,
    say,
    styled,
    table,
)
from recollect.errors import NotFound
from recollect.model.search import OBSERVATION
from recollect.model.sessions import Session
from recollect.model.told import Injected, InjectedMemory
from recollect.recall.shown import short_id
from recollect.store.protocol import Reading
from recollect.text import one_line


@click.command()
@click.argument("session", required=False, shell_complete=places.completing(places.session_names))
@json_option
def why(session: str | None, as_json: bool) -> None:
    """List what SESSION was told unasked: when, by which hook, what, why, and for how many tokens.

    The first letters of its id are enough. Without one: the latest session of this directory's project; where
    nothing was recorded, name one.
    """
    store = places.store()
    found = places.session_named(store, session) if session else _latest(store)
    told, memories = store.told_in(found.id), store.told_memories(found.id)
    everything: list[Injected | InjectedMemory] = [*told, *memories]
    if as_json:
        listed = {
            "told": [asdict(one) for one in told],
            "memories": [asdict(one) for one in memories],
        }
        tokens = sum(one.tokens for one in everything)
        print_json({"session": found.ref, **listed, "tokens": tokens})
        return
    say(heading(found.title or "Untitled session"))
    project = store.project(found.project_id).name
    say(styled(f"{found.ref}  {project}  {clock.day_and_time(found.started_at)}", dim=True))
    if not everything:
        say("\nIt was told nothing, or by a prepared brief while the worker was down.")
        return
    _print(store, everything, clock.day_and_time(found.started_at))


def _latest(store: Reading) -> Session:
    """Only of this project: what another one's session was told is no answer here."""
    project = places.here(store, "Name a session: `recollect sessions --all` lists them.")
    found = store.sessions(project, 1)
    if not found:
        raise NotFound("This project has no sessions yet. `recollect sessions --all` lists others.")
    return found[0]


def _print(store: Reading, told: list[Injected | InjectedMemory], began: str) -> None:
    """In the order in which it was told. `began`: the session, whose day need not be repeated."""
    day = began.partition(" ")[0]
    refs = {one.session for one in told if isinstance(one, Injected)}
    sessions = {ref: short_id(store, ref) for ref in refs if ref}
    rows = []
    for one in sorted(told, key=lambda each: each.at):
        what: tuple[str, str]
        if isinstance(one, InjectedMemory):
            what = "memory", one_line(one.name, 60)
        elif one.kind == OBSERVATION:
            what = f"#{one.source}", one_line(one.title or "", 60)
        else:
            what = sessions.get(one.session or "", ""), one_line(one.title or "", 60)
        when = clock.day_and_time(one.at).removeprefix(f"{day} ")
        reason = one_line(one.reason, 80)
        if isinstance(one, Injected) and one.origins:
            reason += f" (from {', '.join(one.origins.split())})"
        rows.append((when, one.hook, *what, reason, f"{one.tokens:,}"))
    table(("when", "hook", "id", "title", "why", "tokens"), rows, numbers=("tokens",))
    say(_total(told))
    say(styled("Show one in full: recollect show <id>", dim=True))


def _total(told: Iterable[Injected | InjectedMemory]) -> str:
    kinds: Counter[str] = Counter()
    hooks: Counter[str] = Counter()
    for one in told:
        kinds["memory" if isinstance(one, InjectedMemory) else one.kind] += 1
        hooks[one.hook] += one.tokens
    what = ", ".join(count(number, kind) for kind, number in kinds.items())
    parts = ", ".join(f"{hook} {tokens:,}" for hook, tokens in hooks.items())
    return f"{what}: about {count(hooks.total(), 'token')} ({parts})"
