"""Commands that clients send to the worker, because only the worker writes. Requests and answers are JSON."""

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from aforesaid import log
from aforesaid.agents.registry import DEFAULT
from aforesaid.model.jobs import Again
from aforesaid.model.observations import Observation, Unmergeable, draft_version
from aforesaid.privacy import payloads
from aforesaid.repository import identify
from aforesaid.worker.context import DOCTOR_PREFIX, Context
from aforesaid.worker.hook_answers import HookAnswers
from aforesaid.worker.indexing import IndexingThread
from aforesaid.worker.memory import MemoryWork
from aforesaid.worker.purge import Purger
from aforesaid.worker.reconcile import Backfill, TranscriptThread

if TYPE_CHECKING:
    from aforesaid.worker.imports import Imports
    from aforesaid.worker.remember import MemoryCommands

Json = dict[str, Any]
Command = Callable[[Json], Json]
EDITABLE = ("type", "title", "subtitle", "narrative", "facts", "concepts")


@dataclass(frozen=True, slots=True)
class ObservationCommands:
    """`project_changed`, `session_changed`: what is injected for it has to be written again.
    `_editing`: held from reading a text to writing it."""

    context: Context
    project_changed: Callable[[int], None] = lambda _: None
    session_changed: Callable[[int], None] = lambda _: None
    _editing: threading.Lock = field(default_factory=threading.Lock)

    def pin(self, request: Json) -> Json:
        """`id`, `pinned`."""
        found = self.context.store.observations.pin(request["id"], pinned=request["pinned"])
        self._notify_ids("pinned" if request["pinned"] else "unpinned", request["id"])
        return {"found": found}

    def confirm(self, request: Json) -> Json:
        """`id`, `confirmed`. The answer's `id` is the one that bears it: None where there is none."""
        bearer = self.context.store.observations.confirm(
            request["id"], confirmed=request["confirmed"]
        )
        if bearer is not None:
            log.action("observation.confirmed", observation=bearer, confirmed=request["confirmed"])
            self._notify_ids("confirmed" if request["confirmed"] else "unconfirmed", bearer)
        return {"id": bearer, "found": bearer is not None}

    def edit(self, request: Json) -> Json:
        """`id`, and some fields of the observation, in a person's words. With `version` only if its words are
        still those; else `meanwhile`, and nothing is changed."""
        given = {name: request[name] for name in EDITABLE if name in request}
        fields = payloads.value(self.context.redactor, given)
        lists = {name: tuple(value) for name, value in fields.items() if isinstance(value, list)}
        with self._editing:
            observation = self.context.store.observations.get(request["id"])
            if observation is None:
                return {"found": False}
            if request.get("version") not in (None, draft_version(observation.draft)):
                return {"found": True, "meanwhile": True}
            found = self.context.store.observations.edit(
                observation.id, replace(observation.draft, **(fields | lists))
            )
        self._notify_ids("edited", observation.id)
        return {"found": found}

    def unedit(self, request: Json) -> Json:
        """Takes the last edit back. `left`: how many more there are."""
        with self._editing:
            found = self.context.store.observations.undo_edit(request["id"])
        if found:
            log.action("observation.unedited", observation=request["id"])
            self._notify_ids("unedited", request["id"])
        return {"found": found, "left": self.context.store.observations.count_edits(request["id"])}

    def forget(self, request: Json) -> Json:
        observation = self.context.store.observations.get(request["id"])
        if observation is None:
            return {"found": False}
        count = self.context.store.observations.hide(observation.id, self.context.clock())
        log.action("observation.forgotten", observation=observation.id, with_folded=count)
        self._notify("forgotten", observation)
        return {"found": count is not None, "title": observation.draft.title, "count": count}

    def restore(self, request: Json) -> Json:
        found = self.context.store.observations.restore(request["id"])
        observation = self.context.store.observations.get(request["id"]) if found else None
        if observation is None:
            return {"found": False}
        log.action("observation.restored", observation=observation.id)
        self._notify("restored", observation)
        return {"found": True, "title": observation.draft.title}

    def merge(self, request: Json) -> Json:
        """`id`, `into`."""
        done = self.context.store.observations.merge(
            request["id"], request["into"], self.context.clock()
        )
        if isinstance(done, Unmergeable):
            return {"refused": done.why}
        log.action("observation.merged", observation=done.id, into=done.into, moved=len(done.moved))
        self._notify_ids("merged", done.id, done.into)
        return {"into": done.into, "moved": list(done.moved)}

    def unmerge(self, request: Json) -> Json:
        done = self.context.store.observations.unmerge(request["id"])
        if done is None:
            return {"found": False}
        log.action("observation.unmerged", observation=done.id, into=done.into)
        self._notify_ids("unmerged", done.id, done.into)
        return {"found": True, "into": done.into}

    def _notify_ids(self, what: str, *ids: int) -> None:
        self._notify(what, *filter(None, map(self.context.store.observations.get, ids)))

    def _notify(self, what: str, *observations: Observation) -> None:
        for project_id in {each.project_id for each in observations}:
            self.project_changed(project_id)
        for session_id in {each.session_id for each in observations}:
            self.session_changed(session_id)
        for each in observations:
            self.context.notifier.observation_changed(what, each.id, each.project_id)


