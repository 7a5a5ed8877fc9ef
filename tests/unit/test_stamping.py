"""What is noted of the files of a turn, and when nothing is."""

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from aforesaid import clock, freshness
from aforesaid.clock import MINUTE, SECOND
from aforesaid.model.observations import ObservationDraft, Turn
from aforesaid.repository import revision
from aforesaid.synthesis.synthesize import stamp
from tests.support.turns import turn

AUTHOR = ("-c", "user.name=dev", "-c", "user.email=dev@example.org")
DRAFT = ObservationDraft(
    "change", "t", files_read=("b.py", "/etc/hostname", "gone.py"), files_modified=("a.py", "b.py")
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository with two files that a turn, which ended just now, tells of."""
    folder = tmp_path / "shop"
    folder.mkdir()
    for name in ("a.py", "b.py"):
        (folder / name).write_text(f"name = {name!r}\n")
    for command in (("init",), ("commit", "--allow-empty", "--message", "first")):
        subprocess.run(["git", "-C", folder, *AUTHOR, *command], check=True, capture_output=True)
    return folder


def ended(root: Path, at: int) -> Turn:
    return replace(turn("p"), root=str(root), at=at)


def test_the_commit_and_each_file_of_the_project_are_noted(root: Path) -> None:
    now = clock.now()
    stamped = stamp(DRAFT, ended(root, now), revision(str(root)))
    assert stamped.revision == revision(str(root))
    names = ("a.py", "b.py")
    assert stamped.blobs == tuple(
        (n, freshness.unchanged_blob(str(root), n, until=2**50)) for n in names
    )
    assert replace(stamped, revision=None, blobs=()) == DRAFT


def test_a_file_that_changed_after_the_turn_is_not_noted(root: Path) -> None:
    """While the model wrote, or the user."""
    now = clock.now()
    later = (now + MINUTE) / SECOND
    os.utime(root / "a.py", (later, later))
    assert [path for path, _ in stamp(DRAFT, ended(root, now), None).blobs] == ["b.py"]


def test_without_a_repository_the_files_are_noted_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("a\n")
    now = clock.now()
    stamped = stamp(DRAFT, ended(tmp_path, now), revision(str(tmp_path)))
    assert stamped.revision is None
    assert [path for path, _ in stamped.blobs] == ["a.py"]


def test_a_directory_that_is_gone_leaves_the_draft_as_it_is(tmp_path: Path) -> None:
    now = clock.now()
    gone = tmp_path / "gone"
    assert stamp(DRAFT, ended(gone, now), revision(str(gone))) == DRAFT
