"""Claude Code's own memories: found where the client has them, read, and left as they are."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from aforesaid import wiring
from aforesaid.memory import claude_memory
from aforesaid.memory.claude_memory import client_slug
from aforesaid.memory.folders import Folder
from aforesaid.model.memories import OF_PROJECT, OF_USER, Memory, StoredMemory
from aforesaid.paths import Paths
from tests.support.client import git_repo
from tests.support.client_directory import client_directory_path
from tests.support.stub_model import FakeClock
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
HEAD = """\
---
name: prefers-tabs
description: 'Tabs: not spaces'
metadata:
  type: feedback
  aforesaid: v"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return git_repo(tmp_path / "shop")


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path / "user")}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    path = tmp_path / "theirs"
    path.mkdir()
    return path


def usual(env: dict[str, str], root: Path) -> Path:
    return Path(env["HOME"], ".claude/projects", client_slug(str(root.resolve())), "memory")


def settings(path: Path, **values: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(values))


def ours(name: str, description: str = "", scope: str = OF_USER, created: int = 1) -> StoredMemory:
    memory = Memory(
        name, description or f"About {name}", "feedback", f"Body of {name}.", created=created
    )
    return StoredMemory(memory, scope, Path(f"{name}.md"), "", created)


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
    for setting in ("adopt", "share"):
        found = claude_memory.client_folder(str(project), env, setting)
        assert isinstance(found, Folder)
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
    assert claude_memory.client_loaded_names(found.path) == frozenset()
    assert claude_memory.share_memories((), found.path) == set()
    assert not found.path.exists()


# Shared


def test_ours_are_put_there_in_the_clients_form_and_taken_away_again(place: Path) -> None:
    (place / "pump.md").write_text(THEIRS)
    (place / "MEMORY.md").write_text("# Mine\n\n- [pump](pump.md) — The pump\n")
    before = contents(place)
    tabs = ours("prefers-tabs", "Tabs: not spaces")
    claude_memory.share_memories([tabs, ours("deploy", scope=OF_PROJECT)], place)
    text = (place / "prefers-tabs.md").read_text()
    assert text.startswith(HEAD)
    assert text.endswith("---\n\nBody of prefers-tabs.\n")
    index = (place / "MEMORY.md").read_text()
    assert index.startswith("# Mine\n\n- [pump](pump.md) — The pump\n\n<!-- aforesaid")
    assert "- [prefers-tabs](prefers-tabs.md) — Tabs: not spaces\n" in index
    assert claude_memory.client_loaded_names(place) == {"prefers-tabs", "deploy"}
    assert {"pump.md": before["pump.md"]}.items() <= contents(place).items()
    claude_memory.share_memories((), place)
    assert contents(place) == before


def test_what_is_shared_already_is_not_written_again(place: Path) -> None:
    (place / "MEMORY.md").write_text("# Mine\n")
    shared = [ours("a"), ours("b", created=2)]
    claude_memory.share_memories(shared, place)
    before = {path: path.stat() for path in place.iterdir()}
    assert claude_memory.share_memories(shared, place) == {"a", "b"}
    assert {path: path.stat() for path in place.iterdir()} == before


def test_what_changed_or_went_follows(place: Path) -> None:
    (place / "MEMORY.md").write_text("# Mine\n")
    claude_memory.share_memories([ours("a", "Old"), ours("b")], place)
    claude_memory.share_memories([ours("a", "New"), ours("c")], place)
    index = (place / "MEMORY.md").read_text()
    assert "New" in index
    assert "Old" not in index
    assert "b.md" not in index
    assert claude_memory.client_loaded_names(place) == {"a", "c"}
    claude_memory.share_memories([], place)
    assert contents(place) == {"MEMORY.md": b"# Mine\n"}


def test_a_file_that_was_edited_there_is_theirs(place: Path) -> None:
    (place / "MEMORY.md").write_text("# Mine\n")
    claude_memory.share_memories([ours("a"), ours("b")], place)
    edited = (place / "a.md").read_text().replace("Body of a", "No, it is otherwise")
    (place / "a.md").write_text(edited)
    claude_memory.share_memories([ours("a", "Newer"), ours("b")], place)
    assert (place / "a.md").read_text() == edited
    assert "a" in claude_memory.client_loaded_names(place), (
        "the client shows it: ours would be told beside it"
    )
    listed = claude_memory.ClientFolder(place, "client", writable=False).list().memories
    assert [each.memory.body for each in listed] == ["No, it is otherwise."]
    claude_memory.share_memories((), place)
    assert contents(place) == {
        "a.md": edited.encode(),
        "MEMORY.md": "# Mine\n- [a](a.md) — About a\n".encode(),
    }


