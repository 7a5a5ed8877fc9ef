"""The real Claude Code client, each with a home and a project of its own.

Nothing of the developer's environment reaches it: no settings, no keys, no variables of an outer
session. It talks to the scripted API on loopback and to nobody else.
"""

import json
import os
import shlex
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

Json = dict[str, Any]
Scope = Literal["user", "project", "local"]

KEY = "sk-dummy-test"
PATH = "/usr/local/bin:/usr/bin:/bin"
TOOLS = ("Bash", "Read", "Write", "Edit")


def until(
    happened: Callable[[], bool], *, timeout: float = 90, report: Callable[[], str] = str
) -> None:
    """Wait for something another process does; `report` says what there is instead."""
    end = time.monotonic() + timeout
    while not happened():
        assert time.monotonic() < end, f"it did not happen in {timeout} s: {report()}"
        time.sleep(0.05)


def find_cli() -> str:
    """$CLAUDE_CLI, or the binary that comes with claude-agent-sdk."""
    if given := os.environ.get("CLAUDE_CLI"):
        return given
    spec = find_spec("claude_agent_sdk")
    if spec is None or spec.origin is None:
        raise FileNotFoundError("No Claude Code client. Run `pip install claude-agent-sdk`.")
    return str(Path(spec.origin).with_name("_bundled") / "claude")


@dataclass(frozen=True, slots=True)
class Finished:
    """A client that has ended."""

    returncode: int
    stdout: str
    stderr: str
    seconds: float

    def json(self) -> Json:
        """The report of `--output-format json`; the assertion shows what came instead."""
        assert self.stdout.startswith("{"), f"exit {self.returncode}: {self.stdout}{self.stderr}"
        report: Json = json.loads(self.stdout)
        return report

    @property
    def session_id(self) -> str:
        return str(self.json()["session_id"])

    @property
    def result(self) -> str:
        """The last thing the model said."""
        return str(self.json()["result"])


class HookDump:
    """What the client's hooks were given: one file per firing, in the order they came."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def command(self, event: str) -> str:
        """The last step is a rename, so that a reader never meets half a payload."""
        name = shlex.quote(str(self.folder / f"{event}.XXXXXXXX"))
        return f'f=$(mktemp {name}) && cat >"$f" && mv "$f" "$f.json"'

    def settings(self, events: Sequence[str]) -> Json:
        hooks = {e: [{"hooks": [{"type": "command", "command": self.command(e)}]}] for e in events}
        return {"hooks": hooks}

    def payloads(self, event: str = "*") -> list[Json]:
        found = sorted(self.folder.glob(f"{event}.*.json"), key=lambda p: p.stat().st_mtime_ns)
        return [json.loads(path.read_text()) for path in found]

    def wait(self, event: str, count: int = 1, *, timeout: float = 90) -> list[Json]:
        def report() -> str:
            return f"{event} x {count}, only {[p['hook_event_name'] for p in self.payloads()]}"

        until(lambda: len(self.payloads(event)) >= count, timeout=timeout, report=report)
        return self.payloads(event)


class Client:
    def __init__(
        self, root: Path, base_url: str, *, env: Mapping[str, str] | None = None, cli: str = ""
    ) -> None:
        self.root = root.resolve()
        self.home = self.root / "home"
        self.project = self.root / "project"
        self.base_url = base_url
        self.env = dict(env or {})
        self.cli = cli or find_cli()
        for folder in (self.home, self.project, self.root / "tmp"):
            folder.mkdir(parents=True, exist_ok=True)

    def environment(self) -> dict[str, str]:
        """Everything the client is told; a caller's own variables win."""
        return {
            "PATH": PATH,
            "HOME": str(self.home),
            "TMPDIR": str(self.root / "tmp"),
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "SHELL": "/bin/bash",
            "ANTHROPIC_API_KEY": KEY,
            "ANTHROPIC_BASE_URL": self.base_url,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_ERROR_REPORTING": "1",
            **self.env,
        }

    def start(self, *args: str, cwd: Path | None = None) -> subprocess.Popen[str]:
        """A running client in a process group of its own, for tests that signal or kill it."""
        return subprocess.Popen(
            [self.cli, *args],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=cwd or self.project,
            env=self.environment(),
            start_new_session=True,
        )

    def command(self, *args: str, cwd: Path | None = None, timeout: float = 120) -> Finished:
        """Run `claude ARGS` to its end."""
        began = time.monotonic()
        with self.start(*args, cwd=cwd) as process:
            try:
                out, err = process.communicate(timeout=timeout)
            except BaseException:
                # Its tools hold the same pipes: killing the client alone would wait for them.
                os.killpg(process.pid, signal.SIGKILL)
                raise
        return Finished(process.returncode, out, err, time.monotonic() - began)

    def run(
        self,
        prompt: str,
        *,
        allowed_tools: Sequence[str] = TOOLS,
        resume: str | None = None,
        session_id: str | None = None,
        args: Sequence[str] = (),
        cwd: Path | None = None,
        timeout: float = 120,
    ) -> Finished:
        """One prompt with `claude -p`, as a new session or as the next turn of an old one."""
        line = ["-p", prompt, "--output-format", "json", *args]
        if allowed_tools:
            line += ["--allowedTools", ",".join(allowed_tools)]
        if resume:
            line += ["--resume", resume]
        if session_id:
            line += ["--session-id", session_id]
        return self.command(*line, cwd=cwd, timeout=timeout)

    def plugin(self, *args: str) -> Finished:
        """`claude plugin ARGS`, such as `marketplace add DIR` or `install NAME@MARKET`."""
        return self.command("plugin", *args)

    def settings(self, data: Json, scope: Scope = "project") -> Path:
        folder = (self.home if scope == "user" else self.project) / ".claude"
        path = folder / ("settings.local.json" if scope == "local" else "settings.json")
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(data, indent=1))
        return path

    def dump_hooks(self, *events: str, scope: Scope = "user") -> HookDump:
        """Keep what these hooks are given. Replaces the settings of that scope."""
        dump = HookDump(self.root / "hooks")
        self.settings(dump.settings(events), scope)
        return dump

    def transcripts(self) -> list[Path]:
        return sorted(self.home.glob(".claude/projects/*/*.jsonl"))


def git_repo(path: Path, files: Mapping[str, str] | None = None) -> Path:
    """A repository with one commit of `files`. Its root commit differs from any other path's."""
    for name, text in (files or {}).items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(text)
    path.mkdir(parents=True, exist_ok=True)
    nobody = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "PATH": PATH}
    for line in (
        ["init", "--quiet", "--initial-branch=main"],
        ["config", "user.name", "Dev"],
        ["config", "user.email", "dev@example.com"],
        ["add", "--all"],
        ["commit", "--quiet", "--allow-empty", f"--message=Start {path.name}\n\n{path.resolve()}"],
    ):
        subprocess.run(["git", *line], cwd=path, env=nobody, check=True)
    return path
