"""Settings, declared once in `settings.toml`. An entry gives validation, the environment variable, the line
in `config list`, the reference page and the default.

Order of precedence: environment, config file, default. An unknown or wrong entry in the file is an
error that names it: a typo that is silently ignored costs an evening.
"""

import re
import tomllib
from collections import UserDict
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aforesaid import log
from aforesaid.errors import ConfigError
from aforesaid.paths import Paths

if TYPE_CHECKING:  # the rules are compiled when they are imported
    from aforesaid.privacy.redactor import Redactor

Value = int | str | tuple[str, ...]
PATTERNS = "privacy.patterns"
COMMA = re.compile(r",(?![^{}]*\})")  # between entries; `{20,40}` is part of one


@dataclass(frozen=True, slots=True)
class Row:
    """`live`: takes effect at once in a running worker. `secret`: never shown."""

    name: str
    default: Value
    help: str
    choices: tuple[str, ...] = ()
    least: int | None = None
    most: int | None = None
    secret: bool = False
    live: bool = False

    @property
    def env(self) -> str:
        return "AFORESAID_" + self.name.upper().replace(".", "_")

    @property
    def section(self) -> tuple[str, str]:
        section, _, key = self.name.partition(".")
        return section, key

    def mask(self, value: Value) -> Value:
        """The value to show."""
        return "(set)" if self.secret and value else value


def _load_row(name: str, fields: Mapping[str, Any]) -> Row:
    values: dict[str, Any] = dict(fields)
    values |= {key: tuple(each) for key, each in fields.items() if isinstance(each, list)}
    return Row(name, **values)


ROWS = tuple(
    _load_row(f"{section}.{key}", fields)
    for section, table in tomllib.loads(
        Path(__file__).with_name("settings.toml").read_text("utf-8")
    ).items()
    for key, fields in table.items()
)
BY_NAME = {row.name: row for row in ROWS}


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
        fix = _suggest(name) or "`aforesaid config list` lists them."
        raise ConfigError(f"There is no setting {name!r}. {fix}") from None


def _suggest(name: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, BY_NAME, n=1)
    return f"Did you mean {near[0]}?" if near else ""


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
            if row.name == PATTERNS and value:
                from aforesaid.privacy import own_rules

                own_rules.compiled(value, f"{where}: {row.name}")
            return tuple(value)
        raise ConfigError(f"{where}: {row.name} takes a list of strings.")
    if isinstance(row.default, int):
        if not isinstance(value, int) or isinstance(value, bool):
            raise ConfigError(f"{where}: {row.name} takes a whole number, not {value!r}.")
        if not (row.least or 0) <= value <= (row.most or 0):
            raise ConfigError(f"{where}: {row.name} goes from {row.least} to {row.most}.")
        return value
    if row.choices and value not in row.choices:
        raise ConfigError(f"{where}: {row.name} is one of: {', '.join(row.choices)}.")
    if not isinstance(value, str):  # which may be a secret in a list: it is not repeated
        raise ConfigError(f"{where}: {row.name} takes a text.")
    return value


def parse_file(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file} is not valid TOML: {error}. Fix or delete it.") from None


def _read(file: Path) -> dict[str, object]:
    try:
        tables = parse_file(file)
    except FileNotFoundError:
        return {}
    except OSError as error:
        why = f"{file} cannot be read: {error.strerror}."
        raise ConfigError(f"{why} Make it a file of yours.") from None
    flat = {
        f"{section}.{key}": value
        for section, table in tables.items()
        for key, value in (table.items() if isinstance(table, dict) else [("", table)])
    }
    for name in flat:
        if name not in BY_NAME:
            wrong = name.rstrip(".")
            fix = _suggest(wrong) or "Correct or remove it."
            raise ConfigError(f"{file}: there is no setting {wrong!r}. {fix}")
    return flat


def follow(file: Path, env: Mapping[str, str]) -> Settings:
    """Settings of which some are read again when the file has changed. Raises ConfigError, as `load` does, at
    the start alone."""
    stamp = _stamp(file)  # before it is read: a change in between is seen later
    start = load(file, env)
    return Settings(_LiveValues(start.values, file, env, stamp), start.origins)


class _LiveValues(UserDict[str, Value]):
    """To look whether the file has changed takes microseconds, so it is done at each question."""

    def __init__(
        self, start: Mapping[str, Value], file: Path, env: Mapping[str, str], stamp: object
    ) -> None:
        super().__init__(start)
        self._file, self._env, self._stamp = file, env, stamp

    def __getitem__(self, name: str) -> Value:
        stamp = _stamp(self._file)
        if stamp != self._stamp:
            try:
                found = load(self._file, self._env).values
                self.update({row.name: found[row.name] for row in ROWS if row.live})
            except ConfigError as error:
                log.warning("settings.unusable", error=log.cause(error))
            self._stamp = stamp
        return super().__getitem__(name)


def _stamp(file: Path) -> object:
    """Each change is a new file, by us; by an editor at least another moment or size."""
    with suppress(OSError):
        found = file.stat()
        return found.st_ino, found.st_mtime_ns, found.st_size
    return None


def build_redactor(
    paths: Paths,
    settings: Settings,
    env: Mapping[str, str],
    on_found: Callable[[str], None] = lambda _: None,
) -> "Redactor":
    """With the user's settings and the secrets of an environment. No key is made before the first secret."""
    from aforesaid.privacy import files, marking, own_rules
    from aforesaid.privacy.redactor import Redactor

    return Redactor(
        mark=marking.keyed(lambda: marking.key_in(paths.redaction_key)),
        values=own_rules.find_secrets(env, settings.names("privacy.keep_variables")),
        own=own_rules.compiled(settings.names("privacy.patterns")),
        guarded=files.Guarded(settings.names("privacy.paths")),
        on_found=on_found,
    )