def test_a_file_that_was_deleted_there_is_not_put_back(place: Path) -> None:
    (place / "MEMORY.md").write_text("# Mine\n")
    known = claude_memory.share_memories([ours("a"), ours("b")], place)
    (place / "a.md").unlink()
    for _ in range(2):
        known = claude_memory.share_memories([ours("a"), ours("b")], place, known)
        assert known == {"a", "b"}
        assert sorted(contents(place)) == ["MEMORY.md", "b.md"]
    assert claude_memory.client_loaded_names(place) == {"b"}
    claude_memory.share_memories((), place)
    assert contents(place) == {"MEMORY.md": b"# Mine\n"}


@pytest.mark.parametrize("kind", ["file", "link", "folder"])
def test_a_name_that_is_taken_is_left_alone(place: Path, kind: str, tmp_path: Path) -> None:
    target = place / "pump.md"
    match kind:
        case "file":
            target.write_text(THEIRS)
        case "link":
            (tmp_path / "elsewhere.md").write_bytes(
                claude_memory.render_shared(ours("pump").memory)
            )
            target.symlink_to(tmp_path / "elsewhere.md")
        case _:
            target.mkdir()
    assert claude_memory.share_memories([ours("pump"), ours("b")], place) == {"b"}
    assert claude_memory.client_loaded_names(place) == {"b"}
    claude_memory.share_memories((), place)
    assert target.exists()
    assert (tmp_path / "elsewhere.md").exists() == (kind == "link")


def test_lines_that_somebody_else_wrote_between_ours_stay(place: Path) -> None:
    (place / "MEMORY.md").write_text("# Mine")
    claude_memory.share_memories([ours("a")], place)
    (place / "pump.md").write_text(THEIRS)
    index = (place / "MEMORY.md").read_text()
    (place / "MEMORY.md").write_text(index.replace("- [a]", "- [Pump](pump.md) — hook\n- [a]"))
    claude_memory.share_memories([ours("a"), ours("b")], place)
    assert (place / "MEMORY.md").read_text().count("- [Pump](pump.md) — hook\n") == 1
    claude_memory.share_memories((), place)
    assert (place / "MEMORY.md").read_text() == "# Mine\n- [Pump](pump.md) — hook\n"


def test_a_line_of_theirs_to_a_memory_of_ours_is_not_doubled_and_goes_with_it(place: Path) -> None:
    (place / "MEMORY.md").write_text("- [Mine](a.md) — as the client put it\n- keep this\n")
    claude_memory.share_memories([ours("a")], place)
    assert (place / "MEMORY.md").read_text().count("a.md") == 1
    assert claude_memory.client_loaded_names(place) == {"a"}
    claude_memory.share_memories((), place)
    assert (place / "MEMORY.md").read_text() == "- keep this\n"


def test_without_an_index_the_client_makes_its_own(place: Path) -> None:
    (place / "pump.md").write_text(THEIRS)
    claude_memory.share_memories([ours("a")], place)
    assert sorted(contents(place)) == ["a.md", "pump.md"]
    assert claude_memory.client_loaded_names(place) == {"a"}
    claude_memory.share_memories((), place)
    assert sorted(contents(place)) == ["pump.md"]


@pytest.mark.parametrize("text", ["", "# Mine", "# Mine\r\n- x\r\n", "caf\udce9\n", "\n\n"])
def test_their_index_gets_its_bytes_back(place: Path, text: str) -> None:
    index = place / "MEMORY.md"
    index.write_bytes(text.encode("utf-8", "surrogateescape"))
    index.chmod(0o644)
    before = index.read_bytes()
    claude_memory.share_memories([ours("a")], place)
    claude_memory.share_memories([ours("a"), ours("b")], place)
    assert claude_memory.client_loaded_names(place) == {"a", "b"}
    claude_memory.share_memories((), place)
    assert index.read_bytes() == before
    assert index.stat().st_mode & 0o777 == 0o644


