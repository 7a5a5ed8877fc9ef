"""The mark of a memory whose files are all gone: it may be out of date, and nobody but a person can tell.

It is the last paragraph of the text, put there and taken away again by the dream. It is no part of what the
memory says: whoever compares memories takes it off first.
"""

import re

from recollect.text import one_line

MARK = "**Possibly stale:**"
MARKED = re.compile(rf"\n*^{re.escape(MARK)}[^\n]*\s*\Z", re.MULTILINE)
NAMED = 3


def marked(body: str, gone: tuple[str, ...], day: str) -> str:
    """`gone`: the files that it speaks of and that are no more. A mark that is there stays as it is."""
    if MARKED.search(body):
        return body
    names = ", ".join(one_line(path, 100) for path in gone[:NAMED])
    more = f" and {len(gone) - NAMED} more" if len(gone) > NAMED else ""
    told = f"{MARK} the files it speaks of are gone ({names}{more}; seen on {day})."
    return f"{body.rstrip()}\n\n{told}".strip()


def unmarked(body: str) -> str:
    return MARKED.sub("", body)
