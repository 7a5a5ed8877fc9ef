"""Old transcripts, brought in by `aforesaid import claude-code`: exactly once, whatever gets in the way."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from aforesaid.clock import DAY
from aforesaid.paths import Paths
from aforesaid.repository import Identity, Repository
from aforesaid.store.store import Store
from aforesaid.worker import rpc
from tests.support.arrivals import START, Told, repository
from tests.support.canonical import dump
from tests.support.client import git_repo
from tests.support.product import aforesaid, settled, until, work
from tests.support.transcripts import FIXTURES, Written

pytestmark = pytest.mark.slow

AFORESAID = Path(sys.executable).with_name("aforesaid")
# When we did it, in how many tries, and whether the import did or the healing after a kill.
OURS = ("due_at", "created_at", "finished_at", "seen_at", "tries", "healed")
LONG_AGO = 1_790_100_000  # seconds; after the written sessions, and over a day ago
NOTHING = dict.fromkeys(("sessions", "prompts", "events", "turns", "parts", "summaries"), 0)


@pytest.fixture
def projects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the client keeps its transcripts. Nobody is asked for anything."""
    monkeypatch.setenv("AFORESAID_SYNTHESIS_PROVIDER", "rules")
    folder = Path(os.environ["HOME"], ".claude", "projects")
    folder.mkdir(parents=True)
    return folder


def recorded(projects: Path) -> None:
    for fixture in FIXTURES.iterdir():
        source = fixture / "home" / ".claude" / "projects" / "p"
        shutil.copytree(source, projects / fixture.name)


def written(
    projects: Path,
    number: int = 0,
    *,
    cwd: str = "/home/dev/shop",
    turns: int = 2,
    tools: int = 2,
    at: int = LONG_AGO,
) -> str:
    """A session that nobody ended."""
    session = Written(f"{number:08x}-8f0e-4a3e-9d0f-5a1c3e7d9b11")
    for turn in range(turns):
        session.prompt(f"Write the files of turn {turn} in session {number}")
        for tool in range(tools):
            use, file = f"toolu_{number}_{turn}_{tool}", f"{cwd}/part{tool}.py"
            given = {"file_path": file, "content": f"def part{tool}():\n    return {turn}\n"}
            session.call(use, "Write", **given)
            session.result(use, "done", {"type": "create", "filePath": file, **given})
        session.says(f"Wrote {tools} files.")
    for line in session.lines:
        line["cwd"] = cwd
    path = session.write(projects / f"p{number}")
    os.utime(path, (at, at))
    return session.session


def imported(*arguments: str, code: int = 0, cwd: Path | None = None) -> dict[str, Any]:
    done = aforesaid("import", "claude-code", "--json", *arguments, cwd=cwd)
    assert done.returncode == code, done.stdout + done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def content(paths: Paths) -> dict[str, list[str]]:
    """Everything but how we came by it."""
    until(lambda: rpc.status(paths)["idle"], seconds=300)
    times = re.compile(rf"\('({'|'.join(OURS)})', [^)]*\)")
    return {
        table: [times.sub("", row) for row in rows] for table, rows in dump(paths.database).items()
    }


