"""Claude Code's own memories, with the real client: found where it keeps them, left as they are, and beside
them ours, if that is asked for."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from aforesaid import clock, wiring
from aforesaid.memory.claude_memory import (
    client_folder,
    client_loaded_names,
    share_memories,
)
from aforesaid.memory.ranking import MemoryRanker, confident_matches
from aforesaid.model.memories import OF_CLIENT, OF_USER, Memory, StoredMemory
from aforesaid.worker import rpc
from tests.acceptance.product import MEMORY, Installation, last_request
from tests.support.client import Client, git_repo, until
from tests.support.client_directory import client_directory_path
from tests.support.scripted_api import Call, ScriptedApi, Text

pytestmark = pytest.mark.client

SAID = re.compile(r"file-based memory at `([^`]*)`")
PUMP = """\
---
name: pump
description: The pump in the cellar needs its valve opened first
metadata:
  type: project
---

Open the red valve before you start the pump.
"""


def where(api: ScriptedApi, client: Client, directory: Path, *args: str) -> Path | None:
    """Where the client says that its memories are."""
    prompt = f"hello from {directory.name} {len(api.requests)}"
    assert client.run(prompt, cwd=directory, args=args).returncode == 0
    found = SAID.search(last_request(api, prompt))
    return Path(found[1]) if found else None


def ours(name: str, description: str) -> StoredMemory:
    memory = Memory(name, description, "user", f"{description}.\n**Why:** They said so.", created=1)
    return StoredMemory(memory, OF_USER, Path(f"{name}.md"), "", 1)


def contents(place: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in place.iterdir()}


def git(folder: Path, *args: str) -> None:
    subprocess.run(["git", *args], cwd=folder, check=True, capture_output=True)


def test_the_folder_is_found_where_the_client_has_it(api: ScriptedApi, client: Client) -> None:
    below = client.project / "src" / "deep"
    below.mkdir(parents=True)
    git(client.project, "worktree", "add", "--quiet", str(client.root / "worktree"))
    git(client.root, "clone", "--quiet", "--bare", str(client.project), "bare.git")
    git(client.root / "bare.git", "worktree", "add", "--quiet", str(client.root / "of-bare"))
    apart = client.root / "apart"
    git(client.root, "init", "--quiet", f"--separate-git-dir={client.root}/elsewhere", str(apart))
    (client.root / "link").symlink_to(client.project)
    plain = client.root / "no git.here"
    plain.mkdir()
    directories = [
        *(below, client.root / "worktree", client.root / "of-bare", apart, client.root / "link"),
        *(
            plain,
            git_repo(client.root / "Grüße 日本 🎉 it's"),
            git_repo(client.root / ("long_" * 45)),
        ),
    ]

    for directory in directories:
        found = where(api, client, directory)
        assert found is not None
        assert client_directory_path(str(directory), client.environment()) == found, directory


def test_the_clients_settings_move_it_and_turn_it_off(api: ScriptedApi, client: Client) -> None:
    below = client.project / "below"
    (below / ".claude").mkdir(parents=True)
    user = {"autoMemoryDirectory": "~/mine"}
    off = {"autoMemoryEnabled": False}
    for settings, scope, directory in (
        (user, "user", client.project),
        (off, "project", client.project),
        (off, "project", below),  # not from below the root
        ({"autoMemoryDirectory": "relative"}, "local", below),
    ):
        client.settings(settings, scope)  # type: ignore[arg-type]
        found = where(api, client, directory)
        assert client_directory_path(str(directory), client.environment()) == found, (
            settings,
            scope,
            directory,
        )
    client.env["CLAUDE_CONFIG_DIR"] = str(client.root / "config")
    found = where(api, client, below)
    assert found is not None
    assert client_directory_path(str(below), client.environment()) == found
    client.env["CLAUDE_CODE_DISABLE_AUTO_MEMORY"] = "1"
    assert where(api, client, below) is None
    assert client_directory_path(str(below), client.environment()) is None


def test_theirs_is_found_by_recall_and_a_session_leaves_it_as_it_was(
    api: ScriptedApi, installed: Installation
) -> None:
    client = installed.client
    found = client_folder(str(client.project), client.environment(), "adopt")
    assert found is not None
    place = found.path
    place.mkdir(parents=True)
    (place / "pump.md").write_text(PUMP)
    (place / "MEMORY.md").write_text("- [Pump](pump.md) — open its valve first\n")
    before = contents(place)

    client.run("How do I start the pump in the cellar?")
    installed.settled()

    assert contents(place) == before
    (first, *_) = confident_matches(
        MemoryRanker().near(found.list().memories, "How do I start the pump in the cellar?")
    )
    assert (first.memory.memory.name, first.memory.scope) == ("pump", OF_CLIENT)


@pytest.mark.parametrize("index", [None, "# Mine\n\n- [Pump](pump.md) — open its valve first\n"])
def test_what_is_shared_the_client_tells_once_and_leaves_alone(
    api: ScriptedApi, client: Client, index: str | None
) -> None:
    place = client_directory_path(str(client.project), client.environment())
    assert place is not None
    place.mkdir(parents=True)
    (place / "pump.md").write_text(PUMP)
    if index is not None:
        (place / "MEMORY.md").write_text(index)
    before = contents(place)
    tabs = ours("prefers-tabs", 'Tabs: for indentation, never "spaces" #1')

    share_memories([tabs, ours("quotes", "Single quotes")], place)
    shared = contents(place)
    client.run("one")

    told = last_request(api, "one")
    assert told.count(tabs.memory.description) == 1
    assert told.count("(pump.md)") == 1
    assert "aforesaid: v" not in told, "marks are not for the model"
    assert contents(place).items() >= shared.items()
    assert client_loaded_names(place) == {"prefers-tabs", "quotes"}

    share_memories((), place)
    if index is None:  # the client has made one meanwhile
        (place / "MEMORY.md").unlink()
    assert contents(place) == before
    client.run("two")
    told = last_request(api, "two")
    assert "prefers-tabs" not in told
    assert told.count("(pump.md)") == 1


def test_the_client_reads_what_we_wrote_as_its_own(api: ScriptedApi, client: Client) -> None:
    """Without an index it makes one of the front matter: then it has understood ours."""
    place = client_directory_path(str(client.project), client.environment())
    assert place is not None
    tabs = ours("prefers-tabs", 'Tabs: for indentation, never "spaces" #1')
    share_memories([tabs], place)

    client.run("one")

    line = f"- [prefers-tabs](prefers-tabs.md) — {tabs.memory.description}"
    assert last_request(api, "one").count(line) == 1
    assert (place / "MEMORY.md").read_text().strip() == line
    # What the client made is no reason to list it twice.
    share_memories([tabs], place)
    assert (place / "MEMORY.md").read_text().count("prefers-tabs.md") == 1
    share_memories((), place)
    assert "prefers-tabs" not in (place / "MEMORY.md").read_text()


def test_an_edit_of_the_clients_model_is_kept(api: ScriptedApi, client: Client) -> None:
    place = client_directory_path(str(client.project), client.environment())
    assert place is not None
    share_memories([ours("prefers-tabs", "Tabs for indentation"), ours("b", "Another")], place)
    file = str(place / "prefers-tabs.md")
    change = {"file_path": file, "old_string": "They said so", "new_string": "It was agreed"}
    api.when("agreed", Call("Read", {"file_path": file}), Call("Edit", change), Text("Noted."))

    client.run("That was agreed, remember it so.", args=["--permission-mode", "acceptEdits"])

    edited = Path(file).read_text()
    assert "It was agreed" in edited, json.dumps(api.requests[-1]["body"]["messages"])[-2000:]
    share_memories([ours("prefers-tabs", "Tabs, always"), ours("b", "Another")], place)
    assert Path(file).read_text() == edited
    share_memories((), place)
    assert Path(file).read_text() == edited


def test_with_share_on_a_memory_reaches_the_model_once(
    api: ScriptedApi, prepared: Installation
) -> None:
    client = prepared.client
    client.env["AFORESAID_MEMORY_CLIENT"] = "share"
    prepared.cli("install")
    env = client.environment()
    place = client_directory_path(str(client.project), env)
    assert place is not None
    memories = wiring.memories(wiring.home(env), str(client.project), clock.now, env)
    with memories.change("test") as change:
        change.write(ours("prefers-tabs", "Tabs for indentation, never spaces").memory)

    prepared.cli("worker", "start")
    client.run("Let us begin.")
    told = last_request(api, "Let us begin.")
    assert told.partition(MEMORY)[2].count("Tabs for indentation, never spaces") == 1
    until(
        lambda: "prefers-tabs" in client_loaded_names(place),
        report=lambda: str(list(place.iterdir())),
    )
    prepared.settled()
    shared = contents(place)
    client.run("And now?")

    told = last_request(api, "And now?")
    assert told.count("Tabs for indentation, never spaces") == 1
    line = "- [prefers-tabs](prefers-tabs.md) — Tabs for indentation, never spaces"
    assert line in told.partition(MEMORY)[0]
    prepared.settled()
    assert contents(place).items() >= shared.items()

    client.env["AFORESAID_MEMORY_CLIENT"] = "adopt"
    rpc.stop(prepared.paths)
    client.run("And then?")
    until(lambda: not client_loaded_names(place))
    assert "prefers-tabs.md" not in contents(place)
