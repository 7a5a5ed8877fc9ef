"""What people do to observations: pin, confirm, edit, merge, forget; and all of it taken back.

The worker does it, because only the worker writes. What is told of the project and of the sessions follows,
and whoever watches is told.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from recollect import log
from recollect.clock import Clock
from recollect.model import editing
from recollect.model.merges import Unmergeable
from recollect.model.observations import Observation
from recollect.privacy import payloads
from recollect.privacy.redactor import Redactor
from recollect.store.protocol import Store

Json = dict[str, Any]
EDITABLE = ("type", "title", "subtitle", "narrative", "facts", "concepts")


@dataclass(frozen=True, slots=True)
class Curating:
    """`on_changed(what, id, project_id)`. `wording`: held from reading words to writing them."""

    store: Store
    clock: Clock
    changed: Callable[[int], None]  # what is told of a project
    retold: Callable[[int], None]  # what a session's memory tells
    on_changed: Callable[[str, int, int], None] = lambda *_: None
    wording: threading.Lock = field(default_factory=threading.Lock)
    redactor: Redactor = field(default_factory=Redactor)

    def verbs(self) -> dict[str, Callable[[Json], Json]]:
        return {
            "pin": self.pin,
            "confirm": self.confirm,
            "edit": self.edit,
            "unedit": self.unedit,
            "forget-observation": self.forget,
            "restore": self.restore,
            "merge": self.merge,
            "unmerge": self.unmerge,
        }

    def pin(self, order: Json) -> Json:
        """`id`, `pinned`."""
        found = self.store.pin(order["id"], pinned=order["pinned"])
        self._follow("pinned" if order["pinned"] else "unpinned", order["id"])
        return {"found": found}

    def confirm(self, order: Json) -> Json:
        """`id`, `confirmed`. The answer's `id` is the one that bears it: None where there is none."""
        bearer = self.store.confirm(order["id"], confirmed=order["confirmed"])
        if bearer is not None:
            log.action("observation.confirmed", observation=bearer, confirmed=order["confirmed"])
            self._follow("confirmed" if order["confirmed"] else "unconfirmed", bearer)
        return {"id": bearer, "found": bearer is not None}

    def edit(self, order: Json) -> Json:
        """`id`, and some fields of the observation, in a person's words. With `version` only if its words are
        still those; else `meanwhile`, and nothing is changed."""
        given = {name: order[name] for name in EDITABLE if name in order}
        fields = payloads.value(self.redactor, given)
        lists = {name: tuple(value) for name, value in fields.items() if isinstance(value, list)}
        with self.wording:
            observation = self.store.observation(order["id"])
            if observation is None:
                return {"found": False}
            if order.get("version") not in (None, editing.version_of(observation.draft)):
                return {"found": True, "meanwhile": True}
            found = self.store.edit(observation.id, replace(observation.draft, **(fields | lists)))
        self._follow("edited", observation.id)
        return {"found": found}

    def unedit(self, order: Json) -> Json:
        """Takes the last edit back. `left`: how many more there are."""
        with self.wording:
            found = self.store.unedit(order["id"])
        if found:
            log.action("observation.unedited", observation=order["id"])
            self._follow("unedited", order["id"])
        return {"found": found, "left": self.store.edits_of(order["id"])}

    def forget(self, order: Json) -> Json:
        observation = self.store.observation(order["id"])
        if observation is None:
            return {"found": False}
        count = self.store.forget_observation(observation.id, self.clock())
        log.action("observation.forgotten", observation=observation.id, with_folded=count)
        self._tell("forgotten", observation)
        return {"found": count is not None, "title": observation.draft.title, "count": count}

    def restore(self, order: Json) -> Json:
        found = self.store.restore_observation(order["id"])
        observation = self.store.observation(order["id"]) if found else None
        if observation is None:
            return {"found": False}
        log.action("observation.restored", observation=observation.id)
        self._tell("restored", observation)
        return {"found": True, "title": observation.draft.title}

    def merge(self, order: Json) -> Json:
        """`id`, `into`."""
        done = self.store.merge(order["id"], order["into"], self.clock())
        if isinstance(done, Unmergeable):
            return {"refused": done.why}
        log.action("observation.merged", observation=done.id, into=done.into, moved=len(done.moved))
        self._follow("merged", done.id, done.into)
        return {"into": done.into, "moved": list(done.moved)}

    def unmerge(self, order: Json) -> Json:
        done = self.store.unmerge(order["id"])
        if done is None:
            return {"found": False}
        log.action("observation.unmerged", observation=done.id, into=done.into)
        self._follow("unmerged", done.id, done.into)
        return {"found": True, "into": done.into}

    def _follow(self, what: str, *ids: int) -> None:
        self._tell(what, *filter(None, map(self.store.observation, ids)))

    def _tell(self, what: str, *observations: Observation) -> None:
        for project_id in {each.project_id for each in observations}:
            self.changed(project_id)
        for session_id in {each.session_id for each in observations}:
            self.retold(session_id)
        for each in observations:
            self.on_changed(what, each.id, each.project_id)
