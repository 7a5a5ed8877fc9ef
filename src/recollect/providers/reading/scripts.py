"""Scripts that stand in a command line itself: in a here-document, or behind `-c` and `-e`.

Such a script has no name, so it gets a mark: equal marks mean the same script, letter for letter.
"""

import re
from collections.abc import Sequence
from hashlib import sha256

HEREDOC = re.compile(
    r"<<-?\s*(['\"]?)(\w+)\1(?P<rest>[^\n]*)\n(?P<body>.*?)(?:(?P<end>\n\s*\2\b)|\Z)", re.DOTALL
)
# Stands in a redirection before the mark of a here-document; no cleaned command has the character.
HERE = "<<\x01"
UNKNOWN = "?"
INTERPRETER = re.compile(r"(python|node|ruby|perl|php|lua|deno|bun|bash|zsh|sh)[\d.]*(?=\s|$)")
LANGUAGES = {"python": "Python", "ruby": "Ruby", "perl": "Perl", "php": "PHP", "lua": "Lua"}
SHELLS = ("bash", "zsh", "sh")
FLAGS = ("-c", "-e", "--eval")


def pull_out(line: str) -> str:
    """The line with a mark in place of each here-document."""
    return HEREDOC.sub(_marked, line)


def _marked(found: re.Match[str]) -> str:
    mark = _mark(found["body"]) if found["end"] else UNKNOWN
    return f"{HERE}{mark} {found['rest']}"


def script_of(bare: str, raw: Sequence[str], here: str) -> str:
    """The mark of the script that a command runs; nothing for a command that runs no such script.

    `bare` is the command without its wrappers, `raw` its words as written. It is `UNKNOWN` when the
    script was not seen to its end, or not at all.
    """
    found = INTERPRETER.match(bare)
    if found is None:
        return ""
    words = bare[found.end() :].split()
    if words and words[0] in FLAGS:
        return _mark("\0".join(raw))
    if here and all(word.startswith("-") for word in words):
        return here
    return UNKNOWN if words == ["-"] else ""


def described(bare: str) -> str:
    """`a Python script`: what to call a script from a here-document."""
    found = INTERPRETER.match(bare)
    name = found[1] if found else "sh"
    return f"a {'shell' if name in SHELLS else LANGUAGES.get(name, 'JavaScript')} script"


def _mark(script: str) -> str:
    return sha256(script.encode("utf-8", "replace")).hexdigest()[:16]
