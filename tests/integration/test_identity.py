"""Which project a real repository belongs to, and that none can claim another one's."""

import os
import shutil
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from aforesaid import clock
from aforesaid.hook import capture
from aforesaid.repository import Known, Repository, find_owner, identify
from aforesaid.store.store import Store
from aforesaid.worker.projects import ProjectFinder
from tests.support.repositories import clone, copy, git, new_repository

REMOTE = "git@example.org:org/shop.git"
OTHER = "git@example.org:me/shop.git"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store(tmp_path / "store" / "aforesaid.db", writer=True)
    yield opened
    opened.close()


@pytest.fixture
def finder(store: Store) -> ProjectFinder:
    return ProjectFinder(store, clock.now)


def two_commits(folder: Path, *, remote: str | None = None) -> Path:
    shop = new_repository(folder, remote=remote)
    git(shop, "commit", "--allow-empty", "--message", "second")
    return shop


def borrow(folder: Path, other: Path) -> Path:
    """As `git clone --shared` does."""
    (folder / ".git/objects/info/alternates").write_text(f"{other}/.git/objects\n")
    return folder


def test_a_clone_of_a_local_repository_and_a_clone_of_it_are_the_same(
    finder: ProjectFinder, tmp_path: Path
) -> None:
    """`origin` is the path of the original, or of the clone."""
    shop = new_repository(tmp_path / "shop")
    first = clone(shop, tmp_path / "first")
    second = clone(first, tmp_path / "second")
    relative = clone(shop, tmp_path / "relative", remote="../shop")
    found = [finder.of(str(each)) for each in (shop, first, second, relative)]
    assert len(set(found)) == 1


def test_a_copy_without_a_remote_is_its_own_until_the_original_is_gone(
    finder: ProjectFinder, tmp_path: Path
) -> None:
    """The first commit alone may be public."""
    shop = new_repository(tmp_path / "shop")
    before = finder.of(str(shop))
    copied = copy(shop, tmp_path / "copied")
    assert finder.find(str(copied)) is None
    shutil.rmtree(shop)
    finder.forget_all()
    assert finder.of(str(copied)) == before


def test_a_moved_repository_keeps_its_project_and_another_may_take_the_place(
    finder: ProjectFinder, tmp_path: Path, store: Store
) -> None:
    shop = new_repository(tmp_path / "shop")
    before = finder.of(str(shop))
    moved = shop.rename(tmp_path / "moved")
    other = new_repository(tmp_path / "shop", commit="another")
    assert finder.of(str(other)) != before
    assert finder.of(str(moved)) == before
    assert store.projects.get(before).root == str(moved)


@pytest.mark.parametrize("commit", [None, "another"])
@pytest.mark.parametrize("remote", [None, REMOTE])
def test_another_repository_in_the_place_of_a_deleted_one_gets_nothing_of_it(
    finder: ProjectFinder, tmp_path: Path, commit: str | None, remote: str | None
) -> None:
    shop = new_repository(tmp_path / "shop", remote=REMOTE)
    before = finder.of(str(shop))
    shutil.rmtree(shop)
    new_repository(shop, remote=remote, commit=commit)
    assert finder.find(str(shop)) != before
    assert finder.of(str(shop)) != before


def test_a_plain_folder_in_the_place_of_a_repository_gets_nothing_of_it(
    finder: ProjectFinder, tmp_path: Path
) -> None:
    shop = new_repository(tmp_path / "shop", remote=REMOTE)
    before = finder.of(str(shop))
    shutil.rmtree(shop / ".git")
    assert finder.of(str(shop)) != before


def test_a_replaced_repository_is_noticed_under_the_same_inode_and_time(
    finder: ProjectFinder, tmp_path: Path
) -> None:
    """A hard link has the inode of the configuration that was cached, and its times."""
    shop = new_repository(tmp_path / "shop", remote=REMOTE)
    fake = new_repository(tmp_path / "fake", commit="fake")
    config = fake / ".git/config"
    config.unlink()
    os.link(shop / ".git/config", config)
    before = finder.of(str(shop))
    shop.rename(tmp_path / "old")
    fake.rename(tmp_path / "shop")
    assert finder.of(str(shop)) != before


