"""No core dumps of a process that has captured content, keys or secrets in its memory.

A limit of 0 is not enough: a kernel that pipes dumps to a program (systemd, apport) ignores that limit.
"""

import resource
import sys
from contextlib import suppress

PR_SET_DUMPABLE = 4  # <linux/prctl.h>


def disable_core_dumps() -> None:
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        import ctypes

        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
