"""Where a text has long words. Tokens are such; most of a text is not, and need not be searched for them."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from recollect.privacy.token_rules import RUN

BEFORE, BEHIND = 80, 16  # what a token may have around its long words
_RUN = re.compile(rf"(?<![A-Za-z0-9_-])[A-Za-z0-9_-]{{{RUN},}}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The parts of a text around its long words, and where they come from."""

    text: str
    _places: tuple[int, ...]  # of each part in the excerpt
    _origins: tuple[int, ...]  # and in the text

    @classmethod
    def of(cls, text: str) -> "Excerpt":
        parts, places, origins, size = [], [], [], 0
        for begin, end in _windows(text):
            parts.append(text[begin:end])
            places.append(size)
            origins.append(begin)
            size += end - begin + 1
        return cls("\n".join(parts), tuple(places), tuple(origins))

    def origin(self, at: int) -> int:
        part = bisect_right(self._places, at) - 1
        return self._origins[part] + at - self._places[part]


def _windows(text: str) -> Iterator[tuple[int, int]]:
    begin, end = 0, 0
    for run in _RUN.finditer(text):
        if run.start() - BEFORE > end:
            if end:
                yield begin, end
            begin = run.start() - BEFORE
        end = min(len(text), run.end() + BEHIND)
    if end:
        yield begin, end
