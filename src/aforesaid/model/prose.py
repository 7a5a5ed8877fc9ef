"""The prose of an observation: where its bullets, sentences and clauses part, and how long it may be (C3)."""

import re

TITLE_WORDS = 8
SUBTITLE_WORDS = 24
FACT_LENGTH = 150  # characters
FACTS, CONCEPTS = 7, 5

# Three digits at the beginning of a line are a number (`404.`), not the mark of an item.
BULLET = re.compile(r"^\s*(?:[-*+•‣●–]|\d{1,2}[.)]|\[[ xX]\])\s+")
# A sentence begins with a name, a path or anything but a small letter, perhaps in quotes or brackets. In
# scripts without spaces a stop is enough.
SENTENCE_END = re.compile(
    r"(?<=[.!?。！？])[\"'”’)\]]*\s+(?=[`/$@]|[\"'“‘(\[*]*[^\Wa-z])|(?<=[。！？])(?=\S)"
)
CLAUSE_END = re.compile(r";\s+|,\s+(?=(?:and|but|so)\s)")
ABBREVIATIONS = frozenset(
    {"e.g.", "i.e.", "vs.", "cf.", "etc.", "approx.", "no.", "incl.", "resp."}
)
LONGEST_ABBREVIATION = max(map(len, ABBREVIATIONS))


def sentences(text: str) -> list[str]:
    """In order, each on one line, without bullets. A line of its own is one or more. No word is lost."""
    lines = (BULLET.sub("", line) for line in text.split("\n"))
    parts = (part for line in lines for part in split(line, SENTENCE_END))
    return [line for part in parts if (line := " ".join(part.split()))]


def split(text: str, ends: re.Pattern[str]) -> list[str]:
    """The marks of an end, such as those that close a quotation, stay with what they end."""
    parts, start = [], 0
    for gap in ends.finditer(text):
        if not _is_abbreviated(text[start : gap.start()]):
            parts.append((text[start : gap.start()] + gap[0]).strip())
            start = gap.end()
    return [*parts, text[start:].strip()]


def _is_abbreviated(part: str) -> bool:
    last = part[-LONGEST_ABBREVIATION - 1 :].split()[-1:]
    return bool(last) and last[0].casefold() in ABBREVIATIONS
