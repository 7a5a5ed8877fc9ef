"""What every test has: a home of its own, nothing of the developer's, and no worker left behind."""

import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from aforesaid.paths import Paths
from aforesaid.store import database
from aforesaid.worker import rpc
from tests.support.examples import register
from tests.support.product import close_stores

register()

FOREIGN = ("AFORESAID_", "XDG_", "GIT_", "CLAUDE", "ANTHROPIC_", "OPENAI_")
MEMORY = Path("/dev/shm")
ROOM = 6 << 30  # bytes that a run may take
MOST_KEPT = 256 << 20  # bytes of a file in the home of a failed test
WORKER = "PYTEST_XDIST_WORKER"
SLOW_FOLDERS = ("acceptance", "browser")
_in_memory = pytest.StashKey[Path]()


def pytest_configure(config: pytest.Config) -> None:
    """Homes in memory, where a sync costs nothing, unless `--basetemp` names another place."""
    if WORKER in os.environ or config.option.basetemp or not os.access(MEMORY, os.W_OK):
        return
    if os.statvfs(MEMORY).f_flag & os.ST_NOEXEC or shutil.disk_usage(MEMORY).free < ROOM:
        return
    folder = Path(tempfile.mkdtemp(prefix="aforesaid-", dir=MEMORY))
    config.option.basetemp = str(folder)
    config.stash[_in_memory] = folder


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The real client and the browser are slow, but for a few tests that are marked `quick`."""
    for item in items:
        if item.path.parent.name in SLOW_FOLDERS:
            item.add_marker(pytest.mark.slow)


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """The homes of failed tests move to the disk; nothing stays in memory."""
    if (folder := session.config.stash.get(_in_memory, None)) is None:
        return
    if exitstatus == pytest.ExitCode.TESTS_FAILED:
        kept = Path(tempfile.mkdtemp(prefix="aforesaid-failed-"))
        with suppress(shutil.Error):  # a socket cannot be copied
            shutil.copytree(folder, kept, symlinks=True, ignore=list_too_large, dirs_exist_ok=True)
        sys.stderr.write(f"homes of failed tests: {kept}\n")
    shutil.rmtree(folder, ignore_errors=True)


def list_too_large(folder: str, names: list[str]) -> list[str]:
    """Sparse files of hostile repositories would take their whole size on the disk."""
    sizes = {name: Path(folder, name).lstat().st_size for name in names}
    return [name for name, size in sizes.items() if size > MOST_KEPT]


@pytest.fixture(autouse=True)
def isolated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """HOME and AFORESAID_HOME below tmp_path; the working directory restored; workers stopped."""
    for name in os.environ:
        if name.startswith(FOREIGN):
            monkeypatch.delenv(name)
    user = tmp_path / "user"
    user.mkdir()
    monkeypatch.setenv("HOME", str(user))
    monkeypatch.setenv("AFORESAID_HOME", str(tmp_path / "aforesaid"))
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


@pytest.fixture
def later_schema(monkeypatch: pytest.MonkeyPatch) -> None:
    """With one more migration than there is."""
    number, known = database.newest_version() + 1, database.migrations()
    more = (number, "CREATE TABLE notes (id INTEGER PRIMARY KEY);")
    monkeypatch.setattr(database, "migrations", lambda: (*known, more))


def stop_workers(folder: Path) -> None:
    """Every one whose home is below the folder; also one that was still starting, which would take
    over as soon as the other one is gone."""
    states = (folder / "aforesaid", folder / "user/.local/state/aforesaid")
    if not any((state / "run").exists() for state in states):
        return
    for state in states:
        rpc.stop(Paths(config=state, data=state, state=state))
    for command in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if b"aforesaid.worker" not in command.read_bytes():
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
