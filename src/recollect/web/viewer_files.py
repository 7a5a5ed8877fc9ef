"""The viewer's files, as they are in the package. A name that is not in the listing is nowhere: no path is
ever put together from what a request says."""

import gzip
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from recollect.web.errors import refusal
from recollect.web.security import ASKED, Asked

FOLDER = Path(__file__).parent / "viewer"
INDEX = "index.html"
VIEWS = (
    "now",
    "timeline",
    "search",
    "sessions",
    "memories",
    "brief",
    "cost",
    "settings",
)
PAGES = (
    "/",
    *(f"/{view}" for view in VIEWS),
    "/sessions/{id}",
    "/observations/{id}",
    "/memories/{name}",
)
FILES = ("/viewer/{file}", "/viewer/{folder}/{file}")
KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".woff2": "font/woff2",
    ".json": "application/json",
    ".webmanifest": "application/manifest+json",
}
SMALLEST = 1_000  # bytes that are worth packing


@dataclass(frozen=True, slots=True)
class Kept:
    mark: tuple[int, int]  # the file's time and size, when it was read
    body: bytes
    packed: bytes | None
    etag: str


@dataclass(slots=True)
class ViewerFiles:
    folder: Path = FOLDER
    _kept: dict[str, Kept] = field(default_factory=dict)

    def names(self) -> frozenset[str]:
        known = (f for f in self.folder.rglob("*") if f.suffix in KINDS)
        files = (f for f in known if f.is_file() and not f.is_symlink())
        return frozenset(file.relative_to(self.folder).as_posix() for file in files)

    async def page(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Every view is the same page; its address tells the page what to show."""
        await self._answer(INDEX, scope[ASKED])(scope, receive, send)

    async def file(self, scope: Scope, receive: Receive, send: Send) -> None:
        asked: Asked = scope[ASKED]
        await self._answer("/".join(asked.values.values()), asked)(scope, receive, send)

    def _answer(self, name: str, asked: Asked) -> Response:
        if name not in self._kept and name not in self.names():
            return refusal(404, "not_found", "The viewer has no such file.")
        kept = self._read(name)
        headers = {"ETag": kept.etag, "Cache-Control": "no-cache", "Vary": "Accept-Encoding"}
        if kept.etag in asked.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        body = kept.body
        if kept.packed is not None and "gzip" in asked.headers.get("accept-encoding", ""):
            body = kept.packed
            headers["Content-Encoding"] = "gzip"
        return Response(body, headers=headers | {"Content-Type": KINDS[Path(name).suffix]})

    def _read(self, name: str) -> Kept:
        """A few files of a few kilobytes, kept as long as they have not changed."""
        file = self.folder / name
        status = file.stat()
        mark = (status.st_mtime_ns, status.st_size)
        kept = self._kept.get(name)
        if kept is None or kept.mark != mark:
            body = file.read_bytes()
            packed = gzip.compress(body, 6, mtime=0) if len(body) > SMALLEST else None
            if packed is not None and len(packed) > len(body) * 0.9:
                packed = None
            kept = Kept(mark, body, packed, f'"{sha256(body).hexdigest()[:20]}"')
            self._kept[name] = kept
        return kept
