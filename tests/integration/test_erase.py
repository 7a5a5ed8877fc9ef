"""Erasing for good: a planted sentence leaves no byte, wherever it went, and nothing brings it back."""

import json
import os
import signal
import sqlite3
import time
import zlib
from contextlib import closing
from datetime import date
from pathlib import Path

import pytest

from aforesaid.paths import Paths
from aforesaid.worker import rpc
from tests.support.product import aforesaid, settled, until, work
from tests.support.sentence import SAID, plant, plant_everywhere, traces
from tests.support.transcripts import Written


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    return folder


def test_a_purged_sentence_leaves_no_trace_in_any_byte_of_the_home(
    home: Paths, project: Path
) -> None:
    """T63: rows, words, vectors, derived texts, memories and their history, files, backups and the log."""
    plant_everywhere(home, project)
    before = {each.partition(":")[0] for each in traces(home.data)}
    wanted = {
        *("aforesaid.db prompts", "aforesaid.db summaries"),
        *("aforesaid.db event_texts", "aforesaid.db observations", "aforesaid.db edits"),
        *("aforesaid.db words of document_words", "aforesaid.db words of event_words"),
        *("spool/bad/bad-one", "logs/worker.log"),
        *("memory/sessions/claude-code-first.md", "backups/20261101T000000Z-daily/aforesaid.db"),
    }
    assert wanted <= before
    assert any(each.startswith("memory/.history/s") for each in before)
    dry = aforesaid("purge", "--text", SAID, "--dry-run", "--json", cwd=project)
    counts = json.loads(dry.stdout)["counts"]
    assert (counts["prompts"], counts["memories"]) == (3, 1)
    assert counts["backups"]
    done = aforesaid("purge", "--text", SAID, "--yes", cwd=project)
    assert done.returncode == 0, done.stderr
    assert not (left := traces(home.data)), "\n".join(left)
    assert not home.erasing_file.exists()
    assert "tabs" in aforesaid("memory", "list", cwd=project).stdout
    settled(home).database.check()


def test_what_was_erased_does_not_come_back_from_the_transcript(
    home: Paths, project: Path, tmp_path: Path
) -> None:
    """T63: a transcript that tells of it again finds rows without content, and nothing is added."""
    written = Written()
    written.prompt(f"Fix this: {SAID}.")
    written.call("toolu_1", command="cat notes")
    written.result("toolu_1", SAID, {"stdout": SAID, "stderr": ""})
    written.says(f"I decided that {SAID}.")
    written.add("system", subtype="turn_duration")
    for line in written.lines:
        line["cwd"] = str(project)
    path = written.write(tmp_path / "user/.claude/projects/shop")
    assert aforesaid("import", "claude-code", cwd=project).returncode == 0
    assert settled(home).health().events == 3
    assert purged(project, "--text", SAID)["prompts"] == 1
    assert not traces(home.data)
    rpc.stop(home)
    path.write_bytes(path.read_bytes() + b"\n")
    again = aforesaid("import", "claude-code", cwd=project)
    assert again.returncode == 0, again.stderr
    rpc.start(home)
    assert settled(home).health().events == 3
    settled(home)
    assert not (left := traces(home.data)), "\n".join(left)


def test_a_worker_that_is_killed_while_it_erases_finishes_at_its_next_start(
    home: Paths, project: Path
) -> None:
    """T63: kill -9 anywhere, again and again; the order is on the disk until nothing is left."""
    plant_everywhere(home, project)
    wanted = {"what": "text", "text": SAID}
    rpc.order(home, "erase-begin", wanted=wanted, dry_run=False)
    kills = 0
    for pause in (0, 0.02, 0.1, 0.2, 0.35, 0.5, 0.8):
        time.sleep(pause)
        pid = rpc.running_pid(home)
        if pid is not None and home.erasing_file.exists():
            os.kill(pid, signal.SIGKILL)
            kills += 1
            rpc.start(home)
    assert kills
    until(lambda: not home.erasing_file.exists(), seconds=120)
    settled(home).database.check()
    assert not (left := traces(home.data)), "\n".join(left)


