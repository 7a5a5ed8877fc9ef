"""A file that somebody saves while it is written stays as it is, and nobody is told that it was changed."""

import os
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

from aforesaid import clock, wiring
from aforesaid.cli.main import cli
from aforesaid.errors import Edited, MemoryRefused
from aforesaid.mcp.context import Context, call
from aforesaid.memory.api import Memory as Own
from aforesaid.memory.changes import Memories
from aforesaid.memory.extraction import extract
from aforesaid.memory.extraction.extract import apply_statements
from aforesaid.memory.extraction.rules import statements
from aforesaid.memory.files import FileChange
from aforesaid.memory.history import Entry, History
from aforesaid.memory.tool import MemoryTool
from aforesaid.model.memories import Memory
from aforesaid.paths import Paths
from tests.support.memory_edits import MINE, edit_while_swapping

PORT = Memory(
    "api-port", "The API listens on port 8081", "project", "The API listens on port 8081."
)
OLD = Memory("old-one", "It is retired", "project", "Body.")


@pytest.fixture
def project(home: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("AFORESAID_SYNTHESIS_PROVIDER", "rules")
    with here().change("begin") as change:
        change.write(PORT)
        change.write(OLD)
        change.retire("old-one", "old")
    return folder


def here() -> Memories:
    return wiring.memories(wiring.home(), str(Path.cwd()), clock.now)


@pytest.fixture
def saved(project: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Path]]:
    """Somebody saves whatever is about to be written, in that moment."""
    open_entry, touched = History.open, []

    def open_and_edit(history: History, at: int, reason: str, files: Sequence[FileChange]) -> Entry:
        made = open_entry(history, at, reason, files)
        for each in files:
            each.path.parent.mkdir(parents=True, exist_ok=True)
            each.path.write_bytes(MINE)
            touched.append(each.path)
        return made

    monkeypatch.setattr(History, "open", open_and_edit)
    yield touched
    assert touched
    for path in touched:
        assert path.read_bytes() == MINE
    assert [entry.reason for entry in here().history.log()] == ["begin"]


@pytest.mark.parametrize(
    "command",
    [
        ("pin", "api-port"),
        ("forget", "api-port"),
        ("forget", "old-one", "--undo"),
        ("memory", "undo"),
    ],
)
def test_a_command_says_so_and_what_to_do(saved: list[Path], command: tuple[str, ...]) -> None:
    done = CliRunner().invoke(cli, command)
    assert isinstance(done.exception, Edited)
    assert "ry again" in str(done.exception)
    assert str(saved[0]) in str(done.exception)
    assert done.output == ""


def test_what_was_typed_into_the_editor_is_kept(saved: list[Path], tmp_path: Path) -> None:
    script = tmp_path / "editor.py"
    script.write_text("import sys; open(sys.argv[1], 'a').write('Typed.')")
    editor = shlex.join([sys.executable, str(script)])
    done = CliRunner().invoke(cli, ["edit", "api-port"], env={"EDITOR": editor})
    assert isinstance(done.exception, Edited)
    found = re.search(r"Your text is kept: (\S+)\. Fix", str(done.exception))
    assert found is not None
    kept = Path(found[1])
    assert kept.read_text().endswith("Typed.")
    kept.unlink()


@pytest.mark.parametrize("undo", [False, True])
def test_an_agent_that_forgets_is_told(saved: list[Path], project: Path, undo: bool) -> None:
    place = Context({**os.environ, "CLAUDE_PROJECT_DIR": str(project)}, clock.now)
    name = "old-one" if undo else "api-port"
    reply = call(place, "forget", {"id": f"memory:{name}", "undo": undo})
    place.close()
    assert reply.is_error
    assert "then try again" in reply.text


REMEMBERED: list[Callable[[], object]] = [
    lambda: remember(name="api-port", text="The API listens on port 9000."),
    lambda: remember(text="The API listens on port 9000, not 8081."),
    lambda: remember(text="The API listens on port 8081.", pinned=True),
    lambda: remember(text="Deploy on Fridays."),
    lambda: Own(Path.cwd(), encoder="none").remember("Other words.", name="api-port"),
]


def remember(text: str, name: str | None = None, *, pinned: bool = False) -> object:
    wanted = extract.RememberRequest(text, name=name, pinned=pinned)
    return extract.remember(here(), wanted, str(Path.cwd()))


@pytest.mark.parametrize("act", REMEMBERED)
def test_what_could_not_be_remembered_is_refused(
    saved: list[Path], act: Callable[[], object]
) -> None:
    with pytest.raises(MemoryRefused, match=r"edit"):
        act()


def test_what_a_turn_taught_is_skipped_where_it_could_not_be_written(saved: list[Path]) -> None:
    found = statements("Never push to main. I prefer tabs.", "")
    done = apply_statements(here(), found, ("event 1",), clock.now)
    assert (done.added, done.updated) == ((), ())
    assert len(done.skipped) == len(found) == 2
    assert all("edited" in why for why in done.skipped)


def test_a_library_user_gets_the_rest_of_what_a_turn_taught(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edit_while_swapping(monkeypatch, "prefers-tabs")
    talk = [{"role": "user", "content": "Never push to main. I prefer tabs."}]
    (kept,) = Own(Path.cwd(), encoder="none").extract_memories(talk)
    assert "push" in kept.memory.description


def test_the_memory_tool_tells_its_model(saved: list[Path]) -> None:
    tool = MemoryTool(Own(Path.cwd(), encoder="none"))
    told = tool.handle({"command": "create", "path": "/memories/notes.txt", "file_text": "x"})
    assert told.startswith("Error: The file was changed meanwhile.")
