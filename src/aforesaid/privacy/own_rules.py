"""Rules of the user's own, from `privacy.patterns`: regular expressions that cannot run away, because every
text passes them. Refused are quantifiers without an end, quantifiers within quantifiers, back references, and
more ways to match than can be tried.

Also the user's own secrets: values of environment variables with the names of secrets, searched for literally.
"""

import importlib
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote

from aforesaid.errors import ConfigError
from aforesaid.privacy.rules import Rule
from aforesaid.privacy.values import is_placeholder, is_plain, is_reference

NAME = "own"
LONGEST = 500
MOST_WAYS = 5_000
MOST_REPEATS = 1_000
_parser: Any = importlib.import_module("re._parser")  # what `re` itself compiles from
REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")


class _Unsafe(Exception):
    pass


def compiled(patterns: Iterable[str], where: str = "privacy.patterns") -> tuple[Rule, ...]:
    """Raises ConfigError, which names the pattern and what to write instead."""
    return tuple(_rule(pattern, where) for pattern in patterns)


def _rule(pattern: str, where: str) -> Rule:
    try:
        if len(pattern) > LONGEST:
            raise _Unsafe(f"it has more than {LONGEST} characters")
        if re.compile(pattern).search("") is not None:
            why = "it matches nothing at all: name at least one character that must be there"
            raise _Unsafe(why)
        if _ways(_parser.parse(pattern), within=False) > MOST_WAYS:
            raise _Unsafe("it can match in too many ways: make its quantifiers narrower")
    except (re.error, RecursionError, OverflowError) as error:
        raise ConfigError(f"{where}: {pattern[:80]!r} is no regular expression: {error}.") from None
    except _Unsafe as error:
        raise ConfigError(f"{where}: {pattern[:80]!r} is refused: {error}.") from None
    return Rule(NAME, (), pattern, flags=0)


def _ways(tree: Any, *, within: bool) -> int:
    """How many ways there are to go through it from one place, at most."""
    ways = 1
    for operation, argument in tree:
        ways *= _of(str(operation), argument, within)
        if ways > MOST_WAYS:
            break
    return ways


def _of(operation: str, argument: Any, within: bool) -> int:
    if operation in REPEATS:
        least, most, inner = argument
        if most == _parser.MAXREPEAT or int(most) > MOST_REPEATS:
            why = f"`+`, `*` and `{{n,}}` have no end: write {{1,200}}, at most {MOST_REPEATS}"
            raise _Unsafe(why)
        if within and most != least:
            raise _Unsafe("a quantifier stands within another one")
        return (int(most) - int(least) + 1) * _ways(inner, within=within or int(most) > 1)
    match operation:
        case "SUBPATTERN" | "ASSERT" | "ASSERT_NOT":
            return _ways(argument[-1], within=within)
        case "ATOMIC_GROUP":
            return _ways(argument, within=within)
        case "BRANCH":
            if within and len(argument[1]) > 1:
                raise _Unsafe("an alternative stands within a quantifier")
            return sum(_ways(branch, within=within) for branch in argument[1])
        case "GROUPREF" | "GROUPREF_EXISTS":
            raise _Unsafe("it refers back to a group")
    return 1


LEAST = 8
MOST = 200  # variables
NAMES = re.compile(
    r"KEY|TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|_PASS$|_PWD$|_PAT$|_AUTH$|_DSN$|COOKIE|WEBHOOK|DATABASE_URL"
    r"|CONNECTION_STRING|_SAS$"
)
_SHORTEST_WORD = 20  # letters alone, up to this, are a word


def find_secrets(env: Mapping[str, str], leave: Iterable[str] = ()) -> tuple[str, ...]:
    """As they may be spelled, longest first: one may be part of another."""
    left = set(leave)
    values = {
        value.strip()
        for name, value in env.items()
        if name not in left and NAMES.search(name.upper()) and is_literal_secret(value.strip())
    }
    longest = sorted(values, key=lambda v: (-len(v), v))[:MOST]
    return tuple(dict.fromkeys(spelled for value in longest for spelled in spell(value)))


def is_literal_secret(value: str) -> bool:
    """Long enough, and neither a word, a number, a path, an address nor a list of such."""
    if len(value) < LEAST or is_placeholder(value):
        return False
    if value.isdigit() or re.fullmatch(r"[\w.-]+(?:\s*,\s*[\w.-]+)+", value):
        return False
    if value.startswith(("/", "~/", "./", "unix:")) or is_reference(value):
        return False
    if "://" in value:
        return "@" in value or "hook" in value
    return not (is_plain(value) and len(value) < _SHORTEST_WORD)


def spell(value: str) -> tuple[str, ...]:
    """The value as it is written in JSON and in a URL."""
    escaped = json.dumps(value, ensure_ascii=False)[1:-1]
    return tuple(dict.fromkeys((value, escaped, quote(value, safe=""))))
