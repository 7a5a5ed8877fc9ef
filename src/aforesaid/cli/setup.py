"""`aforesaid install`, `uninstall`, `config` and `completion`."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem, get_completion_class

import aforesaid
from aforesaid import settings as settings_module
from aforesaid import wiring
from aforesaid.agents.connection import FORMER_NAME
from aforesaid.agents.registry import DEFAULT
from aforesaid.cli import output as out
from aforesaid.paths import Paths, write_private
from aforesaid.settings import Row, Value

if TYPE_CHECKING:
    from aforesaid.agents.settings_file import Change, SettingsFile

SCOPE = click.Choice(("user", "project"))
COLOURS = {"+": "green", "-": "red", "@": "cyan"}
# Everything that we write into the folders, so that `uninstall --purge` deletes nothing else.
CONFIG_FILES = ("config.toml", ".config.toml.lock")
DATA_FILES = ("aforesaid.db*", "redaction.key", "memory", "erasing.json", "backups", "damaged")
STATE_FILES = (
    *("spool", "briefs", "health.json", "capture-failures*", "python", "run", "logs"),
    *("installs", "agent"),
)
COMPLETION_HINTS = {
    "bash": 'eval "$(aforesaid completion bash)"  # in ~/.bashrc',
    "zsh": 'eval "$(aforesaid completion zsh)"  # in ~/.zshrc',
    "fish": "aforesaid completion fish > ~/.config/fish/completions/aforesaid.fish",
}


def settings_files(scope: str, records: Path) -> "tuple[SettingsFile, SettingsFile]":
    """Where the client reads its hooks, and where its MCP servers."""
    python, connection = Path(sys.executable), DEFAULT.connection
    hooks = connection.hooks_path(scope, os.environ)
    server = connection.server_path(scope, os.environ)
    return (
        connection.hooks_file(hooks, records, hook_dir(), python),
        connection.server_file(server, records, python),
    )


def hook_dir() -> Path:
    return Path(aforesaid.__file__).parent / "hook"


def run_hook(hook: str, payload: object, project: Path | str) -> subprocess.CompletedProcess[bytes]:
    """Runs the line that `install` writes, as the client runs it."""
    return subprocess.run(
        ["/bin/sh", "-c", DEFAULT.connection.hook_command(hook, hook_dir(), Path(sys.executable))],
        input=json.dumps(payload).encode(),
        env=os.environ | {DEFAULT.variables.project: str(project)},
        capture_output=True,
        timeout=30,
        check=False,
    )


def _report(changes: Sequence["Change"], *, dry_run: bool, done: str, unchanged: str) -> None:
    hooks, server = (
        {"file": str(change.path), "changed": change.changed, "diff": change.diff()}
        for change in changes
    )
    if out.print_if_json(hooks | {"dry_run": dry_run, "server": server}):
        return
    changed = [change for change in changes if change.changed]
    for change in changed:
        for line in change.diff().splitlines():
            out.say(out.styled(line, fg=COLOURS.get(line[:1])))
    if not changed:
        out.say(unchanged)
    elif dry_run:
        files = " and ".join(str(change.path) for change in changed)
        out.say(f"\nNothing was written. Without --dry-run this changes {files}.")
    else:
        out.say(f"\n{done}")


@click.command()
@click.option("--scope", type=SCOPE, default="user", show_default=True, help="Which settings file.")
@click.option("--dry-run", is_flag=True, help="Show the change, write nothing.")
@out.json_option
def install(scope: str, dry_run: bool) -> None:
    """Connect Claude Code: add hooks to its settings and the MCP server to its configuration.

    Running it twice changes nothing. Scope `user` records all your sessions; `project` only those in this
    directory, and its files are usually shared through git while the paths in them are this machine's.
    """
    paths = wiring.home().paths
    # First without writing: a file that cannot be parsed leaves the other one unchanged too.
    files = settings_files(scope, paths.installs)
    changes = [file.install(dry_run=True) for file in files]
    if not dry_run:
        changes = [file.install(dry_run=False) for file in files]
        paths.make()
        write_private(paths.python_file, os.fsencode(sys.executable) + b"\n")
    hooks, server = changes
    former = DEFAULT.connection.replaces_former(hooks, server)
    note = f"Replaced the hooks and the server of {FORMER_NAME}, the former name.\n"
    _report(
        changes,
        dry_run=dry_run,
        done=(note if former else "") + f"Installed in {hooks.path} and {server.path}.\n"
        "Start a new Claude Code session and work as usual; `aforesaid status` shows what arrives,\n"
        f"`aforesaid uninstall --scope {scope}` undoes this exactly.",
        unchanged=f"{hooks.path} has the hooks already, and {server.path} the MCP server.",
    )


@click.command()
@click.option("--scope", type=SCOPE, default="user", show_default=True, help="Which settings file.")
@click.option("--dry-run", is_flag=True, help="Show the change, write nothing.")
@click.option("--purge", is_flag=True, help="Also delete everything that is stored. No undo.")
@click.option("--yes", is_flag=True, help="With --purge: do not ask.")
@out.json_option
def uninstall(scope: str, dry_run: bool, purge: bool, yes: bool) -> None:
    """Undo `install` exactly: the files are restored byte for byte, and the worker is stopped.

    Later edits of the files are kept; then only our hooks and our server are removed. Memories that were
    copied to the client's own (`memory.client`) are removed there. What is stored stays, unless --purge.
    """
    paths = Paths.of(os.environ)
    if purge and not (yes or dry_run):
        if out.wants_json():
            raise click.UsageError("--json cannot prompt: add --yes or --dry-run.")
        out.say("\n".join(["This deletes for good:", *_describe_stored(paths)]))
        click.confirm("Delete everything that aforesaid has stored?", abort=True)
    files = settings_files(scope, paths.installs)
    changes = [file.uninstall(dry_run=True) for file in files]
    kept = "\n".join(["Kept:", *_describe_stored(paths)])
    kept += "\n`aforesaid uninstall --purge` deletes all of it."
    if not dry_run:
        from aforesaid.memory.claude_memory import unshare_all
        from aforesaid.worker import rpc

        changes = [file.uninstall(dry_run=False) for file in files]
        rpc.stop(paths)
        unshare_all(paths.memory)
        if purge:
            kept = "\n".join(["Everything that was stored is deleted.", *_purge(paths)])
    hooks, server = changes
    _report(
        changes,
        dry_run=dry_run,
        done=f"Uninstalled from {hooks.path} and {server.path}. The worker is stopped.\n{kept}",
        unchanged=f"{hooks.path} has no hooks of ours, and {server.path} no server.\n{kept}",
    )


def _describe_stored(paths: Paths) -> list[str]:
    from aforesaid.worker.disk import sizes

    lines = [
        f"  {paths.data}: database, memories, backups",
        f"  {paths.state}: spool, logs, records of installations",
        f"  {paths.config}: settings",
    ]
    if paths.config == paths.data == paths.state:
        lines = [f"  {paths.data}: database, memories, backups, settings, logs"]
    return [*lines, f"  {out.megabytes(sum(sizes(paths).values()))} in all"]


def _purge(paths: Paths) -> Iterator[str]:
    """Deletes what is ours; the folders too, unless the user has put other files there."""
    import shutil

    kinds = ((paths.config, CONFIG_FILES), (paths.data, DATA_FILES), (paths.state, STATE_FILES))
    found = [path for folder, ns in kinds for n in (*ns, ".*.tmp") for path in folder.glob(n)]
    for path in found:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    for folder in {paths.config, paths.data, paths.state}:
        if folder.is_dir():
            try:
                folder.rmdir()
            except OSError:
                yield f"Other files were left in {folder}."


# Settings


def _complete_names(_: click.Context, __: click.Parameter, typed: str) -> list[CompletionItem]:
    found = [row for row in settings_module.ROWS if row.name.startswith(typed)]
    return [CompletionItem(row.name, help=row.help) for row in found]


def _complete_values(
    context: click.Context, _: click.Parameter, typed: str
) -> list[CompletionItem]:
    row = settings_module.BY_NAME.get(context.params.get("name") or "")
    choices = row.choices if row else ()
    return [CompletionItem(value) for value in choices if value.startswith(typed)]


name_argument = click.argument("name", shell_complete=_complete_names)


@click.group()
def config() -> None:
    """Show and change settings. Environment variables take precedence over the file."""


@config.command("list")
@out.json_option
def list_settings() -> None:
    """List all settings with their values and where these come from."""
    home = wiring.home()
    values, origins = home.settings.values, home.settings.origins
    found = {
        row.name: {
            "value": row.mask(values[row.name]),
            "origin": origins[row.name],
            "default": row.default,
            "env": row.env,
            "help": row.help,
        }
        for row in settings_module.ROWS
    }
    if out.print_if_json(found):
        return
    rows = (
        (row.name, _display(row, values[row.name]), origins[row.name], row.help)
        for row in settings_module.ROWS
    )
    out.table(("setting", "value", "from", "what it does"), rows)
    out.say(f"File: {home.paths.config_file}")


@config.command("get")
@name_argument
@out.json_option
def get_setting(name: str) -> None:
    """Print the value of one setting."""
    row = settings_module.row_named(name)
    value = wiring.home().settings.values[row.name]
    out.report(row.mask(value), _display(row, value))


@config.command("set")
@name_argument
@click.argument("value", shell_complete=_complete_values)
@out.json_option
def set_setting(name: str, value: str) -> None:
    """Write one setting to the file; separate lists with commas. Comments in the file are kept."""
    from aforesaid import configuring

    parsed = configuring.set_value(name, value)
    row = settings_module.row_named(name)
    if row.env in os.environ:
        note = f"The variable {row.env} is set and takes precedence over the file."
    elif row.live:
        note = "A running worker applies it now."
    else:
        note = "A running worker applies it after: aforesaid worker restart"
    text = f"{row.name} = {_display(row, parsed)}\n{note}"
    out.report({row.name: row.mask(parsed)}, text)


@config.command("unset")
@name_argument
@out.json_option
def unset_setting(name: str) -> None:
    """Reset one setting to its default."""
    from aforesaid import configuring

    row = configuring.unset(name)
    default = _display(row, row.default) or "empty"
    out.report({row.name: row.default}, f"{row.name} is reset to its default, {default}.")


@config.command("path")
@out.json_option
def path() -> None:
    """Print the path of the config file."""
    file = str(Paths.of(os.environ).config_file)
    out.report(file, file)


def _display(row: Row, value: Value) -> str:
    found = row.mask(value)
    return ", ".join(found) if isinstance(found, tuple) else str(found)


@click.command(epilog="\b\n" + "\n".join(COMPLETION_HINTS.values()))
@click.argument("shell", type=click.Choice(tuple(COMPLETION_HINTS)))
def completion(shell: str) -> None:
    """Print the completion script for SHELL."""
    from aforesaid.cli.main import cli

    found = get_completion_class(shell)
    assert found is not None
    click.echo(found(cli, {}, "aforesaid", "_AFORESAID_COMPLETE").source())
