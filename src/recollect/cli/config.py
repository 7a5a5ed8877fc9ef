"""`recollect config`: the settings in force, where each came from, and changing them."""

import os

import click
from click.shell_completion import CompletionItem

from recollect import configuring, wiring
from recollect import settings as settings_module
from recollect.cli.output import json_option, print_json, say, table
from recollect.configuring import plain
from recollect.paths import Paths
from recollect.settings import Row, Value


def _names(_: click.Context, __: click.Parameter, typed: str) -> list[CompletionItem]:
    """For a shell: the settings that begin as typed."""
    found = [row for row in settings_module.ROWS if row.name.startswith(typed)]
    return [CompletionItem(row.name, help=row.help) for row in found]


def _values(context: click.Context, _: click.Parameter, typed: str) -> list[CompletionItem]:
    """What the setting before it may be, if there is a choice."""
    row = settings_module.BY_NAME.get(context.params.get("name") or "")
    choices = row.choices if row else ()
    return [CompletionItem(value) for value in choices if value.startswith(typed)]


setting_argument = click.argument("name", shell_complete=_names)


@click.group()
def config() -> None:
    """Show and change settings. Environment variables win over the file."""


@config.command("list")
@json_option
def list_settings(as_json: bool) -> None:
    """Every setting, its value, and where that came from."""
    home = wiring.home()
    if as_json:
        print_json(
            {
                row.name: {
                    "value": plain(row, home.settings.values[row.name]),
                    "origin": home.settings.origins[row.name],
                    "default": row.default,
                    "env": row.env,
                    "help": row.help,
                }
                for row in settings_module.ROWS
            }
        )
        return
    table(
        ("setting", "value", "from", "what it does"),
        (
            (
                row.name,
                _shown(row, home.settings.values[row.name]),
                home.settings.origins[row.name],
                row.help,
            )
            for row in settings_module.ROWS
        ),
    )
    say(f"File: {home.paths.config_file}")


@config.command("get")
@setting_argument
@json_option
def get_setting(name: str, as_json: bool) -> None:
    """The value of one setting."""
    row = settings_module.row_named(name)
    value = wiring.home().settings.values[row.name]
    if as_json:
        print_json(plain(row, value))
    else:
        say(_shown(row, value))


@config.command("set")
@setting_argument
@click.argument("value", shell_complete=_values)
@json_option
def set_setting(name: str, value: str, as_json: bool) -> None:
    """Write one setting to the file; lists are written with commas. Comments in the file stay."""
    parsed = configuring.set_text(name, value, "recollect config set")
    row = settings_module.row_named(name)
    if as_json:
        print_json({row.name: plain(row, parsed)})
        return
    say(f"{row.name} = {_shown(row, parsed)}")
    if row.env in os.environ:
        say(f"The variable {row.env} is set and wins over the file.")
    elif row.live:
        say("A running worker goes by it from now on.")
    else:
        say("A running worker reads it when it starts anew: recollect worker restart")


@config.command("unset")
@setting_argument
@json_option
def unset_setting(name: str, as_json: bool) -> None:
    """Back to the default."""
    row = configuring.unset(name)
    if as_json:
        print_json({row.name: row.default})
    else:
        default = _shown(row, row.default) or "empty"
        say(f"{row.name} is back to its default, {default}.")


@config.command("path")
@json_option
def path(as_json: bool) -> None:
    """Where the config file is."""
    file = str(Paths.of(os.environ).config_file)
    if as_json:
        print_json(file)
    else:
        say(file)


def _shown(row: Row, value: Value) -> str:
    told = plain(row, value)
    return ", ".join(told) if isinstance(told, tuple) else str(told)
