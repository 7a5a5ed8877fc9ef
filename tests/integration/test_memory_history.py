"""The history of memories, by git and without it: the same answers, and bytes given back as they were."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.clock import DAY
from recollect.errors import Edited, MemoryRefused, NotFound
from recollect.memory.history import snapshots
from recollect.memory.history.git_history import GitHistory
from recollect.memory.history.history import BY_HAND, Step
from recollect.memory.storage.changes import Memories
from recollect.memory.storage.folders import places
from recollect.memory.storage.format import checksum
from recollect.memory.storage.undoing import undo
from recollect.model.memories import Memory
from recollect.paths import Paths
from recollect.settings import load
from recollect.text import clean, cut
from tests.support.examples import examples

TABS = Memory("prefers-tabs", "Tabs, not spaces", "user", "Indent with tabs.")
AUTH = Memory("auth-rewrite", "The rewrite is for compliance", "project", "It has a date.")
WITH_GIT = os.environ["PATH"]
WRITER = """
import sys
from tests.integration.test_memory_history import *
home = Path(sys.argv[1])
found = places(Paths(home, home, home), sys.argv[2], load(home / "none", {}))
write(Memories(found), TABS, reason="killed")
"""


class Ticking:
    """A second later at every look."""

    def __init__(self) -> None:
        self.at = 1_763_285_400_000

    def __call__(self) -> int:
        self.at += 1000
        return self.at


def without_git(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")


def with_git(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", WITH_GIT)


@pytest.fixture
def memories(home: Paths, tmp_path: Path) -> Memories:
    """With git."""
    folder = tmp_path / "shop"
    folder.mkdir()
    return Memories(places(home, str(folder), load(home.config_file, {})), Ticking())


@pytest.fixture(params=["git", "snapshots"])
def either(
    request: pytest.FixtureRequest, memories: Memories, monkeypatch: pytest.MonkeyPatch
) -> Memories:
    if request.param == "snapshots":
        without_git(monkeypatch)
    return memories


def write(memories: Memories, *given: Memory, reason: str = "remembered") -> str:
    with memories.change(reason) as change:
        for memory in given:
            old = change.get(memory.name)
            change.write(memory, old.checksum if old else None)
    assert change.entry is not None
    return change.entry


def reasons(memories: Memories) -> list[str]:
    return [entry.reason for entry in memories.history.log()]


def tabs_file(memories: Memories) -> Path:
    return memories.places.user.file("prefers-tabs")


def test_the_log_tells_what_changed_when_and_why(either: Memories) -> None:
    first = write(either, TABS, AUTH, reason="remembered: tabs\n\nwith a second paragraph — ü")
    second = write(either, replace(TABS, body="Tabs."), reason="changed")
    newest, oldest = either.history.log()
    assert (newest.id, newest.reason, newest.paths) == (
        second,
        "changed",
        ("user/prefers-tabs.md",),
    )
    assert (oldest.id, oldest.reason) == (first, "remembered: tabs\n\nwith a second paragraph — ü")
    assert oldest.paths == (
        f"projects/{either.places.project.path.name}/auth-rewrite.md",
        "user/prefers-tabs.md",
    )
    assert newest.at > oldest.at > 1_763_285_400_000
    assert either.history.log(1) == [newest]
    assert either.history.log(folders=["projects"]) == [oldest]
    assert either.history.cannot_show() is None


def test_the_diff_shows_what_a_change_did(either: Memories) -> None:
    write(either, TABS)
    write(either, replace(TABS, body="Indent with tabs.\nAlways."))
    lines = either.history.diff().splitlines()
    assert lines[:2] == ["--- a/user/prefers-tabs.md", "+++ b/user/prefers-tabs.md"]
    assert "+Always." in lines
    assert "-Always." not in lines
    first = either.history.log()[-1].id
    assert either.history.diff(first).startswith(
        "--- /dev/null\n+++ b/user/prefers-tabs.md\n@@ -0,0 +1,"
    )
    assert either.history.contents(first)[0] == {"user/prefers-tabs.md": None}


def test_a_retired_memory_is_shown_as_a_file_that_moved(either: Memories) -> None:
    write(either, TABS)
    with either.change("dream") as change:
        change.retire("prefers-tabs", "old")
    lines = either.history.diff().splitlines()
    assert lines[:2] == ["--- a/user/prefers-tabs.md", "+++ b/retired/user/prefers-tabs.md"]
    assert {line[:1] for line in lines[2:]} == {"@", " ", "+"}


def test_git_and_snapshots_give_the_same_answers(
    home: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = []
    for number, kind in enumerate(("git", "snapshots")):
        base = tmp_path / kind
        project = base / "shop"
        project.mkdir(parents=True)
        found = places(Paths(base, base, base), str(project), load(home.config_file, {}))
        found = replace(found, project=replace(found.project, path=found.root / "projects/shop"))
        if number:
            without_git(monkeypatch)
        told.append(story(Memories(found, Ticking())))
    assert told[0] == told[1]
    assert len(told[0]) > 12


def story(memories: Memories) -> list[object]:
    """All that can happen to memories, and what the history says of it."""
    path = tabs_file(memories)
    write(memories, TABS, AUTH)
    path.write_bytes(path.read_bytes() + b"mine\r\n")
    memories.places.user.file("by-hand").write_bytes(b"---\ndescription: \xff\n---\n")
    write(memories, replace(AUTH, body="Changed."))
    with memories.change("retired") as change:
        change.retire("auth-rewrite", "old")
    path.unlink()
    with memories.change("restored") as change:
        change.restore("auth-rewrite")
    undo(memories)
    undo(memories)
    undo(memories, memories.history.log(None)[-2].id, force=True)
    log = memories.history.log(None)
    said: list[object] = [(entry.at, entry.reason.partition(" ")[0], entry.paths) for entry in log]
    said += [memories.history.diff(entry.id) for entry in log]
    said += [memories.history.contents(entry.id) for entry in log]
    said += sorted(
        (path.name, path.read_bytes()) for path in memories.places.root.rglob("[a-z]*.md")
    )
    return said


def test_hand_edits_are_recorded_as_such_before_a_change(either: Memories) -> None:
    write(either, TABS, AUTH)
    path = tabs_file(either)
    path.write_bytes(path.read_bytes() + b"mine\n")
    mine = path.read_bytes()
    added = either.places.project.file("added")
    added.write_text("---\ndescription: by hand\n---\n")
    with either.change("over it") as change:
        change.write(replace(TABS, body="Ours."), checksum(mine))
    assert reasons(either) == ["over it", BY_HAND, "remembered"]
    by_hand = either.history.log()[1]
    assert len(by_hand.paths) == 2
    assert either.history.contents(by_hand.id)[1]["user/prefers-tabs.md"] == mine
    assert either.history.contents(either.history.log()[0].id)[0] == {"user/prefers-tabs.md": mine}
    assert "[added](added.md)" in (added.parent / "MEMORY.md").read_text()
    added.unlink()
    write(either, replace(TABS, body="Again."))
    assert reasons(either)[:2] == ["remembered", BY_HAND]
    assert reasons(either).count(BY_HAND) == 2


def test_undo_gives_back_the_bytes_and_undo_of_undo_is_redo(either: Memories) -> None:
    write(either, TABS)
    path = tabs_file(either)
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n") + b"\r\n\xef\xbb\xbf  trailing  ")
    first = path.read_bytes()
    write(either, replace(TABS, body="Second."))
    second = path.read_bytes()
    done = undo(either)
    assert (done.undone.reason, done.paths) == ("remembered", ("user/prefers-tabs.md",))
    assert path.read_bytes() == first
    undo(either)
    assert path.read_bytes() == second
    undo(either)
    assert path.read_bytes() == first


@pytest.mark.parametrize("step", ["erase", "retire"])
def test_undo_brings_back_an_erased_or_retired_file(either: Memories, step: str) -> None:
    write(either, TABS, AUTH)
    before = {path: path.read_bytes() for path in either.places.root.rglob("*.md")}
    with either.change(step) as change:
        change.erase("prefers-tabs") if step == "erase" else change.retire("prefers-tabs", "old")
    assert either.get("prefers-tabs") is None
    undo(either)
    assert {path: path.read_bytes() for path in either.places.root.rglob("*.md")} == before
    undo(either)
    assert either.get("prefers-tabs") is None


def test_undo_of_an_older_change_leaves_later_ones(either: Memories) -> None:
    first = write(either, TABS, reason="first")
    write(either, AUTH, reason="second")
    undo(either, first[:10])
    assert [each.memory.name for each in either.all().memories] == ["auth-rewrite"]


def test_undo_refuses_what_was_edited_since_unless_forced(either: Memories) -> None:
    entry = write(either, TABS, AUTH)
    path = tabs_file(either)
    path.write_bytes(path.read_bytes() + b"mine\n")
    mine = path.read_bytes()
    with pytest.raises(Edited, match="user/prefers-tabs"):
        undo(either, entry)
    assert path.read_bytes() == mine
    assert either.get("auth-rewrite") is not None
    undo(either, entry, force=True)
    assert either.all().memories == ()
    assert reasons(either)[1] == BY_HAND
    undo(either)
    assert path.read_bytes() == mine


def test_undo_touches_the_last_change_of_these_memories_alone(
    either: Memories, home: Paths, tmp_path: Path
) -> None:
    write(either, AUTH, reason="here")
    (tmp_path / "other").mkdir()
    other = Memories(
        places(home, str(tmp_path / "other"), load(home.config_file, {})), either.clock
    )
    write(other, AUTH, reason="there")
    assert undo(either).undone.reason == "here"
    assert other.get("auth-rewrite") is not None


def in_project(memories: Memories, home: Paths, folder: Path) -> Memories:
    folder.mkdir()
    return Memories(places(home, str(folder), load(home.config_file, {})), memories.clock)


def test_undo_does_not_take_back_a_part_that_is_of_another_project(
    either: Memories, home: Paths, tmp_path: Path
) -> None:
    write(either, replace(TABS, name="older"), reason="of the user")
    entry = write(either, TABS, AUTH, reason="of both")
    other = in_project(either, home, tmp_path / "other")
    for which in (None, entry):
        with pytest.raises(MemoryRefused, match=r"of another project, too: .*auth-rewrite"):
            undo(other, which)
    assert either.get("auth-rewrite") is not None
    undone = undo(other, force=True)
    assert (undone.undone.reason, len(undone.paths)) == ("of both", 2)
    assert either.get("auth-rewrite") is None
    assert either.get("older") is not None


def test_forced_from_another_project_an_undo_keeps_what_was_edited_by_hand(
    either: Memories, home: Paths, tmp_path: Path
) -> None:
    entry = write(either, TABS, AUTH)
    path = either.places.project.file("auth-rewrite")
    path.write_bytes(path.read_bytes() + b"mine\n")
    mine = path.read_bytes()
    other = in_project(either, home, tmp_path / "other")
    undo(other, entry, force=True)
    assert not path.exists()
    assert reasons(either)[1] == BY_HAND
    below = path.relative_to(either.places.root).as_posix()
    assert either.history.contents(either.history.log()[1].id)[1] == {below: mine}
    undo(either)
    assert path.read_bytes() == mine


def test_what_is_not_in_the_history_is_not_found(either: Memories) -> None:
    with pytest.raises(NotFound, match="Nothing has been changed"):
        undo(either)
    with pytest.raises(NotFound, match="Nothing has been changed"):
        either.history.diff()
    write(either, TABS)
    for entry in ("0" * 40, "s99", "../s1", "-1", "HEAD", "--all"):
        with pytest.raises(NotFound):
            undo(either, entry)
        with pytest.raises(NotFound):
            either.history.diff(entry)


def test_undo_with_nothing_left_to_do_is_no_change(either: Memories) -> None:
    entry = write(either, TABS)
    tabs_file(either).unlink()
    done = undo(either, entry)
    assert (done.entry, done.paths) == (None, ())


def test_without_git_nothing_of_git_is_made(
    memories: Memories, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_git(monkeypatch)
    write(memories, TABS)
    assert not (memories.places.root / ".git").exists()
    assert (memories.places.root / ".history/s1.json").exists()


def test_the_repository_can_be_read_with_git(memories: Memories) -> None:
    write(memories, TABS)
    assert not (memories.places.root / ".history").exists()
    done = subprocess.run(
        ["git", "log", "--format=%an %ae %s", "-p"],
        cwd=memories.places.root,
        capture_output=True,
        check=True,
        text=True,
    )
    assert done.stdout.startswith("recollect recollect@localhost remembered\n")
    assert "+Indent with tabs." in done.stdout
    fsck = subprocess.run(
        ["git", "fsck", "--strict"], cwd=memories.places.root, check=True, capture_output=True
    )
    assert b"error" not in fsck.stderr


def test_when_git_disappears_snapshots_go_on_and_say_what_they_cannot_show(
    memories: Memories, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = write(memories, TABS, AUTH, reason="by git")
    without_git(monkeypatch)
    path = tabs_file(memories)
    before = path.read_bytes()
    memories.places.user.file("unseen").write_text("---\ndescription: by hand\n---\n")
    second = write(memories, replace(TABS, body="Changed."), reason="without git")
    assert second == "s1"
    assert reasons(memories) == ["without git"]
    assert "install it" in (memories.history.cannot_show() or "")
    with pytest.raises(NotFound, match="install it"):
        memories.history.diff(first)
    assert memories.history.contents(second)[0] == {"user/prefers-tabs.md": before}
    path.write_bytes(path.read_bytes() + b"mine\n")
    write(memories, AUTH, replace(TABS, body="Once more."), reason="and on")
    assert reasons(memories) == ["and on", BY_HAND, "without git"]
    assert undo(memories).paths == ("user/prefers-tabs.md",)
    assert path.read_bytes().endswith(b"mine\n")

    with_git(monkeypatch)
    undone = memories.history.log(1)[0].reason
    assert reasons(memories) == [undone, "and on", BY_HAND, "without git", "by git"]
    write(memories, replace(AUTH, body="Git again."), reason="git again")
    assert reasons(memories)[:3] == ["git again", BY_HAND, undone]
    assert memories.history.log()[1].paths == ("user/unseen.md",)  # nobody could tell before
    assert memories.history.cannot_show() is None
    write(memories, replace(AUTH, body="And again."), reason="nothing by hand")
    assert reasons(memories)[:2] == ["nothing by hand", "git again"]
    assert undo(memories, first, force=True).paths
    assert not path.exists()


def test_when_git_comes_later_it_begins_with_what_is_known(
    memories: Memories, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_git(monkeypatch)
    entry = write(memories, TABS, reason="without")
    with_git(monkeypatch)
    write(memories, replace(TABS, body="Changed."), reason="with")
    assert reasons(memories) == ["with", "without"]
    undo(memories)
    assert reasons(memories)[1:] == ["with", "without"]
    undo(memories, entry)
    assert memories.all().memories == ()


def fake_git(folder: Path, script: str) -> None:
    folder.mkdir()
    (folder / "git").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "git").chmod(0o755)


@pytest.mark.parametrize(
    "script", ["exit 1", "kill -9 $$", 'case "$*" in *fast-import*) exit 1;; esac; exec GIT "$@"']
)
def test_a_git_that_fails_does_not_cost_the_change(
    memories: Memories,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    script: str,
) -> None:
    real = subprocess.check_output(["which", "git"], text=True).strip()
    fake_git(tmp_path / "bin", script.replace("GIT", real))
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{WITH_GIT}")
    write(memories, TABS, reason="first")
    write(memories, replace(TABS, body="Changed."), reason="second")
    stored = memories.get("prefers-tabs")
    assert stored is not None
    assert stored.memory.body == "Changed."
    assert "memory.history_failed" in caplog.text
    assert "Changed." not in caplog.text
    assert reasons(memories) == ["second", "first"]
    with_git(monkeypatch)
    undo(memories)
    assert reasons(memories)[1:] == ["second", "first"]


def test_a_damaged_repository_does_not_cost_the_change(memories: Memories) -> None:
    write(memories, TABS, reason="first")
    git = memories.places.root / ".git"
    for path in (git / "objects").rglob("*"):
        if path.is_file():
            path.chmod(0o600)
            path.write_bytes(b"")
    write(memories, replace(TABS, body="Changed."), reason="second")
    assert memories.get("prefers-tabs") is not None
    assert "cannot read" in (memories.history.cannot_show() or "")
    assert reasons(memories) == ["second"]


def test_nothing_of_the_users_git_takes_part(
    memories: Memories, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hooks, made = tmp_path / "hooks", tmp_path / "made"
    hooks.mkdir()
    for name in (
        "pre-commit",
        "commit-msg",
        "post-commit",
        "reference-transaction",
        "fsmonitor-watchman",
    ):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {made}\nexit 1\n")
        (hooks / name).chmod(0o755)
    user = Path(os.environ["HOME"])
    (user / ".gitconfig").write_text(
        f"[core]\n\thooksPath = {hooks}\n\tautocrlf = true\n[commit]\n\tgpgsign = true\n"
        "[init]\n\tdefaultBranch = other\n[user]\n\tuseConfigOnly = true\n[log]\n\tdate = relative\n"
    )
    other = tmp_path / "other"
    subprocess.run(["git", "init", "--quiet", other], check=True)
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / "index"))
    monkeypatch.setenv("GIT_AUTHOR_NAME", "somebody")
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    before = sorted(path for path in other.rglob("*"))
    write(memories, TABS)
    path = tabs_file(memories)
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    mine = path.read_bytes()
    with memories.change("over it") as change:
        change.write(replace(TABS, body="Ours."), checksum(mine))
    assert reasons(memories) == ["over it", BY_HAND, "remembered"]
    undo(memories)
    assert path.read_bytes() == mine
    assert sorted(path for path in other.rglob("*")) == before
    assert not made.exists()


def test_tidying_keeps_everything(either: Memories) -> None:
    for number in range(5):
        write(either, replace(TABS, body=f"Number {number}."), reason=f"number {number}")
    log = either.history.log()
    diffs = [either.history.diff(entry.id) for entry in log]
    either.tidy(at_once=True)
    assert either.history.log() == log
    assert [either.history.diff(entry.id) for entry in log] == diffs
    write(either, AUTH)
    assert len(either.history.log()) == 6
    undo(either)


def test_what_git_keeps_in_single_files_is_packed(
    memories: Memories, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = write(memories, TABS)
    memories.tidy()
    objects = memories.places.root / ".git/objects"
    assert not list(objects.glob("pack/*.pack"))  # a few are left as they are
    (objects / "17").mkdir(exist_ok=True)
    for number in range(10):
        (objects / "17" / f"{number:038x}").touch()
    memories.tidy()
    assert list(objects.glob("pack/*.pack"))
    assert not list(objects.glob("17/*"))
    assert memories.history.log()[0].id == entry
    assert not memories.history.is_untidy(memories.clock())


def test_snapshots_forget_what_is_old_and_not_among_the_last(
    memories: Memories, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_git(monkeypatch)
    monkeypatch.setattr(snapshots, "KEPT_ENTRIES", 3)
    times = Ticking()
    memories.clock = times
    for number in range(6):
        write(memories, replace(TABS, body=f"Number {number}."), reason=f"number {number}")
    contents = memories.places.root / ".history/contents"
    (contents / ".left.writing").touch()
    memories.tidy()
    assert (len(memories.history.log()), len(list(contents.iterdir()))) == (6, 7)
    times.at += 91 * DAY
    write(memories, AUTH, reason="much later")
    memories.tidy()
    assert reasons(memories) == ["much later", "number 5", "number 4"]
    assert len(list(contents.iterdir())) == 4  # and what the oldest of them was before
    undo(memories, memories.history.log()[-1].id, force=True)
    stored = memories.get("prefers-tabs")
    assert stored is not None
    assert stored.memory.body == "Number 3."
    assert memories.history.log()[0].id == "s8"


def test_tidying_makes_nothing_where_there_is_nothing(memories: Memories) -> None:
    memories.tidy()
    assert not memories.places.root.exists()


def test_odd_file_names_are_recorded_if_memories_can_be_called_so(either: Memories) -> None:
    write(either, TABS)
    for name in ('a "quoted" one', "ünï", "-dash", "#hash"):
        (either.places.user.path / f"{name}.md").write_text(f"---\ndescription: {name!r}\n---\n")
    for name in ("tab\tbed", "\x01", "\x02", "back\\slash", "line\nfeed", "con"):
        (either.places.user.path / f"{name}.md").write_text("---\ndescription: odd\n---\n")
    write(either, AUTH)
    by_hand = either.history.log()[1]
    assert len(by_hand.paths) == 4
    before, after = either.history.contents(by_hand.id)
    assert set(before.values()) == {None}
    for path, data in after.items():
        assert (either.places.root / path).read_bytes() == data
    write(either, replace(AUTH, body="Again."))
    assert reasons(either).count(BY_HAND) == 1
    assert len(either.all().broken) == 6


PARTS = st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), max_size=40)


@given(
    st.lists(
        st.tuples(st.text(max_size=80), st.dictionaries(PARTS, st.binary(max_size=20), min_size=1)),
        min_size=1,
        max_size=3,
    )
)
@examples(10)
def test_no_name_and_no_reason_breaks_the_log(
    tmp_path_factory: pytest.TempPathFactory,
    told: list[tuple[str, dict[str, bytes]]],
) -> None:
    history = GitHistory(tmp_path_factory.mktemp("history"))
    steps = [
        Step(
            f"k{number}",
            1000 * number,
            cut(clean(reason).strip(), 10_000) or "changed",
            {f"user/{number}{name}.md": data for name, data in contents.items()},
        )
        for number, (reason, contents) in enumerate(told, 1)
    ]
    ids = history.record(steps)
    log = history.log(None)
    assert [entry.id for entry in log] == ids[::-1]
    for entry, step in zip(log, steps[::-1], strict=True):
        assert (entry.at, entry.reason) == (step.at, step.reason)
        assert entry.paths == tuple(sorted(step.after))
        found = history.contents(entry.id)
        assert found is not None
        assert found[1] == step.after


def test_a_history_that_has_an_odd_name_already_can_be_read(memories: Memories) -> None:
    write(memories, TABS)
    odd = Step("k", 5, "an older version took it", {"user/\x01\x02.md": b"x", "user/\n.md": b"x"})
    GitHistory(memories.places.root).record([odd])
    write(memories, AUTH)
    assert reasons(memories) == ["remembered", odd.reason, "remembered"]
    assert memories.history.diff(memories.history.log()[1].id)


def test_a_git_that_outlives_its_caller_keeps_the_lock(
    memories: Memories, home: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = subprocess.check_output(["which", "git"], text=True).strip()
    script = f'case "$*" in *fast-import*) touch {tmp_path}/begun; sleep 1;; esac; exec {real} "$@"'
    fake_git(tmp_path / "bin", script)
    child = subprocess.Popen(
        [sys.executable, "-c", WRITER, home.data, tmp_path / "shop"],
        env=os.environ | {"PATH": f"{tmp_path / 'bin'}:{WITH_GIT}"},
        cwd=Path(__file__).parents[2],
    )
    while not (tmp_path / "begun").exists():
        assert child.poll() is None
    child.kill()
    child.wait()
    write(memories, AUTH, reason="next")
    assert reasons(memories) == ["next", "killed"]
