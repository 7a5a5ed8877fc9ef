"""What agents run: the hooks `context`, `new`, `compact`, `save`, `summary` and `end`, and `mcp`.

With a payload on stdin a hook command does exactly what the installed hook line does. `context` on a terminal
prints the brief that a session in this directory would get.
"""

import os
import stat
import sys
from functools import partial
from pathlib import Path
from typing import NoReturn

import click

from aforesaid.cli.output import json_option, print_if_json, say, wants_json
from aforesaid.errors import AforesaidError

NOTHING = "Nothing is remembered about this directory yet."
OFF = "The brief is turned off: brief.tokens is 0."
TOO_FEW = (
    "Nothing that is remembered fits in brief.tokens = {}. Raise it with `aforesaid config set`."
)


def _run(hook: str, body: bytes | None = None) -> NoReturn:
    from aforesaid.agents.registry import DEFAULT
    from aforesaid.hook import capture

    if body is None and sys.stdin.isatty():
        raise AforesaidError(
            f"`aforesaid {hook}` reads a hook payload. Try: aforesaid {hook} < payload.json"
        )
    sys.stdout.flush()
    # The hook ends its process itself, as it does under the agent.
    project = os.environ.get(DEFAULT.variables.project, "")
    session = os.environ.get(DEFAULT.variables.session, "")
    os._exit(capture.main(DEFAULT.name, hook, project, session, body=body))


@click.command()
@json_option
def context() -> None:
    """Print the brief of this directory's project; with a payload on stdin, act as SessionStart."""
    if not wants_json() and (body := _read_payload()):
        _run("context", body)
    from aforesaid import clock, settings, wiring
    from aforesaid.briefing import write_brief
    from aforesaid.recall import resolve
    from aforesaid.text import tokens
    from aforesaid.worker.overview import why_nothing_injected

    home = wiring.home()
    store = wiring.open_for_reading(home.paths)
    project_id = resolve.project_at(store, Path.cwd())
    text, nothing = "", NOTHING
    budget = home.settings.number("brief.tokens")
    if project_id is not None:
        searcher = wiring.searcher(store, home.settings, clock.now)
        write = partial(
            write_brief,
            store,
            searcher,
            lambda folder: wiring.memories(home, folder, clock.now),
            project_id,
            str(Path.cwd()),
        )
        text = write(budget).text
        if not text and write(settings.BY_NAME["brief.tokens"].most or 0).text:
            nothing = TOO_FEW.format(budget)
    if budget == 0:
        nothing = OFF
    if print_if_json({"project": str(Path.cwd()), "tokens": tokens(text), "brief": text}):
        return
    say(text or nothing)
    if why := why_nothing_injected(home, project_id):
        say(f"Nothing is injected into a session that starts here now: {why}.", err=True)


def _read_payload() -> bytes:
    """From a pipe or a file; a terminal, /dev/null and a closed stream have none."""
    from aforesaid.hook import capture

    try:
        mode = os.fstat(0).st_mode
    except OSError:
        return b""
    if not (stat.S_ISFIFO(mode) or stat.S_ISREG(mode) or stat.S_ISSOCK(mode)):
        return b""
    return capture.read_all(0).strip()


def _hook(name: str, about: str) -> click.Command:
    return click.Command(name, callback=lambda: _run(name), help=about)


new = _hook("new", "UserPromptSubmit: store the prompt, print what is known about it.")
save = _hook("save", "PostToolUse, PostToolUseFailure, SubagentStop: store the event.")
compact = _hook("compact", "PreCompact: store the event, print what the compaction must keep.")
summary = _hook(
    "summary",
    "Stop: the turn is over; observations and a summary are written in the background.",
)
end = _hook("end", "SessionEnd: close the session; the worker keeps running.")


@click.command()
@click.option(
    "--plugin", is_flag=True, help="Offer no tools if the user's settings name the server too."
)
def mcp(plugin: bool) -> None:
    """Serve the memory to an agent: the Model Context Protocol over stdin and stdout.

    `aforesaid install` configures Claude Code to run this. It ends when stdin is closed and every call
    is answered.
    """
    from aforesaid.mcp.server import main

    main(plugin=plugin)
