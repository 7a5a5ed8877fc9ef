"""Ways to turn recording off without a command: a variable, a file in the repository, a list of directories.

The hooks look for the first two by the same rules, on their own (`hook/capture.sh`, `hook/capture.py`), and
only in the project's own directory; a contract test keeps them equal.
"""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

VARIABLE = "AFORESAID_PAUSED"
OFF_FILE = ".aforesaid/off"


def off_reason(directory: str, skipped: Iterable[str] = ()) -> str | None:
    """Why nothing is recorded there; None where it is. `skipped`: directories, with all below them."""
    for each in skipped:
        above = _spellings(str(Path(each).expanduser()))
        if any(path.is_relative_to(one) for path in _spellings(directory) for one in above):
            return f"capture.skip_dirs has {each}"
    if not directory.startswith("/") or "\0" in directory:
        return None
    folder = os.path.normpath(directory)  # asked for every event: without the price of a Path
    while not os.path.lexists(file := os.path.join(folder, OFF_FILE)):  # noqa: PTH118
        if folder == "/" or os.path.lexists(os.path.join(folder, ".git")):  # noqa: PTH118
            return None
        folder = os.path.dirname(folder)  # noqa: PTH120
    return f"there is a file {file}"


def _spellings(path: str) -> set[Path]:
    """The path as written, and resolved: agents send one or the other."""
    if not path.startswith("/") or "\0" in path:
        return {Path(path)}
    return {Path(path), Path(path).resolve()}


def off_reason_in_env(env: Mapping[str, str]) -> str | None:
    return f"{VARIABLE} is set" if env.get(VARIABLE, "") not in ("", "0") else None
