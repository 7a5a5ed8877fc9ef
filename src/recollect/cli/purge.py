"""`recollect purge`: erasing for good. The worker does it; the command asks first, and watches."""

import os
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

import click

from recollect.backups import accounts
from recollect.cli import period, places, things
from recollect.cli.output import count, json_option, print_json, say, styled
from recollect.cli.progress import Show, bar
from recollect.errors import NotFound, RecollectError, WorkerError
from recollect.model.erasing import Erasure, What
from recollect.model.search import OBSERVATION, PROMPT, SESSION
from recollect.needle import Needle
from recollect.paths import Paths
from recollect.worker import contact

Json = dict[str, Any]
POLL_SECONDS, AWAY_SECONDS = 0.1, 60.0
STEPS = {
    "waiting": "Waiting for the job in hand",
    "looking": "Looking",
    "erasing": "Erasing",
    "files": "Erasing files",
    "cleaning": "Cleaning up",
}
NOUNS = accounts.NOUNS | {
    "forgotten": "forgotten observation",
    "memories": "memory",
    "files": "other file",
}
ELSEWHERE = (
    "The agent's own transcripts and files that you exported are not recollect's: look there, too."
)
FIX = " `recollect worker restart` goes on with it."
GOES_ON = "\nIt goes on in the background; `recollect status` tells if something fails."


@click.command()
@click.argument("what", metavar="[ID]", required=False)
@click.option("--text", metavar="TEXT", help="Everything in which this text occurs.")
@click.option("--secrets", is_flag=True, help="Replace secrets in all that was stored before.")
@places.project_option("All of this project")
@period.since_option("What happened")
@period.until_option("What happened")
@click.option("--dry-run", is_flag=True, help="Only say what would be erased.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
def purge(
    what: str | None,
    text: str | None,
    secrets: bool,
    project: str | None,
    since: int | None,
    until: int | None,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Erase for good: an observation (12), a turn (prompt:3), a session, a project, a period, or a text.

    With what was derived from it, in the index, in memories and their history, in prepared copies, in the log
    and in backups, which are made anew. It cannot be undone, and no transcript brings it back.
    """
    wanted = _wanted(what, text, secrets, project, since, until)
    erase(wanted, dry_run=dry_run, yes=yes, as_json=as_json)


def erase(wanted: Erasure, *, dry_run: bool, yes: bool, as_json: bool) -> None:
    paths = Paths.of(os.environ)
    ask = not (dry_run or yes)
    if ask and as_json:
        raise click.UsageError("With --json nobody can be asked: add --yes or --dry-run.")
    if dry_run or ask:
        found = _run(paths, wanted, dry=True, quiet=as_json)
        if as_json:
            print_json({"dry_run": True, "counts": found["counts"]})
            return
        _say_counts(wanted, found["counts"], done=False)
        if dry_run:
            return
        click.confirm("Erase this for good?", abort=True)
    done = _run(paths, wanted, dry=False, quiet=as_json)
    if as_json:
        print_json({"dry_run": False, "counts": done["counts"]})
        return
    _say_counts(wanted, done["counts"], done=True)
    say(ELSEWHERE)


def _wanted(
    what: str | None,
    text: str | None,
    secrets: bool,
    project: str | None,
    since: int | None,
    until: int | None,
) -> Erasure:
    timed = since is not None or until is not None
    ways = [what is not None, text is not None, secrets, timed or project is not None]
    if sum(ways) != 1:
        raise click.UsageError(
            "Say one thing to erase: an ID, --text, --secrets, --project, or --since and --until."
        )
    if text is not None:
        Needle(text)  # or says why not
        return Erasure("text", text=text)
    if secrets:
        return Erasure("secrets")
    store = places.store()
    if what is not None:
        kind, key = things.named(store, what)
        if kind not in (OBSERVATION, PROMPT, SESSION):
            raise NotFound(f"{what!r} cannot be erased by itself: erase its prompt or session.")
        return Erasure(cast(What, kind), id=key)
    found = places.project_named(store, project).id if project else None
    if timed:
        return Erasure("period", id=found, since=since or 0, until=until or 2**62)
    return Erasure("project", id=found)


def _run(paths: Paths, wanted: Erasure, *, dry: bool, quiet: bool) -> Json:
    order = {"wanted": asdict(wanted), "dry_run": dry}
    answer = contact.order(paths, "erase-begin", **order)
    if refused := answer.get("refused"):
        raise click.UsageError(refused)
    if answer.get("busy"):
        raise WorkerError("Something else is being erased. Wait for its end, then try again.")
    try:
        with bar("Erasing", quiet=quiet) as show:
            return _watched(paths, answer["name"], order, show)
    except KeyboardInterrupt:
        if not dry:
            click.echo(GOES_ON, err=True)
        raise SystemExit(130) from None


def _watched(paths: Paths, name: str, order: Json, show: Show) -> Json:
    """A worker that ended meanwhile left its order behind, and the next one goes on with it."""
    end = time.monotonic() + AWAY_SECONDS
    while True:
        try:
            told = contact.order(paths, "erase-progress", name=name)
            end = time.monotonic() + AWAY_SECONDS
        except WorkerError:
            if time.monotonic() > end:
                raise
            told = {}
        if told.get("lost"):
            begun = contact.order(paths, "erase-begin", **order)
            name = begun.get("name", name)
        elif told.get("error"):
            raise RecollectError(told["error"] + ("" if order["dry_run"] else FIX))
        elif told.get("over"):
            return told
        elif told:
            show(told["done"], told["total"] or 1, STEPS.get(told["step"], ""))
        time.sleep(POLL_SECONDS)


def _say_counts(wanted: Erasure, counts: dict[str, int], *, done: bool) -> None:
    nouns = {"rows": "row"} | NOUNS if wanted.what == "secrets" else NOUNS
    parts = [count(counts[name], noun) for name, noun in nouns.items() if counts.get(name)]
    verb = "replaced" if wanted.what == "secrets" else "erased"
    head = verb.capitalize() if done else f"Would be {verb}"
    say(styled(f"{head}: {', '.join(parts) or 'nothing'}.", fg="yellow"))
    if backups := counts.get("backups"):
        say(f"{count(backups, 'backup')} may hold it: made anew, and the old ones go.")


def memory(name: str, directory: Path) -> Erasure:
    return Erasure("memory", name=name, directory=str(directory))
