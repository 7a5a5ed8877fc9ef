"""Who is waited for comes first: while a hook's question is answered, the worker's other threads hold back.

They share one interpreter, and the question comes together with the capture that wakes them all. They ask
between two pieces of work (a batch of captures, a job, a part of a transcript, a step of the index); what has
begun is finished.
"""

import threading
from types import TracebackType

MOMENT = 0.01  # seconds: a hook writes its capture first, then asks
LONGEST = 1.0  # the longest that a hook waits: it has gone on without its answer by then


class Precedence:
    def __init__(self) -> None:
        self._answering = 0
        self._changed = threading.Condition()

    def __enter__(self) -> None:
        with self._changed:
            self._answering += 1
            self._changed.notify_all()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._changed:
            self._answering -= 1
            self._changed.notify_all()

    def give_way(self, moment: float = 0.0) -> None:
        """Returns when nobody is being answered. `moment`: somebody may be about to ask."""
        if not self._answering and not moment:  # asked often: without the lock
            return
        with self._changed:
            if not self._answering and moment:
                self._changed.wait_for(lambda: self._answering > 0, moment)
            self._changed.wait_for(lambda: self._answering == 0, LONGEST)
