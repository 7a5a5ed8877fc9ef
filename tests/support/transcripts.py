"""Transcripts for tests: told by the real client in short sessions, or written line by line.

`python -m tests.support.transcripts` records the sessions below again into tests/fixtures/transcripts, with
what the hooks were told of them.
"""

import json
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from aforesaid.agents.claude_code import transcript
from aforesaid.agents.claude_code.events import ClaudeCode
from aforesaid.model.events import (
    Capture,
    Event,
    SessionStarted,
    ToolUsed,
    TranscriptEvent,
    TranscriptFile,
)
from tests.support.client import TOOLS, Client, git_repo, until
from tests.support.scripted_api import Call, Delay, ScriptedApi, Text
from tests.support.terminal import Terminal

Json = dict[str, Any]

FIXTURES = Path(__file__).parents[1] / "fixtures" / "transcripts"
EVENTS = (
    "SessionStart",
    "UserPromptSubmit",
    "PostToolUse",
    "PostToolUseFailure",
    "Stop",
    "SubagentStop",
    "PreCompact",
    "SessionEnd",
)
# What a transcript tells only if a hook spoke, or not at all.
FRAMING = ("session_start", "session_end")
BOOKKEEPING = ("api-request", "api-request-shape", "api-request-blob", "cost-state", "tools-used")
TALK = ("queued_command", "hook_success", "hook_additional_context")
AT = 1_790_000_000_000  # when the written sessions begin


def comparable(event: Event) -> Event:
    """Without what only a hook knows."""
    what = event.what
    if isinstance(what, ToolUsed):
        what = replace(what, duration_ms=None)
    if isinstance(what, SessionStarted):
        what = replace(what, model=None)
    return replace(event, what=what)


def of_hooks(payloads: Iterable[Json]) -> list[Event]:
    """What the hooks told, in the order of their firing."""
    events = []
    for payload in payloads:
        capture = Capture("", "claude-code", "save", "", json.dumps(payload).encode(), 0)
        event = ClaudeCode().parse(capture)
        if isinstance(event, Event) and event.kind not in FRAMING:
            events.append(comparable(event))
    return events


def read(path: Path, mark: str | None = None, *, quiet: bool = False) -> list[TranscriptEvent]:
    """`quiet`: as if nobody had written to it for long."""
    file = transcript.describe(str(path))
    file = replace(file, modified=0) if quiet else file
    return list(ClaudeCode().read_transcript(file, mark))


def of_transcripts(home: Path, *, quiet: bool = False) -> list[Event]:
    """What all transcripts of a user tell, in the order of happening."""
    told: list[TranscriptEvent] = []
    for file in ClaudeCode().transcripts({"HOME": str(home)}):
        told += read(Path(file.path), quiet=quiet)
    told.sort(key=lambda t: t.capture.at)
    return [comparable(t.event) for t in told if t.event.kind not in FRAMING]


# --- sessions of the real client


def bash(command: str, **more: object) -> Call:
    return Call("Bash", {"command": command, "description": "Run a command", **more})


def errand(prompt: str) -> Call:
    given = {"description": "Find it", "prompt": prompt, "subagent_type": "general-purpose"}
    return Call("Agent", {**given, "run_in_background": False})


def plain(api: ScriptedApi, client: Client) -> None:
    """Two turns, the second resumed, with what can go well and wrong."""
    (client.project / "sub").mkdir()
    note = {"file_path": "{{cwd}}/note.txt"}
    api.when(
        "Write a note",
        Call("Write", {**note, "content": "one\n"}),
        Call("Read", note, say="Let me look."),
        bash("cat missing.txt"),
        Text("\n\n Written. \n"),
    )
    api.when(
        "Change the note",
        Call("Edit", {**note, "old_string": "one", "new_string": "two"}),
        Call("Edit", {**note, "old_string": "nonesuch", "new_string": "two"}),
        bash("cd sub"),
        bash("cat ../note.txt; echo é >&2"),
        bash("printf 'x%.0s' $(seq 40000)"),
        Call("Write", {**note, "content": "three\n"}),
        Text("Changed."),
    )
    session = client.run("Write a note").session_id
    client.run("Change the note", resume=session)


def subagent(api: ScriptedApi, client: Client) -> None:
    write = Call("Write", {"file_path": "{{cwd}}/found.md", "content": "# Found\n"})
    look = Call("Read", {"file_path": "{{cwd}}/found.md"})
    api.when("SUBTASK", write, look, bash("echo hi"), bash("cat none"), Text("\n\nFound it.\n"))
    api.when("Send somebody", errand("SUBTASK: find"), bash("cat found.md"), Text("It is found."))
    client.run("Send somebody to find it", allowed_tools=(*TOOLS, "Agent"))


