"""Words as the check compares them: identifiers, stems, and text without its spaces or its punctuation."""

import re

IDENTIFIER = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
WORD = re.compile(r"\w+")
PIECE = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]+")
SPACE = re.compile(r"\s+")
STEM = 6
_COMMON = """
    without within between
    the and that this these those with from into onto for was were are has have had been being
    not but its their there then than when where which while will would should could can may
    might must also all any each both only over under after before during through using use used
    uses via per such now new old more most some other another same very just like make made
    makes get gets got set sets let lets out off own how why what who whom does did done doing
    one two three file files code function functions method methods class classes module project
    change changes changed implementation feature support logic
"""
COMMON = frozenset(_COMMON.split())
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
    return {stem(p) for p in pieces if len(p) > 2 and p not in COMMON}


def stem(word: str) -> str:
    for ending in ("ing", "ies", "ed", "es", "s", "e", "y"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word.removesuffix(ending)
            break
    return word[:STEM]


def objects(source: str) -> set[str]:
    """The stems of what a sentence is about, without what was done to it."""
    pieces = (piece.lower() for piece in PIECE.findall(source))
    return {stem(p) for p in pieces if len(p) > 3 and p not in COMMON and p not in DEEDS}


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
