"""All settings: name, default, help text and allowed values."""

from dataclasses import dataclass

Value = int | str | tuple[str, ...]


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


ROWS = (
    Row(
        "synthesis.provider",
        "auto",
        "Provider that writes observations and summaries. `auto` uses the best one available.",
        choices=("auto", "claude", "anthropic", "openai", "rules"),
    ),
    Row("synthesis.model", "", "Name of the model. Empty: the provider's default."),
    Row(
        "synthesis.endpoint",
        "",
        "For the provider `openai`: openai, openrouter, gemini, ollama, lmstudio, vllm, or a URL.",
    ),
    Row(
        "synthesis.api_key",
        "",
        "API key, if the worker cannot see the provider's own variable. Never shown.",
        secret=True,
    ),
    Row(
        "synthesis.verbosity",
        "normal",
        "How much a model writes.",
        choices=("minimal", "normal", "verbose"),
    ),
    Row("synthesis.language", "English", "Language of the notes that a model writes."),
    Row("synthesis.skip", (), "What else a model should leave out, as short phrases."),
    Row(
        "synthesis.request_tokens",
        6000,
        "Maximum tokens of the events in one request; the rest is truncated and marked.",
        least=500,
        most=100_000,
    ),
    Row(
        "synthesis.timeout_seconds",
        120,
        "Timeout of a request: how long a model may send nothing.",
        least=5,
        most=3600,
    ),
    Row(
        "synthesis.stand_in",
        "none",
        "Fallback while the model is unavailable: `none` waits, `rules` writes without a model.",
        choices=("none", "rules"),
    ),
    Row(
        "cost.daily_tokens",
        0,
        "Maximum tokens sent and received per day. 0: no limit.",
        least=0,
        most=1_000_000_000,
    ),
    Row(
        "cost.daily_cents",
        0,
        "Maximum cost of requests per day, in US cents. 0: no limit.",
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
            *("mcp__aforesaid__*", "mcp__plugin_aforesaid_*"),
        ),
        "Tools whose calls are stored but never summarised. `*` at the end matches any suffix.",
    ),
    Row(
        "capture.skip_dirs",
        (),
        "Directories in which nothing is recorded or injected, including subdirectories.",
        live=True,
    ),
    Row(
        "retention.days",
        0,
        "Days after which the content of an event is deleted; notes made from it are kept. 0: never.",
        least=0,
        most=36_500,
        live=True,
    ),
    Row(
        "privacy.patterns",
        (),
        "Additional secrets to redact, as regular expressions with bounded quantifiers.",
    ),
    Row(
        "privacy.paths",
        (),
        "Additional files whose content is never stored: names or ends of paths, with `*`.",
    ),
    Row(
        "privacy.keep_variables",
        (),
        "Environment variables that look like secrets but are not: their values are not redacted.",
    ),
    Row(
        "brief.tokens",
        1500,
        "Maximum tokens of the brief at session start. 0 turns it off.",
        least=0,
        most=2400,
        live=True,
    ),
    Row(
        "recall.tokens",
        300,
        "Maximum tokens of prompt recall. 0 turns it off.",
        least=0,
        most=2400,
        live=True,
    ),
    Row(
        "recall.file_tokens",
        200,
        "Maximum tokens of file recall, before a file is read or changed. 0 turns it off.",
        least=0,
        most=2400,
        live=True,
    ),
    Row(
        "recall.encoder",
        "static",
        "Encoder for search by meaning: `static` is fast and built in, `minilm` is better and needs "
        "`aforesaid[minilm]`, `none` searches by words only.",
        choices=("static", "minilm", "none"),
    ),
    Row(
        "memory.tokens",
        1200,
        "Maximum tokens of the memories injected at a prompt. 0 turns it off.",
        least=0,
        most=2400,
        live=True,
    ),
    Row(
        "memory.select",
        "auto",
        "How memories are selected for a prompt: `auto` asks a model if it answers quickly, `engine` never.",
        choices=("auto", "engine"),
        live=True,
    ),
    Row(
        "memory.extract",
        "auto",
        "What is saved as memories: `rules` explicit statements, `auto` also what a model finds.",
        choices=("auto", "rules", "off"),
        live=True,
    ),
    Row(
        "memory.dream",
        "auto",
        "Whether memories are consolidated automatically, once a day. `off`: only by `aforesaid dream`.",
        choices=("auto", "off"),
        live=True,
    ),
    Row(
        "memory.client",
        "adopt",
        "Claude Code's own memories: `adopt` reads them, `share` places ours beside them, `off` neither.",
        choices=("adopt", "share", "off"),
        live=True,
    ),
    Row(
        "memory.team_folder",
        ".aforesaid/memory",
        "Folder of team memories in a repository. Empty: none.",
        live=True,
    ),
    Row(
        "limits.home_mb",
        4096,
        "Maximum size of all of aforesaid's files, in megabytes. 0: no limit. Warns at 80 %; see "
        "docs/reference/limits.md for what is deleted at the limit.",
        least=0,
        most=100_000_000,
        live=True,
    ),
    Row(
        "limits.free_mb",
        200,
        "Disk space to leave free, in megabytes. 0: none.",
        least=0,
        most=100_000_000,
        live=True,
    ),
    Row(
        "web.start",
        "on-demand",
        "When the API and the viewer are served: at the first `aforesaid open`, or `always`; then the "
        "worker does not exit.",
        choices=("on-demand", "always", "off"),
    ),
    Row(
        "web.port",
        47391,
        "TCP port. Falls back to a free port if it is in use.",
        least=1,
        most=65535,
    ),
    Row(
        "web.delete_seconds",
        30,
        "How long `DELETE /sessions/ID` may wait for pending work.",
        least=0,
        most=600,
        live=True,
    ),
    Row(
        "backup.every_hours",
        24,
        "Hours between automatic backups while there is work. 0: only before a migration or a restore.",
        least=0,
        most=8760,
        live=True,
    ),
    Row(
        "backup.keep",
        3,
        "How many backups to keep: the latest, one per week, and those made by hand, this many of each.",
        least=1,
        most=100,
        live=True,
    ),
    Row(
        "worker.idle_minutes",
        30,
        "Minutes without work after which the worker exits; the next capture starts it.",
        least=1,
        most=10_080,
    ),
    Row(
        "worker.lease_seconds",
        120,
        "Lease of a job: after this time another worker may claim it.",
        least=1,
        most=3600,
    ),
    Row(
        "worker.log_level",
        "info",
        "Level of the worker's log.",
        choices=("debug", "info", "warning", "error"),
    ),
)
BY_NAME = {row.name: row for row in ROWS}
