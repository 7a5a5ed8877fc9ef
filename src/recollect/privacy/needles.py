"""What all rules look for, found in one pass: an automaton, because there are two hundred such words."""

import re
from collections.abc import Iterable

from ahocorasick_rs import AhoCorasick, Implementation

from recollect.privacy.rule import Places

_HALVES = re.compile("[\ud800-\udfff]")  # no text of its own, and no encoding has it


class Needles:
    def __init__(self, wanted: Iterable[str]) -> None:
        """In lower case."""
        self._wanted = tuple(dict.fromkeys(wanted))
        self._automaton = AhoCorasick(
            self._wanted, implementation=Implementation.DFA, store_patterns=False
        )

    def found(self, lowered: str) -> Places:
        try:
            hits = self._automaton.find_matches_as_indexes(lowered, overlapping=True)
        except UnicodeEncodeError:
            return self.found(_HALVES.sub("?", lowered))
        places: dict[str, list[int]] = {}
        for needle, start, _ in hits:
            places.setdefault(self._wanted[needle], []).append(start)
        return places
