"""What ageing out came to."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Freed:
    """`rows` that lost their content, and the `size` of that in the database."""

    rows: int
    size: int
