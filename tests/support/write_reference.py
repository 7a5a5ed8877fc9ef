"""Writes docs/reference/cli.md and settings.md from the code. Run: python -m tests.support.write_reference"""

from pathlib import Path

import click

from recollect.cli.main import COMMANDS, cli
from recollect.settings import ROWS

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
GENERATED = "<!-- Generated: python -m tests.support.write_reference -->"


def cli_page() -> str:
    parts = [
        GENERATED,
        "# Commands",
        "",
        "Every command takes `-h` and, where it answers, `--json`.",
        "",
    ]
    parts += _help("recollect", cli, click.Context(cli, info_name="recollect"))
    for row in COMMANDS:
        context = click.Context(cli, info_name="recollect")
        command = cli.get_command(context, row.name)
        assert command is not None
        own = click.Context(command, info_name=row.name, parent=context)
        parts += _help(f"recollect {row.name}", command, own)
        if isinstance(command, click.Group):
            for name in command.list_commands(own):
                part = command.get_command(own, name)
                assert part is not None
                below = click.Context(part, info_name=name, parent=own)
                parts += _help(f"recollect {row.name} {name}", part, below)
    return "\n".join(parts)


def settings_page() -> str:
    parts = [
        GENERATED,
        "# Settings",
        "",
        "A line in the config file (`recollect config path` tells where it is), or an environment",
        "variable, which wins. `recollect config list` shows the values in force. The worker reads them",
        "when it starts.",
        "",
        "`RECOLLECT_HOME` (an absolute path) puts config, data and state into one folder. Without it",
        "they follow the XDG folders: `~/.config/recollect`, `~/.local/share/recollect` and",
        "`~/.local/state/recollect`.",
        "",
        "| setting | variable | default | what it does |",
        "|---|---|---|---|",
    ]
    for row in ROWS:
        shown = ", ".join(row.default) if isinstance(row.default, tuple) else str(row.default)
        limits = f" One of: {', '.join(row.choices)}." if row.choices else ""
        limits = f" From {row.least} to {row.most}." if row.least is not None else limits
        parts.append(f"| `{row.name}` | `{row.env}` | {shown} | {row.help}{limits} |")
    return "\n".join(parts) + "\n"


def _help(name: str, command: click.Command, context: click.Context) -> list[str]:
    context.max_content_width = 100
    context.terminal_width = 100
    return [f"## {name}", "", "```text", command.get_help(context), "```", ""]


def main() -> None:
    REFERENCE.mkdir(parents=True, exist_ok=True)
    (REFERENCE / "cli.md").write_text(cli_page())
    (REFERENCE / "settings.md").write_text(settings_page())


if __name__ == "__main__":
    main()
