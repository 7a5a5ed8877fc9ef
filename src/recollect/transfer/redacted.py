"""A source without its secrets: what others exported, or another program kept, was not redacted by us."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from recollect.model.records import MemoryRecord, Record
from recollect.privacy import payloads
from recollect.privacy.redactor import Redactor
from recollect.transfer.blocks import Block, MemoryBlock, Source

R = TypeVar("R", Record, MemoryRecord)


class _Each:
    """Records that are gone through as often as their source may be."""

    def __init__(self, records: Any, redactor: Redactor) -> None:
        self._records, self._redactor = records, redactor

    def __iter__(self) -> Iterator[Any]:
        for record in self._records:
            yield redacted(record, self._redactor)


class Redacted:
    def __init__(self, source: Source, redactor: Redactor) -> None:
        self.source, self.redactor = source, redactor
        self.done, self.total = source.done, source.total

    def blocks(self) -> Iterator[Block]:
        for block in self.source.blocks():
            beside = block.memories
            if beside is not None:
                beside = MemoryBlock(beside.project, _Each(beside.records, self.redactor))
            self.done = self.source.done
            yield replace(block, records=_Each(block.records, self.redactor), memories=beside)

    def close(self) -> None:
        self.source.close()


def redacted(value: Any, redactor: Redactor) -> Any:
    """A record, or what is in one: texts, an event's bytes, and lists of such."""
    if isinstance(value, str):
        return redactor.text(value)
    if isinstance(value, bytes):
        return payloads.redacted(redactor, value)
    if isinstance(value, tuple):
        after = tuple(redacted(each, redactor) for each in value)
        return value if all(a is b for a, b in zip(after, value, strict=True)) else after
    if is_dataclass(value) and not isinstance(value, type):
        pairs = ((field.name, getattr(value, field.name)) for field in fields(value))
        changed = {
            n: after for n, before in pairs if (after := redacted(before, redactor)) is not before
        }
        return replace(value, **changed) if changed else value
    return value
