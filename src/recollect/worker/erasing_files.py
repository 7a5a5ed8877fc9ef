"""Files beside the database that may hold what is erased: what waits, was put aside, prepared or logged.

What can be made again, or was never stored, is deleted; in all other files the text is taken out. The user's
own file of settings is left alone, and what recollect runs on: its interpreter's path, its keys, the undo
copies of `install`, what lies in `run`. The docs say so.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from recollect import log, wiring
from recollect.model.erasing import Changing, Matching
from recollect.paths import Paths, write_private
from recollect.store.protocol import Store

UTF_16 = ("utf-16-le", "utf-16-be")


@dataclass(frozen=True, slots=True)
class ErasingFiles:
    paths: Paths
    store: Store

    def with_text(self, matching: Matching, before: int) -> list[Path]:
        """Those that hold it and were written before a time (milliseconds): what comes later is new."""
        found = []
        for path in self._candidates():
            with suppress(OSError):
                late = path.stat().st_mtime_ns // 1_000_000 > before
                waits = path.is_relative_to(self.paths.spool)
                if not (waits and late) and any(map(matching, forms(path.read_bytes()))):
                    found.append(path)
        return found

    def erase(self, matching: Matching, changing: Changing, before: int) -> int:
        """How many files changed or went."""
        count = 0
        for path in self.with_text(matching, before):
            count += 1
            if self._can_go(path):
                self._drop(path)
            else:
                self._change(path, changing)
        return count + log.rewrite(self.paths.log_file, changing)

    def drop_lists(self) -> None:
        """Names of files that something is known about. Whoever finds none asks."""
        for path in _below(self.paths.file_lists):
            path.unlink(missing_ok=True)

    def drop_briefs(self) -> None:
        """Of directories that nobody knows any more."""
        for path in _below(self.paths.briefs):
            directory = path.read_bytes().partition(b"\0\n")[0].decode("utf-8", "surrogateescape")
            if self.store.project_of_dir(directory) is None:
                path.unlink(missing_ok=True)

    def _can_go(self, path: Path) -> bool:
        made = (self.paths.spool, self.paths.briefs, self.paths.file_lists)
        return any(path.is_relative_to(each) for each in made)

    def _drop(self, path: Path) -> None:
        if path.parent == self.paths.spool_bad:
            self.store.drop_quarantine(path.name)
        path.unlink(missing_ok=True)

    def _change(self, path: Path, changing: Changing) -> None:
        text = path.read_bytes().decode("utf-8", "surrogateescape")
        write_private(path, changing(text).encode("utf-8", "surrogateescape"))

    def _candidates(self) -> Iterator[Path]:
        paths = self.paths
        database = wiring.database_files().parts(paths.database)
        others = {paths.config_file, paths.erasing_file, paths.python_file, paths.redaction_key}
        logs = paths.log_file.parent
        elsewhere = (paths.memory, paths.backups, paths.damaged, logs, paths.installs)
        for root in {paths.data, paths.state, paths.config}:
            for path in _below(root):
                if path in others or path in database or path.parent == paths.run:
                    continue
                if not any(path.is_relative_to(each) for each in elsewhere):
                    yield path


def forms(data: bytes) -> list[str]:
    """As text; what has NULs may be in two bytes a character."""
    found = [data.decode("utf-8", "surrogateescape")]
    if b"\0" in data:
        found += [data[skip:].decode(name, "replace") for name in UTF_16 for skip in (0, 1)]
    return found


def _below(folder: Path) -> Iterator[Path]:
    for place, _, names in os.walk(folder):
        for name in names:
            path = Path(place, name)
            if path.is_file() and not path.is_symlink():
                yield path
