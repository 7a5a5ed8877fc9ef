"""Corrections: what replaces what, and the memory that says the old."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from aforesaid.english import STOP_WORDS
from aforesaid.memory.extraction.sentences import CUES, KINDS
from aforesaid.model.memories import Memory
from aforesaid.model.prose import sentences
from aforesaid.similarity import parse_sentences, text_words

SWAPS = [CUES[name] for name in CUES if name.startswith("swap_")]
SHORT = [CUES[name] for name in CUES if name.startswith("short_")]
VERSION = re.compile(r"^(?P<name>[A-Za-z][\w.+#-]*)\s+v?\d+(?:\.\d+)*$")
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
# A memory that says what is used, and not merely names it.
_USES = "(?:use|uses|used|using|prefers?|with|via|through|on|in|to|is|are|by|only|supports?|runs?)"
_AFTER = "(?:to|for|in|as|when|over|not|and|or|from|on|under|at|with|by|instead|here)"
MIN_ECHO = 0.5  # of the memory's words, in what the assistant had said


@dataclass(frozen=True, slots=True)
class Correction:
    """`old` or `new` is empty if it was not said. `about`: the assistant's sentence that a short correction
    refers to. `where`: what it is limited to."""

    old: str
    new: str
    about: str = ""
    where: str = ""


def read_correction(sentence: str) -> Correction | None:
    found = next(filter(None, (pattern.search(sentence) for pattern in SWAPS)), None)
    return _make_correction(found, sentence[found.end() :]) if found else None


def read_short(sentence: str, before: str) -> Correction | None:
    """`not 80 columns, 100` corrects what the assistant has just said; `no, use spaces instead` a memory."""
    if (found := CUES["instead"].match(sentence)) and found["new"].strip("`\"'").lower() in KINDS:
        return Correction("", found["new"].strip("`\"'"))
    for found in filter(None, (pattern.match(sentence) for pattern in SHORT)):
        made = _make_correction(found, "")
        for line in sentences(before):
            if has_word(line, made.old) and made.old.lower() not in STOP_WORDS:
                return replace(made, about=line)
    return None


def _make_correction(found: re.Match[str], rest: str) -> Correction:
    def bare(term: str) -> str:
        return (
            CUES["article"]
            .sub("", CUES["term_rest"].sub("", term.strip(" `\"'“”,")))
            .strip("`\"'“” .")
        )

    limit = CUES["limit"].match(rest)
    return Correction(bare(found["old"]), bare(found["new"]), where=limit["to"] if limit else "")


def contradicted(correction: Correction, memories: Iterable[Memory]) -> tuple[Memory, str] | None:
    """The one memory that says the old, and the old as it is written there; None if there are several."""
    found = [(memory, old) for memory in memories if (old := _old_in(memory, correction))]
    return found[0] if len(found) == 1 else None


def _old_in(memory: Memory, correction: Correction) -> str | None:
    text = f"{memory.description}\n{memory.body.partition('**Why:**')[0]}"
    if correction.new and has_word(text, correction.new):
        return None
    limits = {word for each in parse_sentences(correction.where) for word in each.telling}
    if limits and limits.isdisjoint(text_words(text)):
        return None
    if correction.about:
        about = {word for each in parse_sentences(memory.description) for word in each.about}
        near = len(about & text_words(correction.about)) >= MIN_ECHO * len(about)
        return correction.old if near and has_word(text, correction.old) else None
    if correction.old:
        return correction.old if _uses_term(text, correction.old) else None
    return _other_version(text, correction.new) or _other_tool(text, correction.new)


def has_word(text: str, word: str) -> bool:
    return bool(word) and _whole_word(word).search(text) is not None


def _whole_word(word: str) -> re.Pattern[str]:
    pattern = rf"(?<![\w-])(?<!\d[.,]){re.escape(word)}(?![\w-])(?![.,]\d)"
    return re.compile(pattern, re.IGNORECASE)


def _uses_term(text: str, word: str) -> bool:
    named = rf"(?:the |an? |our )?[`\"']?{re.escape(word)}[`\"']?"
    pattern = rf"\b{_USES}\s+{named}(?=\s*$|\s*[.,;:!)]|\s+{_AFTER}\b)"
    return re.search(pattern, text, re.IGNORECASE | re.MULTILINE) is not None


def _other_version(text: str, new: str) -> str | None:
    version = VERSION.match(new)
    if not version:
        return None
    pattern = rf"(?<![\w-]){re.escape(version['name'])}\s+v?\d+(?:\.\d+)*(?![\w-])"
    found = set(re.findall(pattern, text, re.IGNORECASE))
    return found.pop() if len(found) == 1 else None


def _other_tool(text: str, new: str) -> str | None:
    """The only tool that it names, of the same kind."""
    kind = KINDS.get(new.lower().partition(" ")[0])
    others = {word for word in re.findall(r"[\w-]+", text.lower()) if KINDS.get(word) == kind}
    if kind is None or len(others) != 1:
        return None
    (other,) = others
    return other if _uses_term(text, other) else None


def replace_term(text: str, old: str, new: str) -> str:
    """Replaces the old by the new. Of `80 columns` and `100`, only the number is replaced."""
    numbers = NUMBER.findall(old), NUMBER.findall(new)
    units = (NUMBER.sub("", each).strip().lower() for each in (old, new))
    if len(numbers[0]) == len(numbers[1]) == 1 and len(set(units)) == 2:
        old, new = numbers[0][0], numbers[1][0]
    return _whole_word(old).sub(lambda _: new, text)


def correct_memory(memory: Memory, new: Memory, correction: Correction, old: str) -> Memory:
    """Another version or number replaces the old one in place; anything else replaces the sentences that say
    the old. Reasons that mention the old are dropped."""
    if not correction.old or correction.about:
        reasons = [line for line in memory.body.split("\n") if line.startswith("**")]
        text = _without("\n".join(reasons), old)
        said = "\n".join(line for line in memory.body.split("\n") if line not in reasons).strip()
        description = replace_term(memory.description, old, correction.new)
        parts = (replace_term(said, old, correction.new), new.body, text)
    else:
        description, parts = new.description, (new.body, _without(memory.body, old), "")
    return replace(memory, description=description, body="\n\n".join(filter(None, parts)))


def _without(text: str, old: str) -> str:
    """The lines and sentences that do not mention the old."""
    lines = (
        " ".join(each for each in sentences(line) if not has_word(each, old))
        if has_word(line, old)
        else line
        for line in text.split("\n")
    )
    return "\n".join(lines).strip()
