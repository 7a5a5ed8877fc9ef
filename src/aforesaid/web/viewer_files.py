"""The viewer's static files. Only listed names are served: no path is built from a request."""

import gzip
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from aforesaid.web import VIEWS
from aforesaid.web.endpoint import not_found

FOLDER = Path(__file__).parent / "viewer"
INDEX = "index.html"
ITEMS = ("/sessions/{id}", "/observations/{id}", "/memories/{name}")
PAGES = ("/", *(f"/{view}" for view in VIEWS), *ITEMS)
FILES = ("/viewer/{file}", "/viewer/{folder}/{file}")
MEDIA_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
MIN_GZIP_BYTES = 1_000


@lru_cache
def _load(file: Path, _changed: int) -> tuple[bytes, bytes, str]:
    """The file's content, the same compressed where that helps, and its ETag."""
    body = file.read_bytes()
    packed = gzip.compress(body, 6, mtime=0) if len(body) > MIN_GZIP_BYTES else body
    return body, packed, f'"{sha256(body).hexdigest()[:20]}"'


@dataclass(frozen=True, slots=True)
class ViewerFiles:
    folder: Path = FOLDER

    def names(self) -> frozenset[str]:
        known = (f for f in self.folder.rglob("*") if f.suffix in MEDIA_TYPES)
        files = (f for f in known if f.is_file() and not f.is_symlink())
        return frozenset(file.relative_to(self.folder).as_posix() for file in files)

    async def send_page(
        self, scope: Scope, receive: Receive, send: Send, status: int = 200
    ) -> None:
        """Every view is the same page, which reads its address."""
        await self._respond(INDEX, scope, status)(scope, receive, send)

    async def send_file(self, scope: Scope, receive: Receive, send: Send) -> None:
        name = "/".join(scope["path_params"].values())
        await self._respond(name, scope, 200)(scope, receive, send)

    def _respond(self, name: str, scope: Scope, status: int) -> Response:
        if name not in self.names():
            raise not_found("The viewer has no such file.")
        file, asked = self.folder / name, Headers(scope=scope)
        body, packed, etag = _load(file, file.stat().st_mtime_ns)
        headers = {"ETag": etag, "Cache-Control": "no-cache", "Vary": "Accept-Encoding"}
        if status == 200 and etag in asked.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        if packed is not body and "gzip" in asked.get("accept-encoding", ""):
            body = packed
            headers["Content-Encoding"] = "gzip"
        headers["Content-Type"] = MEDIA_TYPES[file.suffix]
        return Response(body, status, headers=headers)
