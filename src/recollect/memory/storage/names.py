"""What a memory may be called: its name is that of its file, on anybody's machine."""

import re
import unicodedata

from recollect.ids import digest
from recollect.text import clean, sqlite_safe

LONGEST, LONGEST_BYTES = 60, 180
LONGEST_FOUND = 200  # bytes of a name that somebody else gave
# The index; and devices of another system, which somebody who shares the team's folder may use.
RESERVED = ("memory", "con", "prn", "aux", "nul")


def slug(text: str) -> str:
    """A name for what a text is about: lower case words with hyphens."""
    plain = unicodedata.normalize(
        "NFKC", unicodedata.normalize("NFKC", sqlite_safe(clean(text))).lower()
    )
    name = _cut("-".join(map(_without_accents, re.findall(r"[^\W_]+", plain))))
    return f"{name or 'memory'}-{digest(text, 8)}" if not name or name in RESERVED else name


def unsafe(name: str) -> str | None:
    """Why no memory can be called so; None if one can."""
    if not name or name.startswith(".") or any(c in name for c in "/\\\0"):
        return "it is no file name"
    if name != clean(name) or "\n" in name or "\t" in name:
        return "it has characters that cannot be seen"
    if name.lower() in RESERVED:
        return "that name is taken by the system"
    if len(name.encode()) > LONGEST_FOUND:
        return "it is too long"
    return None


def same_name(name: str) -> str:
    """Equal for names that some file systems cannot tell apart."""
    return unicodedata.normalize("NFC", name).casefold()


def _cut(name: str) -> str:
    """At a word, if that leaves enough."""
    if len(name) <= LONGEST and len(name.encode()) <= LONGEST_BYTES:
        return name
    short = name[:LONGEST].encode()[:LONGEST_BYTES].decode("utf-8", "ignore")
    at_word = short.rpartition("-")[0]
    return (at_word if len(at_word) >= len(short) // 2 else short).strip("-")


def _without_accents(word: str) -> str:
    """Latin letters lose their accents; other scripts keep what they are made of."""
    parts = unicodedata.normalize("NFKD", word)
    latin = "".join(c for c in parts if not unicodedata.combining(c))
    return latin if latin.isascii() else word
