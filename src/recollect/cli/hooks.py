"""`context`, `new`, `compact`, `save`, `summary`, `end`: what the agent's hooks do, callable by hand.

With a payload on standard input they do exactly what the installed hook line does. `context` on a terminal
prints the brief that a session started here would get.
"""

import os
import sys
from pathlib import Path

import click

from recollect import clock, wiring
from recollect.cli import places
from recollect.cli.output import json_option, print_json, say
from recollect.errors import RecollectError
from recollect.hook import capture
from recollect.text import tokens


def _run(hook: str, body: bytes | None = None) -> None:
    if body is None and sys.stdin.isatty():
        raise RecollectError(
            f"`recollect {hook}` reads a hook payload. Try: recollect {hook} < payload.json"
        )
    sys.stdout.flush()
    # The hot path ends its process itself, as it does under the agent.
    os._exit(capture.main(hook, body))


@click.command()
@json_option
@click.option("--project", type=click.Path(exists=True, file_okay=False), help="Another directory.")
def context(as_json: bool, project: str | None) -> None:
    """Print the brief of this directory's project; with a payload on stdin, act as SessionStart."""
    if project is None and not as_json and (body := _payload()):
        _run("context", body)
    if project is not None:
        os.chdir(project)
    from recollect.briefing import Briefing
    from recollect.cli.paused import why_told_nothing

    home = wiring.home()
    store = wiring.open_for_reading(home.paths)
    project_id = places.current_project(store)
    text = ""
    if project_id is not None:
        searcher = wiring.searcher(store, home.settings, clock.now)
        briefing = Briefing(
            store, searcher, lambda folder: wiring.memories(home, folder, clock.now)
        )
        budget = home.settings.number("brief.tokens")
        text = briefing.write(project_id, str(Path.cwd()), budget).text
    if as_json:
        print_json({"project": str(Path.cwd()), "tokens": tokens(text), "brief": text})
    else:
        say(text or "Nothing is remembered about this directory yet.")
        if why := why_told_nothing(home, project_id, clock.now()):
            click.echo(f"A session that starts here now is told nothing: {why}.", err=True)


@click.command()
def new() -> None:
    """UserPromptSubmit: store the prompt, print what is known about the files it names."""
    _run("new")


@click.command()
def save() -> None:
    """PostToolUse, PostToolUseFailure, SubagentStop: store the event."""
    _run("save")


@click.command()
def compact() -> None:
    """PreCompact: store the event, print what the compaction must keep."""
    _run("compact")


@click.command()
def summary() -> None:
    """Stop: the turn is over; observations and its summary are written in the background."""
    _run("summary")


@click.command()
def end() -> None:
    """SessionEnd: the session is completed; the worker lives on."""
    _run("end")


def _payload() -> bytes:
    """What a pipe or a file gives us; a terminal, /dev/null and a closed stream give nothing."""
    import stat

    try:
        mode = os.fstat(0).st_mode
    except OSError:
        return b""
    if not (stat.S_ISFIFO(mode) or stat.S_ISREG(mode) or stat.S_ISSOCK(mode)):
        return b""
    return capture.read_all(0).strip()
