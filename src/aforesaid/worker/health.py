"""What is wrong with the memory, in one sentence that names the fix. Always shown, because silence loses
work."""

import json
import os
from contextlib import suppress
from itertools import islice
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, NamedTuple

from aforesaid.backups import recovery_log
from aforesaid.clock import DAY, HOUR, MINUTE, SECOND, age, local
from aforesaid.english import count
from aforesaid.model.events import Health
from aforesaid.paths import Paths

if TYPE_CHECKING:
    from aforesaid.store.store import Store

TOO_OLD = HOUR  # a job that waits longer than this counts as stuck
FULL = "full"
REPORTED = "told"
KEPT = 30 * DAY
PROBE_BYTES = 64 * 1024
AROUND = MINUTE  # a transcript dates an event a little earlier than its hook


def waiting(paths: Paths) -> int:
    """How many captures are in the spool. Folders do not count: ingest does not take them."""
    return count_files(paths.spool_new)


def has_captures(paths: Paths) -> bool:
    return count_files(paths.spool_new, most=1) > 0


def count_files(folder: Path, most: int | None = None) -> int:
    """Without a list of them: there may be a million."""
    with suppress(OSError), os.scandir(folder) as entries:
        files = (entry for entry in entries if entry.is_file(follow_symlinks=False))
        return sum(1 for _ in islice(files, most))
    return 0


def not_recording(paths: Paths) -> str | None:
    """What the last worker said when it could not start, as long as none has."""
    with suppress(OSError, ValueError):
        return str(json.loads(paths.health_note.read_bytes()))
    return None


def write_problem(paths: Paths) -> str | None:
    """Why nothing can be recorded: a full disk, a quota, or a read-only folder. Writes a probe file."""
    for folder in dict.fromkeys((paths.spool_tmp, paths.data)):
        try:
            with NamedTemporaryFile(dir=folder, prefix=".probe-", suffix=".tmp") as probe:
                probe.write(bytes(PROBE_BYTES))
                probe.flush()
        except OSError as error:
            return f"nothing can be recorded: {folder} cannot be written to ({error.strerror})"
    return None


def problem(paths: Paths, health: Health, now: int, *known: str | None) -> str | None:
    """What needs attention, as one message, with the faults that are `known`."""
    parts = [write_problem(paths), *known]
    if health.skipped:
        parts.append(f"{count(health.skipped, 'job')} failed three times (`aforesaid retry`)")
    if health.oldest_pending is not None and now - health.oldest_pending > TOO_OLD:
        parts.append(f"work has been waiting for {age(health.oldest_pending, now=now)}")
    faults = "; ".join(filter(None, parts))
    message = f"aforesaid needs attention: {faults}. Run `aforesaid doctor`." if faults else ""
    if recovered := recovery_log.unseen_message(paths):
        message += f" {recovered} `aforesaid status` takes note that you know."
    return message.strip() or None


def memory_kb() -> int | None:
    """Resident memory, where the system tells it."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123 - not a real file
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024
    except OSError:
        return None


class LostEvent(NamedTuple):
    at: int  # milliseconds
    full: bool  # because the disk was full
    reported: bool


def lost_events(paths: Paths) -> list[LostEvent]:
    """Events that could not be written to the spool. Hooks append `hook seconds why`; a line `told N`: the
    first N were reported to the user. A last line without its end is still being written."""
    try:
        lines = paths.capture_failures.read_text("utf-8", "replace").split("\n")[:-1]
    except OSError:
        return []
    found: list[tuple[int, bool]] = []
    reported = 0
    for line in lines:
        match line.split():
            case [word, number] if word == REPORTED and number.isdigit():
                reported = int(number)
            case [_, seconds, why] if seconds.isdigit():
                found.append((int(seconds) * SECOND, why == FULL))
    return [LostEvent(*each, reported=place < reported) for place, each in enumerate(found)]


def count_unreported(paths: Paths) -> int:
    return sum(not each.reported for each in lost_events(paths))


def mark_reported(paths: Paths, count: int) -> None:
    """`count`: how many were reported now. Those that came meanwhile are for the next time."""
    if count:
        count += sum(each.reported for each in lost_events(paths))
        with paths.capture_failures.open("a") as file:
            file.write(f"{REPORTED} {count}\n")


def describe_lost_events(
    paths: Paths, store: "Store | None", *, unreported_only: bool = False
) -> str | None:
    """One clause for the user: how many events, when, why, and how many of them were restored. With
    `unreported_only`, None if all of them were restored."""
    found = [each for each in lost_events(paths) if not (unreported_only and each.reported)]
    if not found:
        return None
    lost, first, last = len(found), min(e.at for e in found), max(e.at for e in found)
    restored = min(lost, store.events.count_healed(first - AROUND, last + AROUND)) if store else 0
    if unreported_only and restored == lost:
        return None
    days = sorted({local(first).strftime("%Y-%m-%d"), local(last).strftime("%Y-%m-%d")})
    when = f"on {days[0]}" if len(days) == 1 else f"between {days[0]} and {days[1]}"
    full = all(each.full for each in found)
    why = "the disk was full" if full else "their files could not be written"
    described = f"{count(lost, 'event')} could not be recorded {when} because {why}"
    return f"{described}; {restored} of them restored from transcripts" if restored else described


def forget_old_losses(paths: Paths, now: int) -> None:
    """Once the last one is old."""
    found = lost_events(paths)
    if found and max(each.at for each in found) < now - KEPT:
        paths.capture_failures.unlink(missing_ok=True)
