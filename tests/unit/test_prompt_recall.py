"""What a prompt is told: what it needs from the recorded history of four projects, or nothing."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from aforesaid.clock import HOUR
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


@pytest.mark.parametrize(("encoder", "least"), [("static", 0.9), ("none", 0.85)])
def test_precision_on_the_half_that_the_threshold_was_set_on(encoder: str, least: float) -> None:
    """The other half is for `make bench ARGS=recall`."""
    chosen = encoder_named(encoder)
    (memory,) = coding.shipped().half("tune").memories
    right = given = 0
    with loaded(memory, chosen) as known:
        searcher = Searcher(known.store, chosen, lambda: ASKED)
        for prompt in memory.prompts:
            found = choose(searcher, known.projects[prompt.project], prompt.text)[:MOST]
            names = {known.names["observation", each.document.source] for each, _ in found}
            given += len(names)
            right += len(names & set(prompt.relevant))
    assert given >= 8
    assert right >= least * given


def continuing(store: Store, prompt: str, *, branch: str | None, hours: int) -> str:
    """What the first prompt of a session is told, some time after another one on the branch `fix/quota`."""
    memory = Memory.of(store, "uploads")
    done = ObservationDraft(
        "bugfix", title="The quota counted deleted files", concepts=("fix/quota",)
    )
    memory.turn("why are uploads refused?", done, session="earlier")
    memory.at += hours * HOUR
    session = memory.turn(prompt, session="later")
    searcher = Searcher(store, None, lambda: memory.at)
    return recall_for_prompt(searcher, store, session, prompt, BUDGET, branch)[0]


@pytest.mark.parametrize(
    ("prompt", "branch", "hours", "is_told"),
    [
        ("can we add a test for this?", None, 1, True),
        ("can we add a test for this?", None, 30, False),
        ("can we add a test for this?", "feat/other", 1, False),
        ("review the changes in the local branch", "fix/quota", 90, True),
        ("Publish the Windows installer through winget from the release workflow", None, 1, False),
    ],
)
def test_a_first_prompt_continues_its_branch_or_the_last_session(
    store: Store, prompt: str, branch: str | None, hours: int, *, is_told: bool
) -> None:
    text = continuing(store, prompt, branch=branch, hours=hours)
    assert ("The quota counted" in text) is is_told


def test_a_later_prompt_of_a_session_continues_nothing(store: Store) -> None:
    memory = Memory.of(store, "uploads")
    memory.turn("go", ObservationDraft("bugfix", title="The quota counted deleted files"))
    memory.turn("look at the limits", session="later")
    session = memory.turn("and this?", session="later")
    searcher = Searcher(store, None, lambda: memory.at)
    assert recall_for_prompt(searcher, store, session, "and this?", BUDGET) == ("", [])


@pytest.mark.parametrize(
    ("prompt", "is_told"),
    [
        ("adress the comments on pull/190", True),
        ("is PR #190 merged?", True),
        ("adress the comments on pull/19", False),
        ("dial tcp 10.0.0.7:6543: connect: connection refused while reading quota rows", True),
        ("connection refused", False),
    ],
)
def test_pull_requests_and_copied_words_are_looked_up_in_events(
    store: Store, prompt: str, *, is_told: bool
) -> None:
    memory = Memory.of(store, "uploads")
    memory.turn("fix it", ObservationDraft("bugfix", title="The limits were wrong"), session="old")
    said = (
        "Opened https://github.com/acme/uploads/pull/190. The check said: "
        "dial tcp 10.0.0.7:6543: connect: connection refused while reading quota rows"
    )
    store.index.add_event_texts([(each, said, None) for each in store.index.unread_events(100)])
    session = memory.turn(prompt, session="later")
    session = memory.turn(prompt, session="later")
    searcher = Searcher(store, None, lambda: memory.at)
    text = recall_for_prompt(searcher, store, session, prompt, BUDGET)[0]
    assert ("The limits were wrong" in text) is is_told
