"""`recollect bench memory`: a table for what is kept of talks and one for what prompts are told."""

import click

from recollect.cli import progress
from recollect.cli.bench_tables import ENCODERS, print_machine, print_tables
from recollect.cli.output import json_option, say


@click.command()
@click.option(
    "--half",
    type=click.Choice(("tune", "report", "all")),
    default="report",
    show_default=True,
    help="Rules and thresholds were made on the one, figures are of the other.",
)
@click.option(
    "--only",
    type=click.Choice(("extraction", "selection")),
    help="What is kept of talks, or what prompts are told. Else both.",
)
@click.option("--encoder", type=ENCODERS, default="static", show_default=True, help="For meaning.")
@click.option("--endpoint", metavar="URL", help="An OpenAI-compatible server: a model, too.")
@click.option("--model", "name", default="local", show_default=True, help="Its name there.")
@click.option("--explain", is_flag=True, help="Show each miss and each false one.")
@json_option
def memory(
    half: str,
    only: str | None,
    encoder: str,
    endpoint: str | None,
    name: str,
    explain: bool,
    as_json: bool,
) -> None:
    """How well memories are taken from talks, and chosen for prompts.

    Dialogues and prompts ship with recollect, with what is right for each. Nothing of yours is read or
    written. A model takes some seconds for each of them.
    """
    from recollect.bench import served
    from recollect.bench.memory import run

    model = served.choice(endpoint, name).model if endpoint else None
    print_machine(False, as_json)
    found = run.measure(
        lambda what: progress.bar(what, quiet=as_json),
        half=half,
        encoder=encoder,
        model=model,
        parts=(only,) if only else run.PARTS,
    )
    if explain and not as_json:
        for each in found:
            say(f"{each.table.title}: misses and false ones\n")
            say("\n".join(each.faults) or "None.\n")
    print_tables([each.table for each in found], as_json)
