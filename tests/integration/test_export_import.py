"""Memory that moves: out by `aforesaid export`, in by `aforesaid import file`, come what may."""

import gzip
import json
import os
import pty
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

from aforesaid.cli import arguments
from aforesaid.cli.main import cli
from aforesaid.clock import HOUR
from aforesaid.model.observations import ObservationDraft, SummaryDraft
from aforesaid.paths import Paths
from aforesaid.store.store import Store
from aforesaid.transfer import export
from aforesaid.worker import rpc
from tests.support.arrivals import START, Told, repository
from tests.support.blank import laid
from tests.support.canonical import Dump, dump
from tests.support.memory import Memory
from tests.support.product import aforesaid, settled, until, work
from tests.support.stored import events_of
from tests.support.transcripts import AT, Written

pytestmark = pytest.mark.slow

AFORESAID = Path(sys.executable).with_name("aforesaid")


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Paths:
    """Another machine: the home from now on is an empty one. Its worker needs no model."""
    monkeypatch.setenv("AFORESAID_SYNTHESIS_PROVIDER", "rules")
    return Paths.of(os.environ)


def filled(database: Path, *, sessions: int = 3) -> None:
    """Sessions s0, s1, … of one project, worked up, with an observation and a summary each."""
    store = Store(laid(database), writer=True)
    memory = Memory.of(store, "shop")
    for number in range(sessions):
        draft = ObservationDraft("feature", f"Adds part {number}", facts=("It turns.",))
        summary = SummaryDraft(f"part {number}")
        memory.turn(f"Build part {number}", draft, summary=summary, session=f"s{number}")
    store.close()


def written(database: Path, file: Path) -> Path:
    store = Store(database, writer=False)
    with file.open("wb") as out:
        export.write(store.transfer.export(None, replies=False), out, at=START)
    store.close()
    return file


@pytest.fixture
def source(tmp_path: Path) -> Path:
    database = tmp_path / "source" / "aforesaid.db"
    filled(database)
    return database


def imported(*arguments: str | Path, code: int = 0) -> dict[str, Any]:
    done = aforesaid("import", "file", "--json", *map(str, arguments))
    assert done.returncode == code, done.stdout + done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def content(home: Paths) -> Dump:
    return dump(home.database)


