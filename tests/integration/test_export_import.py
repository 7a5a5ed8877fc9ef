"""Memory that moves: out by `recollect export`, in by `recollect import file`, come what may."""

import gzip
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from recollect.cli.main import cli
from recollect.clock import HOUR
from recollect.model.observations import ObservationDraft, SummaryDraft
from recollect.paths import Paths
from recollect.store.sqlite.store import SqliteStore
from recollect.transfer import export
from recollect.worker import contact
from tests.support.arrivals import START, Told, repository
from tests.support.blank import laid
from tests.support.canonical import Dump, dump
from tests.support.memory import Memory
from tests.support.product import recollect, settled, until, work
from tests.support.stored import events_of
from tests.support.transcripts import AT, Written

RECOLLECT = Path(sys.executable).with_name("recollect")


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Paths:
    """Another machine: the home from now on is an empty one. Its worker needs no model."""
    monkeypatch.setenv("RECOLLECT_SYNTHESIS_PROVIDER", "rules")
    return Paths.of(os.environ)


def filled(database: Path, *, sessions: int = 3) -> None:
    """Sessions s0, s1, … of one project, worked up, with an observation and a summary each."""
    store = SqliteStore(laid(database), writer=True)
    memory = Memory.of(store, "shop")
    for number in range(sessions):
        draft = ObservationDraft("feature", f"Adds part {number}", facts=("It turns.",))
        summary = SummaryDraft(f"part {number}")
        memory.turn(f"Build part {number}", draft, summary=summary, session=f"s{number}")
    store.close()


def written(database: Path, file: Path) -> Path:
    store = SqliteStore(database, writer=False)
    with file.open("wb") as out:
        export.write(store.records(None, replies=False), out, at=START)
    store.close()
    return file


@pytest.fixture
def source(tmp_path: Path) -> Path:
    database = tmp_path / "source" / "recollect.db"
    filled(database)
    return database


def imported(*arguments: str | Path, code: int = 0) -> dict[str, Any]:
    done = recollect("import", "file", "--json", *map(str, arguments))
    assert done.returncode == code, done.stdout + done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def content(home: Paths) -> Dump:
    return dump(home.database)


