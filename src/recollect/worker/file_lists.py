"""A list per session of the files that something may be known about.

The hook looks through it before it asks, so that a file of which nothing is known costs next to nothing.
A line is a path as the client writes it into a payload, with its quotes. What was asked is taken off, once
the answer was heard; a compaction forgets what was answered, so everything is listed again.
"""

import json
import re
import threading
from dataclasses import dataclass, field

from recollect.model.sessions import Session
from recollect.paths import Paths, private_dir, write_private
from recollect.recall.file_recall import places
from recollect.store.protocol import Store

MOST_FILES = 1000  # more would cost the hook more than they are worth
MOST_SESSIONS = 200  # whose questions are remembered
FILE_NAME = re.compile(r"[A-Za-z0-9_-]{1,100}")


@dataclass(slots=True)
class FileLists:
    paths: Paths
    store: Store
    _asked: dict[int, set[str]] = field(default_factory=dict)
    _asking: set[tuple[int, str]] = field(default_factory=set)  # being answered now
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def write(self, session: Session, *, empty: bool = False) -> None:
        """All that is known now, without what was asked. An empty list keeps the hook from asking at all."""
        if not _listable(session):
            return
        found = [] if empty else self._known(session)
        with self._lock:
            asked = self._asked.get(session.id, set())
            self._put(session, [line for line in found if line not in asked])

    def first(self, session: Session, path: str) -> bool:
        """Whether nobody has asked this session's question before. Whoever is the first says what became of
        the answer, in `answered`."""
        line = _line(path)
        with self._lock:
            if (session.id, line) in self._asking or line in self._asked.get(session.id, ()):
                return False
            self._asking.add((session.id, line))
        return True

    def answered(self, session: Session, path: str, heard: bool) -> None:
        """Nobody needs to ask again what was heard."""
        line = _line(path)
        with self._lock:
            self._asking.discard((session.id, line))
            if not heard:
                return
            self._asked.setdefault(session.id, set()).add(line)
            while len(self._asked) > MOST_SESSIONS:
                self._asked.pop(next(iter(self._asked)))
            if _listable(session):
                self._take_off(session, line)

    def forget(self, session: Session) -> None:
        """Its conversation was cut down, and what it heard about files with it."""
        with self._lock:
            self._asked.pop(session.id, None)

    def exists(self, session: Session) -> bool:
        """Whether there is one, or can be none."""
        return not _listable(session) or (self.paths.file_lists / session.ref).is_file()

    def _known(self, session: Session) -> list[str]:
        root = self.store.project(session.project_id).root
        known = self.store.files_worth_asking(
            session.project_id, untold_in=session.id, limit=MOST_FILES
        )
        found = (
            _line(place) for path in known for place in places(path, session.project_dir, root)
        )
        return list(dict.fromkeys(found))

    def _take_off(self, session: Session, line: str) -> None:
        try:
            before = (self.paths.file_lists / session.ref).read_text("utf-8").split("\n")[:-1]
        except (OSError, ValueError):
            return
        if line in before:
            self._put(session, [other for other in before if other != line])

    def _put(self, session: Session, lines: list[str]) -> None:
        text = "".join(f"{line}\n" for line in lines).encode("utf-8", "ignore")
        write_private(private_dir(self.paths.file_lists) / session.ref, text)


def _listable(session: Session) -> bool:
    """Its name is the agent's; only a plain one becomes a file's."""
    return FILE_NAME.fullmatch(session.ref) is not None


def _line(path: str) -> str:
    return json.dumps(path, ensure_ascii=False)
