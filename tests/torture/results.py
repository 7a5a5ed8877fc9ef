"""What a part of the long suite came to, and the table at the end."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Result:
    part: str
    passed: bool
    seen: str  # figures, in words
    seconds: float
    repeat: str = ""  # how to see a failure again


def table(results: Sequence[Result]) -> str:
    lines = ["", "| part | | seen | minutes |", "|---|---|---|---|"]
    lines += [
        f"| {result.part} | {'passed' if result.passed else '**failed**'} | {result.seen} "
        f"| {result.seconds / 60:.1f} |"
        for result in results
    ]
    failed = [result for result in results if not result.passed]
    lines += [f"\n{result.part} again: {result.repeat}" for result in failed]
    return "\n".join(lines) + "\n"