def test_what_hooks_captured_here_is_the_same_on_another_machine(
    home: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECOLLECT_SYNTHESIS_PROVIDER", "rules")
    project = tmp_path / "shop"
    project.mkdir()
    for session in ("aaaa1111", "bbbb2222"):
        work(project, session)
    settled(home)
    assert recollect("pin", "1").returncode == 0
    file = tmp_path / "memory.jsonl.gz"
    told = json.loads(recollect("export", "--output", str(file), "--json").stdout)
    assert (told["sessions"], told["bytes"]) == (2, file.stat().st_size)
    assert file.stat().st_mode & 0o777 == 0o600
    lines = gzip.decompress(file.read_bytes()).splitlines()
    assert json.loads(lines[0])["format"] == "recollect-export"
    events = [found for line in lines if (found := json.loads(line))["record"] == "event"]
    assert all(isinstance(event["body"], dict) for event in events)
    before = content(home)
    there = tmp_path / "there"
    monkeypatch.setenv("RECOLLECT_HOME", str(there))
    plan = imported(file, "--dry-run")
    assert not there.exists()
    assert imported(file)["new"] == plan["new"]
    try:
        assert content(Paths.of(os.environ)) == before
        assert imported(file)["new"] == dict.fromkeys(plan["new"], 0)
        assert content(Paths.of(os.environ)) == before
        assert "hello.py" in recollect("search", "greet", "--all").stdout
        assert "greet" in recollect("context", "--json", cwd=project).stdout
    finally:
        contact.stop(Paths.of(os.environ))


def test_the_standard_output_is_the_default_and_one_project_can_be_chosen(
    home: Paths, tmp_path: Path
) -> None:
    filled(home.database)
    done = recollect("export", "--project", "shop")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [lines[0]["project"], lines[-1]] == ["shop", {"record": "end", "lines": len(lines)}]
    assert "3 sessions" in done.stderr
    packed = recollect("export", "-o", "-", "--json")
    assert json.loads(packed.stderr)["sessions"] == 3
    missing = recollect("export", "--project", "mill")
    assert (missing.returncode, "shop" in missing.stderr) == (1, True)


def test_an_export_that_cannot_be_written_leaves_what_was_there(
    home: Paths, tmp_path: Path
) -> None:
    filled(home.database)
    folder = tmp_path / "file.jsonl"
    folder.mkdir()
    assert recollect("export", "-o", str(folder)).returncode == 2
    done = recollect("export", "-o", str(tmp_path / "missing" / "a.jsonl"))
    assert done.returncode == 1
    assert "Choose another place" in done.stderr
    assert not list(tmp_path.glob(".*.tmp"))


def test_nothing_recorded_is_said_so(home: Paths) -> None:
    done = recollect("export")
    assert (done.returncode, "recollect install" in done.stderr) == (1, True)


def at_least(store: SqliteStore, sessions: int) -> bool:
    return store.health().sessions >= sessions


def lines_of(file: Path) -> list[bytes]:
    return file.read_bytes().splitlines(keepends=True)


def session_line(lines: list[bytes], number: int) -> int:
    """Where the session begins, counted from 1."""
    mark = b'"record":"session","session":"claude-code/s%d"' % number
    return next(n for n, line in enumerate(lines, 1) if mark in line)


def cut_in_a_line(lines: list[bytes]) -> list[bytes]:
    third = session_line(lines, 2)
    return [*lines[:third], lines[third][:20]]


def cut_between_lines(lines: list[bytes]) -> list[bytes]:
    return lines[: session_line(lines, 2) + 1]


def not_json(lines: list[bytes]) -> list[bytes]:
    third = session_line(lines, 2)
    return [*lines[:third], b"{oops}\n", *lines[third + 1 :]]


def a_field_missing(lines: list[bytes]) -> list[bytes]:
    third = session_line(lines, 2)
    value = json.loads(lines[third])
    del value["at"]
    return [*lines[:third], json.dumps(value).encode() + b"\n", *lines[third + 1 :]]


def a_stranger(lines: list[bytes]) -> list[bytes]:
    third = session_line(lines, 2)
    value = json.loads(lines[third]) | {"session": "claude-code/s0"}
    return [*lines[:third], json.dumps(value).encode() + b"\n", *lines[third + 1 :]]


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        (cut_in_a_line, "cut off"),
        (cut_between_lines, "cut off"),
        (not_json, "not JSON"),
        (a_field_missing, "`at` is missing"),
        (a_stranger, "does not stand before it"),
    ],
)
def test_of_a_broken_file_the_sessions_before_the_fault_are_taken_whole(
    elsewhere: Paths,
    source: Path,
    tmp_path: Path,
    broken: Callable[[list[bytes]], list[bytes]],
    why: str,
) -> None:
    whole = written(source, tmp_path / "whole.jsonl")
    lines = lines_of(whole)
    file = tmp_path / "broken.jsonl"
    damaged = broken(lines)
    file.write_bytes(b"".join(damaged))
    fault = session_line(lines, 2) + (2 if broken is cut_between_lines else 1)
    foretold = imported(file, "--dry-run", code=1)["error"]
    assert "would be taken: 2 new sessions with 2 observations; nothing of what follows" in foretold
    assert not elsewhere.state.exists()
    told = imported(file, code=1)
    assert told["kind"] == "TransferError"
    assert f"{file}, line {fault}: " in told["error"]
    assert why in told["error"]
    assert "2 new sessions" in told["error"]
    found = content(elsewhere)
    assert len(found["sessions"]) == len(found["summaries"]) == 2
    assert "Nothing would be taken" in imported(file, "--dry-run", code=1)["error"]
    # The whole file goes on from there.
    assert imported(whole)["new"]["sessions"] == 1
    assert content(elsewhere) == dump(source)


