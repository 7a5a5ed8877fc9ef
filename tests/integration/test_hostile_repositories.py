"""Whole sessions, every command and the MCP server in hostile repositories: nothing of them runs, connects,
blocks, or brings in what is not theirs."""

import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from aforesaid.agents.claude_code.install import CONNECTION
from aforesaid.cli.main import COMMANDS
from aforesaid.mcp.tools import TOOLS
from aforesaid.paths import Paths
from tests.support.hostile_repositories import PRIVATE, TRAPS, Canary, Trap, build, git, ordinary
from tests.support.product import HOOK_DIR, HOOK_OF, aforesaid, have_worker, settled

pytestmark = pytest.mark.slow
WORST = "many at once"

STEERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
# What is given to each command; a new command needs a row. None: it is not run by itself.
ARGUMENTS: dict[str, list[list[str]] | None] = {
    "open": [["--print"]],
    "search": [["greeting"]],
    "show": [["1"]],
    "timeline": [["1"]],
    "related": [["1"]],
    "files": [["a.py"], ["."]],
    "sessions": [[]],
    "why": [[]],
    "project": [["list"], ["show"], ["link"], ["unlink"]],
    "pin": [["1"]],
    "verify": [["1"]],
    "edit": [["1", "--title", "x"]],
    "merge": [["1", "2"]],
    "memory": [["list"], ["check"], ["log"], ["path"], ["diff"], ["show", "link"], ["undo"]],
    "dream": [["--dry-run"]],
    "remember": [["The port is 80"], ["--team", "The port is 81"]],
    "forget": [["1"]],
    "purge": [["--project", ".", "--dry-run"]],
    "pause": [["--project"]],
    "resume": [["--project"]],
    "cost": [[]],
    "demo": None,  # in a scratch home and directory, for half a minute
    "install": [["--scope", "project", "--dry-run"], ["--dry-run"]],
    "uninstall": [["--scope", "project", "--dry-run"]],
    "status": [[]],
    "doctor": [[]],
    "redact": [["-"]],
    "config": [["list"], ["path"]],
    "worker": [["status"], ["logs"]],
    "retry": [[]],
    "synthesize": [[]],
    "rebuild": [[]],
    "backup": [[], ["list"], ["check"]],
    "restore": [["nothing"]],
    "export": [["out.jsonl"]],
    "import": [["claude-code", "--dry-run"], ["file", "out.jsonl", "--dry-run"]],
    "mcp": None,  # see call_every_tool
    "completion": [["bash"]],
    **{name: [[]] for name in ("context", "new", "compact", "save", "summary", "end")},
}
TOOL_ARGUMENTS: dict[str, dict[str, object]] = {
    "search": {"query": "greeting"},
    "timeline": {"around": "1"},
    "get": {"ids": [1]},
    "related": {"id": 1},
    "files": {"path": "a.py"},
    "remember": {"text": "The port is 80"},
    "forget": {"what": "1"},
    "memories": {},
}


@pytest.fixture
def canary(tmp_path: Path) -> Iterator[Canary]:
    folder = tmp_path / "canary"
    folder.mkdir()
    with Canary(folder).listening() as listening:
        yield listening


