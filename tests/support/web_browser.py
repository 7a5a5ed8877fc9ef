"""A browser for the viewer: it follows the one-time link, keeps the cookie and watches the stream."""

import http.client
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.support.product import aforesaid, until


class Browser:
    """Follows the link that `aforesaid open` prints, and keeps the cookie."""

    def __init__(self, link: str) -> None:
        place, _, path = link.removeprefix("http://").partition("/")
        self.port = int(place.partition(":")[2])
        self.cookie = ""
        status, headers, _ = self.ask(f"/{path}")
        assert status == 303
        self.cookie = headers["set-cookie"].partition(";")[0]
        self.led_to = headers["location"]

    def ask(self, path: str, method: str = "GET") -> tuple[int, dict[str, str], bytes]:
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        sent = {"Cookie": self.cookie, "X-Aforesaid": "1", "Content-Type": "application/json"}
        link.request(method, path, headers=sent)
        answer = link.getresponse()
        found = {name.lower(): value for name, value in answer.getheaders()}
        body = answer.read()
        link.close()
        return answer.status, found, body

    def sees(self) -> bool:
        """Whether there is somebody, and lets it in."""
        try:
            return self.ask("/health")[0] == 200
        except OSError:
            return False

    @contextmanager
    def watching(self, last: str = "") -> Iterator["Watching"]:
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        link.request("GET", "/api/stream", headers={"Cookie": self.cookie, "Last-Event-ID": last})
        answer = link.getresponse()
        assert answer.status == 200
        watching = Watching(answer)
        thread = threading.Thread(target=watching.listen)
        thread.start()
        try:
            until(lambda: watching.told)
            yield watching
        finally:
            assert link.sock is not None
            link.sock.shutdown(2)
            thread.join()
            link.close()
            answer.close()


class Watching:
    def __init__(self, answer: http.client.HTTPResponse) -> None:
        self._answer = answer
        self.told: list[tuple[str, str, Any]] = []  # id, kind, data

    def listen(self) -> None:
        fields: dict[str, str] = {}
        try:
            while line := self._answer.readline():
                name, _, value = line.decode().rstrip("\n").partition(": ")
                fields[name] = value
                if not name and "event" in fields:
                    self.told.append((fields["id"], fields["event"], json.loads(fields["data"])))
                    fields = {}
        except (OSError, ValueError, http.client.HTTPException):
            return

    def kinds(self) -> set[str]:
        return {kind for _, kind, _ in self.told}


def opened(*arguments: str) -> Browser:
    done = aforesaid("open", "--print", *arguments)
    assert done.returncode == 0, done.stderr
    return Browser(done.stdout.strip())
