"""Which rows a path means. Its parts are separated before they are decoded, so a name may hold a slash."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from recollect.web.rows import SMALL

Endpoint = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Route:
    """`open`: asked without a token, as the one-time link is."""

    method: str
    path: str
    endpoint: Endpoint
    largest: int = SMALL
    open: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """What a path leads to: a route for each method that it takes, and the values in the path."""

    routes: Mapping[str, Route]
    values: Mapping[str, str]

    @property
    def methods(self) -> str:
        names = sorted(self.routes)
        return ", ".join([*names, "HEAD"] if "GET" in names else names)


@dataclass(slots=True)
class Table:
    """Routes by the shape of their path; where two fit, the one with more words of its own."""

    _shapes: dict[tuple[str, ...], dict[str, Route]] = field(default_factory=dict)

    @classmethod
    def of(cls, routes: Iterable[Route]) -> "Table":
        table = cls()
        for route in routes:
            known = table._shapes.setdefault(tuple(route.path.split("/")), {})
            assert route.method not in known, f"{route.method} {route.path} is there twice"
            known[route.method] = route
        return table

    def routes(self) -> list[Route]:
        return [route for found in self._shapes.values() for route in found.values()]

    def find(self, raw_path: bytes) -> Place | None:
        parts = raw_path.decode("latin-1").split("/")
        best: tuple[int, Place] | None = None
        for shape, routes in self._shapes.items():
            values = _fit(shape, parts)
            if values is not None and (best is None or len(values) < best[0]):
                best = len(values), Place(routes, values)
        return best[1] if best else None


def _fit(shape: tuple[str, ...], parts: list[str]) -> dict[str, str] | None:
    if len(shape) != len(parts):
        return None
    values = {}
    for known, part in zip(shape, parts, strict=True):
        if known.startswith("{"):
            if not part:
                return None
            values[known[1:-1]] = unquote(part, errors="replace")
        elif known != part:
            return None
    return values
