"""The printed command for a missing extra works, however aforesaid was installed."""

import sys
from pathlib import Path

import pytest

from aforesaid.errors import install_command
from tests.support.tables import loop_over


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
    assert install_command("claude") == command.format(python=sys.executable)


def test_an_environment_of_uv_with_pip_uses_pip(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pyvenv.cfg").write_text("uv = 0.9\n")
    (tmp_path / "lib/python3.11/site-packages/pip").mkdir(parents=True)
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert "-m pip install" in install_command("claude")
