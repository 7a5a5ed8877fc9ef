"""`aforesaid merge`: one observation folded into another, and taken out again."""

import json
from pathlib import Path

import pytest

from aforesaid.paths import Paths
from tests.support.product import aforesaid, settled, work


@pytest.fixture
def project(home: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with two remembered sessions: observations #1 and #2."""
    monkeypatch.setenv("AFORESAID_SYNTHESIS_PROVIDER", "rules")
    folder = tmp_path / "shop"
    folder.mkdir()
    for session, title in (("one", "Zebra stripes"), ("two", "Giraffe necks")):
        work(folder, f"session-{session}")
        settled(home)
        number = str({"one": 1, "two": 2}[session])
        assert aforesaid("edit", number, "--title", title, cwd=folder).returncode == 0
    return folder


def brief(project: Path) -> str:
    return str(json.loads(aforesaid("context", "--json", cwd=project).stdout)["brief"])


def test_one_is_folded_into_the_other_and_taken_out_again(project: Path) -> None:
    assert "Zebra" in brief(project)
    done = aforesaid("merge", "1", "#2", cwd=project)
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "#1 is merged into #2."), done
    assert "Zebra" not in brief(project)
    assert "Giraffe" in brief(project)
    assert "Repeats #2" in aforesaid("show", "1", cwd=project).stdout
    shown = aforesaid("search", "zebra", cwd=project).stdout.splitlines()
    assert shown[0].startswith("#2 Giraffe necks")
    assert "   Duplicates: #1" in shown
    hits = json.loads(aforesaid("search", "zebra", "--json", cwd=project).stdout)["hits"]
    assert [(hit["name"], hit["duplicates"]) for hit in hits] == [("#2", [1])]
    assert "Duplicates: #1" in aforesaid("show", "2", cwd=project).stdout
    assert json.loads(aforesaid("show", "2", "--json", cwd=project).stdout)["duplicates"] == [1]
    opposite = aforesaid("merge", "2", "1", cwd=project)
    assert opposite.returncode == 2
    assert "#1 is itself merged into #2. Undo that first" in opposite.stderr
    found = json.loads(aforesaid("merge", "1", "--undo", "--json", cwd=project).stdout)
    assert found == {"id": 1, "into": None, "was_in": 2}
    assert "Zebra" in brief(project)


def test_what_cannot_be_merged_says_what_to_do(project: Path) -> None:
    for arguments, said in (
        (("1", "1"), "itself"),
        (("1", "99"), "There is no observation #99"),
        (("99", "1"), "There is no observation #99"),
        (("1", "--undo"), "#1 was not merged by hand"),
        (("1",), "--undo"),
        (("1", "2", "--undo"), "--undo"),
        (("one", "2"), "number of an observation"),
    ):
        done = aforesaid("merge", *arguments, cwd=project)
        assert done.returncode != 0, arguments
        assert said in done.stderr, done
    assert "Zebra" in brief(project)
