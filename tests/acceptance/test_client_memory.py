"""Claude Code's own memories, with the real client: found where it keeps them, and left as they are."""

import re
import subprocess
from pathlib import Path

import pytest

from aforesaid.memory.claude_memory import (
    client_directory_path,
    client_folder,
)
from aforesaid.memory.ranking import confident_matches, rank_memories
from aforesaid.model.memories import OF_CLIENT
from tests.acceptance.product import Installation, last_request
from tests.support.client import Client, git_repo
from tests.support.scripted_api import ScriptedApi

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
        rank_memories(found.list().memories, "How do I start the pump in the cellar?")
    )
    assert (first.memory.memory.name, first.memory.scope) == ("pump", OF_CLIENT)
