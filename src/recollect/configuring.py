"""Changing settings: checked as a whole before anything is written, and comments in the file stay.

Commands and the viewer may do it at once: one at a time reads the file, changes it and puts the new one in
its place.
"""

import fcntl
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import tomlkit

from recollect import clock, settings, wiring
from recollect.errors import ConfigError
from recollect.paths import PRIVATE_FILE, Paths, private_dir, write_private
from recollect.providers.wrong_settings import WrongSettings
from recollect.settings import Row, Value

LOCK_SECONDS, LOOK_SECONDS = 10.0, 0.01  # a change takes milliseconds
BUSY = "Another program is changing the settings and does not come to an end. Try again."


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
        private_dir(file.parent)
        with _alone(file):
            write_private(file, _changed(file, row, value).encode())
    except OSError as error:
        why = f"{file} cannot be changed: {error.strerror}."
        raise ConfigError(f"{why} Make it and its folder yours.") from None


def _changed(file: Path, row: Row, value: Value | None) -> str:
    try:
        document = tomlkit.parse(file.read_text("utf-8")) if file.exists() else tomlkit.document()
    except (tomlkit.exceptions.TOMLKitError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file} is not valid TOML: {error}. Mend or delete it.") from None
    section, key = row.section
    table = document.setdefault(section, tomlkit.table())
    if not isinstance(table, dict):
        raise ConfigError(f"{file}: {section} is no section. Mend or delete it.")
    if value is None:
        table.pop(key, None)
        if not table:
            document.pop(section)
    else:
        table[key] = list(value) if isinstance(value, tuple) else value
    return tomlkit.dumps(document)


@contextmanager
def _alone(file: Path) -> Iterator[None]:
    """Among threads and processes. On a file of its own: the other one is replaced."""
    descriptor = os.open(
        file.with_name(f".{file.name}.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE_FILE
    )
    try:
        until = time.monotonic() + LOCK_SECONDS
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > until:
                    raise ConfigError(BUSY) from None
                time.sleep(LOOK_SECONDS)
        yield
    finally:
        os.close(descriptor)  # releases the lock
