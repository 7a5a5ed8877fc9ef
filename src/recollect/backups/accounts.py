"""What happened to the database, for its user: `data/damaged/<UTC time>/account.json`, one per misfortune.

Written before anything is moved, so that a recovery that was killed is taken up again; told at session starts
until somebody has looked (`recollect status`, `recollect doctor`); never deleted by us.
"""

import json
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from recollect.clock import MINUTE, SECOND, day_and_time
from recollect.english import count
from recollect.paths import Paths, private_dir, sync, write_private

NAME = "account.json"
FILE, LOG, BY_HAND = "file", "log", "by hand"  # what was damaged; by hand: replaced, and not mended
NOUNS = {
    "projects": "project",
    "sessions": "session",
    "prompts": "prompt",
    "events": "event",
    "observations": "observation",
    "summaries": "summary",
    "requests": "request",
}


@dataclass(frozen=True, slots=True)
class Account:
    """`salvaged`: rows read from the damaged file, `filled`: rows that the backup had in their stead, `lost`
    and `at_least`: see `store/files.py`. `since`: transcripts that were written to later are read
    again; None when that is done or there is nothing to read. `held_back`: not unasked, as what was paused or
    erased is no longer known."""

    at: int
    what: str
    why: str
    done: bool = False
    seen: bool = False
    backup: str | None = None
    backup_at: int | None = None
    salvaged: dict[str, int] | None = None
    filled: dict[str, int] = field(default_factory=dict)
    lost: dict[str, int] = field(default_factory=dict)
    at_least: list[str] = field(default_factory=list)
    rows: dict[str, int] = field(default_factory=dict)
    since: int | None = None
    held_back: bool = False
    folder: str = ""


def all_of(paths: Paths) -> list[Account]:
    """Newest first."""
    found = []
    for path in sorted(paths.damaged.glob(f"*/{NAME}"), reverse=True):
        try:
            read: dict[str, Any] = json.loads(path.read_bytes())
            found.append(Account(**read))
        except (OSError, ValueError, TypeError):
            continue
    return found


def begin(paths: Paths, account: Account) -> Account:
    """In a folder of its own, on the disk."""
    private_dir(paths.damaged)
    day = datetime.fromtimestamp(account.at / SECOND, UTC).strftime("%Y%m%dT%H%M%SZ")
    folder, number = paths.damaged / day, 1
    while folder.exists():
        number += 1
        folder = paths.damaged / f"{day}-{number}"
    private_dir(folder)
    begun = replace(account, folder=folder.name)
    write(paths, begun)
    sync(paths.damaged)
    return begun


def write(paths: Paths, account: Account) -> None:
    folder = paths.damaged / account.folder
    write_private(folder / NAME, json.dumps(asdict(account), indent=2).encode() + b"\n")
    sync(folder)


def unseen(paths: Paths) -> str | None:
    """What has to be said, if anything has."""
    told = [sentence(each, paths) for each in all_of(paths) if each.done and not each.seen]
    return " ".join(told) or None


def see(paths: Paths) -> None:
    for account in all_of(paths):
        if account.done and not account.seen:
            write(paths, replace(account, seen=True))


def replay_since(paths: Paths) -> int | None:
    """Transcripts that were written to since then are to be read again."""
    waiting = [each.since for each in all_of(paths) if each.done and each.since is not None]
    return min(waiting, default=None)


def replayed(paths: Paths) -> None:
    for account in all_of(paths):
        if account.done and account.since is not None:
            write(paths, replace(account, since=None))


def lately(paths: Paths, now: int, minutes: int) -> int:
    """How many recoveries of a damaged file there were in the last minutes."""
    since = now - minutes * MINUTE
    return sum(each.what == FILE and each.done and each.at > since for each in all_of(paths))


def sentence(account: Account, paths: Paths) -> str:
    """What happened, what was lost, where the rest is. For people."""
    when = day_and_time(account.at)
    if account.what == LOG:
        lost = f"At least {_listed(account.lost)}" if account.lost else "What was stored last"
        return (
            f"recollect's database lost its log at a crash before {when} ({account.why}). {lost} may be "
            "missing; what the transcripts tell of it is read again."
        )
    return (
        f"recollect's database was damaged ({_short(account.why)}) and was mended at {when}: "
        f"{_source(account)}. {_loss(account)} The damaged file is in "
        f"{paths.damaged / account.folder}."
    )


def _source(account: Account) -> str:
    backup = None
    if account.backup is not None and account.backup_at is not None:
        backup = f"the backup of {day_and_time(account.backup_at)}"
    if account.salvaged is not None:
        read = f"{_listed(account.salvaged) or 'little'} could still be read"
        if filled := _listed(account.filled):
            return f"{read}, {filled} came from {backup}"
        return read
    if backup is not None:
        return f"{backup} was restored"
    return "there was no backup that could be used, so it began anew"


def _loss(account: Account) -> str:
    again = "The spool and the transcripts are read again."
    if account.held_back:
        again = (
            "Sessions were paused or erased, and which is no longer known: so transcripts are not read by "
            "themselves. `recollect import claude-code` reads them; `recollect pause` again what should be."
        )
    if account.salvaged is None and account.backup_at is None:
        return f"What the transcripts do not tell is lost. {again}"
    if account.salvaged is None and account.backup_at is not None:
        since = f"What was stored since {day_and_time(account.backup_at)} is lost"
        return f"{since}, unless the spool or a transcript tells it. {again}"
    if account.lost:
        least = "At least" if set(account.at_least) & set(account.lost) else "Up to"
        other = "" if _listed(account.lost) else "some rows"
        return f"{least} {_listed(account.lost) or other} could not be recovered. {again}"
    if account.at_least:
        return f"Whatever was stored last may be missing. {again}"
    return "Nothing was lost."


def _listed(rows: dict[str, int]) -> str:
    """Of what people count."""
    named = [count(rows[table], noun) for table, noun in NOUNS.items() if rows.get(table)]
    return ", ".join(named[:-1]) + " and " + named[-1] if len(named) > 1 else "".join(named)


def _short(why: str) -> str:
    """SQLite's own words, on one line."""
    return " ".join(why.replace("*** in database main ***", "").split())[:120]
