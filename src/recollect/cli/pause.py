"""`recollect pause`."""

import os
import re
from typing import Any

import click

from recollect import clock
from recollect.cli import places
from recollect.cli.output import json_option, print_json, say
from recollect.model.pauses import ENDS, subject
from recollect.model.pauses import paused as phrase
from recollect.paths import Paths
from recollect.repository import project_directory
from recollect.worker import contact

UNITS = {"m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400}
LENGTH = re.compile(r"(\d{1,5})\s*([mhdw])")


def seconds_of(_: click.Context, __: click.Parameter, value: str | None) -> int | None:
    """In seconds."""
    if value is None:
        return None
    found = LENGTH.fullmatch(value.strip().lower())
    if found is None or int(found[1]) == 0:
        raise click.BadParameter("give a length such as 30m, 2h, 1d or 1w.")
    return int(found[1]) * UNITS[found[2]]


def session(name: str | None) -> tuple[str, str] | None:
    """By the beginning of its id, if it is known; one that has just begun may not be."""
    if name is None:
        return None
    found = places.session_named(places.store(), name)
    return found.agent, found.ref


@click.command()
@click.option(
    "--project", "scope", flag_value="project", default=True, help="This project (default)."
)
@click.option("--session", "name", metavar="ID", callback=places.not_empty, help="One session.")
@click.option("--all", "everything", is_flag=True, help="Everything, in all projects.")
@click.option(
    "--for", "seconds", metavar="LENGTH", callback=seconds_of, help="Such as 30m, 2h, 1d."
)
@json_option
def pause(
    scope: str, name: str | None, everything: bool, seconds: int | None, as_json: bool
) -> None:
    """Record nothing and tell nothing, here or everywhere, until `recollect resume`.

    What happens meanwhile is not taken from transcripts later, either. RECOLLECT_PAUSED=1 does the same for
    the agent that is started with it, a file .recollect/off for a repository.
    """
    if name and everything:
        raise click.UsageError("Give either --session or --all.")
    scope = "session" if name else "everything" if everything else scope
    order = {
        "scope": scope,
        "dir": project_directory(os.environ),
        "session": session(name),
        "milliseconds": None if seconds is None else seconds * clock.SECOND,
    }
    paused = contact.order(Paths.of(os.environ), "pause", **order)["paused"]
    if as_json:
        print_json(paused)
    else:
        say(f"{line(paused)}. {ENDS}.")


def line(paused: dict[str, Any], *, verb: str = "is") -> str:
    """What is paused, and until when."""
    of = subject(paused["scope"], paused["project"], paused["session"])
    return phrase(of, paused["until"], verb=verb)
