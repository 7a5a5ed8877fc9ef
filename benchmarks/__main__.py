"""`python -m benchmarks NAME`, or `make bench ARGS=NAME`: measures this checkout on this machine.

Each benchmark is a command; without one, those that need no data run in turn. All work in temporary folders.
Modules are imported when their benchmark runs.
"""

import signal
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from aforesaid.cli.output import F, bar, say
from aforesaid.errors import AforesaidError

if TYPE_CHECKING:
    from benchmarks.table import Table

ENCODERS = click.Choice(("static", "minilm", "none"))
HALVES = click.Choice(("tune", "report", "all"))

EVERYTHING = ("hook", "session-start", "ingest", "idle")
NEEDS_LINUX = (
    "This benchmark reads /proc and needs Linux; `recall`, `memory` and `search` run anywhere."
)
PROMPTS_ALONE = (
    "--prompts has no questions: leave out --plain, --every-kind, --limit-questions, --explain."
)
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
SIZES = (1_000, 10_000, 100_000)
PASSED_ON = {"ignore_unknown_options": True, "help_option_names": []}
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def measured(function: F) -> F:
    """Options of every benchmark that takes times."""
    for option in (
        json_option,
        click.option("--normal", is_flag=True, help="No real-time priority, even for root."),
        click.option("--quick", is_flag=True, help="Few samples: does it run at all?"),
    ):
        function = option(function)
    return function


@click.group(invoke_without_command=True)
@measured
@click.pass_context
def bench(context: click.Context, quick: bool, normal: bool, as_json: bool) -> None:
    """Measure recall, memories, search, hooks and the worker, in temporary folders.

    Without a command: hook, session-start, ingest and idle in turn. Times travel badly between machines;
    ratios to a baseline of the same run do better, so that is what the tables show.
    """
    if context.invoked_subcommand is None:
        _on_linux([_named(name, quick=quick) for name in EVERYTHING], normal, as_json)


def _add_measured(name: str, summary: str) -> None:
    @bench.command(name, help=summary)
    @measured
    def run(quick: bool, normal: bool, as_json: bool) -> None:
        _on_linux([_named(name, quick=quick)], normal, as_json)


for _name, _help in {
    "hook": "A capture, in every state of the worker.",
    "session-start": "The opening brief and a prompt's recall.",
    "ingest": "From the spool into the store.",
    "idle": "Starting the worker, and doing nothing.",
    "startup": "The first answer of commands and of the MCP server.",
    "viewer": "What open viewers cost: captures, search, memory.",
    "redact": "Looking for secrets: time per MB, and false hits.",
}.items():
    _add_measured(_name, _help)


@bench.command("tokens")
@click.option("--transcript", type=FILE, required=True, help="A session recorded by Claude Code.")
@json_option
def count_tokens(transcript: Path, as_json: bool) -> None:
    """What remembering a recorded session costs in tokens."""
    _on_linux([_named("tokens", quick=False, file=transcript)], True, as_json)


@bench.command()
@click.option("--transcript", type=FILE, required=True, help="A session recorded by Claude Code.")
@click.option("--endpoint", metavar="URL", required=True, help="An OpenAI-compatible server.")
@click.option("--turns", default=1_000, show_default=True, help="How many turns are replayed.")
@click.option(
    "--report",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("model-report.md"),
    show_default=True,
    help="Where the facts are written.",
)
@click.option("--quick", is_flag=True, help="Two turns: does it run at all?")
@json_option
def model(
    transcript: Path, endpoint: str, turns: int, report: Path, quick: bool, as_json: bool
) -> None:
    """How good a real model is at this: replays a recorded session."""
    given = {"file": transcript, "endpoint": endpoint, "report": report, "turns": turns}
    _on_linux([_named("model", quick=quick, **given)], True, as_json)


@bench.command()
@click.option(
    "--data",
    default="coding",
    show_default=True,
    metavar="NAME",
    help="coding (the set in this folder), locomo, beam, sessions, pieces, or a JSONL file.",
)
@click.option(
    "--file",
    type=click.Path(exists=True, path_type=Path),
    help="Your copy of locomo (JSON), of beam (a file or a folder), or the transcripts.",
)
@click.option("--encoder", type=ENCODERS, default="static", show_default=True, help="For meaning.")
@click.option("--plain", is_flag=True, help="FTS5 by itself instead: the baseline.")
@click.option(
    "--half",
    type=HALVES,
    default="report",
    show_default=True,
    help="Which questions of a set that has halves.",
)
@click.option("--every-kind", is_flag=True, help="Let summaries and prompts take places, too.")
@click.option("--limit-questions", type=int, metavar="N", help="Ask only about N questions.")
@click.option("--explain", is_flag=True, help="Show each question that was not answered in full.")
@click.option("--prompts", is_flag=True, help="Measure what is injected at prompts instead.")
@json_option
def recall(
    data: str,
    file: Path | None,
    encoder: str,
    plain: bool,
    half: str,
    every_kind: bool,
    limit_questions: int | None,
    explain: bool,
    prompts: bool,
    as_json: bool,
) -> None:
    """How well the search finds what answers a question: all@10, mean@10, NDCG@10.

    The data goes into a temporary store, and every question through the same search that agents use.
    """
    from benchmarks.recall import run

    if prompts and (plain or every_kind or explain or limit_questions):
        raise click.UsageError(PROMPTS_ALONE)
    read = run.read(data, file)
    print_machine(False, as_json)
    how = "plain FTS5" if plain else "words only" if encoder == "none" else f"encoder {encoder}"
    if prompts:
        with bar("Prompts") as show:
            print_tables([run.prompt_table(read.half(half), encoder, show)], as_json)
        return
    with bar("Questions") as show:
        made = run.measure(
            read,
            show,
            encoder=encoder,
            plain=plain,
            half=half,
            every_kind=every_kind,
            most=limit_questions,
        )
    if explain and not as_json:
        for line in run.explained(made):
            say(line)
    print_tables(run.tables(made, how), as_json)


