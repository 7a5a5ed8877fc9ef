"""`recollect worker`: the background process, by hand."""

import os
import time

import click

from recollect.cli.output import json_option, print_json, say
from recollect.errors import WorkerDown
from recollect.paths import Paths
from recollect.worker import contact


@click.group()
def worker() -> None:
    """Start, stop and look at the background worker. Captures start it by themselves."""


@worker.command()
@json_option
def start(as_json: bool) -> None:
    """Start it, if it is not running; a newer version replaces an older one."""
    _report(contact.start(Paths.of(os.environ)), as_json)


@worker.command()
@json_option
def stop(as_json: bool) -> None:
    """Stop it. It ends what it is doing; waiting events stay where they are."""
    was_running = contact.stop(Paths.of(os.environ))
    if as_json:
        print_json({"was_running": was_running})
    else:
        say("Stopped." if was_running else "It was not running.")


@worker.command()
@json_option
def restart(as_json: bool) -> None:
    """Stop it and start it again."""
    paths = Paths.of(os.environ)
    contact.stop(paths)
    _report(contact.start(paths), as_json)


@worker.command()
@json_option
def status(as_json: bool) -> None:
    """Is it running? Exit code 3 if not."""
    try:
        found = contact.status(Paths.of(os.environ))
    except WorkerDown:
        if as_json:
            print_json({"running": False})
        else:
            say("Not running. The next capture starts it, or `recollect worker start`.")
        raise SystemExit(3) from None
    _report(found, as_json)


@worker.command()
@click.option("-n", "--lines", default=40, show_default=True, help="How many lines.")
@click.option("-f", "--follow", is_flag=True, help="Go on as the log grows; end with Ctrl-C.")
def logs(lines: int, follow: bool) -> None:
    """The end of its log."""
    file = Paths.of(os.environ).log_file
    if not file.exists():
        say(f"There is no log yet: {file}")
        return
    with file.open(encoding="utf-8", errors="replace") as stream:
        for line in stream.readlines()[-lines:]:
            say(line.rstrip("\n"))
        while follow:
            if line := stream.readline():
                say(line.rstrip("\n"))
            else:
                time.sleep(0.2)


def _report(found: dict[str, object], as_json: bool) -> None:
    if as_json:
        print_json({"running": True} | found)
    else:
        memory = f", {int(str(found['memory_kb'])) // 1024} MB" if found["memory_kb"] else ""
        say(
            f"Running: version {found['version']}, pid {found['pid']}, up {found['uptime_s']} s{memory}."
        )
