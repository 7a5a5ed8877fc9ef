"""How benchmarks tell what they measured: the machine, and tables for people or JSON for scripts."""

from typing import TYPE_CHECKING

import click

from recollect.cli.output import say

if TYPE_CHECKING:
    from recollect.bench.table import Table

ENCODERS = click.Choice(("static", "minilm", "none"))


def print_machine(first: bool, as_json: bool) -> None:
    from recollect.bench import machine

    if not as_json:
        say(f"{machine.described(first=first)}\n")


def print_tables(tables: "list[Table]", as_json: bool, *, first: bool = False) -> None:
    from recollect.bench import machine, table

    if as_json:
        say(table.as_json(machine.described(first=first), tables))
    else:
        say("\n".join(each.text() for each in tables))
