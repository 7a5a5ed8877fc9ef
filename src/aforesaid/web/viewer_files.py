"""The viewer's static files. Only listed names are served: no path is built from a request."""

import gzip
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from aforesaid.web.auth import decode_headers
from aforesaid.web.endpoint import not_found

FOLDER = Path(__file__).parent / "viewer"
INDEX = "index.html"
VIEWS = ("now", "timeline", "search", "sessions", "memories", "brief", "cost", "settings")
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


class CachedFile(NamedTuple):
    mark: tuple[int, int]  # modification time and size when it was read
    body: bytes
    packed: bytes | None
    etag: str


@dataclass(slots=True)
class ViewerFiles:
    folder: Path = FOLDER
    _cache: dict[str, CachedFile] = field(default_factory=dict)

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
        if name not in self._cache and name not in self.names():
            raise not_found("The viewer has no such file.")
        kept, asked = self._read(name), decode_headers(scope)
        headers = {"ETag": kept.etag, "Cache-Control": "no-cache", "Vary": "Accept-Encoding"}
        if status == 200 and kept.etag in asked.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        body = kept.body
        if kept.packed is not None and "gzip" in asked.get("accept-encoding", ""):
            body = kept.packed
            headers["Content-Encoding"] = "gzip"
        headers["Content-Type"] = MEDIA_TYPES[Path(name).suffix]
        return Response(body, status, headers=headers)

    def _read(self, name: str) -> CachedFile:
        """Cached until the file changes."""
        file = self.folder / name
        status = file.stat()
        mark = (status.st_mtime_ns, status.st_size)
        kept = self._cache.get(name)
        if kept is None or kept.mark != mark:
            body = file.read_bytes()
            packed = gzip.compress(body, 6, mtime=0) if len(body) > MIN_GZIP_BYTES else None
            if packed is not None and len(packed) > len(body) * 0.9:
                packed = None
            kept = CachedFile(mark, body, packed, f'"{sha256(body).hexdigest()[:20]}"')
            self._cache[name] = kept
        return kept
