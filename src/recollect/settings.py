"""Settings, declared once as rows. A row gives validation, the environment variable, the line in
`config list`, the reference page and the default.

Order of precedence: environment, config file, default. An unknown or wrong entry in the file is an
error that names it: a typo that is silently ignored costs an evening.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from recollect.errors import ConfigError
from recollect.privacy import own_rules
from recollect.setting_rows import BY_NAME, ROWS, Row, Value

__all__ = ["BY_NAME", "ROWS", "Row", "Settings", "Value", "check", "load", "parse", "row_named"]


PATTERNS = "privacy.patterns"
COMMA = re.compile(r",(?![^{}]*\})")  # between entries; `{20,40}` is part of one


@dataclass(frozen=True, slots=True)
class Settings:
    """The values in force, each with where it came from (`default`, `file` or the variable)."""

    values: Mapping[str, Value]
    origins: Mapping[str, str]

    def text(self, name: str) -> str:
        value = self.values[name]
        assert isinstance(value, str), name
        return value

    def number(self, name: str) -> int:
        value = self.values[name]
        assert isinstance(value, int), name
        return value

    def names(self, name: str) -> tuple[str, ...]:
        value = self.values[name]
        assert isinstance(value, tuple), name
        return value


def load(file: Path, env: Mapping[str, str]) -> Settings:
    written = _read(file)
    values: dict[str, Value] = {}
    origins: dict[str, str] = {}
    for row in ROWS:
        if row.env in env:
            values[row.name], origins[row.name] = parse(row, env[row.env], row.env), row.env
        elif row.name in written:
            values[row.name], origins[row.name] = check(row, written[row.name], str(file)), "file"
        else:
            values[row.name], origins[row.name] = row.default, "default"
    return Settings(values, origins)


def row_named(name: str) -> Row:
    try:
        return BY_NAME[name]
    except KeyError:
        known = ", ".join(BY_NAME)
        raise ConfigError(f"There is no setting {name!r}. The settings are: {known}.") from None


def parse(row: Row, text: str, where: str) -> Value:
    """A value as it is typed: on the command line or in a variable."""
    if isinstance(row.default, tuple):
        parts = (part.strip() for part in COMMA.split(text))
        return check(row, [part for part in parts if part], where)
    if isinstance(row.default, int):
        try:
            return check(row, int(text), where)
        except ValueError:
            raise ConfigError(f"{where}: {row.name} takes a whole number, not {text!r}.") from None
    return check(row, text, where)


def check(row: Row, value: object, where: str) -> Value:
    if isinstance(row.default, tuple):
        if isinstance(value, list) and all(isinstance(v, str) for v in value):
            if row.name == PATTERNS:
                own_rules.compiled(value, f"{where}: {row.name}")
            return tuple(value)
        raise ConfigError(f"{where}: {row.name} takes a list of strings.")
    if isinstance(row.default, int):
        if not isinstance(value, int) or isinstance(value, bool):
            raise ConfigError(f"{where}: {row.name} takes a whole number, not {value!r}.")
        if (row.least is not None and value < row.least) or (
            row.most is not None and value > row.most
        ):
            limits = (
                f"goes from {row.least} to {row.most}" if row.most else f"is at least {row.least}"
            )
            raise ConfigError(f"{where}: {row.name} {limits}.")
        return value
    if row.choices and value not in row.choices:
        raise ConfigError(f"{where}: {row.name} is one of: {', '.join(row.choices)}.")
    if not isinstance(value, str):  # which may be a secret in a list: it is not repeated
        raise ConfigError(f"{where}: {row.name} takes a text.")
    return value


def _read(file: Path) -> dict[str, object]:
    try:
        tables = tomllib.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file} is not valid TOML: {error}. Mend or delete it.") from None
    except OSError as error:
        raise ConfigError(
            f"{file} cannot be read: {error.strerror}. Make it a file of yours."
        ) from None
    flat = {
        f"{section}.{key}": value
        for section, table in tables.items()
        for key, value in (table.items() if isinstance(table, dict) else [("", table)])
    }
    for name in flat:
        if name not in BY_NAME:
            raise ConfigError(
                f"{file}: there is no setting {name.rstrip('.')!r}. The settings are: {', '.join(BY_NAME)}."
            )
    return flat