@pytest.mark.quick
def test_what_hooks_captured_here_is_the_same_on_another_machine(
    home: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AFORESAID_SYNTHESIS_PROVIDER", "rules")
    project = tmp_path / "shop"
    project.mkdir()
    for session in ("aaaa1111", "bbbb2222"):
        work(project, session)
    settled(home)
    assert aforesaid("pin", "1").returncode == 0
    file = tmp_path / "memory.jsonl.gz"
    told = json.loads(aforesaid("export", "--output", str(file), "--json").stdout)
    assert (told["sessions"], told["bytes"]) == (2, file.stat().st_size)
    assert file.stat().st_mode & 0o777 == 0o600
    lines = gzip.decompress(file.read_bytes()).splitlines()
    assert json.loads(lines[0])["format"] == "aforesaid-export"
    events = [found for line in lines if (found := json.loads(line))["record"] == "event"]
    assert all(json.loads(event["body"]) for event in events)
    before = content(home)
    there = tmp_path / "there"
    monkeypatch.setenv("AFORESAID_HOME", str(there))
    plan = imported(file, "--dry-run")
    assert imported(file)["new"] == plan["new"]
    try:
        assert content(Paths.of(os.environ)) == before
        assert imported(file)["new"] == dict.fromkeys(plan["new"], 0)
        assert content(Paths.of(os.environ)) == before
        assert "hello.py" in aforesaid("search", "greet", "--all").stdout
        assert "greet" in aforesaid("context", "--json", cwd=project).stdout
        assert "source: user\n" in aforesaid("show", "1", cwd=project).stdout
    finally:
        rpc.stop(Paths.of(os.environ))


def test_the_standard_output_is_the_default_and_one_project_can_be_chosen(
    home: Paths, tmp_path: Path
) -> None:
    filled(home.database)
    done = aforesaid("export", "--project", "shop")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [lines[0]["project"], lines[-1]] == ["shop", {"record": "end", "lines": len(lines)}]
    assert "3 sessions" in done.stderr
    packed = aforesaid("export", "-o", "-", "--json")
    assert json.loads(packed.stderr)["sessions"] == 3
    missing = aforesaid("export", "--project", "mill")
    assert (missing.returncode, "shop" in missing.stderr) == (1, True)


@pytest.mark.quick
def test_hidden_observations_are_counted_and_stay_hidden(
    source: Path, elsewhere: Paths, tmp_path: Path
) -> None:
    store = Store(source, writer=True)
    store.observations.hide(2, START)
    store.close()
    file = tmp_path / "a.jsonl"
    done = aforesaid("export", "-o", str(file), env={"AFORESAID_HOME": str(source.parent)})
    assert "With 1 hidden observation, hidden after an import too." in done.stdout, done
    packed = aforesaid("export", "--json", env={"AFORESAID_HOME": str(source.parent)})
    assert json.loads(packed.stderr)["hidden"] == 1
    assert imported(file)["new"]["observations"] == 3
    assert "Observation #2 is hidden" in aforesaid("show", "2").stderr
    assert aforesaid("forget", "2", "--undo").returncode == 0


def test_an_export_that_cannot_be_written_leaves_what_was_there(
    home: Paths, tmp_path: Path
) -> None:
    filled(home.database)
    folder = tmp_path / "file.jsonl"
    folder.mkdir()
    assert aforesaid("export", "-o", str(folder)).returncode == 2
    done = aforesaid("export", "-o", str(tmp_path / "missing" / "a.jsonl"))
    assert done.returncode == 1
    assert "Choose another file" in done.stderr
    assert not list(tmp_path.glob(".*.tmp"))


def test_nothing_recorded_is_said_so(home: Paths) -> None:
    done = aforesaid("export")
    assert (done.returncode, "aforesaid install" in done.stderr) == (1, True)


def at_least(store: Store, sessions: int) -> bool:
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
    assert (
        "would be imported: 2 new sessions with 2 observations; nothing of what follows" in foretold
    )
    told = imported(file, code=1)
    assert told["kind"] == "TransferError"
    assert f"{file}, line {fault}: " in told["error"]
    assert why in told["error"]
    assert "2 new sessions" in told["error"]
    found = content(elsewhere)
    assert len(found["sessions"]) == len(found["summaries"]) == 2
    assert "Nothing would be imported" in imported(file, "--dry-run", code=1)["error"]
    # The whole file goes on from there.
    assert imported(whole)["new"]["sessions"] == 1
    assert content(elsewhere) == dump(source)


def header(**values: object) -> bytes:
    line = {"record": "export", "format": "aforesaid-export", "version": 1} | values
    return json.dumps(line).encode() + b"\n"


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "some.jsonl is empty"),
        (gzip.compress(b"", mtime=0), "some.jsonl is empty"),
        (b"hello\n", "does not begin as an export"),
        (b'{"some": "json"}\n', "does not begin as an export"),
        (b"\x1f\x8b\x08" + bytes(7) + b"garbage, this is", "cannot be unpacked"),
        (header(version=99, by="9.0"), "`git pull` and `make setup`"),
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
    assert "Nothing was imported" in told["error"]


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
    database = tmp_path / "large" / "aforesaid.db"
    filled(database, sessions=150)
    file = written(database, tmp_path / "large.jsonl")
    rpc.start(elsewhere)
    running = subprocess.Popen([AFORESAID, "import", "file", str(file)], stderr=subprocess.PIPE)
    store = Store(elsewhere.database, writer=False)
    for number in (1, 40, 80):
        until(partial(at_least, store, number))
        pid = rpc.running_pid(elsewhere)
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
    database = tmp_path / "large" / "aforesaid.db"
    filled(database, sessions=150)
    file = written(database, tmp_path / "large.jsonl")
    rpc.start(elsewhere)
    running = subprocess.Popen([AFORESAID, "import", "file", str(file)])
    store = Store(elsewhere.database, writer=False)
    until(lambda: store.health().sessions >= 20)
    running.send_signal(end)
    assert running.wait() == code
    store.close()
    told = imported(file)
    assert told["new"]["sessions"] + told["known"]["sessions"] == 150
    assert told["known"]["sessions"] >= 20
    settled(elsewhere)
    assert content(elsewhere) == dump(database)


