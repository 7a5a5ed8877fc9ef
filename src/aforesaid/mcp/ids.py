"""Ids as agents write them."""

import re

from aforesaid.model.memories import MEMORY
from aforesaid.model.search import EVENT, OBSERVATION, PROMPT, SESSION, SUMMARY
from aforesaid.parameters import Misused
from aforesaid.text import fenced, one_line

KINDS = (OBSERVATION, SUMMARY, PROMPT, SESSION, EVENT)
NUMBERED = re.compile(
    rf"(?:({'|'.join(KINDS)})s?(?:\s*[:#]\s*|\s+)|#?)([0-9]{{1,15}})", re.IGNORECASE
)
# A memory's name, marked as such or with a letter in it; a link or a path to its file is accepted too.
OF_MEMORY = re.compile(
    r"(?:memor(?:y|ies)\s*[:#/]\s*([\w.-]{1,100}?)|([\w.-]*[^\W\d][\w.-]*-[\w.-]*?))(?:\.md)?",
    re.IGNORECASE,
)
NOT_MEMORY = re.compile(rf"(?:{'|'.join(KINDS)})s?-[0-9]", re.IGNORECASE)  # such as session-3
FORMS = "12 or #12 for an observation, else summary:5, prompt:7, session:3, event:9 or memory:NAME"
LONGEST = 120


def parse_number(text: str) -> tuple[str, int]:
    """(kind, number). Raises Misused for a memory."""
    kind, which = parse_id(text)
    if isinstance(which, str):
        forms = FORMS.rpartition(" or ")[0]
        raise Misused(f"{_quote(text)} is a memory. Here, write {forms}.")
    return kind, which


def parse_id(text: str) -> tuple[str, int | str]:
    """(kind, number), or (memory, name). Raises Misused, which says how ids are written."""
    short = text.strip() if len(text) <= LONGEST else ""
    if found := NUMBERED.fullmatch(short):
        return (found[1] or OBSERVATION).lower(), int(found[2])
    found = OF_MEMORY.fullmatch(short)
    if found and not NOT_MEMORY.match(found[2] or ""):
        return MEMORY, found[1] or found[2]
    raise Misused(f"{_quote(text)} is not an id. Write {FORMS}.")


def _quote(text: str) -> str:
    return repr(fenced(one_line(text, 40)))