@pytest.mark.parametrize("what", ["session", "project", "period", "prompt"])
def test_what_is_named_goes_with_all_that_was_made_of_it(
    home: Paths, project: Path, what: str
) -> None:
    """T63: a session, a project, a period or a turn; another session stays as it is."""
    plant(home, project, "first")
    elsewhere = project.parent / "elsewhere"
    elsewhere.mkdir()
    since = str(date.today()) if what == "period" else ""
    if what != "period":
        work(elsewhere, "other")
        settled(home)
    ways = {
        "session": ("first",),
        "project": ("--project", str(project)),
        "period": ("--since", since),
        "prompt": ("prompt:1",),
    }
    purged(project, *ways[what])
    assert not (left := traces(home.data)), "\n".join(left)
    store = settled(home)
    assert store.health().observations == (0 if what == "period" else 1)


def test_purge_takes_an_observation_with_what_it_was_made_of(home: Paths, project: Path) -> None:
    """T63: also one that was hidden before."""
    plant(home, project, "first")
    store = settled(home)
    for each in store.observations.for_session(1):
        rpc.order(home, "forget-observation", id=each.id)
    forgotten = store.observations.hidden([1])
    for gone in forgotten:
        done = aforesaid("purge", str(gone.observation_id), "--yes", cwd=project)
        assert done.returncode == 0, done.stderr
    assert settled(home).observations.hidden([1]) == []
    assert not any("observations" in each.partition(":")[0] for each in traces(home.data))


def test_a_number_is_an_observation_and_a_session_needs_eight_characters(
    home: Paths, project: Path
) -> None:
    for ref in ("5d0c1f7e-aaaa", "1d0c1f7e-bbbb", "short"):
        work(project, ref)
        assert settled(home).health().observations
    for number, title in (("1", "Zebra stripes"), ("2", "Giraffe necks"), ("3", "Lion manes")):
        assert aforesaid("edit", number, "--title", title, cwd=project).returncode == 0
    for number in ("1", "2"):
        assert aforesaid("forget", number, cwd=project).returncode == 0
    for command in ("show", "timeline"):
        said = aforesaid(command, "1", cwd=project).stderr
        assert "Observation #1 is hidden. `aforesaid forget 1 --undo` restores it." in said
    assert "no observation #5" in aforesaid("purge", "5", "--yes", cwd=project).stderr
    few = aforesaid("purge", "5d0c", "--yes", cwd=project)
    assert (few.returncode, "too short to erase a session" in few.stderr) == (2, True)
    asked = aforesaid("purge", "1", cwd=project, stdin="n\n").stdout
    assert "Erase observation #1 Zebra stripes (hidden) for good?" in asked
    assert purged(project, "1")["sessions"] == 0
    assert [each.observation_id for each in settled(home).observations.hidden([1])] == [2]
    asked = aforesaid("purge", "1d0c1f7e", cwd=project, stdin="n\n").stdout
    assert "Erase session 2 Add a greeting to hello.py (" in asked
    assert purged(project, "5d0c1f7e")["sessions"] == 1
    assert purged(project, "short")["sessions"] == 1
    assert settled(home).sessions.find("claude-code", "1d0c1f7e-bbbb")


def test_what_matches_nothing_costs_no_backup(home: Paths, project: Path) -> None:
    plant(home, project, "first")
    assert aforesaid("backup", cwd=project).returncode == 0
    before = {*home.backups.iterdir()}
    period = ("purge", "--since", "2037-01-01")
    for arguments in (period, (*period, "--yes")):
        done = aforesaid(*arguments, cwd=project)
        assert done.returncode == 0, done.stderr
        assert "nothing.\nNo backup was touched." in done.stdout
    assert {*home.backups.iterdir()} == before


def test_a_text_that_is_in_backups_alone_is_erased_there(home: Paths, project: Path) -> None:
    plant(home, project, "first")
    assert aforesaid("backup", cwd=project).returncode == 0
    before = {*home.backups.glob("2*")}
    for way in (("--text", "never seen anywhere"), ("--secrets",)):
        asked = aforesaid("purge", *way, cwd=project, stdin="n\n").stdout
        assert "Nothing here matches. Replace the backups all the same?" in asked
        assert before <= {*home.backups.iterdir()}
    assert aforesaid("purge", *way, "--yes", cwd=project).returncode == 0
    assert not before & {*home.backups.glob("2*")}


