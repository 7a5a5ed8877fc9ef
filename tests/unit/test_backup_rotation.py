"""Which backups go, and which never do."""

from pathlib import Path

from aforesaid.backups.repository import (
    BY_HAND,
    DAILY,
    MIGRATION,
    RESTORE,
    Backup,
    Manifest,
    find_expired,
)
from aforesaid.clock import DAY

NOW = 1_800_000_000_000


def backup(name: str, made_at: int, reason: str) -> Backup:
    return Backup(Path(name), Manifest(made_at, reason, 0, 1, {}, 0, {}))


def made(reason: str, *days_ago: float) -> list[Backup]:
    return [backup(f"{reason}-{ago}", int(NOW - ago * DAY), reason) for ago in days_ago]


def left(backups: list[Backup], keep: int = 3) -> list[str]:
    newest_first = sorted(backups, key=lambda each: each.manifest.made_at, reverse=True)
    gone = {each.name for each in find_expired(newest_first, keep)}
    return [each.name for each in backups if each.name not in gone]


def test_the_latest_days_and_one_for_each_of_the_latest_weeks_stay() -> None:
    daily = made(DAILY, *range(40))
    kept = left(daily)
    assert kept[:3] == ["daily-0", "daily-1", "daily-2"]
    assert len(kept) == 5  # this week's is among the latest days
    ages = [int(name.rpartition("-")[2]) for name in kept]
    assert 3 <= ages[3] <= 9
    assert ages[4] - ages[3] == 7


def test_those_before_a_migration_or_a_restore_are_not_pushed_out_by_days() -> None:
    older = [*made(MIGRATION, 50, 60, 70), *made(RESTORE, 51, 61, 71), *made(BY_HAND, 90)]
    kept = left([*made(DAILY, *range(10)), *older])
    assert kept[-5:] == ["migration-50", "migration-60", "restore-51", "restore-61", "by-hand-90"]


def test_the_newest_stays_whatever_it_is() -> None:
    assert left(made("strange", 0, 1), keep=1) == ["strange-0"]
    assert left([]) == []
