"""Whether a note is what the user said.

An agent may have read the note somewhere, and whoever wrote it there would like to pass as the user. So its
word does not count: the note is the user's if its sentences stand in a prompt, whole and one after the other,
and neither in a quotation nor in something that was pasted. Part of a sentence will not do: "deploy on
Fridays" stands in "never deploy on Fridays" too.
"""

import re
from collections.abc import Iterable

from recollect.memory.extraction.own_words import own_sentences
from recollect.model.prose import sentences

LEAD = re.compile(r"(?:please,? )?(?:remember|note|keep in mind)(?: that)?[:,]? ")
QUOTATION = re.compile(r'"[^"]{1,4000}"|“[^”]{1,4000}”|«[^»]{1,4000}»|„[^“]{1,4000}“')
ENDS = re.compile(r"[.!?](?:\s|.$)|\n")  # a sentence, within a quotation
AROUND = " \t\"'`“”‘’«».!:"


def are_in(prompts: Iterable[str], text: str) -> bool:
    said = _plain(own_sentences(text)) or _plain(sentences(text))
    spoken = (
        _plain(own_sentences(QUOTATION.sub(_without_sentences, prompt))) for prompt in prompts
    )
    return bool(said) and any(_follow_each_other(said, each) for each in spoken)


def _without_sentences(quoted: re.Match[str]) -> str:
    return " " if ENDS.search(quoted[0]) else quoted[0]


def _follow_each_other(said: list[str], prompt: list[str]) -> bool:
    starts = (n for n, sentence in enumerate(prompt) if sentence == said[0])
    return any(prompt[start : start + len(said)] == said for start in starts)


def _plain(parts: Iterable[str]) -> list[str]:
    """Without what may be different between what was said and what is noted of it."""
    plain = (" ".join(sentence.casefold().split()).strip(AROUND) for sentence in parts)
    return [kept for each in plain if (kept := each[_lead(each) :].strip(AROUND))]


def _lead(sentence: str) -> int:
    found = LEAD.match(sentence)
    return found.end() if found else 0
