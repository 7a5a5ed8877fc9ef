"""Reads an export, block by block. A block is handed on when all its lines are read and sound.

A block that is too large for memory waits in a temporary file; everything else is read as it is needed.
"""

import gzip
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Generic, TypeVar, cast

from recollect.errors import TransferError
from recollect.model.records import (
    MemoryRecord,
    ProjectRecord,
    Record,
    RequestRecord,
    SessionRecord,
)
from recollect.transfer.blocks import Block, MemoryBlock
from recollect.transfer.format import FORMAT, VERSION, End, Header, Line, Malformed, decoded

MAGIC = b"\x1f\x8b"  # of gzip, whatever the file is called
IN_MEMORY = 8 * 1024 * 1024
LONGEST = (
    128 * 1024 * 1024
)  # bytes of a line, unpacked: no event was ever stored with more than 64 MB
R = TypeVar("R", Record, MemoryRecord)


@dataclass(slots=True)
class _Held(Generic[R]):
    """The records of a block: the first of them in memory, the rest in a file."""

    first: list[R] = field(default_factory=list)
    size: int = 0
    rest: BinaryIO | None = None

    def add(self, record: R, data: bytes) -> None:
        self.size += len(data)
        if self.rest is None and self.size <= IN_MEMORY:
            self.first.append(record)
            return
        if self.rest is None:
            self.rest = cast(BinaryIO, tempfile.TemporaryFile())  # noqa: SIM115 - `close` is ours
        self.rest.write(data)

    def __iter__(self) -> Iterator[R]:
        yield from self.first
        if self.rest is not None:
            self.rest.seek(0)
            for data in self.rest:
                yield cast(R, decoded(data))

    def close(self) -> None:
        if self.rest is not None:
            self.rest.close()


class ExportFile:
    def __init__(self, path: Path) -> None:
        try:
            self._raw = path.open("rb")
            self.total = path.stat().st_size
        except OSError as error:
            raise TransferError(f"{path} cannot be read: {error.strerror}.") from None
        is_packed = self._raw.read(2) == MAGIC
        self._raw.seek(0)
        self._lines = cast(BinaryIO, gzip.GzipFile(fileobj=self._raw)) if is_packed else self._raw
        self._path, self._number, self.done = path, 0, 0
        self._project: ProjectRecord | None = None
        self._session: SessionRecord | None = None

    def blocks(self) -> Iterator[Block]:
        header = self._header()
        if header.version > VERSION:
            raise self._fault(
                f"it was written by recollect {header.by[:20]}, in a later format; upgrade with "
                "`pip install -U recollect`"
            )
        held, memories = _Held[Record](), _Held[MemoryRecord]()
        try:
            while True:
                line, data = self._next()
                if isinstance(line, Header):
                    raise self._fault("an export begins in the middle of another one")
                if isinstance(line, MemoryRecord):
                    self._check_owner(line)
                    memories.add(line, data)
                    continue
                if isinstance(line, End | ProjectRecord | SessionRecord):
                    if held.size or memories.size:
                        yield self._block(held, memories)
                    held.close()
                    memories.close()
                    if isinstance(line, End):
                        self._check_end(line)
                        return
                    held, memories = self._begin(line), _Held[MemoryRecord]()
                else:
                    self._check_place(line)
                held.add(line, data)
        finally:
            held.close()
            memories.close()

    def close(self) -> None:
        self._raw.close()

    def _header(self) -> Header:
        data = self._read()
        if not data:
            raise TransferError(f"{self._path} is empty.")
        with suppress(Malformed):
            header = decoded(data)
            if isinstance(header, Header) and header.format == FORMAT:
                self._number += 1
                return header
        raise self._fault("it does not begin as an export of recollect does")

    def _block(self, held: _Held[Record], memories: _Held[MemoryRecord]) -> Block:
        project = self._project
        beside = MemoryBlock(project, memories) if memories.size else None
        return Block(project.project if project else None, held, memories=beside)

    def _begin(self, line: ProjectRecord | SessionRecord) -> _Held[Record]:
        held = _Held[Record]()
        if isinstance(line, ProjectRecord):
            self._project, self._session = line, None
        else:
            if self._project is None or line.project != self._project.project:
                raise self._fault("the project of this session does not stand before it")
            self._session = line
            held.first.append(self._project)
        return held

    def _check_place(self, line: Record) -> None:
        """Only what belongs to the session, or the project, that was begun last."""
        assert not isinstance(line, ProjectRecord | SessionRecord)
        here = self._session.session if self._session else None
        if line.session != here or (here is None and not isinstance(line, RequestRecord)):
            raise self._fault("its session does not stand before it")

    def _check_owner(self, line: MemoryRecord) -> None:
        """All of a project's stand together, because they are taken together."""
        if line.project != (self._project.project if self._project else None) or self._session:
            raise self._fault(
                "a memory stands behind its project; one of the user before all projects"
            )

    def _check_end(self, line: End) -> None:
        if line.lines != self._number:
            raise self._fault(f"there should be {line.lines} lines; some were taken out or added")
        if self._read():
            raise self._fault("there is something behind its end")

    def _next(self) -> tuple[Line, bytes]:
        data = self._read()
        self._number += 1
        if not data.endswith(b"\n"):
            raise self._fault("the file is cut off here")
        try:
            return decoded(data), data
        except Malformed as error:
            raise self._fault(str(error)) from None

    def _read(self) -> bytes:
        try:
            data = self._lines.readline(LONGEST)
        except EOFError:
            data = b""
        except (OSError, zlib.error) as error:
            self._number += 1
            raise self._fault(f"it cannot be unpacked ({type(error).__name__})") from None
        self.done = min(self._raw.tell(), self.total)
        return data

    def _fault(self, why: str) -> TransferError:
        return TransferError(f"{self._path}, line {max(self._number, 1)}: {why}.")
