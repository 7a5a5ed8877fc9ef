"""What every test has: a home of its own, nothing of the developer's, and no worker left behind."""

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from recollect.paths import Paths
from recollect.worker import contact
from tests.support.examples import register
from tests.support.product import close_stores

register()

FOREIGN = ("RECOLLECT_", "XDG_", "GIT_", "CLAUDE", "ANTHROPIC_", "OPENAI_")


@pytest.fixture(autouse=True)
def isolated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """HOME and RECOLLECT_HOME below tmp_path; the working directory restored; workers stopped."""
    for name in os.environ:
        if name.startswith(FOREIGN):
            monkeypatch.delenv(name)
    user = tmp_path / "user"
    user.mkdir()
    monkeypatch.setenv("HOME", str(user))
    monkeypatch.setenv("RECOLLECT_HOME", str(tmp_path / "recollect"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    before = Path.cwd()
    yield
    os.chdir(before)
    close_stores()
    stop_workers(tmp_path)


@pytest.fixture
def home() -> Paths:
    """The isolated home, with its directories made."""
    paths = Paths.of(os.environ)
    paths.make()
    return paths


def stop_workers(folder: Path) -> None:
    """Every one whose home is below the folder; also one that was still starting, which would take
    over as soon as the other one is gone."""
    states = (folder / "recollect", folder / "user/.local/state/recollect")
    if not any((state / "run").exists() for state in states):
        return
    for state in states:
        contact.stop(Paths(config=state, data=state, state=state))
    for command in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if b"recollect.worker" not in command.read_bytes():
                continue
            if b"HOME=" + os.fsencode(folder) + b"/" in command.with_name("environ").read_bytes():
                os.kill(int(command.parent.name), signal.SIGKILL)


@pytest.fixture
def quick(tmp_path: Path) -> Iterator[Path]:
    """Where a sync costs nothing: what is looked at here are processes, not disks."""
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK):
        yield tmp_path
        return
    folder = Path(tempfile.mkdtemp(dir=memory))
    yield folder
    shutil.rmtree(folder)
