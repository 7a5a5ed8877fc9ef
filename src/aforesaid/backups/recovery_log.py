"""The recovery log: `data/damaged/<UTC time>/recovery.json`, one record per damaged or replaced database.

A record is written before anything is moved, so that a recovery that was killed is resumed. It is reported at
session starts until `aforesaid status` or `aforesaid doctor` was run, and never deleted by us.
"""

import json
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import Any

from aforesaid.backups.repository import unused_folder
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
    """`message`: for the user, once it is `done`. `since`: transcripts written to later are read again; None
    when that is done or not needed. `held_back`: transcripts are not read automatically, as what was paused
    or purged is not known."""

    at: int
    what: str
    why: str
    done: bool = False
    seen: bool = False
    message: str = ""
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
    found = [each.message for each in load_all(paths) if each.done and not each.seen]
    return " ".join(found) or None


def mark_seen(paths: Paths) -> None:
    _update(paths, seen=True)


def replay_since(paths: Paths) -> int | None:
    """Transcripts that were written to since then are to be read again."""
    waiting = [each.since for each in load_all(paths) if each.done and each.since is not None]
    return min(waiting, default=None)


def mark_replayed(paths: Paths) -> None:
    _update(paths, since=None)


def _update(paths: Paths, **changes: Any) -> None:
    for record in load_all(paths):
        if record.done and (changed := replace(record, **changes)) != record:
            save(paths, changed)
