"""Words from outside as a message may show them: on one line, short, and without keys.

A server may repeat the key that it rejects, and a client may print its environment.
"""

import re
from collections.abc import Iterable

from recollect import text

MOST_SHOWN = 200  # characters
LOOKS_LIKE_A_KEY = re.compile(r"\b(?:sk|key|AIza)[-\w]{16,}|(?<=Bearer )\S+")


def scrubbed(words: str, secrets: Iterable[str] = ()) -> str:
    """Cleaned first, since a key may hide between control characters, and cut last, since half a key is
    not found."""
    plain = text.one_line(words, MOST_SHOWN * 8)
    for secret in filter(None, secrets):
        plain = plain.replace(secret, text.ELLIPSIS)
    return text.one_line(LOOKS_LIKE_A_KEY.sub(text.ELLIPSIS, plain), MOST_SHOWN)
