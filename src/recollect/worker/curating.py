"""Observations that a person merges, and takes apart again. The worker does it, because only the worker
writes; what is told of the project and of both sessions follows."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from recollect import log
from recollect.clock import Clock
from recollect.model.merges import Unmergeable
from recollect.store.protocol import Store

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Curating:
    store: Store
    clock: Clock
    changed: Callable[[int], None]  # what is told of a project
    retold: Callable[[int], None]  # what a session's memory tells

    def merge(self, order: Json) -> Json:
        """`id`, `into`."""
        done = self.store.merge(order["id"], order["into"], self.clock())
        if isinstance(done, Unmergeable):
            return {"refused": done.why}
        log.action("observation.merged", observation=done.id, into=done.into, moved=len(done.moved))
        self._follow(done.id, done.into)
        return {"into": done.into, "moved": list(done.moved)}

    def unmerge(self, order: Json) -> Json:
        done = self.store.unmerge(order["id"])
        if done is None:
            return {"found": False}
        log.action("observation.unmerged", observation=done.id, into=done.into)
        self._follow(done.id, done.into)
        return {"found": True, "into": done.into}

    def _follow(self, *ids: int) -> None:
        found = [each for each in map(self.store.observation, ids) if each is not None]
        for project_id in {each.project_id for each in found}:
            self.changed(project_id)
        for session_id in {each.session_id for each in found}:
            self.retold(session_id)
