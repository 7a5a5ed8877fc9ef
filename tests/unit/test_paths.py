"""Where things live, and who may read them."""

import os
import pwd
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from aforesaid.errors import ConfigError
from aforesaid.paths import Paths, private_dir, write_private


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_one_variable_puts_everything_in_one_folder() -> None:
    paths = Paths.of({"AFORESAID_HOME": "/one", "HOME": "/home/dev", "XDG_DATA_HOME": "/data"})
    assert {paths.config, paths.data, paths.state} == {Path("/one")}


def test_otherwise_the_xdg_folders_are_used() -> None:
    paths = Paths.of(
        {
            "HOME": "/home/dev",
            "XDG_CONFIG_HOME": "/c",
            "XDG_DATA_HOME": "/d",
            "XDG_STATE_HOME": "/s",
        }
    )
    assert (paths.config, paths.data, paths.state) == (
        Path("/c/aforesaid"),
        Path("/d/aforesaid"),
        Path("/s/aforesaid"),
    )


@pytest.mark.parametrize("value", ["", "relative", "./here", "~/there"])
def test_an_xdg_folder_that_is_not_absolute_is_ignored(value: str) -> None:
    paths = Paths.of({"HOME": "/home/dev", "XDG_STATE_HOME": value, "XDG_DATA_HOME": value})
    assert paths.state == Path("/home/dev/.local/state/aforesaid")
    assert paths.data == Path("/home/dev/.local/share/aforesaid")


@pytest.mark.parametrize("value", ["relative", "~/there", "."])
def test_a_home_of_ours_that_is_not_absolute_is_refused(value: str) -> None:
    with pytest.raises(ConfigError, match="absolute"):
        Paths.of({"AFORESAID_HOME": value, "HOME": "/home/dev"})


@pytest.mark.parametrize("env", [{}, {"HOME": ""}])
def test_without_home_the_password_database_is_asked(env: dict[str, str]) -> None:
    home = pwd.getpwuid(os.getuid()).pw_dir
    assert Paths.of(env).config == Path(home, ".config/aforesaid")


def test_every_folder_is_for_the_owner_alone_and_an_open_one_is_closed(home: Paths) -> None:
    home.spool_new.chmod(0o777)
    before = os.umask(0)
    try:
        home.make()
    finally:
        os.umask(before)
    folders = [home.state, *(p for p in home.state.rglob("*") if p.is_dir())]
    assert {mode(folder) for folder in folders} == {0o700}
    assert home.spool_tmp in folders


def test_parents_that_had_to_be_made_are_left_to_the_umask(tmp_path: Path) -> None:
    assert mode(private_dir(tmp_path / "a" / "b")) == 0o700


def test_a_private_file_is_replaced_whole_and_leaves_nothing_behind(tmp_path: Path) -> None:
    file = tmp_path / "file"
    before = os.umask(0)
    try:
        write_private(file, b"old")
        write_private(file, b"new")
    finally:
        os.umask(before)
    assert (file.read_bytes(), mode(file), list(tmp_path.glob(".*"))) == (b"new", 0o600, [])


def refuse(*_: object) -> None:
    raise OSError("refused")


def test_a_private_file_that_cannot_be_written_leaves_the_old_one_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "file"
    write_private(file, b"old")
    before = sorted(tmp_path.iterdir())
    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(OSError, match="refused"):
        write_private(file, b"new")
    assert sorted(tmp_path.iterdir()) == before
    assert file.read_bytes() == b"old"


def write_often(file: Path, data: bytes) -> None:
    for _ in range(100):
        write_private(file, data)


def test_threads_that_write_the_same_file_do_not_tear_it(tmp_path: Path) -> None:
    file, whole = tmp_path / "file", {bytes([n]) * 50_000 for n in range(4)}
    with ThreadPoolExecutor(4) as pool:
        for data in whole:
            pool.submit(write_often, file, data)
        while not file.exists():
            pass
        assert all(file.read_bytes() in whole for _ in range(200))


@pytest.mark.parametrize("folder", ["state", "spool_new"])
@pytest.mark.parametrize("linked", [False, True])
def test_a_folder_of_another_user_is_refused(
    home: Paths, tmp_path: Path, folder: str, linked: bool
) -> None:
    """T5: whoever owns the folder can put anything there, also by a link."""
    if os.geteuid() != 0:
        pytest.skip("needs root: a folder is given to another user")
    path: Path = getattr(home, folder)
    if linked:
        path.rename(tmp_path / "moved")
        path.symlink_to(tmp_path / "moved")
    os.chown(path, 65534, 65534, follow_symlinks=False)
    with pytest.raises(ConfigError, match="belongs to user 65534"):
        home.make()


def test_a_link_of_the_users_own_may_lead_elsewhere(home: Paths, tmp_path: Path) -> None:
    """T5: to a larger disk, for example."""
    home.spool.rename(tmp_path / "moved")
    home.spool.symlink_to(tmp_path / "moved")
    home.make()
    assert (tmp_path / "moved/new").is_dir()