def test_an_export_does_not_fill_a_terminal(home: Paths) -> None:
    ours, its = pty.openpty()
    done = subprocess.run(
        [AFORESAID, "export"], stdout=its, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(its)
    os.close(ours)
    assert done.returncode == 2
    assert "aforesaid export -o FILE" in done.stderr


def stopped(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def test_a_dry_run_that_is_stopped_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.jsonl").touch()
    monkeypatch.setattr(arguments, "run_task", stopped)
    done = CliRunner().invoke(cli, ["import", "file", "--dry-run", str(tmp_path / "a.jsonl")])
    assert (done.exit_code, done.stderr) == (130, "\nStopped. Nothing was changed.\n")


def test_a_pipe_is_not_imported(elsewhere: Paths, tmp_path: Path) -> None:
    """Reading it could keep the worker from ending."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert "pipe cannot be read: Not a regular file." in imported(pipe, code=1)["error"]


def test_an_export_that_is_stopped_leaves_what_was_there(
    home: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    assert (printed.exit_code, "incomplete" in printed.stderr) == (130, True)


def test_the_sample_in_the_reference_is_a_file_that_is_taken(
    elsewhere: Paths, tmp_path: Path
) -> None:
    page = Path(__file__).parents[2] / "docs" / "reference" / "export-format.md"
    file = tmp_path / "sample.jsonl"
    file.write_text(page.read_text().split("```json\n")[1].split("```")[0])
    new = imported(file)["new"]
    assert [new[noun] for noun in ("sessions", "prompts", "events", "observations")] == [1, 1, 1, 1]
    assert "Keep money as integer cents" in aforesaid("show", "1").stdout
    assert new["memories"] == 1
    assert (elsewhere.memory / "user" / "prefers-tabs.md").read_text().endswith("with tabs.\n")


def test_an_import_says_how_long_it_took(elsewhere: Paths, source: Path, tmp_path: Path) -> None:
    file = written(source, tmp_path / "whole.jsonl")
    done = aforesaid("import", "file", str(file))
    assert "3 sessions" in done.stdout.splitlines()[0]
    assert done.stdout.splitlines()[1].startswith("That took ")
    assert imported(file)["seconds"] > 0


def test_what_waited_for_a_model_there_is_worked_up_here(elsewhere: Paths, tmp_path: Path) -> None:
    database = tmp_path / "source" / "aforesaid.db"
    store = Store(laid(database), writer=True)
    found = repository("shop")
    told = Told(store.projects.resolve(found, found.root, START))
    body = json.dumps(
        {"session_id": "session-1", "hook_event_name": "UserPromptSubmit", "prompt": "Use a mill"}
    ).encode()
    asked = told.prompt("Use a mill")
    asked = replace(asked, capture=replace(asked.capture, body=body))
    store.events.add([asked, told.stop()], told.at)
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
    database = tmp_path / "source" / "aforesaid.db"
    store = Store(laid(database), writer=True)
    found = repository("shop")
    project = store.projects.resolve(found, found.root, START)
    told = Told(project, session=spoken.session, at=AT - HOUR)
    begun = told.start()
    begun = replace(begun, event=replace(begun.event, transcript=str(transcript)))
    store.events.add([begun], told.at)
    store.close()
    assert imported(written(database, tmp_path / "a.jsonl"))["new"]["events"] == 1
    until(lambda: rpc.status(elsewhere)["idle"])
    session = settled(elsewhere).sessions.find("claude-code", spoken.session)
    assert session is not None
    assert (session.status, session.prompts) == ("completed", 1)
    kinds = [event.kind for event in events_of(settled(elsewhere), session.id)]
    assert kinds == ["session_start", "prompt", "stop"]


def test_mistakes_name_the_fix_and_words_are_completed(elsewhere: Paths, tmp_path: Path) -> None:
    assert aforesaid("import", "file", str(tmp_path / "none")).returncode == 2
    assert "file" in aforesaid("import", "--help").stdout
    words = {"COMP_WORDS": "aforesaid import ", "COMP_CWORD": "2"}
    done = aforesaid(env=words | {"_AFORESAID_COMPLETE": "bash_complete"})
    assert {"plain,file", "plain,claude-mem"} <= set(done.stdout.split())
