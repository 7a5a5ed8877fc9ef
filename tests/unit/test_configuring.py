"""Changing the config file: by several at once, and whatever is in it."""

import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from aforesaid import configuring, locks, settings
from aforesaid.errors import ConfigError
from aforesaid.paths import Paths

NUMBERS = [row.name for row in settings.ROWS if isinstance(row.default, int)]


def together(*work: Callable[[], object]) -> None:
    ready = threading.Barrier(len(work))

    def begin(each: Callable[[], object]) -> None:
        ready.wait()
        each()

    threads = [threading.Thread(target=begin, args=(each,)) for each in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def written(home: Paths) -> dict[str, object]:
    found = settings.load(home.config_file, {})
    return {name: found.values[name] for name, where in found.origins.items() if where == "file"}


def changing(name: str, value: int) -> Callable[[], object]:
    return lambda: configuring.set_value(name, value)


def test_of_changes_in_many_threads_none_is_lost(home: Paths) -> None:
    for value in (600, 601, 602):
        allowed = [name for name in NUMBERS if (settings.BY_NAME[name].most or 0) > value]
        together(*(changing(name, value) for name in allowed))
        assert written(home) == dict.fromkeys(allowed, value)


def test_of_changes_by_many_programs_none_is_lost(home: Paths) -> None:
    program = (
        "import sys; from aforesaid import configuring; sys.stdin.read(1)\n"
        "for value in range(100, 110): configuring.set_value(sys.argv[1], value)\n"
    )
    names = ["brief.tokens", "recall.tokens", "memory.tokens", "web.delete_seconds"]
    running = [
        subprocess.Popen([sys.executable, "-c", program, name], stdin=subprocess.PIPE)
        for name in names
    ]
    for each in running:
        each.communicate(b"x")
        assert each.returncode == 0
    assert written(home) == dict.fromkeys(names, 109)


def test_a_change_that_is_cut_off_leaves_the_file_as_it_was(
    home: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    configuring.set_value("brief.tokens", 100)
    before = home.config_file.read_text()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", full)
        with pytest.raises(ConfigError, match="No space left"):
            configuring.set_value("brief.tokens", 200)
    assert home.config_file.read_text() == before
    assert [each.name for each in home.config.glob("*.tmp")] == []
    configuring.set_value("brief.tokens", 300)
    assert written(home) == {"brief.tokens": 300}


def test_who_holds_the_settings_for_ever_keeps_nobody_waiting(
    home: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(configuring, "LOCK_SECONDS", 0.05)
    configuring.set_value("brief.tokens", 100)
    with (
        locks.lock(home.config_file.with_name(".config.toml.lock")),
        pytest.raises(ConfigError, match="Another program"),
    ):
        configuring.set_value("brief.tokens", 200)


@pytest.mark.parametrize("content", [b"brief = 3\n", b"\xff\xfe", b"[brief\n"])
def test_what_is_no_file_of_settings_is_named_and_left_alone(home: Paths, content: bytes) -> None:
    home.config.mkdir(parents=True, exist_ok=True)
    home.config_file.write_bytes(content)
    with pytest.raises(ConfigError, match=r"config\.toml"):
        configuring.set_value("brief.tokens", 200)
    assert home.config_file.read_bytes() == content
