"""The worker's ear: a Unix socket, one question per connection, owner only.

A question is everything up to the end of the stream; its first word is the verb. An answer is bytes, then
the end of the stream. Hooks ask with a deadline and go on without us when it passes: what they were told is
what they were still there to hear.
"""

import os
import socket
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass

from recollect import log
from recollect.paths import Paths

LARGEST = 64 * 1024 * 1024
PATIENCE = 5.0  # seconds for a client to finish its question
THREADS = 4
PAUSE = 0.2  # seconds before the next try, when no connection could be taken


def nothing(_: bool) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Answer:
    """`done` is called once, with whether the asker was still there when the text was sent."""

    text: bytes
    done: Callable[[bool], None] = nothing


Verb = Callable[[bytes], bytes | Answer]


class Listener:
    def __init__(self, paths: Paths, verbs: Mapping[str, Verb]) -> None:
        self._verbs = verbs
        self._closing = threading.Event()
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="answer")
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        # A socket's path may have 107 bytes; relative to its directory it always fits.
        os.chdir(paths.run)
        name = paths.socket.name
        if paths.socket.exists():
            paths.socket.unlink()  # we hold the lock, so it is a dead worker's
        before = os.umask(0o177)
        try:
            self._socket.bind(name)
        finally:
            os.umask(before)
        self._socket.listen(64)
        self._thread = threading.Thread(target=self._accept, name="listener", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        """No new questions; the ones under way get their answer."""
        self._closing.set()
        with suppress(OSError):  # refused by some systems for a listening socket; close is enough
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._pool.shutdown(wait=True)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError as error:
                if self._closing.is_set():
                    return
                # Too many open files, most likely: a listener that gave up would never answer again.
                log.warning("answer.failed", error=log.cause(error))
                self._closing.wait(PAUSE)
                continue
            try:
                self._pool.submit(self._serve, connection)
            except RuntimeError:  # closing
                connection.close()
                return

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            connection.settimeout(PATIENCE)
            try:
                verb, _, rest = _read(connection).partition(b" ")
                handler = self._verbs.get(verb.strip().decode("utf-8", "replace"))
                if handler is not None:
                    _send(connection, handler(rest))
            except Exception as error:
                # The asker falls back to its prepared copy; the reason is for `worker logs`.
                log.warning("answer.failed", error=log.cause(error))


def _send(connection: socket.socket, answer: bytes | Answer) -> None:
    answer = Answer(answer) if isinstance(answer, bytes) else answer
    try:
        # An asker that has gone on has closed its end: then this fails, however small the text is.
        connection.sendall(answer.text)
        connection.close()  # the end of the stream: nobody waits for what is noted then
    except OSError:
        answer.done(False)
        raise
    answer.done(True)


def _read(connection: socket.socket) -> bytes:
    parts = []
    size = 0
    while part := connection.recv(1 << 16):
        parts.append(part)
        size += len(part)
        if size > LARGEST:
            raise ValueError(f"a question of over {LARGEST} bytes")
    return b"".join(parts)