def background(api: ScriptedApi, client: Client) -> None:
    api.when("<task-notification>", bash("echo noticed"), Text("I noticed."))
    api.when("Start it", bash("sleep 0.3; echo hi", run_in_background=True), Text("Started."))
    client.run("Start it")


def compacted(api: ScriptedApi, client: Client) -> None:
    api.when("first", bash("echo 1"), Text("First done."))
    session = client.run("the first thing").session_id
    client.command("-p", "/compact keep the colours", "--resume", session)
    client.run("what now", resume=session)
    client.command("-p", "/clear", "--resume", session)


def compacted_itself(api: ScriptedApi, client: Client) -> None:
    full = {"input_tokens": 990_000, "output_tokens": 5}
    api.when("big", bash("echo 1"), Text("Big done.", usage=full))
    api.when("next", bash("echo 2"), Text("Next done."))
    session = client.run("a big thing").session_id
    client.run("the next thing", resume=session)


def forked(api: ScriptedApi, client: Client) -> None:
    api.when("first", bash("echo 1"), Text("First done."))
    api.when("second", bash("echo 2"), Text("Second done."))
    session = client.run("the first thing").session_id
    client.run("the second thing", resume=session, args=("--fork-session",))
    client.run("another second thing", resume=session)


def killed(api: ScriptedApi, client: Client) -> None:
    """In the middle of a tool; nobody goes on. The client writes its transcript a little after the call."""
    session, started = "5f6d9a10-6f0b-4a5e-9a55-0c8d3b1f7e21", client.project / "started"
    kept = {"file_path": "{{cwd}}/kept.txt", "content": "kept\n"}
    api.when("Take long", Call("Write", kept), bash("touch started; sleep 60"))
    line = ["-p", "Take long", "--session-id", session, "--allowedTools", ",".join(TOOLS)]
    with client.start(*line) as process:
        until(started.exists)
        until(lambda: any("touch started" in each.read_text() for each in client.transcripts()))
        os.killpg(process.pid, signal.SIGKILL)


def killed_and_resumed(api: ScriptedApi, client: Client) -> None:
    killed(api, client)
    api.when("go on", Text("Gone on."))
    client.run("go on", resume=client.transcripts()[0].stem)


def escaped(api: ScriptedApi, client: Client) -> None:
    started = client.project / "started"
    api.when("take long", bash("echo quick"), bash("touch started; sleep 60"))
    api.when("something else", bash("echo else"), Text("Something else is done."))
    api.when("after that", bash("echo that"), Text("That is done."))
    with Terminal(client, "--allowedTools", "Bash") as screen:
        screen.ready()
        screen.submit("take long over it")
        until(started.exists)
        screen.interrupt()
        screen.submit("now something else")
        screen.wait_for("Something else is done")
        screen.ready()
        screen.submit("/clear")
        screen.ready()
        screen.submit("and after that")
        screen.wait_for("That is done")
        screen.ready()
        screen.submit("/exit")
        screen.exit_status()


def typed_ahead(api: ScriptedApi, client: Client) -> None:
    """Prompts typed while the agent works, and a command of the user's own."""
    folder, started = client.project / ".claude" / "commands", client.project / "started"
    folder.mkdir(parents=True)
    (folder / "greet.md").write_text("Please greet $ARGUMENTS kindly")
    api.when("slow work", bash("touch started; sleep 2"), bash("echo after"), Text("Slow done."))
    api.when("slow answer", Delay(2, Text("Slowly answered.")))
    api.when("and that", Text("That too."))
    api.when("greet", bash("echo greeted"), Text("Greeted."))
    with Terminal(client, "--allowedTools", "Bash") as screen:
        screen.ready()
        screen.submit("slow work please")
        until(started.exists)
        screen.submit("also this please")
        screen.wait_for("Slow done")
        screen.ready()
        screen.submit("slow answer please")
        until(lambda: any(r["prompt"] == "slow answer please" for r in api.requests))
        screen.submit("and that please")
        screen.wait_for("That too")
        screen.ready()
        screen.submit("/greet Ann")
        screen.wait_for("Greeted")
        screen.ready()
        screen.submit("/exit")
        screen.exit_status()


