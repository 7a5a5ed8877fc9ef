"""Text as the full-text index sees it: names of code taken apart and kept whole.

`parseHttpHeader`, `parse_http_header` and `parse-http-header` all become `parse http header
parse_http_header`, a path its parts, its file name and itself, a version its numbers and itself. Runs of
scripts that are written without spaces become pairs of characters. An emoji or another symbol, which the
index would take for a space, becomes the name of its code point: `u_1f680`. Documents and queries go through
the same function, so whatever it does to one it does to the other.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from aforesaid.english import STOP_WORDS, load_list

LONGEST = 200_000  # characters that are looked at
LONGEST_NAME = 120
MOST_PARTS = 24
ASKING = STOP_WORDS | load_list("asking")  # stop words of queries
# Scripts without spaces between words: Chinese, Japanese, Thai, Lao, Burmese, Khmer.
UNSPACED = (
    "\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\U00020000-\U0003ffff"
)
# Lines, blocks and dots of Braille are drawn, by the thousand in what a terminal prints, and not said.
SYMBOL = r"[^\w\s\x00-\x7f\u2500-\u259f\u2800-\u28ff]"
CHUNK = re.compile(rf"[{UNSPACED}]+|[^\W{UNSPACED}]+(?:[-./\\:@#+]+[^\W{UNSPACED}]+)*|{SYMBOL}")
IS_UNSPACED = re.compile(f"[{UNSPACED}]")
JOINT = re.compile(r"[-./\\:@#+_]+")
PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\dA-Za-z_]+")
PATH_JOINT = re.compile(r"[/\\]+")


def index_text(text: str) -> str:
    return " ".join(_terms(text))


def query_terms(text: str) -> list[str]:
    """The terms of a query, each once, in order, without stop words."""
    return [term for term in dict.fromkeys(_terms(text)) if term not in ASKING]


def name_term(name: str) -> str:
    """A name as one term: `Parse-HTTP` and `parseHttp` are the same name."""
    return "_".join(PART.findall(_plain(name))[:MOST_PARTS]).lower()


def _terms(text: str) -> Iterator[str]:
    for chunk in CHUNK.findall(_plain(text[:LONGEST])):
        # What is longer than a name hardly comes twice, and a cache of such would have no limit.
        yield from _known(chunk) if len(chunk) <= LONGEST_NAME else _of_chunk(chunk)


def _plain(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


def _of_chunk(chunk: str) -> tuple[str, ...]:
    if IS_UNSPACED.match(chunk):
        return tuple(chunk[n : n + 2] for n in range(max(1, len(chunk) - 1)))
    if not (chunk[0].isalnum() or chunk[0] == "_"):
        return (f"u_{ord(chunk):x}",) if unicodedata.category(chunk) == "So" else ()
    if chunk.isalpha() and (chunk.islower() or chunk.istitle()):
        return (chunk.lower(),)
    if len(chunk) > LONGEST_NAME:
        return tuple(part.lower() for part in PART.findall(chunk))
    found: dict[str, None] = {}
    for segment in (*PATH_JOINT.split(chunk), chunk):
        parts = [part.lower() for part in PART.findall(segment)]
        found |= dict.fromkeys(parts)
        if 1 < len(parts) <= MOST_PARTS:
            found["_".join(parts)] = None
        # `sha256` and `utf8` are said as they are written.
        for piece in JOINT.split(segment):
            if piece.isalnum() and not piece.isalpha() and not piece.isdigit():
                found[piece.lower()] = None
    return tuple(found)


_known = lru_cache(maxsize=16_384)(_of_chunk)
