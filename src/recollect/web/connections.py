"""One connection, with patience that ends: who connects and says nothing, or half of something, is let go,
and when there are too many, the idlest goes for the new one. So nobody can take all the places by holding
them."""

import asyncio
import socket
import time
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from recollect import log
from recollect.web.peers import is_foreign

MOST_CONNECTIONS = 64
SECONDS = 10.0  # to send a request's head, or between two requests
SEND_BUFFER = 128 * 1024  # what the system keeps for a client that does not read


class Connection(H11Protocol):
    """Uvicorn's, which has no such limits of its own."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Before anything is read: what is aborted here never is."""
        super().connection_made(transport)
        self._since = time.monotonic()
        self._tick = self.loop.call_later(SECONDS, self._look)
        link: Any = transport.get_extra_info("socket")
        if is_foreign(link):
            log.warning("web.foreign_user", client=self.client[1] if self.client else None)
            transport.abort()
            return
        link.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
        self._make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        self._tick.cancel()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        self._since = time.monotonic()
        super().on_response_complete()

    @property
    def is_busy(self) -> bool:
        """A whole request is here and its answer is not."""
        return self.cycle is not None and not self.cycle.response_complete

    def _look(self) -> None:
        """One that is being closed stays for as long as its client does not read what is on the way: a stream
        that was dropped has no whole answer, and yet nothing more will come."""
        waited = time.monotonic() - self._since
        busy = self.is_busy and not self.transport.is_closing()
        if not busy and waited >= SECONDS:
            self.transport.abort()
            return
        again = SECONDS if busy else SECONDS - waited
        self._tick = self.loop.call_later(max(0.1, again), self._look)

    def _make_room(self) -> None:
        """One that was told to go is gone only later: it no longer counts, and cannot go twice."""
        here = [each for each in self.connections if isinstance(each, Connection)]
        here = [each for each in here if not each.transport.is_closing()]
        if len(here) > MOST_CONNECTIONS:
            idle = [each for each in here if not each.is_busy and each is not self]
            oldest = min(idle, key=lambda each: each._since, default=self)
            oldest.transport.abort()
