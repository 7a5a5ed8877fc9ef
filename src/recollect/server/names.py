"""Ids as agents write them. Results call things as everything else does (`recall.telling.name`)."""

import re

from recollect.model.search import EVENT, OBSERVATION, PROMPT, SESSION, SUMMARY
from recollect.text import fenced, one_line

KINDS = (OBSERVATION, SUMMARY, PROMPT, SESSION, EVENT)
NAME = re.compile(rf"(?:({'|'.join(KINDS)})s?(?:\s*[:#]\s*|\s+)|#?)([0-9]{{1,15}})", re.IGNORECASE)
FORMS = "12 or #12 for an observation, else summary:5, prompt:7, session:3 or event:9"
LONGEST = 60


def parse(text: str) -> tuple[str, int]:
    """(kind, number). ValueError tells how an id is written."""
    found = NAME.fullmatch(text.strip()) if len(text) <= LONGEST else None
    if found is None:
        raise ValueError(f"{fenced(one_line(text, 40))!r} is not an id. Write {FORMS}.")
    return (found[1] or OBSERVATION).lower(), int(found[2])
