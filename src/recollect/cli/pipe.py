"""A reader that has had enough (`recollect show 12 | head -1`) is no error."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

STDOUT = 1
NOBODY_READS = 141  # as other programs end


@contextmanager
def quietly() -> Iterator[None]:
    """Stands within click, which would make exit code 1 of it. So does rich, as the second case."""
    try:
        yield
    except (BrokenPipeError, SystemExit) as end:
        if not any(isinstance(each, BrokenPipeError) for each in (end, end.__context__)):
            raise
        # What is still in the buffer is written when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), STDOUT)
        raise SystemExit(NOBODY_READS) from None
