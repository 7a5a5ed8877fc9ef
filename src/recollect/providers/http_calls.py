"""A request to an HTTP API that its caller can leave at any moment.

The SDKs block in places that no other thread can wake: looking up a name, connecting, waiting for the first
byte. So each request runs in a thread of its own, and the asking thread waits for whichever comes first: the
answer, the end of its patience, or `close`.
"""

import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace

from recollect import text
from recollect.model.requests import Away, Failure, Misconfigured, Reply, Request, Usage, paid
from recollect.providers.protocol import PATIENCE

LONGEST_NAME = 100
# A loop: the last words have been said this often in the last few hundred pieces of a stream.
LOOP, MOST_TIMES, LEAST_LOOP = 40, 20, 800
LOOK_EVERY, LOOK_AT = 32, 900
CLOSING = "recollect is closing."


@dataclass
class Arriving:
    """What has come of a reply so far. One thread writes it; another one may read it when it leaves."""

    request: Request
    model: str
    parts: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)  # paid for, but not part of the reply
    counted: Usage | None = None
    left: bool = False
    hang_up: Callable[[], object] = lambda: None

    @property
    def text(self) -> str:
        return "".join(self.parts)

    @property
    def usage(self) -> Usage:
        """As the server counted; by our own estimate where it did not."""
        if self.counted and self.counted.sent:
            return self.counted
        pairs = (said for pair in self.request.examples for said in pair)
        sent = sum(map(text.tokens, (self.request.system, *pairs, self.request.message)))
        received = text.tokens("".join((*self.parts, *self.thoughts)))
        return Usage(sent, cached=0, written=0, received=received, estimated=True)

    @property
    def partial(self) -> Reply | None:
        if not (self.parts or self.thoughts or self.counted):
            return None
        # What the model wrote is counted at the end, and there was none.
        written = text.tokens("".join((*self.parts, *self.thoughts)))
        usage = replace(self.usage, received=max(self.usage.received, written), estimated=True)
        return Reply(self.text, self.model, usage, complete=False)

    @property
    def loops(self) -> bool:
        """A small model that has lost its way says the same again and again, for minutes."""
        if len(self.parts) % LOOK_EVERY:
            return False
        said = "".join(self.parts[-LOOK_AT:])
        return len(said) >= LEAST_LOOP and said.count(said[-LOOP:]) >= MOST_TIMES

    @property
    def gone(self) -> Away | None:
        """Loading an SDK takes a while; whoever asked may have left before the request was made."""
        return Away(CLOSING) if self.left else None

    def named(self, model: object) -> None:
        """The server knows best which model answered."""
        if isinstance(model, str) and model.strip():
            self.model = text.one_line(model, LONGEST_NAME)

    def cut(self, failure: Failure) -> Failure:
        """With what had arrived before it."""
        partial = self.partial
        match failure:
            case Misconfigured():
                return failure
            case Away(why):
                return Away(why, partial)
            case _:
                return replace(failure, usage=paid(partial) if partial else None)


class Calls:
    def __init__(self, seconds: float) -> None:
        self.most_seconds = PATIENCE * seconds
        self._lock = threading.Lock()
        self._under_way: set[queue.SimpleQueue[Reply | Failure | None]] = set()
        self._closed = False

    def run(self, answer: Callable[[], Reply | Failure], arriving: Arriving) -> Reply | Failure:
        """`answer` never raises, and stops soon after `arriving` was left or hung up."""
        box: queue.SimpleQueue[Reply | Failure | None] = queue.SimpleQueue()
        with self._lock:
            if self._closed:
                return Away(CLOSING)
            self._under_way.add(box)
        threading.Thread(target=lambda: box.put(answer()), name="ask", daemon=True).start()
        try:
            answered = box.get(timeout=self.most_seconds)
            why = CLOSING
        except queue.Empty:
            answered = None
            why = f"The answer was not complete after {self.most_seconds:g} s."
        finally:
            with self._lock:
                self._under_way.discard(box)
        if answered is not None:
            return answered
        arriving.left = True
        with suppress(Exception):  # it is in use by the other thread, and may say so
            arriving.hang_up()
        return Away(why, arriving.partial)

    def close(self) -> None:
        with self._lock:
            self._closed = True
            for box in self._under_way:
                box.put(None)
