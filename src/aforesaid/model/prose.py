"""The prose of an observation: where its bullets, sentences and clauses part, and how long it may be (C3)."""

import re

from aforesaid.model.observations import ObservationDraft, known_type
from aforesaid.text import ELLIPSIS, clean, cut, words

TITLE_WORDS, LEAST_TITLE_WORDS = 8, 3
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


TITLE_LENGTH, SUBTITLE_LENGTH = 80, 240  # characters, for scripts that write no spaces
# Where a title may end: it needs less of a sentence than a fact does, so it is parted at more marks.
TITLE_END = re.compile(
    r"[,;:(]\s|\s[–—-]\s|[，；：、]|\s(?:so that|because|which|instead of|after)\s"
)
CONJUNCTION = re.compile(r"^(?:and|but|so)\s+")
LOOSE_ENDS = frozenset(
    words(
        "a an after and as at before but by for from if in into is its nor of on or per so than that the "
        "their then this to under until using via was were when which while with without are be not no"
    )
)
OPENINGS = frozenset(words("after because before by so until using via when which while without"))


def parse_flat_text(kind: str, text: str) -> ObservationDraft:
    whole = clean(text).strip()
    found = sentences(whole)
    title = _title(found[0]) if found else None
    return ObservationDraft(
        type=known_type(kind),
        title=title,
        subtitle=_subtitle(found, title),
        facts=tuple(dict.fromkeys(fact for each in found for fact in _facts(each))),
        narrative=whole or None,
    )


def _title(sentence: str) -> str:
    """The first clause, if it is enough for a title; else as many words as a title has."""
    for end in TITLE_END.finditer(sentence):
        if len(sentence[: end.start()].split()) >= LEAST_TITLE_WORDS or (
            end[0] in "，；：、" and end.start() >= LEAST_TITLE_WORDS
        ):
            sentence = sentence[: end.start()]
            break
    found = sentence.rstrip(" .,;:!。！？").split()
    kept = found[:TITLE_WORDS]
    # A cut phrase must not end in `by` or `by storing`.
    while len(kept) < len(found) and len(kept) > LEAST_TITLE_WORDS and _loose(kept[-2:]):
        kept.pop()
    return cut(" ".join(kept).rstrip(",;:("), TITLE_LENGTH)


def _loose(end: list[str]) -> bool:
    before, last = (word.lower() for word in end)
    return last in LOOSE_ENDS or before in OPENINGS


def _subtitle(found: list[str], title: str | None) -> str | None:
    """The first sentence that says more than the title, within the words that a subtitle has."""
    for sentence in found:
        if title is not None and sentence.rstrip(" .!。！") != title:
            found_words = sentence.split()
            short = " ".join(found_words[:SUBTITLE_WORDS])
            whole = len(found_words) <= SUBTITLE_WORDS
            return cut(short if whole else short.rstrip(" ,;:") + ELLIPSIS, SUBTITLE_LENGTH)
    return None


def _facts(sentence: str) -> list[str]:
    """One statement each: a sentence that is too long for one is parted where its clauses join."""
    if len(sentence) <= FACT_LENGTH:
        return [sentence] if any(map(str.isalnum, sentence)) else []
    facts: list[str] = []
    for clause in filter(None, split(sentence, CLAUSE_END)):
        if facts and len(facts[-1]) + len(clause) < FACT_LENGTH:
            facts[-1] = f"{facts[-1]} {clause}"
        else:
            facts.append(clause)
    return [part for fact in facts for part in _pieces(CONJUNCTION.sub("", fact).rstrip(",;"))]


def _pieces(fact: str) -> list[str]:
    """At words, or anywhere in a script without spaces."""
    pieces = [""]
    for word in fact.split():
        for part in (word[i : i + FACT_LENGTH] for i in range(0, len(word), FACT_LENGTH)):
            if pieces[-1] and len(pieces[-1]) + 1 + len(part) > FACT_LENGTH:
                pieces.append(part)
            else:
                pieces[-1] = f"{pieces[-1]} {part}".strip()
    return [piece for piece in pieces if any(map(str.isalnum, piece))]
