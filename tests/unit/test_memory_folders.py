"""A folder of memories that is read again and again is never out of date."""

import os
from pathlib import Path

import pytest

from aforesaid.memory.folders import Folder
from aforesaid.model.memories import OF_PROJECT

TEXT = "---\nname: {0}\ndescription: {1}\ntype: project\n---\n\n{1}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    for name in ("one", "two"):
        (tmp_path / f"{name}.md").write_text(TEXT.format(name, "as it was"))
    return Folder(tmp_path, OF_PROJECT)


def told(folder: Folder) -> dict[str, str]:
    return {each.memory.name: each.memory.description for each in folder.list().memories}


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
