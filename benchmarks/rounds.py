"""Variants measured in turn, round after round, so that a noisy minute falls on all of them alike."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from benchmarks import spawn

Payloads = Callable[[int], list[bytes]]
WARM_UP = 2  # rounds that are thrown away


def no_payload(count: int) -> list[bytes]:
    return [b""] * count


def nothing() -> None:
    pass


@dataclass(slots=True)
class Variant:
    """`before` and `after` are not timed."""

    name: str
    command: spawn.Command
    payloads: Payloads = no_payload
    before: Callable[[], None] = nothing
    after: Callable[[], None] = nothing
    aim: str = ""
    times: list[float] = field(default_factory=list)

    def measure(self, at_once: int) -> list[float]:
        payloads = self.payloads(at_once)
        self.before()
        times = spawn.run(self.command, payloads)
        self.after()
        return times


def run(variants: Sequence[Variant], *, at_once: int, rounds: int) -> None:
    """Fills `times` of every variant."""
    for number in range(WARM_UP + rounds):
        for variant in variants:
            times = variant.measure(at_once)
            if number >= WARM_UP:
                variant.times += times
