"""Settings, declared once as rows. A row gives validation, the environment variable, the line in
`config list`, the reference page and the default.

Order of precedence: environment, config file, default. An unknown or wrong entry in the file is an
error that names it: a typo that is silently ignored costs an evening.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from recollect.errors import ConfigError

Value = int | str | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Row:
    name: str
    default: Value
    help: str
    choices: tuple[str, ...] = ()
    least: int | None = None
    most: int | None = None
    secret: bool = False

    @property
    def env(self) -> str:
        return "RECOLLECT_" + self.name.upper().replace(".", "_")

    @property
    def section(self) -> tuple[str, str]:
        section, _, key = self.name.partition(".")
        return section, key


ROWS = (
    Row(
        "synthesis.provider",
        "auto",
        "Who writes observations and summaries. `auto` takes the best that is usable.",
        choices=("auto", "claude", "anthropic", "openai", "rules"),
    ),
    Row("synthesis.model", "", "The model's name. Empty: the provider's own choice."),
    Row(
        "synthesis.endpoint",
        "",
        "For the provider `openai`: openai, openrouter, gemini, ollama, lmstudio, vllm, or a URL.",
    ),
    Row(
        "synthesis.api_key",
        "",
        "The key, if the worker cannot see the provider's own variable. Never shown.",
        secret=True,
    ),
    Row(
        "synthesis.verbosity",
        "normal",
        "How much a model writes down.",
        choices=("minimal", "normal", "verbose"),
    ),
    Row("synthesis.language", "English", "The language that a model writes in."),
    Row("synthesis.skip", (), "What else a model should not write down, as short phrases."),
    Row(
        "synthesis.request_tokens",
        6000,
        "The most tokens that the events of one request may take; more is cut, and marked.",
        least=500,
        most=100_000,
    ),
    Row(
        "synthesis.timeout_seconds",
        120,
        "How long a model may say nothing before the request is given up.",
        least=5,
        most=3600,
    ),
    Row(
        "synthesis.stand_in",
        "none",
        "Who writes while the model is away: `none` lets the work wait, `rules` does it at once.",
        choices=("none", "rules"),
    ),
    Row(
        "cost.daily_tokens",
        0,
        "The most tokens that may be sent and received on one day. 0: no limit.",
        least=0,
        most=1_000_000_000,
    ),
    Row(
        "cost.daily_cents",
        0,
        "The most US cents that requests may cost on one day. 0: no limit.",
        least=0,
        most=1_000_000,
    ),
    Row(
        "cost.prices",
        (),
        "Prices that are missing or wrong, in dollars per million tokens: model=input/output.",
    ),
    Row(
        "capture.boring_tools",
        (
            *("Glob", "Grep", "ListMcpResourcesTool", "ToolSearch"),
            *("mcp__recollect__*", "mcp__plugin_recollect_*"),
        ),
        "Tools whose calls are stored but never summarised. `*` at the end matches any rest.",
    ),
    Row(
        "brief.tokens",
        1500,
        "The most tokens that a session's opening brief may cost. 0 turns the brief off.",
        least=0,
        most=2400,
    ),
    Row(
        "recall.tokens",
        300,
        "The most tokens that one prompt's recall may cost. 0 turns it off.",
        least=0,
        most=2400,
    ),
    Row(
        "recall.file_tokens",
        200,
        "The most tokens that what is known about a file may cost, before it is read or changed. "
        "0 turns it off.",
        least=0,
        most=2400,
    ),
    Row(
        "recall.encoder",
        "static",
        "What finds by meaning: `static` is quick and always there, `minilm` is better and needs "
        "`recollect[minilm]`, `none` leaves it to the words.",
        choices=("static", "minilm", "none"),
    ),
    Row(
        "memory.tokens",
        1200,
        "The most tokens that the memories told at one prompt may cost. 0 tells none.",
        least=0,
        most=2400,
    ),
    Row(
        "memory.select",
        "auto",
        "Who chooses memories for a prompt: `auto` asks a model that answers at once, `engine` never.",
        choices=("auto", "engine"),
    ),
    Row(
        "memory.extract",
        "auto",
        "What is kept of what was said: by `rules` explicit statements, by `auto` what a model finds, too.",
        choices=("auto", "rules", "off"),
    ),
    Row(
        "memory.dream",
        "auto",
        "Whether memories are put in order by themselves, once a day. `off`: only by `recollect dream`.",
        choices=("auto", "off"),
    ),
    Row(
        "memory.client",
        "adopt",
        "Claude Code's own memories: `adopt` reads them, `share` writes ours beside them, `off` neither.",
        choices=("adopt", "share", "off"),
    ),
    Row(
        "memory.team_folder",
        ".recollect/memory",
        "Where in a repository its team keeps memories. Empty: nowhere.",
    ),
    Row(
        "worker.idle_minutes",
        30,
        "After this long without work the worker ends; the next capture starts it again.",
        least=1,
        most=10_080,
    ),
    Row(
        "worker.lease_seconds",
        120,
        "How long one try of a job may take before another worker may take it over.",
        least=1,
        most=3600,
    ),
    Row(
        "worker.log_level",
        "info",
        "How much the worker writes to its log.",
        choices=("debug", "info", "warning", "error"),
    ),
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
        known = ", ".join(BY_NAME)
        raise ConfigError(f"There is no setting {name!r}. The settings are: {known}.") from None


def parse(row: Row, text: str, where: str) -> Value:
    """A value as it is typed: on the command line or in a variable."""
    if isinstance(row.default, tuple):
        return tuple(part.strip() for part in text.split(",") if part.strip())
    if isinstance(row.default, int):
        try:
            return check(row, int(text), where)
        except ValueError:
            raise ConfigError(f"{where}: {row.name} takes a whole number, not {text!r}.") from None
    return check(row, text, where)


def check(row: Row, value: object, where: str) -> Value:
    if isinstance(row.default, tuple):
        if isinstance(value, list) and all(isinstance(v, str) for v in value):
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
    if not isinstance(value, str) or (row.choices and value not in row.choices):
        raise ConfigError(f"{where}: {row.name} is one of: {', '.join(row.choices)}.")
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
