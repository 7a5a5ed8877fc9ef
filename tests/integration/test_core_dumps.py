"""A crash must not leave what is in memory on the disk, whatever the system does with core dumps."""

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from aforesaid.paths import Paths
from aforesaid.worker import rpc
from tests.support.product import until

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
PR_GET_DUMPABLE = 3


@LINUX
def test_a_worker_has_no_core_dumps(home: Paths) -> None:
    """T70: the limit."""
    pid = int(rpc.start(home)["pid"])
    limits = Path(f"/proc/{pid}/limits").read_text().splitlines()
    core = next(line for line in limits if line.startswith("Max core file size"))
    assert core.split()[4:6] == ["0", "0"]


@LINUX
@pytest.mark.parametrize("module", ["aforesaid.worker.main", "aforesaid.mcp.server"])
def test_a_process_with_content_is_not_dumpable(module: str, home: Paths) -> None:
    """T70: whatever the core pattern is: a dump that is piped to a program ignores the limit on its size."""
    program = (
        "import ctypes, importlib, resource, sys\n"
        f"module = importlib.import_module({module!r})\n"
        "module.disable_core_dumps()\n"
        f"print(ctypes.CDLL(None).prctl({PR_GET_DUMPABLE}, 0, 0, 0, 0))\n"
        "print(resource.getrlimit(resource.RLIMIT_CORE))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.split("\n")[:2] == ["0", "(0, 0)"]


@LINUX
def test_a_worker_that_crashes_leaves_no_core_file(home: Paths, tmp_path: Path) -> None:
    """T70: with the limit that a user may have set, and in whichever folder it runs."""
    pattern = Path("/proc/sys/kernel/core_pattern").read_text()
    raised = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    worker = subprocess.Popen(
        [sys.executable, "-I", "-m", "aforesaid.worker.main"],
        cwd=tmp_path,
        env=os.environ | {"AFORESAID_HOME": str(home.state)},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, raised),  # noqa: PLW1509
    )
    until(lambda: rpc.running_pid(home) == worker.pid)
    worker.send_signal(signal.SIGSEGV)
    assert worker.wait(30) == -signal.SIGSEGV
    if not pattern.startswith("|"):
        assert [path.name for path in tmp_path.rglob("core*")] == []
