"""How far an erasure is, for whoever asks."""

from dataclasses import dataclass, field
from typing import Any

from recollect.worker.erasing_plan import Plan


class Ends(Exception):
    """The worker ends. The order is on the disk, and the next one goes on."""


@dataclass(slots=True)
class Run:
    """`dry`: nothing goes. `counts`: what it comes to, once that is known."""

    name: str
    plan: Plan
    dry: bool
    step: str = "waiting"
    done: int = 0
    total: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    error: str | None = None
    over: bool = False

    def shown(self, done: int, total: int) -> None:
        self.done, self.total = done, total

    def told(self) -> dict[str, Any]:
        names = ("name", "step", "done", "total", "counts", "error", "over")
        return {each: getattr(self, each) for each in names}
