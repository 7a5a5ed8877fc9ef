"""What is wrong with the memory, in one sentence that names the fix. Loud, because silence loses work."""

import json
import os

from recollect.backups import accounts
from recollect.clock import HOUR, age
from recollect.english import count
from recollect.model.stored import Health
from recollect.paths import Paths

TOO_OLD = HOUR  # a job that waits longer than this is not waiting, it is stuck


def capture_failures(paths: Paths) -> int:
    """Events that a hook could not write (a full disk, a read-only spool)."""
    try:
        return failures_in(paths.capture_failures.read_bytes())
    except OSError:
        return 0


def failures_in(lines: bytes) -> int:
    """A line each, but for those that were counted and folded before."""
    whole = lines.split(b"\n")[:-1]
    return sum(
        int(line[1:]) if line.startswith(b"+") and line[1:].isdigit() else 1 for line in whole
    )


def waiting(paths: Paths) -> int:
    """As many captures as ingest would take: a stray folder must not keep the worker from being idle."""
    try:
        with os.scandir(paths.spool_new) as entries:
            return sum(entry.is_file(follow_symlinks=False) for entry in entries)
    except OSError:
        return 0


def not_recording(paths: Paths) -> str | None:
    """What the last worker said when it could not start, as long as none has."""
    try:
        return str(json.loads(paths.health_note.read_bytes()))
    except (OSError, ValueError):
        return None


def problem(
    paths: Paths,
    health: Health,
    now: int,
    fault: str | None = None,
    parked: str | None = None,
    disk: str | None = None,
) -> str | None:
    """`fault`: what a thread of the worker stumbles over. `parked`: that the model rests, and why. `disk`:
    that there is little room."""
    faults = [f"the worker is held up ({fault})"] if fault else []
    if parked:
        faults.append(parked.rstrip("."))
    if disk:
        faults.append(disk)
    if failed := capture_failures(paths):
        faults.append(f"{count(failed, 'event')} could not be written to the spool")
    if health.skipped:
        faults.append(f"{count(health.skipped, 'job')} failed three times (`recollect retry`)")
    if health.oldest_pending is not None and now - health.oldest_pending > TOO_OLD:
        faults.append(f"work has been waiting for {age(health.oldest_pending, now=now)}")
    told = (
        [f"recollect needs attention: {'; '.join(faults)}. Run `recollect doctor`."]
        if faults
        else []
    )
    if mended := accounts.unseen(paths):
        told.append(f"{mended} `recollect status` takes note that you know.")
    return " ".join(told) or None


def memory_kb() -> int | None:
    """Resident memory, where the system tells it."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123 - not a real file
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024
    except OSError:
        return None