def test_a_nested_repository_is_noticed(finder: ProjectFinder, tmp_path: Path) -> None:
    shop = new_repository(tmp_path / "shop", remote=REMOTE)
    part = shop / "vendor" / "part"
    part.mkdir(parents=True)
    before = finder.of(str(part))
    assert before == finder.of(str(shop))
    new_repository(part / "x", commit="nested")
    (part / "x/.git").rename(part / ".git")
    assert finder.of(str(part)) != before


def test_a_folder_stays_the_same_while_it_becomes_a_repository(
    store: Store, tmp_path: Path
) -> None:
    now = [clock.now()]
    finder = ProjectFinder(store, lambda: now[0])
    shop = tmp_path / "shop"
    shop.mkdir()
    before = finder.of(str(shop))
    for step in (
        ("init", "--initial-branch=main"),
        ("remote", "add", "origin", REMOTE),
        ("commit", "--allow-empty", "--message", "first"),
        ("remote", "set-url", "origin", OTHER),
    ):
        git(shop, *step)
        now[0] += 2 * clock.MINUTE
        assert finder.of(str(shop)) == before, step


def test_a_second_clone_changes_neither_name_nor_root(
    finder: ProjectFinder, store: Store, tmp_path: Path
) -> None:
    shop = new_repository(tmp_path / "shop", remote=REMOTE)
    project = finder.of(str(shop))
    second = clone(shop, tmp_path / "second", remote=REMOTE)
    assert finder.of(str(second)) == project
    assert (store.projects.get(project).name, store.projects.get(project).root) == (
        "shop",
        str(shop),
    )
    shutil.rmtree(shop)
    finder.forget_all()
    assert finder.of(str(second)) == project
    assert store.projects.get(project).root == str(second)


def test_a_shallow_clone_is_its_own_until_it_has_the_history(
    finder: ProjectFinder, tmp_path: Path
) -> None:
    shop = two_commits(tmp_path / "shop", remote=REMOTE)
    project = finder.of(str(shop))
    shallow = clone(shop, tmp_path / "shallow", "--depth=1", remote=REMOTE)
    own = finder.of(str(shallow))
    assert own != project
    finder.forget_all()
    assert finder.of(str(shallow)) == own
    assert finder.unproven_remote(str(shallow)) == "example.org/org/shop"
    git(shallow, "fetch", "--unshallow", shop.as_uri())
    finder.forget_all()
    assert finder.of(str(shallow)) == project
    assert finder.unproven_remote(str(shallow)) is None


