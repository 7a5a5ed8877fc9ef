"""The printed command for a missing extra works, however aforesaid was installed."""

import sys
from importlib import metadata
from pathlib import Path

import pytest

from aforesaid import errors
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
    ("has_pip", "by_pipx", "command"),
    [
        (True, False, "{python} -m pip install 'aforesaid[claude]'"),
        (False, False, "uv pip install --python {python} 'aforesaid[claude]'"),
        (False, True, "pipx runpip tool install 'aforesaid[claude]'"),
    ],
)
def test_the_command_fits_the_environment(
    has_pip: bool,
    by_pipx: bool,
    command: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    prefix = tmp_path / "tool"
    prefix.mkdir(exist_ok=True)
    if by_pipx:
        (prefix / "pipx_metadata.json").write_text("{}")
    monkeypatch.setattr(sys, "prefix", str(prefix))
    monkeypatch.setattr(errors, "find_spec", lambda _: object() if has_pip else None)
    install_from(monkeypatch, None)
    assert errors.install_command("claude") == command.format(python=sys.executable)


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
