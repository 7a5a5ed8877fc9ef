"""Every setting, as a row: its name, its default, what it does and what it may be."""

from dataclasses import dataclass

Value = int | str | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """`live`: a running worker goes by a new value at once. `secret`: written, never shown."""

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
        "capture.skip_dirs",
        (),
        "Directories in which nothing is recorded and nothing told, with all below them.",
        live=True,
    ),
    Row(
        "retention.days",
        0,
        "After so many days an event loses what was captured; what was made of it stays. 0: never.",
        least=0,
        most=36_500,
        live=True,
    ),
    Row(
        "privacy.patterns",
        (),
        "Secrets of your own kinds, as regular expressions with bounded quantifiers.",
    ),
    Row(
        "privacy.paths",
        (),
        "Files of your own whose content is never kept: names or ends of paths, with `*`.",
    ),
    Row(
        "privacy.keep_variables",
        (),
        "Environment variables that look like secrets and are none: their values are not replaced.",
    ),
    Row(
        "brief.tokens",
        1500,
        "The most tokens that a session's opening brief may cost. 0 turns the brief off.",
        least=0,
        most=2400,
        live=True,
    ),
    Row(
        "recall.tokens",
        300,
        "The most tokens that one prompt's recall may cost. 0 turns it off.",
        least=0,
        most=2400,
        live=True,
    ),
    Row(
        "recall.file_tokens",
        200,
        "The most tokens that what is known about a file may cost, before it is read or changed. "
        "0 turns it off.",
        least=0,
        most=2400,
        live=True,
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
        live=True,
    ),
    Row(
        "memory.select",
        "auto",
        "Who chooses memories for a prompt: `auto` asks a model that answers at once, `engine` never.",
        choices=("auto", "engine"),
        live=True,
    ),
    Row(
        "memory.extract",
        "auto",
        "What is kept of what was said: by `rules` explicit statements, by `auto` what a model finds, too.",
        choices=("auto", "rules", "off"),
        live=True,
    ),
    Row(
        "memory.dream",
        "auto",
        "Whether memories are put in order by themselves, once a day. `off`: only by `recollect dream`.",
        choices=("auto", "off"),
        live=True,
    ),
    Row(
        "memory.client",
        "adopt",
        "Claude Code's own memories: `adopt` reads them, `share` writes ours beside them, `off` neither.",
        choices=("adopt", "share", "off"),
        live=True,
    ),
    Row(
        "memory.team_folder",
        ".recollect/memory",
        "Where in a repository its team keeps memories. Empty: nowhere.",
        live=True,
    ),
    Row(
        "limits.home_mb",
        4096,
        "The most megabytes that all of recollect's files may take. 0: no limit. From four fifths on it is "
        "said; see docs/reference/limits.md for what happens then.",
        least=0,
        most=100_000_000,
        live=True,
    ),
    Row(
        "limits.free_mb",
        200,
        "How many megabytes of the disk are left to others. 0: none are.",
        least=0,
        most=100_000_000,
        live=True,
    ),
    Row(
        "web.start",
        "on-demand",
        "When the API and the viewer are served: once somebody opens them, or `always`; then the "
        "worker does not end.",
        choices=("on-demand", "always", "off"),
    ),
    Row("web.port", 47391, "Where; if it is taken, on a free one.", least=1, most=65535),
    Row(
        "web.delete_seconds",
        30,
        "How long ending a session through the API may wait for what is left to do.",
        least=0,
        most=600,
        live=True,
    ),
    Row(
        "backup.every_hours",
        24,
        "How old the last backup may be while there is work, before the worker makes another. 0: it makes "
        "none but before a migration or a restore.",
        least=0,
        most=8760,
        live=True,
    ),
    Row(
        "backup.keep",
        3,
        "How many backups are kept: the latest, of as many weeks one each, and of those made by hand.",
        least=1,
        most=100,
        live=True,
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
