"""What stands in a secret's place: `[secret:github:1f3a]`. The same secret has the same mark, so that one
still sees that two are equal; the hash is keyed, so that nobody can try values against it.

Two in 65,536 share a mark by chance: it says "equal, most likely", and no more.
"""

import os
import re
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from pathlib import Path

from aforesaid.paths import private_dir, write_private

SIZE = 32
OPENING = "[secret:"
MARK = re.compile(r"\[secret:[a-z0-9-]{2,20}(?::[0-9a-f]{4})?\]")
Mark = Callable[[str, str], str]


def plain(kind: str, _: str) -> str:
    """Where there is no home, and so no key."""
    return f"[secret:{kind}]"


def keyed(read_key: Callable[[], bytes]) -> Mark:
    """The key is read when the first secret is found."""
    key = cache(read_key)

    def mark(kind: str, value: str) -> str:
        raw = value.encode("utf-8", "surrogatepass")
        return f"[secret:{kind}:{blake2b(raw, key=key(), digest_size=2).hexdigest()}]"

    return mark


def key_in(file: Path) -> bytes:
    """The key, made if there is none. Two who make it at once end up with the same one."""
    try:
        found = file.read_bytes()
    except FileNotFoundError:
        found = b""
    if len(found) == SIZE:
        return found
    private_dir(file.parent)
    fresh = file.with_name(f".{file.name}.{os.urandom(6).hex()}")
    write_private(fresh, os.urandom(SIZE))
    try:
        if found:  # damaged: later marks differ from earlier ones, and that is all
            fresh.replace(file)
        else:
            with suppress(FileExistsError):
                os.link(fresh, file)
    finally:
        fresh.unlink(missing_ok=True)
    return file.read_bytes()
