"""No core dumps of a process that has captured content, keys or secrets in its memory.

A limit of 0 on the size of a core file is not enough: where the kernel pipes dumps to a program (systemd,
apport), it ignores that limit. A process that is not dumpable is passed over in both cases. As a side effect
other processes of the same user, debuggers among them, cannot read its memory through `/proc`.
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
