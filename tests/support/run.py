"""The test command: `python -m tests.support.run [pytest arguments]`.

It is pytest, in a network namespace where one can be made (see `netns`).
"""

import os
import signal
import sys

from tests.support.netns import reexec_in_namespace


def main() -> None:
    args = sys.argv[1:]
    network = reexec_in_namespace("tests.support.run", args)
    sys.stdout.write(f"network: {network}\n")
    sys.stdout.flush()
    # A shell's background job has it ignored, and tests send it to commands that they start.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.execv(sys.executable, [sys.executable, "-m", "pytest", *args])


if __name__ == "__main__":
    main()
