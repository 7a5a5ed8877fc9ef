"""What observations are folded into, when everything that people have said is taken together.

Each has what it would be by itself, and merges are said one after the other. Going through them from the
beginning, whenever one is added or taken back, keeps true what changes in place could not: nothing is folded
into what is folded itself, whoever was merged is folded, and without the merges everything is as it was.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class State:
    """What a merge may change of an observation; `at` and `id` say who comes first in a story."""

    id: int
    at: int
    repeats: int | None
    follows: int | None
    pinned: bool


@dataclass(frozen=True, slots=True)
class Word:
    """Somebody's: `one` says what `into` says. `id`: the later, the larger."""

    id: int
    one: int
    into: int


@dataclass(frozen=True, slots=True)
class Folds:
    """`overruled`: words that a later one has taken the place of: two cannot stand for each other."""

    states: Mapping[int, State]
    overruled: frozenset[Word] = frozenset()

    def root(self, key: int) -> int:
        """What stands for it; itself, if it stands."""
        return _root(self.states, key)


def fold(own: Iterable[State], words: Sequence[Word]) -> Folds:
    """`own`: what each would be without any word. Words about what is not there are passed over."""
    alone = {each.id: each for each in own}
    folding = _Folding(alone)
    said: dict[int, Word] = {}
    for word in sorted(words, key=lambda each: each.id):
        if word.one not in alone or word.into not in alone:
            continue
        earlier = said.get(word.into)
        if earlier is not None and _root(folding.states, word.into) == word.one:
            left = fold(alone.values(), [each for each in words if each != earlier])
            return Folds(left.states, left.overruled | {earlier})
        folding.apply(word)
        said[word.one] = word
    return Folds(folding.states)


class _Folding:
    """With who hangs on whom, so that a word costs no more than what it changes."""

    def __init__(self, alone: Mapping[int, State]) -> None:
        self.states: dict[int, State] = {}
        self._folded: dict[int, set[int]] = defaultdict(set)
        self._followers: dict[int, set[int]] = defaultdict(set)
        for key, each in alone.items():
            root = _root(alone, key)
            self._put(replace(each, repeats=None if root == key else root))

    def apply(self, word: Word) -> None:
        root = _root(self.states, word.into)
        if root == word.one:  # they change places
            root = word.into
            self._put(replace(self.states[root], repeats=None))
        one, other = self.states[word.one], self.states[root]
        for key in sorted(self._folded[one.id]):
            self._put(replace(self.states[key], repeats=root))
        for key in sorted(self._followers[one.id] - {root}):
            each = self.states[key]
            if (each.at, each.id) > (other.at, other.id):  # no story leads back to itself
                self._put(replace(each, follows=root))
        self._put(replace(self.states[one.id], repeats=root, pinned=False))
        if one.pinned:
            self._put(replace(self.states[root], pinned=True))

    def _put(self, state: State) -> None:
        before = self.states.get(state.id, state)
        for hanging, old, new in (
            (self._folded, before.repeats, state.repeats),
            (self._followers, before.follows, state.follows),
        ):
            if old is not None:
                hanging[old].discard(state.id)
            if new is not None:
                hanging[new].add(state.id)
        self.states[state.id] = state


def _root(states: Mapping[int, State], key: int) -> int:
    seen: set[int] = set()
    while key not in seen:
        seen.add(key)
        above = states[key].repeats
        key = above if above is not None and above in states else key
    return key
