"""A text that is looked for to be erased: found whatever its case and its spaces, and however it was escaped.

It refuses what is too short to mean one thing.
"""

import re
from functools import cached_property

from recollect.errors import ConfigError

SHORTEST = 4  # characters; less would be everywhere
MARK = "[erased]"  # stands where a text was
# A character beyond U+FFFF is a pair of escapes.
PAIR = r"u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})"
ESCAPE = re.compile(rf'\\(?:{PAIR}|u([0-9a-fA-F]{{4}})|(["\\/bfnrt]))')
PLAIN = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
LEVELS = 3  # JSON in JSON in JSON
RUN = re.compile(r"[a-z0-9_]+")
GAP = r"(?:\s|\\+[nrt])+"


class Needle:
    def __init__(self, text: str) -> None:
        self._words = text.split()
        self._text = _normal(text)
        if len(self._text.replace(" ", "")) < SHORTEST:
            raise ConfigError(
                f"The text to erase needs {SHORTEST} characters or more: a shorter one is everywhere."
            )
        # Its longest word is looked for first: most texts do not have it.
        self._rarest = max(RUN.findall(self._text), key=len, default="")

    def found(self, text: str) -> bool:
        if self._rarest and self._rarest not in text.casefold() and "\\u" not in text:
            return False
        for level in range(LEVELS):
            if self._text in _normal(text):
                return True
            if "\\" not in text or level == LEVELS - 1:
                break
            text = ESCAPE.sub(_unescaped, text)
        return False

    def changed(self, text: str) -> str:
        """With a mark in its place. Where it cannot be cut out, all of the text goes."""
        if not self.found(text):
            return text
        cut = self._pattern.sub(MARK, text)
        return MARK if self.found(cut) else cut

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        """As it was given, and as it is compared: folding makes two letters of some, such as ß."""
        forms = (self._words, self._text.split(" "))
        return re.compile("|".join(GAP.join(map(re.escape, each)) for each in forms), re.IGNORECASE)


def _normal(text: str) -> str:
    return " ".join(text.casefold().split())


def _unescaped(found: re.Match[str]) -> str:
    high, low, code, plain = found.groups()
    if high:
        return chr(0x10000 + ((int(high, 16) - 0xD800) << 10) + (int(low, 16) - 0xDC00))
    return chr(int(code, 16)) if code else PLAIN.get(plain, plain)
