"""What commands ask the worker to do, because only the worker writes. Requests and answers are JSON."""

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from recollect.clock import Clock
from recollect.model.jobs import Again
from recollect.privacy.redactor import Redactor
from recollect.store.protocol import Store
from recollect.wiring import Choice
from recollect.worker.backfill import Backfill
from recollect.worker.briefs import Briefs
from recollect.worker.curating import Curating
from recollect.worker.gate import Gate
from recollect.worker.imports import Imports
from recollect.worker.memory_work import MemoryWork
from recollect.worker.projects import ProjectFinder
from recollect.worker.remembering import Remembering

Json = dict[str, Any]


@dataclass(slots=True)
class Orders:
    store: Store
    choice: Choice
    gate: Gate
    briefs: Briefs
    finder: ProjectFinder
    busy: threading.Lock  # held while jobs are run
    wake_jobs: threading.Event
    clock: Clock
    backfill: Backfill
    look: Callable[[], None]  # has transcripts read, and silent sessions ended
    wake_indexing: Callable[[], None]
    memories: MemoryWork
    redactor: Redactor = field(default_factory=Redactor)
    others: Mapping[str, Callable[[Json], Json]] = field(default_factory=dict)
    imports: Imports = field(init=False)
    curating: Curating = field(init=False)
    remembering: Remembering = field(init=False)

    def __post_init__(self) -> None:
        self.imports = Imports(
            self.store, self.clock, self._taken, self.memories.incoming, self.redactor
        )
        retold, announcing = self.briefs.sessions.refresh, self.memories.announcing
        self.curating = Curating(
            self.store,
            self.clock,
            self._changed,
            retold,
            announcing.observation_changed,
            redactor=self.redactor,
        )
        self.remembering = Remembering(
            self.store,
            self.finder,
            self.memories.of,
            self.clock,
            self.briefs.prepare,
            announcing.memories,
            announcing.memory_changed,
            self.redactor,
        )

    def verbs(self) -> Mapping[str, Callable[[bytes], bytes]]:
        orders = self.curating.verbs() | {
            "retry": self._retry,
            "wake": self._wake,
            "again": self._again,
            "drop-doctor-session": self._drop_doctor_session,
            "rebuild": self._rebuild,
            "remember": self.remembering.remember,
            "memories-changed": self.remembering.told,
            "dream": self.memories.dreamer.on_request,
            "import-begin": self.imports.begin,
            "import-step": self.imports.step,
            "import-cancel": self.imports.cancel,
            "backfill-begin": self.backfill.begin,
            "backfill-progress": self.backfill.progress,
        }
        return {verb: as_json(order) for verb, order in {**orders, **self.others}.items()}

    def _retry(self, order: Json) -> Json:
        count = self.store.requeue_skipped(order["id"], self.clock())
        self._now()
        return {"requeued": count}

    def _wake(self, _: Json) -> Json:
        """What waits is tried now, whatever it was waiting for."""
        self._now()
        return {}

    def _again(self, order: Json) -> Json:
        """What the provider in force did not write is written anew by it."""
        if self.choice.fallback:
            # A model's words must not go because its login or package is missing today.
            return {"requeued": 0, "refused": self.choice.why}
        again = Again(author=str(self.choice.author), **order)
        count = self.store.do_again(again, self.clock())
        self._now()
        return {"requeued": count, "author": again.author}

    def _drop_doctor_session(self, order: Json) -> Json:
        """And no other. Its scratch project goes with it, if nothing else is in it."""
        session = self.store.session_by_ref("claude-code", order["session"])
        if session is not None and session.ref.startswith("doctor-"):
            with self.busy:
                self.store.drop_session(session.id, session.project_id)
            self.finder.forget(session.project_dir)
            self.briefs.drop(session.project_dir)
            self.briefs.sessions.drop(session.agent, session.ref)
        return {"found": session is not None}

    def _rebuild(self, _: Json) -> Json:
        """The index is made again, from what is remembered."""
        count = self.store.forget_index()
        self.wake_indexing()
        return {"waiting": count}

    def _taken(self, projects: frozenset[int]) -> None:
        self.memories.look_again()
        for project_id in projects:
            self.briefs.prepare(project_id)
        # A session that was open when it was exported may be over; its transcript, if it is here, says more.
        self.look()
        self.store.make_due(self.clock())  # it waited for somebody else's model
        self.wake_jobs.set()
        self.wake_indexing()

    def _changed(self, project_id: int) -> None:
        self.briefs.prepare(project_id)
        self.wake_indexing()

    def _now(self) -> None:
        self.gate.open()
        self.store.make_due(self.clock())  # the jobs that the gate has put off
        self.wake_jobs.set()


def as_json(order: Callable[[Json], Json]) -> Callable[[bytes], bytes]:
    return lambda request: json.dumps(order(json.loads(request))).encode()
