"""Whether a note is what the user said.

An agent may have read the note somewhere, and whoever wrote it there would like to pass as the user. So its
word does not count: the note is the user's if its sentences stand in a prompt, whole and one after the other.
Part of a sentence will not do: "deploy on Fridays" stands in "never deploy on Fridays" too.
"""

import re
from collections.abc import Iterable

from recollect.model.prose import sentences

LEAD = re.compile(r"(?:please,? )?(?:remember|note|keep in mind)(?: that)?[:,]? ")
AROUND = " \t\"'`“”‘’«».!:"


def are_in(prompts: Iterable[str], text: str) -> bool:
    said = _sentences(text)
    return bool(said) and any(_follow_each_other(said, _sentences(prompt)) for prompt in prompts)


def _follow_each_other(said: list[str], prompt: list[str]) -> bool:
    starts = (n for n, sentence in enumerate(prompt) if sentence == said[0])
    return any(prompt[start : start + len(said)] == said for start in starts)


def _sentences(text: str) -> list[str]:
    """Without what may be different between what was said and what is noted of it."""
    plain = (sentence.casefold().strip(AROUND) for sentence in sentences(text))
    return [kept for each in plain if (kept := each[_lead(each) :].strip(AROUND))]


def _lead(sentence: str) -> int:
    found = LEAD.match(sentence)
    return found.end() if found else 0
