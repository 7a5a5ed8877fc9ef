"""The house rules that a machine can check."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import aforesaid
from aforesaid.cli.main import COMMANDS
from aforesaid.hook import capture
from aforesaid.provenance.tracker import TELLING

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))

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
CAPTURE = ROOT / "src/aforesaid/hook/capture.py"


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


def test_the_hook_loads_nothing_but_what_it_needs(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "starting").touch()  # nobody starts a worker here
    (tmp_path / "run" / "worker.sock").touch()  # and nobody listens
    for hook in ("save", "context", "new", "file", "compact"):
        loaded = modules_loaded_by(hook, tmp_path)
        assert loaded <= HOOK_MODULES, hook


def modules_loaded_by(hook: str, home: Path) -> set[str]:
    program = (
        "import sys; before = set(sys.modules); names = {'__name__': 'capture'}\n"
        f"exec(compile(open({str(CAPTURE)!r}).read(), 'capture', 'exec'), names)\n"
        f"names['main']('claude-code', {hook!r})\n"
        "print(sorted(set(sys.modules) - before), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program],
        input=b'{"session_id": "s", "hook_event_name": "SessionStart"}',
        env={"AFORESAID_HOME": str(home)},
        capture_output=True,
        check=True,
    )
    return set(ast.literal_eval(done.stderr.decode()))


def test_the_hook_imports_only_os_sys_and_time_at_module_level() -> None:
    tree = ast.parse(CAPTURE.read_text())
    imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    assert sorted(ast.unparse(node) for node in imports) == [
        "import os",
        "import sys",
        "import time",
    ]


def test_the_hook_is_of_the_packages_version() -> None:
    assert aforesaid.__version__ == capture.VERSION


def test_commands_that_tell_what_is_remembered_are_known_for_it() -> None:
    """Else what aforesaid says itself would count as evidence."""
    silent = (
        *("open", "pin", "verify", "edit", "merge", "purge", "pause", "resume", "project", "cost"),
        *("install", "uninstall", "status", "doctor", "redact", "config", "worker", "retry"),
        *("synthesize", "rebuild", "backup", "restore", "import", "completion"),
        *("save", "summary", "end"),
    )
    assert sorted([*TELLING, *silent]) == sorted(row.name for row in COMMANDS)


STARTS_PROGRAMS = re.compile(
    r"(subprocess|shutil\.which|find_program|os\.(exec|spawn|posix_spawn|system|popen)|create_subprocess)"
)


def _names_git(tree: ast.AST) -> bool:
    """As a program: the string `git`, `/usr/bin/git` or `git log`; a docstring is none of them."""
    constants = (each.value for each in ast.walk(tree) if isinstance(each, ast.Constant))
    return any(isinstance(each, str) and re.match(r"(/\S*/)?git( |$)", each) for each in constants)


def test_only_one_module_starts_git() -> None:
    """A repository's configuration names programs, and git runs them. See git.py for how it does not."""
    found = {
        str(path.relative_to(ROOT / "src" / "aforesaid"))
        for path in SOURCES
        if STARTS_PROGRAMS.search(text := path.read_text()) and _names_git(ast.parse(text))
    }
    assert found == {"git.py"}


def test_programs_are_found_by_absolute_paths_alone() -> None:
    """`shutil.which` looks into the current directory where PATH says so, which may be a repository's."""
    users = {path.name for path in SOURCES if "shutil.which" in path.read_text()}
    assert users == {"paths.py"}


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


# Names that only one coding agent uses: its tools, its payload fields, its environment.
OF_ONE_AGENT = re.compile(
    r"(?:Bash|BashOutput|PowerShell|MultiEdit|NotebookEdit|Grep|Glob|WebFetch|WebSearch|TodoWrite|AskUserQuestion"
    r"|ExitPlanMode|hook_event_name|toolUseResult|claude-code|CLAUDECODE|CLAUDE_\w+"
    r"|aforesaid\.agents\.claude_code(?:\..*)?)"
)
# Its tags and folders, anywhere in a text or a pattern.
PARTS_OF_ONE_AGENT = re.compile(
    r"command-(?:name|message|args)|system-reminder|task-notification|local-command-|bash-std|tool-results/|(?<!\w)\.claude\b"
)
MAY_NAME_AN_AGENT = (
    "agents/claude_code/",
    "agents/registry.py",  # the list of agents
    "agents/base.py",  # a payload that several agents share
    "agents/api.py",  # reads tools shaped as Claude Code's
    "providers/claude",  # a model behind the client's own login
    "transfer/claude_mem",  # whose sessions are of one agent
    "memory/claude_memory.py",  # the client's own memory folder
    "memory/conversation.py",  # an agent loop of one's own may carry the tags of any client
    "lookalikes.py",  # disarms the tags of every client
    "cli/import",  # commands named after what they import
)


def _names_of_one_agent(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(node.value)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return {
        each for each in found if OF_ONE_AGENT.fullmatch(each) or PARTS_OF_ONE_AGENT.search(each)
    }


def test_nothing_but_its_own_folder_names_an_agent() -> None:
    package = ROOT / "src" / "aforesaid"
    found = {
        name: names
        for path in SOURCES
        if not (name := path.relative_to(package).as_posix()).startswith(MAY_NAME_AN_AGENT)
        and (names := _names_of_one_agent(path))
    }
    assert found == {}
    assert not re.search("claude", (package / "hook" / "capture.sh").read_text(), re.IGNORECASE)
