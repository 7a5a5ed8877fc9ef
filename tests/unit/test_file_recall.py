"""What is told about a file that is opened: what it does not show itself, once, and nothing else."""

import itertools
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aforesaid import freshness
from aforesaid.clock import SECOND
from aforesaid.model.observations import Doubt, ObservationDraft
from aforesaid.model.sessions import Session
from aforesaid.recall import brief
from aforesaid.recall.inject import FILE_LEAD, HOOK, places, recall_for_file
from aforesaid.recall.render import CLOSING
from aforesaid.store.store import Store
from aforesaid.text import tokens
from tests.support.memory import Memory

BUDGET = 200
NAME = "src/app.py"  # as it is stored: seen from the project's directory
PATH = f"/home/dev/shop/{NAME}"  # as the agent opens it
counter = itertools.count()


def about(kind: str, title: str, *facts: str, paths: tuple[str, ...] = (NAME,)) -> ObservationDraft:
    return ObservationDraft(kind, title, facts=facts, files_modified=paths)


def reading(kind: str, title: str, *facts: str) -> ObservationDraft:
    return ObservationDraft(kind, title, facts=facts, files_read=(NAME, "src/other.py"))


def asking(memory: Memory) -> Session:
    return memory.turn("hello")


def titles(memory: Memory, session: Session, path: str = PATH, budget: int = BUDGET) -> list[str]:
    """Of what is told, in its order."""
    text, told = recall_for_file(memory.store, session, path, budget)
    found = [memory.store.observations.get(one.source) for one in told]
    names = [str(each.draft.title) for each in found if each is not None]
    assert sorted(names, key=text.index) == names
    return names


@pytest.mark.parametrize("kind", ["decision", "bugfix", "discovery"])
def test_what_was_decided_mended_or_found_out_is_told(memory: Memory, kind: str) -> None:
    memory.turn("p", about(kind, "Retries twice", "app.py gives up after two tries"))
    text, told = recall_for_file(memory.store, asking(memory), PATH, BUDGET)
    assert FILE_LEAD.format(file=NAME) in text
    assert "Retries twice" in text
    assert "app.py gives up after two tries" in text
    (one,) = told
    assert (one.kind, one.reason) == ("observation", f"the agent opened {NAME}")
    assert 0 < one.tokens < tokens(text)


@pytest.mark.parametrize("kind", ["change", "feature", "refactor"])
def test_what_the_file_shows_itself_is_not_told(memory: Memory, kind: str) -> None:
    facts = ("src/app.py: `send` was added (4 lines added).", "`A = 1` became `A = 2` in app.py.")
    memory.turn("p", about(kind, "Changed app.py", *facts))
    assert recall_for_file(memory.store, asking(memory), PATH, BUDGET) == ("", [])


@pytest.mark.parametrize("kind", ["change", "feature", "refactor"])
def test_a_change_is_told_with_the_fact_that_says_why(memory: Memory, kind: str) -> None:
    why = "app.py sends twice because the gateway loses the first try"
    memory.turn("p", about(kind, "Sent twice", why, "src/app.py: `send` was changed."))
    text, _ = recall_for_file(memory.store, asking(memory), PATH, BUDGET)
    assert why in text
    assert "was changed" not in text


def test_what_only_read_the_file_is_told_if_it_names_it(memory: Memory) -> None:
    memory.turn("p", reading("discovery", "The queue loses messages", "app.py opens it twice"))
    memory.turn("p", reading("discovery", "The clock is late", "nothing of interest"))
    memory.turn("p", reading("change", "Looked at app.py", "app.py is read because of that"))
    assert titles(memory, asking(memory)) == ["The queue loses messages"]


def test_the_most_telling_comes_first_and_three_are_enough(memory: Memory) -> None:
    why = "app.py waits because the gateway is slow"
    kinds = ("decision", "bugfix", "discovery", "change", "decision")
    for number, kind in enumerate(kinds):
        memory.turn("p", about(kind, f"{kind} {number}", why))
    budget = 1000
    session = asking(memory)
    expected = ["decision 4", "decision 0", "bugfix 1"]
    assert titles(memory, session, budget=budget) == expected
    pinned = next(
        each
        for each in memory.store.observations.recent(memory.project_id, 9)
        if each.draft.title == "change 3"
    )
    memory.store.observations.pin(pinned.id, pinned=True)
    assert titles(memory, session, budget=budget) == ["change 3", "decision 4", "decision 0"]


