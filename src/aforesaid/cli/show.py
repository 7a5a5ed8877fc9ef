"""`aforesaid show`, `sessions` and `why`. What they print is found by `worker/queries.py`."""

from collections import Counter
from pathlib import Path
from typing import Any

import click

from aforesaid import clock
from aforesaid.cli import arguments
from aforesaid.cli import output as out
from aforesaid.english import count
from aforesaid.model.names import FACTS, FULL, TITLE
from aforesaid.text import one_line

Json = dict[str, Any]
NO_SESSIONS = (
    "No sessions yet. `aforesaid import claude-code` imports past sessions; `aforesaid install` connects "
    "Claude Code."
)


@click.command()
@click.argument("what", metavar="ID", shell_complete=arguments.complete_anything)
@click.option(
    "--level",
    type=click.Choice((TITLE, FACTS, FULL)),
    default=FULL,
    show_default=True,
    help="How much of it.",
)
@out.json_option
@click.pass_context
def show(context: click.Context, what: str, level: str) -> None:
    """Show observation ID (a number such as 12 or #12) or session ID (its first letters are enough).

    A number of up to 7 digits is always an observation. Also by name, as search prints it: summary:7,
    prompt:3, event:9, memory:NAME.
    """
    if what.startswith("memory:"):
        from aforesaid.cli.memory import show as show_memory

        context.invoke(show_memory, name=what.removeprefix("memory:"))
        return
    found = arguments.ask("show", what=what, level=level)
    if out.print_if_json(found["json"]):
        return
    out.print_text(found["text"])
    if level == FULL:
        out.say(out.styled(", ".join(found["about"]), dim=True))


@click.command()
@arguments.all_option
@arguments.limit_option(20, 2**31)
@out.json_option
def sessions(everywhere: bool, limit: int) -> None:
    """List sessions, newest first. Where nothing was recorded, those of all projects.

    Notes taken outside of a session are not listed: `aforesaid search` finds them.
    """
    found = arguments.ask("sessions", everywhere=everywhere, limit=limit)
    listed = [(each["id"], each["json"]) for each in found["sessions"]]
    rows = [
        (
            key,
            clock.day_and_time(session["last_event_at"]),
            session["project"],
            session["status"],
            str(session["prompts"]),
            one_line(session["title"] or "", 80),
        )
        for key, session in listed
    ]
    columns = ("session", "when", "project", "state", "prompts", "title")
    value = [session for _, session in listed]
    if not out.report_table(value, columns, rows, empty=NO_SESSIONS, numbers=("prompts",)):
        return
    if found["project"] is not None:
        out.say(f"Project {found['project']} only; --all lists all projects.")
    elif not everywhere:
        out.say(f"Nothing was recorded in {Path.cwd()}; these are of all projects.")
    out.say("Show one with: aforesaid show <session>")


@click.command()
@click.argument("session", required=False, shell_complete=arguments.complete_sessions)
@out.json_option
def why(session: str | None) -> None:
    """List what was injected into SESSION: when, by which hook, what, why, and how many tokens.

    The first letters of its id are enough. Default: the latest session of this directory's project.
    """
    found = arguments.ask("why", session=session)
    if out.print_if_json(found["json"]):
        return
    about = found["session"]
    began = clock.day_and_time(about["started_at"])
    out.say(out.heading(about["title"] or "Untitled session"))
    out.say(out.styled(f"{about['ref']}  {found['project']}  {began}", dim=True))
    if not found["rows"]:
        out.say(
            "\nNothing was injected, or only a prepared brief while the worker was not running."
        )
        return
    rows = []
    kinds: Counter[str] = Counter()
    hooks: Counter[str] = Counter()
    for each in found["rows"]:
        kinds[each.get("kind", "memory")] += 1
        hooks[each["hook"]] += each["tokens"]
        reason = one_line(each["reason"], 80)
        if origins := each.get("origins"):
            reason += f" (from {', '.join(origins.split())})"
        # The session's day is not repeated.
        when = clock.day_and_time(each["at"]).removeprefix(f"{began.partition(' ')[0]} ")
        title = one_line(each.get("title") or "", 60)
        rows.append((when, each["hook"], each["id"], title, reason, f"{each['tokens']:,}"))
    out.table(("when", "hook", "id", "title", "why", "tokens"), rows, numbers=("tokens",))
    what = ", ".join(count(number, kind) for kind, number in kinds.items())
    parts = ", ".join(f"{hook} {tokens:,}" for hook, tokens in hooks.items())
    out.say(f"{what}: about {count(hooks.total(), 'token')} ({parts})")
    out.say(out.styled(out.SHOW_HINT, dim=True))
