"""What turns recording off without a command: a variable, a file in the repository, a list of directories.

The hooks look for the first two by the same rules, on their own (`hook/capture.sh`, `hook/capture.py`), and
only in the project's own directory; a contract test keeps them equal.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

VARIABLE = "RECOLLECT_PAUSED"
OFF_FILE = ".recollect/off"


def off(directory: str, skipped: Iterable[str] = ()) -> str | None:
    """Why nothing is recorded there; None where it is. `skipped`: directories, with all below them."""
    place = Path(directory)
    for each in skipped:
        if place.is_relative_to(Path(each).expanduser()):
            return f"capture.skip_dirs has {each}"
    if not place.is_absolute():
        return None
    for folder in (place, *place.parents):
        try:
            if (folder / OFF_FILE).exists():
                return f"there is a file {folder / OFF_FILE}"
            if (folder / ".git").exists():
                return None
        except (OSError, ValueError):  # a directory that we may not look into, or a strange name
            return None
    return None


def told_off(env: Mapping[str, str]) -> str | None:
    """By a variable, which whoever starts the agent has set."""
    return f"{VARIABLE} is set" if env.get(VARIABLE, "") not in ("", "0") else None
