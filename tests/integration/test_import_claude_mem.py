"""What claude-mem remembers arrives whole, whichever release wrote it, and its files stay as they are."""

import hashlib
import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from aforesaid.clock import MINUTE
from aforesaid.model.observations import Observation
from aforesaid.paths import Paths
from aforesaid.store.store import Store
from tests.support import claude_mem_databases as databases
from tests.support.canonical import dump
from tests.support.claude_mem_databases import START
from tests.support.product import aforesaid, settled, work

pytestmark = pytest.mark.slow

ALL = {"projects": 2, "sessions": 50, "prompts": 100, "observations": 1000, "summaries": 100}


@pytest.fixture(autouse=True)
def rules(home: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AFORESAID_SYNTHESIS_PROVIDER", "rules")


@pytest.fixture
def current(tmp_path: Path) -> Path:
    return databases.current(tmp_path / "theirs" / "claude-mem.db")


def imported(*arguments: str | Path, code: int = 0) -> dict[str, Any]:
    done = aforesaid("import", "claude-mem", "--json", *map(str, arguments))
    assert done.returncode == code, done.stdout + done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def some(counts: dict[str, int]) -> dict[str, int]:
    return {noun: number for noun, number in counts.items() if number}


def by_session(store: Store) -> dict[str, list[Observation]]:
    return {s.ref: store.observations.for_session(s.id) for s in store.sessions.recent(None, 99)}


def files_of(folder: Path) -> dict[str, str]:
    return {f.name: hashlib.sha256(f.read_bytes()).hexdigest() for f in folder.iterdir()}


@pytest.mark.quick
def test_a_current_database_arrives_whole(home: Paths, current: Path) -> None:
    before = files_of(current.parent)
    plan = imported(current, "--dry-run")
    assert some(plan["new"]) == ALL
    told = imported(current)
    assert told["new"] == plan["new"]
    assert files_of(current.parent) == before
    store = settled(home)
    assert (store.health().pending, store.health().events) == (0, 0)
    found = by_session(store)["content-1@claude-mem"]
    assert len(found) == 20
    fourth = found[3]
    assert (fourth.at, fourth.provider, fourth.model, fourth.prompt_number) == (
        START + 63 * MINUTE,
        "claude-mem",
        "claude-haiku",
        2,
    )
    draft = fourth.draft
    assert (draft.type, draft.title, draft.subtitle) == ("change", "Title 3 of 1", "Sub")
    assert draft.facts == ("Fact 3 of 1", "It turns.")
    assert (draft.narrative, draft.concepts) == ("Story", ("how-it-works",))
    assert (draft.files_read, draft.files_modified) == (("a.py",), ("wheel.py",))
    assert (draft.subagent_type, found[4].draft.subagent_type) == ("Explore", None)


def test_sessions_prompts_and_summaries_keep_their_times(home: Paths, current: Path) -> None:
    imported(current)
    store = settled(home)
    first = store.sessions.find("claude-mem", "content-1@claude-mem")
    assert first is not None
    assert (first.title, first.status, first.prompts) == ("A title", "completed", 2)
    assert (first.started_at, first.ended_at) == (START + 60 * MINUTE, START + 110 * MINUTE)
    assert [(p.number, p.text) for p in store.sessions.prompts(first.id)] == [
        (1, "Prompt 1 of 1"),
        (2, "Prompt 2 of 1"),
    ]
    summary = store.summaries.for_session(first.id)[0]
    assert (summary.at, summary.provider) == (START + 80 * MINUTE + 9, "claude-mem")
    assert (summary.draft.request, summary.draft.completed) == ("Request 1", "The wheel")
    assert (summary.draft.files_edited, summary.draft.notes) == (("wheel.py",), "A note")
    unfinished = store.sessions.find("claude-mem", "content-5@claude-mem")
    assert unfinished is not None
    assert unfinished.status == "interrupted"


def test_an_old_database_arrives_whole_and_its_flat_texts_are_lifted(
    home: Paths, tmp_path: Path
) -> None:
    told = imported(databases.old(tmp_path / "old.db"))
    whole = ALL | {"projects": 1, "prompts": 50, "summaries": 50}
    assert some(told["new"]) == whole
    store = settled(home)
    observation = by_session(store)["content-7@claude-mem"][2]
    assert observation.at == START + (7 * 60 + 2) * MINUTE
    draft = observation.draft
    assert draft.type == "bugfix"
    assert draft.title
    assert draft.narrative == (
        "The wheel 2 of mill 7 turned backwards. Its axle was mounted twice."
    )
    assert "Its axle was mounted twice." in draft.facts
    session = store.sessions.get(observation.session_id)
    assert session is not None
    assert [p.text for p in store.sessions.prompts(session.id)] == ["First words 7"]
    assert store.summaries.for_session(session.id)[0].draft.files_read == ("a.py",)


def test_twice_is_the_same_as_once(home: Paths, current: Path) -> None:
    imported(current)
    settled(home)
    once = dump(home.database)
    told = imported(current)
    assert some(told["new"]) == {}
    assert told["known"]["sessions"] == 50
    settled(home)
    assert dump(home.database) == once


def test_what_was_added_there_since_is_added_here(home: Paths, current: Path) -> None:
    imported(current)
    with closing(sqlite3.connect(current)) as connection:
        connection.execute(
            "INSERT INTO observations (memory_session_id, project, type, title, created_at, "
            "created_at_epoch) VALUES ('memory-1', 'shop', 'feature', 'New', '', ?)",
            (START,),
        )
        connection.commit()
    assert some(imported(current)["new"]) == {"observations": 1}


def test_a_database_that_is_being_written_is_read_as_it_is_now(home: Paths, tmp_path: Path) -> None:
    file = databases.current(tmp_path / "live" / "claude-mem.db", journal="WAL")
    with closing(sqlite3.connect(file)) as live:
        live.execute("UPDATE observations SET title = 'Live' WHERE id = 1")
        live.commit()
        live.execute("BEGIN IMMEDIATE")
        live.execute("DELETE FROM observations")  # not committed
        assert sorted(f.name for f in file.parent.iterdir()) == [
            "claude-mem.db",
            "claude-mem.db-shm",
            "claude-mem.db-wal",
        ]
        assert some(imported(file)["new"]) == ALL
        live.rollback()
    titles = {o.draft.title for o in by_session(settled(home))["content-1@claude-mem"]}
    assert "Live" in titles


def test_a_log_that_a_crash_left_is_read_and_nothing_is_made_beside_it(
    home: Paths, tmp_path: Path
) -> None:
    file = databases.current(tmp_path / "live" / "claude-mem.db", journal="WAL")
    left = tmp_path / "left"
    left.mkdir()
    with closing(sqlite3.connect(file)) as live:
        live.execute("UPDATE observations SET title = 'Only in the log' WHERE id = 1")
        live.commit()
        for name in ("claude-mem.db", "claude-mem.db-wal"):
            shutil.copy(file.with_name(name), left / name)
    before = files_of(left)
    imported(left / "claude-mem.db")
    assert files_of(left) == before
    titles = {o.draft.title for o in by_session(settled(home))["content-1@claude-mem"]}
    assert "Only in the log" in titles


def test_a_closed_database_in_a_folder_that_cannot_be_written_is_read(
    home: Paths, tmp_path: Path
) -> None:
    file = databases.current(tmp_path / "closed" / "claude-mem.db", journal="WAL")
    before = files_of(file.parent)
    file.parent.chmod(0o500)
    try:
        imported(file)
        assert files_of(file.parent) == before
    finally:
        file.parent.chmod(0o700)


def test_the_usual_place_is_the_default(
    home: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    databases.old(Path(os.environ["HOME"]) / ".claude-mem" / "claude-mem.db")
    assert imported("--dry-run")["new"]["observations"] == 1000
    databases.current(tmp_path / "data" / "claude-mem.db")
    monkeypatch.setenv("CLAUDE_MEM_DATA_DIR", str(tmp_path / "data"))
    assert imported("--dry-run")["new"]["projects"] == 2


def test_a_project_of_the_same_name_is_the_same_and_another_gets_one_of_its_own(
    home: Paths, current: Path, tmp_path: Path
) -> None:
    shop = tmp_path / "code" / "shop"
    shop.mkdir(parents=True)
    work(shop, "aaaa1111")
    settled(home)
    told = imported(current)
    assert told["projects"] == {"shop": str(shop), "mill": "claude-mem:mill"}
    assert told["new"]["projects"] == 1
    assert " of 1  " in aforesaid("search", "Title 1", cwd=shop).stdout
    assert "Title" in aforesaid("context", "--json", cwd=shop).stdout


def test_a_project_can_be_named_also_later(home: Paths, current: Path, tmp_path: Path) -> None:
    imported(current, "--project", "mill")
    assert [p.root for p in settled(home).projects.all()] == ["claude-mem:mill"]
    folder = tmp_path / "code" / "waterwheel"
    folder.mkdir(parents=True)
    told = imported(current, "--as", f"mill={folder}", "--as", f"shop={folder}")
    assert (told["known"]["sessions"], told["new"]["sessions"]) == (25, 25)
    store = settled(home)
    assert [p.root for p in store.projects.all()] == [str(folder)]
    assert len(store.observations.recent(store.projects.all()[0].id, 2000)) == 1000
    once = dump(home.database)
    imported(current, "--as", f"mill={folder}", "--as", f"shop={folder}")
    imported(current)  # and it is not taken away again
    settled(home)
    assert dump(home.database) == once


def test_one_project_can_be_chosen(home: Paths, current: Path) -> None:
    told = imported(current, "--project", "mill")
    half = {noun: number // 2 for noun, number in ALL.items()}
    assert some(told["new"]) == half


def test_a_project_that_is_not_there_is_answered_with_those_that_are(
    home: Paths, current: Path
) -> None:
    assert "Its projects: mill, shop." in imported(current, "--project", "ship", code=1)["error"]


def test_odd_rows_are_taken_as_well_as_they_can_be(home: Paths, current: Path) -> None:
    with closing(sqlite3.connect(current)) as connection:
        connection.executescript("""
            PRAGMA foreign_keys = OFF;
            UPDATE observations SET facts = '[broken', concepts = '{"a": 1}', files_read = 'one.py'
            WHERE id = 1;
            UPDATE observations SET facts = 'null', title = NULL, narrative = NULL, text = 'Just words.',
              prompt_number = NULL, created_at_epoch = 'soon', created_at = '2025-10-09T08:53:20Z',
              type = 'Bug Fix' WHERE id = 2;
            UPDATE observations SET text = 'More of it.' WHERE id = 3;
            INSERT INTO observations (memory_session_id, project, type, title, created_at, created_at_epoch)
            VALUES ('gone', 'mill', 'odd', 'Orphan', '', 1760000000);
            INSERT INTO session_summaries (memory_session_id, project, request, prompt_number, created_at,
              created_at_epoch) VALUES ('memory-1', 'shop', 'Second', 1, '', 1760000000000);
            INSERT INTO sdk_sessions (content_session_id, project, started_at, started_at_epoch)
            VALUES ('empty', 'shop', '', 1760000000000);
        """)
    told = some(imported(current)["new"])
    assert told == ALL | {"sessions": 51, "observations": 1001, "summaries": 101}
    store = settled(home)
    found = by_session(store)
    first = found["content-1@claude-mem"]
    (broken,) = [o.draft for o in first if o.draft.facts == ("[broken",)]
    assert (broken.concepts, broken.files_read) == (("1",), ("one.py",))
    (flat,) = [o for o in first if o.draft.narrative == "Just words."]
    assert (flat.at, flat.draft.type, flat.prompt_number) == (START, "bugfix", 0)
    assert any(o.draft.narrative == "Story\n\nMore of it." for o in first)
    (orphan,) = found["gone@claude-mem"]
    assert (orphan.draft.type, orphan.at) == ("change", START)
    summaries = store.summaries.for_session(first[0].session_id)
    assert [s.draft.request for s in summaries] == ["Request 1", "Request 2", "Second"]


def no_database(path: Path) -> None:
    path.write_text("not a database")


def foreign(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE observations (bird TEXT)")


def torn(path: Path) -> None:
    data = bytearray(databases.current(path).read_bytes())
    data[8192:40960] = os.urandom(32768)
    path.write_bytes(data)


def cut_off(path: Path) -> None:
    data = databases.current(path).read_bytes()
    path.write_bytes(data[: len(data) // 2])


@pytest.mark.parametrize(
    ("make", "hint"),
    [
        (lambda path: None, "Give the path"),
        (no_database, "claude-mem.db"),
        (foreign, "not a claude-mem database"),
        (torn, ".recover"),
        (cut_off, ".recover"),
    ],
)
def test_what_cannot_be_read_is_refused_with_the_fix_and_nothing_is_taken(
    home: Paths, tmp_path: Path, make: Callable[[Path], None], hint: str
) -> None:
    file = tmp_path / "some.db"
    make(file)
    told = imported(file, code=1)
    assert hint in told["error"]
    assert str(file) in told["error"]
    assert settled(home).health().sessions == 0
    assert not any(dump(home.database).values())


def test_a_mistake_in_as_names_the_form(home: Paths, current: Path, tmp_path: Path) -> None:
    for given, hint in (("mill", "NAME=DIR"), (f"mill={tmp_path}/none", "not a directory")):
        done = aforesaid("import", "claude-mem", str(current), "--as", given)
        assert (done.returncode, hint in done.stderr) == (2, True)


def test_people_are_told_where_the_projects_went(home: Paths, current: Path) -> None:
    done = aforesaid("import", "claude-mem", str(current), "--dry-run")
    assert "50 sessions, 100 prompts, 1,000 observations, 100 summaries" in done.stdout
    assert "mill: a project of its own; --as says where it is" in done.stdout
    assert "Nothing was changed." in done.stdout
