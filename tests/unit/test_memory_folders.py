"""A folder of memories that is looked at again and again: quickly, and never out of date."""

import os
from pathlib import Path

import pytest

from recollect.memory.storage import files, folders
from recollect.memory.storage.folders import Folder
from recollect.model.memories import OF_PROJECT

TEXT = "---\nname: {0}\ndescription: {1}\ntype: project\n---\n\n{1}\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    """All that is written is settled at once."""
    monkeypatch.setattr(folders, "SETTLED", -60_000_000_000)
    for name in ("one", "two"):
        (tmp_path / f"{name}.md").write_text(TEXT.format(name, "as it was"))
    return Folder(tmp_path, OF_PROJECT)


def told(folder: Folder) -> dict[str, str]:
    return {each.memory.name: each.memory.description for each in folder.list().memories}


def test_what_has_not_changed_is_not_read_again(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = folder.list()
    monkeypatch.setattr(files, "look", lambda _: pytest.fail("it was read"))
    assert folder.list() is first


def test_an_edit_is_seen_even_of_the_same_size_and_time(folder: Folder) -> None:
    path = folder.file("one")
    before = path.stat()
    assert told(folder)["one"] == "as it was"
    path.write_text(TEXT.format("one", "as it is."))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert told(folder)["one"] == "as it is."


def test_files_come_go_and_lose_their_rights(folder: Folder, tmp_path: Path) -> None:
    folder.list()
    folder.file("two").unlink()
    (tmp_path / "three.md").write_text(TEXT.format("three", "new"))
    assert told(folder) == {"one": "as it was", "three": "new"}
    folder.file("one").unlink()
    folder.file("one").symlink_to(tmp_path / "three.md")
    listing = folder.list()
    assert [each.memory.name for each in listing.memories] == ["three"]
    assert "links are not followed" in listing.broken[0].why


def test_what_was_written_just_now_is_read_again(tmp_path: Path) -> None:
    """It may be written once more before the clock of the file system goes on."""
    folder = Folder(tmp_path, OF_PROJECT)
    folder.path.joinpath("one.md").write_text(TEXT.format("one", "first"))
    first = folder.list()
    assert folder.list() is not first
    assert folder.list() == first
