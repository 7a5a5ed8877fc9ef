"""What is remembered or forgotten on somebody's word. The worker does it, because only the worker writes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from recollect import freshness, log
from recollect.clock import Clock
from recollect.model.notes import AGENT, LONGEST_NOTE, USER, Note
from recollect.model.observations import ObservationDraft
from recollect.repository import revision
from recollect.store.protocol import Store
from recollect.text import ELLIPSIS, clean, one_line
from recollect.worker import own_words
from recollect.worker.projects import ProjectFinder

Json = dict[str, Any]
TITLE, SUBTITLE = 100, 160  # characters: as much as a brief shows
MOST_FILES = 20


@dataclass(frozen=True, slots=True)
class Notes:
    store: Store
    finder: ProjectFinder
    clock: Clock
    changed: Callable[[int], None]  # what is told of a project
    retold: Callable[[int], None] = lambda _: None  # what a session's memory tells

    def remember(self, order: Json) -> Json:
        """`dir`, `text`, `type`, `by`, `files`; `agent` and `session` name the session it was said in. What
        an agent notes is the agent's, unless the user said it in that session."""
        now = self.clock()
        project_id = self.finder.of(order["dir"])
        session = (order["agent"], order["session"]) if order.get("session") else None
        draft = _draft(order["text"], order["type"], order["dir"], order["files"], now)
        is_users = order["by"] == USER or self._was_said(session, order["text"])
        by = USER if is_users else AGENT
        key = self.store.remember(Note(project_id, order["dir"], by, draft, session), now)
        log.action("note.remembered", observation=key, by=by, size=len(order["text"]))
        self.changed(project_id)
        return {"id": key, "title": draft.title, "by": by}

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

    def _was_said(self, session: tuple[str, str] | None, text: str) -> bool:
        found = self.store.session_by_ref(*session) if session else None
        prompts = self.store.prompts(found.id) if found else []
        return own_words.are_in((prompt.text for prompt in prompts), text)


def _draft(text: str, kind: str, root: str, files: list[str], now: int) -> ObservationDraft:
    """The words as they are; the first of them are the title, the next the subtitle."""
    text = clean(text).strip()[:LONGEST_NOTE]
    first, _, rest = text.partition("\n")
    title = one_line(first, TITLE)
    if title.endswith(ELLIPSIS) and not first.endswith(ELLIPSIS):
        rest = " ".join(first.split())[len(title) - 1 :].lstrip(" ,;:.-") + "\n" + rest
    paths = [path for name in files[:MOST_FILES] if (path := _in_project(name, root))]
    seen = ((path, freshness.seen(root, path, until=now)) for path in paths)
    return ObservationDraft(
        type=kind,
        title=title,
        subtitle=one_line(rest, SUBTITLE) or None,
        narrative=text,
        files_read=tuple(dict.fromkeys(paths)),
        revision=revision(root),
        blobs=tuple((path, blob) for path, blob in seen if blob is not None),
    )


def _in_project(path: str, root: str) -> str:
    """As observations name their files: seen from the project's directory."""
    return clean(path).strip().removeprefix(root.rstrip("/") + "/").removeprefix("./")
