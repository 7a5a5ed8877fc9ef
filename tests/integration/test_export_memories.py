"""Curated memories that move with everything else, by `aforesaid export` and `aforesaid import file`."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aforesaid import clock, wiring
from aforesaid.memory.changes import Memories
from aforesaid.memory.folders import render_index
from aforesaid.model.memories import Memory
from aforesaid.paths import Paths
from aforesaid.worker import rpc
from tests.support.product import aforesaid, settled, work

pytestmark = pytest.mark.slow

TABS = Memory("prefers-tabs", "The user prefers tabs", "user", "I prefer tabs.", pinned=True)
PORT = Memory("api-port", "The API listens on port 8081", "project", "It is set in server.py.")
OLD = Memory("old-port", "The API listens on port 80", "project", "It was set in server.py.")
SAW = Memory("saw", "The saw is blunt", "project", "Sharpen it.")
HAND = b"\xef\xbb\xbf---\r\ndescription: By hand\r\n---\r\n\r\nKept as it is.  \r\n"


@pytest.fixture
def project(home: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with memories of every kind."""
    monkeypatch.setenv("AFORESAID_SYNTHESIS_PROVIDER", "rules")
    folder = repository(tmp_path / "shop")
    remember(folder, TABS, PORT, OLD)
    with memories(folder).change("retired") as change:
        change.retire("old-port", "it moved")
    file_of(folder, "api-port").with_name("by-hand.md").write_bytes(HAND)
    file_of(folder, "api-port").with_name("broken.md").write_text("no front matter")
    return folder


@pytest.fixture
def there(tmp_path: Path) -> Iterator[Paths]:
    """Another machine's home."""
    path = tmp_path / "there"
    paths = Paths(path, path, path)
    yield paths
    rpc.stop(paths)


def repository(folder: Path) -> Path:
    subprocess.run(["git", "init", "--quiet", folder], check=True)
    return folder


def memories(folder: Path) -> Memories:
    return wiring.memories(wiring.home(), str(folder), clock.now)


def remember(folder: Path, *written: Memory) -> None:
    with memories(folder).change("remembered") as change:
        for memory in written:
            change.write(memory)


def file_of(folder: Path, name: str) -> Path:
    found = memories(folder).get(name)
    assert found is not None
    return found.path


def state(home: Paths) -> dict[str, bytes]:
    """Indexes too; not what sessions have said, which is told by their events."""
    return {
        path.relative_to(home.memory).as_posix(): path.read_bytes()
        for path in sorted(home.memory.rglob("*.md"))
        if path.parent.name != "sessions"
    }


