"""Dreams: consolidates the memories of a project, when it is due or on request."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aforesaid import log
from aforesaid.errors import MemoryRefused
from aforesaid.memory.changes import Memories
from aforesaid.memory.dream.run import (
    DREAM_LOCK_FILE,
    DreamContext,
    DreamResult,
    closed_gate,
    is_dreaming,
    last_dream_at,
    last_project_dream_at,
    lock_dreams,
    run_dream,
    sessions_counted_since,
)
from aforesaid.model.requests import DREAM
from aforesaid.model.sessions import Project
from aforesaid.text import one_line
from aforesaid.worker.context import Context

if TYPE_CHECKING:
    from aforesaid.synthesis.model import Requester

Json = dict[str, Any]
SIGNALS, SIGNAL_LENGTH = 40, 160


@dataclass(slots=True)
class Dreamer:
    """`before`: makes a backup, because a dream rewrites what is remembered."""

    context: Context
    memories: Callable[[str], Memories]
    asking: "Callable[[], Requester | None]"
    before: Callable[[], None] = lambda: None
    _checked: int | None = None

    def run_if_due(self) -> int:
        """Returns how many projects were consolidated. Cheap conditions are checked first."""
        if (
            self.context.settings.text("memory.dream") == "off"
            or not self.context.paths.memory.exists()
        ):
            return 0
        file = self.context.paths.memory / DREAM_LOCK_FILE
        last, now = last_dream_at(file), self.context.clock()
        dreaming = is_dreaming(file)
        if closed_gate(now, last=last, checked=self._checked, dreaming=dreaming) is not None:
            return 0
        self._checked = now
        due = [
            project for project in self.context.store.projects.all() if self._is_due(project, now)
        ]
        return self._dream_of(due) if due else 0

    def run_on_request(self, request: Json) -> Json:
        """`dir`, `dry_run`, and `project` if it is known. The gates are for dreams that nobody asked for;
        only one at a time there is of either, as one may ask a model for minutes. It puts off no
        dream of another project."""
        memories = self.memories(request["dir"])
        project = request.get("project") or self.context.store.projects.find_at(request["dir"])
        if not request["dry_run"]:
            self.before()
        with lock_dreams(memories) as held:
            around = self._around(memories, project)
            result = run_dream(memories, around, dry_run=request["dry_run"], held=held)
        if not request["dry_run"]:
            self._publish(project, result)
            if project is not None:
                self.context.changed.add(project)
        return result_json(result)

    def _is_due(self, project: Project, now: int) -> bool:
        """By its own last dream. Git is asked which folder is its own, so only where there was work."""
        if self._closed_gate(project, None, now) is not None:
            return False
        if self.context.store.projects.find_at(project.root) not in (None, project.id):
            return False  # another project is there now
        memories = self.memories(project.root)
        last = last_project_dream_at(memories.places)
        if self._closed_gate(project, last, now) is not None:
            return False
        ours = sum(each.is_ours for each in memories.all().memories)
        return closed_gate(now, memories=ours) is None

    def _closed_gate(self, project: Project, last: int | None, now: int) -> str | None:
        since = sessions_counted_since(now, last)
        sessions = self.context.store.sessions.count_since(project.id, since)
        return closed_gate(now, last=last, sessions=sessions)

    def _dream_of(self, projects: list[Project]) -> int:
        first = self.memories(projects[0].root)
        self.before()
        try:
            with lock_dreams(first) as held:
                done = True
                for project in projects:
                    memories = self.memories(project.root)
                    result = run_dream(memories, self._around(memories, project.id), held=held)
                    log.action("dream.ended", project=project.id, completed=result.completed)
                    self._publish(project.id, result)
                    done = done and result.completed
                    self.context.changed.add(project.id)
                if done:
                    held.done(self.context.clock())
        except MemoryRefused as error:
            log.action("dream.refused", why=log.cause(error))
            return 0
        return len(projects)

    def _publish(self, project_id: int | None, dream: DreamResult) -> None:
        self.context.notifier.publish(
            "dream",
            project_id=project_id,
            completed=dream.completed,
            entry=dream.entry,
            changes=len(dream.operations),
        )

    def _around(self, memories: Memories, project_id: int | None) -> DreamContext:
        asking = self.asking()
        return DreamContext(
            root=memories.places.top,
            ask=None if asking is None else lambda request: asking.ask(request, DREAM),
            signals=self._signals(project_id) if project_id is not None else (),
            room=self.context.settings.number("synthesis.request_tokens"),
        )

    def _signals(self, project_id: int) -> tuple[str, ...]:
        """What was done lately: a memory may speak of what has changed since."""
        recent = self.context.store.observations.recent(project_id, SIGNALS)
        titles = (each.draft.title or each.draft.subtitle or "" for each in recent)
        return tuple(one_line(title, SIGNAL_LENGTH) for title in titles if title)


def result_json(result: DreamResult) -> Json:
    lines = list(result.lines)
    if result.unanswered:
        lines.append(f"The model gave no usable answer: {result.unanswered}")
    if result.given_up:
        lines.append(f"Nothing was changed: {result.given_up}")
    return {
        "completed": result.completed,
        "lines": lines or ["The memories are in order."],
        "diff": result.diff,
        "entry": result.entry,
    }
