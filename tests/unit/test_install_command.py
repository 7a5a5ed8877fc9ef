"""The printed command for a missing extra works, however aforesaid was installed."""

import sys
from importlib import metadata
from pathlib import Path

import pytest

from aforesaid.errors import install_command
from tests.support.tables import loop_over


class Installed:
    """What pip recorded about the source."""

    def __init__(self, source: str | None) -> None:
        self.source = source

    def read_text(self, _: str) -> str | None:
        return self.source


def install_from(monkeypatch: pytest.MonkeyPatch, source: str | None) -> None:
    monkeypatch.setattr(metadata, "distribution", lambda _: Installed(source))


@loop_over(
    ("file", "content", "command"),
    [
        (None, "", "{python} -m pip install 'aforesaid[claude]'"),
        ("pyvenv.cfg", "home = /usr\n", "{python} -m pip install 'aforesaid[claude]'"),
        ("pyvenv.cfg", "uv = 0.9\n", "uv pip install --python {python} 'aforesaid[claude]'"),
        ("uv-receipt.toml", "[tool]", "uv pip install --python {python} 'aforesaid[claude]'"),
        ("pipx_metadata.json", "{}", "pipx runpip tool install 'aforesaid[claude]'"),
    ],
)
def test_the_command_fits_the_environment(
    file: str | None,
    content: str,
    command: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    prefix = tmp_path / (file or "none") / str(len(content)) / "tool"
    prefix.mkdir(parents=True)
    if file:
        (prefix / file).write_text(content)
    monkeypatch.setattr(sys, "prefix", str(prefix))
    install_from(monkeypatch, None)
    assert install_command("claude") == command.format(python=sys.executable)


def test_an_environment_of_uv_with_pip_uses_pip(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pyvenv.cfg").write_text("uv = 0.9\n")
    (tmp_path / "lib/python3.11/site-packages/pip").mkdir(parents=True)
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert "-m pip install" in install_command("claude")


@loop_over(
    ("source", "package"),
    [
        (None, "'aforesaid[claude]'"),
        ('{"url": "file:///a%20b/c", "dir_info": {"editable": true}}', "-e '/a b/c[claude]'"),
        ('{"url": "file:///a/c", "dir_info": {}}', "'aforesaid[claude] @ file:///a/c'"),
        (
            '{"url": "https://host/c.git", "vcs_info": {"vcs": "git"}}',
            "'aforesaid[claude] @ git+https://host/c.git'",
        ),
    ],
)
def test_the_command_installs_from_where_aforesaid_came(
    source: str | None, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_from(monkeypatch, source)
    assert install_command("claude").endswith(f" install {package}")


def test_the_command_works_without_an_installation(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Installed:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", missing)
    assert install_command("claude").endswith(" install 'aforesaid[claude]'")
