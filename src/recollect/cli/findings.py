"""What the doctor finds."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """`level`: ok, warning or fault."""

    level: str
    what: str
    detail: str
    fix: str = ""


Check = Callable[[], Iterator[Finding]]