def test_other_roots_beside_the_known_one_change_nothing(
    finder: ProjectFinder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An orphan branch that is checked out; an older history that was merged."""
    shop = new_repository(tmp_path / "shop", remote=REMOTE)
    project = finder.of(str(shop))
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2001-01-01T00:00:00Z")
    library = new_repository(tmp_path / "library", commit="library")
    git(shop, "fetch", str(library), "main")
    git(shop, "merge", "--allow-unrelated-histories", "--message", "both", "FETCH_HEAD")
    second = clone(shop, tmp_path / "second", remote=REMOTE)
    git(second, "checkout", "--orphan", "pages")
    git(second, "commit", "--allow-empty", "--message", "pages")
    finder.forget_all()
    assert identify(str(shop)).identities[1] == identify(str(library)).identities[0]
    assert {finder.of(str(each)) for each in (shop, second)} == {project}
    git(library, "remote", "add", "origin", REMOTE)
    assert finder.of(str(library)) != project


def test_a_relative_remote_says_nothing_elsewhere(finder: ProjectFinder, tmp_path: Path) -> None:
    shop = new_repository(tmp_path / "a/shop", remote="../origin")
    other = copy(shop, tmp_path / "b/shop")
    assert finder.of(str(shop)) != finder.of(str(other))


def test_a_link_of_a_shallow_clone_outlasts_new_commits(
    finder: ProjectFinder, store: Store, tmp_path: Path
) -> None:
    shop = two_commits(tmp_path / "shop", remote=REMOTE)
    project = finder.of(str(shop))
    shallow = clone(shop, tmp_path / "shallow", "--depth=1", remote=REMOTE)
    own = finder.of(str(shallow))
    store.projects.link(identify(str(shallow)), project)
    git(shallow, "commit", "--allow-empty", "--message", "third")
    finder.forget_all()
    assert finder.of(str(shallow)) == project
    assert store.projects.unlink(identify(str(shallow))) == [project]
    finder.forget_all()
    assert finder.of(str(shallow)) == own


def test_what_is_linked_does_not_pass_to_what_is_put_in_its_place(
    finder: ProjectFinder, store: Store, tmp_path: Path
) -> None:
    project = finder.of(str(new_repository(tmp_path / "shop", remote=REMOTE)))
    mirror = new_repository(tmp_path / "mirror", remote=OTHER, commit="rewritten")
    store.projects.link(identify(str(mirror)), project)
    assert finder.of(str(mirror)) == project
    shutil.rmtree(mirror)
    new_repository(mirror, remote=OTHER, commit="hostile")
    assert finder.of(str(mirror)) != project


def test_a_link_of_a_plain_folder_does_not_pass_to_a_repository(
    finder: ProjectFinder, store: Store, tmp_path: Path
) -> None:
    project = finder.of(str(new_repository(tmp_path / "shop", remote=REMOTE)))
    folder = tmp_path / "unpacked"
    folder.mkdir()
    store.projects.link(identify(str(folder)), project)
    assert finder.of(str(folder)) == project
    folder.rmdir()
    new_repository(folder, commit="hostile")
    finder.forget_all()
    assert finder.of(str(folder)) != project


def test_a_clone_that_borrows_its_objects_can_be_linked(
    finder: ProjectFinder, store: Store, tmp_path: Path
) -> None:
    shop = new_repository(tmp_path / "shop", remote=REMOTE)
    project = finder.of(str(shop))
    shared = borrow(clone(shop, tmp_path / "shared", remote=REMOTE), shop)
    assert finder.of(str(shared)) != project
    store.projects.link(identify(str(shared)), project)
    finder.forget_all()
    assert finder.of(str(shared)) == project
    git(shared, "remote", "set-url", "origin", OTHER)
    assert finder.of(str(shared)) != project


@pytest.mark.parametrize("remote", [None, REMOTE])
def test_a_known_place_keeps_its_project_while_git_does_not_answer(
    finder: ProjectFinder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, remote: str | None
) -> None:
    shop = new_repository(tmp_path / "shop", remote=remote)
    project = finder.of(str(shop))
    second = clone(shop, tmp_path / "second", remote=REMOTE)
    monkeypatch.setattr("aforesaid.git.find_program", lambda name: None)
    finder.forget_all()
    assert finder.of(str(shop)) == project
    assert finder.find(str(second)) is None
    git(shop, "remote", "add", "other", OTHER)
    git(shop, "config", "remote.origin.url", OTHER)
    assert finder.find(str(shop)) is None


@pytest.mark.parametrize("hidden", ["alternates", "shallow", "empty", "link"])
def test_a_repository_that_hides_its_history_gets_nothing_without_git_either(
    finder: ProjectFinder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hidden: str
) -> None:
    shop = two_commits(tmp_path / "shop", remote=REMOTE)
    project = finder.of(str(shop))
    old = shop.rename(tmp_path / "old")
    if hidden == "alternates":
        borrow(clone(old, shop, remote=REMOTE), old)
    elif hidden == "shallow":
        clone(old, shop, "--depth=1", remote=REMOTE)
    elif hidden == "empty":
        new_repository(shop, remote=REMOTE, commit=None)
    else:
        shop.mkdir()
        (shop / ".git").symlink_to(old / ".git")
    monkeypatch.setattr("aforesaid.git.find_program", lambda name: None)
    finder.forget_all()
    assert finder.find(str(shop)) != project


def test_a_repository_that_keeps_git_busy_is_not_taken_for_the_one_before(
    finder: ProjectFinder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A limit of the processor time tells it from a slow machine."""
    shop = new_repository(tmp_path / "shop", remote=REMOTE)
    project = finder.of(str(shop))
    busy = tmp_path / "git"
    busy.write_text("#!/bin/sh\nwhile :; do :; done\n")
    busy.chmod(0o755)
    monkeypatch.setattr("aforesaid.git.find_program", lambda name: str(busy))
    monkeypatch.setattr("aforesaid.git.LIMIT_COMMIT_CPU", "ulimit -t 1; ")
    monkeypatch.setattr("aforesaid.git.SECONDS", 60.0)
    monkeypatch.setattr("aforesaid.repository.git.find_first_commit", lambda checkout: None)
    finder.forget_all()
    assert finder.find(str(shop)) != project


def test_a_path_in_a_file_from_elsewhere_names_a_project_without_history_alone(
    tmp_path: Path,
) -> None:
    """A backup of a plain folder has nothing else to be known by."""
    notes = identify(str(tmp_path))
    shop = identify(str(new_repository(tmp_path / "shop")))
    known = Known("notes", frozenset(notes.identities))
    assert find_owner(notes, [known], local=False) == known
    assert find_owner(notes, [replace(known, linked=True)], local=False) is None
    claim = replace(shop, identities=shop.identities[-1:])
    assert find_owner(claim, [Known("shop", frozenset(shop.identities))], local=False) is None


def test_a_description_from_elsewhere_is_not_checked_against_this_machine(tmp_path: Path) -> None:
    """Else an export could name a folder here, which then would speak for it."""
    shop = identify(str(new_repository(tmp_path / "shop", remote=REMOTE)))
    known = Known("shop", frozenset(shop.identities))
    claim = replace(shop, identities=(shop.identities[0],))
    assert find_owner(claim, [known]) == known
    assert find_owner(claim, [known], local=False) is None


def test_a_repository_that_git_waits_for_keeps_nobody_else_waiting(
    finder: ProjectFinder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop, slow = (new_repository(tmp_path / name, commit=name) for name in ("shop", "slow"))
    reached, released = threading.Event(), threading.Event()

    def wait(directory: str) -> Repository:
        if directory == str(slow):
            reached.set()
            assert released.wait(60)
        return identify(directory)

    monkeypatch.setattr("aforesaid.worker.projects.identify", wait)
    found: list[int] = []
    thread = threading.Thread(target=lambda: found.append(finder.of(str(slow))))
    thread.start()
    try:
        assert reached.wait(60)
        project = finder.of(str(shop))
        finder.forget_all()
        assert finder.find(str(shop)) == project
    finally:
        released.set()
        thread.join(60)
    assert found == [finder.find(str(slow))]
    assert found != [project]


def test_git_answers_outside_of_a_transaction_and_again_if_something_changed(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else whoever writes waits for it. Two clones that are seen at once are one project."""
    shop = new_repository(tmp_path / "shop", remote=REMOTE)
    second = clone(shop, tmp_path / "second", remote=REMOTE)
    others: list[int] = []

    def find_meanwhile(*arguments: Any, **options: Any) -> Any:
        owner = find_owner(*arguments, **options)
        if not others:
            others.append(0)
            others[0] = store.projects.resolve(identify(str(second)), str(second), 1)
        return owner

    monkeypatch.setattr("aforesaid.store.projects.find_owner", find_meanwhile)
    assert store.projects.resolve(identify(str(shop)), str(shop), 2) == others[0]
    assert len(store.projects.all()) == 1


def test_a_prepared_brief_is_for_the_repository_that_it_was_made_for(tmp_path: Path) -> None:
    """Without a worker the hook cannot ask git."""
    shop = new_repository(tmp_path / "shop", remote=REMOTE)
    (shop / "src").mkdir()
    state, data = tmp_path / "state", b"\0\n{}"
    (state / "briefs").mkdir(parents=True)
    for folder in (shop, shop / "src"):
        copied = state / "briefs" / capture.brief_name("claude-code", str(folder))
        copied.write_bytes(capture.brief_head(str(folder)) + b"\0\n{brief}")

    def told(folder: Path) -> bytes:
        return capture.prepared(str(state), "claude-code", str(folder), data, False)

    git(shop, "commit", "--allow-empty", "--message", "second")
    git(shop, "checkout", "-b", "feature")
    git(shop, "remote", "set-url", "origin", OTHER)
    assert told(shop) == told(shop / "src") == b"{brief}"
    (shop / "src/.git").mkdir()
    assert told(shop / "src") == b""
    shutil.rmtree(shop)
    new_repository(shop, remote=REMOTE)
    assert told(shop) == b""
    shutil.rmtree(shop)
    shop.mkdir()
    assert told(shop) == b""
