"""The kill rounds: hooks, workers and process groups, killed with SIGKILL in thousands of rounds.

The rounds are cut into segments, each with its own home, seed and verdict, so that they can run side by
side, that a database stays small enough to be checked often, and that a failure can be repeated alone.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.torture.results import Result

ROUNDS_OF_A_SEGMENT = 125
TELL_SECONDS = 15.0
FOREIGN = ("AFORESAID_", "XDG_", "GIT_", "CLAUDE_")
FIGURES = ("lost", "doubled", "corrupted")


@dataclass(slots=True)
class Kills:
    rounds: int
    seed: int
    jobs: int
    where: Path
    _counts: dict[int, Counter[str]] = field(default_factory=dict)
    _failures: list[str] = field(default_factory=list)
    _begin: float = field(default_factory=time.monotonic)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def run(self) -> Result:
        segments = [
            min(ROUNDS_OF_A_SEGMENT, self.rounds - done)
            for done in range(0, self.rounds, ROUNDS_OF_A_SEGMENT)
        ]
        _say(f"kills: {self.rounds} rounds in {len(segments)} segments, first seed {self.seed}")
        with ThreadPoolExecutor(self.jobs) as pool:
            running = [
                pool.submit(self._segment, self.seed + number, rounds)
                for number, rounds in enumerate(segments)
            ]
            while wait(running, TELL_SECONDS).not_done:
                _say(f"kills: {self._seen()}")
            for each in running:
                each.result()  # a fault of the harness is not hidden
        return Result(
            "kills",
            not self._failures,
            self._seen(),
            time.monotonic() - self._begin,
            "; ".join(self._failures),
        )

    def _segment(self, seed: int, rounds: int) -> None:
        folder = Path(tempfile.mkdtemp(prefix=f"torture-{seed}-", dir=self.where))
        (folder / "user").mkdir()
        command = [sys.executable, "-m", "tests.torture.kill_segment", str(folder), str(seed)]
        with (
            (folder / "errors").open("wb") as errors,
            subprocess.Popen(
                [*command, str(rounds)],
                env=_environment(folder),
                stdout=subprocess.PIPE,
                stderr=errors,
            ) as running,
        ):
            assert running.stdout is not None
            for line in running.stdout:
                self._heard(seed, json.loads(line))
        if running.returncode == 0:
            shutil.rmtree(folder)
            return
        self._failures.append(
            f"make torture ARGS='kills --seed {seed} --rounds {rounds}' (left in {folder})"
        )
        _say(f"kills: seed {seed} FAILED, see {folder}")

    def _heard(self, seed: int, told: dict[str, Any]) -> None:
        with self._lock:
            counts = Counter(told["counts"])
            if verdict := told.get("verdict"):
                counts.update({name: verdict[name] for name in FIGURES})
                for fault in (*told["damage"], *verdict["faults"]):
                    _say(f"kills: seed {seed}: {fault}")
            self._counts[seed] = counts

    def _seen(self) -> str:
        with self._lock:
            total = sum(self._counts.values(), Counter[str]())
        minutes = max(time.monotonic() - self._begin, 1.0) / 60
        kills = total["hooks killed"] + total["workers killed"]
        return (
            f"{total['rounds']:,} rounds, {kills:,} kills ({total['workers killed']:,} of workers), "
            f"{total['acknowledged']:,} events acknowledged, {total['delivered again']:,} delivered again, "
            f"{total['halves acknowledged']:,} cut off: "
            + ", ".join(f"{total[name]} {name}" for name in FIGURES)
            + f" ({total['acknowledged'] / minutes:,.0f} events, {kills / minutes:,.0f} kills a minute)"
        )


def _environment(folder: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
    return kept | {"HOME": str(folder / "user"), "AFORESAID_HOME": str(folder / "aforesaid")}


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()
