"""Observations that are forgotten on somebody's word, and brought back. The worker does it, because only the
worker writes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from recollect import log
from recollect.clock import Clock
from recollect.store.protocol import Store

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Forgetting:
    store: Store
    clock: Clock
    changed: Callable[[int], None]  # what is told of a project
    retold: Callable[[int], None]  # what a session's memory tells

    def forget(self, order: Json) -> Json:
        observation = self.store.observation(order["id"])
        if observation is None:
            return {"found": False}
        count = self.store.forget_observation(observation.id, self.clock())
        log.action("observation.forgotten", observation=observation.id, with_folded=count)
        self.changed(observation.project_id)
        self.retold(observation.session_id)
        return {"found": count is not None, "title": observation.draft.title, "count": count}

    def restore(self, order: Json) -> Json:
        found = self.store.restore_observation(order["id"])
        observation = self.store.observation(order["id"]) if found else None
        if observation is None:
            return {"found": False}
        log.action("observation.restored", observation=observation.id)
        self.changed(observation.project_id)
        self.retold(observation.session_id)
        return {"found": True, "title": observation.draft.title}
