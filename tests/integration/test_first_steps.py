"""What a newcomer stumbles over: a missing package, a directory without memory, a pipe that closes early."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from aforesaid.encoders.base import Encoder
from aforesaid.encoders.static_table import StaticTable
from aforesaid.errors import install_command
from aforesaid.model.observations import ObservationDraft
from aforesaid.paths import Paths
from aforesaid.repository import identify
from aforesaid.store.store import Store
from tests.support.memory import Memory
from tests.support.product import aforesaid

INSTALL = install_command("minilm")
INSTEAD = "aforesaid config set recall.encoder static"
LONG_AGO = 1_700_000_000_000
PUMP = ObservationDraft("bugfix", "Pump mended", files_modified=("src/pump.py",))
VALVE = ObservationDraft("decision", "Steel valve beside the pump")


@pytest.fixture
def project(home: Paths, tmp_path: Path) -> Path:
    """A repository with one remembered session; no worker runs."""
    return remembered(home, tmp_path / "shop", StaticTable())


def remembered(home: Paths, folder: Path, encoder: Encoder | None) -> Path:
    folder.mkdir()
    subprocess.run(["git", "init", "--quiet", folder], check=True)
    store = Store(home.database, writer=True, encoder=encoder)
    memory = Memory(store, store.projects.resolve(identify(str(folder)), str(folder), 0))
    memory.at = LONG_AGO
    memory.turn("mend the pump", PUMP, VALVE, session="a1")
    store.close()
    return folder


@pytest.fixture
def without_onnx(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every process believes that onnxruntime is not installed."""
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text("import sys\nsys.modules['onnxruntime'] = None\n")
    monkeypatch.setenv("PYTHONPATH", str(folder))
    monkeypatch.setenv("AFORESAID_RECALL_ENCODER", "minilm")


