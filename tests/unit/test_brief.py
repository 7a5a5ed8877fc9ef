"""The brief: within its budget, pinned things first, the next step named, and unable to escape."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aforesaid.agents.claude_code.events import ClaudeCode
from aforesaid.clock import DAY
from aforesaid.model.observations import TYPES, ObservationDraft, SummaryDraft
from aforesaid.recall import brief
from aforesaid.recall.render import CLOSING
from aforesaid.store.store import Store
from aforesaid.text import tokens
from tests.support.memory import Memory

BUDGET = 1500
TEXT = (
    st.text(max_size=600) | st.text("日本語 ", max_size=600) | st.just("</aforesaid-memory>\n" * 20)
)
SOME = st.none() | TEXT
OBSERVATIONS = st.builds(
    ObservationDraft,
    type=st.sampled_from(TYPES),
    title=SOME,
    subtitle=SOME,
    facts=st.lists(TEXT, max_size=5).map(tuple),
    subagent_type=SOME,
)
SUMMARIES = st.builds(SummaryDraft, SOME, learned=SOME, completed=SOME, next_steps=SOME)
TURNS = st.lists(st.tuples(TEXT, st.lists(OBSERVATIONS, max_size=6), SUMMARIES), max_size=6)
counter = itertools.count()


def write(memory: Memory, budget: int = BUDGET) -> str:
    return brief.write(memory.store, memory.project_id, budget).text


@given(TURNS, st.integers(0, 4000) | st.just(1_000_000), st.booleans(), st.sampled_from("a日"))
def test_the_budget_the_limit_and_the_envelope_are_always_kept(
    store: Store, turns: list[tuple[str, list[ObservationDraft], SummaryDraft]], budget: int,
    pinned: bool, letter: str,
) -> None:  # fmt: skip
    memory = Memory.of(store, letter * 80 + str(next(counter)))
    for prompt, drafts, summary in turns:
        session = memory.turn(prompt, *drafts, summary=summary)
    for observation in store.observations.recent(memory.project_id, 100) if pinned else ():
        store.observations.pin(observation.id, pinned=True)
    resuming = session if turns and pinned else None
    written = brief.write(store, memory.project_id, budget, resuming=resuming)
    text = written.text
    assert tokens(text) <= budget
    assert bool(written.injections) == bool(text)
    assert sum(told.tokens for told in written.injections) <= budget
    assert len(text) <= ClaudeCode.context_limit
    assert text.count(CLOSING) == (1 if text else 0)
    assert text == "" or text.endswith(CLOSING)


def test_nothing_known_means_nothing_said(memory: Memory) -> None:
    assert write(memory) == ""
    session = memory.turn("hello")
    assert write(memory) == ""
    empty = brief.write(memory.store, memory.project_id, BUDGET, resuming=session)
    assert empty == brief.Brief("")


def test_a_budget_of_nothing_turns_it_off(memory: Memory) -> None:
    memory.turn("p", ObservationDraft("change", "Something"), summary=SummaryDraft("p"))
    assert write(memory, 0) == ""


def test_pinned_things_come_first_then_sessions_then_the_index(memory: Memory) -> None:
    memory.turn("oldest", ObservationDraft("change", "Oldest"))
    memory.turn("old", ObservationDraft("decision", "Use SQLite", facts=("Because it is there",)))
    memory.store.observations.pin(memory.newest().id, pinned=True)
    memory.turn(
        "new", ObservationDraft("change", "Latest"), summary=SummaryDraft("new", completed="It")
    )
    text = write(memory)
    order = [
        "## Pinned",
        "Use SQLite",
        "Because it is there",
        "## Last sessions",
        "Latest",
        "## Observations",
        "Oldest",
    ]
    places = [text.index(part) for part in order]
    assert places == sorted(places)


@pytest.mark.parametrize("word", ["word", "日本語"])
@pytest.mark.parametrize("pinned", [0, 40])
def test_the_next_step_of_the_newest_session_is_there_however_long_the_rest(
    memory: Memory, word: str, pinned: int
) -> None:
    long = f"{word} " * 200
    drafts = [ObservationDraft("change", f"{n} {long}", facts=(long,)) for n in range(pinned)]
    memory.turn("older", summary=SummaryDraft("older", next_steps="Something outdated"))
    for number in range(3):
        last = SummaryDraft(long, learned=long, completed=long, next_steps=f"Mend {number}")
        memory.turn(long, *drafts, summary=last, session="newest")
    for observation in memory.store.observations.recent(memory.project_id, 100):
        memory.store.observations.pin(observation.id, pinned=True)
    assert "- Next: Mend 2" in write(memory)


def test_only_the_last_step_of_a_session_is_its_next_step(memory: Memory) -> None:
    for step in ("Early step", "Late step"):
        memory.turn("p", summary=SummaryDraft("p", next_steps=step), session="one")
    text = write(memory)
    assert "Late step" in text
    assert "Early step" not in text


def test_observations_come_newest_first_and_helpers_after_the_main_agent(memory: Memory) -> None:
    memory.turn("p", ObservationDraft("change", "Oldest"))
    memory.turn("p", ObservationDraft("discovery", "By helper", subagent_type="Explore"))
    memory.turn("p", ObservationDraft("change", "Newest"))
    text = write(memory)
    assert text.index("Newest") < text.index("Oldest") < text.index("By helper")
    assert "[Explore]" in text


def test_an_index_line_names_the_id_that_show_takes(memory: Memory) -> None:
    memory.turn("p", ObservationDraft("bugfix", "Title", "Subtitle"))
    line = next(line for line in write(memory).splitlines() if line.startswith("- #"))
    assert line.startswith(f"- #{memory.newest().id} ")
    assert line.endswith("bugfix: Title — Subtitle")


def test_that_something_did_not_fit_is_said(memory: Memory) -> None:
    memory.turn("p", *(ObservationDraft("change", f"Number {n} " + "x" * 80) for n in range(50)))
    text = write(memory, 500)
    assert 0 < text.count("- #") < 50
    assert "There are more than are shown here." in text


def test_pinned_things_are_told_shorter_rather_than_not_at_all_and_once(memory: Memory) -> None:
    facts = tuple(
        f"A fact number {n} that takes a good deal of room in the brief" for n in range(7)
    )
    memory.turn("p", *(ObservationDraft("decision", f"Pinned {n}", facts=facts) for n in range(6)))
    for observation in memory.store.observations.recent(memory.project_id, 6):
        memory.store.observations.pin(observation.id, pinned=True)
    text = write(memory, 1000)
    assert [text.count(f"Pinned {n}") for n in range(6)] == [1] * 6


def test_a_long_session_does_not_hide_the_ones_before_it(memory: Memory) -> None:
    memory.turn("Old", summary=SummaryDraft("Old", next_steps="Oil the hinge"), session="old")
    for number in range(30):
        memory.turn(f"Turn {number}", summary=SummaryDraft(f"Turn {number}"), session="long")
    assert "Oil the hinge" in write(memory)


def test_other_projects_are_not_told_of(memory: Memory, store: Store) -> None:
    other = Memory.of(store, "other")
    other.turn("secret", ObservationDraft("change", "Elsewhere"), summary=SummaryDraft("secret"))
    assert write(memory) == ""


def test_a_compacted_session_hears_of_itself_first_and_once(memory: Memory) -> None:
    memory.turn("Another", summary=SummaryDraft("Another", completed="Other work"))
    own = memory.turn("Mine", summary=SummaryDraft("Mine", completed="Own work"), session="own")
    text = brief.write(memory.store, memory.project_id, BUDGET, resuming=own).text
    assert text.index("## This session before its compaction") < text.index("## Last sessions")
    assert text.count("Own work") == 1
    assert "Other work" in text


@pytest.mark.parametrize("interrupted", [True, False])
def test_a_session_is_called_interrupted_if_its_last_turn_was(
    memory: Memory, interrupted: bool
) -> None:
    memory.turn("Half done", summary=SummaryDraft("Half done", completed="A half"))
    (told,) = memory.sessions.values()
    if interrupted:
        memory.store.events.add([told.prompt("Go on")], memory.at)
    memory.store.sessions.interrupt_stale(memory.at + DAY, memory.at + DAY)
    (heading,) = [line for line in write(memory).splitlines() if line.startswith("### ")]
    assert heading.endswith("(interrupted)") is interrupted


def test_a_title_that_only_repeats_the_request_is_left_out(memory: Memory) -> None:
    memory.turn("Mend the gate", summary=SummaryDraft("Mend the gate, please", completed="It"))
    assert write(memory).count("Mend the gate") == 1


def test_it_says_what_it_tells_once_each_with_a_reason(memory: Memory) -> None:
    memory.turn("p", ObservationDraft("decision", "Pinned", facts=("A fact",)))
    memory.store.observations.pin(memory.newest().id, pinned=True)
    memory.turn("p", summary=SummaryDraft("p", completed="Done"), session="old")
    own = memory.turn("q", ObservationDraft("change", "New"), summary=SummaryDraft("q"))
    written = brief.write(memory.store, memory.project_id, BUDGET, resuming=own)
    assert [(told.kind, told.reason) for told in written.injections] == [
        ("summary", "this session did it before its compaction"),
        ("observation", "it is pinned"),
        ("summary", "of the last session"),
        ("observation", "one of the newest"),
    ]
    numbers = {told.source for told in written.injections if told.kind == "observation"}
    assert all(f"#{number} " in written.text for number in numbers)
    assert len({(told.kind, told.source) for told in written.injections}) == 4
    assert all(0 < told.tokens < tokens(written.text) for told in written.injections)


def test_a_turn_that_had_no_room_is_not_among_what_was_told(memory: Memory) -> None:
    for number in range(3):
        words = SummaryDraft(f"Turn {number}", completed=f"{number} " + "word " * 80)
        memory.turn(f"Turn {number}", summary=words, session="one")
    (short,) = brief.write(memory.store, memory.project_id, 330).injections
    assert short.source == memory.store.summaries.latest(memory.session("one").id, 1)[0].id
    assert len(brief.write(memory.store, memory.project_id, BUDGET).injections) == 3


def test_the_text_does_not_change_with_the_hour(memory: Memory) -> None:
    """A prepared copy stays true and the client's prompt cache holds: no ages, only dates."""
    memory.turn("p", ObservationDraft("change", "Title"), summary=SummaryDraft("p"))
    assert write(memory) == write(memory)
    assert "ago" not in write(memory).replace("aforesaid", "")


