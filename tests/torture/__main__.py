"""`python -m tests.torture [PART …]`: runs the parts of the long suite and prints a table at the end.

It needs about forty minutes on two free cores, most of them for the kill rounds. Seeds are printed and can be
given; what failed leaves its home behind and says how to repeat it.
"""

import argparse
import random
import signal
import sys
import tempfile
from pathlib import Path

from tests.support.netns import reexec_in_namespace
from tests.torture.kills import Kills
from tests.torture.parts import KILLS, PARTS, run
from tests.torture.results import Result, table

ROUNDS = 5000


def main() -> int:
    arguments = _arguments()
    chosen = arguments.parse_args()
    names = chosen.parts or [part.name for part in PARTS]
    if unknown := sorted(set(names) - {part.name for part in PARTS}):
        arguments.error(f"there is no part {unknown[0]!r}")
    network = reexec_in_namespace("tests.torture", sys.argv[1:])
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.stdout.write(f"network: {network}\n")
    results: list[Result] = []
    try:
        for part in PARTS:
            if part.name in names:
                sys.stdout.write(f"{part.name}: {part.about}\n")
                sys.stdout.flush()
                kills = part.name == KILLS
                results.append(_kills(chosen).run() if kills else run(part, chosen.seed))
    finally:
        sys.stdout.write(table(results))
    return int(not all(result.passed for result in results))


def _kills(chosen: argparse.Namespace) -> Kills:
    return Kills(chosen.rounds, chosen.seed, chosen.jobs, chosen.where)


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("make torture", description=__doc__)
    names = [part.name for part in PARTS]
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(names))
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="kill rounds (default: 5000)")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 31))
    parser.add_argument("--jobs", type=int, default=2, help="segments side by side (default: 2)")
    parser.add_argument(
        "--where", type=Path, default=Path(tempfile.gettempdir()), help="where homes are made"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
