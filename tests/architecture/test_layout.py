"""The house rules that a machine can check."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import recollect
from recollect.cli.main import COMMANDS
from recollect.hook import capture
from recollect.model.origins import TELLING

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
LONGEST_FILE = 300
LONGEST_FUNCTION = 60

# What `capture.py` may load beyond a bare `python -I -S`: frozen, built in, or a few kilobytes.
OS_AND_ITS_PARTS = {
    "os",
    "os.path",
    "posixpath",
    "genericpath",
    "stat",
    "_stat",
    "_collections_abc",
}
HOOK_MODULES = OS_AND_ITS_PARTS | {"_socket", "binascii", "time"}
CAPTURE = ROOT / "src/recollect/hook/capture.py"


def test_imports_point_down_only() -> None:
    linter = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run(
        [linter, "--config", "pyproject.toml", "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("hook", ["save", "context", "new", "file", "compact"])
def test_the_hook_loads_nothing_but_what_it_needs(hook: str, tmp_path: Path) -> None:
    program = (
        "import sys; before = set(sys.modules); names = {'__name__': 'capture'}\n"
        f"exec(compile(open({str(CAPTURE)!r}).read(), 'capture', 'exec'), names)\n"
        f"names['main']({hook!r})\n"
        "print(sorted(set(sys.modules) - before), file=sys.stderr)"
    )
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "starting").touch()  # nobody starts a worker here
    (tmp_path / "run" / "worker.sock").touch()  # and nobody listens
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program],
        input=b'{"session_id": "s", "hook_event_name": "SessionStart"}',
        env={"RECOLLECT_HOME": str(tmp_path)},
        capture_output=True,
        check=True,
    )
    loaded = ast.literal_eval(done.stderr.decode())
    assert set(loaded) <= HOOK_MODULES


def test_the_hook_imports_only_os_sys_and_time_at_module_level() -> None:
    tree = ast.parse(CAPTURE.read_text())
    imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    assert sorted(ast.unparse(node) for node in imports) == [
        "import os",
        "import sys",
        "import time",
    ]


def test_the_hook_is_of_the_packages_version() -> None:
    assert recollect.__version__ == capture.VERSION


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT / "src")))
def test_files_and_functions_stay_small(path: Path) -> None:
    text = path.read_text()
    assert len(text.splitlines()) <= LONGEST_FILE
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef) and node.end_lineno is not None:
            length = node.end_lineno - node.lineno + 1
            assert length <= LONGEST_FUNCTION, f"{node.name} has {length} lines"


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT / "src")))
def test_every_module_says_what_it_is_for(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text()))


def test_commands_that_tell_what_is_remembered_are_known_for_it() -> None:
    """Else what recollect says itself would count as evidence."""
    assert sorted(TELLING) == sorted(row.name for row in COMMANDS if row.tells)


def test_no_file_names_a_package_registry() -> None:
    hosts = ("pypi" + ".org", "python" + "hosted.org", "npmjs" + ".", "deb." + "debian.org")
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    for name in filter(None, listed.stdout.decode().split("\0")):
        path = ROOT / name
        if not path.is_file():
            continue
        text = path.read_text(errors="replace")
        assert not any(host in text for host in hosts), name
