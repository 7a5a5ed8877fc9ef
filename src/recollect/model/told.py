"""What an agent was told unasked: what, when, why, and for how many tokens."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Told:
    """Something that is handed to an agent: an observation, a summary or a prompt (`kind`, as in
    `model/search.py`) by its number. `tokens` are about right."""

    kind: str
    source: int
    reason: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Injected:
    """Something that was handed over, as it is listed. `session` is the agent's id of the one it came
    from; `title` is its own, or its first words."""

    kind: str
    source: int
    hook: str
    reason: str
    tokens: int
    at: int
    title: str | None
    session: str | None
