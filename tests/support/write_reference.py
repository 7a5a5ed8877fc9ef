"""Writes cli.md, settings.md, mcp.md, api.md and python.md of docs/reference from the code.

Run: python -m tests.support.write_reference
"""

from pathlib import Path

import click

from aforesaid.cli.main import COMMANDS, cli
from aforesaid.mcp.results import FORMS
from aforesaid.mcp.server import INSTRUCTIONS
from aforesaid.mcp.tools import TOOLS
from aforesaid.parameters import Parameter
from aforesaid.settings import ROWS
from aforesaid.web import openapi, stream
from aforesaid.web.app import all_endpoints
from aforesaid.web.endpoint import Endpoint
from tests.support import python_reference

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
GENERATED = "<!-- Generated: python -m tests.support.write_reference -->"


def cli_page() -> str:
    parts = [
        GENERATED,
        "# Commands",
        "",
        "Every command has `--help`. Commands with a result have `--json`.",
        "",
    ]
    parts += _help("aforesaid", cli, _context())
    for row in COMMANDS:
        context = _context()
        command = cli.get_command(context, row.name)
        assert command is not None
        own = click.Context(command, info_name=row.name, parent=context)
        parts += _help(f"aforesaid {row.name}", command, own)
        if isinstance(command, click.Group):
            for name in command.list_commands(own):
                part = command.get_command(own, name)
                assert part is not None
                below = click.Context(part, info_name=name, parent=own)
                parts += _help(f"aforesaid {row.name} {name}", part, below)
    return "\n".join(parts)


def settings_page() -> str:
    parts = [
        GENERATED,
        "# Settings",
        "",
        "A line in the config file (`aforesaid config path` prints its path), or an environment variable,",
        "which takes precedence. `aforesaid config list` shows the current values. Settings marked `At once`",
        "take effect in a running worker when the file changes, the others when the worker is restarted.",
        "",
        "`AFORESAID_HOME` (an absolute path) puts config, data and state into one folder. By default",
        "they are in the XDG folders: `~/.config/aforesaid`, `~/.local/share/aforesaid` and",
        "`~/.local/state/aforesaid`.",
        "",
        "| setting | variable | default | what it does |",
        "|---|---|---|---|",
    ]
    for row in ROWS:
        shown = ", ".join(row.default) if isinstance(row.default, tuple) else str(row.default)
        limits = f" One of: {', '.join(row.choices)}." if row.choices else ""
        limits = f" From {row.least} to {row.most}." if row.least is not None else limits
        limits += " At once." if row.live else ""
        parts.append(f"| `{row.name}` | `{row.env}` | {shown} | {row.help}{limits} |")
    return "\n".join(parts) + "\n"


def tools_page() -> str:
    parts = [
        GENERATED,
        "# MCP tools",
        "",
        "The tools for an agent: see [use the memory](../how-to/ask-the-memory.md). Every result is plain",
        "text; recorded text is in an envelope that marks it as reference data. A failed call returns an",
        "error result that names the fix.",
        "",
        f"An id is {FORMS}. Other projects are included only if `project` says so.",
        "",
        "Instructions for the agent:",
        "",
        f"> {INSTRUCTIONS}",
        "",
    ]
    for tool in TOOLS:
        parts += [f"## {tool.name}", "", tool.about, ""]
        if tool.parameters:
            parts += ["| parameter | takes | what it is |", "|---|---|---|"]
            parts += [_parameter(parameter) for parameter in tool.parameters]
            parts.append("")
    return "\n".join(parts)


def api_page() -> str:
    parts = [
        GENERATED,
        "# HTTP API",
        "",
        "Served on 127.0.0.1; see [open the viewer](../how-to/open-the-viewer.md) for access. `run/web.json`",
        "has the port, `run/web-token` the token; `GET /openapi.json` is this page for programs. Requests",
        "that change something are JSON (`Content-Type: application/json`, also without a body). Times are",
        "milliseconds since the epoch; lists are `{items, next}`, `next` is the cursor of the next page.",
        "",
        'Every error is `{"error": {"code", "message", "field"}}`, and the message names the fix:',
        "",
        "| status | why |",
        "|---|---|",
        *(f"| {status} | {why} |" for status, why in openapi.ERRORS.items()),
        "",
    ]
    for endpoint in (*all_endpoints(), stream.ENDPOINT):
        parts += [f"## {endpoint.method} {endpoint.path}", "", endpoint.summary, ""]
        if listed := _places(endpoint):
            parts += ["| parameter | in | takes | what it is |", "|---|---|---|---|", *listed, ""]
    return "\n".join(parts)


def _places(endpoint: Endpoint) -> list[str]:
    """The parameters of a route, each with its location."""
    places = (("path", endpoint.in_path), ("query", endpoint.query), ("body", endpoint.body))
    return [
        _parameter(each).replace(" | ", f" | {where} | ", 1)
        for where, known in places
        for each in known
    ]


def python_page() -> str:
    return f"{GENERATED}\n{python_reference.page()}"


def _parameter(parameter: Parameter) -> str:
    takes = {
        "text": "text",
        "names": "a list",
        "number": "a number",
        "flag": "true or false",
        "json": "any JSON",
    }
    what = [parameter.about] if parameter.about else []
    if parameter.choices:
        what.append(f"One of: {', '.join(parameter.choices)}.")
    if parameter.kind == "number":
        what.append(f"From {parameter.least} to {parameter.most}.")
    if default := parameter.default:
        what.append(f"Default: {'true' if default is True else default}.")
    if parameter.required:
        what.append("Must be given.")
    return f"| `{parameter.name}` | {takes[parameter.kind]} | {' '.join(what)} |"


def _context() -> click.Context:
    return click.Context(cli, info_name="aforesaid", **cli.context_settings)


def _help(name: str, command: click.Command, context: click.Context) -> list[str]:
    context.max_content_width = 100
    context.terminal_width = 100
    return [f"## {name}", "", "```text", command.get_help(context), "```", ""]


def main() -> None:
    REFERENCE.mkdir(parents=True, exist_ok=True)
    (REFERENCE / "cli.md").write_text(cli_page())
    (REFERENCE / "settings.md").write_text(settings_page())
    (REFERENCE / "mcp.md").write_text(tools_page())
    (REFERENCE / "api.md").write_text(api_page())
    (REFERENCE / "python.md").write_text(python_page())


if __name__ == "__main__":
    main()
