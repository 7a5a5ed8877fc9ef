"""A list per session of the files that something may be known about.

The hook looks through it before it asks, so that a file of which nothing is known costs next to nothing.
A line is a path as the client writes it into a payload, with its quotes. What was asked is taken off.
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
        """Whether nobody has asked this session's question before. Nobody needs to ask it again."""
        line = _line(path)
        with self._lock:
            asked = self._asked.setdefault(session.id, set())
            while len(self._asked) > MOST_SESSIONS:
                self._asked.pop(next(iter(self._asked)))
            if line in asked:
                return False
            asked.add(line)
            if _listable(session):
                self._take_off(session, line)
        return True

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