def exported(file: Path, *arguments: str) -> list[dict[str, Any]]:
    done = aforesaid("export", "-o", str(file), *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    return [json.loads(line) for line in file.read_bytes().splitlines()]


def imported(file: Path, *arguments: str) -> dict[str, Any]:
    done = aforesaid("import", "file", "--json", str(file), *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def names(lines: list[dict[str, Any]]) -> list[str]:
    return [line["name"] for line in lines if line["record"] == "memory"]


@pytest.mark.quick
def test_memories_are_the_same_on_another_machine(
    home: Paths, project: Path, there: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work(project, "aaaa1111")
    settled(home)
    file = tmp_path / "all.jsonl.gz"
    done = aforesaid("export", "-o", str(file))
    assert "1 session, " in done.stdout
    assert "5 memories to " in done.stdout
    before = state(home)
    told = json.loads(aforesaid("export", "-o", str(file), "--json").stdout)
    assert told["memories"] == 5
    monkeypatch.setenv("AFORESAID_HOME", str(there.data))
    plan = imported(file, "--dry-run")
    assert imported(file)["new"] == plan["new"]
    assert (plan["new"]["memories"], plan["known"]["memories"]) == (5, 0)
    # By hand there was no change, so the index did not know of it yet.
    indexes = {name: data for name, data in state(there).items() if name.endswith("MEMORY.md")}
    assert before | indexes == state(there)
    for folder in memories(project).places.own:
        assert (folder.path / "MEMORY.md").read_text() == render_index(folder.list())
    assert "api-port" in aforesaid("memory", "list", cwd=project).stdout
    assert "api-port" in aforesaid("context", "--json", cwd=project).stdout
    again = aforesaid("import", "file", str(file))
    assert again.stdout.startswith("Imported: nothing.\n1 session here already.\n5 memories here")
    # Each is one change, and can be taken back.
    entries = json.loads(aforesaid("memory", "log", "--json", cwd=project).stdout)
    assert [entry["reason"] for entry in entries] == ["imported", "imported"]
    assert aforesaid("memory", "undo", cwd=project).returncode == 0
    assert [name for name in state(there) if "MEMORY" not in name] == ["user/prefers-tabs.md"]
    assert imported(file, "--dry-run")["new"]["memories"] == 4
    assert imported(file)["new"]["memories"] == 4
    assert before | indexes == state(there)


def test_nothing_here_is_overwritten_and_the_new_name_is_said(
    project: Path, there: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "all.jsonl"
    exported(file)
    monkeypatch.setenv("AFORESAID_HOME", str(there.data))
    mine = Memory("prefers-tabs", "The user prefers spaces", "user", "I prefer spaces.")
    remember(project, mine)
    kept = file_of(project, "prefers-tabs").read_bytes()
    done = aforesaid("import", "file", "--dry-run", str(file))
    assert "1 memory would be renamed, because the name is used: prefers-tabs-2." in done.stdout
    done = aforesaid("import", "file", str(file))
    assert "1 memory was renamed, because the name is used: prefers-tabs-2." in done.stdout
    assert imported(file)["memories"] == {"renamed": [], "refused": 0, "reasons": []}
    assert file_of(project, "prefers-tabs").read_bytes() == kept
    assert file_of(project, "prefers-tabs-2").read_text().endswith("I prefer tabs.\n")


def test_where_nothing_was_recorded_memories_alone_are_exported(
    home: Paths, project: Path, tmp_path: Path
) -> None:
    assert not home.database.exists()
    lines = exported(tmp_path / "all.jsonl")
    assert [line["record"] for line in lines] == [
        *("export", "memory", "project", "memory", "memory", "memory", "memory", "end")
    ]
    assert [line["retired"] for line in lines if line["record"] == "memory"] == [False] * 4 + [True]
    assert lines[2]["identities"] == [{"kind": "path", "identity": f"path:{project}"}]
    assert not home.database.exists()
    assert "aforesaid install" in aforesaid("export", "--project", "shop").stderr


def test_one_project_leaves_the_users_and_the_others_at_home(
    home: Paths, project: Path, tmp_path: Path
) -> None:
    other = repository(tmp_path / "mill")
    remember(other, SAW)
    work(project, "aaaa1111")
    work(other, "bbbb2222")
    settled(home)
    everything = exported(tmp_path / "all.jsonl")
    assert sorted(names(everything)) == [
        *("api-port", "broken", "by-hand", "old-port", "prefers-tabs", "saw")
    ]
    assert names(exported(tmp_path / "mill.jsonl", "--project", "mill")) == ["saw"]
    assert "prefers-tabs" not in names(exported(tmp_path / "shop.jsonl", "--project", "shop"))


def test_what_is_not_ours_stays(
    home: Paths, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AFORESAID_MEMORY_TEAM_FOLDER", "team")
    with memories(project).change("team") as change:
        change.write(SAW, scope="team")
    assert (project / "team" / "saw.md").exists()
    assert "saw" not in names(exported(tmp_path / "all.jsonl"))


def test_what_cannot_come_back_is_named_on_the_standard_error(
    home: Paths, project: Path, tmp_path: Path
) -> None:
    (home.memory / "user" / "latin.md").write_bytes(b"caf\xe9")
    done = aforesaid("export")
    assert done.returncode == 0
    told = f"Left out: {home.memory}/user/latin.md: it is not UTF-8: save it as UTF-8.\n"
    assert told in done.stderr
    assert "latin" not in done.stdout


def test_a_memory_that_can_be_none_is_refused_and_the_rest_is_taken(
    project: Path, there: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "all.jsonl"
    lines = exported(file)
    lines[1]["name"] = "../../../evil"
    lines[3]["text"] = "\0"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    monkeypatch.setenv("AFORESAID_HOME", str(there.data))
    for arguments in (("--dry-run",), ()):
        done = aforesaid("import", "file", str(file), *arguments)
        assert (done.returncode, "1 project, 3 memories" in done.stdout) == (0, True)
        assert done.stderr.splitlines() == [
            "The memory '../../../evil' of the user was not imported: it is not a valid file name.",
            "The memory 'api-port' of shop was not imported: it is not text: put a Markdown file there, or "
            "nothing.",
        ]
    assert imported(file)["memories"]["refused"] == 2
    assert not list(tmp_path.rglob("*evil*"))
