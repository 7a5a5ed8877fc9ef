"""Backups and recoveries, as `doctor` and `status` look at them."""

from collections.abc import Iterator

from recollect import clock, wiring
from recollect.backups import accounts
from recollect.backups.shelf import Backup
from recollect.cli.findings import Finding
from recollect.cli.output import count
from recollect.clock import DAY, HOUR, Clock
from recollect.wiring import Home

LATE = 3  # times the age at which another one is due
TOLD_FOR = 7 * DAY  # what was mended is mentioned that long


def line(home: Home, now: Clock) -> str:
    found = wiring.shelf(home, now).all()
    if not found:
        return "none yet; `recollect backup` makes one"
    age = clock.age(found[0].manifest.made_at, now=now())
    return f"the last one is {age} old ({found[0].manifest.reason}); {len(found)} in all"


def lost(home: Home, now: Clock) -> str | None:
    """There is no database, or an empty one, though there was one to back up."""
    if not wiring.shelf(home, now).all():
        return None
    file = home.paths.database
    return f"{file} is gone or empty, and there is a backup: `recollect worker restart` takes it."


def backups() -> Iterator[Finding]:
    """Is there one, and is it young enough? They are checked by `recollect backup check`."""
    home = wiring.home()
    found = wiring.shelf(home, clock.now).all()
    if late := _late(home, found):
        yield Finding("warning", "backups", late, "recollect backup; recollect worker logs")
    else:
        yield Finding("ok", "backups", line(home, clock.now))


def recoveries() -> Iterator[Finding]:
    """What has happened to the database lately."""
    home = wiring.home()
    now = clock.now()
    lately = [each for each in accounts.all_of(home.paths) if each.at > now - TOLD_FOR]
    for account in lately:
        if account.what != accounts.BY_HAND and account.done:
            level = "ok" if account.seen else "warning"
            yield Finding(level, "recovery", accounts.sentence(account, home.paths))
    accounts.see(home.paths)
    kept = len(accounts.all_of(home.paths))
    if not lately and kept:
        folder = home.paths.damaged
        yield Finding("ok", "recovery", f"{count(kept, 'damaged database')} kept in {folder}")


def _late(home: Home, found: list[Backup]) -> str | None:
    """Nobody waits for a backup of what has not changed."""
    every = home.settings.number("backup.every_hours") * HOUR
    database = home.paths.database
    if every == 0 or not database.exists():
        return None
    written = database.stat().st_mtime_ns // 1_000_000
    last = found[0].manifest.made_at if found else None
    if last is None or written - last <= LATE * every:
        return None
    return f"the last one is {clock.age(last, now=written)} older than what is remembered"
