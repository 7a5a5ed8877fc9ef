"""Changing memories: all or nothing, whoever writes at the same time; what people edited is not lost."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from aforesaid import settings
from aforesaid.errors import Edited, MemoryRefused, NotFound
from aforesaid.memory import files
from aforesaid.memory.changes import Change, Memories
from aforesaid.memory.folders import Folder, Places, find_places, is_generated_index, render_index
from aforesaid.memory.format import checksum
from aforesaid.memory.history import BY_HAND, Entry, History
from aforesaid.model.memories import OF_CLIENT, Memory
from aforesaid.paths import Paths
from tests.support.values import require

TABS = Memory("prefers-tabs", "Tabs, not spaces", "user", "Indent with tabs.")
AUTH = Memory("auth-rewrite", "The rewrite is for compliance", "project", "It has a date.")
AUTHOR = ("-c", "user.name=dev", "-c", "user.email=dev@example.org")
PROCESSES, EACH = 16, 3
WRITER = """
import sys
from pathlib import Path
from aforesaid import settings
from aforesaid.memory.changes import Memories
from aforesaid.memory.folders import find_places
from aforesaid.model.memories import Memory
from aforesaid.paths import Paths
home, project, number, each = Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])
memories = Memories(find_places(Paths(home, home, home), project, settings.load(home / "none", {})))
sys.stdin.readline()
for turn in range(each):
    with memories.change(f"process {number} turn {turn}") as change:
        kind = "user" if turn % 2 else "project"
        change.write(Memory(f"of-{number}-{turn}", f"Of {number} in {turn}", kind, "Body."))
"""

MOVER = """
import sys
from dataclasses import replace
from pathlib import Path
from aforesaid import settings
from aforesaid.memory.changes import Memories
from aforesaid.memory.folders import find_places
from aforesaid.paths import Paths
home, project = Path(sys.argv[1]), sys.argv[2]
memories = Memories(find_places(Paths(home, home, home), project, settings.load(home / "none", {})))
while True:
    with memories.change("moved") as change:
        old = change.get("auth-rewrite")
        kind = "user" if old.memory.type == "project" else "project"
        change.write(replace(old.memory, type=kind), old.checksum)
