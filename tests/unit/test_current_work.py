"""What bears on the work at hand."""

import subprocess
from pathlib import Path

import pytest

from aforesaid.model.observations import ObservationDraft, SummaryDraft
from aforesaid.recall import brief
from aforesaid.recall.inject import MOST_FOR_WORK, find_for_work
from aforesaid.recall.search import Searcher
from aforesaid.repository import Work, current_work
from tests.support.memory import Memory

FILLER = ("Rounded the totals", "Moved the basket", "Renamed a fixture", "Cached the prices")


def draft(title: str, path: str, *facts: str) -> ObservationDraft:
    return ObservationDraft("bugfix", title, facts=facts, files_modified=(path,))


@pytest.fixture
def filled(memory: Memory) -> Memory:
    for number, title in enumerate(FILLER):
        memory.turn("work", draft(title, f"src/filler_{number}.py", f"{title} once more"))
    memory.turn(
        "login",
        draft("Login token refresh raced", "src/login.py", "login.py refreshes a token twice"),
        summary=SummaryDraft("login", next_steps="Cache the prices of the basket for an hour"),
    )
    return memory


def told(memory: Memory, work: Work) -> dict[str, str]:
    searcher = Searcher(memory.store, None, lambda: memory.at)
    found = {}
    for key, reason in find_for_work(searcher, memory.store, memory.project_id, work):
        observation = memory.store.observations.get(key)
        assert observation is not None
        found[observation.draft.title or ""] = reason
    return found


def test_files_that_changed_lately(filled: Memory) -> None:
    found = told(filled, Work(files=("src/login.py",)))
    assert found["Login token refresh raced"] == "on files that changed recently"
    assert "Rounded the totals" not in found


def test_the_branch_by_its_words(filled: Memory) -> None:
    assert "Login token refresh raced" in told(filled, Work(branch="fix/login-token-refresh-race"))


def test_nothing_is_told_without_a_reason(filled: Memory) -> None:
    found = told(filled, Work(branch="spelling", files=("README.md",)))
    assert "Login token refresh raced" not in found
    assert len(found) <= MOST_FOR_WORK


def test_the_brief_tells_it_once(filled: Memory) -> None:
    key = filled.newest().id
    filled.turn(
        "Later",
        ObservationDraft("change", "Something else"),
        summary=SummaryDraft("Later", completed="It"),
    )
    written = brief.write(filled.store, filled.project_id, 1500, for_work=[(key, "why")])
    assert "## On what is being worked on" in written.text
    assert written.text.count("Login token refresh raced") == 1
    assert [
        one.reason for one in written.injections if one.source == key and one.kind == "observation"
    ] == ["why"]


def test_what_git_says(tmp_path: Path) -> None:
    def git(*words: str) -> None:
        said = ["git", "-C", str(tmp_path), "-c", "user.name=n", "-c", "user.email=e@x", *words]
        subprocess.run(said, check=True, capture_output=True)

    git("init", "-q", "-b", "main")
    assert current_work(str(tmp_path), 10.0) == Work()
    for name in ("a b.py", "c.py"):
        (tmp_path / name).write_text("x")
        git("add", ".")
        git("commit", "-q", "-m", name)
    assert current_work(str(tmp_path), 10.0) == Work(None, ("c.py", "a b.py"))
    git("checkout", "-q", "-b", "fix/login")
    (tmp_path / "a b.py").write_text("y")
    assert current_work(str(tmp_path), 10.0) == Work("fix/login", ("a b.py", "c.py"))
    assert current_work(str(tmp_path / "missing"), 10.0) == Work()
    assert current_work(str(tmp_path), 0.0) == Work("fix/login")