Session = Callable[[ScriptedApi, Client], None]
IN_A_TERMINAL: tuple[Session, ...] = (escaped, typed_ahead)
SESSIONS: tuple[Session, ...] = (
    plain,
    subagent,
    background,
    compacted,
    compacted_itself,
    forked,
    killed,
    killed_and_resumed,
    *IN_A_TERMINAL,
)


def record(session: Session, folder: Path) -> None:
    """Transcripts and payloads, without the client's bookkeeping and with a root of our own."""
    shutil.rmtree(folder, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix="aforesaid-record-") as root, ScriptedApi() as api:
        client = Client(Path(root), api.url)
        git_repo(client.project)
        hooks = client.dump_hooks(*EVENTS)
        session(api, client)
        projects = client.home / ".claude" / "projects"
        for path in sorted(p for p in projects.rglob("*") if p.is_file()):
            text = path.read_text()
            if path.suffix == ".jsonl":
                text = "".join(filter(_kept, text.splitlines(keepends=True)))
            parts = path.relative_to(projects).parts
            _write(folder.joinpath("home", ".claude", "projects", "p", *parts[1:]), text, root)
        payloads = "".join(json.dumps(payload) + "\n" for payload in hooks.payloads())
        _write(folder / "hooks.jsonl", payloads, root)


def _kept(line: str) -> bool:
    entry = json.loads(line)
    if entry["type"] == "attachment":
        return entry["attachment"]["type"] in TALK
    return entry["type"] not in BOOKKEEPING


def _write(path: Path, text: str, root: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text.replace(os.path.realpath(root), "/home/dev"))


# --- transcripts that nobody told


@dataclass(slots=True)
class Written:
    """A session in the form of a newer client, or of an older one: without ids of prompts and reasons to
    stop. Each method adds a line, a second after the one before."""

    session: str = "0b7c5a52-8f0e-4a3e-9d0f-5a1c3e7d9b11"
    older: bool = False
    lines: list[Json] = field(default_factory=list)
    prompt_id: str = ""
    agent: str = ""

    def add(self, kind: str, **values: Any) -> Json:
        at = AT + 1000 * len(self.lines)
        stamp = datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="milliseconds")
        entry: Json = {"type": kind, "uuid": f"line-{len(self.lines)}", "timestamp": stamp}
        entry |= {"sessionId": self.session, "cwd": "/home/dev/shop"}
        if self.agent:
            entry |= {"agentId": self.agent, "isSidechain": True}
        if kind == "user" and self.prompt_id:
            entry["promptId"] = self.prompt_id
        self.lines.append(entry | values)
        return self.lines[-1]

    def user(self, content: Any, **values: Any) -> Json:
        return self.add("user", message={"role": "user", "content": content}, **values)

    def prompt(self, text: str, **values: Any) -> Json:
        if self.older:
            return self.user(text, **values)
        self.prompt_id = f"prompt-{len(self.lines)}"
        return self.user(text, **{"promptSource": "typed", "turnOrigin": "human"} | values)

    def assistant(self, block: Json, reason: str) -> Json:
        message: Json = {"role": "assistant", "content": [block], "model": "claude-opus-5-5"}
        message["stop_reason"] = None if self.older else reason
        return self.add("assistant", message=message)

    def call(self, name: str, tool: str = "Bash", **given: Any) -> Json:
        block = {"type": "tool_use", "id": name, "name": tool, "input": given}
        return self.assistant(block, "tool_use")

    def result(self, name: str, text: str, result: Any = None, **values: Any) -> Json:
        block = {"type": "tool_result", "tool_use_id": name, "content": text}
        failed = {"is_error": True} if values.pop("failed", False) else {}
        told = {} if result is None else {"toolUseResult": result}
        return self.user([block | failed], **told, **values)

    def says(self, text: str, reason: str = "end_turn") -> Json:
        return self.assistant({"type": "text", "text": text}, reason)

    def text(self) -> bytes:
        return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in self.lines).encode()

    def write(self, folder: Path) -> Path:
        path = folder / f"{self.session}.jsonl"
        if self.agent:
            path = folder / self.session / "subagents" / f"agent-{self.agent}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self.text())
        return path


def file_of(path: Path) -> TranscriptFile:
    return transcript.describe(str(path))


if __name__ == "__main__":
    for chosen in SESSIONS:
        if chosen.__name__ in sys.argv[1:] or not sys.argv[1:]:
            record(chosen, FIXTURES / chosen.__name__)
