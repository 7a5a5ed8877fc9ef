"""Commands that clients send to the worker, because only the worker writes. Requests and answers are JSON."""

import json
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from aforesaid import log
from aforesaid.agents.registry import DEFAULT
from aforesaid.errors import (
    AforesaidError,
    ConfigError,
    Edited,
    Misused,
    NotFound,
    describe_error,
)
from aforesaid.model.jobs import Again
from aforesaid.model.names import OBSERVATION
from aforesaid.model.observations import Observation, Unusable, draft_version
from aforesaid.privacy import payloads
from aforesaid.recall import resolve
from aforesaid.repository import identify
from aforesaid.text import one_line
from aforesaid.worker.context import DOCTOR_PREFIX
from aforesaid.worker.imports import Imports

if TYPE_CHECKING:
    from aforesaid.worker.service import Service

Json = dict[str, Any]
Command = Callable[[Json], Json]
CHANGED = "#{0} was changed meanwhile. Read it with `aforesaid show {0}`, then try again."
NOT_MERGED = "#{0} was not merged by hand. See `aforesaid show {0}`."
FALLBACK = (
    "The rules are only the fallback here ({}) and would replace what a model wrote. If you want that: "
    "aforesaid config set synthesis.provider rules"
)
EDITABLE = ("type", "title", "subtitle", "narrative", "facts", "concepts")


