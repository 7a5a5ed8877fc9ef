"""Pauses: what is not recorded now, and what was not recorded earlier.

Every source of events (`ingest`, `reconcile`, imports) and every automatic answer (`hook_answers`) checks
here. Pauses are stored for good, so that a transcript that is read years later brings nothing back.
"""

import json
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from aforesaid import log, switches
from aforesaid.clock import Clock
from aforesaid.model import sessions
from aforesaid.model.events import Capture, SessionRef
from aforesaid.store.store import Store
from aforesaid.worker.projects import ProjectFinder

Json = dict[str, Any]


@dataclass(slots=True)
class Pauses:
    """`skipped`: returns the directories in which the settings turn recording off. `on_change`: called after
    something was paused, resumed or purged."""

    store: Store
    projects: ProjectFinder
    clock: Clock
    skipped: Callable[[], tuple[str, ...]]
    on_change: Callable[[], None]
    _known: list[sessions.Pause] = field(init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self._known = self.store.sessions.pauses()

    def pause(self, request: Json) -> Json:
        """`scope` (project, session or everything), `dir` or `session` (agent and its own id), `milliseconds`
        or None. The last request for the same scope counts."""
        now = self.clock()
        ends = None if request["milliseconds"] is None else now + request["milliseconds"]
        scope = request["scope"]
        project = self.projects.of(request["dir"]) if scope == sessions.PROJECT else None
        session = tuple(request["session"]) if scope == sessions.SESSION else None
        where = self._of_project(project)
        active = (each for each in self._requested(now) if each.scope == scope)
        before = [each.id for each in active if each.covers(where, session)]
        self.store.sessions.end_pauses(before, now)
        added = self.store.sessions.add_pause(now, ends, project_id=project, session=session)
        self.reload()
        log.action("pause.began", scope=added.scope, until=ends)
        return {"paused": self._describe(added)}

    def resume(self, request: Json) -> Json:
        """Ends what applies to `dir`, to `session`, or `everything`. Returns what was ended."""
        now = self.clock()
        where = self._where(request["dir"])
        session = tuple(request["session"]) if request["session"] else None
        ended = []
        for each in self._requested(now):
            found = self.store.sessions.find(each.agent or "", each.ref) if each.ref else None
            within = found is not None and found.project_id == where.project_id
            if request["everything"] or within or each.covers(where, session):
                ended.append(each)
        self.store.sessions.end_pauses([each.id for each in ended], now)
        self.reload()
        log.action("pause.ended", count=len(ended))
        off = switches.off_reason(request["dir"], self.skipped()) if request["dir"] else None
        return {"ended": [self._describe(each) for each in ended], "still": off}

    def reload(self) -> None:
        """Also after a purge: a project's number may be given to another one."""
        with self._lock:
            self._known = self.store.sessions.pauses()
        self.on_change()

    def status(self) -> list[Json]:
        return [self._describe(each) for each in self._requested(self.clock())]

    def why(self, directory: str, session: SessionRef | None = None) -> str | None:
        """Why nothing is recorded there now, in a sentence for the user."""
        if off := switches.off_reason(directory, self.skipped()):
            return f"{off[0].upper()}{off[1:]}"
        asked = self._requested(self.clock())
        where = self._where(directory) if asked else sessions.Where()
        found = (each for each in asked if each.covers(where, session))
        return next(map(_sentence, found), None)

    def is_off(self, directory: str) -> bool:
        return switches.off_reason(directory, self.skipped()) is not None

    def covered(self, session: SessionRef, project_id: int | None, at: int) -> bool:
        """Whether what happened at that time must not be stored."""
        return self._covered(session, self._of_project(project_id), at)

    def _covered(self, session: SessionRef, where: sessions.Where, at: int) -> bool:
        if any(each.covers(where, session) and each.holds(at) for each in self._known):
            return True
        purged = self.store.purge.purged_until(*session)
        return purged is not None and at <= purged

    def refuses(self, session: SessionRef, directory: str, at: int) -> bool:
        """Whether a capture must not be stored. A directory that is off keeps its session off until an event
        comes from one that is not."""
        if self.is_off(directory):
            self._mark_seen(session, at)
            return True
        if self._is_seen(session):
            self.store.sessions.mark_resumed(*session, at)
            self.reload()
        return self._covered(session, self._where(directory), at)

    def note(self, capture: Capture) -> None:
        """A hook reports that recording is off for its session."""
        with suppress(ValueError, AttributeError):
            (session,) = map(str, json.loads(capture.body).values())  # whatever the agent calls it
            if session:
                self._mark_seen((capture.agent, session), capture.at)

    def _mark_seen(self, session: SessionRef, at: int) -> None:
        if not self._is_seen(session):
            self.store.sessions.mark_paused(*session, at)
            self.reload()

    def _is_seen(self, session: SessionRef) -> bool:
        return any(
            each.origin == sessions.SEEN
            and each.ends_at is None
            and (each.agent, each.ref) == session
            for each in self._known
        )

    def _requested(self, now: int) -> list[sessions.Pause]:
        return [each for each in self._known if each.is_requested(now)]

    def _where(self, directory: str | None) -> sessions.Where:
        """A directory of which nothing is known may be one of a paused project, or of one that is gone; git
        is asked only where that would matter."""
        if not directory or all(each.scope != sessions.PROJECT for each in self._known):
            return sessions.Where()
        if (project := self.projects.find(directory)) is not None:
            return self._of_project(project)
        return sessions.Where(None, sessions.place_of(self.projects.repository(directory).root))

    def _of_project(self, project_id: int | None) -> sessions.Where:
        if project_id is None or all(each.place is None for each in self._known):
            return sessions.Where(project_id)
        return sessions.Where(
            project_id, sessions.place_of(self.store.projects.get(project_id).root)
        )

    def _describe(self, pause: sessions.Pause) -> Json:
        names = {each.id: each.name for each in self.store.projects.all()}
        return {
            "scope": pause.scope,
            "since": pause.began_at,
            "until": pause.ends_at,
            "project": names.get(pause.project_id or 0),
            "session": pause.ref,
            "why": _sentence(pause),
        }


def _sentence(pause: sessions.Pause) -> str:
    return f"{sessions.paused(sessions.here(pause.scope), pause.ends_at)}; {sessions.ENDS}"
