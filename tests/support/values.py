"""Small helpers about values."""

import hashlib
from typing import TypeVar

T = TypeVar("T")


def require(value: T | None) -> T:
    assert value is not None
    return value


def blob_id(data: bytes) -> str:
    """The id that git gives a content."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
