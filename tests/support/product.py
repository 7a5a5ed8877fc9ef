"""The product as its users meet it: the command line, and hooks run as the client runs them."""

import json
import os
import pty
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from aforesaid import wiring
from aforesaid.agents.claude_code.install import CONNECTION, HOOK_EVENTS
from aforesaid.errors import AforesaidError
from aforesaid.paths import Paths
from aforesaid.store.store import Store
from aforesaid.worker import rpc
from tests.support import forked

HOOK_DIR = Path(wiring.__file__).parent / "hook"
_opened: list[Store] = []
HOOK_OF = {row.event: row.hook for row in HOOK_EVENTS}


def aforesaid(
    *arguments: str, env: Mapping[str, str] | None = None, cwd: Path | None = None, stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    """A command in a process of its own. See `forked` for what it is spared."""
    return command(list(arguments), env=os.environ | dict(env or {}), cwd=cwd, stdin=stdin)


def command(
    arguments: list[str], *, env: Mapping[str, str], cwd: Path | None = None, stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    """The same with all of its environment given."""
    if forked.possible(env):
        return forked.run(arguments, env=env, cwd=cwd, stdin=stdin, seconds=60)
    return subprocess.run(
        [Path(sys.executable).with_name("aforesaid"), *arguments],
        env=env,
        cwd=cwd,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def have_worker(paths: Paths) -> None:
    """One that runs before the first hook would start it, at the cost of a fork. Where captures may start
    none, there is none."""
    if rpc.running_pid(paths) or paths.starting_file.exists() or not forked.possible(os.environ):
        return
    pid = forked.start_worker(os.environ)
    until(lambda: rpc.running_pid(paths) or not Path(f"/proc/{pid}").exists())


def fire(
    event: str,
    payload: Mapping[str, Any],
    *,
    project: Path,
    env: Mapping[str, str] | None = None,
    python: Path | None = Path(sys.executable),
) -> subprocess.CompletedProcess[bytes]:
    """One hook event through the line that `install` writes."""
    body = {"hook_event_name": event, "cwd": str(project)} | dict(payload)
    return subprocess.run(
        ["/bin/sh", "-c", CONNECTION.hook_command(HOOK_OF[event], HOOK_DIR, python)],
        input=json.dumps(body).encode(),
        env=os.environ | {"CLAUDE_PROJECT_DIR": str(project)} | dict(env or {}),
        capture_output=True,
        timeout=60,
        check=False,
    )


def work(project: Path, session: str, *, prompt: str = "Add a greeting to hello.py") -> str:
    """A small session: one prompt, one new file, an end. The prompt's id."""
    have_worker(Paths.of(os.environ))
    prompt_id = str(uuid.uuid4())
    file, content = str(project / "hello.py"), "def greet(name):\n    return f'Hello {name}'\n"
    common = {"session_id": session, "prompt_id": prompt_id}
    fire("SessionStart", {"session_id": session, "source": "startup"}, project=project)
    fire("UserPromptSubmit", common | {"prompt": prompt}, project=project)
    fire(
        "PostToolUse",
        common
        | {
            "tool_name": "Write",
            "tool_use_id": f"toolu_{uuid.uuid4().hex}",
            "tool_input": {"file_path": file, "content": content},
            "tool_response": {"type": "create", "filePath": file, "content": content},
        },
        project=project,
    )
    message = "Added greet() to hello.py. Next: call it from the command line."
    fire("Stop", common | {"last_assistant_message": message}, project=project)
    fire("SessionEnd", {"session_id": session, "reason": "other"}, project=project)
    return prompt_id


def until(happened: Callable[[], Any], *, seconds: float = 90.0) -> Any:
    """Waits for a truthy answer and returns it. Generous: machines are shared, and it ends early."""
    end = time.monotonic() + seconds
    while True:
        answer = happened()
        if answer:
            return answer
        assert time.monotonic() < end, f"did not happen within {seconds} s"
        time.sleep(0.02)


def settled(paths: Paths) -> Store:
    """The store, once the worker has nothing left to do."""

    def idle() -> bool:
        try:
            return bool(rpc.status(paths)["idle"])
        except AforesaidError:
            return False

    until(idle)
    store = wiring.open_for_reading(paths)
    _opened.append(store)
    return store


def close_stores() -> None:
    """What `settled` opened; the end of every test calls this."""
    while _opened:
        _opened.pop().close()


def on_a_terminal(project: Path, *arguments: str, **env: str) -> str:
    """What `aforesaid` shows where it has a terminal, as it is written to one."""
    ours, its = pty.openpty()
    line = [str(Path(sys.executable).with_name("aforesaid")), *arguments]
    with subprocess.Popen(line, cwd=project, stdout=its, env=os.environ | env) as shown:
        os.close(its)
        parts = []
        with suppress(OSError):  # how a terminal says that the other side has gone
            while part := os.read(ours, 1 << 16):
                parts.append(part)
        os.close(ours)
        assert shown.wait() == 0
    return b"".join(parts).decode()
