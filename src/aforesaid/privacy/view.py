"""A text as people see it: characters that are written as `\u0022`, `%3D` or `&quot;` decoded, invisible ones left out.

Only the surroundings of such characters are decoded. A place in the view is mapped back to the original, so that
exactly the right characters of the original are replaced.
"""

import html
import re
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Sequence

INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff\u00ad"
# Looked for in lower case. Those in LETTERS may hide a name itself; near the others there must be one.
LETTERS = (*(f"\\u00{n}" for n in "4567"), *INVISIBLE)
NEEDLES = tuple(r"\u002 \u003 %3d %22 %3a %7b &quot; &#3 &#x2 &apos; &gt; %0a &#10; &#xa;".split())
_ENCODED = re.compile(
    rf"\\+u00(?P<hex>[0-9a-fA-F]{{2}})|%(?P<percent>[2-7][0-9A-Fa-f])|(?P<line>%0[Aa])"
    rf"|&(?:quot|apos|amp|lt|gt|nbsp|#\d{{2,4}}|#[xX][0-9a-fA-F]{{1,4}});|[{INVISIBLE}]"
)
_BEFORE, _AFTER, _NEAR = 400, 1200, 60
_APART = "\n\0\n"  # between two stretches


def decode(text: str, markers: Iterable[int]) -> tuple[str, Sequence[int]]:
    """The view, and where each character of it begins in the original and the last one ends."""
    parts: list[str] = []
    places = array("L")
    for begin, end in _merge(markers, len(text)):
        done = begin
        for found in _ENCODED.finditer(text, begin, end):
            decoded = _decode_one(found)
            parts += (text[done : found.start()], decoded)
            places.extend(range(done, found.start() + len(decoded)))
            done = found.end()
        parts += (text[done:end], _APART)
        places.extend((*range(done, end), *[end] * len(_APART)))
    places.append(len(text))
    return "".join(parts), places


def _decode_one(found: re.Match[str]) -> str:
    if code := found["hex"] or found["percent"]:
        return chr(int(code, 16))
    if found["line"]:
        return "\n"
    return "" if found[0] in INVISIBLE else html.unescape(found[0])[:1]


def _merge(markers: Iterable[int], size: int) -> list[tuple[int, int]]:
    windows: list[tuple[int, int]] = []
    for at in sorted(markers):
        begin, end = max(0, at - _BEFORE), min(size, at + _AFTER)
        if windows and begin <= windows[-1][1]:
            windows[-1] = (windows[-1][0], end)
        else:
            windows.append((begin, end))
    return windows


def is_near(at: int, hits: list[int]) -> bool:
    """Whether a hit stands at most a few characters before, or right behind."""
    number = bisect_right(hits, at + 20)
    return number > 0 and hits[number - 1] >= at - _NEAR
