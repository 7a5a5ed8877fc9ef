"""Memories as a whole: what there is, and the only way to change it.

    with memories.change("remembered: prefers tabs") as change:
        change.write(memory)

A change is put together under the lock and made at the end of the block, all of it or nothing; an error in
the block leaves everything as it was. Any process may do this. What people edit by hand is respected: whoever
rewrites a memory says which version was seen, and an edited one is not overwritten.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from recollect import clock as clocks
from recollect import log
from recollect.clock import Clock
from recollect.errors import Edited, MemoryRefused
from recollect.memory.history.git_erasing import Keeping
from recollect.memory.history.history import Contents, History
from recollect.memory.storage import discretion, erasing, files, journal, locks, projects
from recollect.memory.storage.folders import PLAIN, Folder, Listing, Places, plain_files
from recollect.memory.storage.format import ENDING, INDEX_FILE, blob
from recollect.memory.storage.index import is_ours
from recollect.memory.storage.journal import Finished, Journal
from recollect.memory.storage.names import same_name, unsafe
from recollect.memory.storage.staging import Change
from recollect.model.memories import OF_PROJECT, OF_TEAM, Broken, StoredMemory
from recollect.privacy.redactor import Redactor
from recollect.text import clean, cut

__all__ = ["Change", "Memories"]

LONGEST_REASON = 10_000
FINISH_SECONDS = 2.0
NAMED = 5


class Memories:
    """Those for one directory, see `folders.places`."""

    def __init__(
        self, places: Places, clock: Clock = clocks.now, redactor: Redactor | None = None
    ) -> None:
        self.places = places
        self.clock = clock
        self.redactor = redactor or Redactor()

    def all(self) -> Listing:
        """The user's, the project's, the team's and the client's, newest first; inside a change, as they were
        before. What the team's or the client's folder has of ours, word for word, is not told twice. Secrets
        that people wrote into a file stay in the file: nobody is told them."""
        self._finish_what_was_left()
        with locks.reading(self.places.root):
            listings = [folder.list() for folder in self.places.all]
        return discretion.listing(self.redactor, _merged(self.places, listings))

    def get(self, name: str, scope: str | None = None) -> StoredMemory | None:
        """Ours first, then the team's and the client's; or the one in that scope."""
        self._finish_what_was_left()
        with locks.reading(self.places.root):
            for folder in self.places.all:
                if scope in (None, folder.scope):
                    found = folder.get(name)
                    if isinstance(found, StoredMemory):
                        return discretion.stored(self.redactor, found)
        return None

    def retired(self) -> Listing:
        """No longer told, each with the reason in `extra` (see retiring.py)."""
        self._finish_what_was_left()
        with locks.reading(self.places.root):
            listings = [folder.list() for folder in self.places.retired]
        found = Listing(
            tuple(sorted((m for each in listings for m in each.memories), key=_newest)),
            tuple(broken for each in listings for broken in each.broken),
            sum(each.left_out for each in listings),
        )
        return discretion.listing(self.redactor, found)

    @property
    def history(self) -> History:
        return History(self.places.root)

    @property
    def folders(self) -> tuple[str, ...]:
        """Of ours, below the root, as the history names them."""
        found = [each.path for each in (*self.places.own, *self.places.retired)]
        return tuple(
            each.relative_to(self.places.root).as_posix() for each in (*found, self.places.files)
        )

    @contextmanager
    def change(self, reason: str, *, forgiving: bool = False) -> Iterator[Change]:
        """Waits for its turn. Raises MemoryRefused if that does not come, and Edited at the end if files were
        left alone, unless `forgiving`: then whoever calls looks at `kept_by_hand`."""
        with locks.writing(self.places.root) as lock:
            self._prepare(lock)
            change = Change(self.places, self.clock, reason, self.redactor)
            yield change
            change.finished = self._commit(change, lock)
        if change.kept_by_hand and not forgiving:
            raise _left_alone(change.kept_by_hand)

    @contextmanager
    def trial(self) -> Iterator[Change]:
        """A change that comes to nothing: to see what would be, or to read while nobody writes."""
        self._finish_what_was_left()
        with locks.reading(self.places.root):
            yield Change(self.places, self.clock, redactor=self.redactor)

    def tidy(self, *, at_once: bool = False) -> None:
        """Makes the history small again, if that is worth it. It may take seconds: for idle moments."""
        if at_once or self.history.is_untidy(self.clock()):
            with locks.writing(self.places.root) as lock:
                History(self.places.root, lock).tidy(self.clock())
                log.action("memory.tidied")

    def erase(self, keeping: Keeping) -> list[str]:
        """For good: of all projects, and out of the history. Which files changed, below the root. Raises
        MemoryRefused where the history cannot be changed; then it may be done again."""
        root = self.places.root
        if not root.is_dir():
            return []
        with locks.writing(root) as lock:
            self._finish(lock)
            changed = erasing.erase(root, keeping)
            count = History(root, lock).erase(keeping)
        log.action("memory.erased", files=len(changed), recorded=count)
        return changed

    def look(self, keeping: Keeping) -> None:
        """Shows the asker every file and every version that `erase` would."""
        root = self.places.root
        if not root.is_dir():
            return
        with locks.writing(root) as lock:
            self._finish(lock)
            for path in erasing.every_file(root):
                keeping(_below(root, path), path.read_bytes())
            History(root, lock).look(keeping)

    def _prepare(self, lock: int) -> None:
        root = self.places.root
        self._finish(lock)
        for folder in (root, *(each.path for each in self.places.own)):
            files.sweep(folder)  # of one that died before its change was made
        project, repository = self.places.project, self.places.repository
        # Another process may have made the project's folder since we looked, under another name.
        if repository and not project.path.exists() and (found := projects.find(root, repository)):
            self.places = replace(self.places, project=Folder(found, OF_PROJECT))

    def _commit(self, change: Change, lock: int) -> Finished:
        if not (changes := change.changes()):
            return Finished((), None)
        root, project = self.places.root, self.places.project.path
        own = (project, self.places.retired[1].path, self.places.files)
        if self.places.repository and any(
            each.path.is_relative_to(o) for each in changes for o in own
        ):
            projects.note(project, self.places.repository)
        made = Journal(
            key=os.urandom(8).hex(),
            at=self.clock(),
            reason=cut(clean(change.reason).strip(), LONGEST_REASON) or "changed",
            files=changes,
            by_hand=self._by_hand(lock, [each.path for each in changes]),
        )
        journal.save(root, made)
        finished = journal.finish(root, made, lock)
        log.action("memory.changed", key=made.key, files=len(changes), entry=finished.entry)
        return finished

    def _by_hand(self, lock: int, staged: Iterable[Path]) -> Contents:
        """What people changed since the last entry, here and in the files that are about to change."""
        root = self.places.root
        elsewhere = {_below(root, path) for path in staged if path.is_relative_to(root)}
        folders = {*self.folders, *(path.rpartition("/")[0] for path in elsewhere)}
        known = History(root, lock).known(sorted(folders))
        within = tuple(f"{folder}/" for folder in self.folders)
        now: dict[str, bytes | None] = {
            path: None for path in known.names if path in elsewhere or path.startswith(within)
        }
        for path in {*self._files(), *(root / each for each in elsewhere)}:
            try:
                if (data := files.read(path)) is not None:
                    now[_below(root, path)] = data
            except (files.Strange, OSError):
                now.pop(_below(root, path), None)
        return {
            path: data
            for path, data in sorted(now.items())
            if not _is_odd(path)
            and (known.complete or path in known.names)
            and known.names.get(path) != (None if data is None else blob(data))
        }

    def _files(self) -> Iterator[Path]:
        """All that there are, of ours."""
        for folder in (*self.places.own, *self.places.retired):
            yield from map(folder.file, folder.names())
        yield from plain_files(self.places.files)

    def _finish_what_was_left(self) -> None:
        """Somebody died in the middle of a change; or is in the middle of it, and done in a moment."""
        root = self.places.root
        if locks.held(root) or not (root / journal.NAME).exists():
            return
        with suppress(MemoryRefused, OSError), locks.writing(root, FINISH_SECONDS) as lock:
            self._finish(lock)

    def _finish(self, lock: int) -> None:
        if left := journal.load(self.places.root):
            log.action("memory.change_finished", key=left.key, files=len(left.files))
            journal.finish(self.places.root, left, lock, again=True)
            for folder in {each.path.parent for each in left.files}:
                files.sweep(folder)


def _left_alone(kept: tuple[Path, ...]) -> Edited:
    there = [path for path in kept if os.path.lexists(path)] or kept
    names = ", ".join(map(str, there[:NAMED]))
    return Edited(
        f"Left as it is, because somebody edits it just now or it cannot be written: {names}. Look at it, "
        "then try again."
    )


def _below(root: Path, path: Path) -> str:
    return path.relative_to(root).as_posix()


def _is_odd(path: str) -> bool:
    """No memory can be called so, and the history need not have it."""
    return not path.startswith(f"{PLAIN}/") and bool(
        unsafe(path.rpartition("/")[2].removesuffix(ENDING))
    )


def _merged(places: Places, listings: list[Listing]) -> Listing:
    memories: list[StoredMemory] = []
    broken = list(places.problems)
    names: dict[str, StoredMemory] = {}
    own = {folder.scope for folder in places.own}
    for each in listings:
        broken += each.broken
        for stored in each.memories:
            first = names.setdefault(same_name(stored.memory.name), stored)
            if first is stored or (stored.scope not in own and not _says_the_same(first, stored)):
                memories.append(stored)
            elif stored.scope in own:
                broken.append(
                    Broken(stored.path, f"{first.path} has the same name: rename one of them")
                )
    if any(stored.scope == OF_TEAM for each in listings for stored in each.memories):
        broken += _foreign_index(places.team)
    left_out = sum(each.left_out for each in listings)
    return Listing(tuple(sorted(memories, key=_newest)), tuple(broken), left_out)


def _foreign_index(team: Folder | None) -> Iterator[Broken]:
    """It was left alone, and does not tell of the memories beside it."""
    if team is not None:
        path = team.path / INDEX_FILE
        with suppress(files.Strange, OSError):
            if not is_ours(files.read(path) or b""):
                yield Broken(path, "somebody else wrote it, so it lists no memories: rename it")


def _says_the_same(one: StoredMemory, other: StoredMemory) -> bool:
    return (one.memory.description, one.memory.body) == (
        other.memory.description,
        other.memory.body,
    )


def _newest(stored: StoredMemory) -> tuple[int, str, str]:
    return -stored.modified, stored.memory.name, stored.scope
