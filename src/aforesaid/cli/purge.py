"""`aforesaid purge`: deletes for good. The worker does it; the command asks first, and watches."""

import time
from dataclasses import asdict
from typing import Any, cast

import click

from aforesaid.backups import recovery_log
from aforesaid.cli import arguments
from aforesaid.cli.output import Show, bar, exit_interrupted, json_option, print_json, say, styled
from aforesaid.english import count
from aforesaid.errors import AforesaidError, NotFound, WorkerError
from aforesaid.model.purge import Erasure, Needle, What
from aforesaid.model.search import OBSERVATION, PROMPT, SESSION
from aforesaid.recall import resolve

POLL_SECONDS, AWAY_SECONDS = 0.1, 60.0
STEPS = {
    "waiting": "Waiting for the current job",
    "looking": "Searching",
    "erasing": "Erasing",
    "files": "Erasing files",
    "cleaning": "Cleaning up",
}
NOUNS = recovery_log.NOUNS | {
    "memories": "memory",
    "files": "other file",
}
ELSEWHERE = (
    "The agent's own transcripts and files that you exported are not aforesaid's: check them too."
)
RESUME = " `aforesaid worker restart` resumes it."
CONTINUES = "It continues in the background; `aforesaid status` reports a failure."


@click.command()
@click.argument("what", metavar="[ID]", required=False)
@click.option("--text", metavar="TEXT", help="Everything that contains this text.")
@click.option("--secrets", is_flag=True, help="Redact secrets in everything stored so far.")
@arguments.project_option("All of this project")
@arguments.since_option("What happened")
@arguments.until_option("What happened")
@click.option("--dry-run", is_flag=True, help="Only count what would be erased.")
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

    Also erases what was derived from it, in the index, memories and their history, prepared copies, the log
    and backups, which are rewritten. Cannot be undone, and no transcript restores it.
    """
    timed = since is not None or until is not None
    ways = [what is not None, text is not None, secrets, timed or project is not None]
    if sum(ways) != 1:
        raise click.UsageError(
            "Say one thing to erase: an ID, --text, --secrets, --project, or --since and --until."
        )
    if text is not None:
        Needle(text)  # raises if it cannot be searched for
        wanted = Erasure("text", text=text)
    elif secrets:
        wanted = Erasure("secrets")
    elif what is not None:
        wanted = _find_erasure(what)
    else:
        store = arguments.open_store()
        found = arguments.find_project(store, project).id if project else None
        wanted = (
            Erasure("period", id=found, since=since or 0, until=until or 2**62)
            if timed
            else Erasure("project", id=found)
        )
    run_purge(wanted, dry_run=dry_run, yes=yes, as_json=as_json)


def _find_erasure(what: str) -> Erasure:
    store = arguments.open_store()
    kind, key = resolve.parse_id(store, what)
    if kind not in (OBSERVATION, PROMPT, SESSION):
        raise NotFound(f"{what!r} cannot be erased by itself: erase its prompt or session.")
    hidden = kind == OBSERVATION and store.observations.get_hidden(key)
    if kind != SESSION and not hidden:
        resolve.find_thing(store, kind, key)  # raises NotFound
    return Erasure(cast(What, kind), id=key)


def run_purge(wanted: Erasure, *, dry_run: bool, yes: bool, as_json: bool) -> None:
    ask = not (dry_run or yes)
    if ask and as_json:
        raise click.UsageError("With --json nobody can be asked: add --yes or --dry-run.")
    if ask or dry_run:
        counts = _run(wanted, dry_run=True, quiet=as_json)
        if as_json:
            print_json({"dry_run": True, "counts": counts})
            return
        _print_counts(wanted, counts, done=False)
        if dry_run:
            return
        if any(number for name, number in counts.items() if name != "backups"):
            click.confirm("Erase this for good?", abort=True)
        elif counts.get("backups"):  # it may have been erased here since they were made
            click.confirm("Nothing here matches. Replace the backups all the same?", abort=True)
        else:
            return
    counts = _run(wanted, dry_run=False, quiet=as_json)
    if as_json:
        print_json({"dry_run": False, "counts": counts})
        return
    _print_counts(wanted, counts, done=True)
    say(ELSEWHERE)


def _run(wanted: Erasure, *, dry_run: bool, quiet: bool) -> dict[str, int]:
    request: dict[str, Any] = {"wanted": asdict(wanted), "dry_run": dry_run}
    answer = arguments.call_worker("erase-begin", **request)
    if refused := answer.get("refused"):
        raise click.UsageError(refused)
    if answer.get("busy"):
        raise WorkerError("Another purge is running. Try again when it has finished.")
    try:
        with bar("Erasing", quiet=quiet) as show:
            return _watch(answer["name"], request, show)
    except KeyboardInterrupt:
        if dry_run:
            raise SystemExit(130) from None
        exit_interrupted(CONTINUES)


def _watch(name: str, request: dict[str, Any], show: Show) -> dict[str, int]:
    """A worker that ends in between leaves the request on disk, and the next one resumes it."""
    end = time.monotonic() + AWAY_SECONDS
    while True:
        try:
            answer = arguments.call_worker("erase-progress", name=name)
            end = time.monotonic() + AWAY_SECONDS
        except WorkerError:
            if time.monotonic() > end:
                raise
            answer = {}
        if answer.get("lost"):
            name = arguments.call_worker("erase-begin", **request).get("name", name)
        elif answer.get("error"):
            raise AforesaidError(answer["error"] + ("" if request["dry_run"] else RESUME))
        elif answer.get("over"):
            counts: dict[str, int] = answer["counts"]
            return counts
        elif answer:
            show(answer["done"], answer["total"] or 1, STEPS.get(answer["step"], ""))
        time.sleep(POLL_SECONDS)


def _print_counts(wanted: Erasure, counts: dict[str, int], *, done: bool) -> None:
    secrets = wanted.what == "secrets"
    nouns = {"rows": "row"} | NOUNS if secrets else NOUNS
    parts = [count(counts[name], noun) for name, noun in nouns.items() if counts.get(name)]
    verb = "redacted" if secrets else "erased"
    head = verb.capitalize() if done else f"Would be {verb}"
    say(styled(f"{head}: {', '.join(parts) or 'nothing'}.", fg="yellow"))
    if backups := counts.get("backups"):
        verb = "were" if done else "would be"
        say(f"{count(backups, 'backup')} may contain it: all {verb} replaced by a new one.")