def test_sessions_without_change_or_finding_and_finished_older_ones_take_no_slot(
    store: Store,
) -> None:
    memory = Memory.of(store, "shop")
    memory.turn("Open", summary=SummaryDraft("Open", completed="A", next_steps="Oil the hinge"))
    memory.turn("Finished", summary=SummaryDraft("Finished", completed="B"))
    memory.turn("Newest", summary=SummaryDraft("Newest", completed="C"))
    memory.turn("A question", summary=SummaryDraft("A question"))
    text = write(memory)
    assert "Newest" in text
    assert "Oil the hinge" in text
    assert "Finished" not in text
    assert "A question" not in text


def test_decisions_come_before_other_observations(store: Store) -> None:
    memory = Memory.of(store, "shop")
    memory.turn("a", ObservationDraft("decision", "Prices are integers"))
    memory.turn("b", ObservationDraft("change", "Renamed the cart"))
    text = write(memory)
    assert text.index("## Decisions") < text.index("Prices are integers") < text.index("Renamed")


def test_a_question_without_an_answer_takes_no_line(memory: Memory) -> None:
    changed = ("Changed `tests/cart.py`",)
    memory.turn("a", ObservationDraft("discovery", "Is the cart tested?", facts=changed))
    memory.turn("b", ObservationDraft("discovery", "Is it safe?", facts=("The lock is held",)))
    text = write(memory)
    assert "Is the cart tested?" not in text
    assert "Is it safe? — The lock is held" in text


def test_a_title_that_begins_the_subtitle_is_not_repeated(memory: Memory) -> None:
    memory.turn("a", ObservationDraft("bugfix", "The lock was…", "“The lock was never released.”"))
    assert write(memory).count("The lock was") == 1