def header(**values: object) -> bytes:
    line = {"record": "export", "format": "recollect-export", "version": 1} | values
    return json.dumps(line).encode() + b"\n"


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "some.jsonl is empty"),
        (gzip.compress(b"", mtime=0), "some.jsonl is empty"),
        (b"hello\n", "does not begin as an export"),
        (b'{"some": "json"}\n', "does not begin as an export"),
        (b"\x1f\x8b\x08" + bytes(7) + b"garbage, this is", "cannot be unpacked"),
        (header(version=99, by="9.0"), "pip install -U recollect"),
        (header(), "line 2: the file is cut off"),
        (header() + b'{"record":"end","lines":7}\n', "some were taken out"),
        (header() * 2, "in the middle of another"),
    ],
)
def test_a_file_that_is_no_export_is_refused_with_the_reason(
    elsewhere: Paths, tmp_path: Path, data: bytes, why: str
) -> None:
    file = tmp_path / "some.jsonl"
    file.write_bytes(data)
    told = imported(file, code=1)
    assert why in told["error"]
    assert "Nothing was taken" in told["error"]


def test_a_packed_file_that_is_cut_off_is_taken_as_far_as_it_goes(
    elsewhere: Paths, source: Path, tmp_path: Path
) -> None:
    whole = written(source, tmp_path / "whole.jsonl")
    file = tmp_path / "cut.gz"
    data = gzip.compress(whole.read_bytes())
    file.write_bytes(data[:-30])
    assert "cut off" in imported(file, code=1)["error"]
    whole_again = tmp_path / "whole.gz"
    whole_again.write_bytes(data)
    imported(whole_again)
    assert content(elsewhere) == dump(source)


def test_an_import_whose_worker_is_killed_again_and_again_ends_as_if_nothing_had_been(
    elsewhere: Paths, tmp_path: Path
) -> None:
    database = tmp_path / "large" / "recollect.db"
    filled(database, sessions=150)
    file = written(database, tmp_path / "large.jsonl")
    contact.start(elsewhere)
    running = subprocess.Popen([RECOLLECT, "import", "file", str(file)], stderr=subprocess.PIPE)
    store = SqliteStore(elsewhere.database, writer=False)
    for number in (1, 40, 80):
        until(partial(at_least, store, number))
        pid = contact.running_pid(elsewhere)
        if pid is not None and running.poll() is None:
            os.kill(pid, signal.SIGKILL)
    store.close()
    _, told = running.communicate(timeout=120)
    assert running.returncode == 0, told
    settled(elsewhere)
    assert content(elsewhere) == dump(database)


@pytest.mark.parametrize(("end", "code"), [(signal.SIGKILL, -9), (signal.SIGINT, 130)])
def test_an_import_that_was_stopped_goes_on_when_it_is_run_again(
    elsewhere: Paths, tmp_path: Path, end: signal.Signals, code: int
) -> None:
    database = tmp_path / "large" / "recollect.db"
    filled(database, sessions=150)
    file = written(database, tmp_path / "large.jsonl")
    contact.start(elsewhere)
    running = subprocess.Popen([RECOLLECT, "import", "file", str(file)])
    store = SqliteStore(elsewhere.database, writer=False)
    until(lambda: store.health().sessions >= 20)
    running.send_signal(end)
    assert running.wait() == code
    store.close()
    told = imported(file)
    assert told["new"]["sessions"] + told["known"]["sessions"] == 150
    assert told["known"]["sessions"] >= 20
    settled(elsewhere)
    assert content(elsewhere) == dump(database)


def test_a_trial_that_is_stopped_says_so_and_leaves_nothing(
    elsewhere: Paths, tmp_path: Path
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)  # whoever reads it waits for somebody who writes
    running = subprocess.Popen(
        [RECOLLECT, "import", "file", "--dry-run", str(pipe)], stderr=subprocess.PIPE, text=True
    )
    with pipe.open("wb"):  # it is being read now
        running.send_signal(signal.SIGINT)
        _, told = running.communicate(timeout=60)
    assert (running.returncode, told) == (130, "\nStopped. Nothing was changed.\n")
    assert not elsewhere.state.exists()


