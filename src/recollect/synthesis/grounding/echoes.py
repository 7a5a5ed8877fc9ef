"""Text that a model copied from the worked example in its instructions."""

from collections.abc import Sequence
from difflib import SequenceMatcher

from recollect.synthesis.grounding.sources import Sources
from recollect.synthesis.grounding.wording import objects, stream

ALIKE = 0.75
LEAST_WORDS = 3
LOOKED_AT = 400
SHARED = 0.5


def echoes(prose: str, examples: Sequence[str], sources: Sources) -> bool:
    """Nearly a text of the example, and most of what it is about does not occur in the turn."""
    words = stream(prose).split()[:LOOKED_AT]
    if len(words) < LEAST_WORDS or not any(_alike(words, example) for example in examples):
        return False
    about = objects(prose)
    return len(about & sources.stems) < SHARED * len(about) or not about


def _alike(words: list[str], example: str) -> bool:
    other = stream(example).split()[:LOOKED_AT]
    if not other:
        return False
    matcher = SequenceMatcher(None, words, other, autojunk=False)
    return matcher.quick_ratio() >= ALIKE and matcher.ratio() >= ALIKE
