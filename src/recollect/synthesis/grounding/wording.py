"""Words as the check compares them: identifiers, stems, and text without its spaces or its punctuation."""

import re

from recollect.english import STOP_WORDS, stem
from recollect.text import words

IDENTIFIER = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
WORD = re.compile(r"\w+")
PIECE = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]+")
SPACE = re.compile(r"\s+")
ROOT = 6
COMMON = STOP_WORDS | frozenset(
    words(
        "without within between not should may might must during after before using use used uses via new "
        "old another like make made makes get gets got set sets let lets off how whom done doing one two "
        "three file files code function functions method methods class classes module project change changes "
        "changed implementation feature support logic"
    )
)
_DEEDS = """
    suggest suggested recommend recommended follow next later todo remain remains should need needs
    still upgrade upgraded bump bumped publish deploy document mock adding
    add added adds adding create created creates creating implement implemented implements
    update updated updates fix fixed fixes write wrote written remove removed removes delete
    deleted refactor refactored rename renamed move moved replace replaced introduce introduced
    extend extended improve improved modify modified enable enabled configure configured install
    installed migrate migrated complete completed successfully integrate integrated build built
    set ensure ensured include included handle handled run ran running
"""
DEEDS = frozenset(_DEEDS.split())


def squeezed(source: str) -> str:
    """Without spaces and in one case, so that layout does not matter."""
    return SPACE.sub("", source).casefold()


def stream(source: str) -> str:
    """The words alone, in order."""
    return " ".join(WORD.findall(source.casefold()))


def stems(source: str) -> set[str]:
    """The beginnings of the words that carry meaning; `retryCount` and `retry_count` are two words."""
    pieces = (piece.lower() for piece in PIECE.findall(source))
    return {_root(p) for p in pieces if len(p) > 2 and p not in COMMON}


def _root(word: str) -> str:
    """The beginning alone: `configure` and `configuration` are one here, as a false doubt is worse than none.
    But no synonym: it is asked what was said, not what could have been meant."""
    return stem(word)[:ROOT]


def objects(source: str) -> set[str]:
    """The stems of what a sentence is about, without what was done to it."""
    pieces = (piece.lower() for piece in PIECE.findall(source))
    return {_root(p) for p in pieces if len(p) > 3 and p not in COMMON and p not in DEEDS}


def bounded(source: str, name: str) -> bool:
    """Whether the name stands there as a whole, not inside a longer one."""
    at = source.find(name) if name else -1
    while at >= 0:
        end = at + len(name)
        if not (_joins(source[at - 1 : at]) and _joins(name[0])) and not (
            _joins(source[end : end + 1]) and _joins(name[-1])
        ):
            return True
        at = source.find(name, at + 1)
    return False


def _joins(character: str) -> bool:
    return character.isascii() and (character.isalnum() or character == "_")
