"""Who may come in: programs by the token, a browser by a one-time link that leaves a cookie.

The token is a file that only its owner can read. The link's code is good once and for a minute, because
links end up in shell histories and in other people's view. The cookie is signed with the token and made for
one port, so it outlives a restart of the worker, and the token itself never comes near a browser.
"""

import hmac
import secrets
import threading
import time
from collections.abc import Callable
from hashlib import sha256
from urllib.parse import quote

CODE_SECONDS = 60.0
COOKIE_DAYS = 30
DAY_SECONDS = 86_400
MOST_CODES = 100


class Entrance:
    def __init__(self, token: str, port: int, *, seconds: Callable[[], float] = time.time) -> None:
        self._token, self._port, self._seconds = token.encode(), port, seconds
        self._lock = threading.Lock()
        self._codes: dict[str, float] = {}  # until when each is good

    @property
    def cookie_name(self) -> str:
        return f"recollect-{self._port}"

    def link(self, view: str = "") -> str:
        """For a browser, once."""
        code = secrets.token_urlsafe(32)
        with self._lock:
            now = self._seconds()
            self._codes = {known: until for known, until in self._codes.items() if until > now}
            while len(self._codes) >= MOST_CODES:
                self._codes.pop(next(iter(self._codes)))
            self._codes[code] = now + CODE_SECONDS
        shown = f"&view={quote(view, safe='')}" if view else ""
        return f"http://127.0.0.1:{self._port}/enter?code={code}{shown}"

    def admit(self, code: str) -> str | None:
        """The cookie's value, for a code that is good; then it is no longer."""
        with self._lock:
            until = self._codes.pop(code, None)
        if until is None or self._seconds() > until:
            return None
        return self._signed(f"{secrets.token_urlsafe(16)}.{int(self._seconds())}")

    def knows_token(self, given: bytes) -> bool:
        return hmac.compare_digest(given, self._token)

    def knows_cookie(self, given: str) -> bool:
        what, _, _ = given.rpartition(".")
        expected = self._signed(what)
        if not hmac.compare_digest(given.encode("utf-8", "replace"), expected.encode()):
            return False
        made = int(what.rpartition(".")[2])  # it is our own writing
        return self._seconds() - made < COOKIE_DAYS * DAY_SECONDS

    def _signed(self, what: str) -> str:
        said = f"viewer:{self._port}:{what}".encode("utf-8", "replace")
        return f"{what}.{hmac.new(self._token, said, sha256).hexdigest()}"
