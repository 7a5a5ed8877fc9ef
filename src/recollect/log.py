"""The worker's log: one line per action, `key=value`, with ids and sizes and never content."""

import logging
from collections.abc import Callable
from logging.handlers import RotatingFileHandler
from pathlib import Path

from recollect.errors import RecollectError
from recollect.paths import PRIVATE_FILE

LOGGER = logging.getLogger("recollect")
LOGGER.addHandler(logging.NullHandler())  # a command speaks in its own words, not in log lines
MAX_BYTES = 1_000_000
KEPT_FILES = 3


def action(name: str, *, level: int = logging.INFO, **values: object) -> None:
    """Write what was done. `name` is a word from a small vocabulary such as `ingest.stored`."""
    if LOGGER.isEnabledFor(level):
        pairs = " ".join(f"{key}={_quoted(value)}" for key, value in values.items())
        LOGGER.log(level, "%s %s", name, pairs)


def warning(name: str, **values: object) -> None:
    action(name, level=logging.WARNING, **values)


def cause(error: BaseException) -> str:
    """What may be written down of an error: our own and the system's texts name files and settings, any
    other may quote what was captured."""
    known = isinstance(error, RecollectError | OSError)
    return f"{type(error).__name__}: {error}" if known else type(error).__name__


def to_file(path: Path) -> None:
    path.touch(mode=PRIVATE_FILE)
    handler = RotatingFileHandler(path, maxBytes=MAX_BYTES, backupCount=KEPT_FILES)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    LOGGER.handlers[:] = [handler]
    LOGGER.setLevel(logging.INFO)
    LOGGER.propagate = False


def rewrite(path: Path, changing: Callable[[str], str]) -> int:
    """What was logged, line by line, also what was rotated away. How many lines changed. In place: the
    writer goes on in the same file."""
    count = 0
    for handler in LOGGER.handlers:
        handler.acquire()
    try:
        for file in sorted(path.parent.glob(f"{path.name}*")):
            before = file.read_text("utf-8", "surrogateescape").splitlines(keepends=True)
            after = [changing(line) for line in before]
            if after != before:
                count += sum(one != other for one, other in zip(before, after, strict=True))
                with file.open("r+b") as open_file:
                    open_file.truncate(0)
                    open_file.write("".join(after).encode("utf-8", "surrogateescape"))
    finally:
        for handler in LOGGER.handlers:
            handler.release()
    return count


def set_level(level: str) -> None:
    LOGGER.setLevel(level.upper())


def _quoted(value: object) -> str:
    text = str(value)
    plain = text and text.isprintable() and not set(text) & set(' "=')
    return text if plain else '"' + text.encode("unicode_escape").decode().replace('"', "'") + '"'
