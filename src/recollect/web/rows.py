"""A row for each thing that the API does: the routes, the checks and the OpenAPI document come from these."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from recollect.parameters import Parameter

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
Json = dict[str, Any]
SMALL, LARGE = 1024 * 1024, 16 * 1024 * 1024


class Wrong(Exception):
    """A request that cannot be done. `code`: for programs; the message names the fix; `field`: which part."""

    def __init__(self, status: int, code: str, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.status, self.code, self.message, self.field = status, code, message, field


def not_found(message: str) -> Wrong:
    return Wrong(404, "not_found", message)


@dataclass(frozen=True, slots=True)
class Row:
    """`path`: with {names} that are parameters in `place`. `query`, `body`: the others, by where they stand;
    the body is a JSON object. `run(backend, **values)` gets a value for every parameter and gives what is
    sent as JSON. `answer`: a JSON Schema of it; `status`: where all is well. `slow`: it may
    wait for others (a model, the queue), so it must not hold up the quick ones."""

    method: Method
    path: str
    about: str
    run: Callable[..., Any]
    place: tuple[Parameter, ...] = ()
    query: tuple[Parameter, ...] = ()
    body: tuple[Parameter, ...] = ()
    answer: Json | None = None
    status: int = 200
    largest: int = SMALL
    slow: bool = False
