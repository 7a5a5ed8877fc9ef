"""Ids as agents write them. Results call things as everything else does (`recall.telling.name`)."""

import re

from recollect.model.memories import MEMORY
from recollect.model.search import EVENT, OBSERVATION, PROMPT, SESSION, SUMMARY
from recollect.text import fenced, one_line

KINDS = (OBSERVATION, SUMMARY, PROMPT, SESSION, EVENT)
NAME = re.compile(rf"(?:({'|'.join(KINDS)})s?(?:\s*[:#]\s*|\s+)|#?)([0-9]{{1,15}})", re.IGNORECASE)
# A memory's name, said as such or with a letter in it; a link or a path to its file is as good.
OF_MEMORY = re.compile(
    r"(?:memor(?:y|ies)\s*[:#/]\s*([\w.-]{1,100}?)|([\w.-]*[^\W\d][\w.-]*-[\w.-]*?))(?:\.md)?",
    re.IGNORECASE,
)
KIND = re.compile(rf"(?:{'|'.join(KINDS)})s?-[0-9]", re.IGNORECASE)  # a number gone wrong
FORMS = "12 or #12 for an observation, else summary:5, prompt:7, session:3, event:9 or memory:NAME"
LONGEST = 120


def parse(text: str) -> tuple[str, int]:
    """(kind, number). ValueError tells how an id is written."""
    kind, which = parse_any(text)
    if isinstance(which, str):
        raise ValueError(f"{_shown(text)} is a memory. Here, write {FORMS.rpartition(' or ')[0]}.")
    return kind, which


def parse_any(text: str) -> tuple[str, int | str]:
    """(kind, number), or (memory, name)."""
    short = text.strip() if len(text) <= LONGEST else ""
    if found := NAME.fullmatch(short):
        return (found[1] or OBSERVATION).lower(), int(found[2])
    found = OF_MEMORY.fullmatch(short)
    if found and not KIND.match(found[2] or ""):
        return MEMORY, found[1] or found[2]
    raise ValueError(f"{_shown(text)} is not an id. Write {FORMS}.")


def _shown(text: str) -> str:
    return repr(fenced(one_line(text, 40)))
