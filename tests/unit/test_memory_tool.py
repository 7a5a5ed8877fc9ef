"""Anthropic's memory tool on our files: its contract, and that nothing leads out of its folders."""

import os
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aforesaid.memory.changes import undo_change
from aforesaid.memory.format import MAX_FILE_BYTES
from aforesaid.memory.history import History
from aforesaid.memory.tool import (
    MAX_FILES,
    MemoryTool,
    ToolError,
    format_size,
    resolve_path,
    split_path,
)
from aforesaid.model.memories import OF_PROJECT, OF_USER
from tests.support.values import require

NO_SUCH = "The path {} does not exist. Please provide a valid path."


class Tool:
    """A tool on a folder, asked as a model asks."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.tool = MemoryTool(folder)

    def __call__(self, command: str, path: Any = None, **given: Any) -> str:
        asked = {"command": command, **({"path": path} if path is not None else {}), **given}
        return self.tool.handle(asked)

    def create(self, path: str, text: str) -> None:
        said = self("create", path, file_text=text)
        assert said.startswith(f"File created successfully at: {path}"), said

    def text(self, path: str) -> str:
        head, *lines = self("view", path).split("\n")
        assert head.startswith("Here's the content of"), head
        return "\n".join(line.split("\t", 1)[1] for line in lines)

    def entries(self, path: str = "/memories") -> list[str]:
        return [line.split("\t")[1] for line in self("view", path).split("\n")[1:]]


@pytest.fixture
def tool(tmp_path: Path) -> Tool:
    return Tool(tmp_path / "kept")


def test_the_definition_is_what_the_api_wants() -> None:
    assert MemoryTool.definition == {"type": "memory_20250818", "name": "memory"}


def test_an_empty_memory_can_be_viewed(tool: Tool) -> None:
    assert tool("view", "/memories") == (
        "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items and "
        "node_modules:\n0B\t/memories\n0B\t/memories/user"
    )
    assert not tool.folder.exists()  # looking makes nothing


def test_folders_are_shown_two_levels_deep_with_sizes(tool: Tool) -> None:
    tool.create("/memories/notes.txt", "x" * 2048)
    tool.create("/memories/a/b/c.txt", "deep")
    tool.create("/memories/a/node_modules/d.txt", "skipped")
    (tool.folder / "files/project/a/.hidden").write_text("hidden")
    lines = tool("view", "/memories").split("\n")[1:]
    assert lines == [
        "2.0K\t/memories",
        "4B\t/memories/a",
        "4B\t/memories/a/b",
        "2.0K\t/memories/notes.txt",
        "0B\t/memories/user",
    ]
    assert tool.entries("/memories/a/") == ["/memories/a", "/memories/a/b", "/memories/a/b/c.txt"]


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0B"), (1023, "1023B"), (1536, "1.5K"), (1024 * 1024, "1.0M")]
)
def test_sizes_are_for_people(size: int, text: str) -> None:
    assert format_size(size) == text


def test_a_file_is_shown_with_line_numbers_of_six_places(tool: Tool) -> None:
    tool.create("/memories/notes.txt", "one\ntwo\n\nfour\n")
    assert tool("view", "/memories/notes.txt") == (
        "Here's the content of /memories/notes.txt with line numbers:\n"
        "     1\tone\n     2\ttwo\n     3\t\n     4\tfour"
    )
    shown = tool("view", "/memories/notes.txt", view_range=[2, 3]).split("\n")[1:]
    assert shown == ["     2\ttwo", "     3\t"]
    assert tool("view", "/memories/notes.txt", view_range=[4, -1]).endswith("\n     4\tfour")


@pytest.mark.parametrize("wrong", [[0, 1], [5, 6], [3, 2], [1], "1-2", [1.5, 2], [True, 2], {}])
def test_a_wrong_range_is_explained(tool: Tool, wrong: Any) -> None:
    tool.create("/memories/notes.txt", "one\ntwo\n")
    assert "view_range" in tool("view", "/memories/notes.txt", view_range=wrong)


def test_a_long_file_is_shown_in_parts(tool: Tool) -> None:
    tool.create("/memories/long.txt", "".join(f"line {n} {'x' * 90}\n" for n in range(1, 2001)))
    *_, last = tool("view", "/memories/long.txt").split("\n")
    assert last.startswith("… cut before line ")
    at = int(last.split("line ")[1].split(" ")[0])
    assert f"line {at} " in tool("view", "/memories/long.txt", view_range=[at, at])


def test_what_is_not_there_cannot_be_used(tool: Tool) -> None:
    path = "/memories/none.txt"
    assert tool("view", path) == NO_SUCH.format(path)
    assert tool("str_replace", path, old_str="a", new_str="b") == f"Error: {NO_SUCH.format(path)}"
    assert tool("insert", path, insert_line=0, insert_text="a") == f"Error: {NO_SUCH.format(path)}"
    assert tool("delete", path).startswith(f"Error: The path {path} does not exist")
    said = tool("rename", old_path=path, new_path="/memories/other.txt")
    assert said.startswith(f"Error: The path {path} does not exist")


def test_a_file_is_created_once(tool: Tool) -> None:
    path = "/memories/notes.txt"
    assert tool("create", path, file_text="one\n") == f"File created successfully at: {path}"
    assert tool("create", path, file_text="two\n") == f"Error: File {path} already exists"
    assert tool.text(path) == "one"
    assert tool("create", "/memories", file_text="") == "Error: File /memories already exists"


def test_str_replace_shows_what_it_changed(tool: Tool) -> None:
    tool.create("/memories/a.txt", "1\n2\n3\n4\n5\n6\n7\n")
    assert tool("str_replace", "/memories/a.txt", old_str="4\n", new_str="four\nand a half\n") == (
        "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n"
        "     2\t2\n     3\t3\n     4\tfour\n     5\tand a half\n     6\t5\n     7\t6\n     8\t7"
    )
    tool("str_replace", "/memories/a.txt", old_str="and a half\n")
    assert tool.text("/memories/a.txt") == "1\n2\n3\nfour\n5\n6\n7"


def test_str_replace_wants_a_text_that_is_there_once(tool: Tool) -> None:
    tool.create("/memories/a.txt", "red\nblue\nred blue red\n")
    assert tool("str_replace", "/memories/a.txt", old_str="green", new_str="x") == (
        "No replacement was performed, old_str `green` did not appear verbatim in /memories/a.txt."
    )
    assert tool("str_replace", "/memories/a.txt", old_str="red", new_str="x") == (
        "No replacement was performed. Multiple occurrences of old_str `red` in lines: 1, 3, 3. Please "
        "ensure it is unique"
    )
    assert tool("str_replace", "/memories/a.txt", old_str="", new_str="x").startswith(
        "No replacement"
    )
    assert tool.text("/memories/a.txt") == "red\nblue\nred blue red"


def test_lines_are_inserted_after_that_many(tool: Tool) -> None:
    path = "/memories/todo.txt"
    tool.create(path, "a\nb")
    assert (
        tool("insert", path, insert_line=1, insert_text="between\n")
        == f"The file {path} has been edited."
    )
    tool("insert", path, insert_line=0, insert_text="first")
    tool("insert", path, insert_line=4, insert_text="last\n\n")
    assert tool.text(path) == "first\na\nbetween\nb\nlast\n"
    for wrong in (-1, 7, None, "1", 1.5, True):
        said = tool("insert", path, insert_line=wrong, insert_text="x")
        assert said.endswith("It should be within the range of lines of the file: [0, 6]")


def test_files_and_folders_are_deleted(tool: Tool) -> None:
    tool.create("/memories/a/b/c.txt", "c")
    tool.create("/memories/a/d.txt", "d")
    assert tool("delete", "/memories/a/d.txt") == "Successfully deleted /memories/a/d.txt"
    assert tool("delete", "/memories/a") == "Successfully deleted /memories/a"
    assert tool.entries() == ["/memories", "/memories/user"]
    for path in ("/memories", "/memories/", "/memories/user"):
        assert tool("delete", path).startswith("Error: ")


def test_files_and_folders_are_renamed(tool: Tool) -> None:
    tool.create("/memories/a/b/c.txt", "c")
    tool.create("/memories/other.txt", "o")
    said = tool("rename", old_path="/memories/a", new_path="/memories/z/y")
    assert said == "Successfully renamed /memories/a to /memories/z/y"
    assert tool.text("/memories/z/y/b/c.txt") == "c"
    taken = tool("rename", old_path="/memories/z/y/b/c.txt", new_path="/memories/other.txt")
    assert taken == "Error: The destination /memories/other.txt already exists"
    assert tool("rename", old_path="/memories/z", new_path="/memories/z/x").startswith("Error: ")
    assert tool("rename", old_path="/memories", new_path="/memories/all").startswith("Error: ")
    assert tool("rename", old_path="/memories/z", new_path="/memories").startswith("Error: ")


# Memories


def test_a_memory_that_a_model_makes_is_a_whole_one(tool: Tool) -> None:
    said = tool(
        "create", "/memories/release_rules.md", file_text="# Releases\nCut from main only.\n"
    )
    assert said.split("\n") == [
        "File created successfully at: /memories/release_rules.md",
        "It is kept as /memories/release-rules.md and begins with 7 lines of front matter: view it before "
        "you edit it by lines.",
    ]
    stored = require(tool.tool._memories.get("release-rules"))
    assert (stored.scope, stored.memory.type) == (OF_PROJECT, "project")
    assert stored.memory.description == "Releases: Cut from main only."
    assert stored.memory.extra == {"by": "agent"}
    assert stored.memory.body == "# Releases\nCut from main only."
    assert "release-rules" in tool.text("/memories/MEMORY.md")
    # Any way of writing the name leads there.
    assert tool.text("/memories/release_rules.md") == tool.text("/memories/release-rules.md")
    assert tool("create", "/memories/Release Rules.md", file_text="x").endswith("already exists")


def test_front_matter_of_the_models_own_is_taken(tool: Tool) -> None:
    text = "---\nname: x\ndescription: Tabs, not spaces\ntype: user\nmood: good\npinned: true\n---\nTabs.\n"
    said = tool("create", "/memories/tabs.md", file_text=text)
    assert "kept as /memories/user/tabs.md" in said  # the type says whose it is
    stored = require(tool.tool._memories.get("tabs"))
    assert (stored.scope, stored.memory.description) == (OF_USER, "Tabs, not spaces")
    assert stored.memory.extra["mood"] == "good"
    assert not stored.memory.pinned  # that is the user's to say


def test_what_would_be_no_memory_is_refused_and_changes_nothing(tool: Tool) -> None:
    tool.create("/memories/tabs.md", "Tabs.")
    before = tool.text("/memories/tabs.md")
    said = tool("str_replace", "/memories/tabs.md", old_str="type: project", new_str="type: banana")
    assert "not be a valid memory" in said
    assert "banana" in said
    assert tool.text("/memories/tabs.md") == before
    assert "not be a valid memory" in tool(
        "create", "/memories/y.md", file_text="---\n- a list\n---\n"
    )


def test_an_edit_that_drops_the_front_matter_keeps_it(tool: Tool) -> None:
    tool.create("/memories/user/tabs.md", "Tabs.")
    before = tool.text("/memories/user/tabs.md")
    tool("str_replace", "/memories/user/tabs.md", old_str=before, new_str="Spaces.")
    stored = require(tool.tool._memories.get("tabs"))
    assert (stored.memory.type, stored.memory.body) == ("user", "Spaces.")
    assert stored.memory.created


def test_lines_are_inserted_into_a_memory(tool: Tool) -> None:
    tool.create("/memories/todo.md", "one\ntwo\n")
    lines = tool.text("/memories/todo.md").split("\n")
    tool(
        "insert",
        "/memories/todo.md",
        insert_line=lines.index("one") + 1,
        insert_text="and a half\n",
    )
    assert tool.text("/memories/todo.md").endswith("\n\none\nand a half\ntwo")


def test_a_deleted_memory_is_retired(tool: Tool) -> None:
    tool.create("/memories/tabs.md", "Tabs.")
    assert tool("delete", "/memories/tabs.md") == "Successfully deleted /memories/tabs.md"
    memories = tool.tool._memories
    assert memories.get("tabs") is None
    assert [each.memory.name for each in memories.retired().memories] == ["tabs"]
    tool.create("/memories/tabs.md", "Tabs again.")


def test_what_the_user_pinned_stays(tool: Tool) -> None:
    tool.create("/memories/tabs.md", "Tabs.")
    _pin(tool, "tabs")
    assert "pinned" in tool("delete", "/memories/tabs.md")
    assert "pinned" in tool(
        "rename", old_path="/memories/tabs.md", new_path="/memories/old/tabs.txt"
    )
    tool("rename", old_path="/memories/tabs.md", new_path="/memories/user/indentation.md")
    stored = require(tool.tool._memories.get("indentation"))
    assert stored.memory.pinned
    tool("str_replace", "/memories/user/indentation.md", old_str="pinned: true\n", new_str="")
    stored = require(tool.tool._memories.get("indentation"))
    assert stored.memory.pinned


def test_a_memory_that_gets_its_name_back_replaces_only_the_other_one(tool: Tool) -> None:
    tool.create("/memories/a.md", "Tabs.")
    tool("rename", old_path="/memories/a.md", new_path="/memories/b.md")
    tool("rename", old_path="/memories/b.md", new_path="/memories/a.md")
    assert require(tool.tool._memories.get("a")).memory.replaces == ("b",)
    tool("rename", old_path="/memories/a.md", new_path="/memories/b.md")
    assert require(tool.tool._memories.get("b")).memory.replaces == ("a",)


def test_a_memory_becomes_the_users_and_a_plain_file_and_a_memory_again(tool: Tool) -> None:
    tool.create("/memories/tabs.md", "Tabs.")
    tool("rename", old_path="/memories/tabs.md", new_path="/memories/user/tabs.md")
    stored = require(tool.tool._memories.get("tabs"))
    assert (stored.scope, stored.memory.type) == (OF_USER, "user")
    tool("rename", old_path="/memories/user/tabs.md", new_path="/memories/old/tabs.txt")
    assert tool.tool._memories.get("tabs") is None
    tool("rename", old_path="/memories/old/tabs.txt", new_path="/memories/spaces.md")
    stored = require(tool.tool._memories.get("spaces"))
    assert stored.memory.body == "Tabs."
    assert stored.memory.type == "user"  # it said so itself
    assert tool.entries() == [
        *("/memories", "/memories/user", "/memories/user/MEMORY.md", "/memories/user/spaces.md"),
    ]


def test_a_broken_file_can_be_seen_and_mended_and_not_broken_further(tool: Tool) -> None:
    tool.create("/memories/tabs.md", "Tabs.")
    file = tool.folder / "project/tabs.md"
    file.write_text("---\ntype: banana\n---\nTabs.\n")
    assert "banana" in tool.text("/memories/tabs.md")
    said = tool("str_replace", "/memories/tabs.md", old_str="banana", new_str="apple")
    assert "not be a valid memory" in said
    tool("str_replace", "/memories/tabs.md", old_str="banana", new_str="feedback")
    stored = require(tool.tool._memories.get("tabs"))
    assert stored.memory.type == "feedback"


def test_the_index_is_read_and_never_written(tool: Tool) -> None:
    tool.create("/memories/tabs.md", "Tabs.")
    for index in ("/memories/MEMORY.md", "/memories/memory.md", "/memories/user/MEMORY.md"):
        for said in (
            tool("create", index, file_text="mine"),
            tool("str_replace", index, old_str="tabs", new_str="mine"),
            tool("insert", index, insert_line=0, insert_text="mine"),
            tool("delete", index),
            tool("rename", old_path=index, new_path="/memories/mine.md"),
            tool("rename", old_path="/memories/tabs.md", new_path=index),
        ):
            assert said.startswith("Error: "), said
    assert tool.text("/memories/MEMORY.md") == "- [tabs](tabs.md) — Tabs. (noted by the agent)"


# History


def test_every_change_can_be_undone_to_the_byte(tool: Tool) -> None:
    tool.create("/memories/tabs.md", "Tabs.")
    tool.create("/memories/notes/a.txt", "one\r\ntwo")
    memories = tool.tool._memories
    files = {path: path.read_bytes() for path in _files(tool.folder)}
    for command in (
        {"command": "delete", "path": "/memories/notes"},
        {"command": "delete", "path": "/memories/tabs.md"},
        {"command": "rename", "old_path": "/memories/notes", "new_path": "/memories/n"},
        {"command": "rename", "old_path": "/memories/tabs.md", "new_path": "/memories/n/t.txt"},
        {"command": "insert", "path": "/memories/tabs.md", "insert_line": 7, "insert_text": "x"},
        {"command": "create", "path": "/memories/new/a.bin.txt", "file_text": "new"},
    ):
        assert not tool.tool.handle(command).startswith("Error"), command
        undo_change(memories)
        assert {path: path.read_bytes() for path in _files(tool.folder)} == files, command


def test_an_edit_by_hand_is_in_the_history_before_it_is_edited_on(tool: Tool) -> None:
    tool.create("/memories/notes/a.txt", "one\n")
    file = tool.folder / "files/project/notes/a.txt"
    file.write_text("one\nby hand\n")
    tool("insert", "/memories/notes/a.txt", insert_line=2, insert_text="three")
    assert file.read_text() == "one\nby hand\nthree\n"
    reasons = [entry.reason for entry in tool.tool._memories.history.log()]
    assert reasons == [
        "memory tool: edited /memories/notes/a.txt",
        "edited by hand",
        "memory tool: created /memories/notes/a.txt",
    ]
    undo_change(tool.tool._memories)
    assert file.read_text() == "one\nby hand\n"


def test_a_change_that_was_cut_off_is_finished_by_whoever_looks_next(
    tool: Tool, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool.create("/memories/notes/a.txt", "a")

    class Killed(BaseException):
        pass

    def killed(*_: object, **__: object) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(History, "apply", killed)
        with pytest.raises(Killed):
            tool("rename", old_path="/memories/notes", new_path="/memories/kept")
    assert (tool.folder / "files/project/notes/a.txt").exists()
    assert tool.entries() == [
        "/memories",
        "/memories/kept",
        "/memories/kept/a.txt",
        "/memories/user",
    ]
    undo_change(tool.tool._memories)
    assert tool.text("/memories/notes/a.txt") == "a"


def test_many_threads_lose_nothing(tool: Tool) -> None:
    tool.create("/memories/log.txt", "")

    def work(number: int) -> None:
        other = MemoryTool(tool.folder)
        for at in range(3):
            done = other.handle(
                {
                    "command": "insert",
                    "path": "/memories/log.txt",
                    "insert_line": 0,
                    "insert_text": f"{number}.{at}",
                }
            )
            assert done.startswith("The file"), done
            made = other.handle(
                {"command": "create", "path": f"/memories/t{number}-{at}.md", "file_text": "x"}
            )
            assert made.startswith("File created"), made

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(tool.text("/memories/log.txt").split("\n")) == [
        f"{n}.{at}" for n in range(4) for at in range(3)
    ]
    assert len(tool.text("/memories/MEMORY.md").split("\n")) == 12


# Limits


def test_there_are_limits(tool: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "larger than" in tool(
        "create", "/memories/big.txt", file_text="x" * (MAX_FILE_BYTES + 1)
    )
    tool.create("/memories/grows.txt", "x" * (MAX_FILE_BYTES - 1))
    assert "larger than" in tool("insert", "/memories/grows.txt", insert_line=1, insert_text="xx")
    assert "NUL" in tool("create", "/memories/nul.txt", file_text="a\0b")
    tool.create("/memories/odd.txt", "a\ud800b")
    monkeypatch.setattr("aforesaid.memory.tool.MAX_FILES", 2)
    assert f"room for {MAX_FILES} files" in tool("create", "/memories/third.txt", file_text="")
    tool("delete", "/memories/odd.txt")
    tool.create("/memories/third.txt", "")
    monkeypatch.setattr("aforesaid.memory.tool.MAX_BYTES", MAX_FILE_BYTES)
    assert "room for" in tool(
        "insert", "/memories/third.txt", insert_line=0, insert_text="too much"
    )


@pytest.mark.parametrize(
    "command",
    [
        {},
        {"command": None},
        {"command": "format", "path": "/memories"},
        {"command": "view"},
        {"command": "view", "path": 12},
        {"command": "create", "path": "/memories/a.txt"},
        {"command": "create", "path": "/memories/a.txt", "file_text": 5},
        {"command": "rename", "old_path": "/memories/a.txt"},
        {"command": ["view"], "path": {}},
        "view",
        None,
    ],
)
def test_a_wrong_command_is_told_so(tool: Tool, command: Any) -> None:
    assert tool.tool.handle(command).startswith("Error: ")


# Confinement


OUTSIDE = [
    *[
        "/etc/passwd",
        "memories/a.txt",
        "/memories/../a.txt",
        "/memories/a/../../b.txt",
        "/memoriesx/a.txt",
    ],
    *[
        "/memories/..",
        "/memories/.",
        "/memories/./a.txt",
        "/memories/.git/config",
        "/memories/a/.b.txt",
    ],
    *[
        "/memories/a\\..\\b.txt",
        "/memories/%2e%2e/b.txt",
        "/memories/%2E%2e%2Fb.txt",
        "/memories/a%00.txt",
    ],
    *("/memories/a\0.txt", "/memories/a\nb.txt", "/memories/a\u202e.txt", "", " /memories"),
    *("//memories/a", "file:///memories/a", "~/a", "/memories/\ud800.txt"),
    *("/memories/" + "a" * 300, "/memories" + "/a" * 40),
]


def commands(path: str, other: str) -> list[dict[str, Any]]:
    """Everything that can be asked with a path; `other` is one that is there."""
    return [
        {"command": "view", "path": path},
        {"command": "create", "path": path, "file_text": "x"},
        {"command": "str_replace", "path": path, "old_str": "secret", "new_str": "b"},
        {"command": "insert", "path": path, "insert_line": 0, "insert_text": "x"},
        {"command": "delete", "path": path},
        {"command": "rename", "old_path": path, "new_path": "/memories/x.txt"},
        {"command": "rename", "old_path": other, "new_path": path},
    ]


@pytest.mark.parametrize("path", OUTSIDE)
def test_no_path_leads_out(tool: Tool, path: str) -> None:
    """T48: the memory tool's paths."""
    tool.create("/memories/kept.txt", "kept")
    before = _all(tool.folder.parent)
    for command in commands(path, "/memories/kept.txt"):
        assert tool.tool.handle(command).startswith("Error: "), command
    assert _all(tool.folder.parent) == before


