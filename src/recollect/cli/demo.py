"""`recollect demo`: two example sessions through the real hooks, and what is remembered of them."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from importlib import resources
from pathlib import Path

import click

from recollect import clock, wiring
from recollect.agents.claude_code_install import hook_command
from recollect.cli import show
from recollect.cli.install import hook_dir
from recollect.cli.output import heading, say, styled
from recollect.errors import WorkerError
from recollect.recall import brief
from recollect.store.protocol import Reading
from recollect.text import tokens
from recollect.wiring import Home
from recollect.worker import contact

SESSIONS = ("session1.jsonl", "session2.jsonl")
WAIT_SECONDS = 30.0


@click.command()
def demo() -> None:
    """Replay two example sessions in a scratch home: nothing of yours is read or written."""
    with tempfile.TemporaryDirectory(prefix="recollect-demo-") as folder:
        os.environ["RECOLLECT_HOME"] = str(Path(folder, "home"))
        os.environ["RECOLLECT_SYNTHESIS_PROVIDER"] = "rules"  # the same for everybody, and free
        project = Path(folder, "orders")
        subprocess.run(["git", "init", "-q", str(project)], check=True)
        home = wiring.home()
        home.paths.make()
        try:
            for name in SESSIONS:
                _replay(name, project)
            _wait()
            store = wiring.open_for_reading(home.paths)
            _print(store, project, home)
            store.close()
        finally:
            contact.stop(home.paths)
    _print_next()


def _replay(name: str, project: Path) -> None:
    """Each line goes to the hook command that `install` writes, as the client would run it."""
    text = resources.files("recollect.demo").joinpath(name).read_text("utf-8")
    places = {"{{project}}": str(project), "{{home}}": str(Path.home())}
    for mark, place in places.items():
        text = text.replace(mark, json.dumps(place)[1:-1])
    calls = [json.loads(line) for line in text.splitlines()]
    began = time.monotonic()
    env = os.environ | {"CLAUDE_PROJECT_DIR": str(project)}
    with click.progressbar(calls, label=f"Replaying {name.removesuffix('.jsonl')}") as progress:
        for call in progress:
            subprocess.run(
                ["/bin/sh", "-c", hook_command(call["hook"], hook_dir(), Path(sys.executable))],
                input=json.dumps(call["payload"]).encode(),
                env=env,
                stdout=subprocess.DEVNULL,
                check=True,
            )
    took = (time.monotonic() - began) * 1000 / len(calls)
    say(
        styled(f"{len(calls)} hook calls, {took:.0f} ms each, the shell's start included", dim=True)
    )


def _wait() -> None:
    end = time.monotonic() + WAIT_SECONDS
    paths = wiring.home().paths
    while time.monotonic() < end:
        try:
            found = contact.status(paths)
        except WorkerError:
            found = {"idle": False}
        if found["idle"] and found["queue"]["sessions"] == len(SESSIONS):
            return
        time.sleep(0.02)
    raise WorkerError("The worker did not finish. See the messages above, then `recollect doctor`.")


def _print(store: Reading, project: Path, home: Home) -> None:
    for session in reversed(store.sessions(None, len(SESSIONS))):
        say("\n" + heading(f"━━ {session.title or 'Session'} ━━") + "\n")
        for observation in store.observations_of_session(session.id):
            show.print_observation(observation)
        for summary in store.summaries_of_session(session.id):
            show.print_summary(summary)
    project_id = store.project_of_dir(str(project))
    assert project_id is not None
    from recollect.memory.choosing import selecting

    index = selecting.index(wiring.memories(home, str(project), clock.now))
    for stored in index:
        say("\n" + heading(f"━━ A memory, as a file: {stored.path.name} ━━") + "\n")
        say(stored.path.read_text("utf-8"))
    budget = home.settings.number("brief.tokens")
    text = brief.write(store, project_id, budget, memories=index).text
    say(heading("━━ What the third session is told at its start ━━") + "\n")
    say(text)
    say(styled(f"\n{tokens(text)} tokens, about.", dim=True))


def _print_next() -> None:
    on_path = shutil.which("recollect")
    ours = Path(sys.argv[0])
    command = "recollect" if on_path and ours.exists() and ours.samefile(on_path) else ours
    say("\n" + heading("Your own Claude Code"))
    say(f"  {command} install     connects it (shows the change; `uninstall` undoes it exactly)")
    say(f"  {command} doctor      proves that everything works")