class Commands:
    """Requests by name. What takes long to load is loaded by the first request that needs it."""

    def __init__(
        self,
        context: Context,
        *,
        answers: HookAnswers,
        memories: MemoryWork,
        backfill: Backfill,
        purger: Purger,
        transcripts: TranscriptThread,
        indexing: IndexingThread,
    ) -> None:
        self.context, self.answers, self.memories = context, answers, memories
        self.backfill, self.purger = backfill, purger
        self.transcripts, self.indexing = transcripts, indexing
        self.observations = ObservationCommands(
            context,
            project_changed=self._project_changed,
            session_changed=answers.refresh_session_memory,
        )
        self._imports: Imports | None = None
        self._importing = threading.Lock()

    @property
    def imports(self) -> "Imports":
        from aforesaid.worker.imports import Imports

        with self._importing:
            if self._imports is None:
                self._imports = Imports(self.context, self._imported, self.memories.start_import)
            return self._imports

    @cached_property
    def remembering(self) -> "MemoryCommands":
        from aforesaid.worker.remember import MemoryCommands

        return MemoryCommands(
            self.context,
            memories=self.memories.find,
            project_changed=self.answers.prepare_brief,
            on_written=self.context.notifier.memories_written,
        )

    def is_importing(self) -> bool:
        return self._imports is not None and self._imports.at_work()

    def all(self) -> Mapping[str, Callable[[bytes], bytes]]:
        observations, pauses = self.observations, self.context.pauses
        commands: dict[str, Command] = {
            "pin": observations.pin,
            "confirm": observations.confirm,
            "edit": observations.edit,
            "unedit": observations.unedit,
            "forget-observation": observations.forget,
            "restore": observations.restore,
            "merge": observations.merge,
            "unmerge": observations.unmerge,
            "pause": pauses.pause,
            "resume": pauses.resume,
            "erase-begin": self.purger.begin,
            "erase-progress": self.purger.progress,
            "retry": self._retry,
            "wake": self._wake,
            "again": self._reprocess,
            "drop-doctor-session": self._drop_doctor_session,
            "rebuild": self._rebuild,
            "link": self._link,
            "remember": _deferred(lambda: self.remembering.remember),
            "memories-changed": self._memories_changed,
            "dream": _deferred(lambda: self.memories.dreamer.run_on_request),
            "import-begin": _deferred(lambda: self.imports.begin),
            "import-step": _deferred(lambda: self.imports.step),
            "import-cancel": _deferred(lambda: self.imports.cancel),
            "backfill-begin": self.backfill.begin,
            "backfill-progress": self.backfill.progress,
        }
        return {name: as_json(command) for name, command in commands.items()}

    def _memories_changed(self, request: Json) -> Json:
        """Memories of `dir`, or of `project`, were changed by somebody else: the brief is written anew.
        `name`, `what`: which one and how, as far as that is known."""
        project_id = request.get("project") or self.context.projects.find(request["dir"])
        if project_id is not None:
            self.answers.prepare_brief(project_id)
        self.context.notifier.memory_changed(
            request.get("what") or "changed", request.get("name"), project_id
        )
        return {}

    def _retry(self, request: Json) -> Json:
        count = self.context.store.jobs.requeue_skipped(request["id"], self.context.clock())
        self._run_now()
        return {"requeued": count}

    def _wake(self, _: Json) -> Json:
        """What waits is tried now, whatever it was waiting for."""
        self._run_now()
        return {}

    def _reprocess(self, request: Json) -> Json:
        """What the provider in force did not write is written anew by it."""
        if self.context.choice.fallback:
            # A model's words must not go because its login or package is missing today.
            return {"requeued": 0, "refused": self.context.choice.why}
        again = Again(author=str(self.context.choice.author), **request)
        count = self.context.store.jobs.reprocess(again, self.context.clock())
        self._run_now()
        return {"requeued": count, "author": again.author}

    def _drop_doctor_session(self, request: Json) -> Json:
        """And no other. Its scratch project goes with it, if nothing else is in it."""
        session = self.context.store.sessions.find(DEFAULT.name, request["session"])
        if session is not None and session.ref.startswith(DOCTOR_PREFIX):
            with self.context.busy:
                self.context.store.sessions.drop(session.id, session.project_id)
            self.context.projects.forget(session.project_dir)
            self.answers.drop_brief(session.project_dir)
            self.answers.sessions.drop(session.agent, session.ref)
        return {"found": session is not None}

    def _rebuild(self, _: Json) -> Json:
        """The index is made again, from what is remembered."""
        count = self.context.store.index.reset()
        self.indexing.wake()
        return {"waiting": count}

    def _imported(self, projects: frozenset[int]) -> None:
        self._forget_directories()
        for project_id in projects:
            self.answers.prepare_brief(project_id)
        # A session that was open when it was exported may be over; its transcript, if it is here, says more.
        self.transcripts.look()
        self.context.store.jobs.make_due(
            self.context.clock()
        )  # it waited for somebody else's model
        self.context.wake_jobs.set()
        self.indexing.wake()

    def _forget_directories(self) -> None:
        """Directories may belong to other projects than before."""
        self.context.projects.forget_all()
        self.memories.forget_folders()

    def _link(self, request: Json) -> Json:
        """The repository at `dir` belongs to `project`, or to None: a link of it ends."""
        directory, wanted = request["dir"], request["project"]
        repository = identify(directory)
        touched = {self.context.projects.find(directory)}
        with self.context.busy:
            if wanted is None:
                ended = self.context.store.projects.unlink(repository)
            else:
                ended = []
                self.context.store.projects.link(repository, wanted)
        self._forget_directories()
        touched |= {self.context.projects.find(directory), *ended}
        for project_id in touched:
            if project_id is not None:
                self.answers.prepare_brief(project_id)
        log.action("project.linked", project=wanted, ended=len(ended))
        return {"ended": ended}

    def _project_changed(self, project_id: int) -> None:
        self.answers.prepare_brief(project_id)
        self.indexing.wake()

    def _run_now(self) -> None:
        self.context.breaker.reset()
        self.context.store.jobs.make_due(self.context.clock())  # the jobs that the gate has put off
        self.context.wake_jobs.set()


def as_json(command: Command) -> Callable[[bytes], bytes]:
    return lambda request: json.dumps(command(json.loads(request))).encode()


def _deferred(find: Callable[[], Command]) -> Command:
    """A command whose part of the worker is loaded by the first request."""

    def run(request: Json) -> Json:
        return find()(request)

    return run
