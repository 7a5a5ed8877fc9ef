"""Observations as they were before they had parts: a type and a sentence or two. Lifted, they look like any
other: the words are cut into a title, a subtitle and facts, and the narrative keeps all of them.
"""

import re

from recollect.model.observations import FALLBACK_TYPE, TYPES, ObservationDraft
from recollect.text import ELLIPSIS, clean, cut, words

TITLE_LEAST, TITLE_MOST = 3, 8  # words
TITLE_LENGTH = 80  # characters, for scripts that write no spaces
SUBTITLE_MOST = 24
SUBTITLE_LENGTH = 240
FACT_MOST = 150

OTHER_NAMES = {"fix": "bugfix", "bug": "bugfix", "bugfixes": "bugfix", "refactoring": "refactor"}
ABBREVIATIONS = frozenset(
    {"e.g.", "i.e.", "vs.", "cf.", "etc.", "approx.", "no.", "incl.", "resp."}
)
# A stop is the end of a sentence before a space and no small letter, or anywhere in scripts without spaces.
SENTENCE_END = re.compile(r"(?<=[.!?])[\"'”’)\]]*\s+(?=[^\sa-z])|(?<=[。！？])\s*|\s*\n\s*")
CLAUSE_END = re.compile(
    r"[,;:(]\s|\s[–—-]\s|[，；：、]|\s(?:so that|because|which|instead of|after)\s"
)
JOINT = re.compile(r";\s+|,\s+(?=(?:and|but|so|which|because)\s)")
CONJUNCTION = re.compile(r"^(?:and|but|so)\s+")
LOOSE_ENDS = frozenset(
    words(
        "a an after and as at before but by for from if in into is its nor of on or per so than that the "
        "their then this to under until using via was were when which while with without are be not no"
    )
)
OPENINGS = frozenset(words("after because before by so until using via when which while without"))
BULLET = re.compile(r"^\s*(?:[-*•‣–]|\d{1,2}[.)])\s+")


def known_type(said: str) -> str:
    """One of ours, however it was spelt. What names none of them, or several, is the fallback."""
    found = re.findall(r"[a-z]+", clean(said).casefold())
    whole = "".join(found)
    if OTHER_NAMES.get(whole, whole) in TYPES:
        return OTHER_NAMES.get(whole, whole)
    named = {OTHER_NAMES.get(word, word) for word in found} & set(TYPES)
    return named.pop() if len(named) == 1 else FALLBACK_TYPE


def lifted(kind: str, text: str) -> ObservationDraft:
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


def sentences(text: str) -> list[str]:
    """In order, each on one line. No word is lost."""
    found: list[str] = []
    for part in _split(text, SENTENCE_END):
        line = " ".join(BULLET.sub("", part).split())
        if found and found[-1].rsplit(None, 1)[-1].casefold() in ABBREVIATIONS:
            found[-1] = f"{found[-1]} {line}"
        elif line:
            found.append(line)
    return found


def _split(text: str, separator: re.Pattern[str]) -> list[str]:
    """What closes a quotation stays with its sentence, so the separator's own marks are kept."""
    parts, start = [], 0
    for gap in separator.finditer(text):
        parts.append(text[start : gap.start()] + gap[0].rstrip())
        start = gap.end()
    return [*parts, text[start:]]


def _title(sentence: str) -> str:
    """The first clause, if it is enough for a title; else as many words as a title has."""
    for end in CLAUSE_END.finditer(sentence):
        if len(sentence[: end.start()].split()) >= TITLE_LEAST or (
            end[0] in "，；：、" and end.start() >= TITLE_LEAST
        ):
            sentence = sentence[: end.start()]
            break
    found = sentence.rstrip(" .,;:!。！？").split()
    kept = found[:TITLE_MOST]
    # A cut phrase must not end in `by` or `by storing`.
    while len(kept) < len(found) and len(kept) > TITLE_LEAST and _loose(kept[-2:]):
        kept.pop()
    return cut(" ".join(kept).rstrip(",;:("), TITLE_LENGTH)


def _loose(end: list[str]) -> bool:
    before, last = (word.lower() for word in end)
    return last in LOOSE_ENDS or before in OPENINGS


def _subtitle(found: list[str], title: str | None) -> str | None:
    """The first sentence that says more than the title, within the words that a subtitle has."""
    for sentence in found:
        if title is not None and sentence.rstrip(" .!。！") != title:
            told = sentence.split()
            short = " ".join(told[:SUBTITLE_MOST])
            whole = len(told) <= SUBTITLE_MOST
            return cut(short if whole else short.rstrip(" ,;:") + ELLIPSIS, SUBTITLE_LENGTH)
    return None


def _facts(sentence: str) -> list[str]:
    """One statement each: a sentence that is too long for one is parted where its clauses join."""
    if len(sentence) <= FACT_MOST:
        return [sentence] if any(map(str.isalnum, sentence)) else []
    facts: list[str] = []
    for clause in filter(None, map(str.strip, _split(sentence, JOINT))):
        if facts and len(facts[-1]) + len(clause) < FACT_MOST:
            facts[-1] = f"{facts[-1]} {clause}"
        else:
            facts.append(clause)
    return [part for fact in facts for part in _pieces(CONJUNCTION.sub("", fact).rstrip(",;"))]


def _pieces(fact: str) -> list[str]:
    """At words, or anywhere in a script without spaces."""
    pieces = [""]
    for word in fact.split():
        for part in (word[i : i + FACT_MOST] for i in range(0, len(word), FACT_MOST)):
            if pieces[-1] and len(pieces[-1]) + 1 + len(part) > FACT_MOST:
                pieces.append(part)
            else:
                pieces[-1] = f"{pieces[-1]} {part}".strip()
    return [piece for piece in pieces if any(map(str.isalnum, piece))]
