"""The worker's ear: whoever answers learns whether the asker was still there to hear it."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import SimpleQueue

import pytest

from aforesaid.hook.capture import ask
from aforesaid.paths import Paths
from aforesaid.worker.rpc import Answer, Handler, Listener

LONG = 30.0  # seconds


@contextmanager
def listening(home: Paths, handler: Handler) -> Iterator[Callable[[float], bytes]]:
    """Asks as a hook does, with its deadline."""
    listener = Listener(home, {"ask": handler}.get)
    listener.start()
    try:
        yield lambda seconds: ask(str(home.run), b"ask me", seconds)
    finally:
        listener.close()


@pytest.mark.parametrize("size", [1, 1_000_000])
def test_an_answer_that_is_read_was_heard(home: Paths, size: int) -> None:
    heard: SimpleQueue[bool] = SimpleQueue()
    with listening(home, lambda _: Answer(b"x" * size, heard.put)) as asking:
        assert len(asking(LONG)) == size
        assert heard.get(timeout=LONG)


@pytest.mark.parametrize("size", [1, 1_000_000])
def test_an_answer_that_comes_too_late_was_not_heard(home: Paths, size: int) -> None:
    gone_on = threading.Event()
    heard: SimpleQueue[bool] = SimpleQueue()

    def slow(_: bytes) -> Answer:
        gone_on.wait(LONG)
        return Answer(b"x" * size, heard.put)

    with listening(home, slow) as asking:
        # The hook looks for another way while it handles the error: its end must be closed by then.
        with pytest.raises(TimeoutError) as raised:
            asking(0.05)
        gone_on.set()
        assert not heard.get(timeout=LONG)
    assert raised.traceback


def test_what_fails_to_be_noted_does_not_cost_the_answer(home: Paths) -> None:
    def fails(_: bool) -> None:
        raise OSError("a full disk")

    with listening(home, lambda _: Answer(b"text", fails)) as asking:
        assert asking(LONG) == b"text"
        assert asking(LONG) == b"text"
