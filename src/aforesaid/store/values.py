"""Values on their way into SQLite and back.

Event bodies are stored compressed and whole. Reading many events at once cuts large bodies: thirty of 16 MB
would be a gigabyte once parsed, and no author reads more than a few pages of any. Reading one event gives all
of it.
"""

import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import cache
from io import BytesIO
from sqlite3 import Row
from typing import Any, TypeVar, cast, get_args, get_origin, get_type_hints

from aforesaid.errors import StoreDamaged
from aforesaid.model.observations import Origin
from aforesaid.payload.limits import NotJson
from aforesaid.payload.shorten import cut
from aforesaid.text import sqlite_safe

T = TypeVar("T")
MOST_TERMS = 64  # of one search
FASTEST = 1  # zlib level: a quarter of the size for a tenth of the time of level 9
LARGEST = 64 * 1024 * 1024  # more was never stored, so more is none of ours
WHOLE = 1024 * 1024  # bytes of a body that are read uncut among others
TOGETHER = 64 * 1024 * 1024  # bytes of the uncut ones of one reading
LITTLE = 64 * 1024  # what may be read uncut beyond that
LONG = "it is long, and read among others"
ADVICE = "Run `aforesaid doctor`."


def columns(value: Any) -> dict[str, Any]:
    """The fields of a draft, a record or the like by name: its columns."""
    return {name: getattr(value, name) for name, _ in _readers(cast(Any, type(value)))}


def read(kind: type[T], row: Row | Mapping[str, Any], **more: Any) -> T:
    """From the columns that are its fields. Lists come as JSON, flags as numbers, names as words."""
    given = row.keys() - more.keys()
    found = {
        name: convert(row[name]) if convert else row[name]
        for name, convert in _readers(cast(Any, kind))
        if name in given
    }
    return kind(**found, **more)


@cache
def _readers(kind: Any) -> tuple[tuple[str, Callable[[Any], Any] | None], ...]:
    """Its fields, and what makes their value of a column's; None: the value is the column's."""
    hints = get_type_hints(kind)
    names = getattr(kind, "_fields", None) or [part.name for part in fields(kind)]
    return tuple((name, _reader(name, hints[name])) for name in names)


def _reader(name: str, hint: Any) -> Callable[[Any], Any] | None:
    if hint is bool:
        return bool
    if hint == str | None:
        return None
    if name == "origins":
        return lambda names: None if names is None else tuple(map(Origin, names.split()))
    if name == "sources":
        return lambda names: tuple((names or "").split())
    if get_origin(hint) is not tuple:
        return None
    item = get_args(hint)[0]
    if item in (str, int):
        return lambda text: tuple(json.loads(text))
    make = tuple if get_origin(item) is tuple else lambda pair: item(*pair)
    return lambda text: tuple(map(make, json.loads(text)))


def bound(value: Any) -> Any:
    """For a parameter: a list or a set as JSON, for `json_each`; a text as SQLite can keep it."""
    if isinstance(value, str):
        return sqlite_safe(value)
    if isinstance(value, list | set | frozenset | dict):
        return json.dumps(_plain(value))
    return value


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, list | set | frozenset | tuple):
        return [*map(_plain, value)]
    return sqlite_safe(value) if isinstance(value, str) else value


def safe(text: str | None) -> str | None:
    return None if text is None else sqlite_safe(text)


def escaped(text: str) -> str:
    """For LIKE … ESCAPE: the text itself, not a pattern."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def file_name(path: str) -> str:
    return path.rpartition("/")[2]


def match_any(terms: Sequence[str]) -> str:
    """For MATCH, where raw text is a query language of its own: every term is quoted."""
    quoted = (term.replace('"', '""') for term in terms[:MOST_TERMS])
    return " OR ".join(f'"{term}"' for term in quoted)


def joined(names: Iterable[str] | None) -> str | None:
    """Names without spaces, as one text; None stays None."""
    return None if names is None else " ".join(names)


def pack(body: bytes) -> bytes:
    return zlib.compress(body, FASTEST)


def unpack(packed: bytes) -> bytes:
    """A few bytes can stand for gigabytes, in a file from elsewhere."""
    stream = zlib.decompressobj()
    try:
        body = stream.decompress(packed, LARGEST)
    except (zlib.error, TypeError) as error:
        raise StoreDamaged(f"A stored text cannot be read ({error}). {ADVICE}") from error
    if not stream.eof:
        raise StoreDamaged(f"A stored text has over {LARGEST:,} bytes, or no end. {ADVICE}")
    return body


def unpacked(rows: Iterable[Row]) -> Iterator[tuple[Row, bytes]]:
    """Each row with its body, the large ones cut."""
    together = 0
    for row in rows:
        body = unpack(row["body"])
        if len(body) > (WHOLE if together + len(body) <= TOGETHER else LITTLE):
            body = _shortened(body)
        together += len(body)
        yield row, body


def _shortened(body: bytes) -> bytes:
    try:
        return cut(BytesIO(body), LONG)
    except NotJson:
        return body[:LITTLE]  # it could be read once, by another parser
