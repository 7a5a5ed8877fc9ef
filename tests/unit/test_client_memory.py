"""Claude Code's own memories: found where the client has them, read, and left as they are."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from aforesaid.memory import claude_memory
from aforesaid.memory.claude_memory import client_directory_path, client_slug
from tests.support.client import git_repo
from tests.support.tables import loop_over

THEIRS = """\
---
name: pump
description: The pump is in the cellar
metadata:
  type: project
---

It is.
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return git_repo(tmp_path / "shop")


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path / "user")}


def usual(env: dict[str, str], root: Path) -> Path:
    return Path(env["HOME"], ".claude/projects", client_slug(str(root.resolve())), "memory")


def settings(path: Path, **values: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(values))


def contents(place: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in place.iterdir()}


# Where it is


def test_a_repository_has_one_folder_for_sub_folders_and_worktrees(
    project: Path, env: dict[str, str], tmp_path: Path
) -> None:
    below = project / "src" / "deep"
    below.mkdir(parents=True)
    worktree = tmp_path / "other"
    add = ["git", "worktree", "add", "--quiet", str(worktree)]
    subprocess.run(add, cwd=project, check=True, capture_output=True)
    link = tmp_path / "link"
    link.symlink_to(project)
    for directory in (project, below, worktree, link):
        assert client_directory_path(str(directory), env) == usual(env, project), directory
    plain = tmp_path / "plain" / "x"
    plain.mkdir(parents=True)
    assert client_directory_path(str(plain), env) == usual(env, plain)


def test_a_git_file_that_leads_to_no_worktree_is_a_repository_of_its_own(
    tmp_path: Path, env: dict[str, str]
) -> None:
    module = tmp_path / "super" / "module"
    module.mkdir(parents=True)
    (module / ".git").write_text("gitdir: ../.git/modules/module\n")
    assert client_directory_path(str(module), env) == usual(env, module)


@loop_over(
    ("path", "expected"),
    [
        ("/home/dev/my.shop_2 b", "-home-dev-my-shop-2-b"),
        ("/x/Grüße", "-x-Gr--e"),
        ("/x/日本", "-x---"),
        ("/x/🎉", "-x---"),
        ("/" + "a" * 199, "-" + "a" * 199),
        # As the client itself named the folder.
        (
            "/tmp/c-exp/cexp-w-oxxrb6gk/" + "L" * 120 + "/" + "m_" * 60,
            ("-tmp-c-exp-cexp-w-oxxrb6gk-" + "L" * 120 + "-" + "m-" * 60)[:200] + "-m2nu0p",
        ),
    ],
)
def test_every_other_character_becomes_a_hyphen_and_a_long_path_is_cut(
    path: str, expected: str
) -> None:
    assert client_slug(path) == expected


@pytest.mark.parametrize("name", ["CLAUDE_CONFIG_DIR"])
def test_the_clients_configuration_may_be_elsewhere(
    name: str, project: Path, env: dict[str, str], tmp_path: Path
) -> None:
    env[name] = str(tmp_path / "conf")
    expected = tmp_path / "conf/projects" / client_slug(str(project.resolve())) / "memory"
    assert client_directory_path(str(project), env) == expected
    settings(tmp_path / "conf/settings.json", autoMemoryEnabled=False)
    assert client_directory_path(str(project), env) is None


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        ("{tmp}/mem/", "{tmp}/mem"),
        ("{tmp}/x/../mem", "{tmp}/mem"),
        ("~/mem", "{tmp}/user/mem"),
        *((bad, None) for bad in ("~", "~/", "~/.", "~/../mem", "mem", "/", "/m", "")),
    ],
)
def test_the_folder_may_be_moved_by_a_setting(
    named: str, expected: str | None, project: Path, env: dict[str, str], tmp_path: Path
) -> None:
    value = named.replace("{tmp}", str(tmp_path))
    settings(Path(env["HOME"], ".claude/settings.json"), autoMemoryDirectory=value)
    moved = Path(expected.replace("{tmp}", str(tmp_path))) if expected else usual(env, project)
    assert client_directory_path(str(project), env) == moved


