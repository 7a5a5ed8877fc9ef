"""Dreams: consolidates the memories of a project, when it is due or on request."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aforesaid import log
from aforesaid.errors import MemoryRefused
from aforesaid.memory.changes import Memories
from aforesaid.memory.dream.run import (
    DreamContext,
    DreamResult,
    closed_gate,
    last_dream_at,
    run_dream,
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
        now = self.context.clock()
        off = self.context.settings.text("memory.dream") == "off"
        if off or not self.context.paths.memory.exists():
            return 0
        if closed_gate(now, checked=self._checked) is not None:
            return 0
        self._checked = now
        due = [each for each in self.context.store.projects.all() if self._is_due(each, now)]
        if due:
            self.before()
        return sum(map(self._dream_of, due))

    def run_on_request(self, request: Json) -> Json:
        """`dir`, `dry_run`, and `project` if it is known. The gates do not apply. Raises
        MemoryRefused while another dream runs."""
        memories = self.memories(request["dir"])
        project = request.get("project") or self.context.store.projects.find_at(request["dir"])
        if not request["dry_run"]:
            self.before()
        around = self._around(memories, project)
        result = run_dream(memories, around, dry_run=request["dry_run"])
        if not request["dry_run"]:
            self._publish(project, result)
            if project is not None:
                self.context.changed.add(project)
        return result_json(result)

    def _is_due(self, project: Project, now: int) -> bool:
        """Git is asked which folder is its own, so only where there was work."""
        if closed_gate(now, sessions=self._sessions(project, None)) is not None:
            return False
        if self.context.store.projects.find_at(project.root) not in (None, project.id):
            return False  # another project is there now
        memories = self.memories(project.root)
        last = last_dream_at(memories.places, now)
        if closed_gate(now, last=last, sessions=self._sessions(project, last)) is not None:
            return False
        ours = sum(each.is_ours for each in memories.all().memories)
        return closed_gate(now, memories=ours) is None

    def _sessions(self, project: Project, since: int | None) -> int:
        return self.context.store.sessions.count_since(project.id, since or 0)

    def _dream_of(self, project: Project) -> bool:
        memories = self.memories(project.root)
        try:
            result = run_dream(memories, self._around(memories, project.id))
        except MemoryRefused as error:
            log.action("dream.refused", why=log.cause(error))
            return False
        log.action("dream.ended", project=project.id, completed=result.completed)
        self._publish(project.id, result)
        self.context.changed.add(project.id)
        return True

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
        """Recent work: a memory may speak of what has changed since."""
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