def test_an_erased_memory_is_in_no_file_no_history_and_no_list(home: Paths, project: Path) -> None:
    """T63: the memory, its versions, its name."""
    assert aforesaid("remember", f"Note that {SAID}", "--name", "zorblaxi-note", cwd=project)
    assert aforesaid("remember", "Use tabs in this repository", cwd=project).returncode == 0
    assert aforesaid("forget", "zorblaxi-note", cwd=project).returncode == 0
    assert traces(home.data)
    done = aforesaid("purge", "memory:zorblaxi-note", "--yes", cwd=project)
    assert done.returncode == 0, done.stderr
    assert not (left := traces(home.data)), "\n".join(left)
    assert "tabs" in aforesaid("memory", "list", cwd=project).stdout


def test_a_session_that_was_erased_stays_away_while_new_ones_are_recorded(
    home: Paths, project: Path
) -> None:
    """What a hook tells of it late is not stored."""
    plant(home, project, "first")
    purged(project, "first")
    assert settled(home).sessions.find("claude-code", "first") is None
    work(project, "second")
    assert settled(home).sessions.find("claude-code", "second")


def test_asking_first_leaves_everything_where_it_is(home: Paths, project: Path) -> None:
    plant(home, project, "first")
    asked = aforesaid("purge", "first", cwd=project, stdin="n\n")
    assert asked.returncode == 1
    assert "Would be erased: 1 session" in asked.stdout
    assert settled(home).sessions.find("claude-code", "first")
    short = aforesaid("purge", "--text", "ab", "--yes", cwd=project)
    assert short.returncode == 2
    assert "needs 4 characters" in short.stderr
    two = aforesaid("purge", "first", "--text", SAID, cwd=project)
    assert "Name one thing to erase" in two.stderr


def purged(project: Path, *arguments: str) -> dict[str, int]:
    done = aforesaid("purge", *arguments, "--yes", "--json", cwd=project)
    assert done.returncode == 0, done.stderr
    counts: dict[str, int] = json.loads(done.stdout)["counts"]
    return counts


def test_secrets_that_were_stored_before_are_replaced_everywhere(
    home: Paths, project: Path
) -> None:
    """As if today's rules had been there: rows, events, memories and their history, files and backups."""
    secret = "ghp_" + "A1b2C3d4E5f6G7h8I9" * 2
    plant(home, project, "first", "a plain sentence about nothing")
    assert aforesaid("remember", "Use tabs in this repository", cwd=project).returncode == 0
    settled(home)
    rpc.stop(home)
    with closing(sqlite3.connect(home.database)) as db, db:
        db.execute("UPDATE prompts SET text = ?", (f"push with {secret} please",))
        db.execute("UPDATE observation_facts SET text = text || ?", (f" by {secret}",))
        for key, body in db.execute("SELECT id, body FROM events WHERE kind = 'tool'").fetchall():
            told = json.loads(zlib.decompress(body))
            told["tool_input"]["description"] = f"with {secret}"
            changed = zlib.compress(json.dumps(told).encode())
            db.execute("UPDATE events SET body = ? WHERE id = ?", (changed, key))
    (memory,) = home.memory.glob("projects/*/*tabs*.md")
    memory.write_text(f"{memory.read_text()}\nThe token is {secret}.\n")
    assert traces(home.data, (secret.lower(),))
    dry = json.loads(aforesaid("purge", "--secrets", "--dry-run", "--json", cwd=project).stdout)
    counts = purged(project, "--secrets")
    assert dry["counts"]["rows"] == counts["rows"] >= 3
    assert not (left := traces(home.data, (secret.lower(),))), "\n".join(left)
    assert "[secret:" in memory.read_text()
    assert "[secret:" in settled(home).sessions.prompts(1)[0].text
    assert purged(project, "--secrets").get("rows", 0) == 0
    settled(home).database.check()
