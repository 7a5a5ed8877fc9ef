"""The test command: `python -m tests.support.run [pytest arguments]`.

It is pytest, in a network namespace where one can be made (see `netns`).
"""

import os
import sys

from tests.support.netns import reexec_in_namespace


def main() -> None:
    args = sys.argv[1:]
    network = reexec_in_namespace("tests.support.run", args)
    sys.stdout.write(f"network: {network}\n")
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "-m", "pytest", *args])


if __name__ == "__main__":
    main()
