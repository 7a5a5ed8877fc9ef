"""What every store takes for the same project, whatever the folders are called."""

from dataclasses import replace

import pytest

from aforesaid.repository import Identity
from aforesaid.store.store import Store
from tests.support.arrivals import START, repository


def resolve(
    store: Store, name: str, *, remote: str | None = None, commit: str | None = None
) -> int:
    found = repository(name, remote=remote, commit=commit)
    project_id = store.projects.resolve(found, found.root, START)
    assert store.projects.find(found) == project_id
    assert store.projects.find_by_dir(found.root) == project_id
    return project_id


def test_remote_and_first_commit_make_two_clones_one_project(store: Store) -> None:
    first = resolve(store, "a", remote="host/shop", commit="c1")
    assert resolve(store, "b", remote="host/shop", commit="c1") == first


@pytest.mark.parametrize("commit", [None, "c2"])
def test_a_remote_alone_proves_nothing(store: Store, commit: str | None) -> None:
    """Neither for a shallow clone nor for a folder that only names it."""
    victim = resolve(store, "a", remote="host/shop", commit="c1")
    claim = repository("b", remote="host/shop", commit=commit)
    assert store.projects.find(claim) is None
    other = resolve(store, "b", remote="host/shop", commit=commit)
    assert other != victim
    assert store.projects.unproven_remote(claim, other) == ("host/shop", [victim])
    original = repository("a", remote="host/shop", commit="c1")
    assert store.projects.find(original) == victim


def test_a_claim_that_came_first_takes_nothing_from_the_real_one(store: Store) -> None:
    claim = resolve(store, "claim", remote="host/shop", commit="c9")
    real = resolve(store, "shop", remote="host/shop", commit="c1")
    assert real != claim
    assert resolve(store, "clone", remote="host/shop", commit="c1") == real


def test_another_history_in_the_same_place_is_another_project(store: Store) -> None:
    first = resolve(store, "a", remote="host/shop", commit="c1")
    assert resolve(store, "a", remote="host/shop", commit="c2") != first
    assert resolve(store, "a", remote="host/shop", commit="c1") == first
    assert resolve(store, "a") not in (None, first)


def test_a_remote_that_was_renamed_keeps_the_project(store: Store) -> None:
    first = resolve(store, "a", remote="host/shop", commit="c1")
    assert resolve(store, "a", remote="new-host/shop", commit="c1") == first
    assert resolve(store, "clone", remote="new-host/shop", commit="c1") == first


def test_a_project_takes_no_second_first_commit(store: Store) -> None:
    """One of a public library that was merged into it would prove nothing."""
    first = resolve(store, "a", remote="host/shop", commit="c1")
    link = repository("b", remote="host/shop", commit="c1")
    merged = (*link.identities, Identity("commit", "commit:library"))
    store.projects.resolve(replace(link, identities=merged), link.root, START)
    claim = repository("c", remote="host/shop", commit="library")
    assert store.projects.find(claim) is None
    known = store.projects.identities(first)
    assert {each.identity for each in known if each.kind == "commit"} == {"commit:c1"}


def test_a_link_holds_until_it_is_undone(store: Store) -> None:
    shop = resolve(store, "shop", remote="host/shop", commit="c1")
    own = resolve(store, "mirror", remote="mirror/shop", commit="c2")
    mirror = repository("mirror", remote="mirror/shop", commit="c2")
    store.projects.link(mirror, shop)
    assert resolve(store, "mirror", remote="mirror/shop", commit="c2") == shop
    assert resolve(store, "clone", remote="mirror/shop", commit="c2") == shop
    assert resolve(store, "mirror", remote="mirror/shop", commit="c3") not in (shop, own)
    assert store.projects.get(shop).root == "/home/dev/shop"
    assert len(store.projects.links(shop)) == 1
    assert "mirror/shop" not in str(store.projects.identities(shop))
    assert store.projects.unlink(mirror) == [shop]
    assert store.projects.find(mirror) == own
    assert store.projects.links(shop) == []
    assert store.projects.unlink(mirror) == []


def test_a_plain_folder_can_be_linked(store: Store) -> None:
    shop = resolve(store, "shop", remote="host/shop", commit="c1")
    store.projects.link(repository("unpacked"), shop)
    assert resolve(store, "unpacked") == shop
    store.projects.link(repository("unpacked"), resolve(store, "other"))
    assert resolve(store, "unpacked") != shop


def test_a_fork_with_the_same_first_commit_is_another_project(store: Store) -> None:
    original = resolve(store, "shop", remote="host/shop", commit="c1")
    fork = resolve(store, "fork", remote="host/me/shop", commit="c1")
    assert fork != original
    assert resolve(store, "shop", remote="host/shop", commit="c1") == original
    assert resolve(store, "fork", remote="host/me/shop", commit="c1") == fork


def test_a_remote_that_is_added_later_keeps_the_project(store: Store) -> None:
    local = resolve(store, "shop", commit="c1")
    assert resolve(store, "shop", remote="host/shop", commit="c1") == local
    assert resolve(store, "clone", remote="host/shop", commit="c1") == local


def test_a_first_commit_that_is_made_later_keeps_the_project(store: Store) -> None:
    empty = resolve(store, "shop")
    assert resolve(store, "shop", commit="c1") == empty
    assert resolve(store, "shop", remote="host/shop", commit="c1") == empty


def test_a_folder_that_was_moved_keeps_its_project_and_gets_its_new_name(store: Store) -> None:
    before = resolve(store, "shop", commit="c1")
    assert resolve(store, "store", commit="c1") == before
    assert (store.projects.get(before).name, store.projects.get(before).root) == (
        "store",
        "/home/dev/store",
    )


def test_folders_of_the_same_name_do_not_mix(store: Store) -> None:
    one = resolve(store, "work/shop", commit="c1")
    other = resolve(store, "play/shop", commit="c2")
    plain = resolve(store, "plain/shop")
    assert len({one, other, plain}) == 3


def test_another_repository_in_the_same_place_is_another_project(store: Store) -> None:
    before = resolve(store, "shop", remote="host/shop", commit="c1")
    after = resolve(store, "shop", remote="host/other", commit="c9")
    assert after != before
    assert resolve(store, "shop", remote="host/other", commit="c9") == after


def test_a_cloned_repository_in_the_place_of_a_local_one_is_another_project(store: Store) -> None:
    local = repository("shop", commit="c1")
    cloned = repository("shop", remote="example.com/org/other", commit="c2")
    assert store.projects.resolve(local, "/x", START) != store.projects.resolve(cloned, "/x", START)


def test_a_project_knows_its_directories(store: Store) -> None:
    found = repository("shop", commit="c1")
    project_id = store.projects.resolve(found, "/home/dev/shop", START)
    store.projects.resolve(found, "/home/dev/shop/src", START + 1)
    store.projects.resolve(found, "/home/dev/\udcff", START + 2)
    dirs = store.projects.dirs(project_id)
    assert dirs[1:] == ["/home/dev/shop/src", "/home/dev/shop"]
    assert store.projects.find_by_dir("/home/dev/\udcff") == project_id
    assert store.projects.find_by_dir("/nowhere") is None


def test_a_reader_finds_nothing_for_a_repository_that_was_never_seen(store: Store) -> None:
    assert store.projects.find(repository("new", remote="host/new", commit="c9")) is None
    assert store.projects.all() == []
