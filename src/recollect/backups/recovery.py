"""A damaged database is moved aside and replaced by the best that can be had.

That is: all rows that can still be read, completed from the newest backup that passes; else that backup; else
an empty one. The transcripts since the backup are read again, and the spool holds what was not stored.
Nothing is deleted. It can be killed at any moment: the account says that it was begun, and it is begun
again. It does not go round in circles: damage that comes back within minutes is a disk that fails, and
that is said instead.
"""

from dataclasses import dataclass, replace
from pathlib import Path

from recollect import log
from recollect.backups import accounts, swapping, withheld
from recollect.backups.accounts import FILE, LOG, Account
from recollect.backups.shelf import Backup, Shelf
from recollect.errors import StoreDamaged
from recollect.paths import Paths
from recollect.store.files import Contents, DatabaseFiles, Progress, nothing

AGAIN_MINUTES = 10
DAY_MINUTES, MOST_A_DAY = 24 * 60, 3
WITHHELD = {"pauses", "erased_sessions", "events"}  # what they hold must not come from transcripts


@dataclass(slots=True)
class Recovery:
    shelf: Shelf

    @property
    def _paths(self) -> Paths:
        return self.shelf.paths

    @property
    def _files(self) -> DatabaseFiles:
        return self.shelf.files

    def finish(self, progress: Progress = nothing) -> Account | None:
        """A recovery that was begun and killed."""
        begun = next((each for each in accounts.all_of(self._paths) if not each.done), None)
        return None if begun is None else self._done(begun, progress)

    def recover(self, why: str, progress: Progress = nothing) -> Account:
        now = self.shelf.clock()
        again = accounts.lately(self._paths, now, AGAIN_MINUTES)
        if again or accounts.lately(self._paths, now, DAY_MINUTES) >= MOST_A_DAY:
            raise StoreDamaged(self._in_circles(why))
        log.warning("recovery.began", why=why)
        begun = accounts.begin(self._paths, Account(now, FILE, why))
        return self._done(begun, progress)

    def note_lost_log(self, why: str, events: int) -> Account:
        """The file itself is sound. `events`: how many are known to be gone; 0 if that is not known."""
        lost = {"events": events} if events else {}
        now = self.shelf.clock()
        told = Account(now, LOG, why, done=True, lost=lost)
        log.warning("recovery.log_lost", why=why, events=events)
        return accounts.begin(self._paths, told)

    def _done(self, account: Account, progress: Progress) -> Account:
        database, folder = self._paths.database, self._paths.damaged / account.folder
        moved = folder / database.name
        if not moved.exists() and database.exists():
            swapping.move(self._files, database, folder)
        replacement = swapping.beside(database)
        swapping.clear(self._files, replacement)
        backup = self.shelf.newest_good()
        found = self._salvaged(account, moved, backup, replacement, progress)
        if found is None and backup is not None:
            found = self._restored(account, backup, replacement)
        if found is None:
            found = replace(account, since=self._first_start(), held_back=self._withheld(None))
        passed_over = None
        if found.held_back:
            found, passed_over = replace(found, since=None), account.at
        if replacement.exists():
            self._files.ready(replacement, found.since, passed_over=passed_over)
            swapping.put(self._files, replacement, database)
        else:
            swapping.clear(self._files, database)
        finished = replace(found, done=True)
        accounts.write(self._paths, finished)
        log.warning("recovery.done", folder=account.folder, rows=sum(finished.rows.values()))
        return finished

    def _salvaged(
        self,
        account: Account,
        damaged: Path,
        backup: Backup | None,
        target: Path,
        progress: Progress,
    ) -> Account | None:
        if not damaged.exists() or damaged.stat().st_size == 0:
            return None
        older = backup.database if backup else None
        found = self._files.salvage(damaged, older, target, progress)
        if found is None:
            swapping.clear(self._files, target)
            return None
        made = replace(account, rows=self._files.check(target).rows)
        if backup is not None and any(found.filled.values()):
            made = replace(made, backup=backup.name, backup_at=backup.manifest.made_at)
        return replace(
            made,
            salvaged={table: rows for table, rows in found.read.items() if rows},
            filled={table: rows for table, rows in found.filled.items() if rows},
            lost=found.lost,
            at_least=sorted(found.at_least),
            held_back=bool(WITHHELD & found.torn) and self._withheld(backup),
            since=self._since(backup) if found.lost or found.at_least or found.orphans else None,
        )

    def _since(self, backup: Backup | None) -> int | None:
        return backup.manifest.made_at if backup else self._first_start()

    def _restored(self, account: Account, backup: Backup, target: Path) -> Account:
        held: Contents = self._files.copy(backup.database, target)
        at = backup.manifest.made_at
        found = replace(account, rows=held.rows, backup=backup.name, backup_at=at, since=at)
        return replace(found, held_back=self._withheld(backup))

    def _withheld(self, backup: Backup | None) -> bool:
        """Whether something was paused or erased that nobody knows of any more."""
        last = withheld.last(self._paths)
        return last is not None and (backup is None or last > backup.manifest.made_at)

    def _first_start(self) -> int | None:
        """When recollect began to record here: the lock is made once and never written to."""
        try:
            return int(self._paths.lock_file.stat().st_mtime_ns // 1_000_000)
        except OSError:
            return None

    def _in_circles(self, why: str) -> str:
        return (
            f"{self._paths.database} is damaged again ({why}), soon after it was mended. Its disk may be "
            "failing, or another program writes to the file. See to that, then run `recollect restore`; "
            f"events wait in the spool, and {self._paths.damaged} has what was there before."
        )
