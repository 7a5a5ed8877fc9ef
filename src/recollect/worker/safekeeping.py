"""The worker's care for its database: backups when they are due, and an eye on damage.

Backups are made in a thread of their own, from a reader's snapshot, and give way to whoever waits. Damage
that shows at work is noted, and the worker ends for a new one, which looks for certain and mends it.
"""

import threading
from collections.abc import Callable
from dataclasses import replace

from recollect import log, wiring
from recollect.backups import condition, rotation, withheld
from recollect.backups.condition import Condition
from recollect.backups.shelf import Shelf
from recollect.clock import HOUR, SECOND, Clock
from recollect.errors import BackupError, NoRoom, StoreDamaged, StoreError
from recollect.paths import Paths
from recollect.settings import Settings
from recollect.store.protocol import Store
from recollect.worker.erasing_run import Ends
from recollect.worker.opening import suspect

FRESH = (
    HOUR  # so old is the first work that is backed up, and the backup that is enough before a dream
)


class _Stopped(Ends):
    """The worker is to end; a backup is not worth waiting for. An erasure ends with it, and goes on later."""


class Safekeeping:
    damaged = False  # then a new worker has to see to it

    def __init__(
        self,
        home: wiring.Home,
        store: Store,
        clock: Clock,
        give_way: Callable[[], None],
        on_damage: Callable[[], None],
    ) -> None:
        self._paths: Paths = home.paths
        self._settings: Settings = home.settings
        self._store, self._clock = store, clock
        self._give_way, self._on_damage = give_way, on_damage
        self._shelf: Shelf = wiring.shelf(home, clock)
        self._log = self._shelf.files.log_of(self._paths.database)
        self._wake, self._stopping, self._busy = (threading.Event() for _ in range(3))
        known = condition.read(self._paths)
        self._condition = Condition(cleared_at=known.cleared_at if known else 0)
        store.on_damage = self.met

    def note(self) -> None:
        """How far the log reaches, so that the next worker sees if some of it got lost."""
        reach = self._log.reach()
        if reach is None or reach == self._condition.log or self.damaged:
            return
        self._condition = replace(
            self._condition, log=reach, events=self._store.newest_event(), at=self._clock()
        )
        condition.write(self._paths, self._condition)
        withheld.note_pauses(self._paths, self._store.pauses(), self._clock())

    def closed(self) -> None:
        """The store was closed, and all is well."""
        self._log.close()
        if not self.damaged and self._paths.database.exists():
            condition.closed(self._paths, self._condition)

    def met(self, error: Exception) -> None:
        """Whatever thread has met it. Once: there will be more of it until we end."""
        if self.damaged or not suspect(self._paths, log.cause(error), self._clock()):
            return
        self.damaged = True
        log.warning("database.suspected", error=log.cause(error))
        self._on_damage()

    def wake(self) -> None:
        self._busy.set()
        self._wake.set()

    def idle(self) -> bool:
        return not self._busy.is_set()

    def stop(self) -> None:
        self._stopping.set()
        self._wake.set()

    def run(self) -> None:
        while not self._stopping.is_set():
            self._wake.wait()
            self._wake.clear()
            try:
                if not self._stopping.is_set() and self.is_due():
                    self._make(rotation.DAILY)
            except StoreDamaged as error:
                self.met(error)
            except Exception as error:
                # A file that was deleted under us, most likely. A thread that died in silence would be worse.
                log.warning("backup.skipped", reason=rotation.DAILY, error=log.cause(error))
            self._busy.clear()

    def is_due(self) -> bool:
        """By the last one's age, and only if something was written since."""
        every = self._settings.number("backup.every_hours") * HOUR
        if every == 0:
            return False
        newest = next(iter(self._shelf.all()), None)
        if newest is None:
            return self._store.newest_event() > 0 and self._clock() - self._first_start() >= FRESH
        made_at = newest.manifest.made_at
        return self._clock() - made_at >= every and self._written_at() > made_at

    def before_dream(self) -> None:
        newest = next(iter(self._shelf.all()), None)
        is_old = newest is None or self._clock() - newest.manifest.made_at >= FRESH
        if is_old and self._settings.number("backup.every_hours"):
            self._make(rotation.DREAM)

    def anew(self) -> str | None:
        """One of what there is now, to take the place of all others. Its name; None: there is no room, or
        nobody wants any. Whatever else keeps it from being made is raised, so that the others stay."""
        if not self._settings.number("backup.every_hours"):
            return None
        try:
            return self._made(rotation.DAILY)
        except NoRoom as error:
            log.warning("backup.skipped", reason=rotation.DAILY, error=log.cause(error))
            return None

    def _make(self, reason: str) -> str | None:
        """What keeps it from being made is in the log, and `doctor` says how old the last one is."""
        try:
            return self._made(reason)
        except _Stopped:
            log.action("backup.stopped", reason=reason)
        except StoreDamaged as error:
            self.met(error)
        except (BackupError, StoreError, OSError) as error:
            log.warning("backup.skipped", reason=reason, error=log.cause(error))
        return None

    def _made(self, reason: str) -> str:
        keep = self._settings.number("backup.keep")
        return self._shelf.make(reason, keep, self._between).name

    def _between(self, _done: int, _total: int) -> None:
        self._give_way()
        if self._stopping.is_set():
            raise _Stopped

    def _first_start(self) -> int:
        return self._paths.lock_file.stat().st_mtime_ns // 1_000_000

    def _written_at(self) -> int:
        # Readers touch what else belongs to it.
        written = self._shelf.files.parts(self._paths.database)[:2]
        times = [path.stat().st_mtime_ns for path in written if path.exists()]
        return max(times, default=0) // (1_000_000_000 // SECOND)
