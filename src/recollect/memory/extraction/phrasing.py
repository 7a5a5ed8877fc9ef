"""A user's sentence as a memory: a line that says it, why it was said, and when it applies.

Words are left out and turned round only where nothing can go wrong; the sentence itself stays in the body.
"""

import re

from recollect.memory.extraction.clauses import FUTURE, OPENING, POLITE
from recollect.memory.extraction.own_words import masked
from recollect.memory.storage.names import slug
from recollect.text import one_line, words

LONGEST_LINE = 200
LONGEST_BODY = 2_000
MOST_WORDS = 8  # of a name
LEAST_WORDS = 3  # `so yes` is no way to apply anything
LEAVE_OUT = re.compile(
    r"\b(?:the user(?:'s)?|the|an?|is|are|be|to|you|your|that|of|from now on|please|it|we|in this (?:repo"
    r"|project)|and|so|also|i(?:'[dm]|'ve|'ll)?(?![/'])|my|me)\b",
    re.IGNORECASE,
)
REMEMBER = re.compile(
    r"^(?:please )?(?:remember|keep in mind|bear in mind|don't forget|do not forget|note|take note"
    r"|be aware|make a note|memori[sz]e)(?: this| the following)?"
    r"(?:\s*[:,]\s*(?:that )?|\s[–—-]+\s| that | to |(?<!note)(?<!aware)\s)",
    re.IGNORECASE,
)
# `First names are`, `OK responses have`: a part of what is spoken of, and no opening.
SUBJECT = re.compile(
    r"(?:first|second|ok|okay|so|well|please|right|now|actually|yes|also)\s+(?:(?!(?:i|we|you|it|always|never|do"
    r"|don't|use|please|that|the|this|these|our|my|your|all|every|no)\b)\w+\s+){0,2}"
    r"(?:is|are|was|were|has|have|last|live|lives)\b",
    re.IGNORECASE,
)
ADDRESS = re.compile(r"https?://\S+")
PLEASE = re.compile(r",? (?:please|pls|thanks|thank you)$", re.IGNORECASE)
WHY = re.compile(
    r",?\s+(?:because|so that|since(?= (?:we|i|it|the|they|our|that|this|you|there|my)\b)"
    r"|otherwise)\s+(?P<why>\S.*)$|\s+\((?:because|since)\s+(?P<inner>[^)]+)\)",
    re.IGNORECASE,
)
SO = re.compile(r",\s+so\s+(?!that\b)(?P<how>\S.*)$", re.IGNORECASE)
OFTEN = re.compile(
    r"^(?P<when>(?:whenever|every ?time|each time|any ?time|(?:before|after) (?:each|every|any))\b[^,]*),",
    re.IGNORECASE,
)
A_REASON = re.compile(
    r"^(?:because|the reason is(?: that)?|reason:|that's because|otherwise)\s+(?P<why>\S.*)$",
    re.IGNORECASE,
)
# Another person, or a second verb: then more than the beginning would have to be turned round.
TWO_THINGS = re.compile(
    r"\b(?:i|i'm|i'd|i've|me|my|mine|we|us|our|you|your|and|but|or)\b|,(?! not\b)", re.IGNORECASE
)
_MORE = r"(?: also| really| definitely| still| do| very much| much| strongly| too)*"
_OFTEN = r"(?P<often> generally| usually| always| mostly)?"
THIRD = tuple(
    (re.compile(rf"^{first}\b", re.IGNORECASE), third)
    for first, third in (
        (rf"i{_MORE}{_OFTEN}{_MORE} prefer", r"The user\g<often> prefers"),
        (rf"i(?:'d| would){_MORE} prefer", "The user would prefer"),
        (rf"i(?:'d| would){_MORE} rather", "The user would rather"),
        (rf"i{_MORE}{_OFTEN}{_MORE} like", r"The user\g<often> likes"),
        (r"i(?:'m| am)(?: also)?", "The user is"),
        ("my", "The user's"),
    )
)


def described(sentence: str) -> str:
    """On one line, without what leads up to it and what follows from it."""
    line = sentence
    for part in (SO, WHY):
        if found := part.search(masked(line)):
            line = line[: found.start()] + line[found.end() :]
    plain = masked(line)
    for opening in (OPENING, REMEMBER, OPENING):
        found = opening.match(plain)
        if found and not (opening is OPENING and SUBJECT.match(plain)):
            line, plain = line[found.end() :], plain[found.end() :]
    if asked := POLITE.match(plain):
        line = line[asked.start("rest") : asked.end("rest")]
    line = PLEASE.sub("", line.strip(" ,;:-").rstrip(" .!?"))
    for pattern, put in THIRD:
        found = pattern.match(line)
        if found and not TWO_THINGS.search(line, found.end()):
            line = found.expand(put) + line[found.end() :]
            break
    return one_line(line[:1].upper() + line[1:], LONGEST_LINE)


def named(description: str) -> str:
    """What a memory that says this may be called."""
    telling = words(LEAVE_OUT.sub(" ", ADDRESS.sub(" ", description)).replace("'", ""))
    return slug(" ".join(telling[:MOST_WORDS]) or description)


def reasons(sentence: str, after: str = "") -> tuple[str, str]:
    """Why, and how to apply it, as far as that was said: in the sentence, or the why in the next one."""
    plain = masked(sentence)
    why = how = ""
    if found := WHY.search(plain):
        group = "why" if found["why"] else "inner"
        why = sentence[found.start(group) : found.end(group)]
    elif found := A_REASON.match(masked(after)):
        why = after[found.start("why") :]
    if (found := SO.search(plain)) and len(found["how"].split()) >= LEAST_WORDS:
        how = sentence[found.start("how") :]
    elif found := OFTEN.search(plain[_opening(plain) :]):
        how = sentence[_opening(plain) :][: found.end("when")]
    return _sentence(why), _sentence(how)


def _opening(plain: str) -> int:
    found = OPENING.match(plain)
    return found.end() if found else 0


def _sentence(text: str) -> str:
    text = FUTURE.sub("", text).strip(" ,;:")
    text = one_line(text[:1].upper() + text[1:], LONGEST_LINE)
    return text if not text or text[-1] in ".!?…" else f"{text}."


def body(statement: str, why: str = "", how: str = "") -> str:
    """As all memories are written."""
    parts = [statement.strip()[:LONGEST_BODY]]
    labels = [f"**Why:** {why}"] if why else []
    labels += [f"**How to apply:** {how}"] if how else []
    return "\n\n".join([*parts, "\n".join(labels)] if labels else parts)
