"""One sentence told in many variants: what a small model writes when it has lost its way.

Such facts contradict each other or say nothing; which of them is right, if any, cannot be told.
"""

from collections.abc import Iterator, Sequence

from recollect.synthesis.grounding.wording import stream

LEAST = 4  # three files that were changed in the same way are no loop
ALIKE = 0.7


def variants(facts: Sequence[str]) -> Iterator[int]:
    """Places of the facts that belong to a row of variants."""
    words = [frozenset(stream(fact).split()) for fact in facts]
    for place, own in enumerate(words):
        if sum(_alike(own, other) for other in words) >= LEAST:
            yield place


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) >= ALIKE * max(len(one), len(other), 1)
