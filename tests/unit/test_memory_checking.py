"""Which memories speak of things that have changed or gone."""

import os
from pathlib import Path

import pytest

from aforesaid import settings
from aforesaid.freshness import CHANGED, GONE, UNCHANGED, UNKNOWN
from aforesaid.memory.changes import Memories
from aforesaid.memory.curation import CheckedMemory, check_memories
from aforesaid.memory.folders import find_places
from aforesaid.model.memories import Memory
from aforesaid.paths import Paths
from tests.support.values import blob_id


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    for name in ("a.py", "b.py"):
        (folder / name).write_text(f"{name} = 1\n")
    (tmp_path / "outside.py").write_text("x = 1\n")
    return folder


@pytest.fixture
def memories(home: Paths, project: Path) -> Memories:
    return Memories(find_places(home, str(project), settings.load(home.config_file, {})))


def name_of(path: Path) -> str:
    return blob_id(path.read_bytes())


def remember(memories: Memories, name: str, *files: tuple[str, str], body: str = "Body.") -> None:
    with memories.change("test") as change:
        change.write(Memory(name, "d", "project", body, files=files))


def checked(memories: Memories, project: Path) -> dict[str, CheckedMemory]:
    return {each.name: each for each in check_memories(memories, str(project))}


def test_a_memory_whose_file_changed_is_flagged_and_one_whose_file_did_not_is_not(
    memories: Memories, project: Path
) -> None:
    a, b = project / "a.py", project / "b.py"
    remember(memories, "of-a", ("a.py", name_of(a)))
    remember(memories, "of-b", ("b.py", name_of(b)))
    remember(memories, "of-both", ("a.py", name_of(a)), ("b.py", name_of(b)))
    assert not any(each.flagged for each in checked(memories, project).values())
    a.write_text("a = 2\n")
    os.utime(b)  # touched, but not changed
    found = checked(memories, project)
    assert {name: each.freshness.state for name, each in found.items()} == {
        "of-a": CHANGED,
        "of-b": UNCHANGED,
        "of-both": CHANGED,
    }
    assert found["of-both"].freshness.changed == ("a.py",)
    assert {name for name, each in found.items() if each.flagged} == {"of-a", "of-both"}


def test_a_memory_whose_file_is_gone_says_so(memories: Memories, project: Path) -> None:
    remember(memories, "of-a", ("a.py", name_of(project / "a.py")))
    (project / "a.py").unlink()
    found = checked(memories, project)["of-a"]
    assert found.freshness.state == GONE
    assert str(found.freshness) == "gone: a.py"
    assert found.flagged


def test_what_cannot_be_known_is_not_flagged(memories: Memories, project: Path) -> None:
    remember(memories, "of-none")
    remember(memories, "of-a-list", ("a.py", ""))
    remember(memories, "of-outside", ("../outside.py", "0" * 40))
    remember(memories, "of-a-page", ("https://example.org/a.py", ""))
    for found in checked(memories, project).values():
        assert (found.freshness.state, found.flagged) == (UNKNOWN, False)


def test_one_file_that_is_not_known_hides_no_change_and_vouches_for_none(
    memories: Memories, project: Path
) -> None:
    remember(memories, "mixed", ("b.py", ""), ("a.py", name_of(project / "a.py")))
    assert checked(memories, project)["mixed"].freshness.state == UNKNOWN
    (project / "a.py").write_text("a = 2\n")
    assert checked(memories, project)["mixed"].freshness.state == CHANGED


def test_links_to_memories_that_are_not_there_are_dead(memories: Memories, project: Path) -> None:
    remember(memories, "there")
    body = (
        "See [this](there.md), [that](gone.md#part), [[there]], [[lost|with words]] and [[There]]. "
        "Not memories: [page](https://example.org/x.md), [file](docs/y.md), [index](MEMORY.md), [z](z.txt)."
    )
    remember(memories, "links", body=body)
    found = checked(memories, project)
    assert found["links"].dead_links == ("gone", "lost")
    assert found["links"].flagged
    assert not found["there"].flagged


def test_a_link_to_a_memory_that_was_not_looked_at_is_not_dead(
    memories: Memories, project: Path
) -> None:
    with memories.change("many") as change:
        for number in range(201):
            change.write(Memory(f"m{number}", "d", "project", f"See [[m{(number + 1) % 201}]]."))
    assert len(check_memories(memories, str(project))) == 200
    assert not any(each.flagged for each in check_memories(memories, str(project)))
