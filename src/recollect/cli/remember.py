"""`recollect remember`."""

import os
import sys
from pathlib import Path

import click

from recollect.cli import asker
from recollect.cli.output import json_option, print_json, say
from recollect.errors import ConfigError, MemoryRefused
from recollect.model.memories import LONGEST_SAID, OF_TEAM, OF_USER, TYPES
from recollect.paths import Paths
from recollect.repository import project_directory
from recollect.text import clean
from recollect.worker import contact

WHERE = {OF_USER: "in all projects", OF_TEAM: "for everybody who works on this repository"}


@click.command()
@click.argument("text", nargs=-1, required=True)
@click.option(
    "--type",
    "kind",
    type=click.Choice(TYPES),
    help="user: about you, in all projects; feedback: how to work; project; reference: where something "
    "is found. By default its wording decides.",
)
@click.option("--name", help="Write the memory of this name, or write it anew.")
@click.option("--file", "files", multiple=True, help="A file it is about; repeat it.")
@click.option("--pin", is_flag=True, help="First in every brief, and no dream may touch it.")
@click.option("--team", is_flag=True, help="Into the repository, for everybody who works on it.")
@json_option
def remember(
    text: tuple[str, ...],
    kind: str | None,
    name: str | None,
    files: tuple[str, ...],
    pin: bool,
    team: bool,
    as_json: bool,
) -> None:
    """Keep TEXT, in your words, as a memory for later sessions. `-` reads it from standard input.

    What is known already is not kept twice; what it corrects ("use X instead of Y") is updated.
    """
    said = sys.stdin.read(LONGEST_SAID * 2) if text == ("-",) else " ".join(text)
    said = clean(said).strip()
    if not said:
        raise ConfigError("There is nothing to remember. Say it: recollect remember TEXT.")
    if len(said) > LONGEST_SAID:
        raise ConfigError(
            f"At most {LONGEST_SAID} characters are remembered at once. Say it shorter."
        )
    answer = contact.order(
        Paths.of(os.environ),
        "remember",
        dir=project_directory(os.environ),
        agent="claude-code",
        session=os.environ.get("CLAUDE_CODE_SESSION_ID"),
        text=said,
        type=kind,
        name=name,
        team=team,
        pin=pin,
        by=asker.by(),
        files=[str(Path.cwd() / file) for file in files],
    )
    if "refused" in answer:
        raise MemoryRefused(answer["refused"])
    if as_json:
        print_json(answer)
    elif answer["known"]:
        name = answer["name"]
        say(f"It was known already: {name}. `recollect memory show {name}` shows it.")
    elif answer["updated"]:
        say(f"{answer['name']} says it now: {answer['description']}")
        say("`recollect memory diff` shows what it said, `recollect memory undo` takes it back.")
    else:
        where = WHERE.get(answer["of"], "in this project")
        say(f"Remembered {where} as {answer['name']}: {answer['path']}")
        if answer["of"] == OF_TEAM:
            say("It is a file of the repository: commit it, or delete it to take it back.")
        else:
            say(f"`recollect forget {answer['name']}` takes it back.")
