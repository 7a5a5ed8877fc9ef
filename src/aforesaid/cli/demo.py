"""`aforesaid demo`: replays two example sessions through the real hooks."""

import json
import os
import sys
import tempfile
import time
from importlib import resources
from pathlib import Path
from typing import Any

import click

from aforesaid import clock, wiring
from aforesaid.cli import arguments
from aforesaid.cli.output import heading, print_text, say, styled
from aforesaid.cli.setup import run_hook
from aforesaid.errors import WorkerError
from aforesaid.git import create_repository
from aforesaid.paths import find_program
from aforesaid.recall import brief
from aforesaid.recall.render import render_turns
from aforesaid.text import tokens
from aforesaid.wiring import Home
from aforesaid.worker import rpc

WAIT_SECONDS = 120.0
SESSIONS = ("session1.jsonl", "session2.jsonl")


@click.command()
def demo() -> None:
    """Replay two example sessions in a scratch home: nothing of yours is read or written."""
    with tempfile.TemporaryDirectory(prefix="aforesaid-demo-") as folder:
        os.environ["AFORESAID_HOME"] = str(Path(folder, "home"))
        os.environ["AFORESAID_SYNTHESIS_PROVIDER"] = "rules"  # the same for everybody, and free
        project = Path(folder, "orders")
        create_repository(project / ".git")
        home = wiring.home()
        home.paths.make()
        try:
            for name in SESSIONS:
                _replay(name, project)
            _write_notes()
            _print_remembered(home, project)
        finally:
            rpc.stop(home.paths)
    on_path = find_program("aforesaid")
    ours = Path(sys.argv[0])
    command = "aforesaid" if on_path and ours.exists() and ours.samefile(on_path) else ours
    say("\n" + heading("Your own Claude Code"))
    say(f"  {command} install     connects it (shows the change; `uninstall` undoes it exactly)")
    say(f"  {command} doctor      checks that everything works")


def _replay(name: str, project: Path) -> None:
    """Each line goes to the hook command that `install` writes, as the client would run it."""
    text = resources.files("aforesaid.demo").joinpath(name).read_text("utf-8")
    for mark, place in (("{{project}}", project), ("{{home}}", Path.home())):
        text = text.replace(mark, json.dumps(str(place))[1:-1])
    calls = [json.loads(line) for line in text.splitlines()]
    began = time.monotonic()
    with click.progressbar(calls, label=f"Replaying {name.removesuffix('.jsonl')}") as progress:
        for call in progress:
            run_hook(call["hook"], call["payload"], project).check_returncode()
    took = (time.monotonic() - began) * 1000 / len(calls)
    text = f"{len(calls)} hook calls, {took:.0f} ms each, including the start of the shell"
    say(styled(text, dim=True))


def _write_notes() -> None:
    end = time.monotonic() + WAIT_SECONDS

    def count_left(status: dict[str, Any]) -> int:
        if status["idle"] and status["queue"]["sessions"] == len(SESSIONS):
            return 0
        if time.monotonic() > end:
            why = f" ({status['problem']})" if status["problem"] else ""
            raise WorkerError(f"The worker did not finish{why}. Run `aforesaid doctor`.")
        return 1

    arguments.watch_worker("Writing notes", count_left, "Stopped.")


def _print_remembered(home: Home, project: Path) -> None:
    from aforesaid.memory.selection import memories_for_brief

    store = wiring.open_for_reading(home.paths)
    for session in reversed(store.sessions.recent(None, len(SESSIONS))):
        print_text(f"\n{render_turns(store, session)}")
    project_id = store.projects.find_by_dir(str(project))
    assert project_id is not None
    memories = memories_for_brief(wiring.memories(home, str(project), clock.now))
    for stored in memories:
        say("\n" + heading(f"━━ A memory, as a file: {stored.path.name} ━━") + "\n")
        say(stored.path.read_text("utf-8"))
    budget = home.settings.number("brief.tokens")
    text = brief.write(store, project_id, budget, memories=memories).text
    store.close()
    say(heading("━━ What is injected into the third session at its start ━━") + "\n")
    say(text)
    say(styled(f"\nAbout {tokens(text)} tokens.", dim=True))
