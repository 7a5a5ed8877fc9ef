"""Values on their way into SQLite and back."""

from collections.abc import Iterable

from recollect.model.origins import Origin
from recollect.text import sqlite_safe


def safe(text: str | None) -> str | None:
    return None if text is None else sqlite_safe(text)


def escaped(text: str) -> str:
    """For LIKE … ESCAPE: the text itself, not a pattern."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def file_name(path: str) -> str:
    return path.rpartition("/")[2]


def matching(words: list[str], operator: str) -> str:
    """For MATCH, where raw text is a query language of its own: every term is quoted."""
    return f" {operator} ".join(f'"{word}"' for word in words)


def joined(names: Iterable[str] | None) -> str | None:
    """Names without spaces, as one text; None stays None."""
    return None if names is None else sqlite_safe(" ".join(names))


def origins_of(text: str | None) -> tuple[Origin, ...] | None:
    return None if text is None else tuple(map(Origin, text.split()))