def completed(*words: str, cwd: Path | None = None) -> list[str]:
    """What a shell offers for the last word."""
    asked = {"COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(words) - 1)}
    done = aforesaid(env=asked | {"_AFORESAID_COMPLETE": "bash_complete"}, cwd=cwd)
    return [line.partition(",")[2] for line in done.stdout.splitlines() if line]


@pytest.mark.usefixtures("without_onnx")
def test_a_missing_encoder_is_no_health(project: Path) -> None:
    status = aforesaid("status", cwd=project)
    assert status.returncode == 4
    assert "Search by meaning is off" in status.stdout
    assert INSTALL in status.stdout
    assert INSTEAD in status.stdout
    assert "All is well" not in status.stdout
    doctor = aforesaid("doctor", "--quick", "--json", cwd=project)
    assert doctor.returncode == 4
    (fault,) = (f for f in json.loads(doctor.stdout)["findings"] if f["what"] == "search")
    assert fault["level"] == "fault"
    assert "search by meaning is off" in fault["detail"]
    assert INSTALL in fault["fix"]
    assert INSTEAD in fault["fix"]


@pytest.mark.usefixtures("without_onnx")
def test_a_command_prints_no_log_lines(project: Path) -> None:
    done = aforesaid("search", "pump", cwd=project)
    assert "Pump mended" in done.stdout
    assert "earch by meaning is off" in done.stdout
    assert done.stderr == ""


def test_with_vectors_and_hooks_all_is_well(project: Path) -> None:
    alone = aforesaid("status", cwd=project)
    assert alone.returncode == 0
    assert "All is well" not in alone.stdout
    assert alone.stdout.endswith("until Claude Code is connected: aforesaid install\n")
    assert aforesaid("install").returncode == 0
    assert "All is well" in aforesaid("status", cwd=project).stdout
    assert aforesaid("pause", cwd=project).returncode == 0
    paused = aforesaid("status", cwd=project)
    assert (paused.returncode, "All is well" in paused.stdout) == (0, False)
    assert paused.stdout.endswith("Paused: see above. Everything else is well.\n")
    assert aforesaid("resume", cwd=project).returncode == 0
    settings = Path(os.environ["HOME"], ".claude/settings.json")
    settings.write_text(settings.read_text().replace("SessionEnd", "Nothing"))
    broken = aforesaid("status", cwd=project)
    assert broken.returncode == 4
    assert "lacks SessionEnd. Fix: aforesaid install --scope user\n" in broken.stdout
    assert json.loads(aforesaid("status", "--json", cwd=project).stdout)["problem"]


def test_vectors_that_nobody_makes_are_told(home: Paths, tmp_path: Path) -> None:
    project = remembered(home, tmp_path / "shop", None)
    status = aforesaid("status", cwd=project)
    assert status.returncode == 4
    assert "0 of 3 documents have a vector by static" in status.stdout
    assert "Fix: aforesaid rebuild" in status.stdout
    doctor = json.loads(aforesaid("doctor", "--quick", "--json", cwd=project).stdout)
    (warning,) = (f for f in doctor["findings"] if f["what"] == "search")
    assert (warning["level"], warning["fix"]) == ("warning", "aforesaid rebuild")
    assert aforesaid("status", env={"AFORESAID_RECALL_ENCODER": "none"}).returncode == 0


@pytest.mark.parametrize("arguments", [("why",), ("files",), ("files", "x.py"), ("timeline",)])
def test_a_directory_without_memory_gets_no_answer_of_another(
    project: Path, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    done = aforesaid(*arguments, cwd=tmp_path)
    assert done.returncode == 1
    assert f"Nothing was ever recorded in {tmp_path}. Name a " in done.stderr
    assert done.stdout == ""
    assert "Traceback" not in aforesaid(*arguments, cwd=project).stderr


def test_what_names_another_project_is_answered_anywhere(project: Path, tmp_path: Path) -> None:
    assert "src/pump.py" in aforesaid("files", "--project", "shop", cwd=tmp_path).stdout
    assert "Nothing was injected" in aforesaid("why", "a1", cwd=tmp_path).stdout
    assert aforesaid("files", "--project", "shop", cwd=project).returncode == 0


def test_what_was_forgotten_is_told_by_whoever_is_asked_for_it(project: Path) -> None:
    assert aforesaid("forget", "1", cwd=project).returncode == 0
    for arguments in (
        ("show", "1"),
        ("show", "#1", "--json"),
        ("forget", "1"),
        ("related", "1"),
        ("timeline", "1"),
        ("pin", "1"),
        ("edit", "1", "--title", "x"),
    ):
        done = aforesaid(*arguments, cwd=project)
        assert done.returncode == 1, arguments
        told = done.stdout + done.stderr
        assert "#1 is hidden. `aforesaid forget 1 --undo` restores it." in told, arguments


def test_a_shell_completes_settings_their_values_and_ids(project: Path) -> None:
    for verb in ("get", "set", "unset"):
        assert completed("aforesaid", "config", verb, "recall.") == [
            "recall.tokens",
            "recall.file_tokens",
            "recall.encoder",
        ]
    values = ["static", "minilm", "none"]
    assert completed("aforesaid", "config", "set", "recall.encoder", "") == values
    assert completed("aforesaid", "config", "set", "recall.encoder", "m") == ["minilm"]
    assert completed("aforesaid", "config", "set", "brief.tokens", "") == []
    assert completed("aforesaid", "show", "", cwd=project) == ["2", "1", "a1"]
    assert completed("aforesaid", "timeline", "a", cwd=project) == ["a1"]
    assert completed("aforesaid", "pin", "", cwd=project) == ["2", "1"]


@pytest.mark.parametrize(
    "arguments",
    [("show", "a1"), ("sessions",), ("search", "pump"), ("show", "9", "--json"), ("-h",)],
)
def test_a_reader_that_has_enough_is_no_error(project: Path, arguments: tuple[str, ...]) -> None:
    """As `aforesaid show a1 | head -1`, with a head that is gone before anything is written."""
    theirs, ours = os.pipe()
    os.close(theirs)
    command = [str(Path(sys.executable).with_name("aforesaid")), *arguments]
    try:
        done = subprocess.run(
            command, cwd=project, stdout=ours, stderr=subprocess.PIPE, timeout=60, check=False
        )
    finally:
        os.close(ours)
    assert done.returncode == 141
    assert done.stderr == b""


def test_a_timeline_takes_a_number(project: Path) -> None:
    def names(*arguments: str) -> list[str]:
        done = aforesaid("timeline", *arguments, "--json", cwd=project)
        return [hit["name"] for hit in json.loads(done.stdout)]

    assert names("--before", "2") == names()[-2:]
    assert names("#1", "--before", "0", "--after", "0") == ["#1"]
    assert names("#1", "--before", "1", "--after", "1") == ["prompt:1", "#1", "#2"]


def test_session_ids_are_as_long_as_they_must_be(home: Paths, project: Path) -> None:
    store = Store(home.database, writer=True)
    memory = Memory(store, 1)
    for name in ("0b5f3c1e-1", "0b5f3c1e-12", "0b5f3c1e-2", "7d21aa90-1"):
        memory.turn("paint it", session=name)
    store.close()
    listed = aforesaid("sessions", cwd=project).stdout
    ids = {
        line.split()[0] for line in listed.splitlines() if line.startswith("0b5") or "7d" in line
    }
    assert ids == {"0b5f3c1e-1", "0b5f3c1e-12", "0b5f3c1e-2", "7d21aa90"}
    for name in ids:
        assert aforesaid("show", name, cwd=project).returncode == 0, name
    found = aforesaid("search", "paint", "--level", "sessions", "--json", cwd=project).stdout
    assert {hit["name"] for hit in json.loads(found)["hits"]} == ids
    timeline = aforesaid("timeline", "0b5f3c1e-1", "--before", "99", cwd=project).stdout
    assert all(f" {name} paint it\n" in timeline for name in ids)


def test_an_empty_store_tells_the_same_to_search_and_sessions(home: Paths) -> None:
    for arguments in (("search", "pump"), ("sessions",), ("why",), ("files",)):
        done = aforesaid(*arguments)
        assert done.returncode == 1, arguments
        assert "aforesaid install" in done.stderr
        assert "aforesaid import claude-code" in done.stderr


def test_one_is_not_several_and_no_facts_have_no_share(home: Paths, project: Path) -> None:
    store = Store(home.database, writer=True)
    store.events.quarantine("x", "not JSON", 3, 1)
    store.close()
    shown = aforesaid("status", cwd=project).stdout
    assert ", 1 unreadable capture quarantined" in shown
    assert "2 observations\n" in shown
    assert "of 0 facts" not in shown
    assert "1 capture could not be read" in aforesaid("doctor", "--quick", cwd=project).stdout
