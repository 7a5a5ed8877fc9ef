"""Which backups have had their time. Pure: whoever asks gives the list."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from recollect.clock import SECOND

DAILY, DREAM, BY_HAND, MIGRATION, RESTORE = "daily", "dream", "by-hand", "migration", "restore"
REGULAR = (DAILY, DREAM)
BEFORE_KEPT = 2  # of those made before a migration, and before a restore


@dataclass(frozen=True, slots=True)
class Dated:
    name: str
    at: int
    reason: str


def surplus(backups: Sequence[Dated], keep: int) -> list[str]:
    """The newest of all stays whatever it is: it has just been checked, and may be the only good one."""
    newest_first = sorted(backups, key=lambda each: (each.at, each.name), reverse=True)
    kept = {each.name for each in newest_first[:1]}
    for reason, most in ((BY_HAND, keep), (MIGRATION, BEFORE_KEPT), (RESTORE, BEFORE_KEPT)):
        same = [each for each in newest_first if each.reason == reason]
        kept |= {each.name for each in same[:most]}
    regular = [each for each in newest_first if each.reason in REGULAR]
    kept |= {each.name for each in regular[:keep]}
    kept |= set(list(_newest_of_weeks(regular).values())[:keep])
    return [each.name for each in newest_first if each.name not in kept]


def _newest_of_weeks(newest_first: Sequence[Dated]) -> dict[tuple[int, int], str]:
    found: dict[tuple[int, int], str] = {}
    for each in newest_first:
        year, week, _ = datetime.fromtimestamp(each.at / SECOND, UTC).isocalendar()
        found.setdefault((year, week), each.name)
    return found