def test_a_projects_own_settings_do_not_choose_the_folder(
    project: Path, env: dict[str, str], tmp_path: Path
) -> None:
    """A repository brings them, even those that are meant to stay on one machine."""
    below = project / "below"
    below.mkdir()
    for file in (
        below / ".claude/settings.json",
        below / ".claude/settings.local.json",
        project / ".claude/settings.local.json",
    ):
        settings(file, autoMemoryDirectory=str(tmp_path / "private"))
        assert client_directory_path(str(below), env) is None, file
        settings(file, autoMemoryDirectory="not/absolute")
        assert client_directory_path(str(below), env) == usual(env, project)
        file.unlink()


def test_settings_that_are_a_pipe_a_device_or_huge_are_not_read(
    project: Path, env: dict[str, str]
) -> None:
    file = project / ".claude/settings.local.json"
    file.parent.mkdir()
    os.mkfifo(file)
    assert client_directory_path(str(project), env) == usual(env, project)
    file.unlink()
    file.symlink_to("/dev/zero")
    assert client_directory_path(str(project), env) == usual(env, project)
    file.unlink()
    file.touch()
    os.truncate(file, 1 << 40)
    assert client_directory_path(str(project), env) == usual(env, project)


def test_a_directory_cannot_call_itself_a_worktree_of_another_repository(
    project: Path, env: dict[str, str], tmp_path: Path
) -> None:
    worktree = tmp_path / "other"
    add = ["git", "worktree", "add", "--quiet", str(worktree)]
    subprocess.run(add, cwd=project, check=True, capture_output=True)
    claimed = tmp_path / "claimed"
    claimed.mkdir()
    (claimed / ".git").write_bytes((worktree / ".git").read_bytes())
    assert client_directory_path(str(claimed), env) == usual(env, claimed)


@pytest.mark.parametrize(
    ("variable", "setting", "on"),
    [
        (None, None, True),
        (None, False, False),
        (None, "false", True),
        ("1", True, False),
        ("yes", None, False),
        ("0", False, True),
        ("", False, False),
        ("x", None, True),
    ],
)
def test_the_client_may_be_told_to_keep_none(
    variable: str | None, setting: object, on: bool, project: Path, env: dict[str, str]
) -> None:
    if variable is not None:
        env["CLAUDE_CODE_DISABLE_AUTO_MEMORY"] = variable
    if setting is not None:
        settings(project / ".claude/settings.json", autoMemoryEnabled=setting)
    assert (client_directory_path(str(project), env) is not None) == on


def test_a_variable_in_the_clients_settings_counts_and_broken_settings_do_not(
    project: Path, env: dict[str, str]
) -> None:
    user = Path(env["HOME"], ".claude/settings.json")
    user.parent.mkdir(parents=True)
    for broken in ("{", "[]", '{"env": 1, "autoMemoryEnabled": null}'):
        user.write_text(broken)
        assert client_directory_path(str(project), env) == usual(env, project)
    settings(user, env={"CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1"})
    assert client_directory_path(str(project), env) is None


# Read


def test_theirs_are_read_unless_they_are_off(project: Path, env: dict[str, str]) -> None:
    place = usual(env, project)
    place.mkdir(parents=True)
    (place / "pump.md").write_text(THEIRS)
    (place / "MEMORY.md").write_text("- [pump](pump.md) — The pump\n")
    before = contents(place)
    found = claude_memory.client_folder(str(project), env, "adopt")
    assert found is not None
    assert not found.writable
    (memory,) = found.list().memories
    assert (memory.scope, memory.memory.type) == ("client", "project")
    assert memory.memory.description == "The pump is in the cellar"
    assert claude_memory.client_folder(str(project), env, "off") is None
    env["CLAUDE_CODE_DISABLE_AUTO_MEMORY"] = "1"
    assert claude_memory.client_folder(str(project), env, "adopt") is None
    assert contents(place) == before


def test_a_folder_that_is_not_there_is_empty(project: Path, env: dict[str, str]) -> None:
    found = claude_memory.client_folder(str(project), env, "adopt")
    assert found is not None
    assert found.list().memories == ()
    assert not found.path.exists()
