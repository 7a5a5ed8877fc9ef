"""Installing, uninstalling and what is said of an installation that cannot work."""

import errno
import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

import pytest
from click.testing import CliRunner

from aforesaid.cli import doctor, status
from aforesaid.cli.main import cli
from aforesaid.paths import Paths
from aforesaid.worker import health, overview, rpc
from tests.support.product import aforesaid, settled, work


@pytest.fixture
def used(home: Paths, tmp_path: Path) -> Paths:
    assert aforesaid("install").returncode == 0
    project = tmp_path / "shop"
    project.mkdir()
    work(project, "s1")
    settled(home).close()
    return home


def test_uninstall_stops_the_worker_and_lists_what_stays(used: Paths) -> None:
    rpc.start(used)
    done = aforesaid("uninstall")
    assert done.returncode == 0, done.stderr
    assert rpc.running_pid(used) is None
    assert "The worker is stopped.\nKept:" in done.stdout
    assert str(used.data) in done.stdout
    assert "aforesaid uninstall --purge" in done.stdout
    assert used.database.exists()


def test_uninstall_purge_asks_and_deletes_what_is_ours_and_nothing_else(used: Paths) -> None:
    refused = aforesaid("uninstall", "--purge", "--json")
    assert refused.returncode == 2
    assert "--yes" in refused.stderr
    asked = aforesaid("uninstall", "--purge", stdin="n\n")
    assert asked.returncode == 1
    assert "This deletes for good:" in asked.stdout
    assert used.database.exists()
    theirs = used.data / "notes.txt"
    theirs.write_text("mine")
    done = aforesaid("uninstall", "--purge", "--yes")
    assert done.returncode == 0, done.stderr
    assert f"Other files were left in {used.data}." in done.stdout
    assert list(used.data.iterdir()) == [theirs]
    theirs.unlink()
    assert aforesaid("uninstall", "--purge", "--yes").returncode == 0
    assert not used.data.exists()
    assert not used.state.exists()


def test_an_export_to_a_terminal_is_refused_and_names_the_option(used: Paths) -> None:
    master, terminal = pty.openpty()
    command = [str(Path(sys.executable).with_name("aforesaid")), "export"]
    done = subprocess.run(command, stdout=terminal, stderr=subprocess.PIPE, text=True, check=False)
    os.close(terminal)
    os.close(master)
    assert done.returncode == 2
    assert "aforesaid export -o FILE" in done.stderr


def test_status_says_so_when_nothing_can_be_written(
    used: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    rpc.stop(used)

    def fail(**_: object) -> NoReturn:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(health, "NamedTemporaryFile", fail)
    done = CliRunner().invoke(cli, ["status", "--json"])
    assert done.exit_code == 4
    assert "No space left" in json.loads(done.stdout)["problem"]
    assert "All is well" not in CliRunner().invoke(cli, ["status"]).stdout


def test_a_slow_mcp_server_is_slow_and_not_broken(
    used: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert [each.level for each in doctor.check_server()] == ["ok"]
    monkeypatch.setattr(overview, "START_SECONDS", 0.001)
    (finding,) = doctor.check_server()
    assert finding.level == "warning"
    assert "to start" in finding.detail
    assert "MCP_TIMEOUT" in finding.fix


@pytest.mark.parametrize("columns", [60, 100])
def test_a_terminal_gets_no_word_that_is_broken(used: Paths, columns: int) -> None:
    plain = aforesaid("status").stdout
    master, terminal = pty.openpty()
    environment = os.environ | {"COLUMNS": str(columns), "NO_COLOR": "1"}
    command = [str(Path(sys.executable).with_name("aforesaid")), "status"]
    shown = subprocess.Popen(command, stdout=terminal, env=environment)
    os.close(terminal)
    text = ""
    while True:
        try:
            piece = os.read(master, 4096)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        text += piece.decode()
    os.close(master)
    shown.wait()
    lines = text.replace("\r\n", "\n").splitlines()
    longest = max(map(len, plain.split()))
    assert max(map(len, lines)) <= max(columns, longest + status.LABEL)
    assert {word for word in text.split() if word.isalpha()} == {
        word for word in plain.split() if word.isalpha()
    }
