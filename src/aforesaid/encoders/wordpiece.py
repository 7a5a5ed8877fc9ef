"""BERT's uncased WordPiece: text → ids of the vocabulary that every encoder here shares.

Written by hand because the `tokenizers` package brings a download client with it. The ids are those of that
package, but a marker such as `[SEP]` in a text stays text. Linear in the length of the text, of which
`MAX_CHARACTERS` are read; no text makes it raise.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from pathlib import Path

UNKNOWN = "[UNK]"
CLASSIFY = "[CLS]"
SEPARATE = "[SEP]"
CONTINUED = "##"

MAX_CHARACTERS = 20_000
MAX_WORD = 100  # as in BERT: a longer run of letters is a hash or a blob, and unknown as a whole
CACHED_WORDS = 8_192
CACHED_CHARACTERS = 16_384

ASCII_WORDS = re.compile(r"[a-z0-9]+|[^\sa-z0-9]")
ASCII_CONTROLS = {code: None for code in (*range(32), 127) if chr(code) not in "\t\n\r"}
SPACES = ("Zs", "Zl", "Zp")
DROPPED = ("Cc", "Cf", "Co", "Cs")  # not Cn: a character newer than this Python may be a letter
CJK = (
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B81F),
    (0x2B920, 0x2CEAF),
    (0x2F800, 0x2FA1F),
)


class WordPiece:
    def __init__(self, vocabulary: Sequence[str]) -> None:
        self._ids = {token: number for number, token in enumerate(vocabulary)}
        self._longest = max(map(len, vocabulary))
        self.unknown = self._ids[UNKNOWN]
        self.classify = self._ids[CLASSIFY]
        self.separate = self._ids[SEPARATE]
        self._pieces = lru_cache(maxsize=CACHED_WORDS)(self._split)

    @classmethod
    def read(cls, path: Path) -> "WordPiece":
        # Not splitlines(): it would also split at tokens such as U+2028.
        return cls(path.read_text("utf-8").removesuffix("\n").split("\n"))

    def ids(self, text: str) -> list[int]:
        return list(chain.from_iterable(map(self._pieces, words(text))))

    def _split(self, word: str) -> tuple[int, ...]:
        """Greedy: the longest piece that fits, then the longest that continues it."""
        if len(word) > MAX_WORD:
            return (self.unknown,)
        found: list[int] = []
        start = 0
        while start < len(word):
            mark = CONTINUED if start else ""
            # No piece is longer than the longest of the vocabulary: a hostile word stays linear.
            for end in range(min(len(word), start + self._longest), start, -1):
                number = self._ids.get(mark + word[start:end])
                if number is not None:
                    found.append(number)
                    start = end
                    break
            else:
                return (self.unknown,)
        return tuple(found)


def words(text: str) -> list[str]:
    """Lower-cased words without accents; punctuation and Chinese characters stand alone."""
    head = text[:MAX_CHARACTERS]
    if head.isascii():
        return ASCII_WORDS.findall(head.translate(ASCII_CONTROLS).lower())
    return head.translate(CHARACTERS).split()


class _Characters(dict[int, str]):
    """What `str.translate` puts for each character. Filled as characters are met."""

    def __missing__(self, code: int) -> str:
        put = _spelled(chr(code))
        if len(self) < CACHED_CHARACTERS:
            self[code] = put
        return put


def _spelled(character: str) -> str:
    """Character by character, so that no run of combining marks has to be sorted."""
    category = unicodedata.category(character)
    if character in "\t\n\r" or category in SPACES:
        return " "
    if character == "\ufffd" or category in DROPPED:
        return ""
    base = [c for c in unicodedata.normalize("NFD", character) if unicodedata.category(c) != "Mn"]
    lower = "".join(base).lower()
    return f" {lower} " if len(lower) == 1 and _stands_alone(lower) else lower


def _stands_alone(character: str) -> bool:
    if character.isascii():
        return not character.isalnum()
    is_chinese = any(low <= ord(character) <= high for low, high in CJK)
    return is_chinese or unicodedata.category(character)[0] == "P"


CHARACTERS = _Characters()
