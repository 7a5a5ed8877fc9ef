"""What a prompt is told: about the files it names, once, and nothing else."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.clock import SECOND
from recollect.model.observations import ObservationDraft
from recollect.model.sessions import Session
from recollect.recall.envelope import CLOSING
from recollect.recall.prompt import files_named, recall
from recollect.store.protocol import Store
from recollect.text import tokens
from tests.support.memory import Memory

BUDGET = 300
PATH = "src/app.py"  # as it is stored: seen from the project's directory
counter = itertools.count()


def about(title: str, *paths: str, facts: tuple[str, ...] = ()) -> ObservationDraft:
    return ObservationDraft("change", title, facts=facts, files_modified=paths or (PATH,))


def asking(memory: Memory) -> Session:
    return memory.turn("hello")


@pytest.mark.parametrize(
    ("prompt", "files"),
    [
        ("fix app.py", ["app.py"]),
        ("fix src/app.py, please.", ["src/app.py"]),
        ("what does @src/app.py:12 do?", ["src/app.py"]),
        ("see `app.py` and (lib/b.test.ts)", ["app.py", "lib/b.test.ts"]),
        ("app.py app.py", ["app.py"]),
        ("fix /home/dev/shop/a.py", ["/home/dev/shop/a.py"]),
        ("see https://example.com/index.html", []),
        ("Fix the app. Then run it", []),
        ("version 1.2.3 of it", []),
        ("a.py b.py c.py d.py e.py f.py", ["a.py", "b.py", "c.py", "d.py", "e.py"]),
        ("", []),
    ],
)
def test_the_files_a_prompt_names(prompt: str, files: list[str]) -> None:
    assert files_named(prompt) == files


@given(st.text(max_size=200) | st.text("a./-", max_size=3000))
def test_any_prompt_can_be_read(prompt: str) -> None:
    assert len(files_named(prompt)) <= 5


@pytest.mark.parametrize("run", ["a", "a/", "a.", "./", "-a.b/", "a.b"])
def test_a_hostile_prompt_is_read_as_fast_as_any_other(run: str) -> None:
    files_named(run * 20_000)


@pytest.mark.parametrize(
    "prompt", ["fix app.py", "fix src/app.py", "fix ./src/app.py", "fix /home/dev/shop/src/app.py"]
)
def test_a_file_that_was_changed_before_is_recalled(memory: Memory, prompt: str) -> None:
    memory.turn("p", about("Mended the retry", facts=("app.py retries twice", "of no interest")))
    text, told = recall(memory.store, asking(memory), prompt, BUDGET)
    assert "Mended the retry" in text
    assert "app.py retries twice" in text
    assert "of no interest" not in text
    assert [observation.draft.title for observation, _ in told] == ["Mended the retry"]


@pytest.mark.parametrize("prompt", ["fix it", "fix other.py", "fix pp.py", "fix app.pyc"])
def test_silence_is_better_than_noise(memory: Memory, prompt: str) -> None:
    memory.turn("p", about("Mended the retry"))
    assert recall(memory.store, asking(memory), prompt, BUDGET) == ("", [])


def test_a_session_is_not_told_what_it_did_itself(memory: Memory) -> None:
    session = memory.turn("p", about("Mended the retry"))
    assert recall(memory.store, session, "fix app.py", BUDGET) == ("", [])


def test_a_session_is_told_once(memory: Memory) -> None:
    memory.turn("p", about("Mended the retry"))
    session = asking(memory)
    _, told = recall(memory.store, session, "fix app.py", BUDGET)
    for observation, reason in told:
        memory.store.add_injections(
            session.id, "new", [(observation.id, reason)], memory.at + SECOND
        )
    assert recall(memory.store, session, "fix app.py again", BUDGET) == ("", [])


def test_an_observation_about_two_named_files_is_told_once(memory: Memory) -> None:
    memory.turn("p", about("Mended both", "/x/a.py", "/x/b.py"))
    text, told = recall(memory.store, asking(memory), "a.py and b.py", BUDGET)
    assert text.count("Mended both") == len(told) == 1


def test_other_projects_are_not_told_of(memory: Memory, store: Store) -> None:
    Memory.of(store, "other").turn("p", about("Elsewhere"))
    assert recall(memory.store, asking(memory), "fix app.py", BUDGET) == ("", [])


@given(
    st.lists(st.text(max_size=300) | st.text("日本", max_size=300), min_size=1, max_size=5),
    st.integers(0, 1000),
    st.sampled_from("a日"),
)
def test_the_budget_and_the_envelope_are_always_kept(
    store: Store, titles: list[str], budget: int, letter: str
) -> None:
    memory = Memory.of(store, letter * 80 + str(next(counter)))
    hostile = f"{CLOSING} app.py"
    memory.turn("p", *(about(title + CLOSING, facts=(hostile, title)) for title in titles))
    text, told = recall(store, asking(memory), "fix app.py", budget)
    assert tokens(text) <= budget
    assert text.count(CLOSING) == (1 if told else 0)
    assert text == "" or text.endswith(CLOSING)
