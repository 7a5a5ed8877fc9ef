"""A text as people see it: characters that are written as `\u0022`, `%3D` or `&quot;` decoded, invisible ones left out.

Only the surroundings of such characters are decoded. A place in the view is mapped back to the original, so that
exactly the right characters of the original are replaced.
"""

import html
import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff\u00ad"
# Looked for in lower case. Those in LETTERS may hide a name itself; near the others there must be one.
LETTERS = (*(f"\\u00{n}" for n in "4567"), *INVISIBLE)
NEEDLES = tuple(r"\u002 \u003 %3d %22 %3a %7b &quot; &#3 &#x2 &apos; &gt; %0a &#10; &#xa;".split())
_ENCODED = re.compile(
    rf"\\+u00(?P<hex>[0-9a-fA-F]{{2}})|%(?P<percent>[2-7][0-9A-Fa-f])|(?P<line>%0[Aa])"
    rf"|&(?:quot|apos|amp|lt|gt|nbsp|#\d{{2,4}}|#[xX][0-9a-fA-F]{{1,4}});|[{INVISIBLE}]"
)
_BEFORE, _AFTER, _NEAR = 400, 1200, 60


@dataclass(frozen=True, slots=True)
class View:
    """`text` at `starts[i]` is the original at `origins[i]`, and so on up to the next."""

    text: str
    starts: list[int]
    origins: list[int]
    ends: list[int]  # the original's end of each stretch

    def map_span(self, start: int, end: int) -> tuple[int, int]:
        return self._map(start), self._map(end - 1, after=True)

    def _map(self, at: int, *, after: bool = False) -> int:
        number = bisect_right(self.starts, at) - 1
        origin = self.origins[number] + at - self.starts[number]
        following = (*self.starts[number + 1 : number + 2], len(self.text))[0]
        is_single = following - self.starts[number] == 1
        if origin >= self.ends[number] or (after and is_single):
            return self.ends[number]
        return origin + after


def decode(text: str, markers: Iterable[int]) -> View:
    parts: list[str] = []
    starts: list[int] = []
    origins: list[int] = []
    ends: list[int] = []
    length = 0

    def add(part: str, begin: int, end: int) -> None:
        nonlocal length
        if part:
            parts.append(part)
            starts.append(length)
            origins.append(begin)
            ends.append(end)
            length += len(part)

    for begin, end in _merge(markers, len(text)):
        done = begin
        for found in _ENCODED.finditer(text, begin, end):
            add(text[done : found.start()], done, found.start())
            add(_decode_one(found), found.start(), found.end())
            done = found.end()
        add(text[done:end], done, end)
        add("\n\0\n", end, end)
    return View("".join(parts), starts, origins, ends)


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
