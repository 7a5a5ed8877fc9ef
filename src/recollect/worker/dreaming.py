"""Dreams by themselves, when the gates are open and nobody waits, of each project that was worked on; and
dreams on request."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from recollect import log
from recollect.clock import Clock
from recollect.errors import MemoryRefused
from recollect.memory.choosing.finding import Finder
from recollect.memory.dream import dream_lock, dream_times, gates
from recollect.memory.dream.dreaming import Circumstances, Dream, by, dream, lock
from recollect.memory.dream.gates import State
from recollect.memory.storage.changes import Memories
from recollect.model.ledger import DREAM, Kept
from recollect.model.requests import Failure, Reply, Request, Usage
from recollect.model.sessions import Project
from recollect.paths import Paths
from recollect.settings import Settings
from recollect.store.protocol import Reading
from recollect.synthesis.asking import Asking
from recollect.text import one_line

Json = dict[str, Any]
SIGNALS, SIGNAL_LENGTH = 40, 160
UNCOUNTED = Usage(0, 0, 0, 0)  # the ledger has counted it


@dataclass(slots=True)
class Dreamer:
    paths: Paths
    store: Reading
    memories: Callable[[str], Memories]
    settings: Settings
    clock: Clock
    asking: Callable[[], Asking | None]
    changed: Callable[[int], None]  # told the project whose memories have changed
    finder: Finder = field(default_factory=Finder)
    on_dreamed: Callable[[int | None, Dream], None] = lambda *_: None
    before: Callable[[], None] = lambda: None  # a dream rewrites what is remembered
    _looked: int | None = field(default=None)

    def if_due(self) -> int:
        """How many projects were dreamed of. The gates in their order: the cheap ones keep the disk quiet."""
        if self.settings.text("memory.dream") == "off" or not self.paths.memory.exists():
            return 0
        file = self.paths.memory / dream_lock.NAME
        last, now = dream_lock.last(file), self.clock()
        state = State(last=last, looked=self._looked, holder=dream_lock.holder(file))
        if gates.why_not(now, state) is not None:
            return 0
        self._looked = now
        due = [project for project in self.store.projects() if self._is_due(project, now)]
        return self._dream_of(due) if due else 0

    def on_request(self, order: Json) -> Json:
        """`dir`, `dry_run`, and `project` if it is known. The gates are for dreams that nobody asked for;
        only one at a time there is of either, as one may ask a model for minutes. It puts off no
        dream of another project."""
        memories = self.memories(order["dir"])
        project = order.get("project") or self.store.project_of_dir(order["dir"])
        try:
            if not order["dry_run"]:
                self.before()
            with lock(memories) as held:
                around = self._around(memories, project)
                result = dream(memories, around, dry_run=order["dry_run"], held=held)
        except MemoryRefused as error:
            return {"refused": str(error)}
        if not order["dry_run"]:
            self.on_dreamed(project, result)
            if project is not None:
                self.changed(project)
        return told(result)

    def _is_due(self, project: Project, now: int) -> bool:
        """By its own last dream. Git is asked which folder is its own, so only where there was work."""
        if gates.why_not(now, self._worked(project, None, now)) is not None:
            return False
        memories = self.memories(project.root)
        state = self._worked(project, dream_times.last(memories.places), now)
        if gates.why_not(now, state) is not None:
            return False
        ours = sum(each.is_ours for each in memories.all().memories)
        return gates.why_not(now, State(memories=ours)) is None

    def _worked(self, project: Project, last: int | None, now: int) -> State:
        since = gates.counted_from(now, last)
        return State(last=last, sessions=self.store.sessions_since(project.id, since))

    def _dream_of(self, projects: list[Project]) -> int:
        first = self.memories(projects[0].root)
        self.before()
        try:
            with lock(first) as held:
                done = True
                for project in projects:
                    memories = self.memories(project.root)
                    result = dream(memories, self._around(memories, project.id), held=held)
                    log.action("dream.ended", project=project.id, completed=result.completed)
                    self.on_dreamed(project.id, result)
                    done = done and result.completed
                    self.changed(project.id)
                if done:
                    held.done(self.clock())
        except MemoryRefused as error:
            log.action("dream.refused", why=log.cause(error))
            return 0
        return len(projects)

    def _around(self, memories: Memories, project_id: int | None) -> Circumstances:
        asking = self.asking()
        return Circumstances(
            root=memories.places.top,
            ask=None if asking is None else lambda request: _asked(asking, request),
            signals=self._signals(project_id) if project_id is not None else (),
            room=self.settings.number("synthesis.request_tokens"),
            find=by(self.finder),
        )

    def _signals(self, project_id: int) -> tuple[str, ...]:
        """What was done lately: a memory may speak of what has changed since."""
        recent = self.store.recent_observations(project_id, SIGNALS)
        titles = (each.draft.title or each.draft.subtitle or "" for each in recent)
        return tuple(one_line(title, SIGNAL_LENGTH) for title in titles if title)


def told(result: Dream) -> Json:
    """For a command, as JSON."""
    return {
        "completed": result.completed,
        "lines": [*result.told, *_explained(result)],
        "diff": result.diff,
        "entry": result.entry,
    }


def _explained(result: Dream) -> list[str]:
    found = []
    if result.unanswered:
        found.append(f"The model said nothing that could be used: {result.unanswered}")
    if result.given_up:
        found.append(f"Nothing was changed: {result.given_up}")
    if not (found or result.told):
        found.append("The memories are in order.")
    return found


def _asked(asking: Asking, request: Request) -> Reply | Failure:
    answer = asking.ask(request, DREAM)
    if isinstance(answer, Kept):
        return Reply(answer.text, asking.model.model, UNCOUNTED)
    return answer