@pytest.fixture
def template(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AFORESAID_SYNTHESIS_PROVIDER", "rules")
    return ordinary(tmp_path / "template")


def prepare(
    trap: Trap, template: Path, canary: Canary, folder: Path
) -> tuple[Path, dict[str, str]]:
    """The session's directory and its environment."""
    private = folder / "private"
    private.mkdir(parents=True)
    note = f"---\nname: link\ndescription: {PRIVATE}\ntype: project\n---\n{PRIVATE}\n"
    (private / "note.md").write_text(note)
    directory = build(trap, template, folder / "repo", canary)
    canary.trace.unlink(missing_ok=True)
    env = {"PATH": f"{trap.path}:{os.environ['PATH']}"} if trap.path else {}
    return directory, env | {"CLAUDE_PROJECT_DIR": str(directory)}


def play_session(directory: Path, env: dict[str, str], session: str) -> str:
    """Every hook, as the client runs it: in the session's directory. What the agent was told."""
    common = {"session_id": session, "prompt_id": f"{session}-p", "cwd": str(directory)}
    file = {"file_path": str(directory / "a.py"), "content": "greet = 1\n"}
    tool: dict[str, object] = {
        "tool_name": "Write",
        "tool_use_id": f"toolu_{session}",
        "tool_input": file,
    }
    events: list[tuple[str, dict[str, object]]] = [
        ("SessionStart", {"source": "startup"}),
        ("UserPromptSubmit", {"prompt": "Add a greeting to a.py"}),
        ("PreToolUse", tool),
        ("PostToolUse", tool | {"tool_response": {"type": "create"} | file}),
        ("PreCompact", {"trigger": "auto"}),
        ("Stop", {"last_assistant_message": "Added a greeting to a.py. Next: call it."}),
        ("SessionEnd", {"reason": "other"}),
    ]
    told = ""
    for event, payload in events:
        body = common | {"hook_event_name": event} | payload
        done = subprocess.run(
            [
                "/bin/sh",
                "-c",
                CONNECTION.hook_command(HOOK_OF[event], HOOK_DIR, Path(sys.executable)),
            ],
            input=json.dumps(body).encode(),
            cwd=directory,
            env=os.environ | env,
            capture_output=True,
            timeout=60,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, b""), event
        told += _text(done.stdout.decode())
    return told


def _text(answer: str) -> str:
    """As the agent sees it."""
    try:
        value = json.loads(answer)
    except ValueError:
        return answer
    found: list[str] = []
    while isinstance(value, dict):
        found += [each for each in value.values() if isinstance(each, str)]
        value = next((each for each in value.values() if isinstance(each, dict)), None)
    return "\n".join(found)


def run_every_command(directory: Path, env: dict[str, str]) -> str:
    printed = ""
    for row in COMMANDS:
        for arguments in ARGUMENTS[row.name] or ():
            done = aforesaid(row.name, *arguments, env=env, cwd=directory, stdin="{}")
            assert "Traceback" not in done.stderr, (row.name, done.stderr)
            printed += done.stdout + done.stderr
    return printed


def call_every_tool(directory: Path, env: dict[str, str]) -> str:
    async def talk() -> str:
        arguments = ["-I", "-m", "aforesaid.mcp.server"]
        server = StdioServerParameters(
            command=sys.executable, args=arguments, env=os.environ | env, cwd=directory
        )
        told = ""
        async with stdio_client(server) as streams, ClientSession(*streams) as session:
            await session.initialize()
            for tool in TOOLS:
                result = await session.call_tool(tool.name, TOOL_ARGUMENTS[tool.name])
                told += "".join(each.text for each in result.content if each.type == "text")
        return told

    return asyncio.run(talk())


def assert_harmless(text: str, canary: Canary) -> None:
    assert canary.found() == []
    assert PRIVATE not in text
    found = STEERS.search(text)
    assert found is None, repr(text[max(0, found.start() - 200) : found.end() + 60])


@pytest.mark.quick
def test_every_command_and_every_tool_is_tried() -> None:
    assert ARGUMENTS.keys() == {row.name for row in COMMANDS}
    assert TOOL_ARGUMENTS.keys() == {tool.name for tool in TOOLS}


@pytest.mark.parametrize(
    "trap",
    [
        pytest.param(t, marks=() if t.quick else pytest.mark.long, id=t.name)
        for t in TRAPS
        if t.proof
    ],
)
def test_plain_git_springs_the_trap(
    trap: Trap, template: Path, canary: Canary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the tests below would prove nothing."""
    directory, env = prepare(trap, template, canary, tmp_path / "tried")
    monkeypatch.setenv("PATH", env.get("PATH", os.environ["PATH"]))
    git(directory, *(trap.proof or ()))
    assert canary.found() != []


@pytest.mark.parametrize(
    "chosen",
    [
        pytest.param([t for t in TRAPS if t.name == WORST], id="worst", marks=pytest.mark.quick),
        pytest.param([t for t in TRAPS if t.quick], id="many"),
    ],
)
def test_sessions_in_hostile_repositories_run_nothing(
    home: Paths, template: Path, canary: Canary, tmp_path: Path, chosen: list[Trap]
) -> None:
    """T69: one worker for all of them; then every command and every tool in the worst one."""
    have_worker(home)
    told = ""
    for number, trap in enumerate(chosen):
        directory, env = prepare(trap, template, canary, tmp_path / str(number))
        for turn in ("first", "second"):
            told += play_session(directory, env, f"{turn}-{number}")
        settled(home)
        assert_harmless(told, canary)
        if trap.name == WORST:
            told += run_every_command(directory, env) + call_every_tool(directory, env)
            assert_harmless(told, canary)
    assert len(settled(home).sessions.recent(None, 1000)) == 2 * len(chosen)


@pytest.mark.long
@pytest.mark.parametrize("trap", TRAPS, ids=lambda trap: trap.name)
def test_a_hostile_repository_runs_nothing(
    trap: Trap, home: Paths, template: Path, canary: Canary, tmp_path: Path
) -> None:
    """T69: a session, every command and every tool in each of them."""
    have_worker(home)
    directory, env = prepare(trap, template, canary, tmp_path / "tried")
    told = "".join(play_session(directory, env, session) for session in ("first", "second"))
    settled(home)
    told += run_every_command(directory, env) + call_every_tool(directory, env)
    settled(home)
    assert_harmless(told, canary)
