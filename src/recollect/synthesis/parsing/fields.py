"""The text of one field of a model's reply: cleaned, its spaces put right, taken apart where it is a list."""

import re
from collections.abc import Iterable

from recollect.model.prose import BULLET
from recollect.text import clean, cut

LONGEST_FIELD = 20_000  # characters: many times what is asked for
FENCE = "```"
QUOTES = tuple("`\"'")
# What small models copy from a description of the form instead of filling it in.
PLACEHOLDERS = frozenset(
    {"n/a", "none", "null", "nil", "nothing", "tbd", "title", "subtitle", "fact", "narrative"}
    | {"short title", "short title (3-8 words)", "title (3-8 words)", "path/to/file"}
)


def unwrapped(text: str) -> str:
    """On one line, however many it was written on."""
    return cut(" ".join(clean(text).split()), LONGEST_FIELD)


def said(text: str) -> str | None:
    line = unwrapped(text)
    return None if is_empty(line) else line


def is_empty(text: str) -> bool:
    """Nothing, or what only stands where words should be."""
    if not any(map(str.isalnum, text)):
        return True
    return len(text) < 40 and text.strip("[]{}<>.… ").lower() in PLACEHOLDERS


def paragraphs(text: str) -> str | None:
    """Lines and paragraphs kept, spaces put right, without a code fence that nothing matches."""
    lines = [line.rstrip() for line in clean(text).strip().split("\n")]
    if sum(line.lstrip().startswith(FENCE) for line in lines) % 2:
        last = max(n for n, line in enumerate(lines) if line.lstrip().startswith(FENCE))
        del lines[last]
    plain = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
    return None if is_empty(plain) else plain


def capped(text: str) -> str:
    return cut(text, LONGEST_FIELD)


def more(text: str | None, *told: str | None) -> list[str]:
    return [] if text is None or text in told else [text]


def once(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))


def items(text: str, *, bulleted: bool = False) -> list[str]:
    """One per line, or one per bullet if there are bullets. `bulleted`: only bullets part it."""
    lines = [line for line in clean(text).split("\n") if line.strip()]
    bullets = [bool(BULLET.match(line)) for line in lines]
    if bulleted and not all(bullets):
        found = [" ".join(lines)]
    elif not any(bullets):
        found = lines
    else:
        found = []
        for line, begins in zip(lines, bullets, strict=True):
            if begins or not found:
                found.append(line)
            else:
                found[-1] += f" {line}"
    short = (cut(" ".join(BULLET.sub("", item).split()), LONGEST_FIELD) for item in found)
    return [item for item in short if not is_empty(item)]


def parted(line: str) -> list[str]:
    """At commas, without the quotes around each."""
    found = (part.strip() for part in line.split(","))
    bare = (part[1:-1] if part[:1] in QUOTES and part[-1:] == part[:1] else part for part in found)
    return [part.strip() for part in bare if part.strip()]


def paths(text: str) -> list[str]:
    return [path for line in items(text) for path in parted(line)]