def test_an_export_that_is_stopped_leaves_what_was_there(
    home: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    filled(home.database)
    monkeypatch.setattr(export, "write", stopped)
    file = tmp_path / "out" / "a.jsonl.gz"
    file.parent.mkdir()
    file.write_text("older")
    done = CliRunner().invoke(cli, ["export", "-o", str(file)])
    assert (done.exit_code, done.stderr) == (130, f"\nStopped. {file} was not written.\n")
    assert [path.name for path in file.parent.iterdir()] == ["a.jsonl.gz"]
    assert file.read_text() == "older"
    printed = CliRunner().invoke(cli, ["export"])
    assert (printed.exit_code, "not whole" in printed.stderr) == (130, True)


def test_the_sample_in_the_reference_is_a_file_that_is_taken(
    elsewhere: Paths, tmp_path: Path
) -> None:
    page = Path(__file__).parents[2] / "docs" / "reference" / "export-format.md"
    file = tmp_path / "sample.jsonl"
    file.write_text(page.read_text().split("```json\n")[1].split("```")[0])
    new = imported(file)["new"]
    assert [new[noun] for noun in ("sessions", "prompts", "events", "observations")] == [1, 1, 1, 1]
    assert "Keep money as integer cents" in recollect("show", "1").stdout
    assert new["memories"] == 1
    assert (elsewhere.memory / "user" / "prefers-tabs.md").read_text().endswith("with tabs.\n")


def test_an_import_says_how_long_it_took(elsewhere: Paths, source: Path, tmp_path: Path) -> None:
    file = written(source, tmp_path / "whole.jsonl")
    done = recollect("import", "file", str(file))
    assert "3 sessions" in done.stdout.splitlines()[0]
    assert done.stdout.splitlines()[1].startswith("That took ")
    assert imported(file)["seconds"] > 0


def test_what_waited_for_a_model_there_is_worked_up_here(elsewhere: Paths, tmp_path: Path) -> None:
    database = tmp_path / "source" / "recollect.db"
    store = SqliteStore(laid(database), writer=True)
    found = repository("shop")
    told = Told(store.resolve_project(found, found.root, START))
    body = json.dumps(
        {"session_id": "session-1", "hook_event_name": "UserPromptSubmit", "prompt": "Use a mill"}
    ).encode()
    asked = told.prompt("Use a mill")
    asked = replace(asked, capture=replace(asked.capture, body=body))
    store.add_events([asked, told.stop()], told.at)
    assert store.health().pending == 2
    store.close()
    assert imported(written(database, tmp_path / "a.jsonl"))["new"]["jobs"] == 2
    until(lambda: settled(elsewhere).health().pending == 0)


def test_a_session_that_was_open_there_is_read_to_its_end_here(
    elsewhere: Paths, tmp_path: Path
) -> None:
    """Its transcript is at hand and tells more than was exported; then it is over."""
    spoken = Written()
    spoken.prompt("Use a mill")
    spoken.says("Done.")
    transcript = spoken.write(tmp_path / "transcripts")
    os.utime(transcript, (AT / 1000 + 60, AT / 1000 + 60))
    database = tmp_path / "source" / "recollect.db"
    store = SqliteStore(laid(database), writer=True)
    found = repository("shop")
    project = store.resolve_project(found, found.root, START)
    told = Told(project, session=spoken.session, at=AT - HOUR)
    begun = told.start()
    begun = replace(begun, event=replace(begun.event, transcript=str(transcript)))
    store.add_events([begun], told.at)
    store.close()
    assert imported(written(database, tmp_path / "a.jsonl"))["new"]["events"] == 1
    until(lambda: contact.status(elsewhere)["idle"])
    session = settled(elsewhere).session_by_ref("claude-code", spoken.session)
    assert session is not None
    assert (session.status, session.prompts) == ("interrupted", 1)
    kinds = [event.kind for event in events_of(settled(elsewhere), session.id)]
    assert kinds == ["session_start", "prompt", "stop"]


def test_mistakes_name_the_fix_and_words_are_completed(elsewhere: Paths, tmp_path: Path) -> None:
    assert recollect("import", "file", str(tmp_path / "none")).returncode == 2
    assert "file" in recollect("import", "--help").stdout
    words = {"COMP_WORDS": "recollect import ", "COMP_CWORD": "2"}
    done = recollect(env=words | {"_RECOLLECT_COMPLETE": "bash_complete"})
    assert {"plain,file", "plain,claude-mem"} <= set(done.stdout.split())
