"""Values on their way into SQLite and back."""

import zlib

from recollect.errors import StoreDamaged
from recollect.text import sqlite_safe


def safe(text: str | None) -> str | None:
    return None if text is None else sqlite_safe(text)


def unpacked(data: bytes) -> bytes:
    """What `zlib.compress` has packed; it keeps a checksum."""
    try:
        return zlib.decompress(data)
    except (zlib.error, TypeError) as error:
        raise StoreDamaged from error


def escaped(text: str) -> str:
    """For LIKE … ESCAPE: the text itself, not a pattern."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def file_name(path: str) -> str:
    return path.rpartition("/")[2]


def matching(words: list[str], operator: str) -> str:
    """For MATCH, where raw text is a query language of its own: every term is quoted."""
    return f" {operator} ".join(f'"{word}"' for word in words)