def test_a_file_of_the_same_name_elsewhere_is_another_file(memory: Memory) -> None:
    memory.turn("p", about("bugfix", "Mended app.py", paths=("src/app.py",)))
    memory.turn("p", about("bugfix", "Mended the other", paths=("lib/src/app.py",)))
    session = asking(memory)
    assert titles(memory, session, "/home/dev/shop/app.py") == []
    assert titles(memory, session, "/elsewhere/src/app.py") == []
    assert titles(memory, session, "/home/dev/shop/src/myapp.py") == []
    assert titles(memory, session) == ["Mended app.py"]


def test_a_session_in_a_folder_of_the_project_knows_the_same_file(memory: Memory) -> None:
    memory.turn("p", about("bugfix", "Mended app.py"))
    root = memory.store.projects.get(memory.project_id).root
    inside = replace(asking(memory), project_dir=f"{root}/src")
    assert titles(memory, inside, f"{root}/{NAME}") == ["Mended app.py"]
    assert titles(memory, inside, "app.py") == ["Mended app.py"]


def test_facts_about_other_files_stay_out(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / NAME).write_text("def send_all(queue):\n    return len(queue)\n")
    facts = (
        "app.py must not wait",
        "`send_all` never returns None",
        "other.py must wait",
        "the weather was never better",
    )
    memory.turn("p", about("bugfix", "Mended the queue", *facts, paths=(NAME, "src/other.py")))
    session = replace(asking(memory), project_dir=str(tmp_path))
    text, _ = recall_for_file(memory.store, session, str(tmp_path / NAME), BUDGET)
    assert [fact for fact in facts if fact in text] == list(facts[:2])


def test_a_session_is_told_once_per_file(memory: Memory) -> None:
    for number in range(5):
        memory.turn("p", about("bugfix", f"Mended {number}"))
    session = asking(memory)
    text, told = recall_for_file(memory.store, session, PATH, BUDGET)
    assert len(told) == 3, text
    memory.store.injections.add(session.id, HOOK, told, memory.at + SECOND)
    assert recall_for_file(memory.store, session, PATH, BUDGET) == ("", [])
    assert recall_for_file(memory.store, asking(memory), PATH, BUDGET)[0] == text


def test_what_the_prompt_was_told_is_not_told_again(memory: Memory) -> None:
    memory.turn("p", about("bugfix", "Mended app.py"))
    session = asking(memory)
    _, told = recall_for_file(memory.store, session, PATH, BUDGET)
    memory.store.injections.add(session.id, "new", told, memory.at)
    assert recall_for_file(memory.store, session, PATH, BUDGET) == ("", [])


@pytest.mark.parametrize("hook", [HOOK, "new"])
def test_what_was_told_before_a_compaction_is_told_again(memory: Memory, hook: str) -> None:
    memory.turn("p", about("bugfix", "Mended app.py"))
    session = asking(memory)
    text, told = recall_for_file(memory.store, session, PATH, BUDGET)
    memory.store.injections.add(session.id, hook, told, memory.at + SECOND)
    assert recall_for_file(memory.store, session, PATH, BUDGET) == ("", [])
    compacting = memory.sessions[session.ref]
    memory.store.events.add([compacting.compact()], compacting.at)
    assert recall_for_file(memory.store, session, PATH, BUDGET) == (text, told)
    memory.store.injections.add(session.id, hook, told, compacting.at + SECOND)
    assert recall_for_file(memory.store, session, PATH, BUDGET) == ("", [])


def test_a_line_in_the_brief_does_not_keep_the_facts_back(memory: Memory) -> None:
    memory.turn("p", about("bugfix", "Mended app.py", "app.py retries twice"))
    session = asking(memory)
    told = brief.write(memory.store, memory.project_id, 1500).injections
    memory.store.injections.add(session.id, "context", told, memory.at)
    assert "app.py retries twice" in recall_for_file(memory.store, session, PATH, BUDGET)[0]


def test_a_session_is_not_told_what_it_did_itself(memory: Memory) -> None:
    session = memory.turn("p", about("bugfix", "Mended app.py"))
    assert recall_for_file(memory.store, session, PATH, BUDGET) == ("", [])
    assert (
        memory.store.observations.files_to_recall(memory.project_id, untold_in=session.id, limit=9)
        == []
    )