class Commands:
    """Requests by name. `_editing`: held from reading an observation's text to writing it."""

    def __init__(self, service: "Service") -> None:
        self.service, self.context = service, service.context
        self.answers, self.memories = service.answers, service.memories
        self.rows = self.context.store.observations
        self.imports = Imports(self.context, self._imported)
        self._editing = threading.Lock()

    def all(self) -> dict[str, Command]:
        pauses = self.context.pauses
        return {
            "pin": self.pin,
            "verify": self.verify,
            "edit": self.edit,
            "unedit": self.unedit,
            "forget-observation": self.forget,
            "restore": self.restore,
            "merge": self.merge,
            "unmerge": self.unmerge,
            "pause": pauses.pause,
            "resume": pauses.resume,
            "erase-begin": self.service.purger.begin,
            "erase-progress": self.service.purger.progress,
            "retry": self._retry,
            "wake": self._run_now,
            "again": self._reprocess,
            "drop-doctor-session": self._drop_doctor_session,
            "rebuild": self._rebuild,
            "link": self._link,
            "remember": self._remember,
            "memories-changed": self._memories_changed,
            "dream": self._dream,
            "import-begin": self.imports.begin,
            "import-progress": self.imports.progress,
            "backfill-begin": self.service.transcripts.begin_import,
            "backfill-progress": self.service.transcripts.import_progress,
        }

    def pin(self, request: Json) -> Json:
        """`id`, `pinned`."""
        if not self.rows.pin(request["id"], pinned=request["pinned"]):
            raise self._not_found(request)
        self._notify("pinned" if request["pinned"] else "unpinned", request["id"])
        return {}

    def verify(self, request: Json) -> Json:
        """`id`, `verified`. The answer's `id`: the one that was marked."""
        bearer = self.rows.verify(request["id"], verified=request["verified"])
        if bearer is None:
            raise self._not_found(request)
        self._notify("verified" if request["verified"] else "unverified", bearer)
        return {"id": bearer}

    def edit(self, request: Json) -> Json:
        """`id`, and some fields of the observation, in a person's words. With `version` only if its words are
        still those."""
        given = {name: request[name] for name in EDITABLE if name in request}
        fields = payloads.value(self.context.redactor, given)
        lists = {name: tuple(value) for name, value in fields.items() if isinstance(value, list)}
        with self._editing:
            observation = self._find(request)
            if request.get("version") not in (None, draft_version(observation.draft)):
                raise Edited(CHANGED.format(observation.id))
            if not self.rows.edit(observation.id, replace(observation.draft, **(fields | lists))):
                raise self._not_found(request)
        self._notify("edited", observation.id)
        return {}

    def unedit(self, request: Json) -> Json:
        """Takes the last edit back. `left`: how many more there are."""
        with self._editing:
            self._find(request)
            if not self.rows.undo_edit(request["id"]):
                raise NotFound(f"There is no edit of #{request['id']} to undo.")
        self._notify("unedited", request["id"])
        return {"left": self.rows.count_edits(request["id"])}

    def forget(self, request: Json) -> Json:
        observation = self._find(request)
        count = self.rows.hide(observation.id, self.context.clock())
        self._notify("forgotten", observation)
        return {"title": observation.draft.title, "count": count}

    def restore(self, request: Json) -> Json:
        if not self.rows.restore(request["id"]):
            if self.rows.get_hidden(request["id"]):
                raise self._not_found(request)
            raise NotFound(f"#{request['id']} is not hidden. `aforesaid forget` lists what is.")
        observation = self._find(request)
        self._notify("restored", observation)
        return {"title": observation.draft.title}

    def merge(self, request: Json) -> Json:
        """`id`, `into`."""
        for key in (request["id"], request["into"]):
            resolve.find_observation(self.context.store, key)
        done = self.rows.merge(request["id"], request["into"], self.context.clock())
        if isinstance(done, Unusable):
            raise Misused(done.why, "into")
        self._notify("merged", done.id, done.into)
        return {"into": done.into}

    def unmerge(self, request: Json) -> Json:
        done = self.rows.unmerge(request["id"])
        if done is None:
            self._find(request)
            raise NotFound(NOT_MERGED.format(request["id"]))
        self._notify("unmerged", done.id, done.into)
        return {"into": done.into}

    def _find(self, request: Json) -> Observation:
        return resolve.find_observation(self.context.store, request["id"])

    def _not_found(self, request: Json) -> NotFound:
        return resolve.not_found(self.context.store, OBSERVATION, request["id"])

    def _notify(self, what: str, *changed: int | Observation) -> None:
        """A hidden observation cannot be read any more, so it is given itself."""
        known = (self.rows.get(each) if isinstance(each, int) else each for each in changed)
        observations = [each for each in known if each is not None]
        for project_id in {each.project_id for each in observations}:
            self.answers.prepare_brief(project_id)
            self.service.indexing.wake()
        for session_id in {each.session_id for each in observations}:
            self.answers.sessions.refresh(session_id)
        for each in observations:
            log.action(f"observation.{what}", observation=each.id)
            publish = self.context.notifier.publish
            publish("changed", what=what, id=each.id, project_id=each.project_id)

    def _remember(self, request: Json) -> Json:
        answer = self.memories.extractor.remember(request)
        if "name" in answer:
            self.answers.prepare_brief(self.context.projects.of(request["dir"]))
        return answer

    def _dream(self, request: Json) -> Json:
        return self.memories.dreamer.run_on_request(request)

    def _memories_changed(self, request: Json) -> Json:
        """Memories of `dir`, or of `project`, were changed by another process. `name`, `what`: which one and
        how, as far as that is known."""
        project_id = request.get("project") or self.context.projects.find(request["dir"])
        if project_id is not None:
            self.answers.prepare_brief(project_id)
        name = one_line(request["name"], 200) if request.get("name") else None
        what = request.get("what") or "changed"
        self.context.notifier.publish("changed", what=what, name=name, project_id=project_id)
        return {}

    def _retry(self, request: Json) -> Json:
        count = self.context.store.jobs.requeue_skipped(request["id"], self.context.clock())
        if request["id"] is not None and not count:
            raise NotFound(
                f"There is no failed job {request['id']}. `aforesaid status` lists them."
            )
        self._run_now()
        return {"requeued": count}

    def _reprocess(self, request: Json) -> Json:
        """Reprocess what another provider wrote."""
        if self.context.choice.fallback:
            # A model's words must not go because its login or package is missing today.
            raise ConfigError(FALLBACK.format(self.context.choice.why))
        again = Again(author=str(self.context.choice.author), **request)
        count = self.context.store.jobs.reprocess(again, self.context.clock())
        self._run_now()
        return {"requeued": count, "author": again.author}

    def _drop_doctor_session(self, request: Json) -> Json:
        """And no other. Its scratch project goes with it, if nothing else is in it."""
        session = self.context.store.sessions.find(DEFAULT.name, request["session"])
        if session is not None and session.ref.startswith(DOCTOR_PREFIX):
            with self.context.busy, self.context.drafting:
                self.context.store.sessions.drop(session.id, session.project_id)
            self.context.projects.forget(session.project_dir)
            self.answers.drop_brief(session.project_dir)
            self.answers.sessions.drop(session.agent, session.ref)
        return {"found": session is not None}

    def _rebuild(self, _: Json) -> Json:
        """The index is made again, from what is remembered."""
        count = self.context.store.index.reset()
        self.service.indexing.wake()
        return {"waiting": count}

    def _imported(self, projects: frozenset[int]) -> None:
        self._forget_directories()
        for project_id in projects:
            self.answers.prepare_brief(project_id)
        # A session that was open when it was exported may be over; its transcript, if it is here, says more.
        self.service.transcripts.look()
        self.context.store.jobs.make_due(self.context.clock())  # they waited for another model
        self.context.wake_jobs.set()
        self.service.indexing.wake()

    def _forget_directories(self) -> None:
        """Directories may belong to other projects than before."""
        self.context.projects.forget_all()
        self.memories.forget_folders()

    def _link(self, request: Json) -> Json:
        """The repository at `dir` belongs to `project`, or to None: a link of it ends."""
        directory, wanted = request["dir"], request["project"]
        repository, projects = identify(directory), self.context.store.projects
        before, ended = self.context.projects.find(directory), list[int]()
        with self.context.busy, self.context.drafting:
            if wanted is None:
                ended = projects.unlink(repository)
            else:
                projects.link(repository, wanted)
        self._forget_directories()
        for project_id in {before, self.context.projects.find(directory), *ended}:
            if project_id is not None:
                self.answers.prepare_brief(project_id)
        log.action("project.linked", project=wanted, ended=len(ended))
        return {"ended": ended}

    def _run_now(self, _: Json | None = None) -> Json:
        """What waits is tried now, whatever it was waiting for."""
        self.context.breaker.reset()
        self.context.store.jobs.make_due(self.context.clock())
        self.context.wake_jobs.set()
        return {}


def as_json(command: Command) -> Callable[[bytes], bytes]:
    """An error that a command raises is reported to the client, which raises it: see `rpc.order`."""

    def answer(request: bytes) -> bytes:
        try:
            found = command(json.loads(request))
        except AforesaidError as error:
            found = describe_error(error)
        return json.dumps(found).encode()

    return answer
