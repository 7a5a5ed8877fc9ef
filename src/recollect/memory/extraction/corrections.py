"""What a user puts right: the old and the new in their words, and the one memory that says the old.

`use pnpm instead of npm` changes a memory that says to use npm, not one that tells of the nightly npm
audit. Where it is not plain which memory is meant, none is.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from recollect.english import STOP_WORDS
from recollect.memory.extraction.lasting import PLACES
from recollect.memory.extraction.tool_names import is_tool, kinds, same_kind
from recollect.memory.extraction.working_words import either
from recollect.memory.facts import said
from recollect.model.memories import Memory
from recollect.model.prose import sentences

_WORD = r"[`\"'“]?[\w@#][\w@./+#-]*[`\"'”%]?"
_TERM = rf"{_WORD}(?:\s+{_WORD}){{0,3}}?"
_ENDS = either(
    "in for on when whenever because since from here everywhere now please so as to at if by and but or "
    "going any_?more any_longer instead last this though a_while ages already some months weeks years"
)
_END = rf"(?=\s*(?:$|[.,;!)]|\s{_ENDS}\b))"
_LEAD = (
    r"^(?:\W|(?:no|nope|nah|actually|sorry|wrong|wait|please|well|hm+|ok|okay|but|it(?:'s| is)|that(?:'s| is)"
    r"|should be|make it)\b)*"
)
_USED = r"\b(?:use|using|uses|prefer|prefers|want|run|like)\s+"
REPLACED = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"{_USED}(?P<new>{_TERM})\s*,?\s+(?:instead of|rather than|in place of|over|and not)\s+"
        rf"(?P<old>{_TERM}){_END}",
        rf"{_USED}(?P<new>{_TERM}),\s+not\s+(?P<old>{_TERM}){_END}",
        r"\b(?:moved|switched|migrated|upgraded|changed|went)\b(?:\s+(?!from\b|to\b)[\w'-]+){0,4}?\s+from\s+"
        rf"(?P<old>{_TERM})\s+(?:over\s+)?to\s+(?P<new>{_TERM}){_END}",
        rf"\b(?:don't|do not) use\s+(?P<old>{_TERM})\b.*?,\s*(?:but )?use\s+(?P<new>{_TERM})"
        rf"(?:\s+instead)?{_END}",
    )
)
_LEFT = either(
    "no_longer_(?:use|support|run|need) (?:stopped|quit)_(?:using|supporting) dropped(?:_support_for)?"
)
GONE = re.compile(
    rf"\b{_LEFT}\s+(?P<old>{_TERM}){_END}"
    rf"|\b(?:don't|do not) (?:use|support)\s+(?P<left>{_TERM})\s+(?:any ?more|any longer)\b",
    re.IGNORECASE,
)
ARRIVED = re.compile(
    rf"\b(?:moved|switched|migrated|upgraded)(?: over)? to\s+(?P<new>{_TERM}){_END}"
    rf"|^(?:\W|(?:no|nope|nah|actually)\b)+(?:we use|we're using|use|it's)\s+(?P<used>{_TERM}){_END}",
    re.IGNORECASE,
)
# Too short to be understood alone: what it is about was said before.
SHORT = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"{_LEAD}not\s+(?P<old>{_TERM})\s*(?:,\s*(?:but\s+)?|\s+but\s+)(?P<new>{_TERM})\W*$",
        rf"{_LEAD}(?P<new>{_TERM}),?\s+(?:and )?not\s+(?P<old>{_TERM})\W*$",
    )
)
# What it takes the place of stands in a memory.
INSTEAD = re.compile(
    rf"^\W*(?:no|nope|nah|actually)\b\W*(?:please )?use\s+(?P<new>{_TERM})\s+instead\W*$",
    re.IGNORECASE,
)
_TIMES = either(
    "january february march april may june july august september october november december spring "
    "summer autumn fall "
    r"winter \d{4}"
)
# `for sessions`; but neither `for this repo` nor `in January`.
LIMIT = re.compile(
    rf"\s+(?:for|in|on|to|with)\s+(?!(?:this|our|the|all|my) (?:\w+ )?{PLACES}\b|{_TIMES}\b)(?P<to>[^,.;!]+)",
    re.IGNORECASE,
)
ARTICLE = re.compile(r"^(?:the|an?|our|my|your)\s+", re.IGNORECASE)
REST = re.compile(r"\s+(?:for|in|on|when|here|as|to|everywhere|with)\b.*$", re.IGNORECASE)
VERSION = re.compile(r"^(?P<name>[A-Za-z][\w.+#-]*)\s+v?(?P<number>\d+(?:\.\d+)*)$")
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
# A memory that says what is used, and not merely names it.
_USES = either(
    "use uses used using prefers? with via through on in to is are by only supports? runs?"
)
_AFTER = either("to for in as when over not and or from on under at with by instead here")
LEAST_ECHO = 0.5  # of the memory's words, in what the assistant had said


@dataclass(frozen=True, slots=True)
class Correction:
    """`old`: empty where only the new was said; `new`: empty where there is none. `about`: what the assistant
    had said of it, where the correction cannot be understood alone. `where`: to what it is limited."""

    old: str
    new: str
    about: str = ""
    where: str = ""


def read_correction(sentence: str) -> Correction | None:
    """Of a sentence that can be understood alone."""
    for pattern in REPLACED:
        if found := pattern.search(sentence):
            return _made(found["old"], found["new"], sentence[found.end() :])
    if found := GONE.search(sentence):
        return _made(found["old"] or found["left"], "", sentence[found.end() :])
    if found := ARRIVED.search(sentence):
        return _made("", found["new"] or found["used"], sentence[found.end() :])
    return None


def read_short(sentence: str, before: str) -> Correction | None:
    """`not 80 columns, 100`: of what the assistant has just said, if it has. `no, use spaces instead`."""
    if (found := INSTEAD.match(sentence)) and is_tool(found["new"]):
        return _made("", found["new"], "")
    for pattern in SHORT:
        if found := pattern.match(sentence):
            made = _made(found["old"], found["new"], "")
            for line in sentences(before):
                if has_word(line, made.old) and made.old.lower() not in STOP_WORDS:
                    return Correction(made.old, made.new, line)
    return None


def _made(old: str, new: str, rest: str) -> Correction:
    def bare(term: str) -> str:
        name = REST.sub("", term.strip(" `\"'“”,"))
        return ARTICLE.sub("", name).strip("`\"'“” .")

    limit = LIMIT.match(rest)
    return Correction(bare(old), bare(new), where=limit["to"] if limit else "")


def contradicted(correction: Correction, memories: Iterable[Memory]) -> tuple[Memory, str] | None:
    """The memory that says the old, and the old as it stands there. None also if there are several."""
    found = [(memory, old) for memory in memories if (old := _old_in(memory, correction))]
    return found[0] if len(found) == 1 else None


def _old_in(memory: Memory, correction: Correction) -> str | None:
    text = _statement_of(memory)
    if correction.new and has_word(text, correction.new):
        return None  # it knows of the new already
    limits = {word for each in said(correction.where) for word in each.telling}
    if limits and limits.isdisjoint(word for each in said(text) for word in each.words):
        return None
    if correction.about:
        words = {word for each in said(memory.description) for word in each.about}
        echoed = {word for each in said(correction.about) for word in each.words}
        near = len(words & echoed) >= LEAST_ECHO * len(words)
        return correction.old if near and has_word(text, correction.old) else None
    if correction.old:
        return correction.old if _says(text, correction.old) else None
    return _other_version(text, correction.new) or _other_tool(text, correction.new)


def _statement_of(memory: Memory) -> str:
    return f"{memory.description}\n{memory.body.partition('**Why:**')[0]}"


def has_word(text: str, word: str) -> bool:
    pattern = rf"(?<![\w-])(?<!\d[.,]){re.escape(word)}(?![\w-])(?![.,]\d)"
    return bool(word) and re.search(pattern, text, re.IGNORECASE) is not None


def _says(text: str, word: str) -> bool:
    named = rf"(?:the |an? |our )?[`\"']?{re.escape(word)}[`\"']?"
    pattern = rf"\b{_USES}\s+{named}(?=\s*$|\s*[.,;:!)]|\s+{_AFTER}\b)"
    return re.search(pattern, text, re.IGNORECASE | re.MULTILINE) is not None


def _other_version(text: str, new: str) -> str | None:
    version = VERSION.match(new)
    if not version:
        return None
    name = re.escape(version["name"])
    found = {
        each[0]
        for each in re.finditer(
            rf"(?<![\w-]){name}\s+v?\d+(?:\.\d+)*(?![\w-])", text, re.IGNORECASE
        )
    }
    return found.pop() if len(found) == 1 else None


def _other_tool(text: str, new: str) -> str | None:
    """The only tool that it names, of the same kind."""
    tool = new.lower().partition(" ")[0]
    others = {word for word in re.findall(r"[\w-]+", text.lower()) if same_kind(word, tool)}
    if tool not in kinds() or len(others) != 1:
        return None
    (other,) = others
    return other if _says(text, other) else None


def put_right(text: str, old: str, new: str) -> str:
    """The old taken for the new. Of `80 columns` and `100`, only the number is changed."""
    numbers = NUMBER.findall(old), NUMBER.findall(new)
    if len(numbers[0]) == len(numbers[1]) == 1 and not _is_whole(old, new):
        old, new = numbers[0][0], numbers[1][0]
    pattern = rf"(?<![\w-])(?<!\d[.,]){re.escape(old)}(?![\w-])(?![.,]\d)"
    return re.sub(pattern, lambda _: new, text, flags=re.IGNORECASE)


def _is_whole(old: str, new: str) -> bool:
    """Both are a number with its unit, or both without."""
    return NUMBER.sub("", old).strip().lower() == NUMBER.sub("", new).strip().lower()


def without(text: str, old: str, put: str) -> str:
    """With `put` for the first line or sentence that says the old, and no other that does."""
    parts, joint = (text.split("\n"), "\n") if "\n" in text else (sentences(text), " ")
    kept: list[str] = []
    for part in parts:
        if not has_word(part, old):
            kept.append(part)
        elif put not in kept:
            kept.append(put)
    return joint.join(kept if put in kept else [put, *kept])