@bench.command()
@click.option(
    "--size",
    "sizes",
    type=click.IntRange(min=100),
    multiple=True,
    default=SIZES,
    show_default=True,
    help="Observations in the store. May be given several times.",
)
@click.option("--encoder", type=ENCODERS, default="static", show_default=True, help="For meaning.")
@click.option("--queries", type=click.IntRange(min=5), default=200, show_default=True)
@click.option("--normal", is_flag=True, help="No real-time priority, even for root.")
@json_option
def search(sizes: tuple[int, ...], encoder: str, queries: int, normal: bool, as_json: bool) -> None:
    """How the search grows: times as ratios to a bare FTS5 query, memory, cost of the index.

    The text is made up, with a vocabulary as uneven as a language's.
    """
    from benchmarks.search import run

    first = not normal and _goes_first()
    print_machine(first, as_json)
    tables = []
    for size in sizes:
        with bar(f"{size:,} observations") as show:
            tables.append(run.measure(size, encoder, queries, show, first=first))
    print_tables(run.tables(tables), as_json, first=first)


@bench.command()
@click.option(
    "--half",
    type=HALVES,
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

    Dialogues and prompts ship with aforesaid, with what is right for each. Nothing of yours is read or
    written. A model takes some seconds for each of them.
    """
    from benchmarks import served
    from benchmarks.memory import run

    model = served.choice(endpoint, name).model if endpoint else None
    print_machine(False, as_json)
    found = run.measure(
        bar,
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


def _add_module(name: str, module: str, summary: str) -> None:
    """A module that reads its own arguments."""

    @bench.command(name, help=f"{summary} See `{name} --help`.", context_settings=PASSED_ON)
    @click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
    def run(arguments: tuple[str, ...]) -> None:
        sys.argv = [name, *arguments]
        import_module(f"benchmarks.{module}").main()


for _name, _module, _help in (
    (
        "secrets",
        "redaction",
        "Secrets removed, on generated ones; false hits on this machine's files.",
    ),
    ("foreign", "foreign", "Commands that bring in foreign text: how many are recognised."),
    ("provenance", "provenance", "Notes marked as foreign text, on a folder of transcripts."),
    ("notes", "notes", "What a colleague would want to know, found in the notes."),
    ("prompts", "prompts", "What real prompts needed, found in what they get."),
    ("statements", "statements", "Lasting statements of users, kept as memories."),
    ("dreams", "dreams", "Planted pairs of memories, merged or retired."),
):
    _add_module(_name, _module, _help)


def _named(name: str, **given: Any) -> Callable[[], "list[Table]"]:
    def run() -> "list[Table]":
        module = import_module(f"benchmarks.{name.replace('-', '_')}")
        found: list[Table] = module.run(**given)
        return found

    return run


def _on_linux(runs: list[Callable[[], "list[Table]"]], normal: bool, as_json: bool) -> None:
    if sys.platform != "linux":
        raise AforesaidError(NEEDS_LINUX)
    # So that workers and files are removed.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    first = not normal and _goes_first()
    print_machine(first, as_json)
    tables: list[Table] = []
    for run in runs:
        found = run()
        tables += found
        if not as_json:
            print_tables(found, as_json)
    if as_json:
        print_tables(tables, as_json, first=first)


def _goes_first() -> bool:
    if sys.platform != "linux":
        return False
    from benchmarks import priority

    return priority.go_first()


def print_machine(first: bool, as_json: bool) -> None:
    from benchmarks import machine

    if not as_json:
        say(f"{machine.described(first=first)}\n")


def print_tables(tables: "list[Table]", as_json: bool, *, first: bool = False) -> None:
    from benchmarks import machine, table

    if as_json:
        say(table.as_json(machine.described(first=first), tables))
    else:
        say("\n".join(each.text() for each in tables))


def main() -> None:
    try:
        bench(prog_name="python -m benchmarks")
    except AforesaidError as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(2)


if __name__ == "__main__":
    main()
