"""The history of all memories: what changed when and why, what it was before, and what it became.

Kept by git where the program is there, else by snapshots; each goes on where the other one stopped. Whatever
happens to the history, the memories themselves do not depend on it: a failure is logged.
"""

import heapq
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from recollect import log
from recollect.errors import MemoryRefused, NotFound
from recollect.memory.history import git_erasing
from recollect.memory.history.entries import BY_HAND, Contents, Entry, Step, unified
from recollect.memory.history.git_erasing import Keeping
from recollect.memory.history.git_history import GitHistory
from recollect.memory.history.git_program import GitFailed
from recollect.memory.history.snapshots import Names, SnapshotHistory

__all__ = ["BY_HAND", "Contents", "Entry", "History", "Step", "unified"]

LATEST = 20


@dataclass(frozen=True, slots=True)
class Known:
    """Names of contents by path; None: no such file. `complete` False: files may have been recorded where we
    cannot look, and only of those in `names` is it known whether they were edited since."""

    names: Names
    complete: bool


class Recorder(Protocol):
    """Git and snapshots alike."""

    def log(self, limit: int | None, folders: Iterable[str] = ()) -> list[Entry]: ...
    def contents(self, key: str) -> tuple[Contents, Contents] | None: ...


class History:
    """`lock`: the descriptor of the writer's lock, see `GitHistory`."""

    def __init__(self, root: Path, lock: int | None = None) -> None:
        self._root, self._lock = root, lock
        self._snapshots = SnapshotHistory(root)
        self._git = GitHistory(root, lock)

    def log(self, limit: int | None = LATEST, folders: Iterable[str] = ()) -> list[Entry]:
        """Newest first. `folders` (such as `user`): only what touched one of them."""
        chosen = tuple(folders)
        logs = []
        for each in self._readable():
            try:
                logs.append(each.log(limit, chosen))
            except GitFailed as error:
                _failed("log", error)
        return list(heapq.merge(*logs, key=lambda entry: -entry.at))[:limit]

    def diff(self, entry_id: str | None = None) -> str:
        """What an entry changed, the last one unless it is named, as a unified diff."""
        before, after = self.contents(entry_id or self._last())
        return unified(before, after)

    def contents(self, entry_id: str) -> tuple[Contents, Contents]:
        """What its files were, and what it made of them. Raises NotFound."""
        found_id = self.entry(entry_id).id
        for each in self._readable():
            try:
                if found := each.contents(found_id):
                    return found
            except (GitFailed, OSError) as error:
                _failed("read", error)
        raise NotFound(f"The change {entry_id!r} is damaged in the history: it cannot be shown.")

    def entry(self, entry_id: str) -> Entry:
        """By its id or the beginning of it. Raises NotFound."""
        found = [each for each in self.log(None) if each.id.startswith(entry_id)]
        exact = [each for each in found if each.id == entry_id]
        if len(exact or found) != 1 or not entry_id:
            what = "More than one change begins" if found else "There is no change that begins"
            unseen = f" {self.cannot_show()}" if not found and self.cannot_show() else ""
            raise NotFound(f"{what} with {entry_id!r}. See `recollect memory log`.{unseen}")
        return (exact or found)[0]

    def cannot_show(self) -> str | None:
        """What is in the history and cannot be read now, in a sentence."""
        if not self._git.exists:
            return None
        if not self._git.is_there():
            return "Earlier changes were recorded by git: install it to see them."
        try:
            self._git.log(1)
        except GitFailed:
            place = self._git.folder
            return (
                f"Git cannot read {place}, where changes were recorded: mend it, or move it away."
            )
        return None

    # What follows is for the writer.

    def known(self, folders: Sequence[str]) -> Known:
        """What each file was when it was recorded last."""
        recent = self._snapshots.known()
        if not self._git.is_there():
            return Known(recent, not self._git.exists and self._snapshots.is_complete())
        try:
            complete = self._git.exists or self._snapshots.is_complete()
            return Known({**self._git.known(folders), **recent}, complete)
        except GitFailed as error:
            _failed("known", error)
            return Known(recent, complete=False)

    def record(self, steps: Sequence[Step], before: Contents, *, again: bool = False) -> str | None:
        """The id of the last step's entry; None if it could not be made. `before`: of the files that the last
        step touches. `again`: a crash came in between, and the steps may be there already."""
        if self._git.is_there() and not (again and self._snapshots.has(steps[-1].key)):
            try:
                return self._by_git(steps, again=again)
            except (GitFailed, OSError) as error:
                _failed("git", error)
        try:
            if self._git.exists:
                # Only git knows what the files were: they are taken as they were a moment ago.
                known = self._snapshots.known()
                self._snapshots.learn({k: data for k, data in before.items() if k not in known})
            ids = self._snapshots.record(steps)
        except OSError as error:
            _failed("snapshots", error)
            return None
        return ids[-1] if ids else None

    def erase(self, keeping: Keeping) -> int:
        """Takes contents out of all that was ever recorded. How many. Raises MemoryRefused where that cannot
        be done: nobody may be told that something is gone which is not."""
        with self._readable_by_git():
            count = git_erasing.erase(self._root, keeping, self._lock)
        return count + self._snapshots.erase(keeping)

    def look(self, keeping: Keeping) -> None:
        """Shows the asker all that `erase` would."""
        with self._readable_by_git():
            git_erasing.look(self._root, keeping, self._lock)
        self._snapshots.look(keeping)

    @contextmanager
    def _readable_by_git(self) -> Iterator[None]:
        if self._git.exists and not self._git.is_there():
            raise MemoryRefused(
                "The history of the memories was recorded by git. Install git and try again."
            )
        try:
            yield
        except GitFailed as error:
            _failed("erase", error)
            raise MemoryRefused(
                f"The history of the memories could not be changed: {error}."
            ) from None

    def is_untidy(self, now: int) -> bool:
        """Whether `tidy` is worth a writer's time."""
        return self._git.is_untidy() or bool(self._snapshots.outdated(now))

    def tidy(self, now: int) -> None:
        """Git packs what it has, snapshots forget what is old."""
        if self._git.exists and self._git.is_there():
            try:
                self._git.tidy()
            except GitFailed as error:
                _failed("tidy", error)
        try:
            self._snapshots.prune(now)
        except OSError as error:
            _failed("tidy", error)

    def _by_git(self, steps: Sequence[Step], *, again: bool) -> str | None:
        """What was recorded without git in between goes in first."""
        if again and (recorded := self._git.has(steps[-1].key)):
            self._snapshots.forget_known()
            return recorded
        recent = self._snapshots.known()
        missed = {path: self._snapshots.content(name) for path, name in recent.items()}
        first = steps[0]
        catch_up = [Step(f"{first.key}-0", first.at, "recorded without git", missed, told=False)]
        ids = self._git.record([*(catch_up if missed else []), *steps])
        if recent:
            self._snapshots.forget_known()
        return ids[-1] if ids else None

    def _readable(self) -> list[Recorder]:
        git: list[Recorder] = [self._git] if self._git.exists and self._git.is_there() else []
        return [*git, self._snapshots]

    def _last(self) -> str:
        for entry in self.log(1):
            return entry.id
        raise NotFound("Nothing has been changed yet.")


def _failed(step: str, error: Exception) -> None:
    why = str(error) if isinstance(error, GitFailed) else log.cause(error)
    log.warning("memory.history_failed", step=step, why=why)
