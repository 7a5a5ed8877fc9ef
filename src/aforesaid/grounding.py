"""Grounding: whether a text supports a statement, judged by words alone.

Numbers and names have to occur as they are; of the other words, a set share. Nothing here understands a
sentence, so a statement that cannot be found counts as unsupported.
"""

from functools import cached_property
from itertools import chain

from aforesaid import similarity
from aforesaid.model.prose import split
from aforesaid.similarity import Statement, has_token, parse_sentences

KEPT_WORDS = 0.75  # of a sentence, in a text that keeps it
NEW_WORDS = 0.5  # of a sentence that is a new fact
LEAST_WORDS = 2  # of a sentence that says something
ROOT = 6  # letters: `deploys` and `deployments` are one word here


class KnownText:
    def __init__(self, *parts: str) -> None:
        self.sentences = tuple(chain.from_iterable(map(parse_sentences, parts)))
        self._plain = similarity.plain_text(similarity.without_markup("\n".join(parts)))
        self._words = frozenset(word for each in self.sentences for word in each.words)
        self._roots = frozenset(word[:ROOT] for word in self._words if len(word) >= ROOT)

    @cached_property
    def pieces(self) -> tuple[Statement, ...]:
        clauses = (part for each in self.sentences for part in split(each.text, similarity.CLAUSE))
        return (*self.sentences, *map(similarity.parse_sentence, filter(None, clauses)))

    def has(self, hard: str) -> bool:
        return has_token(hard, self._plain)

    def knows(self, word: str) -> bool:
        return word in self._words or (len(word) >= ROOT and word[:ROOT] in self._roots)

    def keeps(self, one: Statement) -> bool:
        """Whether the text supports the sentence, perhaps in other words or in several sentences."""
        known = sum(map(self.knows, one.about))
        if known < KEPT_WORDS * len(one.about) or not all(map(self.has, one.hard)):
            return False
        # The first word of a sentence may be a name.
        first = next((word for word in one.order if word in one.words), "")
        if first and first not in similarity.WEAK and not self.knows(first):
            return False
        return not self._contradicts(one)

    def _contradicts(self, one: Statement) -> bool:
        """Whether all that is about the same subject says the opposite."""
        near = [(similarity.word_overlap(one.about, each.about), each) for each in self.pieces]
        best = max((score for score, _ in near), default=0.0)
        nearest = (each for score, each in near if score and score >= similarity.SUBJECT * best)
        return best > 0 and all(similarity.contradicts(one, each) for each in nearest)


def lost_sentences(text: str, kept: KnownText) -> tuple[Statement, ...]:
    telling = (
        each for each in parse_sentences(text) if each.hard or len(each.words) >= LEAST_WORDS
    )
    return tuple(each for each in telling if not kept.keeps(each))


def invented_facts(text: str, sources: KnownText) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for each in parse_sentences(text):
        strange = [hard for hard in each.hard if not sources.has(hard)]
        found |= dict.fromkeys(strange)
        new = [word for word in each.telling if not sources.knows(word)]
        if new and not strange and len(new) >= NEW_WORDS * len(each.telling):
            found[each.text] = None
    return tuple(found)
