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
class Handed:
    """Lines to hand over, fenced, and what they tell of."""

    lines: tuple[str, ...] = ()
    told: tuple[Told, ...] = ()

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


@dataclass(frozen=True, slots=True)
class Injected:
    """Something that was handed over, as it is listed. `session` is the agent's id of the one it came
    from; `title` is its own, or its first words; `origins`: whose words it stems from, as it was weighed."""

    kind: str
    source: int
    hook: str
    reason: str
    tokens: int
    at: int
    title: str | None
    session: str | None
    origins: str | None = None


@dataclass(frozen=True, slots=True)
class ToldMemory:
    """A curated memory that is handed to an agent, by its name and where it stands (`model/memories.py`).
    `size`: bytes of its text; a session gets so many and no more."""

    name: str
    scope: str
    reason: str
    tokens: int
    size: int


@dataclass(frozen=True, slots=True)
class InjectedMemory:
    """One that was handed over, as it is listed."""

    name: str
    scope: str
    hook: str
    reason: str
    tokens: int
    size: int
    at: int
