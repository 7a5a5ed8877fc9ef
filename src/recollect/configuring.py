"""Changing settings: checked as a whole before anything is written, and comments in the file stay."""

import os
from collections.abc import Mapping
from dataclasses import replace

import tomlkit

from recollect import clock, settings, wiring
from recollect.errors import ConfigError
from recollect.paths import Paths, private_dir, write_private
from recollect.providers.wrong_settings import WrongSettings
from recollect.settings import Row, Value


def set_text(name: str, text: str, where: str, env: Mapping[str, str] | None = None) -> Value:
    """As a person types it; lists with commas."""
    row = settings.row_named(name)
    return _set(row, settings.parse(row, text, where), env)


def set_value(name: str, value: object, where: str, env: Mapping[str, str] | None = None) -> Value:
    """As the file would have it: a number, a text or a list of texts."""
    row = settings.row_named(name)
    return _set(row, settings.check(row, value, where), env)


def unset(name: str, env: Mapping[str, str] | None = None) -> Row:
    """Back to the default."""
    row = settings.row_named(name)
    _edit(row, None, env)
    return row


def plain(row: Row, value: Value) -> Value:
    """A secret is written, never shown."""
    return "(set)" if row.secret and value else value


def _set(row: Row, value: Value, env: Mapping[str, str] | None) -> Value:
    _check_provider(row, value, env)
    _edit(row, value, env)
    return value


def _check_provider(row: Row, value: Value, env: Mapping[str, str] | None) -> None:
    """A name or a price that no provider can take is refused before it is written."""
    try:
        home = wiring.home(env)
    except ConfigError:
        return  # the file is broken already, and this may be mending it
    chosen = replace(home.settings, values={**home.settings.values, row.name: value})
    choice = wiring.provider(replace(home, settings=chosen), clock.now, env)
    if isinstance(choice.model, WrongSettings):
        raise ConfigError(choice.model.why)


def _edit(row: Row, value: Value | None, env: Mapping[str, str] | None) -> None:
    # Not wiring.home(): this must work on a broken file too.
    file = Paths.of(os.environ if env is None else env).config_file
    try:
        document = tomlkit.parse(file.read_text("utf-8")) if file.exists() else tomlkit.document()
    except tomlkit.exceptions.TOMLKitError as error:
        raise ConfigError(f"{file} is not valid TOML: {error}. Mend or delete it.") from None
    section, key = row.section
    table = document.setdefault(section, tomlkit.table())
    if value is None:
        table.pop(key, None)
        if not table:
            document.pop(section)
    else:
        table[key] = list(value) if isinstance(value, tuple) else value
    private_dir(file.parent)
    write_private(file, tomlkit.dumps(document).encode())
