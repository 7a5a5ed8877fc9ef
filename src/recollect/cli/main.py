"""`recollect`: the commands, one row each. A command's module is imported when it is run."""

import importlib
import json
import sys
from keyword import iskeyword
from typing import Any, NamedTuple, NoReturn

import click

from recollect import __version__
from recollect.cli.pipe import quietly
from recollect.errors import RecollectError
from recollect.text import clean


class CommandRow(NamedTuple):
    """`tells`: it may print what is remembered. `model/origins.py` knows these by name, because what they
    print proves nothing."""

    name: str
    module: str
    help: str
    group: str
    tells: bool = False


EVERYDAY, SETUP, HOOKS = "Look back", "Set up and keep running", "Hook commands (agents call these)"
COMMANDS = (
    CommandRow("open", "open_", "Open the viewer in a browser.", EVERYDAY),
    CommandRow(
        "search",
        "search",
        "Find what is remembered, by words and by meaning.",
        EVERYDAY,
        tells=True,
    ),
    CommandRow(
        "show", "show", "Show one thing, or a session with what it left.", EVERYDAY, tells=True
    ),
    CommandRow(
        "timeline",
        "timeline",
        "What happened around something, across sessions.",
        EVERYDAY,
        tells=True,
    ),
    CommandRow(
        "related",
        "related",
        "What hangs together with an observation, and why.",
        EVERYDAY,
        tells=True,
    ),
    CommandRow("files", "files", "What is known about a file.", EVERYDAY, tells=True),
    CommandRow("sessions", "sessions", "List sessions, newest first.", EVERYDAY, tells=True),
    CommandRow("why", "why", "What a session was told unasked, and why.", EVERYDAY, tells=True),
    CommandRow("pin", "pin", "Put an observation first in every brief, or no longer.", EVERYDAY),
    CommandRow("confirm", "confirm", "Vouch for what only the web says, or no longer.", EVERYDAY),
    CommandRow("edit", "edit", "Put an observation into your own words.", EVERYDAY),
    CommandRow("merge", "merge", "Fold an observation into another one, or undo that.", EVERYDAY),
    CommandRow(
        "memory", "memory", "Look at curated memories, change and undo them.", EVERYDAY, tells=True
    ),
    CommandRow(
        "dream",
        "dream",
        "Put the memories in order: duplicates, contradictions.",
        EVERYDAY,
        tells=True,
    ),
    CommandRow(
        "remember", "remember", "Keep something for all later sessions.", EVERYDAY, tells=True
    ),
    CommandRow(
        "forget", "forget", "Tell a memory or an observation no longer.", EVERYDAY, tells=True
    ),
    CommandRow("purge", "purge", "Erase for good: a thing, a period, a text.", EVERYDAY),
    CommandRow("pause", "pause", "Record nothing and tell nothing, here or everywhere.", EVERYDAY),
    CommandRow("resume", "resume", "End a pause.", EVERYDAY),
    CommandRow("cost", "cost", "What models were asked, and what that cost.", EVERYDAY),
    CommandRow(
        "demo",
        "demo",
        "Replay two example sessions and show what is remembered.",
        SETUP,
        tells=True,
    ),
    CommandRow("install", "install", "Connect Claude Code.", SETUP),
    CommandRow("uninstall", "uninstall", "Undo install exactly.", SETUP),
    CommandRow("status", "status", "Is it working? Queue, worker, provider.", SETUP),
    CommandRow("doctor", "doctor", "Prove the whole path; name each fault and its fix.", SETUP),
    CommandRow("redact", "redact", "Print a text as it would be kept: without secrets.", SETUP),
    CommandRow("config", "config", "Show and change settings.", SETUP),
    CommandRow("worker", "worker", "Start, stop and look at the background worker.", SETUP),
    CommandRow("retry", "retry", "Try failed jobs again.", SETUP),
    CommandRow("synthesize", "synthesize", "Work up what waits now, or anew.", SETUP),
    CommandRow("rebuild", "rebuild", "Make the search index again.", SETUP),
    CommandRow("backup", "backup", "Back up what is remembered; list and check backups.", SETUP),
    CommandRow("restore", "restore", "Put a backup in the place of what is here.", SETUP),
    CommandRow(
        "export", "export", "Write everything that is remembered into a file.", SETUP, tells=True
    ),
    CommandRow("import", "import_", "Take in what was remembered elsewhere.", SETUP),
    CommandRow(
        "bench", "bench", "Measure recall, memories, search, hooks and the worker here.", SETUP
    ),
    CommandRow("mcp", "mcp", "Serve the memory to an agent, over MCP on stdio.", SETUP, tells=True),
    CommandRow("completion", "completion", "Print the shell completion script.", SETUP),
    CommandRow("context", "hooks", "SessionStart: print the brief.", HOOKS, tells=True),
    CommandRow("new", "hooks", "UserPromptSubmit: store the prompt.", HOOKS, tells=True),
    CommandRow(
        "compact", "hooks", "PreCompact: print what a compaction must keep.", HOOKS, tells=True
    ),
    CommandRow("save", "hooks", "PostToolUse and kin: store what a tool did.", HOOKS),
    CommandRow("summary", "hooks", "Stop: ask for the turn's summary.", HOOKS),
    CommandRow("end", "hooks", "SessionEnd: close the session.", HOOKS),
)
BY_NAME = {row.name: row for row in COMMANDS}


def _is_taken(name: str) -> bool:
    """By Python itself: then the function's name ends in an underscore."""
    return iskeyword(name) or name == "open"


class Commands(click.Group):
    """Knows every command by its row, so that `--help` and completion import none of them."""

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        with quietly():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        with quietly():
            return super().invoke(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [row.name for row in COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        row = BY_NAME.get(cmd_name)
        if row is None:
            return None
        module = importlib.import_module(f"recollect.cli.{row.module}")
        command = getattr(module, f"{row.name}_" if _is_taken(row.name) else row.name)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for group in (EVERYDAY, SETUP, HOOKS):
            with formatter.section(group):
                formatter.write_dl([(r.name, r.help) for r in COMMANDS if r.group == group])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in BY_NAME and not args[0].startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(args[0], BY_NAME, n=1)
            hint = f" Did you mean `recollect {near[0]}`?" if near else ""
            raise click.UsageError(f"There is no command {args[0]!r}.{hint}")
        return super().resolve_command(ctx, args)


@click.command(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, "-V", "--version", message="recollect %(version)s")
def cli() -> None:
    """Memory for coding agents: what happened in earlier sessions, handed to the next one."""


def main() -> None:
    """The console script. An error says what to do; a traceback is a bug."""
    with quietly():
        _run()


def _run() -> None:
    try:
        cli(prog_name="recollect")
    except OSError as error:
        if error.filename is None:
            raise
        fix = "See that it is there and writable, and that the disk is not full"
        _end(RecollectError(f"{error.strerror}: {error.filename}. {fix}: `recollect doctor`."))
    except RecollectError as error:
        _end(error)


def _end(error: RecollectError) -> NoReturn:
    if "--json" in sys.argv:
        click.echo(json.dumps({"error": str(error), "kind": type(error).__name__}))
    else:
        click.echo(f"{click.style('Error:', fg='red', bold=True)} {clean(str(error))}", err=True)
    sys.exit(error.exit_code)
