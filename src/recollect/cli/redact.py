"""`recollect redact`: what would be kept of a text, to try it out."""

import os
from bisect import bisect_right
from pathlib import Path

import click

from recollect import wiring
from recollect.cli.output import count, json_option, print_json, say, table
from recollect.errors import RecollectError

LARGEST = 64 * 1024 * 1024
TEXT = click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path)


@click.command()
@click.argument("file", type=TEXT, default="-")
@click.option("--check", is_flag=True, help="Only list what is found: where it is, and its kind.")
@json_option
def redact(file: Path, check: bool, as_json: bool) -> None:
    """Print FILE, or what is piped in, as it would be kept: without secrets and private parts.

    Your own patterns, and the secrets in this terminal's environment, count too. Nothing of it is stored.
    With --check, exit code 4 when something is found.
    """
    text = _read(file)
    redactor = wiring.redactor(wiring.home(), os.environ)
    if not check and not as_json:
        click.echo(redactor.text(text), nl=False)
        return
    starts = [0, *(at + 1 for at, c in enumerate(text) if c == "\n")]
    found = [
        {
            "line": (line := bisect_right(starts, each.start)),
            "column": each.start - starts[line - 1] + 1,
        }
        | {"kind": each.kind, "length": each.end - each.start}
        for each in redactor.find(text)
    ]
    if as_json:
        print_json(found)
        return
    if found:
        columns = ("line", "column", "kind", "length")
        rows = (tuple(str(each[name]) for name in columns) for each in found)
        table(columns, rows, numbers=("line", "column", "length"))
    say(f"{count(len(found), 'secret')} found.")
    if found:
        raise SystemExit(4)


def _read(file: Path) -> str:
    with click.open_file(str(file), "rb") as opened:
        data = opened.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise RecollectError(f"It has more than {LARGEST // 1024 // 1024} MB. Give a part of it.")
    return bytes(data).decode("utf-8", "replace")
