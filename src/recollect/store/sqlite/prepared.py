"""Records made ready for their tables, outside the transaction: it then holds the lock for the inserts alone.

A session may have hundreds of megabytes. Beyond a few, they wait in a file that has no name.
"""

import pickle
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass, replace
from tempfile import SpooledTemporaryFile
from typing import IO, Any, TypeVar, cast

from recollect.ids import digest
from recollect.model.records import (
    BlobRecord,
    DirRecord,
    DoubtRecord,
    EventRecord,
    IdentityRecord,
    JobRecord,
    ObservationRecord,
    ProjectRecord,
    PromptRecord,
    Record,
    RequestRecord,
    SessionRecord,
    SummaryRecord,
)
from recollect.store.sqlite.bodies import pack
from recollect.text import sqlite_safe

AnyRecord = Record | IdentityRecord | DirRecord | DoubtRecord | BlobRecord
R = TypeVar("R", bound=AnyRecord)
Values = dict[str, Any]
IN_MEMORY = 8 * 1024 * 1024
PACKED = ("reply", "body")  # kept as they came: not even half a surrogate pair is lost


@dataclass(frozen=True, slots=True)
class PackedEvent:
    """`values`: of the record, with the body as the table has it."""

    values: Values
    prompt_number: int
    job: int | None


Ready = (
    ProjectRecord
    | SessionRecord
    | PromptRecord
    | JobRecord
    | PackedEvent
    | ObservationRecord
    | SummaryRecord
    | RequestRecord
)


@contextmanager
def prepared(records: Iterable[Record]) -> Iterator[Iterator[Ready]]:
    """All of them, in their order; to be read once."""
    with SpooledTemporaryFile(IN_MEMORY) as file:
        for record in records:
            pickle.dump(_ready(record), file, pickle.HIGHEST_PROTOCOL)
        file.seek(0)
        yield _back(cast(IO[bytes], file))


def _back(file: IO[bytes]) -> Iterator[Ready]:
    while True:
        try:
            yield pickle.load(file)  # our own words, from a file that nobody else can open
        except EOFError:
            return


def _ready(record: Record) -> Ready:
    safe = sanitized(record)
    if not isinstance(safe, EventRecord):
        return safe
    body = {
        "content_hash": digest(safe.body, 32),
        "size": len(safe.body),
        "body": pack(safe.body),
    }
    return PackedEvent(values_of(safe) | body, safe.prompt_number, safe.job)


def values_of(record: AnyRecord) -> Values:
    return {part.name: getattr(record, part.name) for part in fields(record)}


def sanitized(record: R) -> R:
    changed = {
        name: safe
        for name, value in values_of(record).items()
        if name not in PACKED and (safe := _safe(value)) != value
    }
    return replace(record, **changed) if changed else record


def _safe(value: Any) -> Any:
    if isinstance(value, str):
        return sqlite_safe(value)
    if isinstance(value, tuple):
        return tuple(_safe(item) for item in value)
    if is_dataclass(value):
        return sanitized(cast(DoubtRecord, value))
    return value
