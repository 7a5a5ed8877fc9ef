"""The worker's log: one line per action, `key=value`, with ids and sizes and never content.

Names of memories, folders and tools are content. Whatever is logged passes the redactor of `redact_with`.
"""

import logging
from collections.abc import Callable
from pathlib import Path

from aforesaid.errors import AforesaidError
from aforesaid.paths import PRIVATE_FILE

LOGGER = logging.getLogger("aforesaid")
LOGGER.addHandler(logging.NullHandler())  # a command speaks in its own words, not in log lines
MAX_BYTES = 1_000_000
_redactors: list[Callable[[str], str]] = []
KEPT_FILES = 3


def action(name: str, *, level: int = logging.INFO, **values: object) -> None:
    """Write what was done. `name` is a word from a small vocabulary such as `ingest.stored`."""
    if LOGGER.isEnabledFor(level):
        pairs = " ".join(f"{key}={_quoted(value)}" for key, value in values.items())
        LOGGER.log(level, "%s %s", name, pairs)


def warning(name: str, **values: object) -> None:
    action(name, level=logging.WARNING, **values)


def cause(error: BaseException) -> str:
    """What may be logged of an error: our own messages and the system's, which name files and settings.
    Any other error may quote what was captured."""
    known = isinstance(error, AforesaidError | OSError)
    return f"{type(error).__name__}: {error}" if known else type(error).__name__


def redact_with(redact: Callable[[str], str]) -> None:
    _redactors[:] = [redact]


def to_file(path: Path) -> None:
    from logging.handlers import RotatingFileHandler  # imports sockets; only the worker needs it

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
    for redact in () if isinstance(value, int | float) else _redactors:
        text = redact(text)
    plain = text and text.isprintable() and not set(text) & set(' "=')
    return text if plain else '"' + text.encode("unicode_escape").decode().replace('"', "'") + '"'