"""
HOLDER = """
import fcntl, sys
file = open(sys.argv[1])
fcntl.flock(file, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""
Steps = tuple[Callable[[Change], object], ...]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    return folder


@pytest.fixture
def found(home: Paths, project: Path) -> Callable[..., Places]:
    def find(directory: Path = project, team: str = "", theirs: Folder | None = None) -> Places:
        env = {"AFORESAID_MEMORY_TEAM_FOLDER": team}
        return find_places(home, str(directory), settings.load(home.config_file, env), theirs)

    return find


@pytest.fixture
def memories(found: Callable[..., Places]) -> Memories:
    return Memories(found())


def write(memories: Memories, *given: Memory, reason: str = "test") -> None:
    with memories.change(reason) as change:
        for memory in given:
            change.write(memory)


def contents(folder: Path) -> dict[str, bytes]:
    """All there is but the history and the lock."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and not {".git", ".history", ".lock"} & set(path.relative_to(folder).parts)
    }


def names(memories: Memories) -> list[str]:
    return sorted(each.memory.name for each in memories.all().memories)


def test_a_memory_stands_where_its_type_says_with_an_index(memories: Memories) -> None:
    write(memories, TABS, AUTH)
    user, own = memories.places.user.path, memories.places.project.path
    assert (
        user / "MEMORY.md"
    ).read_text() == "- [prefers-tabs](prefers-tabs.md) — Tabs, not spaces\n"
    assert (own / "MEMORY.md").read_text().startswith("- [auth-rewrite](auth-rewrite.md) — ")
    stored = require(memories.get("prefers-tabs"))
    assert (stored.scope, stored.memory.body) == ("user", "Indent with tabs.")
    assert stored.memory.created
    assert stored.checksum == checksum(stored.path.read_bytes())


def test_everything_is_for_its_owner_alone(memories: Memories) -> None:
    write(memories, TABS, AUTH)
    root = memories.places.root
    for path in (root, *root.rglob("*")):
        if ".git" not in path.parts:
            assert path.stat().st_mode & 0o077 == 0, path


def test_memories_of_the_user_are_there_in_every_project(
    memories: Memories, found: Callable[..., Places], tmp_path: Path
) -> None:
    write(memories, TABS, AUTH)
    (tmp_path / "other").mkdir()
    other = Memories(found(tmp_path / "other"))
    assert names(memories) == ["auth-rewrite", "prefers-tabs"]
    assert names(other) == ["prefers-tabs"]


def test_reading_makes_nothing(memories: Memories) -> None:
    assert memories.all().memories == ()
    assert memories.get("nothing") is None
    assert memories.retired().memories == ()
    assert not memories.places.root.exists()


def test_an_error_in_the_block_leaves_everything_as_it_was(memories: Memories) -> None:
    write(memories, TABS)
    before = contents(memories.places.root)

    def fail() -> None:
        with memories.change("fails") as change:
            change.write(AUTH)
            change.retire("prefers-tabs", "no")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert contents(memories.places.root) == before
    assert len(memories.history.log()) == 1


def test_equal_content_is_no_change(memories: Memories) -> None:
    write(memories, TABS)
    stored = require(memories.get("prefers-tabs"))
    files_before = {path: path.stat().st_mtime_ns for path in memories.places.root.rglob("*")}
    with memories.change("again") as change:
        again = change.write(replace(TABS, updated=5, created=0), stored.checksum)
    assert again.checksum == stored.checksum
    assert change.entry is None
    assert {
        path: path.stat().st_mtime_ns for path in memories.places.root.rglob("*")
    } == files_before
    assert len(memories.history.log()) == 1


def test_the_index_is_the_same_to_the_byte_while_its_memories_are(memories: Memories) -> None:
    write(memories, TABS)
    index = memories.places.user.path / "MEMORY.md"
    before = index.stat().st_mtime_ns
    with memories.change("another folder") as change:
        change.write(AUTH)
        tabs = require(change.get("prefers-tabs"))
        change.write(replace(tabs.memory, body="Another body."), tabs.checksum)
    assert index.stat().st_mtime_ns == before


def test_whoever_rewrites_says_which_version_was_seen(memories: Memories) -> None:
    write(memories, TABS)
    stored = require(memories.get("prefers-tabs"))
    stored.path.write_text(stored.path.read_text() + "\nAnd never mix.\n")
    mine = stored.path.read_bytes()
    for expected in (stored.checksum, None, "0" * 64):
        with pytest.raises(Edited), memories.change("stale") as change:
            change.write(replace(TABS, body="Stale."), expected)
    with pytest.raises(Edited), memories.change("stale") as change:
        change.retire("prefers-tabs", "stale", expected=stored.checksum)
    assert stored.path.read_bytes() == mine
    with memories.change("seen") as change:
        change.write(replace(TABS, body="Fresh."), checksum(mine))
    fresh = require(memories.get("prefers-tabs"))
    assert fresh.memory.body == "Fresh."
    assert fresh.memory.created == stored.memory.created
    assert fresh.memory.updated


def test_a_memory_that_somebody_deleted_does_not_come_back(memories: Memories) -> None:
    write(memories, TABS)
    stored = require(memories.get("prefers-tabs"))
    stored.path.unlink()
    with pytest.raises(Edited, match="gone"), memories.change("stale") as change:
        change.write(replace(TABS, body="Stale."), stored.checksum)


def test_a_change_sees_itself(memories: Memories) -> None:
    with memories.change("twice") as change:
        first = change.write(TABS)
        change.write(replace(TABS, body="Second."))
        second = require(change.get("prefers-tabs"))
        assert second.checksum != first.checksum
        assert memories.all().memories == ()
        change.write(replace(TABS, body="Third."), second.checksum)
        change.write(AUTH)
        change.put(memories.places.project.file("auth-rewrite"), None)
    assert names(memories) == ["prefers-tabs"]
    assert memories.history.log()[0].paths == ("user/prefers-tabs.md",)


def test_a_hand_edit_between_commit_and_apply_survives_and_nothing_else_changes(
    memories: Memories, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(memories, TABS, AUTH)
    tabs, auth = require(memories.get("prefers-tabs")), require(memories.get("auth-rewrite"))
    apply = History.apply

    def edit_and_apply(history: History, entry: Entry) -> tuple[tuple[Path, ...], str | None]:
        tabs.path.write_text("mine\n")
        return apply(history, entry)

    monkeypatch.setattr(History, "apply", edit_and_apply)
    with memories.change("both", forgiving=True) as change:
        change.retire("prefers-tabs", "old")
        change.write(replace(AUTH, body="New."), auth.checksum)
    assert change.kept_by_hand[0] == tabs.path
    assert tabs.path.read_text() == "mine\n"
    assert memories.retired().memories == ()  # it is not in two places
    assert require(memories.get("auth-rewrite")).memory.body == AUTH.body


def test_a_hand_edit_while_a_change_is_put_together_survives(memories: Memories) -> None:
    write(memories, TABS, AUTH)
    tabs, auth = require(memories.get("prefers-tabs")), require(memories.get("auth-rewrite"))
    with memories.change("both", forgiving=True) as change:
        assert change.get("prefers-tabs") is not None  # it was looked at
        tabs.path.write_text("mine\n")
        change.write(replace(TABS, body="Stale."), tabs.checksum)
        change.write(replace(AUTH, body="New."), auth.checksum)
    assert change.kept_by_hand == (tabs.path, auth.path)
    assert tabs.path.read_text() == "mine\n"
    assert memories.history.log(1)[0].reason == BY_HAND


def test_a_hand_edit_after_a_crash_survives_and_the_change_has_not_happened(
    memories: Memories, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(memories, TABS, AUTH)
    tabs, auth = require(memories.get("prefers-tabs")), require(memories.get("auth-rewrite"))

    def crash(*arguments: object, **named: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(History, "apply", crash)
        with suppress(KeyboardInterrupt), memories.change("both") as change:
            change.write(replace(TABS, body="Stale."), tabs.checksum)
            change.write(replace(AUTH, body="New."), auth.checksum)
    assert memories.history.is_open
    tabs.path.write_text("---\ndescription: mine\n---\n")
    found = {each.memory.name: each.memory for each in memories.all().memories}
    assert found["prefers-tabs"].description == "mine"
    assert found["auth-rewrite"].body == AUTH.body
    write(memories, replace(TABS, name="next"))
    assert [entry.reason for entry in memories.history.log()] == ["test", BY_HAND, "test"]


def test_broken_files_are_reported_and_left_alone(memories: Memories) -> None:
    write(memories, TABS)
    bad = memories.places.user.file("bad")
    bad.write_bytes(b"---\ntype: [\n---\n")
    listing = memories.all()
    assert [each.path for each in listing.broken] == [bad]
    assert memories.get("bad") is None
    with pytest.raises(Edited, match="Fix it"), memories.change("over it") as change:
        change.write(Memory("bad", "d", "user", "b"))
    with pytest.raises(Edited, match="Fix it"), memories.change("away") as change:
        change.retire("bad", "broken")
    write(memories, AUTH)
    assert bad.read_bytes() == b"---\ntype: [\n---\n"
    assert "bad" not in (bad.parent / "MEMORY.md").read_text()


def test_one_name_is_one_memory_over_user_and_project(memories: Memories) -> None:
    write(memories, TABS)
    own = memories.places.project
    files.write_file(
        own.file("prefers-tabs"), memories.places.user.file("prefers-tabs").read_bytes()
    )
    listing = memories.all()
    assert [each.scope for each in listing.memories] == ["user"]
    assert "rename one" in listing.broken[0].why


def test_names_that_differ_in_case_alone_are_one_too_many(memories: Memories) -> None:
    for name in ("Tabs", "tabs"):
        path = memories.places.user.file(name)
        files.write_file(path, b"---\ndescription: d\n---\n")
    listing = memories.all()
    assert len(listing.memories) == 1
    assert "rename one" in listing.broken[0].why


def test_a_memory_whose_type_becomes_user_moves(memories: Memories) -> None:
    write(memories, AUTH)
    stored = require(memories.get("auth-rewrite"))
    with memories.change("for all projects") as change:
        change.write(replace(stored.memory, type="user"), stored.checksum)
    moved = require(memories.get("auth-rewrite"))
    assert moved.scope == "user"
    assert not stored.path.exists()
    assert not (stored.path.parent / "MEMORY.md").exists()  # nothing is left to list


@pytest.mark.parametrize(
    "name", ["../evil", "MEMORY", ".git", "a/b", "", "Two Words", "UPPER", "under_score"]
)
def test_names_that_are_not_safe_are_refused(memories: Memories, name: str) -> None:
    with pytest.raises(MemoryRefused), memories.change("evil") as change:
        change.write(replace(TABS, name=name))
    assert memories.get(name) is None
    assert memories.all().memories == ()


def test_a_file_that_people_named_otherwise_can_be_changed(memories: Memories) -> None:
    files.write_file(
        memories.places.user.file("My  Notes_1"), b"---\ndescription: d\ntype: user\n---\nBody.\n"
    )
    stored = require(memories.get("My  Notes_1"))
    with memories.change("pin") as change:
        change.write(replace(stored.memory, pinned=True), stored.checksum)
    files_there = sorted(each.name for each in memories.places.user.path.glob("*.md"))
    assert files_there == ["MEMORY.md", "My  Notes_1.md"]


@pytest.mark.parametrize(
    "memory",
    [
        replace(TABS, type="todo"),
        replace(TABS, description="", body=" \n"),
        replace(TABS, body="x" * 300_000),
    ],
    ids=["type", "empty", "huge"],
)
def test_what_could_not_be_read_back_is_refused(memories: Memories, memory: Memory) -> None:
    with pytest.raises(MemoryRefused), memories.change("bad") as change:
        change.write(memory)


def test_a_link_that_leads_out_is_neither_read_nor_written(
    memories: Memories, tmp_path: Path
) -> None:
    write(memories, TABS)
    secret = tmp_path / "secret.md"
    secret.write_text("---\ndescription: secret\n---\n")
    memories.places.user.file("out").symlink_to(secret)
    assert names(memories) == ["prefers-tabs"]
    assert memories.get("out") is None
    steps: Steps = (
        lambda change: change.write(replace(TABS, name="out")),
        lambda change: change.put(memories.places.user.file("out"), None),
    )
    for step in steps:
        with pytest.raises(Edited), memories.change("through the link") as change:
            step(change)
    assert secret.read_text() == "---\ndescription: secret\n---\n"
    assert memories.places.user.file("out").is_symlink()


def test_a_retired_memory_is_not_injected_and_comes_back(memories: Memories) -> None:
    write(memories, replace(TABS, extra={"mood": "good"}), AUTH)
    path = memories.places.user.file("prefers-tabs")
    before = path.read_bytes()
    with memories.change("dream") as change:
        where = change.retire("prefers-tabs", "spaces won", replaced_by="spaces")
    assert names(memories) == ["auth-rewrite"]
    assert not (path.parent / "MEMORY.md").exists()
    (retired,) = memories.retired().memories
    assert (retired.path, retired.memory.replaced_by) == (where, "spaces")
    assert retired.memory.extra["retired_because"] == "spaces won"
    with memories.change("back") as change:
        assert change.restore("prefers-tabs").memory.type == "user"
    assert path.read_bytes() == before
    assert not where.exists()
    assert names(memories) == ["auth-rewrite", "prefers-tabs"]


def test_an_older_retired_memory_keeps_its_place(memories: Memories) -> None:
    for body in ("first", "second"):
        write(memories, replace(TABS, body=body))
        with memories.change("away") as change:
            change.retire("prefers-tabs", body)
    assert {each.memory.name for each in memories.retired().memories} == {
        "prefers-tabs",
        "prefers-tabs-2",
    }
    with memories.change("back") as change:
        change.restore("prefers-tabs-2")
    stored = require(memories.get("prefers-tabs"))
    assert stored.memory.body == "second"
    with pytest.raises(MemoryRefused, match="There is a memory"), memories.change("both") as change:
        change.restore("prefers-tabs")


@pytest.mark.parametrize("seconds", [0, 3600])
def test_of_two_that_had_the_name_the_last_one_comes_back(
    found: Callable[..., Places], seconds: int
) -> None:
    times = count(1_763_285_400_000, seconds * 1000)
    memories = Memories(found(), lambda: next(times))
    for body in ("first", "second", "third"):
        write(memories, replace(TABS, body=body))
        with memories.change("away") as change:
            change.retire("prefers-tabs", body)
    for body in ("third", "second", "first"):  # and so on, when it is out of the way
        with memories.change("back") as change:
            assert change.restore("prefers-tabs").memory.body == body
        with memories.change("for good") as change:
            change.put(memories.places.user.file("prefers-tabs"), None)
    assert memories.retired().memories == ()


def test_what_is_not_there_is_not_found(memories: Memories) -> None:
    write(memories, TABS)
    for step in ("retire", "restore"):
        with pytest.raises(NotFound), memories.change("nothing") as change:
            getattr(change, step)(*(("nothing", "why") if step == "retire" else ("nothing",)))


def test_the_teams_folder_is_read_and_written_only_on_request(
    found: Callable[..., Places], project: Path
) -> None:
    memories = Memories(found(team=".aforesaid/memory"))
    write(memories, AUTH)
    assert not (project / ".aforesaid").exists()
    with memories.change("for all of us") as change:
        stored = change.write(replace(TABS, type="feedback"), scope="team")
    assert stored.path == project / ".aforesaid/memory/prefers-tabs.md"
    assert (project / ".aforesaid/memory/MEMORY.md").exists()
    assert stored.path.stat().st_mode & 0o044  # readable as the repository's other files
    assert change.entry is None  # the repository has its own history
    assert [
        each.scope for each in memories.all().memories if each.memory.name == "prefers-tabs"
    ] == ["team"]
    with pytest.raises(NotFound), memories.change("away") as change:
        change.retire("prefers-tabs", "old")
    with memories.change("away") as change:
        change.put(stored.path, None)
    assert not stored.path.exists()


@pytest.mark.parametrize(
    "theirs", [b"# What we agreed on\n", b"- [a](a.md) \xe2\x80\x94 A\n\xff\n"]
)
def test_an_index_that_a_person_wrote_for_the_team_stays(
    found: Callable[..., Places], project: Path, theirs: bytes
) -> None:
    index = project / "team/MEMORY.md"
    index.parent.mkdir()
    index.write_bytes(theirs)
    memories = Memories(found(team="team"))
    assert memories.all().broken == ()
    with memories.change("for all of us") as change:
        change.write(AUTH, scope="team")
    assert index.read_bytes() == theirs
    index.rename(project / "team/README")
    with memories.change("another") as change:
        change.write(TABS, scope="team")
    assert "[auth-rewrite](auth-rewrite.md)" in index.read_text()
    index.write_bytes(theirs)
    for name in ("auth-rewrite", "prefers-tabs"):
        with memories.change("away") as change:
            change.put(index.with_name(f"{name}.md"), None)
    assert index.read_bytes() == theirs


def test_the_teams_index_is_written_again_as_long_as_it_is_one(
    found: Callable[..., Places], project: Path
) -> None:
    memories = Memories(found(team="team"))
    with memories.change("odd") as change:
        change.write(replace(AUTH, description="[a](b) — (c) <d> \\ é"), scope="team")
        for number in range(201):
            change.write(replace(AUTH, name=f"m{number}"), scope="team")
    index = project / "team/MEMORY.md"
    assert is_generated_index(index.read_bytes())
    assert "3 more memories" in index.read_text()
    with memories.change("another") as change:
        change.put(index.with_name("m7.md"), None)
    assert "m7.md" not in index.read_text()
    assert memories.all().broken == ()


def test_the_team_and_the_user_may_use_a_name_differently_but_not_say_one_thing_twice(
    found: Callable[..., Places],
) -> None:
    memories = Memories(found(team="team"))
    write(memories, AUTH)
    with memories.change("the same") as change:
        change.write(AUTH, scope="team")
    assert [each.scope for each in memories.all().memories] == ["project"]
    with memories.change("something else") as change:
        teams = require(change.get("auth-rewrite", "team"))
        change.write(replace(AUTH, body="Other."), teams.checksum, "team")
    assert {each.scope for each in memories.all().memories} == {"project", "team"}
    mine = require(memories.get("auth-rewrite"))
    assert mine.scope == "project"
    theirs = require(memories.get("auth-rewrite", "team"))
    assert theirs.memory.body == "Other."


@pytest.mark.parametrize(
    "team", ["../outside", "/etc", ".", "link", "link/deeper", ".git/x", "circle"]
)
def test_a_teams_folder_that_leads_out_is_refused_with_the_reason(
    found: Callable[..., Places], project: Path, tmp_path: Path, team: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("---\ndescription: secret\n---\n")
    (project / "link").symlink_to(outside)
    (project / "circle").symlink_to(project / "circle")
    memories = Memories(found(team=team))
    assert memories.places.team is None
    (problem,) = memories.all().broken
    assert "memory.team_folder" in problem.why
    with (
        pytest.raises(MemoryRefused, match=r"memory\.team_folder"),
        memories.change("out") as change,
    ):
        change.write(TABS, scope="team")


def test_the_clients_folder_is_read_and_never_written(
    found: Callable[..., Places], tmp_path: Path
) -> None:
    folder = tmp_path / "theirs"
    folder.mkdir()
    (folder / "user_role.md").write_text(
        "---\nname: Role\ndescription: d\nmetadata:\n  type: user\n---\nBody.\n"
    )
    memories = Memories(found(theirs=Folder(folder, OF_CLIENT, writable=False)))
    before = contents(folder)
    assert [(each.memory.name, each.scope) for each in memories.all().memories] == [
        ("user_role", "client")
    ]
    steps: Steps = (
        lambda change: change.write(TABS, scope="client"),
        lambda change: change.retire("user_role", "old"),
        lambda change: change.put(folder / "user_role.md", b"x"),
    )
    for step in steps:
        with pytest.raises((MemoryRefused, NotFound)), memories.change("theirs") as change:
            step(change)
    assert contents(folder) == before


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", folder, *AUTHOR, *arguments], check=True, capture_output=True)


def test_a_project_is_found_again_after_it_moved_and_got_a_remote(
    found: Callable[..., Places], tmp_path: Path
) -> None:
    first = tmp_path / "first"
    first.mkdir()
    git(first, "init", "--initial-branch=main")
    write(Memories(found(first)), AUTH)
    git(first, "commit", "--allow-empty", "--message", "first")
    by_path = Memories(found(first))
    assert names(by_path) == ["auth-rewrite"]
    write(by_path, replace(AUTH, name="second"))  # now it is known by its commit, too
    second = tmp_path / "second"
    first.rename(second)
    by_commit = Memories(found(second))
    assert names(by_commit) == ["auth-rewrite", "second"]
    git(second, "remote", "add", "origin", "git@example.org:org/shop.git")
    write(Memories(found(second)), replace(AUTH, name="third"))
    claim, clone = tmp_path / "claim", tmp_path / "clone"
    claim.mkdir()
    git(claim, "init", "--initial-branch=main")
    git(claim, "remote", "add", "origin", "https://example.org/org/shop")
    assert names(Memories(found(claim))) == []  # it names the remote and has no history
    git(second, "clone", str(second), str(clone))
    git(clone, "remote", "set-url", "origin", "https://example.org/org/shop")
    assert names(Memories(found(clone))) == ["auth-rewrite", "second", "third"]
    assert len(list((by_path.places.root / "projects").iterdir())) == 1


def test_a_fork_and_another_project_in_the_same_place_do_not_mix(
    found: Callable[..., Places], tmp_path: Path
) -> None:
    shop = tmp_path / "one" / "shop"
    shop.mkdir(parents=True)
    git(shop, "init", "--initial-branch=main")
    git(shop, "commit", "--allow-empty", "--message", "first")
    git(shop, "remote", "add", "origin", "git@example.org:org/shop.git")
    write(Memories(found(shop)), AUTH)
    fork = tmp_path / "two" / "shop"
    fork.parent.mkdir()
    git(tmp_path, "clone", str(shop), str(fork))
    git(fork, "remote", "set-url", "origin", "git@example.org:me/shop.git")
    assert names(Memories(found(fork))) == []
    shop.rename(tmp_path / "away")
    shop.mkdir()
    git(shop, "init", "--initial-branch=main")
    git(shop, "commit", "--allow-empty", "--message", "another")
    assert names(Memories(found(shop))) == []


def test_two_that_met_the_project_at_once_use_one_folder(
    found: Callable[..., Places], project: Path
) -> None:
    git(project, "init", "--initial-branch=main")
    early = Memories(found(project))
    git(project, "remote", "add", "origin", "git@example.org:org/shop.git")
    late = Memories(found(project))
    assert early.places.project != late.places.project
    write(early, AUTH)
    write(late, replace(AUTH, name="second"))
    assert names(late) == ["auth-rewrite", "second"]
    note = json.loads((late.places.project.path / ".project").read_text())
    assert [kind for kind, _ in note["identities"]] == ["remote", "path"]


def test_16_processes_write_at_once_and_nothing_is_lost(
    memories: Memories, home: Paths, project: Path
) -> None:
    write(memories, TABS)
    running = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, home.data, project, str(number), str(EACH)],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for number in range(PROCESSES)
    ]
    for process in running:
        assert process.stdin is not None
        process.stdin.write(b"go\n")
        process.stdin.flush()
    for process in running:
        _, errors = process.communicate(timeout=200)
        assert process.returncode == 0, errors.decode()
    expected = {f"of-{number}-{turn}" for number in range(PROCESSES) for turn in range(EACH)}
    assert set(names(memories)) == expected | {"prefers-tabs"}
    for folder in memories.places.own:
        assert (folder.path / "MEMORY.md").read_text() == render_index(folder.list())
    log = memories.history.log(None)
    assert len(log) == PROCESSES * EACH + 1  # and no entry for what nobody edited
    assert {path for entry in log for path in entry.paths} == {
        path.relative_to(memories.places.root).as_posix()
        for folder in memories.places.own
        for path in folder.path.glob("[!M]*.md")
    }
    assert not memories.history.is_open


def test_readers_never_see_half_a_change_and_nobody_is_kept_out(
    memories: Memories, home: Paths, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "READER_SECONDS", 60.0)  # the machine may be busy
    write(memories, AUTH)
    mover = subprocess.Popen(
        [sys.executable, "-c", MOVER, home.data, project], stderr=subprocess.PIPE, text=True
    )
    try:
        seen: list[str] = []
        while len(seen) < 60 or len(set(seen)) < 2:
            (each,) = memories.all().memories
            seen.append(each.memory.type)
            assert mover.poll() is None
        write(memories, TABS)
        assert mover.poll() is None
    finally:
        mover.kill()
        _, errors = mover.communicate()
    assert not errors


def test_a_second_change_inside_a_change_is_refused_at_once(memories: Memories) -> None:
    with (
        memories.change("outer") as change,
        pytest.raises(MemoryRefused, match="already open"),
        memories.change("inner"),
    ):
        pass
    assert change.entry is None
    write(memories, TABS)


def test_whoever_waits_too_long_is_told(
    memories: Memories, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(memories, TABS)
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            HOLDER,
            memories.places.root / ".lock",
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert holder.stdout is not None
    holder.stdout.readline()
    monkeypatch.setattr(files, "READER_SECONDS", 0.05)
    assert names(memories) == ["prefers-tabs"]  # whoever reads does not wait for long
    with (
        pytest.raises(MemoryRefused, match="Another process"),
        files.write_lock(memories.places.root, 0.05),
    ):
        pass
    holder.kill()  # the lock is gone with its holder
    holder.communicate()
    write(memories, AUTH)


def test_a_memory_can_be_put_with_the_user_whatever_its_type_is(memories: Memories) -> None:
    write(memories, AUTH)
    stored = require(memories.get("auth-rewrite"))
    with memories.change("for all projects") as change:
        change.write(stored.memory, stored.checksum, "user")
    assert [each.scope for each in memories.all().memories] == ["user"]
    assert memories.all().broken == ()


def test_a_full_folder_is_counted(memories: Memories) -> None:
    with memories.change("many") as change:
        for number in range(203):
            change.write(replace(AUTH, name=f"m{number}"))
        change.write(TABS)
    for number, path in enumerate(sorted(memories.places.project.path.glob("m*.md"))):
        os.utime(path, (number + 1, number + 1))
    listing = memories.all()
    assert (len(listing.memories), listing.left_out) == (201, 3)
    assert listing.memories[0].memory.name == "prefers-tabs"
    assert memories.get("m0") is not None
    assert "4 more memories" in (memories.places.project.path / "MEMORY.md").read_text()


@pytest.mark.parametrize("error", [PermissionError(13, "Permission denied"), OSError(28, "Full")])
def test_a_change_that_cannot_be_written_is_not_made_and_the_next_one_works(
    memories: Memories, monkeypatch: pytest.MonkeyPatch, error: OSError
) -> None:
    real = files.write_temporary

    def refuse(path: Path, data: bytes, *, private: bool = True) -> Path:
        if path.name == "prefers-tabs.md":
            raise error
        return real(path, data, private=private)

    with monkeypatch.context() as patch:
        patch.setattr(files, "write_temporary", refuse)
        with pytest.raises((OSError, Edited)):
            write(memories, AUTH, TABS)
    assert names(memories) == []
    assert memories.history.log() == []
    write(memories, TABS)
    assert names(memories) == ["prefers-tabs"]


def test_an_open_entry_that_we_did_not_write_is_removed(memories: Memories) -> None:
    write(memories, TABS)
    folder = memories.places.root / ".history"
    for text in (
        "{",
        "[]",
        '{"number": 9, "at": 1, "reason": "x", "files": {"../../evil.md": [null, null]}}',
    ):
        (folder / "open.json").write_text(text)
        assert names(memories) == ["prefers-tabs"]
        assert not (folder / "open.json").exists()