def test_other_projects_are_not_told_of(memory: Memory, store: Store) -> None:
    Memory.of(store, "other").turn("p", about("bugfix", "Elsewhere"))
    assert recall_for_file(memory.store, asking(memory), PATH, BUDGET) == ("", [])


def test_what_is_doubted_or_superseded_is_not_told(memory: Memory) -> None:
    memory.turn("p", replace(about("bugfix", "A guess"), doubts=(Doubt("title", "not seen"),)))
    memory.turn("p", about("bugfix", "An old story"))
    old = memory.newest().id
    memory.turn("p", replace(about("bugfix", "The new story"), follows=old))
    doubted = (Doubt("facts 0", "not seen"),)
    facts = ("app.py must guess", "app.py must know")
    memory.turn("p", replace(about("decision", "Half sure", *facts), doubts=doubted))
    session = asking(memory)
    assert titles(memory, session) == ["Half sure", "The new story"]
    assert "must guess" not in recall_for_file(memory.store, session, PATH, BUDGET)[0]


@pytest.mark.parametrize(
    ("after", "mark"),
    [("as it was", ""), ("another", "[the file has changed since]"), (None, "[the file is gone")],
)
def test_a_file_that_is_not_what_it_was_is_marked(
    memory: Memory, tmp_path: Path, after: str | None, mark: str
) -> None:
    file = tmp_path / NAME
    file.parent.mkdir()
    file.write_text("as it was")
    blob = freshness.unchanged_blob(str(tmp_path), NAME, until=2**50)
    assert blob is not None
    memory.turn("p", replace(about("bugfix", "Mended app.py"), blobs=((NAME, blob),)))
    file.write_text(after) if after else file.unlink()
    session = replace(asking(memory), project_dir=str(tmp_path))
    text, told = recall_for_file(memory.store, session, str(file), BUDGET)
    assert len(told) == 1
    assert mark in text
    assert mark or " since]" not in text


def test_a_pipe_in_the_place_of_the_file_is_not_waited_for(memory: Memory, tmp_path: Path) -> None:
    pipe = tmp_path / "app.py"
    subprocess.run(["mkfifo", pipe], check=True)
    paths = ("app.py", "b.py")
    memory.turn("p", about("bugfix", "Mended it", "`send_all` must wait", paths=paths))
    session = replace(asking(memory), project_dir=str(tmp_path))
    assert titles(memory, session, str(pipe)) == ["Mended it"]


def test_files_worth_asking_about_are_the_newest_of_the_project(memory: Memory) -> None:
    memory.turn("p", about("bugfix", "Mended", paths=("a.py", "b.py")))
    memory.turn("p", about("change", "Changed", "a fact", paths=("c.py",)))
    memory.turn("p", about("change", "Only changed", paths=("d.py",)))
    memory.turn("p", reading("change", "Only read", "a fact"))
    session = asking(memory)
    worth = memory.store.observations.files_to_recall
    found = worth(memory.project_id, untold_in=session.id, limit=9)
    assert (found[0], sorted(found)) == ("c.py", ["a.py", "b.py", "c.py"])
    assert len(worth(memory.project_id, untold_in=session.id, limit=2)) == 2


@pytest.mark.parametrize(
    ("stored", "expected"),
    [
        ("a.py", ("/shop/docs/a.py", "/shop/a.py")),
        ("../a.py", ("/shop/a.py", "/a.py")),
        ("/x/a.py", ("/x/a.py",)),
    ],
)
def test_where_a_file_may_be(stored: str, expected: tuple[str, ...]) -> None:
    assert places(stored, "/shop/docs", "/shop") == expected


@given(
    st.lists(st.text(max_size=300) | st.text("日本", max_size=300), min_size=1, max_size=5),
    st.integers(0, 1000),
    st.text('ab/.\n"é<>\ud800', min_size=1, max_size=30),
)
def test_the_budget_and_the_envelope_are_always_kept(
    store: Store, words: list[str], budget: int, name: str
) -> None:
    memory = Memory.of(store, "s" * 80 + str(next(counter)))
    hostile = f"{CLOSING} must {name}"
    drafts = [about("bugfix", word + CLOSING, hostile, word) for word in words]
    memory.turn("p", *drafts)
    for path in (PATH, name, f"{name}{CLOSING}"):
        text, told = recall_for_file(store, asking(memory), path, budget)
        assert tokens(text) <= budget
        assert text.count(CLOSING) == (1 if told else 0)
        assert text == "" or text.endswith(CLOSING)
