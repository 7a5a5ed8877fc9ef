"""`recollect rebuild`: the index is made again by the worker; the command only watches."""

import os
import time
from typing import Any

import click

from recollect import wiring
from recollect.cli.output import count, json_option, print_json, say, styled
from recollect.cli.progress import Show, bar
from recollect.errors import WorkerError
from recollect.paths import Paths
from recollect.worker import contact

Json = dict[str, Any]
ORDER_SECONDS = 120.0  # a large index takes a while to forget
POLL_SECONDS = 0.2
AWAY_SECONDS = 60.0  # that a worker may not answer
INTERRUPTED = 130


@click.command()
@json_option
def rebuild(as_json: bool) -> None:
    """Make the search index again: words, facts, events and vectors, from what is remembered.

    The worker does it; searching goes on meanwhile and finds more and more. Nothing that is remembered is
    touched.
    """
    paths = Paths.of(os.environ)
    contact.start(paths)
    contact.ask(paths, b"rebuild {}", seconds=ORDER_SECONDS)
    try:
        with bar("Indexing", quiet=as_json) as show:
            index = _watched(paths, show)
    except KeyboardInterrupt:
        told = "\nIt goes on in the background. `recollect status` shows how far it is."
        click.echo(told, err=True)
        raise SystemExit(INTERRUPTED) from None
    if as_json:
        print_json(index)
    else:
        _print(index)


def _watched(paths: Paths, show: Show) -> Json:
    """The index when nothing is left to do, or nothing that can be done."""
    store = wiring.open_for_reading(paths)
    most = 0
    while True:
        status = _status(paths)
        index: Json = status["index"]
        left = _left(index) + store.how_many_events_unread()
        most = max(most, left)
        show(most - left, most)
        if left == 0 or status["idle"]:
            return index
        time.sleep(POLL_SECONDS)


def _left(index: Json) -> int:
    """Things without words, and things without a vector."""
    vectors = index["documents"] - index["vectors"] if index["encoder"] else 0
    return int(index["waiting"]) + max(0, vectors)


def _status(paths: Paths) -> Json:
    """Of the worker; one that ended is started, for its successor goes on."""
    end = time.monotonic() + AWAY_SECONDS
    while True:
        try:
            return contact.status(paths)
        except WorkerError:
            if time.monotonic() > end:
                raise
            contact.start(paths)


def _print(index: Json) -> None:
    by = f" by {index['encoder']}" if index["encoder"] else ""
    vectors = f", {count(index['vectors'], 'vector')}{by}" if index["encoder"] else ""
    say(f"The index holds {count(index['documents'], 'document')}{vectors}.")
    missing = index["documents"] - index["vectors"] if index["encoder"] else 0
    if missing > 0:
        said = f"{count(missing, 'document')} found by words only: the encoder does not answer."
        say(styled(f"{said} See `recollect worker logs`.", fg="yellow"))
