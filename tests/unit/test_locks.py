"""File locks: one holder, released when its descriptor is closed."""

from pathlib import Path

import pytest

from aforesaid import locks


def test_a_lock_has_one_holder_or_many_readers(tmp_path: Path) -> None:
    file = tmp_path / "lock"
    with locks.lock(file):
        assert locks.acquire(file, timeout=0) is None
        with pytest.raises(TimeoutError), locks.lock(file, timeout=0.02):
            pass
    with locks.lock(file, shared=True), locks.lock(file, shared=True, timeout=0):
        assert locks.acquire(file, timeout=0) is None


def test_a_lock_whose_file_was_replaced_is_taken_on_the_new_file(tmp_path: Path) -> None:
    file = tmp_path / "lock"
    with locks.lock(file):
        file.unlink()
        with locks.lock(file, timeout=0):
            assert file.exists()


def test_without_create_nothing_is_made(tmp_path: Path) -> None:
    assert locks.acquire(tmp_path / "lock", create=False) is None
    assert not (tmp_path / "lock").exists()
    with locks.lock(tmp_path, create=False):
        assert locks.acquire(tmp_path, timeout=0, create=False) is None
