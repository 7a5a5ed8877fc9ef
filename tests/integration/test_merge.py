"""`recollect merge`: one observation folded into another, and taken out again."""

import json
from pathlib import Path

import pytest

from recollect.paths import Paths
from tests.support.product import recollect, settled, work


@pytest.fixture
def project(home: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with two remembered sessions: observations #1 and #2."""
    monkeypatch.setenv("RECOLLECT_SYNTHESIS_PROVIDER", "rules")
    folder = tmp_path / "shop"
    folder.mkdir()
    for session, title in (("one", "Zebra stripes"), ("two", "Giraffe necks")):
        work(folder, f"session-{session}")
        settled(home)
        number = str({"one": 1, "two": 2}[session])
        assert recollect("edit", number, "--title", title, cwd=folder).returncode == 0
    return folder


def brief(project: Path) -> str:
    return str(json.loads(recollect("context", "--json", cwd=project).stdout)["brief"])


def test_one_is_folded_into_the_other_and_taken_out_again(project: Path) -> None:
    assert "Zebra" in brief(project)
    done = recollect("merge", "1", "#2", cwd=project)
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "#1 is folded into #2."), done
    assert "Zebra" not in brief(project)
    assert "Giraffe" in brief(project)
    assert "Says again what #2" in recollect("show", "1", cwd=project).stdout
    assert "#1" not in recollect("search", "zebra", cwd=project).stdout
    found = json.loads(recollect("merge", "1", "--undo", "--json", cwd=project).stdout)
    assert found == {"id": 1, "into": None, "was_in": 2}
    assert "Zebra" in brief(project)


def test_what_cannot_be_merged_says_what_to_do(project: Path) -> None:
    for arguments, said in (
        (("1", "1"), "itself"),
        (("1", "99"), "There is no observation #99"),
        (("99", "1"), "There is no observation #99"),
        (("1", "--undo"), "Nobody has merged #1"),
        (("1",), "--undo"),
        (("1", "2", "--undo"), "--undo"),
        (("one", "2"), "number of an observation"),
    ):
        done = recollect("merge", *arguments, cwd=project)
        assert done.returncode != 0, arguments
        assert said in done.stderr, done
    assert "Zebra" in brief(project)
