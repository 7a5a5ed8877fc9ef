"""How much the store has of some sessions: what an import is measured by."""

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class Tally:
    """`turns`: those that are worked up. `parts` and `summaries` are the jobs for that: a long turn is
    observed in several parts."""

    sessions: int = 0
    prompts: int = 0
    events: int = 0
    turns: int = 0
    parts: int = 0
    summaries: int = 0

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(Tally)))

    def since(self, before: "Tally") -> "Tally":
        """What was added. Work that was not begun may be replaced by less of it."""
        more = (getattr(self, f.name) - getattr(before, f.name) for f in fields(Tally))
        return Tally(*(max(0, number) for number in more))