def test_no_link_is_followed(tool: Tool, tmp_path: Path) -> None:
    """T48: links below the memory tool's folders."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text("secret")
    (outside / "secret.md").write_text("---\ndescription: secret\n---\nsecret\n")
    tool.create("/memories/a/b.txt", "b")
    tool.create("/memories/c.md", "c")
    base = tool.folder
    (base / "files/project/a/link.txt").symlink_to(outside / "secret.txt")
    (base / "files/project/away").symlink_to(outside)
    (base / "project/link.md").symlink_to(outside / "secret.md")
    (base / "project/gone.md").symlink_to(outside / "new.md")
    for path in ("a/link.txt", "away", "away/secret.txt", "away/new.txt", "link.md", "gone.md"):
        for command in commands(f"/memories/{path}", "/memories/a/b.txt"):
            assert tool.tool.handle(command).startswith("Error: "), command
    assert "secret" not in tool("view", "/memories")
    assert not tool("delete", "/memories/a").startswith("Error")
    assert sorted(path.name for path in outside.iterdir()) == ["secret.md", "secret.txt"]
    assert (outside / "secret.txt").read_text() == "secret"


def test_a_linked_folder_of_memories_is_not_followed(tool: Tool, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    tool.folder.mkdir()
    (tool.folder / "files").mkdir()
    (tool.folder / "files/project").symlink_to(outside)
    assert tool("create", "/memories/a.txt", file_text="x").startswith("Error: ")
    assert list(outside.iterdir()) == []


def test_neither_pipes_nor_bytes_are_shown(tool: Tool) -> None:
    tool.create("/memories/a.txt", "a")
    os.mkfifo(tool.folder / "files/project/pipe.txt")
    (tool.folder / "files/project/bytes.txt").write_bytes(b"\xff\xfe\0")
    assert tool("view", "/memories/pipe.txt").startswith("Error: ")
    assert tool("view", "/memories/bytes.txt") == "Error: /memories/bytes.txt is not a text file."


NAMES = st.sampled_from(
    ["..", ".", "", "a", "a.md", "user", "USER", "MEMORY.md", "b.txt", ".git", "~", "\0", "…"]
)
PATHS = st.one_of(
    st.text(max_size=40),
    st.lists(st.one_of(NAMES, st.text(max_size=8)), max_size=5).map(
        lambda names: "/".join(("/memories", *names))
    ),
    st.lists(NAMES, max_size=5).map("/".join),
)


@given(path=PATHS)
def test_whatever_the_path_it_stays_in_the_folders(path: str, tmp_path: Path) -> None:
    """T48: generated paths."""
    places = MemoryTool(tmp_path / "kept")._memories.places
    try:
        target = resolve_path(path, places)
    except ToolError as refused:
        str(refused).encode()  # and can be sent
        return
    assert split_path(target.display) is not None
    assert os.path.normpath(target.path) == str(target.path)
    inside = (places.user.path, places.project.path, places.files)
    assert any(target.path.is_relative_to(folder) for folder in inside)
    assert not any(part.startswith(".") for part in target.names)
    os.fsencode(target.path)


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
COMMANDS = st.one_of(
    st.fixed_dictionaries({"command": st.just("create"), "path": PATHS, "file_text": TEXTS}),
    st.fixed_dictionaries(
        {
            "command": st.just("insert"),
            "path": PATHS,
            "insert_line": st.integers(-1, 9),
            "insert_text": TEXTS,
        }
    ),
    st.fixed_dictionaries(
        {"command": st.just("str_replace"), "path": PATHS, "old_str": TEXTS, "new_str": TEXTS}
    ),
    st.fixed_dictionaries({"command": st.just("delete"), "path": PATHS}),
    st.fixed_dictionaries({"command": st.just("view"), "path": PATHS}),
    st.fixed_dictionaries({"command": st.just("rename"), "old_path": PATHS, "new_path": PATHS}),
)


@given(commands=st.lists(COMMANDS, max_size=4))
def test_whatever_is_asked_memories_stay_whole_and_nothing_else_is_touched(
    commands: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    around = tmp_path_factory.mktemp("around")
    (around / "mine.txt").write_text("mine")
    tool = MemoryTool(around / "kept")
    for command in commands:
        tool.handle(command).encode()
    assert {path.name for path in around.iterdir()} <= {"mine.txt", "kept"}
    assert (around / "mine.txt").read_text() == "mine"
    assert tool._memories.all().broken == ()


@given(text=TEXTS)
def test_a_plain_file_is_kept_to_the_character(
    text: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("plain")
    tool = MemoryTool(folder)
    said = tool.handle({"command": "create", "path": "/memories/a.txt", "file_text": text})
    if "\0" in text:
        assert said.startswith("Error: ")
    else:
        assert (folder / "files/project/a.txt").read_bytes() == text.encode()


def _pin(tool: Tool, name: str) -> None:
    with tool.tool._memories.change("pinned") as change:
        stored = require(change.get(name))
        change.write(replace(stored.memory, pinned=True), stored.checksum)


def _files(folder: Path) -> list[Path]:
    kept = (folder / part for part in ("user", "project", "files", "retired"))
    return sorted(path for part in kept for path in part.rglob("*") if path.is_file())


def _all(folder: Path) -> list[tuple[str, int]]:
    return sorted(
        (str(path), path.stat().st_size)
        for path in folder.rglob("*")
        if ".history" not in path.parts
    )
