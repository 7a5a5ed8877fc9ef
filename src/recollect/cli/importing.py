"""An import, watched: the worker takes a step each time it is asked, until it is over."""

import json
import os
import time
from typing import Any

import click

from recollect.cli.output import count, print_json, say
from recollect.cli.progress import Show, bar
from recollect.errors import TransferError, WorkerError, WorkerHung
from recollect.paths import Paths
from recollect.worker import contact

Json = dict[str, Any]
STEP_SECONDS = 900.0  # a session is taken whole, however large
BUSY_SECONDS = 8.0  # longer than the worker waits for somebody who has gone away
BEGINNINGS = 5
INTERRUPTED = 130
NOUNS = ("project", "session", "prompt", "event", "observation", "summary", "request")


def run(order: Json, *, quiet: bool) -> Json:
    """The worker's last word. A worker that was replaced meanwhile is asked from the beginning: what was
    taken is not taken again."""
    paths = Paths.of(os.environ)
    with bar("Counting" if order["dry_run"] else "Importing", quiet=quiet) as show:
        for _ in range(BEGINNINGS):
            try:
                found = _steps(paths, _begin(paths, order), show)
            except WorkerHung:
                raise
            except WorkerError:  # it ended while we were asking
                found = None
            if found is not None:
                return found
    raise TransferError("The worker ended again and again. See `recollect worker logs`.")


def _begin(paths: Paths, order: Json) -> str:
    end = time.monotonic() + BUSY_SECONDS
    while True:
        answer = _ask(paths, "import-begin", order)
        if "busy" not in answer:
            return str(answer["name"])
        if time.monotonic() > end:
            raise TransferError("Another import is running. Try again when it is over.")
        time.sleep(0.2)


def _steps(paths: Paths, name: str, show: Show) -> Json | None:
    """None: the worker knows nothing of it any more."""
    try:
        while True:
            answer = _ask(paths, "import-step", {"name": name})
            if "lost" in answer:
                return None
            show(answer["done"], answer["total"])
            if answer["over"]:
                return answer
    except KeyboardInterrupt:
        _ask(paths, "import-cancel", {"name": name})
        told = "\nStopped. What was taken is sound; run it again to go on."
        click.echo(told, err=True)
        raise SystemExit(INTERRUPTED) from None


def _ask(paths: Paths, verb: str, order: Json) -> Json:
    contact.start(paths)
    request = f"{verb} {json.dumps(order)}".encode()
    answer = json.loads(contact.ask(paths, request, seconds=STEP_SECONDS))
    assert isinstance(answer, dict)
    if "error" in answer:
        raise TransferError(answer["error"])
    return answer


def report(result: Json, *, dry_run: bool, as_json: bool) -> None:
    new, known = result["new"], result["known"]
    if as_json:
        projects = {"projects": result["projects"]} if "projects" in result else {}
        print_json({"dry_run": dry_run, "new": new, "known": known} | projects)
        return
    told = [count(new[_plural(noun)], noun) for noun in NOUNS if new[_plural(noun)]]
    what = ", ".join(told) or "nothing"
    say(f"{'New would be' if dry_run else 'Taken in'}: {what}.")
    if here := known["sessions"]:
        say(f"{count(here, 'session')} here already.")
    if dry_run:
        say("Nothing was changed.")


def _plural(noun: str) -> str:
    return noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
