"""A byte search over everything below a folder: as the bytes stand there, and unpacked where they are packed.

Events are packed in the database, and git packs its objects: what is in there is no less kept."""

import json
import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from pathlib import Path

SQLITE = b"SQLite format 3\0"


def traces(folder: Path, words: Iterable[str]) -> list[tuple[str, str]]:
    """Each word that is found, with the file that it is in."""
    wanted = {form: word for word in words for form in _forms(word)}
    found = set()
    for path in sorted(p for p in folder.rglob("*") if p.is_file() and not p.is_symlink()):
        for data in _contents(path):
            found |= {
                (word, str(path.relative_to(folder)))
                for form, word in wanted.items()
                if form in data
            }
    return sorted(found)


def _forms(word: str) -> set[bytes]:
    return {word.encode(), json.dumps(word)[1:-1].encode(), word.encode("utf-16-le")}


def _contents(path: Path) -> Iterator[bytes]:
    try:
        data = path.read_bytes()
    except OSError:
        return
    yield data
    with suppress(zlib.error):
        yield zlib.decompress(data)
    if data.startswith(SQLITE):
        yield from _cells(path)


def _cells(path: Path) -> Iterator[bytes]:
    """Every cell that is packed; the others were seen in the file itself, or in the log beside it."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        names = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        for (name,) in names:
            with suppress(sqlite3.Error):
                for row in database.execute(f'SELECT * FROM "{name}"'):
                    for cell in row:
                        if isinstance(cell, str):
                            yield cell.encode("utf-8", "replace")
                        elif isinstance(cell, bytes):
                            yield cell
                            with suppress(zlib.error):
                                yield zlib.decompress(cell)
