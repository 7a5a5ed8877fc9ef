"""Links between memories, after some of them have gone.

A link to a memory that was replaced leads to the one that replaced it; any other dead link becomes the words
that it was made of. What only looks like a memory (`README.md`) is left alone.
"""

import re
from collections.abc import Callable
from urllib.parse import quote

from recollect.memory.storage.checking import LINK, linked
from recollect.memory.storage.format import ENDING

LABEL = re.compile(r"\[([^\]\n]*)\]\(")
OTHER_LABEL = re.compile(r"\[\[[^\[\]|#\n]+(?:#[^\[\]|\n]*)?\|([^\[\]\n]*)\]\]")
Where = Callable[[str], str | None]


def mended(body: str, is_dead: Callable[[str], bool], successor: Where) -> str:
    def mend(link: re.Match[str]) -> str:
        name = linked(link)
        if name is None or not is_dead(name):
            return link[0]
        by = successor(name)
        label = LABEL.match(link[0]) or OTHER_LABEL.match(link[0])
        if by is None:
            return label[1] if label else name
        if link[2]:
            return f"[[{by}|{label[1]}]]" if label else f"[[{by}]]"
        return f"[{label[1] if label else by}]({quote(by)}{ENDING})"

    return LINK.sub(mend, body)
