"""Whether a value that stands where a secret would is one, or a word, a name in a program, or a
placeholder."""

import re

_PLACEHOLDER = re.compile(
    r"example|changeme|change[-_]me|placeholder|your[-_ ]?|xxx|\*\*\*|\.\.\.|…|redacted|dummy"
    r"|insert[-_]|replace[-_]|<[^>]{0,80}>|^\[(?:secret|private|file)\b|\$\{|\$\(|%\(|\{\{|^[$%{<]|\{[\w.]{0,40}\}|not[-_]set|undefined|null$",
    re.IGNORECASE,
)
# A word with a number that is part of its name.
_NAMED = re.compile(
    r"(?:oauth|utf|sha|md|base|latin|rsa|ed|hmac|aes|hs|rs|es|ps|ipv|http|pbkdf|bcrypt|argon|python|py|k8s|s|v|x|p|w"
    r"|ec|cp|iso|int|uint|float|str|arg|arm|amd|win|x86_|level|step|part|test|user|key|token|line|id)\d{1,5}",
    re.IGNORECASE,
)
_PART = re.compile(r"[A-Za-z]?[a-z]*|[A-Z]+|\d{1,2}")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|[\s_./:,;|@#()\[\]{}\\-]+")
_CALL = re.compile(r"[A-Za-z_][\w.]*[(\[]|self\.|this\.|os\.|process\.|env\.")
_PATH = re.compile(r"(?:~|\.{1,2})/|/[\w.-]+/|[A-Za-z]:\\")


def is_placeholder(value: str) -> bool:
    return bool(_PLACEHOLDER.search(value)) or len(set(value)) < 4


def is_plain(value: str) -> bool:
    """Made of words, or of names that words and numbers make."""
    parts = [part for part in _CAMEL.split(value) if part]
    return all(_PART.fullmatch(part) or _NAMED.fullmatch(part) for part in parts)


def is_code(value: str) -> bool:
    """A call, an attribute or a path: it says where a value is, not which."""
    return bool(_CALL.match(value) or _PATH.match(value))


def has_both(value: str) -> bool:
    """Letters, and something that is none."""
    return any(c.isalpha() for c in value) and any(
        c.isdigit() or c in "!@#$%^&*+~?=" for c in value
    )


def is_secret(value: str, least: int = 8) -> bool:
    return (
        len(value) >= least
        and value[0] not in ",;:)]}"
        and has_both(value)
        and not (is_placeholder(value) or is_code(value) or is_plain(value))
    )


def is_random(value: str, least: int = 16) -> bool:
    """As a machine makes it: long, with several digits between letters."""
    return is_secret(value, least) and sum(c.isdigit() for c in value) >= 2
