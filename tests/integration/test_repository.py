"""Which project a directory belongs to, asked of real git repositories."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from aforesaid import clock
from aforesaid.repository import identify, revision
from aforesaid.store.store import Store
from aforesaid.worker.projects import ProjectFinder
from tests.support.repositories import git, new_repository

REMOTE = "git@github.com:org/shop.git"


@pytest.fixture
def finder(tmp_path: Path) -> Iterator[ProjectFinder]:
    store = Store(tmp_path / "store" / "aforesaid.db", writer=True)
    yield ProjectFinder(store, clock.now)
    store.close()


def kinds(folder: Path) -> list[str]:
    return [identity.kind for identity in identify(str(folder)).identities]


def test_the_strongest_identity_comes_first(tmp_path: Path) -> None:
    assert kinds(new_repository(tmp_path / "a", remote=REMOTE)) == ["remote", "commit", "path"]
    assert kinds(new_repository(tmp_path / "b")) == ["commit", "path"]
    assert kinds(new_repository(tmp_path / "c", commit=None)) == ["path"]
    assert kinds(tmp_path) == ["path"]
    assert kinds(tmp_path / "does not exist") == ["path"]


def test_a_sub_folder_and_a_worktree_belong_to_their_repository(
    finder: ProjectFinder, tmp_path: Path
) -> None:
    main = new_repository(tmp_path / "shop")
    below = main / "src" / "deep"
    below.mkdir(parents=True)
    linked = tmp_path / "elsewhere" / "feature"
    git(main, "worktree", "add", str(linked))
    projects = {finder.of(str(folder)) for folder in (main, below, linked, linked / ".")}
    assert len(projects) == 1
    assert identify(str(linked)).root == identify(str(below)).root == str(main)
    assert identify(str(linked)).name == "shop"


def test_the_revision_is_the_commit_that_is_checked_out_here(tmp_path: Path) -> None:
    main = new_repository(tmp_path / "shop")
    below = main / "src"
    below.mkdir()
    first = revision(str(main))
    assert first is not None
    assert len(first) == 40
    linked = tmp_path / "feature"
    git(main, "worktree", "add", str(linked))
    git(linked, "commit", "--allow-empty", "--message", "second")
    assert revision(str(below)) == revision(str(main)) == first
    second = revision(str(linked))
    assert second not in (None, first)
    git(main, "checkout", "--detach", str(second))
    git(main, "pack-refs", "--all")
    assert revision(str(main)) == revision(str(linked)) == second


def test_without_a_commit_there_is_no_revision(tmp_path: Path) -> None:
    assert revision(str(new_repository(tmp_path / "new", commit=None))) is None
    assert revision(str(tmp_path)) is None
    assert revision(str(tmp_path / "missing")) is None


def test_a_clone_is_the_same_project_and_a_fork_is_another(
    finder: ProjectFinder, tmp_path: Path
) -> None:
    origin = new_repository(tmp_path / "origin", remote=REMOTE)
    clone, fork = tmp_path / "clone", tmp_path / "fork"
    for folder, url in ((clone, "https://github.com/org/shop"), (fork, "git@github.com:me/shop")):
        git(tmp_path, "clone", str(origin), str(folder))
        git(folder, "remote", "set-url", "origin", url)
    assert finder.of(str(clone)) == finder.of(str(origin))
    assert finder.of(str(fork)) != finder.of(str(origin))


def test_a_remote_that_is_added_later_keeps_the_project(
    finder: ProjectFinder, tmp_path: Path
) -> None:
    shop = new_repository(tmp_path / "shop")
    before = finder.of(str(shop))
    git(shop, "remote", "add", "origin", REMOTE)
    assert finder.of(str(shop)) == before
    git(tmp_path, "clone", str(shop), "clone")
    git(tmp_path / "clone", "remote", "set-url", "origin", REMOTE)
    assert finder.of(str(tmp_path / "clone")) == before


def test_folders_of_the_same_name_do_not_mix(finder: ProjectFinder, tmp_path: Path) -> None:
    one = new_repository(tmp_path / "work" / "shop", commit="one")
    other = new_repository(tmp_path / "play" / "shop", commit="other")
    plain = tmp_path / "plain" / "shop"
    plain.mkdir(parents=True)
    assert len({finder.of(str(folder)) for folder in (one, other, plain)}) == 3


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


def test_a_folder_that_is_not_text_becomes_text(finder: ProjectFinder, tmp_path: Path) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff\xfe"))
    new_repository(folder)
    identify(str(folder)).root.encode("utf-8")
    assert finder.of(str(folder)) == finder.of(str(folder))


def test_the_environment_of_another_repository_is_not_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hook of git itself runs with GIT_DIR set."""
    shop, other = new_repository(tmp_path / "shop"), new_repository(tmp_path / "other", commit="x")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    assert identify(str(shop)).root == str(shop)


def test_without_git_there_is_no_first_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = new_repository(tmp_path / "shop", remote=REMOTE)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert kinds(shop) == ["remote", "path"]
