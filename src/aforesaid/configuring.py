"""Changes settings: validated as a whole before anything is written; comments in the file are kept.

A lock serializes commands and the viewer.
"""

import os
from dataclasses import replace
from pathlib import Path

import tomlkit

from aforesaid import clock, settings, wiring
from aforesaid.errors import ConfigError
from aforesaid.locks import lock
from aforesaid.paths import Paths, private_dir, write_private
from aforesaid.providers.base import MisconfiguredModel
from aforesaid.settings import Row, Value

REFUSED = "Not changed"
LOCK_SECONDS = 10.0  # a change takes milliseconds
BUSY = "Another program is changing the settings and does not finish. Try again."


def set_value(name: str, value: object) -> Value:
    """Takes a value as it is typed, or as the file has it: a number or a list of strings."""
    row = settings.row_named(name)
    if isinstance(value, str):
        checked = settings.parse(row, value, REFUSED)
    else:
        checked = settings.check(row, list(value) if isinstance(value, tuple) else value, REFUSED)
    _check_provider(row, checked)
    _edit(row, checked)
    return checked


def unset(name: str) -> Row:
    row = settings.row_named(name)
    _edit(row, None)
    return row


def _check_provider(row: Row, value: Value) -> None:
    try:
        home = wiring.home()
    except ConfigError:
        return  # the file is broken already, and this may fix it
    chosen = replace(home.settings, values={**home.settings.values, row.name: value})
    choice = wiring.provider(replace(home, settings=chosen), clock.now)
    if isinstance(choice.model, MisconfiguredModel):
        raise ConfigError(choice.model.why)


def _edit(row: Row, value: Value | None) -> None:
    # Not wiring.home(): this must work on a broken file too.
    file = Paths.of(os.environ).config_file
    try:
        private_dir(file.parent)
        # On a file of its own: the other one is replaced.
        with lock(file.with_name(f".{file.name}.lock"), timeout=LOCK_SECONDS):
            write_private(file, _changed(file, row, value).encode())
    except TimeoutError:
        raise ConfigError(BUSY) from None
    except OSError as error:
        why = f"{file} cannot be changed: {error.strerror}."
        raise ConfigError(f"{why} Make it and its folder yours.") from None


def _changed(file: Path, row: Row, value: Value | None) -> str:
    try:
        document = tomlkit.parse(file.read_text("utf-8")) if file.exists() else tomlkit.document()
    except (tomlkit.exceptions.TOMLKitError, UnicodeDecodeError) as error:
        settings.parse_file(file)  # raises the error that every command reports
        raise ConfigError(f"{file} is not valid TOML: {error}. Fix or delete it.") from None
    section, key = row.section
    table = document.setdefault(section, tomlkit.table())
    if not isinstance(table, dict):
        raise ConfigError(f"{file}: {section} is not a section. Fix or delete it.")
    if value is None:
        table.pop(key, None)
        if not table:
            document.pop(section)
    else:
        table[key] = list(value) if isinstance(value, tuple) else value
    return tomlkit.dumps(document)
