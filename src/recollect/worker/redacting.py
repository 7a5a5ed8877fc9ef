"""Captures without their secrets, before anybody looks into them; also those that nobody can read."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from recollect.model.captures import Capture
from recollect.paths import write_private
from recollect.payload.limits import LOSSLESS
from recollect.privacy import payloads, private
from recollect.privacy.redactor import Redactor

WHOLE = LOSSLESS  # a larger file is read in pieces
PIECE, EDGE = 4 * 1024 * 1024, 64 * 1024


def redacted_capture(redactor: Redactor, capture: Capture) -> Capture:
    """The same bytes, if there is nothing to hide. The same happening reads the same, whoever tells of it."""
    body = payloads.redacted(redactor, capture.body)
    directory = redactor.text(capture.project_dir)
    if body is capture.body and directory == capture.project_dir:
        return capture
    return replace(capture, body=body, project_dir=directory)


def set_aside(redactor: Redactor, path: Path, target: Path) -> None:
    """Moves a file that cannot be read; what is secret in it stays behind. One that is too large for memory
    is gone through in pieces, and if it has private parts, nothing of it is kept."""
    if path.stat().st_size > WHOLE:
        if _in_pieces(redactor, path, target):
            path.unlink()
            return
    elif (shown := payloads.raw(redactor, data := path.read_bytes())) is not data:
        write_private(target, shown)
        path.unlink()
        return
    path.replace(target)


def has_private(path: Path) -> bool:
    """Of a payload that is cut, the tags may be what is cut away: it must be known before."""
    with path.open("rb") as file:
        return _has_private(file)


def _has_private(file: BinaryIO) -> bool:
    return any(private.has_tag(piece.decode("utf-8", "replace")) for piece in _pieces(file))


def _in_pieces(redactor: Redactor, path: Path, target: Path) -> bool:
    """Whether there was something to hide: then the target is written."""
    with path.open("rb") as file:
        if _has_private(file):
            write_private(target, private.MARK.encode())
            return True
        file.seek(0)
        changed = any(payloads.raw(redactor, piece) is not piece for piece in _pieces(file))
        if not changed:
            return False
        write_private(target, b"")
        file.seek(0)
        with target.open("r+b") as copy:
            for piece in _pieces(file):
                copy.write(payloads.raw(redactor, piece))
    return True


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    """Cut where a word ends, if one does near the end of a piece."""
    left = b""
    while data := file.read(PIECE):
        data = left + data
        at = max(data.rfind(mark, len(data) - EDGE) for mark in (b"\n", b" ", b'"', b"\\n"))
        left, data = (data[at:], data[:at]) if at > 0 else (b"", data)
        yield data
    if left:
        yield left
