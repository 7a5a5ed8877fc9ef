"""What somebody wants forgotten."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Forgotten:
    """`at`: when it was forgotten."""

    observation_id: int
    at: int
    title: str | None
    project_id: int
    session_id: int
