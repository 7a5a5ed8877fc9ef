"""What every store takes for the same project, whatever the folders are called."""

from recollect.store.protocol import Store
from tests.support.arrivals import START, repository


def resolve(
    store: Store, name: str, *, remote: str | None = None, commit: str | None = None
) -> int:
    found = repository(name, remote=remote, commit=commit)
    project_id = store.resolve_project(found, found.root, START)
    assert store.find_project(found) == project_id
    assert store.project_of_dir(found.root) == project_id
    return project_id


def test_the_remote_makes_two_clones_one_project(store: Store) -> None:
    first = resolve(store, "a", remote="host/shop", commit="c1")
    assert resolve(store, "b", remote="host/shop", commit="c1") == first
    assert resolve(store, "shallow", remote="host/shop") == first


def test_the_remote_beats_the_first_commit(store: Store) -> None:
    """A rewritten history is still the same repository."""
    first = resolve(store, "a", remote="host/shop", commit="c1")
    assert resolve(store, "a", remote="host/shop", commit="c2") == first


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
    assert (store.project(before).name, store.project(before).root) == ("store", "/home/dev/store")


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
    assert store.resolve_project(local, "/x", START) != store.resolve_project(cloned, "/x", START)


def test_a_project_knows_its_directories(store: Store) -> None:
    found = repository("shop", commit="c1")
    project_id = store.resolve_project(found, "/home/dev/shop", START)
    store.resolve_project(found, "/home/dev/shop/src", START + 1)
    store.resolve_project(found, "/home/dev/\udcff", START + 2)
    dirs = store.dirs_of_project(project_id)
    assert dirs[1:] == ["/home/dev/shop/src", "/home/dev/shop"]
    assert store.project_of_dir("/home/dev/\udcff") == project_id
    assert store.project_of_dir("/nowhere") is None


def test_a_reader_finds_nothing_for_a_repository_that_was_never_seen(store: Store) -> None:
    assert store.find_project(repository("new", remote="host/new", commit="c9")) is None
    assert store.projects() == []
