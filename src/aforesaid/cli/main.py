"""`aforesaid`: the commands, one row each. A command's module is imported when it is run."""

import importlib
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, NoReturn

import click

from aforesaid import __version__
from aforesaid.errors import AforesaidError
from aforesaid.paths import search_path
from aforesaid.text import clean

STDOUT = 1
BROKEN_PIPE = 141  # exit code of other programs whose reader has gone
EVERYDAY, SETUP, HOOKS = "Look back", "Set up and keep running", "Hook commands (agents call these)"


class CommandRow(NamedTuple):
    """`provenance/tracker.py` lists the commands that print what is remembered: that is no evidence."""

    name: str
    module: str
    help: str
    group: str = EVERYDAY


COMMANDS = (
    CommandRow("open", "worker", "Open the viewer in a browser."),
    CommandRow("search", "find", "Search by words and by meaning."),
    CommandRow("show", "show", "Show an observation, a session or another thing in full."),
    CommandRow("timeline", "find", "Show what happened around something, across sessions."),
    CommandRow("related", "find", "Show related observations."),
    CommandRow("files", "find", "Show what is known about a file."),
    CommandRow("sessions", "show", "List sessions, newest first."),
    CommandRow("why", "show", "Show what was injected into a session, and why."),
    CommandRow("pin", "curate", "Put an observation or a memory first in every brief."),
    CommandRow("verify", "curate", "Mark an observation as verified, or undo that."),
    CommandRow("edit", "curate", "Edit an observation or a memory."),
    CommandRow("merge", "curate", "Merge an observation into another one, or undo that."),
    CommandRow("memory", "memory", "List, show, change and undo curated memories."),
    CommandRow("dream", "memory", "Consolidate memories: duplicates, contradictions."),
    CommandRow("remember", "memory", "Save a memory for later sessions."),
    CommandRow("forget", "curate", "Hide a memory or an observation. Can be undone."),
    CommandRow("purge", "curate", "Erase for good: a thing, a period, a text."),
    CommandRow("pause", "worker", "Record and inject nothing, here or everywhere."),
    CommandRow("resume", "worker", "End a pause."),
    CommandRow("project", "project", "List projects; link a repository to one."),
    CommandRow("cost", "cost", "Show requests to models, tokens and cost."),
    CommandRow("demo", "demo", "Replay two example sessions and show what is remembered.", SETUP),
    CommandRow("install", "setup", "Connect Claude Code.", SETUP),
    CommandRow("uninstall", "setup", "Undo install exactly; --purge deletes all data.", SETUP),
    CommandRow("status", "status", "Show whether it is working: queue, worker, provider.", SETUP),
    CommandRow("doctor", "doctor", "Check everything; name each fault and its fix.", SETUP),
    CommandRow("redact", "data", "Print a text as it would be stored: without secrets.", SETUP),
    CommandRow("config", "setup", "Show and change settings.", SETUP),
    CommandRow("worker", "worker", "Start, stop and inspect the background worker.", SETUP),
    CommandRow("retry", "worker", "Retry failed jobs.", SETUP),
    CommandRow("synthesize", "worker", "Process pending turns now, or reprocess old ones.", SETUP),
    CommandRow("rebuild", "data", "Rebuild the search index.", SETUP),
    CommandRow("backup", "data", "Make a backup; list and check backups.", SETUP),
    CommandRow("restore", "data", "Restore a backup.", SETUP),
    CommandRow("export", "data", "Export everything to a file.", SETUP),
    CommandRow("import", "imports", "Import transcripts, an export or claude-mem.", SETUP),
    CommandRow("mcp", "hooks", "Serve the memory to an agent, over MCP on stdio.", SETUP),
    CommandRow("completion", "setup", "Print the shell completion script.", SETUP),
    CommandRow("context", "hooks", "SessionStart: print the brief.", HOOKS),
    CommandRow("new", "hooks", "UserPromptSubmit: store the prompt.", HOOKS),
    CommandRow("compact", "hooks", "PreCompact: print what a compaction must keep.", HOOKS),
    CommandRow("save", "hooks", "PostToolUse and others: store what a tool did.", HOOKS),
    CommandRow("summary", "hooks", "Stop: request the turn's summary.", HOOKS),
    CommandRow("end", "hooks", "SessionEnd: close the session.", HOOKS),
)
BY_NAME = {row.name: row for row in COMMANDS}


@contextmanager
def _broken_pipe_is_no_error() -> Iterator[None]:
    """`aforesaid show 12 | head -1`. Inside of click, which would exit with 1; rich raises SystemExit."""
    try:
        yield
    except (BrokenPipeError, SystemExit) as end:
        if not any(isinstance(each, BrokenPipeError) for each in (end, end.__context__)):
            raise
        # What is still in the buffer is written when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), STDOUT)
        raise SystemExit(BROKEN_PIPE) from None


class Commands(click.Group):
    """Knows every command by its row, so that `--help` and completion import none of them."""

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        with _broken_pipe_is_no_error():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        with _broken_pipe_is_no_error():
            return super().invoke(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [row.name for row in COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        row = BY_NAME.get(cmd_name)
        if row is None:
            return None
        module = importlib.import_module(f"aforesaid.cli.{row.module}")
        # `open` and `import` are taken by Python itself.
        command = getattr(module, f"{row.name}_", None) or getattr(module, row.name)
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
            hint = f" Did you mean `aforesaid {near[0]}`?" if near else ""
            raise click.UsageError(f"There is no command {args[0]!r}.{hint}")
        return super().resolve_command(ctx, args)


@click.command(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, "-V", "--version", message="aforesaid %(version)s")
def cli() -> None:
    """Memory for coding agents: records sessions, and gives later ones what they need to know."""


def main() -> None:
    """The console script. An error says what to do; a traceback is a bug."""
    os.environ["PATH"] = search_path(os.environ)
    with _broken_pipe_is_no_error():
        try:
            cli(prog_name="aforesaid")
        except OSError as error:
            if error.filename is None:
                raise
            fix = "Check that it exists and is writable, and that the disk is not full"
            _fail(AforesaidError(f"{error.strerror}: {error.filename}. {fix}: `aforesaid doctor`."))
        except AforesaidError as error:
            _fail(error)


def _fail(error: AforesaidError) -> NoReturn:
    if "--json" in sys.argv:
        click.echo(json.dumps({"error": str(error), "kind": type(error).__name__}))
    else:
        from aforesaid.cli.output import say

        label = click.style("Error:", fg="red", bold=True)
        say(f"{label} {clean(str(error))}", err=True)
    sys.exit(error.exit_code)
