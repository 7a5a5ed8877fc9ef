"""Names for things: ids that people type, and keys that machines compare."""

import hashlib
import os


def digest(data: bytes | str, length: int = 16) -> str:
    """A short content hash, for keys. Not a secret."""
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    return hashlib.blake2b(raw, digest_size=32).hexdigest()[:length]


def lease_name() -> str:
    """Who holds a lease: unique per process and start, so a reused pid is not the old holder."""
    return f"{os.getpid()}-{os.urandom(4).hex()}"
