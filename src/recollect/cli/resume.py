"""`recollect resume`."""

import os

import click

from recollect import switches
from recollect.cli import places
from recollect.cli.output import json_option, print_json, say, styled
from recollect.cli.pause import line, session
from recollect.paths import Paths
from recollect.repository import project_directory
from recollect.worker import contact


@click.command()
@click.option("--session", "name", metavar="ID", callback=places.not_empty, help="One session.")
@click.option("--all", "everything", is_flag=True, help="Whatever is paused, in all projects.")
@json_option
def resume(name: str | None, everything: bool, as_json: bool) -> None:
    """End what `recollect pause` began here: of this project, of its sessions, and of everything."""
    order = {
        "dir": None if name else project_directory(os.environ),
        "session": session(name),
        "everything": everything,
    }
    answer = contact.order(Paths.of(os.environ), "resume", **order)
    if as_json:
        print_json(answer)
        return
    for each in answer["ended"]:
        say(f"{line(each, verb='was')}; it is recorded again.")
    if not answer["ended"]:
        say("Nothing was paused here.")
    if still := answer["still"] or switches.told_off(os.environ):
        say(styled(f"Still off: {still}.", fg="yellow"))
