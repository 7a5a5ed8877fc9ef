"""aforesaid as a user has it: its hooks in the client's settings, its worker, its store."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from aforesaid import wiring
from aforesaid.agents.registry import AGENTS
from aforesaid.errors import WorkerError
from aforesaid.model.events import Event
from aforesaid.model.observations import Observation
from aforesaid.model.sessions import Session
from aforesaid.paths import Paths
from aforesaid.recall import inject
from aforesaid.store.store import Store
from aforesaid.worker import rpc
from tests.support.client import Client, until
from tests.support.product import command
from tests.support.scripted_api import Call, ScriptedApi, strings_in
from tests.support.stored import events_of

AFORESAID = Path(sys.executable).with_name("aforesaid")
MEMORY = "<aforesaid-memory"
WORKER = "aforesaid.worker"


def bash(command: str) -> Call:
    return Call("Bash", {"command": command, "description": "Run a command"})


def write(path: str, content: str) -> Call:
    return Call("Write", {"file_path": f"{{{{cwd}}}}/{path}", "content": content})


def count_briefs(told: str) -> int:
    """Without what a prompt was given."""
    return told.count(MEMORY) - told.count(inject.PROMPT_LEAD)


def last_request(api: ScriptedApi, prompt: str) -> str:
    """All text of the last request that answers this prompt: what the model knew by then."""
    bodies = [r["body"] for r in api.requests if r["kind"] == "main" and r["prompt"] == prompt]
    assert bodies, f"no request for {prompt!r}, only {[r['prompt'] for r in api.requests]}"
    return "\n".join(strings_in(bodies[-1]))


@dataclass(frozen=True, slots=True)
class Kept:
    """A stored event, read again."""

    kind: str
    prompt: int
    event: Event
    body: str

    @property
    def tool(self) -> str | None:
        return self.event.tool

    @property
    def subagent(self) -> str | None:
        return self.event.subagent.type if self.event.subagent else None


class Installation:
    def __init__(self, client: Client) -> None:
        self.client = client
        self.paths = Paths.of(client.environment())

    def cli(self, *args: str, cwd: Path | None = None) -> str:
        """`aforesaid ARGS` as this user, which must succeed."""
        env = self.client.environment()
        done = command(list(args), env=env, cwd=cwd or self.client.project)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def settled(self) -> None:
        """Wait until everything captured so far is stored and worked up."""
        until(lambda: self._state() == "settled", report=self._state)

    def _state(self) -> str:
        try:
            found = rpc.status(self.paths)
        except WorkerError as error:
            return f"{error} {self.spooled()} in the spool"
        assert not found["quarantine"], found
        busy = found["spool"] or found["queue"]["pending"] or not found["idle"]
        return str(found) if busy else "settled"

    def spooled(self) -> int:
        """How many captures wait for the worker."""
        return len(list(self.paths.spool_new.glob("*")))

    def worker_pid(self) -> int:
        pid = rpc.running_pid(self.paths)
        assert pid is not None, "no worker is running"
        return pid

    @contextmanager
    def store(self) -> Iterator[Store]:
        reading = wiring.open_for_reading(self.paths)
        try:
            yield reading
        finally:
            reading.close()

    def session(self, ref: str) -> Session:
        with self.store() as store:
            found = store.sessions.find("claude-code", ref)
        assert found is not None, f"session {ref} is not stored"
        return found

    def sessions(self) -> list[Session]:
        with self.store() as store:
            return store.sessions.recent(None, 100)

    def prompts(self, ref: str) -> list[tuple[int, str]]:
        with self.store() as store:
            return [(p.number, p.text) for p in store.sessions.prompts(self.session(ref).id)]

    def events(self, ref: str, kind: str | None = None) -> list[Kept]:
        """What is stored of a session (or one kind of it), in order."""
        with self.store() as store:
            rows = events_of(store, self.session(ref).id)
        kept = []
        for row in rows:
            event = AGENTS["claude-code"].parse(row.capture)
            assert isinstance(event, Event)
            assert event.kind == row.kind
            if kind in (None, row.kind):
                kept.append(Kept(row.kind, row.prompt_number, event, row.capture.body.decode()))
        return kept

    def tools(self, ref: str) -> list[tuple[str | None, int]]:
        """Each stored tool call with the number of its prompt."""
        return [(kept.tool, kept.prompt) for kept in self.events(ref, "tool")]

    def observations(self, ref: str) -> list[Observation]:
        with self.store() as store:
            return store.observations.for_session(self.session(ref).id)

    def titles(self, ref: str) -> list[str]:
        """The titles of what is remembered of a session; there must be some."""
        titles = [o.draft.title for o in self.observations(ref) if o.draft.title]
        assert titles, f"nothing is remembered of session {ref}"
        return titles

    def close(self) -> None:
        """End the worker, also one that a test has stopped.

        The clients go first: the last hook of a client that is ending starts a worker again.
        """
        until(lambda: not self._processes(self.client.cli), report=lambda: "a client goes on")
        for pid in self._processes(WORKER):
            os.kill(pid, signal.SIGCONT)
        rpc.stop(self.paths)
        for pid in self._processes(WORKER):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def agents(self) -> list[int]:
        """Processes of the client that answer the worker's questions."""
        return self._processes(self.client.cli, "AFORESAID_INSIDE=1")

    def _processes(self, command: str, variable: str = "") -> list[int]:
        """Processes of this user, and of no other, that run the command."""
        mine = f"AFORESAID_HOME={self.paths.state}\0".encode()
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                line = (process / "cmdline").read_bytes()
                env = (process / "environ").read_bytes()
                if command.encode() in line and mine in env and variable.encode() in env:
                    found.append(int(process.name))
        return found
