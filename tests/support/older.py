"""An earlier version of the product, side by side with this one: the same code under another number.

Its hooks and its worker are real; only the number differs, which is what decides who takes over.
"""

import subprocess
import sys
from pathlib import Path

import aforesaid

PACKAGE = Path(aforesaid.__file__).parent
OLDER, NEWER = "0.0.9", "99.0.0"


def installed(folder: Path, version: str) -> Path:
    """A package of that version in the folder, linked to ours but for what says the number."""
    _link(PACKAGE, folder / "aforesaid", {"__init__.py", "hook"})
    _link(PACKAGE / "hook", folder / "aforesaid" / "hook", {"capture.py"})
    for name in ("__init__.py", "hook/capture.py"):
        text = (PACKAGE / name).read_text()
        assert f'"{aforesaid.__version__}"' in text
        changed = text.replace(f'"{aforesaid.__version__}"', f'"{version}"', 1)
        (folder / "aforesaid" / name).write_text(changed)
    return folder / "aforesaid" / "hook"


def start_worker(folder: Path) -> subprocess.Popen[bytes]:
    """Of the version that is installed there."""
    code = (
        f"import sys; sys.path.insert(0, {str(folder)!r})\n"
        "from aforesaid.worker.main import main\n"
        "sys.exit(main())"
    )
    return subprocess.Popen(
        [sys.executable, "-I", "-c", code],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def _link(source: Path, target: Path, but: set[str]) -> None:
    target.mkdir(parents=True)
    for path in source.iterdir():
        if path.name not in but and path.name != "__pycache__":
            (target / path.name).symlink_to(path)
