"""The command that installs an optional dependency, for the way in which aforesaid was installed."""

import shlex
import sys
from pathlib import Path


def install(extra: str) -> str:
    """pipx and uv create environments without pip. Of the others, the Python that runs is right also in a
    checkout's `.venv`."""
    package = f"'aforesaid[{extra}]'"
    prefix, python = Path(sys.prefix), shlex.quote(sys.executable)
    if (prefix / "pipx_metadata.json").exists():  # first: pipx may use uv
        return f"pipx runpip {shlex.quote(prefix.name)} install {package}"
    if (prefix / "uv-receipt.toml").exists() or _is_created_by_uv(prefix):
        return f"uv pip install --python {python} {package}"
    return f"{python} -m pip install {package}"


def _is_created_by_uv(prefix: Path) -> bool:
    try:
        lines = (prefix / "pyvenv.cfg").read_text("utf-8").splitlines()
    except (OSError, ValueError):
        return False
    has_pip = any(prefix.glob("lib/python3*/site-packages/pip"))
    return not has_pip and any(line.startswith("uv =") for line in lines)
