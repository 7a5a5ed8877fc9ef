"""`recollect remember`."""

import os
import sys
from pathlib import Path

import click

from recollect.cli.output import json_option, print_json, say
from recollect.errors import ConfigError
from recollect.model.notes import AGENT, LONGEST_NOTE, USER
from recollect.model.observations import TYPES
from recollect.paths import Paths
from recollect.text import clean
from recollect.worker import contact

INSIDE_AN_AGENT = ("CLAUDECODE", "CLAUDE_CODE_SESSION_ID")  # then these are not the user's words


@click.command()
@click.argument("text", nargs=-1, required=True)
@click.option(
    "--type",
    "kind",
    type=click.Choice(TYPES),
    default="discovery",
    show_default=True,
    help="What kind of thing it is.",
)
@click.option("--file", "files", multiple=True, help="A file it is about; repeat it.")
@json_option
def remember(text: tuple[str, ...], kind: str, files: tuple[str, ...], as_json: bool) -> None:
    """Keep TEXT, in your words, for all later sessions in this project. `-` reads it from standard input.

    The first line is its title. It is pinned: every brief names it. The same text twice is kept once.
    """
    said = sys.stdin.read(LONGEST_NOTE * 2) if text == ("-",) else " ".join(text)
    said = clean(said).strip()
    if not said:
        raise ConfigError("There is nothing to remember. Say it: recollect remember TEXT.")
    if len(said) > LONGEST_NOTE:
        raise ConfigError(
            f"At most {LONGEST_NOTE} characters are remembered at once. Say it shorter."
        )
    here = str(Path.cwd())
    answer = contact.order(
        Paths.of(os.environ),
        "remember",
        dir=os.environ.get("CLAUDE_PROJECT_DIR") or here,
        agent="claude-code",
        session=os.environ.get("CLAUDE_CODE_SESSION_ID"),
        text=said,
        type=kind,
        by=AGENT if any(name in os.environ for name in INSIDE_AN_AGENT) else USER,
        files=list(files),
    )
    if as_json:
        print_json({"id": answer["id"], "title": answer["title"]})
    else:
        say(f"Remembered as #{answer['id']}. `recollect forget {answer['id']}` takes it back.")