def home_of(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Paths:
    monkeypatch.setenv("AFORESAID_HOME", str(folder))
    return Paths.of(os.environ)


def test_a_dry_run_changes_nothing_and_counts_what_the_run_then_does(projects: Path) -> None:
    recorded(projects)
    for number in range(3):
        written(projects, number, tools=40)
    paths = Paths.of(os.environ)
    plan = imported("--dry-run")
    assert not paths.state.exists()
    assert plan["new"]["sessions"] >= 12
    done = imported()
    same = ("new", "grown", "known", "empty", "faulty", "unreadable", "folder", "found")
    assert [done[name] for name in same] == [plan[name] for name in same]
    store = settled(paths)
    assert (
        plan["observations"]["low"] <= store.health().observations <= plan["observations"]["high"]
    )
    before = content(paths)
    again = imported("--dry-run")
    assert again["new"] == NOTHING
    assert again["costs"][0] == {"provider": "rules", "in_force": True, "dollars": 0.0}
    assert content(paths) == before


def test_a_directory_that_is_left_out_is_left_out_of_the_plan(
    projects: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AFORESAID_CAPTURE_SKIP_DIRS", "/home/dev/secret")
    written(projects, 0)
    written(projects, 1, cwd="/home/dev/secret/part")
    plan = imported("--dry-run")
    assert plan["new"]["sessions"] == 1
    assert imported()["new"] == plan["new"]


def test_status_says_what_transcripts_alone_have_told(projects: Path) -> None:
    assert "transcripts only" not in aforesaid("status").stdout
    written(projects)
    events = imported()["new"]["events"]
    told = f"{events} events, {events} of them from transcripts only"
    assert told in aforesaid("status").stdout


@pytest.mark.quick
def test_twice_is_the_same_as_once(projects: Path) -> None:
    recorded(projects)
    written(projects)
    first = imported()
    paths = Paths.of(os.environ)
    before = content(paths)
    assert rpc.stop(paths)
    second = imported()
    assert second["new"] == NOTHING
    assert second["known"] == first["new"]["sessions"]
    assert second["empty"] == first["empty"]
    assert content(paths) == before


def test_what_was_added_since_is_foretold_and_brought_in(projects: Path) -> None:
    session = written(projects)
    path = projects / "p0" / f"{session}.jsonl"
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)
    path.write_bytes(b"".join(lines[: len(lines) // 2]))
    os.utime(path, (LONG_AGO, LONG_AGO))
    first = imported()["new"]
    before = content(Paths.of(os.environ))
    path.write_bytes(whole)
    os.utime(path, (LONG_AGO + 60, LONG_AGO + 60))
    told = imported("--dry-run")
    plan = told["new"]
    assert (plan["sessions"], told["grown"], told["known"]) == (0, 1, 0)
    assert re.search(
        r"^Would import: (1 prompt, )?\d events in 1 known session\.$",
        aforesaid("import", "claude-code", "--dry-run").stdout,
        re.MULTILINE,
    )
    assert content(Paths.of(os.environ)) == before
    rest = imported()["new"]
    assert rest == plan
    assert (first["prompts"] + rest["prompts"], first["events"] + rest["events"]) == (2, 8)


@pytest.mark.parametrize("at", [LONG_AGO, None])
def test_sessions_of_the_past_have_their_own_time_and_an_end(
    projects: Path, at: int | None
) -> None:
    """Also if the file was copied today."""
    session = written(projects, at=at or int(time.time()))
    plan = imported()
    store = settled(Paths.of(os.environ))
    found = store.sessions.find("claude-code", session)
    assert found is not None
    assert (found.status, found.project_dir) == ("completed", "/home/dev/shop")
    assert len(store.summaries.for_session(found.id)) == plan["new"]["summaries"] == 2
    observations = store.observations.for_session(found.id)
    prompts = [prompt.at for prompt in store.sessions.prompts(found.id)]
    assert observations
    assert all(prompts[0] < o.at <= found.last_event_at for o in observations)
    assert found.last_event_at < LONG_AGO * 1000


def refs_here() -> set[str]:
    return {session.ref for session in settled(Paths.of(os.environ)).sessions.recent(None, 9)}


def test_one_project_can_be_chosen_by_folder_and_by_name(projects: Path, tmp_path: Path) -> None:
    shop, other = tmp_path / "shop", tmp_path / "other" / "mill"
    for folder in (shop, other):
        folder.mkdir(parents=True)
        git_repo(folder)
    (shop / "sub").mkdir()
    in_shop = written(projects, 1, cwd=str(shop))
    in_sub = written(projects, 2, cwd=str(shop / "sub"))
    written(projects, 3, cwd=str(other))
    gone = written(projects, 4, cwd="/gone/mill")
    assert imported("--project", "shop", "--dry-run")["new"]["sessions"] == 2
    assert imported("--project", ".", cwd=shop / "sub")["new"]["sessions"] == 2
    assert refs_here() == {in_shop, in_sub}
    several = imported("--project", "mill", code=1)
    assert "/gone/mill" in several["error"]
    assert str(other) in several["error"]
    assert "shop" in imported("--project", "nonesuch", code=1)["error"]
    assert imported("--project", "/gone/mill")["new"]["sessions"] == 1
    assert gone in refs_here()
    assert imported("--project", "shop")["known"] == 2
    assert imported()["new"]["sessions"] == 1
    names = [project.name for project in settled(Paths.of(os.environ)).projects.all()]
    assert sorted(names) == ["mill", "mill", "shop"]


def test_only_sessions_since_a_day_can_be_chosen(projects: Path) -> None:
    written(projects, 1, at=LONG_AGO - 40 * 86_400)
    written(projects, 2)
    assert imported("--since", "2026-09-01", "--dry-run")["new"]["sessions"] == 1
    assert imported("--since", "2026-09-01")["new"]["sessions"] == 1
    assert imported()["new"]["sessions"] == 1
    assert imported("--since", "1h")["known"] == 0


def test_nothing_there_is_no_fault(projects: Path) -> None:
    assert imported()["new"] == NOTHING
    done = aforesaid("import", "claude-code")
    text = f"nothing. There are no transcripts in {projects}. Set CLAUDE_CONFIG_DIR if they are"
    assert done.stdout.startswith(f"Imported: {text}")
    projects.rmdir()
    done = aforesaid("import", "claude-code", "--dry-run")
    assert done.stdout.startswith(f"Would import: {text}")


def test_none_that_was_asked_for_is_said_with_where_it_was_looked_for(
    projects: Path, tmp_path: Path
) -> None:
    written(projects)
    elsewhere = git_repo(tmp_path / "elsewhere")
    done = aforesaid("import", "claude-code", "--project", ".", "--dry-run", cwd=elsewhere)
    assert f"None of the 1 transcript in {projects} matches." in done.stdout
    done = aforesaid("import", "claude-code", "--since", "1h")
    assert f"None of the 1 transcript in {projects} matches." in done.stdout


def test_its_end_says_how_long_it_took_and_how_fast_it_was(projects: Path) -> None:
    written(projects)
    done = aforesaid("import", "claude-code")
    assert re.search(r"^That took [\d.]+ m?i?n? ?s: [\d,]+ events per second\.$", done.stdout, re.M)
    again = aforesaid("import", "claude-code").stdout
    assert "Imported: nothing.\n1 session here already.\nThat took " in again
    assert "per second" not in again
    told = imported()
    assert (told["events_per_second"], told["seconds"] > 0) == (0, True)


def test_what_is_known_empty_and_unreadable_is_told_apart(projects: Path) -> None:
    written(projects, 1)
    imported()
    written(projects, 2)
    damaged = projects / "p3" / f"{written(projects, 3)}.jsonl"
    first, *rest = damaged.read_bytes().splitlines(keepends=True)
    damaged.write_bytes(first + b"{oops\n" + b"".join(rest))
    os.utime(damaged, (LONG_AGO, LONG_AGO))
    (projects / "p1" / "empty.jsonl").touch()
    (projects / "p1" / "noise.jsonl").write_bytes(b"\x00\x01\n" * 3)
    silent = Written("00000009-8f0e-4a3e-9d0f-5a1c3e7d9b11")
    silent.add("system", subtype="informational")
    silent.write(projects / "p9")
    for dry in (("--dry-run",), ()):
        done = aforesaid("import", "claude-code", *dry)
        assert done.stderr == ""
        lines = done.stdout.splitlines()
        assert lines[0].endswith(": 2 sessions, 4 prompts, 16 events.")
        assert lines[1:7] == [
            "1 session here already.",
            "2 empty transcripts skipped.",
            "1 transcript cannot be read:",
            f"  {projects}/p1/noise.jsonl: it is not a transcript",
            "1 transcript could not be read whole; the readable part is imported:",
            f"  {damaged}",
        ]


def test_a_dry_run_that_is_stopped_says_so_and_leaves_nothing(
    projects: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(40):
        written(projects, number, tools=20)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    running = subprocess.Popen(
        [AFORESAID, "import", "claude-code", "--dry-run"], stderr=subprocess.PIPE, text=True
    )
    until(lambda: list(scratch.iterdir()))
    running.send_signal(signal.SIGINT)
    _, told = running.communicate(timeout=60)
    assert (running.returncode, told) == (130, "\nStopped. Nothing was changed.\n")
    assert not list(scratch.iterdir())


def at_least(store: Store, sessions: int) -> bool:
    return store.health().sessions >= sessions


def test_a_worker_that_is_killed_again_and_again_ends_as_if_nothing_had_been(
    projects: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(projects, turns=1, tools=1_100)  # more than one transaction takes
    for number in range(1, 30):
        written(projects, number, tools=20)
    undisturbed = home_of(tmp_path / "aforesaid", monkeypatch)
    plan = imported()
    expected = content(undisturbed)
    rpc.stop(undisturbed)
    disturbed = home_of(tmp_path / "user/.local/state/aforesaid", monkeypatch)
    rpc.start(disturbed)
    running = subprocess.Popen(
        [AFORESAID, "import", "claude-code", "--json"], stdout=subprocess.PIPE, text=True
    )
    store = Store(disturbed.database, writer=False)
    for number in (1, 8, 16):
        until(partial(at_least, store, number), seconds=120)
        pid = rpc.running_pid(disturbed)
        if pid is not None and running.poll() is None:
            os.kill(pid, signal.SIGKILL)
    store.close()
    told, _ = running.communicate(timeout=300)
    assert running.returncode == 0, told
    assert json.loads(told)["new"] == plan["new"]
    rpc.order(disturbed, "wake")  # the work on what was cut off waits for a while
    until(lambda: rpc.status(disturbed)["queue"]["pending"] == 0, seconds=300)
    assert content(disturbed) == expected


def test_whoever_leaves_is_told_that_the_worker_goes_on_and_it_does(projects: Path) -> None:
    for number in range(40):
        written(projects, number, tools=20)
    paths = Paths.of(os.environ)
    rpc.start(paths)
    running = subprocess.Popen(
        [AFORESAID, "import", "claude-code"], stderr=subprocess.PIPE, text=True
    )
    store = Store(paths.database, writer=False)
    until(lambda: store.health().sessions >= 3, seconds=120)
    shown = aforesaid("status").stdout
    assert re.search(r"^Import +\d+ of 40 sessions$", shown, re.MULTILINE) or at_least(store, 40)
    running.send_signal(signal.SIGINT)
    _, told = running.communicate(timeout=60)
    assert (running.returncode, "The worker continues" in told) == (130, True)
    until(lambda: store.health().sessions == 40, seconds=120)
    store.close()
    settled(paths)
    assert not re.search("^Import", aforesaid("status").stdout, re.MULTILINE)
    assert imported()["new"] == NOTHING


def test_a_model_that_is_away_holds_up_the_work_and_not_the_import(
    projects: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AFORESAID_SYNTHESIS_PROVIDER", "openai")
    monkeypatch.setenv("AFORESAID_SYNTHESIS_ENDPOINT", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("AFORESAID_SYNTHESIS_MODEL", "some-model")
    written(projects)
    plan = imported("--dry-run")
    [rules, in_force, *others] = plan["costs"]
    assert (rules["dollars"], in_force["in_force"], len(others)) == (0.0, True, 4)
    assert all(cost["dollars"] > 0 for cost in others)
    assert plan["needs"]["requests"] == plan["new"]["parts"] + plan["new"]["summaries"] == 4
    assert plan["observations"]["high"] >= plan["observations"]["low"] > 0
    done = aforesaid("import", "claude-code")
    assert done.returncode == 0
    assert "4 jobs to be processed" in done.stdout
    assert "aforesaid synthesize" in done.stdout
    store = settled(Paths.of(os.environ))
    assert (store.health().sessions, store.health().pending) == (1, 4)


def test_live_work_comes_before_imported_work(home: Paths) -> None:
    store = Store(home.database, writer=True)
    shop = store.projects.resolve(repository("shop"), "/shop", START)
    now = START + 9 * DAY
    for number in range(5):
        old = Told(shop, session=f"old-{number}")
        store.events.heal([old.prompt("Old"), old.tool("t"), old.stop()], now)
    live = Told(shop, session="live")
    live.at = now
    store.events.add([live.prompt("New"), live.tool("t"), live.stop()], now)
    order = []
    while job := store.jobs.claim("test", now, now + DAY):
        session = store.sessions.get(job.session_id)
        assert session is not None
        order.append((session.ref, job.kind))
        store.jobs.skip(job, "done", now)
    store.close()
    assert order[:2] == [("live", "observe"), ("live", "summarize")]
    assert [ref for ref, kind in order[2:] if kind == "observe"] == [f"old-{n}" for n in range(5)]


def test_captures_are_stored_while_an_import_goes_on(projects: Path, tmp_path: Path) -> None:
    for number in range(40):
        written(projects, number, tools=20)
    project = tmp_path / "project"
    project.mkdir()
    paths = Paths.of(os.environ)
    rpc.start(paths)
    running = subprocess.Popen([AFORESAID, "import", "claude-code"], stdout=subprocess.DEVNULL)
    work(project, "live")
    assert running.wait(timeout=300) == 0
    store = settled(paths)
    until(lambda: store.sessions.find("claude-code", "live"))
    assert store.health().sessions == 41


def test_a_path_in_an_older_project_is_known_by_what_is_remembered(
    projects: Path, home: Paths
) -> None:
    """A directory that is gone belongs where it did when it was there."""
    store = Store(home.database, writer=True)
    known = Repository("shop", "/elsewhere/shop", (Identity("remote", "remote:host/shop"),))
    project = store.projects.resolve(known, "/home/dev/shop", START)
    store.close()
    session = written(projects)
    assert imported("--project", "shop")["new"]["sessions"] == 1
    found = settled(home).sessions.find("claude-code", session)
    assert found is not None
    assert found.project_id == project
