"""Text that a model copied from the worked example in its instructions."""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import lru_cache

from recollect.synthesis.grounding.sources import Sources
from recollect.synthesis.grounding.wording import objects, stream

ALIKE = 0.75
LEAST_WORDS = 3
LOOKED_AT = 400
SHARED = 0.5
PROPER = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{3,}\b")  # not at the beginning of a sentence


def echoes(prose: str, examples: Sequence[str], sources: Sources) -> bool:
    """Nearly a text of the example, and most of what it is about does not occur in the turn; or it has a
    name from there that nobody said."""
    if not _names(tuple(examples)).isdisjoint(set(prose.split()) - sources.words):
        return True
    words = stream(prose).split()[:LOOKED_AT]
    if len(words) < LEAST_WORDS or not any(_alike(words, example) for example in examples):
        return False
    about = objects(prose)
    return len(about & sources.stems) < SHARED * len(about) or not about


@lru_cache(maxsize=4)
def _names(examples: tuple[str, ...]) -> frozenset[str]:
    return frozenset(name for example in examples for name in PROPER.findall(example))


def _alike(words: list[str], example: str) -> bool:
    other = stream(example).split()[:LOOKED_AT]
    if not other:
        return False
    matcher = SequenceMatcher(None, words, other, autojunk=False)
    return matcher.quick_ratio() >= ALIKE and matcher.ratio() >= ALIKE
