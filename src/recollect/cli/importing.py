"""An import, watched: the worker takes a step each time it is asked, until it is over."""

import json
import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from recollect import clock, wiring
from recollect.cli.interrupts import interruptible
from recollect.cli.output import count, duration, print_json, say
from recollect.cli.progress import Show, bar
from recollect.errors import StoreError, StoreMissing, TransferError, WorkerError, WorkerHung
from recollect.paths import Paths
from recollect.worker import contact
from recollect.worker.imports import Imports

Json = dict[str, Any]
Ask = Callable[[str, Json], Json]  # a verb and an order; the answer
STEP_SECONDS = 900.0  # a session is taken whole, however large
BUSY_SECONDS = 8.0  # longer than the worker waits for somebody who has gone away
BEGINNINGS = 5
NOUNS = ("project", "session", "prompt", "event", "observation", "summary", "request", "memory")
NAMED = 10  # memories, one by one
UNCHANGED = "Stopped. Nothing was changed."
STOPPED = "Stopped. What was taken is sound; run it again to go on."


def run(order: Json, *, quiet: bool) -> Json:
    """The last word on it, and the `seconds` it took."""
    began = time.monotonic()
    paths = Paths.of(os.environ)
    trial = bool(order["dry_run"])
    with (
        interruptible(UNCHANGED if trial else STOPPED),
        bar("Counting" if trial else "Importing", quiet=quiet) as show,
    ):
        found = (
            _in_scratch(paths, order, show)
            if trial and _is_empty(paths)
            else _by_worker(paths, order, show)
        )
    return found | {"seconds": round(time.monotonic() - began, 3)}


def _by_worker(paths: Paths, order: Json, show: Show) -> Json:
    """A worker that was replaced meanwhile is asked from the beginning: what was taken is not taken again."""

    def ask(verb: str, what: Json) -> Json:
        contact.start(paths)
        request = f"{verb} {json.dumps(what)}".encode()
        answer = json.loads(contact.ask(paths, request, seconds=STEP_SECONDS))
        assert isinstance(answer, dict)
        return answer

    for _ in range(BEGINNINGS):
        try:
            found = _steps(ask, order, show)
        except WorkerHung:
            raise
        except WorkerError:  # it ended while we were asking
            found = None
        if found is not None:
            return found
    raise TransferError("The worker ended again and again. See `recollect worker logs`.")


def _is_empty(paths: Paths) -> bool:
    try:
        wiring.open_for_reading(paths).close()
    except StoreMissing:
        return True
    except StoreError:  # the worker mends it, or says what is wrong
        return False
    return False


def _in_scratch(paths: Paths, order: Json, show: Show) -> Json:
    """A trial where nothing is recorded yet: neither a worker nor a database is made for it."""
    from recollect.memory.storage.incoming import Incoming

    memories = partial(Incoming, paths.memory, clock.now)
    with TemporaryDirectory(prefix="recollect-") as folder:
        store = wiring.open_scratch(Path(folder))
        try:
            imports = Imports(store, clock.now, lambda _: None, memories)
            verbs = {"import-begin": imports.begin, "import-step": imports.step}
            verbs["import-cancel"] = imports.cancel
            found = _steps(lambda verb, what: verbs[verb](what), order, show)
        finally:
            store.close()
    assert found is not None
    return found


def _begin(ask: Ask, order: Json) -> str:
    end = time.monotonic() + BUSY_SECONDS
    while True:
        answer = _sound(ask("import-begin", order))
        if "busy" not in answer:
            return str(answer["name"])
        if time.monotonic() > end:
            raise TransferError("Another import is running. Try again when it is over.")
        time.sleep(0.2)


def _steps(ask: Ask, order: Json, show: Show) -> Json | None:
    """None: the worker knows nothing of it any more."""
    name = _begin(ask, order)
    try:
        while True:
            answer = _sound(ask("import-step", {"name": name}))
            if "lost" in answer:
                return None
            show(answer["done"], answer["total"])
            if answer["over"]:
                return answer
    except KeyboardInterrupt:
        ask("import-cancel", {"name": name})
        raise


def _sound(answer: Json) -> Json:
    if "error" in answer:
        raise TransferError(answer["error"])
    return answer


def report(result: Json, *, dry_run: bool, as_json: bool) -> None:
    new, known = result["new"], result["known"]
    if as_json:
        told = {"dry_run": dry_run, "new": new, "known": known, "seconds": result["seconds"]}
        print_json(told | {key: result[key] for key in ("projects", "memories") if key in result})
        return
    added = [count(new[_plural(noun)], noun) for noun in NOUNS if new[_plural(noun)]]
    what = ", ".join(added) or "nothing"
    say(f"{'New would be' if dry_run else 'Taken in'}: {what}.")
    for noun in ("session", "memory"):
        if here := known[_plural(noun)]:
            say(f"{count(here, noun)} here already.")
    if "memories" in result:
        _tell_memories(result["memories"], dry_run=dry_run)
    say("Nothing was changed." if dry_run else f"That took {duration(result['seconds'])}.")


def _tell_memories(told: Json, *, dry_run: bool) -> None:
    if renamed := told["renamed"]:
        names = ", ".join(renamed[:NAMED]) + (", …" if len(renamed) > NAMED else "")
        verb = "would be" if dry_run else "was" if len(renamed) == 1 else "were"
        say(f"{count(len(renamed), 'memory')} {verb} given a name that was free: {names}.")
    for reason in told["reasons"]:
        click.echo(reason, err=True)
    if more := told["refused"] - len(told["reasons"]):
        click.echo(f"{count(more, 'more memory')} not taken.", err=True)


def _plural(noun: str) -> str:
    return noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
