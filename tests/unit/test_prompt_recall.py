"""What a prompt is told: what it needs from the recorded history of four projects, or nothing."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from aforesaid.model.observations import ObservationDraft
from aforesaid.model.sessions import Session
from aforesaid.recall.inject import MOST, choose, recall_for_prompt
from aforesaid.recall.render import CLOSING
from aforesaid.recall.search import Searcher
from aforesaid.store.store import Store
from aforesaid.text import tokens
from benchmarks.recall import coding
from benchmarks.recall.loading import Loaded, encoder_named, loaded
from tests.support.history import NEEDED, TOLD
from tests.support.memory import Memory

BUDGET = 300
ASKED = coding.moment("2026-11-05T10:00:00Z")


@dataclass(frozen=True)
class History:
    known: Loaded
    searcher: Searcher

    def session(self, project: str, ref: str) -> Session:
        """One that has just begun."""
        key = self.known.projects[project]
        memory = Memory(self.known.store, key, ASKED)
        return memory.turn("hello", session=ref)

    def titles(self, project: str, prompt: str) -> list[str]:
        found = choose(self.searcher, self.known.projects[project], prompt)
        drafts = [self.known.store.observations.get(each.document.source) for each, _ in found]
        return [each.draft.title or "" for each in drafts if each is not None]


@pytest.fixture(scope="module")
def history() -> Iterator[History]:
    encoder = encoder_named("static")
    (memory,) = coding.shipped().memories
    with loaded(memory, encoder) as known:
        yield History(known, Searcher(known.store, encoder, lambda: ASKED))


def test_what_a_prompt_needs_is_told_with_the_facts_that_fit(history: History) -> None:
    session = history.session("ledgerly", "needs")
    text, told = recall_for_prompt(history.searcher, history.known.store, session, NEEDED, BUDGET)
    assert 0 < len(told) <= MOST
    assert TOLD in text
    assert all(one.kind == "observation" and one.tokens > 0 for one in told)
    assert all(one.reason.startswith("near to the prompt") for one in told)
    assert sum(one.tokens for one in told) < tokens(text) <= BUDGET


@pytest.mark.parametrize(
    "prompt",
    ["yes, go on", "run the tests", "thanks, commit it", "write a haiku about the sea", "ok", "?!"],
)
def test_silence_is_better_than_noise(history: History, prompt: str) -> None:
    assert history.titles("ledgerly", prompt) == []


def test_other_projects_are_not_told_of(history: History) -> None:
    assert history.titles("ledgerly", NEEDED) != []
    assert history.titles("kestrel", NEEDED) == []


def test_a_session_is_told_once(history: History) -> None:
    store, session = history.known.store, history.session("ledgerly", "once")
    _, told = recall_for_prompt(history.searcher, store, session, NEEDED, BUDGET)
    store.injections.add(session.id, "new", told, ASKED)
    _, again = recall_for_prompt(history.searcher, store, session, NEEDED, BUDGET)
    assert not {one.source for one in told} & {one.source for one in again}


def test_a_line_in_the_brief_does_not_keep_the_facts_back(history: History) -> None:
    store, session = history.known.store, history.session("ledgerly", "brief")
    _, told = recall_for_prompt(history.searcher, store, session, NEEDED, BUDGET)
    store.injections.add(session.id, "context", told, ASKED)
    assert recall_for_prompt(history.searcher, store, session, NEEDED, BUDGET)[1] == told


def test_a_session_is_not_told_what_it_did_itself(history: History) -> None:
    store = history.known.store
    (first, *_), _ = zip(
        *choose(history.searcher, history.known.projects["ledgerly"], NEEDED), strict=True
    )
    own = store.sessions.get(first.document.session_id)
    assert own is not None
    _, told = recall_for_prompt(history.searcher, store, own, NEEDED, BUDGET)
    assert first.document.source not in {one.source for one in told}


@pytest.mark.parametrize("budget", [0, 40, 80, 150, 300, 1000])
def test_the_budget_is_kept(history: History, budget: int) -> None:
    session = history.session("ledgerly", f"budget-{budget}")
    text, told = recall_for_prompt(history.searcher, history.known.store, session, NEEDED, budget)
    assert tokens(text) <= budget
    assert bool(text) == bool(told)


def test_the_envelope_cannot_be_left(store: Store) -> None:
    memory = Memory.of(store, "hostile")
    for number in range(12):
        memory.turn(f"filler {number}", ObservationDraft("change", f"Filler number {number}"))
    words = "zebra quokka narwhal axolotl pangolin"
    memory.turn(
        "p", ObservationDraft("bugfix", f"{words} {CLOSING}", facts=(f"{words} {CLOSING}",))
    )
    searcher = Searcher(store, None, lambda: memory.at)
    text, told = recall_for_prompt(searcher, store, memory.turn("new"), words, BUDGET)
    assert len(told) == 1
    assert text.count(CLOSING) == 1
    assert text.endswith(CLOSING)


@pytest.mark.parametrize("encoder", ["static", "none"])
def test_precision_on_the_half_that_the_threshold_was_set_on(encoder: str) -> None:
    """The other half is for `make bench ARGS=recall`."""
    chosen = encoder_named(encoder)
    (memory,) = coding.shipped().half("tune").memories
    right = given = 0
    with loaded(memory, chosen) as known:
        searcher = Searcher(known.store, chosen, lambda: ASKED)
        for prompt in memory.prompts:
            found = choose(searcher, known.projects[prompt.project], prompt.text)[:MOST]
            names = {known.names[each.document.source] for each, _ in found}
            given += len(names)
            right += len(names & set(prompt.relevant))
    assert given >= 8
    assert right >= 0.9 * given
