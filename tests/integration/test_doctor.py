"""`aforesaid doctor` on healthy and broken installations."""

import json
import os
import re
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest

from aforesaid import wiring
from aforesaid.paths import Paths
from aforesaid.worker import rpc
from tests.support.client import git_repo
from tests.support.product import aforesaid, settled, work

pytestmark = pytest.mark.slow


@pytest.fixture
def installed(home: Paths, tmp_path: Path) -> Paths:
    """Hooks in the user's settings and something remembered."""
    assert aforesaid("install").returncode == 0
    project = tmp_path / "shop"
    project.mkdir()
    work(project, "s1")
    settled(home).close()
    return home


def faults(*arguments: str) -> dict[str, dict[str, Any]]:
    done = aforesaid("doctor", "--json", *arguments)
    found = [f for f in json.loads(done.stdout)["findings"] if f["level"] == "fault"]
    assert done.returncode == (4 if found else 0)
    return {fault["what"]: fault for fault in found}


@pytest.mark.quick
def test_a_healthy_installation_is_proven_and_left_as_it_was(installed: Paths) -> None:
    before = wiring.open_for_reading(installed).health()
    done = aforesaid("doctor")
    assert done.returncode == 0, done.stdout
    assert "Memory works." in done.stdout
    assert "whole path: hook, spool, worker, store, observation" in done.stdout
    after = settled(installed).health()
    assert (after.projects, after.sessions, after.events) == (
        before.projects,
        before.sessions,
        before.events,
    )


def test_the_parts_of_the_disk_sum_up_to_the_whole(installed: Paths) -> None:
    done = aforesaid("doctor", "--quick").stdout
    line = next(line for line in done.split("\n") if " disk: " in line)
    total, *parts = (round(float(size) * 10) for size in re.findall(r"([\d.]+) MB", line))
    assert total == sum(parts) > 0


def test_the_first_doctor_on_a_new_machine_finds_only_the_missing_install(home: Paths) -> None:
    done = aforesaid("doctor", "--json")
    assert done.returncode == 0, done.stdout
    findings = json.loads(done.stdout)["findings"]
    (warning,) = [f for f in findings if f["level"] != "ok"]
    assert warning["fix"] == "aforesaid install"


def test_a_hook_whose_path_is_gone_is_named(installed: Paths, tmp_path: Path) -> None:
    settings = Path(os.environ["HOME"], ".claude/settings.json")
    moved = settings.read_text().replace(str(Path(wiring.__file__).parent), str(tmp_path / "gone"))
    settings.write_text(moved)
    fault = faults("--quick")["hooks"]
    assert "capture.sh is gone" in fault["detail"]
    assert fault["fix"] == "aforesaid install --scope user"
    assert aforesaid("install").returncode == 0
    assert not faults("--quick")


def test_an_installation_from_before_a_hook_was_added_is_named_and_completed(
    installed: Paths,
) -> None:
    settings = Path(os.environ["HOME"], ".claude/settings.json")
    whole = json.loads(settings.read_text())
    older = json.loads(settings.read_text())
    del older["hooks"]["PreToolUse"]
    (entry,) = older["hooks"]["PreCompact"][0]["hooks"]  # it once kept the event and said nothing
    entry["command"] = entry["command"].replace(" compact ", " save ", 1)
    settings.write_text(json.dumps(older))
    fault = faults("--quick")["hooks"]
    assert "lacks PreCompact, PreToolUse" in fault["detail"]
    assert fault["fix"] == "aforesaid install --scope user"
    assert aforesaid(*fault["fix"].split()[1:]).returncode == 0
    assert json.loads(settings.read_text()) == whole
    assert not faults("--quick")


def test_a_hook_whose_python_is_gone_is_named(installed: Paths, tmp_path: Path) -> None:
    settings = Path(os.environ["HOME"], ".claude/settings.json")
    commands = json.loads(settings.read_text())
    text = json.dumps(commands).replace("/bin/python", "/bin/nopython")
    settings.write_text(text)
    assert "cannot be run" in faults("--quick")["hooks"]["detail"]


def test_an_unwritable_spool_is_named(installed: Paths) -> None:
    rpc.stop(installed)
    shutil.rmtree(installed.spool_tmp)
    installed.spool_tmp.write_bytes(b"")  # works for root too, unlike a mode
    done = aforesaid("doctor", "--quick", "--json")
    findings = json.loads(done.stdout)["findings"]
    found = {f["what"]: f for f in findings if f["level"] == "fault"}
    assert "nothing can be recorded" in found["spool"]["detail"]
    assert str(installed.spool_tmp) in found["folders"]["fix"]
    assert done.returncode == 4


def test_a_damaged_database_is_named_and_the_fix_works(installed: Paths) -> None:
    rpc.stop(installed)
    with installed.database.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * 20_000)
    fault = faults("--quick")["database"]
    assert "damaged" in fault["detail"]
    assert aforesaid(*fault["fix"].split()[1:]).returncode == 0
    assert not faults()
    findings = json.loads(aforesaid("doctor", "--quick", "--json").stdout)["findings"]
    assert any(each["what"] == "recovery" for each in findings)


def test_a_hung_worker_is_named_and_the_fix_works(installed: Paths) -> None:
    os.kill(int(rpc.running_pid(installed) or 0), signal.SIGSTOP)
    fault = faults("--quick")["worker"]
    assert "does not answer" in fault["detail"]
    assert fault["fix"] == "aforesaid worker restart"
    assert aforesaid("worker", "restart").returncode == 0
    assert not faults("--quick")


def test_files_that_others_can_read_are_named(installed: Paths) -> None:
    installed.database.chmod(0o644)
    fault = faults("--quick")["privacy"]
    assert fault["fix"] == f"chmod go-rwx {installed.database}"


def test_a_broken_config_is_named(installed: Paths) -> None:
    installed.config_file.write_text("[brief]\ntokens = 'many'\n")
    done = aforesaid("doctor", "--quick", "--json")
    assert done.stdout.count("brief.tokens takes a whole number") == 1
    assert done.returncode == 4


def test_the_proof_takes_nothing_with_it_when_temporary_files_lie_in_a_repository(
    home: Paths, tmp_path: Path
) -> None:
    repository = git_repo(tmp_path / "dotfiles")
    work(repository, "mine")
    before = settled(home).health()
    (repository / "tmp").mkdir()
    done = aforesaid("doctor", env={"TMPDIR": str(repository / "tmp")})
    assert done.returncode == 0, done.stdout
    assert settled(home).health().events == before.events


def test_an_mcp_server_that_cannot_start_is_named(installed: Paths) -> None:
    config = Path(os.environ["HOME"], ".claude.json")
    python = json.loads(config.read_text())["mcpServers"]["aforesaid"]["command"]
    assert "MCP server" not in faults("--quick")
    for other in ("/nowhere/python", "/bin/false"):
        config.write_text(config.read_text().replace(python, other))
        fault = faults("--quick")["MCP server"]
        assert other in fault["detail"]
        assert fault["fix"] == "aforesaid install --scope user"
        assert aforesaid("install").returncode == 0
    config.write_text("{}")
    done = json.loads(aforesaid("doctor", "--quick", "--json").stdout)
    (warning,) = [f for f in done["findings"] if f["what"] == "MCP server"]
    assert (warning["level"], warning["fix"]) == ("warning", "aforesaid install")
