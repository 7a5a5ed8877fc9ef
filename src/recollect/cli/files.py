"""`recollect files`: what is known about a file, or which files most is known about."""

from dataclasses import asdict
from pathlib import Path

import click

from recollect import clock
from recollect.cli import places
from recollect.cli.output import (
    TYPE_COLOURS,
    heading,
    json_option,
    print_json,
    say,
    styled,
    table,
    wrapped,
)
from recollect.cli.scope import file_name, one_project
from recollect.model.observations import Observation
from recollect.recall import lookup
from recollect.recall.shown import Shown
from recollect.store.protocol import Reading
from recollect.text import one_line

FACTS = 3


@click.command()
@click.argument("path", required=False)
@places.project_option()
@click.option(
    "-n", "--limit", type=click.IntRange(1, 1000), default=10, show_default=True, help="How many."
)
@json_option
def files(path: str | None, project: str | None, limit: int, as_json: bool) -> None:
    """Show what is known about the file PATH; its name alone will do.

    With a directory, which need not be on this disk, or without PATH: the files that most is known about.
    Where nothing was recorded, name a project.
    """
    store = places.store()
    where = one_project(store, project)
    name = file_name(store, where, path.rstrip("/") or "/") if path else ""
    if path and not _is_directory(store, where, path, name):
        _about(store, where, name, limit, as_json)
    else:
        below = name.removeprefix("./").rstrip("/")
        _most_known(store, where, f"{below}/" if below not in ("", ".") else "", limit, as_json)


def _is_directory(store: Reading, project_id: int, path: str, name: str) -> bool:
    """As it is written, as it is on disk, or by the files that are known: it may be of another machine."""
    if path.endswith("/") or Path(path).is_dir():
        return True
    return lookup.is_directory(store, project_id, name)


def _about(store: Reading, project_id: int, name: str, limit: int, as_json: bool) -> None:
    found = lookup.about_file(store, project_id, name, limit)
    shown = Shown(store)
    if as_json:
        print_json(
            {
                "path": name,
                "observations": [
                    asdict(each) | {"freshness": asdict(shown.freshness_of(each))} for each in found
                ],
            }
        )
        return
    if not found:
        say(f"Nothing is known about {one_line(name, 200)}.")
        return
    for each in found:
        _print(each, files=str(shown.freshness_of(each)))
    say(styled("Show one in full: recollect show <id>", dim=True))


def _print(observation: Observation, *, files: str) -> None:
    draft = observation.draft
    title = one_line(draft.title or "Untitled", 100)
    marks = "  ".join(
        [
            styled(draft.type, fg=TYPE_COLOURS[draft.type]),
            styled(clock.day_and_time(observation.at), dim=True),
            *([styled("pinned", fg="magenta")] if observation.pinned else []),
            *([styled(files, dim=True)] if files else []),
        ]
    )
    say(f"{heading(f'#{observation.id} {title}')}  {marks}")
    for fact in draft.sure_facts[:FACTS]:
        say(styled(wrapped(one_line(fact, 300), first="   - ", rest="     ")))


def _most_known(store: Reading, project_id: int, below: str, limit: int, as_json: bool) -> None:
    found = store.files_known(project_id, below, limit)
    if as_json:
        print_json([asdict(each) for each in found])
        return
    if not found:
        say(f"Nothing is known about files{f' in {below}' if below else ''} yet.")
        return
    rows = (
        (each.path, f"{each.observations:,}", f"{each.changes:,}", clock.day_and_time(each.last_at))
        for each in found
    )
    numbers = ("observations", "changed by")
    table(("file", *numbers, "when"), rows, numbers=numbers)
    say(styled("What is known about one: recollect files <path>", dim=True))
