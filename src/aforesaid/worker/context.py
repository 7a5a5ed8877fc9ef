"""What the parts of the worker share."""

import os
import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from aforesaid import log, wiring
from aforesaid.agents.base import Agent
from aforesaid.agents.registry import AGENTS
from aforesaid.backups import database_state
from aforesaid.clock import Clock
from aforesaid.errors import StoreDamaged
from aforesaid.store.store import Store
from aforesaid.text import one_line
from aforesaid.wiring import Choice, Home
from aforesaid.worker.circuit_breaker import CircuitBreaker, MonitoredModel
from aforesaid.worker.pause import Pauses
from aforesaid.worker.projects import ProjectFinder
from aforesaid.worker.web import Notifier

DOCTOR_PREFIX = "doctor-"  # sessions of `aforesaid doctor`: they cost nothing and are removed
FAULT_SECONDS = (0.5, 30.0)  # first and longest pause after the store or the disk refused
LONGEST_WAIT = 1.0  # seconds that background work yields: a hook has given up by then


class HookPriority:
    """Held while a hook is answered. Background work yields to it."""

    def __init__(self) -> None:
        self._answering = 0
        self._changed = threading.Condition()

    def __enter__(self) -> None:
        with self._changed:
            self._answering += 1
            self._changed.notify_all()

    def __exit__(self, *_: object) -> None:
        with self._changed:
            self._answering -= 1
            self._changed.notify_all()

    def yield_to_hooks(self, expect_seconds: float = 0.0) -> None:
        """Returns when no hook is being answered. `expect_seconds`: one may be about to ask."""
        if not self._answering and not expect_seconds:  # called often: without the lock
            return
        with self._changed:
            if not self._answering and expect_seconds:
                self._changed.wait_for(lambda: self._answering > 0, expect_seconds)
            self._changed.wait_for(lambda: self._answering == 0, LONGEST_WAIT)


class Context:
    """`changed`: projects whose briefs have to be written again. `busy`, `drafting`: held while jobs are
    run, and while notes are extracted for a model.
    `faults`: by thread, until it works again. `redacted`: secrets since the start, by kind."""

    def __init__(
        self,
        home: Home,
        store: Store,
        clock: Clock,
        *,
        agents: Mapping[str, Agent] = AGENTS,
        env: Mapping[str, str] = os.environ,
        choice: Choice | None = None,
    ) -> None:
        self.home, self.store, self.clock = home, store, clock
        self.paths, self.settings = home.paths, home.settings
        self.agents, self.env = agents, env
        self.redacted: Counter[str] = Counter()
        self.redactor = wiring.make_redactor(
            home, on_found=lambda kind: self.redacted.update([kind])
        )
        self.choice = choice or wiring.provider(home, clock, redactor=self.redactor)
        self.breaker = CircuitBreaker(clock)
        self.projects = ProjectFinder(store, clock)
        self.pauses = Pauses(
            store,
            self.projects,
            clock,
            skipped=lambda: self.settings.names("capture.skip_dirs"),
            on_change=lambda: database_state.record_exclusion(self.paths),
        )
        self.searcher = wiring.searcher(store, self.settings, clock)
        self.notifier = Notifier(store, clock)
        self.priority = HookPriority()
        self.boring_tools = home.settings.names("capture.boring_tools")
        self.changed: set[int] = set()
        self.faults: dict[str, str] = {}
        self.busy, self.drafting = threading.Lock(), threading.Lock()
        self.stopping = threading.Event()
        self.wake_ingest, self.wake_jobs = threading.Event(), threading.Event()

    def available_choice(self) -> Choice:
        """The provider, without its model as long as that must not be asked."""
        model = self.choice.model
        if model is not None:
            model = None if self.breaker.blocked() else MonitoredModel(model, self.breaker)
        return replace(self.choice, model=model)

    def is_boring(self, tool: str | None) -> bool:
        """Whether its calls are stored and not processed."""
        return tool is not None and any(
            tool.startswith(each[:-1]) if each.endswith("*") else tool == each
            for each in self.boring_tools
        )

    def go_on(self) -> bool:
        """Asked between two pieces of work: a hook that waits for its answer comes first."""
        self.priority.yield_to_hooks()
        return not self.stopping.is_set()

    def note_fault(self, thread: str, error: Exception | None) -> None:
        """Reported until the thread works again: None."""
        if error is None:
            self.faults.pop(thread, None)
            return
        self.faults[thread] = f"{type(error).__name__}: {error}"
        log.warning(f"{thread}.waits", error=log.cause(error))
        self.notifier.publish("fault", thread=thread, title=one_line(log.cause(error), 200))
        if isinstance(error, StoreDamaged):
            self.store.database.on_damage(error)


class Loop:
    """A thread of the worker: works, then sleeps until it is woken or for the seconds that `turn` returned.
    What `turn` raises is reported and tried again: a thread that ended in silence would be worse."""

    name = ""

    def __init__(self, context: Context) -> None:
        self.context = context
        self._wake, self._busy = threading.Event(), True
        self._lock = threading.Lock()  # whoever has woken it never finds it idle before its turn

    def wake(self) -> None:
        with self._lock:
            self._busy = True
            self._wake.set()

    def idle(self) -> bool:
        return not self._busy

    def stop(self) -> None:
        self.context.stopping.set()
        self._wake.set()

    def run(self) -> None:
        pause, longest = FAULT_SECONDS
        while not self.context.stopping.is_set():
            self._wake.clear()
            try:
                wait = self.turn()
                self.context.note_fault(self.name, None)
                with self._lock:
                    self._busy = self._wake.is_set()
                pause = FAULT_SECONDS[0]
                self._wake.wait(wait)
            except Exception as error:
                self.context.note_fault(self.name, error)
                self.failed(error)
                self.context.stopping.wait(pause)
                pause = min(pause * 2, longest)

    def turn(self) -> float | None:
        raise NotImplementedError

    def failed(self, error: Exception) -> None:
        """What `turn` has raised."""