def test_an_index_that_is_a_link_is_left_alone(place: Path, tmp_path: Path) -> None:
    real = tmp_path / "index"
    real.write_text("- mine\n")
    (place / "MEMORY.md").symlink_to(real)
    claude_memory.share_memories([ours("a")], place)
    assert real.read_text() == "- mine\n"
    assert (place / "MEMORY.md").is_symlink()


def test_only_what_the_client_loads_counts_as_loaded(place: Path) -> None:
    (place / "MEMORY.md").write_text("".join(f"- line {n}\n" for n in range(190)))
    claude_memory.share_memories([ours(f"m{n:02}", created=n) for n in range(20)], place)
    index = (place / "MEMORY.md").read_text()
    assert len(index.splitlines()) == 200
    assert "14 more memories" in index
    assert len(claude_memory.client_loaded_names(place)) == 6
    assert "m19" in claude_memory.client_loaded_names(place), "the newest"


def test_a_hostile_description_makes_no_line_of_its_own(place: Path) -> None:
    (place / "MEMORY.md").touch()
    claude_memory.share_memories(
        [ours("a", "x\n- [evil](evil.md) — <!-- aforesaid: so far -->")], place
    )
    assert len((place / "MEMORY.md").read_text().splitlines()) == 4
    assert claude_memory.client_loaded_names(place) == {"a"}
    claude_memory.share_memories((), place)
    assert contents(place) == {"MEMORY.md": b""}


def test_files_are_for_the_owner_and_their_folder_keeps_its_rights(place: Path) -> None:
    place.chmod(0o755)
    claude_memory.share_memories([ours("a")], place)
    assert place.stat().st_mode & 0o777 == 0o755
    assert (place / "a.md").stat().st_mode & 0o077 == 0
    assert sorted(contents(place)) == ["a.md"]


# As the settings say


def shared(home: Paths, env: dict[str, str], directory: Path, setting: str, *kinds: str) -> None:
    chosen = wiring.home({"AFORESAID_HOME": str(home.data), "AFORESAID_MEMORY_CLIENT": setting})
    memories = wiring.memories(chosen, str(directory), FakeClock(1_800_000_000_000), env)
    with memories.change("test") as change:
        for kind in kinds:
            change.write(Memory(f"of-{kind}", f"About {kind}", kind, "Body."))
    claude_memory.sync_shared(setting, memories, str(directory), env)


def test_what_is_remembered_is_shared_and_withdrawn_as_the_settings_say(
    home: Paths, project: Path, env: dict[str, str], tmp_path: Path
) -> None:
    other = git_repo(tmp_path / "other")
    place, elsewhere = usual(env, project), usual(env, other)
    shared(home, env, project, "share", "user", "project")
    assert not place.exists(), "the client does not work there"
    for path in (place, elsewhere):
        path.mkdir(parents=True)
    (place / "pump.md").write_text(THEIRS)
    before = contents(place)
    shared(home, env, project, "adopt")
    assert contents(place) == before

    shared(home, env, project, "share")
    shared(home, env, other, "share")
    assert claude_memory.client_loaded_names(place) == {"of-user", "of-project"}
    assert claude_memory.client_loaded_names(elsewhere) == {"of-user"}
    (place / "of-user.md").unlink()
    shared(home, env, project, "share")
    assert not (place / "of-user.md").exists(), "it was deleted there"

    shared(home, env, project, "off")
    assert contents(place) == before
    assert contents(elsewhere) == {}, "wherever it was put"


def test_into_one_folder_for_all_projects_goes_what_is_for_all(
    home: Paths, project: Path, env: dict[str, str], tmp_path: Path
) -> None:
    moved = str(tmp_path / "mine")
    settings(Path(env["HOME"], ".claude/settings.json"), autoMemoryDirectory=moved)
    shared(home, env, project, "share", "user", "project")
    assert claude_memory.client_loaded_names(tmp_path / "mine") == {"of-user"}


def test_a_folder_that_cannot_be_written_is_no_fault_of_the_work(
    home: Paths, project: Path, env: dict[str, str]
) -> None:
    place = usual(env, project)
    place.parent.mkdir(parents=True)
    place.write_text("in the way")
    shared(home, env, project, "share", "user")
    assert place.read_text() == "in the way"
