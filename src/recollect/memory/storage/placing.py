"""One file gives way to its next version, and what somebody saves in that very moment is not lost.

The new content is on the disk first, under a hidden name. Then the old file is moved aside, whatever it is by
now, and looked at: only if it is what it was known to be does the new one get the name, and only if nobody
has taken that meanwhile. Otherwise the old file gets its name back. It stays aside until the change ends, and
is looked at again then: whoever had opened it and writes into it late gets it back, with the writing. A crash
in between leaves names that only this change uses, so `prepare` can put them in order.

What remains: a program that opened the old file before it was moved, and writes into it after that last look.
Also, without hard links (FAT), a save between the look at a free name and its use, which follow each other.
"""

import os
from contextlib import suppress
from pathlib import Path

from recollect.ids import digest
from recollect.memory.storage import files

OLD, NEW = ".old", ".new"  # what was there, and what is taken back
EDITED = ".edited-"  # what somebody saved, while somebody saved something else


class Placing:
    """For one file, under the lock. `key`: of the change. `private`: see `files.prepared`."""

    def __init__(
        self, path: Path, before: bytes | None, after: bytes | None, key: str, *, private: bool
    ) -> None:
        self.path, self.before, self.after = path, before, after
        self._private = private
        hidden = f".{path.name[:40]}.{digest(f'{key} {path.name}')}"
        self._old, self._taken = path.with_name(hidden + OLD), path.with_name(hidden + NEW)
        self._prepared: Path | None = None
        self._is_ours = False  # what stands there is what we have put there

    def prepare(self, *, again: bool) -> None:
        """`again`: after a crash, which may have been anywhere."""
        if again:
            self._recover()
        now = content(self.path)
        self._is_ours = again and now == [self.after]
        if now == [self.before]:
            self._prepare(self.after)

    def is_edited(self) -> bool:
        return content(self.path) not in ([self.before], [self.after])

    def place(self) -> bool:
        """False: somebody edits it just now, and it is as they left it."""
        now = content(self.path)
        if now == [self.after]:
            return True
        if now != [self.before] or not self._set_aside(self._old, self.before):
            return False
        self._is_ours = self.after is None or self._give(self.after)
        return self._is_ours

    def is_edited_late(self) -> bool:
        """By somebody who had opened it before it was moved aside."""
        return os.path.lexists(self._old) and content(self._old) != [self.before]

    def take_back(self) -> None:
        """What was there before, unless what we have put there was edited."""
        self._discard()
        if not self._is_ours:
            if os.path.lexists(self._old):  # an error came before the new one had the name
                _name(self._old, self.path)
            return
        if not self._set_aside(self._taken, self.after):
            return
        self._is_ours = False
        if os.path.lexists(self._old):
            _name(self._old, self.path)
        elif self.before is not None:
            self._give(self.before)
        _remove(self._taken)

    def end(self) -> bool:
        """What is aside goes. False: it was edited after all, and is back."""
        self._discard()
        late = self.is_edited_late()
        if late:
            self._is_ours = True
            self.take_back()
        if self.is_edited_late():  # both were edited
            _keep(self._old, self.path)
        _remove(self._old)
        return not late

    def _recover(self) -> None:
        for aside, known in ((self._taken, self.after), (self._old, self.before)):
            if not os.path.lexists(aside):
                continue
            if _same(aside, self.path):
                _remove(aside)
            elif not os.path.lexists(self.path) and (
                aside is self._old or content(aside) != [known]
            ):
                _name(aside, self.path)
            elif aside is self._taken:
                _keep(aside, self.path) if content(aside) != [known] else _remove(aside)

    def _set_aside(self, aside: Path, known: bytes | None) -> bool:
        if known is None:
            return not os.path.lexists(self.path)
        try:
            self.path.rename(aside)
        except FileNotFoundError:
            return False
        if content(aside) == [known]:
            return True
        if not _name(aside, self.path):
            _keep(aside, self.path)
        return False

    def _give(self, data: bytes) -> bool:
        """Its name, if that is free."""
        prepared = self._prepared or self._prepare(data)
        self._prepared = None
        if prepared is None or _name(prepared, self.path):
            return True
        _remove(prepared)
        return False

    def _prepare(self, data: bytes | None) -> Path | None:
        if data is not None:
            self._prepared = files.prepared(self.path, data, private=self._private)
        return self._prepared

    def _discard(self) -> None:
        if self._prepared:
            _remove(self._prepared)
            self._prepared = None


def content(path: Path) -> list[bytes | None]:
    """In a list; an empty one for what is no file."""
    try:
        return [files.read(path)]
    except (files.Strange, OSError):
        return []


def _name(file: Path, path: Path) -> bool:
    """False if the name is taken: unlike a rename, this takes nobody's place."""
    try:
        os.link(file, path, follow_symlinks=False)
    except FileExistsError:
        return False
    except (OSError, NotImplementedError):  # no hard links here, or no plain file
        if os.path.lexists(path):
            return False
        file.rename(path)
    else:
        _remove(file)
    return True


def _keep(aside: Path, path: Path) -> None:
    """Somebody saved it twice in a moment: the first one stays beside the last, where people see it."""
    aside.rename(path.with_name(f"{path.name[:50]}{EDITED}{os.urandom(3).hex()}"))


def _remove(path: Path) -> None:
    path.unlink(missing_ok=True)


def _same(one: Path, other: Path) -> bool:
    with suppress(OSError):
        return os.path.samestat(one.lstat(), other.lstat())
    return False
