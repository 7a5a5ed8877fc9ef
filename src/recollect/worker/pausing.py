"""The off switch: what is not to be recorded now, and what was not to be at an earlier time.

Everything that brings events in asks here (`ingest`, `reconcile`, and so every import), and whatever tells
unasked does (`briefs`). What somebody asked for is kept in the store for good, so that a transcript that is
read years later brings nothing back; so is what hooks have said of their sessions.
"""

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from recollect import log, switches
from recollect.clock import Clock
from recollect.model.arrivals import SessionRef
from recollect.model.captures import Capture
from recollect.model.pauses import (
    COMMAND,
    ENDS,
    PROJECT,
    SEEN,
    SESSION,
    Pause,
    Where,
    here,
    paused,
    place_of,
)
from recollect.store.protocol import Store
from recollect.worker.projects import ProjectFinder

Json = dict[str, Any]


@dataclass(slots=True)
class Pausing:
    """`skipped`: directories that the settings name."""

    store: Store
    finder: ProjectFinder
    clock: Clock
    skipped: Callable[[], tuple[str, ...]] = tuple
    _known: list[Pause] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self._known = self.store.pauses()

    def verbs(self) -> dict[str, Callable[[Json], Json]]:
        return {"pause": self.pause, "resume": self.resume}

    def pause(self, order: Json) -> Json:
        """`scope` (project, session or everything), `dir` or `session` (agent and its own id), `milliseconds`
        or None. One that is asked for twice holds as long as was said last."""
        now = self.clock()
        ends = None if order["milliseconds"] is None else now + order["milliseconds"]
        scope = order["scope"]
        project = self.finder.of(order["dir"]) if scope == PROJECT else None
        session = tuple(order["session"]) if scope == SESSION else None
        where = self._of_project(project)
        before = [
            each.id
            for each in self._asked(now)
            if each.scope == scope and each.covers(where, session)
        ]
        if before:
            self.store.end_pauses(before, now)
        added = self.store.add_pause(now, ends, project_id=project, session=session)
        self.reload()
        log.action("pause.began", scope=added.scope, until=ends)
        return {"paused": self._told(added)}

    def resume(self, order: Json) -> Json:
        """What holds for `dir`, for `session`, or `everything`. What was ended, and what is still off."""
        now = self.clock()
        where = self._where(order["dir"])
        session = tuple(order["session"]) if order["session"] else None
        ended = [
            each
            for each in self._asked(now)
            if order["everything"]
            or each.covers(where, session)
            or self._is_within(each, where.project_id)
        ]
        self.store.end_pauses([each.id for each in ended], now)
        self.reload()
        log.action("pause.ended", count=len(ended))
        off = switches.off(order["dir"], self.skipped()) if order["dir"] else None
        return {"ended": [self._told(each) for each in ended], "still": off}

    def reload(self) -> None:
        """Also after an erasure: a project's number may be given to another one."""
        with self._lock:
            self._known = self.store.pauses()

    def status(self) -> list[Json]:
        return [self._told(each) for each in self._asked(self.clock())]

    def why(self, directory: str, session: SessionRef | None = None) -> str | None:
        """Why nothing is recorded there now, in a sentence for the user."""
        if off := switches.off(directory, self.skipped()):
            return f"{off[0].upper()}{off[1:]}"
        asked = self._asked(self.clock())
        where = self._where(directory) if asked else Where()
        found = (each for each in asked if each.covers(where, session))
        return next(map(_sentence, found), None)

    def is_off(self, directory: str) -> bool:
        return switches.off(directory, self.skipped()) is not None

    def covered(self, session: SessionRef, project_id: int | None, at: int) -> bool:
        """What happened then and there is not to be kept."""
        return self._covered(session, self._of_project(project_id), at)

    def _covered(self, session: SessionRef, where: Where, at: int) -> bool:
        if any(each.covers(where, session) and each.holds(at) for each in self._known):
            return True
        erased = self.store.erased_until(*session)
        return erased is not None and at <= erased

    def refuses(self, session: SessionRef, directory: str, at: int) -> bool:
        """A capture that must not be stored. A directory that is off keeps its session off until it speaks
        from one that is not."""
        if self.is_off(directory):
            self._see(session, at)
            return True
        if self._is_seen(session):
            self.store.see_resumed(*session, at)
            self.reload()
        return self._covered(session, self._where(directory), at)

    def note(self, capture: Capture) -> None:
        """A hook said that it was told to record nothing."""
        try:
            session = str(json.loads(capture.body)["session_id"])
        except (ValueError, KeyError, TypeError):
            return
        if session:
            self._see((capture.agent, session), capture.at)

    def _see(self, session: SessionRef, at: int) -> None:
        if not self._is_seen(session):
            self.store.see_paused(*session, at)
            self.reload()

    def _is_seen(self, session: SessionRef) -> bool:
        return any(
            each.origin == SEEN and each.ends_at is None and (each.agent, each.ref) == session
            for each in self._known
        )

    def _asked(self, now: int) -> list[Pause]:
        return [each for each in self._known if each.origin == COMMAND and each.holds(now)]

    def _where(self, directory: str | None) -> Where:
        """A directory of which nothing is known may be one of a paused project, or of one that is gone; git
        is asked only where that would matter."""
        if not directory or all(each.scope != PROJECT for each in self._known):
            return Where()
        if (project := self.store.project_of_dir(directory)) is not None:
            return self._of_project(project)
        repository = self.finder.repository(directory)
        return Where(self.store.find_project(repository), place_of(repository.root))

    def _of_project(self, project_id: int | None) -> Where:
        if project_id is None or all(each.place is None for each in self._known):
            return Where(project_id)
        return Where(project_id, place_of(self.store.project(project_id).root))

    def _is_within(self, pause: Pause, project_id: int | None) -> bool:
        """A session of that project."""
        found = self.store.session_by_ref(pause.agent or "", pause.ref) if pause.ref else None
        return found is not None and found.project_id == project_id

    def _told(self, pause: Pause) -> Json:
        names = {each.id: each.name for each in self.store.projects()}
        return {
            "scope": pause.scope,
            "since": pause.began_at,
            "until": pause.ends_at,
            "project": names.get(pause.project_id or 0),
            "session": pause.ref,
            "why": _sentence(pause),
        }


def _sentence(pause: Pause) -> str:
    return f"{paused(here(pause.scope), pause.ends_at)}; {ENDS}"
