"""The history of memories: what it shows, what undo gives back, what becomes of damage."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aforesaid.clock import DAY
from aforesaid.errors import Edited, MemoryRefused, NotFound
from aforesaid.memory import history
from aforesaid.memory.changes import Memories, undo_change
from aforesaid.memory.curation import list_changes
from aforesaid.memory.files import FileChange
from aforesaid.memory.folders import find_places
from aforesaid.memory.format import checksum
from aforesaid.memory.history import BY_HAND, Entry, History
from aforesaid.model.memories import Memory
from aforesaid.paths import Paths
from aforesaid.settings import load
from aforesaid.text import clean, cut
from tests.support.examples import examples
from tests.support.values import require

TABS = Memory("prefers-tabs", "Tabs, not spaces", "user", "Indent with tabs.")
AUTH = Memory("auth-rewrite", "The rewrite is for compliance", "project", "It has a date.")


class Ticking:
    """A second later at every look."""

    def __init__(self) -> None:
        self.at = 1_763_285_400_000

    def __call__(self) -> int:
        self.at += 1000
        return self.at


@pytest.fixture
def memories(home: Paths, tmp_path: Path) -> Memories:
    folder = tmp_path / "shop"
    folder.mkdir()
    return Memories(find_places(home, str(folder), load(home.config_file, {})), Ticking())


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


def test_the_log_tells_what_changed_when_and_why(memories: Memories) -> None:
    first = write(memories, TABS, AUTH, reason="remembered: tabs\n\nwith a second paragraph — ü")
    second = write(memories, replace(TABS, body="Tabs."), reason="changed")
    newest, oldest = memories.history.log()
    assert (newest.id, newest.reason, newest.paths) == (
        second,
        "changed",
        ("user/prefers-tabs.md",),
    )
    assert (oldest.id, oldest.reason) == (first, "remembered: tabs\n\nwith a second paragraph — ü")
    assert oldest.paths == (
        f"projects/{memories.places.project.path.name}/auth-rewrite.md",
        "user/prefers-tabs.md",
    )
    assert newest.at > oldest.at > 1_763_285_400_000
    assert memories.history.log(1) == [newest]
    assert memories.history.log(folders=["projects"]) == [oldest]


def test_the_diff_shows_what_a_change_did(memories: Memories) -> None:
    write(memories, TABS)
    write(memories, replace(TABS, body="Indent with tabs.\nAlways."))
    lines = memories.history.diff().splitlines()
    assert lines[:2] == ["--- a/user/prefers-tabs.md", "+++ b/user/prefers-tabs.md"]
    assert "+Always." in lines
    assert "-Always." not in lines
    first = memories.history.log()[-1].id
    assert memories.history.diff(first).startswith(
        "--- /dev/null\n+++ b/user/prefers-tabs.md\n@@ -0,0 +1,"
    )
    assert memories.history.entry(first).files["user/prefers-tabs.md"][0] is None


def test_a_retired_memory_is_shown_as_a_file_that_moved(memories: Memories) -> None:
    write(memories, TABS)
    with memories.change("dream") as change:
        change.retire("prefers-tabs", "old")
    lines = memories.history.diff().splitlines()
    assert lines[:2] == ["--- a/user/prefers-tabs.md", "+++ b/retired/user/prefers-tabs.md"]
    assert {line[:1] for line in lines[2:]} == {"@", " ", "+"}


def test_hand_edits_are_recorded_as_such_before_a_change(memories: Memories) -> None:
    write(memories, TABS, AUTH)
    path = tabs_file(memories)
    path.write_bytes(path.read_bytes() + b"mine\n")
    mine = path.read_bytes()
    added = memories.places.project.file("added")
    added.write_text("---\ndescription: by hand\n---\n")
    with memories.change("over it") as change:
        change.write(replace(TABS, body="Ours."), checksum(mine))
    assert reasons(memories) == ["over it", BY_HAND, "remembered"]
    by_hand = memories.history.log()[1]
    assert len(by_hand.paths) == 2
    assert by_hand.files["user/prefers-tabs.md"][1] == mine
    assert memories.history.log()[0].files["user/prefers-tabs.md"][0] == mine
    assert "[added](added.md)" in (added.parent / "MEMORY.md").read_text()
    added.unlink()
    write(memories, replace(TABS, body="Again."))
    assert reasons(memories)[:2] == ["remembered", BY_HAND]
    assert reasons(memories).count(BY_HAND) == 2


def test_a_process_reads_an_entry_once_until_it_is_rewritten(
    memories: Memories, monkeypatch: pytest.MonkeyPatch
) -> None:
    load, read = History._load, []

    def count_and_load(history: History, name: str) -> Entry | None:
        read.append(name)
        return load(history, name)

    for body in ("One.", "Two.", "Three."):
        write(memories, replace(TABS, body=body))
    monkeypatch.setattr(History, "_load", count_and_load)
    write(memories, AUTH)
    assert read == ["s3.json"]
    auth = memories.places.project.file(AUTH.name)
    auth.unlink()
    memories.erase(lambda path, data: None if AUTH.name in path else data)
    read.clear()
    write(memories, replace(TABS, body="Four."))
    assert read == ["s4.json"], "the others say what they said"
    assert reasons(memories)[0] == "remembered"
    assert AUTH.name not in "".join(memories.history.known())
    tabs_file(memories).unlink()
    write(memories, AUTH)
    gone = memories.history.log()[1]
    before, after = gone.files["user/prefers-tabs.md"]
    assert (gone.reason, after) == (BY_HAND, None)
    assert b"Four." in require(before)


@pytest.mark.parametrize("way", ["purge", "prune"])
def test_the_list_that_older_versions_kept_goes(memories: Memories, way: str) -> None:
    """T63: it has names of memories."""
    write(memories, TABS)
    former = memories.places.root / ".history" / "known.json"
    former.write_text('{"number": 1, "files": {"user/prefers-tabs.md": "5d0c"}}')
    if way == "purge":
        memories.erase(lambda path, data: None if TABS.name in path else data)
    else:
        memories.history.prune(memories.clock())
    assert not former.exists()


def test_the_changes_of_a_memory_are_found_by_all_its_names(memories: Memories) -> None:
    write(memories, AUTH)
    write(memories, TABS)
    tabs_file(memories).rename(memories.places.user.file("tabs"))
    memories.places.user.file("None").write_text("---\ndescription: no title\n---\n")
    write(memories, replace(AUTH, body="It has none."))
    first, by_hand, change = (
        list_changes(memories, "auth-rewrite")[1],
        *memories.history.log(2)[::-1],
    )
    assert list_changes(memories, "auth-rewrite") == [change, first], "not that of None.md"
    assert list_changes(memories, "tabs") == [by_hand, memories.history.log()[2]]


def test_undo_gives_back_the_bytes_and_undo_of_undo_is_redo(memories: Memories) -> None:
    write(memories, TABS)
    path = tabs_file(memories)
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n") + b"\r\n\xef\xbb\xbf  trailing  ")
    first = path.read_bytes()
    write(memories, replace(TABS, body="Second."))
    second = path.read_bytes()
    done = undo_change(memories)
    assert (done.undone.reason, done.paths) == ("remembered", ("user/prefers-tabs.md",))
    assert path.read_bytes() == first
    undo_change(memories)
    assert path.read_bytes() == second
    undo_change(memories)
    assert path.read_bytes() == first


@pytest.mark.parametrize("step", ["erase", "retire"])
def test_undo_brings_back_an_erased_or_retired_file(memories: Memories, step: str) -> None:
    write(memories, TABS, AUTH)
    before = {path: path.read_bytes() for path in memories.places.root.rglob("*.md")}
    with memories.change(step) as change:
        if step == "erase":
            change.put(tabs_file(memories), None)
        else:
            change.retire("prefers-tabs", "old")
    assert memories.get("prefers-tabs") is None
    undo_change(memories)
    assert {path: path.read_bytes() for path in memories.places.root.rglob("*.md")} == before
    undo_change(memories)
    assert memories.get("prefers-tabs") is None


def test_undo_of_an_older_change_leaves_later_ones(memories: Memories) -> None:
    first = write(memories, TABS, reason="first")
    write(memories, AUTH, reason="second")
    undo_change(memories, first)
    assert [each.memory.name for each in memories.all().memories] == ["auth-rewrite"]


def test_undo_refuses_what_was_edited_since_unless_forced(memories: Memories) -> None:
    entry = write(memories, TABS, AUTH)
    path = tabs_file(memories)
    path.write_bytes(path.read_bytes() + b"mine\n")
    mine = path.read_bytes()
    with pytest.raises(Edited, match="user/prefers-tabs"):
        undo_change(memories, entry)
    assert path.read_bytes() == mine
    assert memories.get("auth-rewrite") is not None
    undo_change(memories, entry, force=True)
    assert memories.all().memories == ()
    assert reasons(memories)[1] == BY_HAND
    undo_change(memories)
    assert path.read_bytes() == mine


def test_undo_touches_the_last_change_of_these_memories_alone(
    memories: Memories, home: Paths, tmp_path: Path
) -> None:
    write(memories, AUTH, reason="here")
    (tmp_path / "other").mkdir()
    other = Memories(
        find_places(home, str(tmp_path / "other"), load(home.config_file, {})), memories.clock
    )
    write(other, AUTH, reason="there")
    assert undo_change(memories).undone.reason == "here"
    assert other.get("auth-rewrite") is not None


def in_project(memories: Memories, home: Paths, folder: Path) -> Memories:
    folder.mkdir()
    return Memories(find_places(home, str(folder), load(home.config_file, {})), memories.clock)


def test_undo_does_not_take_back_a_part_that_is_of_another_project(
    memories: Memories, home: Paths, tmp_path: Path
) -> None:
    write(memories, replace(TABS, name="older"), reason="of the user")
    entry = write(memories, TABS, AUTH, reason="of both")
    other = in_project(memories, home, tmp_path / "other")
    for which in (None, entry):
        with pytest.raises(MemoryRefused, match=r"also changed another project: .*auth-rewrite"):
            undo_change(other, which)
    assert memories.get("auth-rewrite") is not None
    undone = undo_change(other, force=True)
    assert (undone.undone.reason, len(undone.paths)) == ("of both", 2)
    assert memories.get("auth-rewrite") is None
    assert memories.get("older") is not None


def test_forced_from_another_project_an_undo_keeps_what_was_edited_by_hand(
    memories: Memories, home: Paths, tmp_path: Path
) -> None:
    entry = write(memories, TABS, AUTH)
    path = memories.places.project.file("auth-rewrite")
    path.write_bytes(path.read_bytes() + b"mine\n")
    mine = path.read_bytes()
    other = in_project(memories, home, tmp_path / "other")
    undo_change(other, entry, force=True)
    assert not path.exists()
    assert reasons(memories)[1] == BY_HAND
    below = path.relative_to(memories.places.root).as_posix()
    assert memories.history.log()[1].files[below][1] == mine
    undo_change(memories)
    assert path.read_bytes() == mine


def test_what_is_not_in_the_history_is_not_found(memories: Memories) -> None:
    with pytest.raises(NotFound, match="Nothing has been changed"):
        undo_change(memories)
    with pytest.raises(NotFound, match="Nothing has been changed"):
        memories.history.diff()
    write(memories, TABS)
    for entry in ("0" * 40, "s99", "../s1", "-1", "HEAD", "--all"):
        with pytest.raises(NotFound):
            undo_change(memories, entry)
        with pytest.raises(NotFound):
            memories.history.diff(entry)


def test_undo_with_nothing_left_to_do_is_no_change(memories: Memories) -> None:
    entry = write(memories, TABS)
    tabs_file(memories).unlink()
    done = undo_change(memories, entry)
    assert (done.entry, done.paths) == (None, ())


def test_entries_that_are_old_and_not_among_the_last_are_pruned(
    memories: Memories, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "KEPT_ENTRIES", 3)
    times = Ticking()
    memories.clock = times
    for number in range(6):
        write(memories, replace(TABS, body=f"Number {number}."), reason=f"number {number}")
    memories.tidy()
    assert len(memories.history.log()) == 6
    times.at += 366 * DAY
    write(memories, AUTH, reason="much later")
    memories.tidy()
    assert reasons(memories) == ["much later", "number 5", "number 4"]
    undo_change(memories, memories.history.log()[-1].id, force=True)
    stored = memories.get("prefers-tabs")
    assert stored is not None
    assert stored.memory.body == "Number 3."
    assert memories.history.log()[0].id == "s8"


def test_tidying_makes_nothing_where_there_is_nothing(memories: Memories) -> None:
    memories.tidy()
    assert not memories.places.root.exists()


def test_odd_file_names_are_recorded_if_memories_can_be_called_so(memories: Memories) -> None:
    write(memories, TABS)
    for name in ('a "quoted" one', "ünï", "-dash", "#hash"):
        (memories.places.user.path / f"{name}.md").write_text(f"---\ndescription: {name!r}\n---\n")
    for name in ("tab\tbed", "\x01", "\x02", "back\\slash", "line\nfeed", "con"):
        (memories.places.user.path / f"{name}.md").write_text("---\ndescription: odd\n---\n")
    write(memories, AUTH)
    by_hand = memories.history.log()[1]
    assert len(by_hand.paths) == 4
    for path, (before, data) in by_hand.files.items():
        assert before is None
        assert (memories.places.root / path).read_bytes() == data
    write(memories, replace(AUTH, body="Again."))
    assert reasons(memories).count(BY_HAND) == 1
    assert len(memories.all().broken) == 6


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
    root = tmp_path_factory.mktemp("history")
    made = History(root)
    steps = [
        (
            number,
            1000 * number,
            cut(clean(reason).strip(), 10_000) or "changed",
            {f"user/{number}{name}.md": data for name, data in contents.items()},
        )
        for number, (reason, contents) in enumerate(told, 1)
    ]

    def record(number: int, at: int, reason: str, after: dict[str, bytes]) -> str | None:
        files = [FileChange(root / path, None, data) for path, data in after.items()]
        return made.record(at, reason, files, number)

    for step in steps:
        record(*step)
    log = made.log(None)
    assert [entry.id for entry in log] == [f"s{number}" for number in range(len(steps), 0, -1)]
    for entry, (_, at, reason, after) in zip(log, steps[::-1], strict=True):
        assert (entry.at, entry.reason, entry.paths) == (at, reason, tuple(sorted(after)))
        assert {path: data for path, (_, data) in entry.files.items()} == after
    assert record(*steps[-1]) == log[0].id  # again, after a crash
    assert made.log(None) == log


def test_a_damaged_history_is_used_as_far_as_it_can_be_read(memories: Memories) -> None:
    first = write(memories, TABS, reason="first")
    second = write(memories, replace(TABS, body="Changed."), reason="second")
    third = write(memories, AUTH, reason="third")
    folder = memories.places.root / ".history"
    (folder / f"{second}.json").write_bytes(b"[1]")
    assert [entry.id for entry in memories.history.log()] == [third, first]
    with pytest.raises(NotFound, match="no change"):
        undo_change(memories, second)
    write(memories, replace(AUTH, body="On."), reason="fourth")
    assert reasons(memories)[0] == "fourth"


def test_the_last_entry_of_a_file_is_not_pruned(
    memories: Memories, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "KEPT_ENTRIES", 1)
    times = Ticking()
    memories.clock = times
    write(memories, TABS, reason="tabs")
    write(memories, AUTH, reason="auth")
    times.at += 366 * DAY
    write(memories, replace(AUTH, body="Later."), reason="later")
    memories.tidy()
    assert reasons(memories) == ["later", "tabs"]
    before = tabs_file(memories).read_bytes()
    tabs_file(memories).write_bytes(before + b"mine\n")
    write(memories, replace(AUTH, body="Latest."), reason="latest")
    undo_change(memories, memories.history.log()[1].id)
    assert tabs_file(memories).read_bytes() == before
