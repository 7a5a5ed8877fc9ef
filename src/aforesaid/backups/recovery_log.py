"""The recovery log: `data/damaged/<UTC time>/recovery.json`, one record per damaged or replaced database.

A record is written before anything is moved, so that a recovery that was killed is resumed. It is reported at
session starts until `aforesaid status` or `aforesaid doctor` was run, and never deleted by us.
"""

import json
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace

from aforesaid.backups.repository import unused_folder
from aforesaid.clock import day_and_time
from aforesaid.english import count
from aforesaid.paths import Paths, private_dir, sync, write_private

NAME = "recovery.json"
FILE, LOG, BY_HAND = "file", "log", "by hand"  # what was damaged; by hand: replaced by the user
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
class RecoveryRecord:
    """`salvaged`: rows read from the damaged file, `filled`: rows from the backup, `lost` and `at_least`: see
    `store/salvage.py`. `since`: transcripts written to later are read again; None when that is done or not
    needed. `held_back`: transcripts are not read automatically, as what was paused or purged is not known."""

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


def load_all(paths: Paths) -> list[RecoveryRecord]:
    """Newest first."""
    found = []
    for path in sorted(paths.damaged.glob(f"*/{NAME}"), reverse=True):
        with suppress(OSError, ValueError, TypeError):
            found.append(RecoveryRecord(**json.loads(path.read_bytes())))
    return found


def begin(paths: Paths, record: RecoveryRecord) -> RecoveryRecord:
    """Saves it in a new folder."""
    folder = private_dir(unused_folder(private_dir(paths.damaged), record.at))
    begun = replace(record, folder=folder.name)
    save(paths, begun)
    sync(paths.damaged)
    return begun


def save(paths: Paths, record: RecoveryRecord) -> None:
    folder = paths.damaged / record.folder
    write_private(folder / NAME, json.dumps(asdict(record), indent=2).encode() + b"\n")
    sync(folder)


def unseen_message(paths: Paths) -> str | None:
    found = [describe(each, paths) for each in load_all(paths) if each.done and not each.seen]
    return " ".join(found) or None


def mark_seen(paths: Paths) -> None:
    for record in load_all(paths):
        if record.done and not record.seen:
            save(paths, replace(record, seen=True))


def replay_since(paths: Paths) -> int | None:
    """Transcripts that were written to since then are to be read again."""
    waiting = [each.since for each in load_all(paths) if each.done and each.since is not None]
    return min(waiting, default=None)


def mark_replayed(paths: Paths) -> None:
    for record in load_all(paths):
        if record.done and record.since is not None:
            save(paths, replace(record, since=None))


def was_recovered_since(paths: Paths, since: int) -> bool:
    """Whether a damaged file was replaced after that time."""
    return any(each.what == FILE and each.done and each.at > since for each in load_all(paths))


def describe(record: RecoveryRecord, paths: Paths) -> str:
    """What happened, what was lost, and where the damaged file is."""
    when = day_and_time(record.at)
    if record.what == LOG:
        lost = f"At least {_list_counts(record.lost)}" if record.lost else "What was stored last"
        return (
            f"aforesaid's database lost its log at a crash before {when} ({record.why}). {lost} may be "
            "missing; what the transcripts tell of it is read again."
        )
    # SQLite's own words, on one line.
    why = " ".join(record.why.replace("*** in database main ***", "").split())[:120]
    return (
        f"aforesaid's database was damaged ({why}) and was mended at {when}: {_describe_source(record)}. "
        f"{_describe_loss(record)} The damaged file is in {paths.damaged / record.folder}."
    )


def _describe_source(record: RecoveryRecord) -> str:
    backup = f"the backup of {day_and_time(record.backup_at)}" if record.backup_at else ""
    if record.salvaged is not None:
        filled = _list_counts(record.filled)
        read = f"{_list_counts(record.salvaged) or 'little'} could still be read"
        return f"{read}, {filled} came from {backup}" if filled else read
    if backup:
        return f"{backup} was restored"
    return "there was no backup that could be used, so an empty database was created"


def _describe_loss(record: RecoveryRecord) -> str:
    if record.salvaged is None:
        since = f" since {day_and_time(record.backup_at)}" if record.backup_at else ""
        lost = f"What was stored{since} is lost, unless the spool or a transcript has it."
    elif record.lost:
        least = "At least" if set(record.at_least) & set(record.lost) else "Up to"
        lost = f"{least} {_list_counts(record.lost) or 'some rows'} could not be recovered."
    elif record.at_least:
        lost = "Whatever was stored last may be missing."
    else:
        return "Nothing was lost."
    if record.held_back:
        return (
            f"{lost} Sessions were paused or erased, and which is no longer known: so transcripts are not "
            "read by themselves. `aforesaid import claude-code` reads them; `aforesaid pause` again what "
            "should be."
        )
    return f"{lost} The spool and the transcripts are read again."


def _list_counts(rows: dict[str, int]) -> str:
    named = [count(rows[table], noun) for table, noun in NOUNS.items() if rows.get(table)]
    return ", ".join(named[:-1]) + " and " + named[-1] if len(named) > 1 else "".join(named)
