"""What git says of a repository in odd states: moved, shallow, oddly named, or without any git."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect import clock
from recollect.repository import identify
from recollect.store.sqlite.store import SqliteStore
from recollect.worker.projects import ProjectFinder

REMOTE = "git@github.com:org/shop.git"
AUTHOR = ("-c", "user.name=dev", "-c", "user.email=dev@example.org")


@pytest.fixture
def finder(tmp_path: Path) -> Iterator[ProjectFinder]:
    store = SqliteStore(tmp_path / "store" / "recollect.db", writer=True)
    yield ProjectFinder(store, clock.now)
    store.close()


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", folder, *AUTHOR, *arguments], check=True, capture_output=True)


def new_repository(
    folder: Path, *, remote: str | None = None, commit: str | None = "first"
) -> Path:
    folder.mkdir(parents=True)
    git(folder, "init", "--initial-branch=main")
    if commit:
        git(folder, "commit", "--allow-empty", "--message", commit)
    if remote:
        git(folder, "remote", "add", "origin", remote)
    return folder


def kinds(folder: Path) -> list[str]:
    return [identity.kind for identity in identify(str(folder)).identities]


def test_the_strongest_identity_comes_first(tmp_path: Path) -> None:
    assert kinds(new_repository(tmp_path / "a", remote=REMOTE)) == ["remote", "commit", "path"]
    assert kinds(new_repository(tmp_path / "b")) == ["commit", "path"]
    assert kinds(new_repository(tmp_path / "c", commit=None)) == ["path"]
    assert kinds(tmp_path) == ["path"]
    assert kinds(tmp_path / "does not exist") == ["path"]


def test_a_repository_that_was_moved_is_still_the_same(
    finder: ProjectFinder, tmp_path: Path
) -> None:
    shop = new_repository(tmp_path / "shop")
    before = finder.of(str(shop))
    moved = shop.rename(tmp_path / "moved")
    assert finder.of(str(moved)) == before


def test_another_repository_in_the_same_place_is_another_project(
    finder: ProjectFinder, tmp_path: Path
) -> None:
    shop = new_repository(tmp_path / "shop", remote=REMOTE)
    before = finder.of(str(shop))
    shop.rename(tmp_path / "old")
    new_repository(tmp_path / "shop", remote="git@github.com:org/other.git", commit="another")
    assert finder.of(str(tmp_path / "shop")) != before
    assert finder.of(str(tmp_path / "old")) == before


def test_a_shallow_clone_is_known_by_its_remote(tmp_path: Path) -> None:
    """Its oldest commit is not the first one."""
    origin = new_repository(tmp_path / "origin")
    git(origin, "commit", "--allow-empty", "--message", "second")
    git(tmp_path, "clone", "--depth=1", origin.as_uri(), "shallow")
    assert kinds(tmp_path / "shallow") == ["remote", "path"]


def test_a_younger_history_that_is_merged_does_not_change_the_identity(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = new_repository(tmp_path / "shop")
    before = identify(str(shop))
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2040-01-01T00:00:00Z")
    git(shop, "checkout", "--orphan", "pages")
    git(shop, "commit", "--allow-empty", "--message", "pages")
    git(shop, "checkout", "main")
    git(shop, "merge", "--allow-unrelated-histories", "--message", "both", "pages")
    assert identify(str(shop)) == before


@pytest.mark.parametrize("name", ["a b", "a\nb", "größe", "-rf", "$(touch x)", "'\"", "a\\nb"])
def test_a_folder_may_be_called_anything(tmp_path: Path, name: str) -> None:
    folder = new_repository(tmp_path / name)
    found = identify(str(folder))
    assert (found.name, found.root) == (name, str(folder))
    assert found.identities[0].kind == "commit"


def test_without_git_the_path_stands_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shop = new_repository(tmp_path / "shop", remote=REMOTE)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert kinds(shop) == ["path"]
