"""The user's own secrets, word for word: values of environment variables whose names say what they are.

Found without a pattern, so without false hits. The worker knows the environment of the hook that started it;
what another terminal has set, it does not know.
"""

import json
import re
from collections.abc import Iterable, Mapping
from urllib.parse import quote

from recollect.privacy import judging

LEAST = 8
MOST = 200  # variables
NAMES = re.compile(
    r"KEY|TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|_PASS$|_PWD$|_PAT$|_AUTH$|_DSN$|COOKIE|WEBHOOK|DATABASE_URL"
    r"|CONNECTION_STRING|_SAS$"
)
_SHORTEST_WORD = 20  # letters alone, up to this, are a word


def of(env: Mapping[str, str], leave: Iterable[str] = ()) -> tuple[str, ...]:
    """Longest first: one may be part of another."""
    left = set(leave)
    values = {
        value.strip()
        for name, value in env.items()
        if name not in left and NAMES.search(name.upper()) and is_telling(value.strip())
    }
    return tuple(sorted(values, key=lambda v: (-len(v), v))[:MOST])


def is_telling(value: str) -> bool:
    """Long enough to be a secret, and neither a word, a number, a path, an address nor a list of such."""
    if len(value) < LEAST or judging.is_placeholder(value):
        return False
    if value.isdigit() or re.fullmatch(r"[\w.-]+(?:\s*,\s*[\w.-]+)+", value):
        return False
    if value.startswith(("/", "~/", "./", "unix:")) or judging.is_code(value):
        return False
    if "://" in value:
        return "@" in value or "hook" in value
    return not (judging.is_plain(value) and len(value) < _SHORTEST_WORD)


def variants(value: str) -> tuple[str, ...]:
    """As it is written elsewhere: within JSON, in an address."""
    escaped = json.dumps(value, ensure_ascii=False)[1:-1]
    return tuple(dict.fromkeys((value, escaped, quote(value, safe=""))))
