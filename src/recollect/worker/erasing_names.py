"""Names of memories that are erased: each is made of what the memory said, so no list may keep it."""

import re
from collections.abc import Iterable

from recollect.needle import MARK

NOBODY = re.compile(r"(?!)")


class Names:
    """A name of one word may be any word: it is known as a file's name alone, not looked for in texts."""

    def __init__(self, names: Iterable[str]) -> None:
        self._all = frozenset(names)
        told = sorted((name for name in self._all if "-" in name), key=len, reverse=True)
        any_of = "|".join(map(re.escape, told))
        self._pattern = re.compile(rf"(?<![\w-])(?:{any_of})(?![\w-])") if told else NOBODY

    def __bool__(self) -> bool:
        return bool(self._all)

    def has(self, name: str) -> bool:
        return name in self._all

    def found(self, text: str) -> bool:
        return self._pattern.search(text) is not None

    def changed(self, text: str) -> str:
        return self._pattern.sub(MARK, text)
