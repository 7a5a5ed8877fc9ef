"""Reads an export, block by block: a block ends with the line that begins the next one.

The store takes a block only when all its records were read, so a broken line leaves nothing of its block.
"""

import gzip
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, cast

from aforesaid.errors import TransferError
from aforesaid.model.records import (
    MemoryRecord,
    ProjectRecord,
    Record,
    RequestRecord,
    SessionRecord,
)
from aforesaid.paths import open_regular
from aforesaid.transfer.format import FORMAT, VERSION, End, Header, Line, Malformed, decoded
from aforesaid.transfer.importer import Block

MAGIC = b"\x1f\x8b"  # of gzip, whatever the file is called
LONGEST = 128 * 1024 * 1024  # bytes of an unpacked line; no event is stored with more than 64 MB


class ExportFile:
    def __init__(self, path: Path) -> None:
        try:
            self._raw = open_regular(path, follow=True)  # a pipe could keep the worker from ending
            self.total = path.stat().st_size
        except OSError as error:
            raise TransferError(f"{path} cannot be read: {error.strerror}.") from None
        is_packed = self._raw.read(2) == MAGIC
        self._raw.seek(0)
        self._lines = cast(BinaryIO, gzip.GzipFile(fileobj=self._raw)) if is_packed else self._raw
        self._path, self._number, self.done = path, 0, 0
        self._line: Line | None = None  # the last one that was read
        self._project: ProjectRecord | None = None
        self._session: SessionRecord | None = None

    def blocks(self) -> Iterator[Block]:
        self._check_header()
        self._line = self._next()
        while not isinstance(self._line, End):
            if isinstance(self._line, ProjectRecord):
                self._project, self._session = self._line, None
            memories: list[MemoryRecord] = []
            records = self._records(memories)
            yield Block(records, self._project, memories=memories)
            for _ in records:  # what was not asked for
                pass
        self._check_end(self._line)

    def _records(self, memories: list[MemoryRecord]) -> Iterator[Record]:
        """From the line that begins a block to before the line that begins the next."""
        if isinstance(self._line, SessionRecord):
            if self._project is None or self._line.project != self._project.project:
                raise self._fault("the project of this session does not stand before it")
            self._session = self._line
            yield self._project
        while True:
            line = self._line
            self._check_place(line)
            if isinstance(line, MemoryRecord):
                memories.append(line)
            else:
                yield cast(Record, line)
            self._line = self._next()
            if isinstance(self._line, End | ProjectRecord | SessionRecord):
                return

    def close(self) -> None:
        self._raw.close()

    def _check_header(self) -> None:
        data = self._read()
        if not data:
            raise TransferError(f"{self._path} is empty.")
        header = None
        with suppress(Malformed):
            header = decoded(data)
        if not isinstance(header, Header) or header.format != FORMAT:
            raise self._fault("it does not begin as an export of aforesaid does")
        self._number += 1
        if header.version > VERSION:
            raise self._fault(
                f"it was written by aforesaid {header.by[:20]}, in a later format; upgrade with "
                "`git pull` and `make setup` in your checkout"
            )

    def _check_place(self, line: Line | None) -> None:
        """Only what belongs to the session, or the project, that was begun last."""
        session = self._session.session if self._session else None
        project = self._project.project if self._project else None
        match line:
            case Header():
                raise self._fault("an export begins in the middle of another one")
            case MemoryRecord() if session is not None or line.project != project:
                order = "a memory stands behind its project; one of the user before all projects"
                raise self._fault(order)
            case ProjectRecord() | SessionRecord() | MemoryRecord() | End() | None:
                pass
            case _ if line.session != session or not (session or isinstance(line, RequestRecord)):
                raise self._fault("its session does not stand before it")

    def _check_end(self, line: End) -> None:
        if line.lines != self._number:
            raise self._fault(f"there should be {line.lines} lines; some were taken out or added")
        if self._read():
            raise self._fault("there is something behind its end")

    def _next(self) -> Line:
        data = self._read()
        self._number += 1
        if not data.endswith(b"\n"):
            raise self._fault("the file is cut off here")
        try:
            return decoded(data)
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
