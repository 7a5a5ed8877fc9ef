"""The settings of a program that runs for long: where a row says `live`, the file is read again when it has
changed. The others keep the value of the start: something was built by them.

A file that cannot be used changes nothing; whoever writes it is told, and the next start refuses it.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from recollect import log, settings
from recollect.errors import ConfigError
from recollect.settings import BY_NAME, Settings, Value

Stamp = tuple[int, int, int]


def follow(file: Path, env: Mapping[str, str]) -> Settings:
    """Raises ConfigError, as `load` does, at the start alone."""
    values = _Following(file, env)
    return Settings(values, values.start.origins)


class _Following(Mapping[str, Value]):
    """To look whether the file has changed takes microseconds, so it is done at each question."""

    def __init__(self, file: Path, env: Mapping[str, str]) -> None:
        self._file, self._env = file, env
        stamp = _stamp(file)  # before it is read: a change in between is seen later
        self.start = settings.load(file, env)
        self._known: tuple[Stamp | None, Settings] = (stamp, self.start)

    def __getitem__(self, name: str) -> Value:
        found = self._now() if name in BY_NAME and BY_NAME[name].live else self.start
        return found.values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.start.values)

    def __len__(self) -> int:
        return len(self.start.values)

    def _now(self) -> Settings:
        before, found = self._known
        stamp = _stamp(self._file)
        if stamp != before:
            try:
                found = settings.load(self._file, self._env)
            except ConfigError as error:
                log.warning("settings.unusable", error=log.cause(error))
            self._known = stamp, found
        return found


def _stamp(file: Path) -> Stamp | None:
    """Each change is a new file, by us; by an editor at least another moment or size."""
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size
