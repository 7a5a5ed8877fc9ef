"""Any turn at all: the rules never fail, and keep to the shape that observations have."""

import re

from hypothesis import given
from hypothesis import strategies as st

from aforesaid.model.events import (
    CommandRun,
    Event,
    Failure,
    FileChanged,
    FileRead,
    Hunk,
    OtherTool,
    PromptSubmitted,
    Subagent,
    SubagentEnded,
    ToolUsed,
)
from aforesaid.model.observations import TYPES, Turn, TurnEvent
from aforesaid.providers.rules import Rules
from tests.support.examples import examples
from tests.support.observed import observe, told

FRAGMENTS = (
    "fix|add|let's use|pytest|`x`|error:|FAILED|1 failed|make|git|('|[|…|漢字|\x1b[0m|\n|\0|#|-|?"
)
WORDS = st.sampled_from(sorted({*FRAGMENTS.split("|"), "|", "&&"}))
TEXT = st.one_of(st.text(max_size=60), st.lists(WORDS, max_size=25).map(" ".join))
PATHS = st.one_of(
    TEXT, st.sampled_from(["/home/dev/shop/a.py", "b.md", "c.yml", "d.json", "/x/e.ts", ""])
)
COMMANDS = st.one_of(
    TEXT,
    st.sampled_from(
        ["pytest -q", "pytest -k a | tail", "make", "git commit -m x", "git checkout -- a.py"]
    ),
)
HUNKS = st.builds(
    Hunk,
    st.integers(-1, 9),
    st.integers(-1, 9),
    st.lists(st.one_of(TEXT, TEXT.map("+def f():".__add__), TEXT.map("-".__add__)), max_size=6).map(
        tuple
    ),
)
ACTIONS = st.one_of(
    st.builds(
        FileChanged,
        PATHS,
        st.booleans(),
        st.lists(HUNKS, max_size=3).map(tuple),
        st.none() | TEXT,
        st.none() | TEXT,
    ),
    st.builds(FileRead, PATHS, st.integers(), st.integers(), st.integers(), TEXT),
    st.builds(CommandRun, COMMANDS, st.none() | TEXT, TEXT, TEXT, st.booleans()),
    st.builds(OtherTool, TEXT, TEXT),
)
FAILURES = st.none() | st.builds(Failure, TEXT, st.none() | st.integers(0, 255), st.booleans())
TOOLS = st.sampled_from(["Edit", "Bash", "Task", "WebSearch", "AskUserQuestion", "mcp__a__b", ""])
HAPPENINGS = st.one_of(
    st.builds(ToolUsed, TOOLS, TEXT, ACTIONS, FAILURES, st.none() | st.integers()),
    st.builds(SubagentEnded, TEXT),
    st.builds(PromptSubmitted, TEXT, st.booleans()),
)
AGENTS = st.none() | st.builds(Subagent, st.sampled_from("ab"), st.sampled_from(["Explore", ""]))
EVENTS = st.lists(
    st.builds(Event, TEXT, TEXT, st.none(), HAPPENINGS, st.none(), AGENTS, PATHS, st.none()).map(
        lambda event: TurnEvent(1, 1, event)
    ),
    max_size=12,
).map(tuple)
TURNS = st.builds(
    Turn,
    project=TEXT,
    root=st.sampled_from(["/home/dev/shop", "", "/", "C:\\x"]),
    session=TEXT,
    prompt_number=st.integers(1, 999),
    prompt=st.none() | TEXT,
    at=st.integers(),
    events=EVENTS,
    before=EVENTS,
    recorded=st.lists(TEXT, max_size=2).map(tuple),
    last_message=st.none() | TEXT,
    interrupted=st.booleans(),
    messages=st.lists(TEXT, max_size=3).map(tuple),
)


@examples(60)
@given(TURNS)
def test_any_turn_gives_observations_of_the_right_shape(made: Turn) -> None:
    for draft in observe(made):
        assert draft.type in TYPES
        assert 0 < len(draft.title or "") <= 110
        assert len(draft.subtitle or "") <= 240
        assert len(draft.facts) <= 8
        assert all(0 < len(fact) <= 320 for fact in draft.facts)
        assert len(set(draft.facts)) == len(draft.facts)
        assert len(draft.concepts) <= 5
        assert not set(draft.concepts) & set(TYPES)
        assert not re.search(r"[\x00-\x1f\x7f\x1b]", told(draft).replace("\n", ""))


@examples(25)
@given(TURNS)
def test_any_turn_can_be_summarised(made: Turn) -> None:
    Rules().summarize(made)
