"""`recollect synthesize`: works up what waits now, or writes anew what others wrote.

The worker does the work; this command tells it what to do, and watches. It can be left at any time.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

import click

from recollect import clock, wiring
from recollect.cli import period, places
from recollect.cli.output import console, count, json_option, print_json, say, styled
from recollect.errors import ConfigError
from recollect.model.jobs import Again
from recollect.paths import Paths
from recollect.store.protocol import Reading
from recollect.worker import contact

LOOK_SECONDS = 0.1
NEEDS_ATTENTION = 4
INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class Result:
    """`stopped`: why it is not over, if it is not."""

    author: str
    requeued: int
    done: int
    waiting: int
    failed: int
    stopped: str | None


@click.command()
@click.option("--again", is_flag=True, help="Also what is written already, but by somebody else.")
@click.option(
    "--session",
    metavar="REF",
    callback=places.not_empty,
    shell_complete=places.completing(places.session_names),
    help="With --again: only this session; its first letters are enough.",
)
@places.project_option("With --again: only this project")
@period.since_option("With --again: only turns")
@click.option("--dry-run", is_flag=True, help="Only count, and estimate the tokens.")
@json_option
def synthesize(
    again: bool,
    session: str | None,
    project: str | None,
    since: int | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Work up what waits, now, and watch it being done.

    With --again, what another author wrote (the stand-in, another model, older prompts) is replaced by what
    the provider in force writes. What you have pinned or edited stays. A second time there is nothing to do.

    Exit code 4 when something is left because the model does not answer. Ctrl-C leaves the rest to the
    worker.
    """
    if not again and (session or project or since is not None):
        raise click.UsageError(
            "--session, --project and --since choose what is done --again; add that."
        )
    home = wiring.home()
    limits = _limits(session, project, since)
    if dry_run:
        _print_plan(home, limits if again else None, as_json)
        return
    _warn_of_another_author(home)
    requeued = 0
    if again:
        answer = contact.order(home.paths, "again", **limits)
        if "refused" in answer:
            raise ConfigError(
                f"The rules only stand in here ({answer['refused']}) and would replace what a model wrote. "
                "If you want that: recollect config set synthesis.provider rules"
            )
        requeued = int(answer["requeued"])
    else:
        contact.order(home.paths, "wake")
    result = _watch(home.paths, requeued, quiet=as_json)
    if as_json:
        print_json(asdict(result))
    else:
        _print(result, again=again)
    if result.stopped or result.failed:
        raise SystemExit(NEEDS_ATTENTION)


def _limits(session: str | None, project: str | None, since: int | None) -> dict[str, int | None]:
    if session is None and project is None:
        return {"session_id": None, "project_id": None, "since": since}
    store = places.store()
    return {
        "session_id": places.session_named(store, session).id if session else None,
        "project_id": places.project_named(store, project).id if project else None,
        "since": since,
    }


def _print_plan(home: wiring.Home, limits: dict[str, int | None] | None, as_json: bool) -> None:
    store = places.store()
    author = _author(home)
    jobs = store.health().pending
    if limits is not None:
        jobs = store.count_again(Again(author, **limits))
    tokens = 0 if author.startswith("rules") else _estimate(store, jobs)
    if as_json:
        print_json({"author": author, "jobs": jobs, "tokens": tokens})
        return
    known = "an unknown number of tokens" if tokens is None else f"about {count(tokens, 'token')}"
    what = "to be written anew" if limits is not None else "waiting"
    say(f"{count(jobs, 'job')} {what} by {author}: {known}. Nothing was changed.")


def _estimate(store: Reading, jobs: int) -> int | None:
    """From what answers have taken so far, repairs included."""
    until = clock.now() + 1
    spent, answers = store.spent(0, until), store.written(0, until).answers
    if not jobs:
        return 0
    return (spent.sent + spent.received) * jobs // answers if answers else None


def _author(home: wiring.Home) -> str:
    """The worker's own choice, if it runs: it may see other variables than this terminal."""
    if contact.running_pid(home.paths) is not None:
        return str(contact.status(home.paths)["provider"])
    return str(wiring.provider(home, clock.now).author)


def _warn_of_another_author(home: wiring.Home) -> None:
    """Before anything is spent: a worker that was started before a change of the settings knows nothing of
    it."""
    wanted, running = str(wiring.provider(home, clock.now).author), contact.start(home.paths)
    if wanted != running["provider"]:
        click.echo(
            f"The worker writes as {running['provider']}; by the settings, as this terminal sees them, it "
            f"would be {wanted}. `recollect worker restart` makes it read them anew.",
            err=True,
        )


def _watch(paths: Paths, requeued: int, *, quiet: bool) -> Result:
    """Until nothing waits any more, or nobody is there to do it. A worker that was replaced meanwhile is
    found again."""
    found = contact.start(paths)
    # A quick worker is done with some of it before we look.
    most = max(requeued, _waiting(found))
    failed_before = _failed(found)
    try:
        with _progress(quiet=quiet) as show:
            while _waiting(found) and not _stopped(found):
                most = max(most, _waiting(found))
                show(most - _waiting(found), most)
                time.sleep(LOOK_SECONDS)
                found = contact.start(paths)
    except KeyboardInterrupt:
        click.echo("\nThe worker goes on by itself. Look with `recollect status`.", err=True)
        raise SystemExit(INTERRUPTED) from None
    return Result(
        author=str(found["provider"]),
        requeued=requeued,
        done=most - _waiting(found),
        waiting=_waiting(found),
        failed=max(0, _failed(found) - failed_before),
        stopped=_stopped(found),
    )


def _waiting(found: dict[str, Any]) -> int:
    return int(found["queue"]["pending"]) + int(found["spool"])


def _failed(found: dict[str, Any]) -> int:
    return int(found["queue"]["skipped"])


def _stopped(found: dict[str, Any]) -> str | None:
    """A model that is away, out of quota or wrongly set up; or what the worker itself stumbles over."""
    parked = found["parked"]
    return str(parked["why"]) if parked else found["fault"]


@contextmanager
def _progress(*, quiet: bool) -> Iterator[Any]:
    """A bar on a terminal; nothing in a pipe."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    view = console()
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        console=view,
        transient=True,
        disable=quiet or not view.is_terminal,
    )
    with bar:
        task = bar.add_task("Writing", total=None)
        yield lambda done, most: bar.update(task, completed=done, total=most)


def _print(result: Result, *, again: bool) -> None:
    if not result.done and not result.waiting:
        nothing = f"Everything there is was written by {result.author}." if again else ""
        say(nothing or "Nothing waits.")
    else:
        say(f"{count(result.done, 'job')} done by {result.author}, {result.waiting} waiting.")
    if result.failed:
        say(
            styled(
                f"{count(result.failed, 'job')} failed three times: `recollect status`.",
                fg="yellow",
            )
        )
    if result.stopped:
        click.echo(f"Not all is written: {result.stopped}", err=True)
