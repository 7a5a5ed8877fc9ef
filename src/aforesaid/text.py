"""Text that came from outside, made safe and short enough to show.

Everything captured is untrusted: it may carry terminal escapes, bidirectional overrides, lone
surrogates or our own envelope tags. `clean` is the one place that removes them.
"""

import re
import unicodedata
from pathlib import Path

from aforesaid.lookalikes import UNSEEN, disarmed

ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
ELLIPSIS = "…"
KEPT_CONTROLS = "\n\t"
ASCII_CONTROLS = {n: None for n in (*range(32), 127) if chr(n) not in KEPT_CONTROLS}


def clean(text: str) -> str:
    """Without escapes, control and format characters; line ends become newlines."""
    plain = ESCAPES.sub("", text).replace("\r\n", "\n").replace("\r", "\n")
    if plain.isascii():
        return plain.translate(ASCII_CONTROLS)
    plain = plain.replace("\u2028", "\n").replace("\u2029", "\n").translate(UNSEEN)
    return "".join(c for c in plain if c in KEPT_CONTROLS or unicodedata.category(c)[0] != "C")


def cut(text: str, limit: int) -> str:
    """At most `limit` characters, ended at a word where there is one, and the cut is marked."""
    if len(text) <= limit:
        return text
    head = text[: max(0, limit - 1)]
    at_word = head.rsplit(None, 1)[0] if " " in head[limit // 2 :] else head
    return at_word.rstrip(" ,;:.-") + ELLIPSIS


def one_line(text: str, limit: int) -> str:
    """Clean, on one line, cut. Only a multiple of the limit is looked at: inputs can be huge."""
    return cut(" ".join(clean(text[: limit * 8 + 256]).split()), limit)


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text)


def load_sections(path: Path) -> dict[str, list[str]]:
    """The lines of a data file by `[section]`, without comments. Indented lines continue the one before."""
    sections: dict[str, list[str]] = {}
    for line in path.read_text("utf-8").replace("\n  ", " ").splitlines():
        if re.fullmatch(r"\[[^\]\\]+\]", line):
            lines = sections[line[1:-1]] = []
        elif line and not line.startswith("# "):
            lines.append(line)
    return sections


def tokens(text: str) -> int:
    """About how many tokens a model counts. Four characters each fits English and code; scripts
    without spaces cost about one token a character."""
    wide = 0 if text.isascii() else sum(1 for c in text if ord(c) > 0x2E80)
    return (len(text) - wide + 3) // 4 + wide


def fenced(text: str) -> str:
    """Clean, and unable to end the envelope it is put in or to look like the client's own tags."""
    return disarmed(clean(text))


def sqlite_safe(text: str) -> str:
    """Lone surrogates cannot be stored as text, and a NUL ends a string for LIKE and length()."""
    if text.isascii() and "\0" not in text:
        return text
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", "\ufffd")
