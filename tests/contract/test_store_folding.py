"""Merging, hiding, editing and what is folded by itself, in any order: nothing is stranded."""

import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from aforesaid.model.observations import Observation, ObservationDraft
from aforesaid.store.store import Store
from tests.support.arrivals import START
from tests.support.blank import laid
from tests.support.examples import examples
from tests.support.finding import assert_index_is_sound, index_of
from tests.support.memory import Memory

LATER = START + 10**9
MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None  # durable commits, but quick ones
MOST = 7
WHICH = st.integers(0, MOST - 1)


class Folding(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(dir=MEMORY))
        self.store = Store(laid(self.folder / "aforesaid.db"), writer=True)
        self.memory = Memory.of(self.store, "shop")
        self.own: list[int] = []

    def teardown(self) -> None:
        self.store.close()
        shutil.rmtree(self.folder)

    @precondition(lambda self: len(self.own) < MOST)
    @rule(repeats=st.none() | WHICH, follows=st.none() | WHICH, pinned=st.booleans())
    def write(self, repeats: int | None, follows: int | None, pinned: bool) -> None:
        title = f"Thing {len(self.own)}"
        draft = ObservationDraft("change", title, facts=("x",))
        draft = replace(draft, repeats=self._id(repeats), follows=self._id(follows))
        session = self.memory.turn("p", draft)
        (found,) = self.store.observations.for_session(session.id)
        if pinned:
            self.store.observations.pin(found.id, pinned=True)
        self.own.append(found.id)

    @precondition(lambda self: self.own)
    @rule(one=WHICH, other=WHICH)
    def merge(self, one: int, other: int) -> None:
        self.store.observations.merge(self._some(one), self._some(other), LATER)

    @precondition(lambda self: self.own)
    @rule(one=WHICH)
    def unmerge(self, one: int) -> None:
        self.store.observations.unmerge(self._some(one))

    @precondition(lambda self: self.own)
    @rule(one=WHICH)
    def forget(self, one: int) -> None:
        self.store.observations.hide(self._some(one), LATER)

    @precondition(lambda self: self.own)
    @rule(one=WHICH)
    def restore(self, one: int) -> None:
        self.store.observations.restore(self._some(one))

    @precondition(lambda self: self.own)
    @rule(one=WHICH)
    def edit(self, one: int) -> None:
        self.store.observations.edit(self._some(one), ObservationDraft("change", "Mine"))

    @precondition(lambda self: self.own)
    @rule(one=WHICH)
    def unedit(self, one: int) -> None:
        self.store.observations.undo_edit(self._some(one))

    @rule()
    def rebuild(self) -> None:
        assert_index_is_sound(self.store)
        before = self._documents()
        self.store.index.reset()
        while self.store.index.update(100):
            pass
        assert self._documents() == before

    @invariant()
    def what_is_folded_leads_to_one_that_stands(self) -> None:
        repeats = {each.id: each.draft.repeats for each in self._there()}
        for key in repeats:
            seen: set[int] = set()
            at: int | None = key
            while at is not None:
                assert at not in seen
                seen.add(at)
                at = repeats[at]

    @invariant()
    def who_was_merged_is_folded(self) -> None:
        for each in self._there():
            merged = self.store.observations.get_merge(each.id)
            assert merged is None or each.draft.repeats == merged.into

    @invariant()
    def the_index_follows(self) -> None:
        found = {row[1] for row in self._documents() if row[0] == "observation"}
        assert found == {each.id for each in self._there() if each.draft.repeats is None}
        assert self.store.index.health().waiting == 0

    def _documents(self) -> list[tuple[Any, ...]]:
        return index_of(self.store)["documents"]

    def _there(self) -> Iterator[Observation]:
        return filter(None, map(self.store.observations.get, self.own))

    def _some(self, which: int) -> int:
        return sorted(self.own)[which % len(self.own)]

    def _id(self, which: int | None) -> int | None:
        return None if which is None or not self.own else self._some(which)


TestFolding = Folding.TestCase
TestFolding.settings = settings(examples(10), stateful_step_count=20)
