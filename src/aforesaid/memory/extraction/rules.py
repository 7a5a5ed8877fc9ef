"""Finds statements to remember in a user's message, by rules: description, reason, scope and corrections.

A description is reworded only where it is safe; the body keeps the sentence itself.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from aforesaid.english import STOP_WORDS
from aforesaid.memory.extraction.phrases import ROWS
from aforesaid.memory.extraction.sentences import (
    FUTURE,
    OPENING,
    PLACE,
    PLACES,
    POLITE,
    Clause,
    clauses,
    is_joke,
    is_task,
    masked,
    orders_the_memory,
    own_sentences,
    passing,
    unopened,
)
from aforesaid.memory.extraction.words import VERB, any_of, is_tool, same_kind, tool_kinds
from aforesaid.memory.format import slugify
from aforesaid.model.memories import FEEDBACK, PROJECT, REFERENCE, USER, Memory
from aforesaid.model.prose import sentences
from aforesaid.privacy.redactor import RULES, Redactor
from aforesaid.similarity import parse_sentences, text_words
from aforesaid.text import one_line, words

MAX_LINE = 200
MAX_BODY = 2_000
MOST_WORDS = 8  # of a name
LEAST_WORDS = 3  # `so yes` is no way to apply anything
LEAVE_OUT = re.compile(
    r"\b(?:the user(?:'s)?|the|an?|is|are|be|to|you|your|that|of|from now on|please|it|we|in this (?:repo"
    r"|project)|and|so|also|i(?:'[dm]|'ve|'ll)?(?![/'])|my|me)\b",
    re.IGNORECASE,
)
REMEMBER_OPENING = re.compile(
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
RECURRING = re.compile(
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


def describe(sentence: str) -> str:
    """One line, without the opening, the reason and the consequence."""
    line = sentence
    for part in (SO, WHY):
        if found := part.search(masked(line)):
            line = line[: found.start()] + line[found.end() :]
    plain = masked(line)
    for opening in (OPENING, REMEMBER_OPENING, OPENING):
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
    return one_line(line[:1].upper() + line[1:], MAX_LINE)


def make_name(description: str) -> str:
    telling = words(LEAVE_OUT.sub(" ", ADDRESS.sub(" ", description)).replace("'", ""))
    return slugify(" ".join(telling[:MOST_WORDS]) or description)


def find_reasons(sentence: str, after: str = "") -> tuple[str, str]:
    """Why, and how to apply it, if that was said in the sentence; the why also in the next one."""
    plain = masked(sentence)
    why = how = ""
    if found := WHY.search(plain):
        group = "why" if found["why"] else "inner"
        why = sentence[found.start(group) : found.end(group)]
    elif found := A_REASON.match(masked(after)):
        why = after[found.start("why") :]
    if (found := SO.search(plain)) and len(found["how"].split()) >= LEAST_WORDS:
        how = sentence[found.start("how") :]
    elif found := RECURRING.search(bare := unopened(plain)):
        start = len(plain) - len(bare)
        how = sentence[start : start + found.end("when")]
    return _sentence(why), _sentence(how)


def _sentence(text: str) -> str:
    text = FUTURE.sub("", text).strip(" ,;:")
    text = one_line(text[:1].upper() + text[1:], MAX_LINE)
    return text if not text or text[-1] in ".!?…" else f"{text}."


def format_body(statement: str, why: str = "", how: str = "") -> str:
    labels = [f"**Why:** {why}"] * bool(why) + [f"**How to apply:** {how}"] * bool(how)
    return "\n\n".join(filter(None, (statement.strip()[:MAX_BODY], "\n".join(labels))))


_WORD = r"[`\"'“]?[\w@#][\w@./+#-]*[`\"'”%]?"
_TERM = rf"{_WORD}(?:\s+{_WORD}){{0,3}}?"
_ENDS = any_of(
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
_LEFT = any_of(
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
_TIMES = any_of(
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
TERM_REST = re.compile(r"\s+(?:for|in|on|when|here|as|to|everywhere|with)\b.*$", re.IGNORECASE)
VERSION = re.compile(r"^(?P<name>[A-Za-z][\w.+#-]*)\s+v?(?P<number>\d+(?:\.\d+)*)$")
CORRECTED_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
# A memory that says what is used, and not merely names it.
_USES = any_of(
    "use uses used using prefers? with via through on in to is are by only supports? runs?"
)
_AFTER = any_of("to for in as when over not and or from on under at with by instead here")
LEAST_ECHO = 0.5  # of the memory's words, in what the assistant had said


@dataclass(frozen=True, slots=True)
class Correction:
    """`old` or `new` is empty if it was not said. `about`: the assistant's sentence that a short correction
    refers to. `where`: what it is limited to."""

    old: str
    new: str
    about: str = ""
    where: str = ""


def read_correction(sentence: str) -> Correction | None:
    for pattern in REPLACED:
        if found := pattern.search(sentence):
            return _make_correction(found["old"], found["new"], sentence[found.end() :])
    if found := GONE.search(sentence):
        return _make_correction(found["old"] or found["left"], "", sentence[found.end() :])
    if found := ARRIVED.search(sentence):
        return _make_correction("", found["new"] or found["used"], sentence[found.end() :])
    return None


def read_short(sentence: str, before: str) -> Correction | None:
    """`not 80 columns, 100` corrects what the assistant has just said; `no, use spaces instead` a memory."""
    if (found := INSTEAD.match(sentence)) and is_tool(found["new"]):
        return _make_correction("", found["new"], "")
    for pattern in SHORT:
        if found := pattern.match(sentence):
            made = _make_correction(found["old"], found["new"], "")
            for line in sentences(before):
                if has_word(line, made.old) and made.old.lower() not in STOP_WORDS:
                    return Correction(made.old, made.new, line)
    return None


def _make_correction(old: str, new: str, rest: str) -> Correction:
    def bare(term: str) -> str:
        name = TERM_REST.sub("", term.strip(" `\"'“”,"))
        return ARTICLE.sub("", name).strip("`\"'“” .")

    limit = LIMIT.match(rest)
    return Correction(bare(old), bare(new), where=limit["to"] if limit else "")


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
        words = {word for each in parse_sentences(memory.description) for word in each.about}
        echoed = text_words(correction.about)
        near = len(words & echoed) >= LEAST_ECHO * len(words)
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
    tool = new.lower().partition(" ")[0]
    others = {word for word in re.findall(r"[\w-]+", text.lower()) if same_kind(word, tool)}
    if tool not in tool_kinds() or len(others) != 1:
        return None
    (other,) = others
    return other if _uses_term(text, other) else None


def replace_term(text: str, old: str, new: str) -> str:
    """Replaces the old by the new. Of `80 columns` and `100`, only the number is replaced."""
    numbers = CORRECTED_NUMBER.findall(old), CORRECTED_NUMBER.findall(new)
    units = (CORRECTED_NUMBER.sub("", each).strip().lower() for each in (old, new))
    if len(numbers[0]) == len(numbers[1]) == 1 and len(set(units)) == 2:
        old, new = numbers[0][0], numbers[1][0]
    return _whole_word(old).sub(lambda _: new, text)


def drop_sentences(text: str, old: str, put: str) -> str:
    """Replaces the first line or sentence that has the old by `put`, and drops the others that have it."""
    parts, joint = (text.split("\n"), "\n") if "\n" in text else (sentences(text), " ")
    kept: list[str] = []
    for part in parts:
        if not has_word(part, old):
            kept.append(part)
        elif put not in kept:
            kept.append(put)
    return joint.join(kept if put in kept else [put, *kept])


MAX_SENTENCE = 500  # characters of a sentence; whoever says more says more than one thing
MAX_STATEMENTS = 8  # of one message
REMEMBER = re.compile(
    r"(?:remember|keep in mind|bear in mind|(?:don't|do not) forget|memori[sz]e|(?:make|take) (?:a )?note)"
    r"(?: this| the following)?"
    r"(?:\s*[:,-]\s*(?:that\s+)?|\s+that\s+|\s+(?=(?:we|i|i'm|our|my|always|never)\b))"
    rf"(?!(?:this|that|these|those|it|there|here)\b(?! {PLACES}))(?=\S)",
    re.IGNORECASE,
)
# Said in passing more often than to be kept.
PUTS_RIGHT = re.compile(r"\W*(?:no|nope|nah)\b\W", re.IGNORECASE)
NOTE = re.compile(
    r"(?:note|be aware|fyi|mind)(?:\s*[:,-]\s*(?:that\s+)?|\s+that\s+)(?!i\b|i'|you\b)(?=\S)",
    re.IGNORECASE,
)
HOLDS = re.compile(
    rf"\b(?:always|never|must|only|all|every|each|our|we)\b|{PLACE.pattern}", re.IGNORECASE
)
WANTED = re.compile(r"\b(?:needs?|wants?|should|has to|have to|would like) ", re.IGNORECASE)
# "I'm new to Rust, what is a lifetime?" tells and asks.
ASIDE = re.compile(
    r",\s+(?:so |and |but )?(?:what|how|why|where|which|who|can|could|should|would|is|are|do|does)\b"
    r"[^,]*\?\W*$",
    re.IGNORECASE,
)
POINTS_BACK = re.compile(
    r"(?:please )?(?:remember|keep|memori[sz]e|save|note|don't forget) (?:that|this|it)"
    r"(?: down| in mind| in (?:your )?memory| to (?:your )?memory)?(?:,? please)?\W*$|"
    r"(?:please )?(?:remember|keep in mind)[.!]*$",
    re.IGNORECASE,
)
_STATES = any_of(
    "is are was were has have must should can can't cannot needs? don't doesn't won't will uses? runs? "
    "lives? goes go gets? only never always prefers? wants? takes? expects? requires? supports? means? "
    "belongs? comes?"
)
# `the QA team tests on Windows`: somebody does something somewhere.
_DOES = (
    r"^(?:the|our|my|all) [\w-]+(?: [\w-]+)? \w+s (?:on|in|at|to|with|for|by|from|the|an?|our)\b"
)
SAYS_SOMETHING = re.compile(rf"\b(?:{_STATES}|{VERB})\b|{_DOES}", re.IGNORECASE)
OF_THE_USER = re.compile(r"\b(?:i|i'm|i'd|me|my|mine)\b", re.IGNORECASE)
AN_ORDER = re.compile(
    rf"(?:you |please |always |never |only |don't |do not )*{VERB}", re.IGNORECASE
)
AN_ADDRESS = re.compile(
    r"https?://\S+|\b(?:linear|jira|notion|confluence|figma|grafana|sentry|slack)\b", re.IGNORECASE
)
NOWADAYS = re.compile(
    r"\bwe(?:'re| are|'ve| have)? (?:use|using|on|run|moved|switched|upgraded|migrated)\b.*\bnow\W*$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Statement:
    """`said`: the user's sentence. `stands`: it can be understood alone; else it only corrects a memory."""

    type: str
    description: str
    body: str
    correction: Correction | None = None
    said: str = ""
    stands: bool = True


def statements(prompt: str, before: str = "", redactor: Redactor = RULES) -> list[Statement]:
    """Of a user's message; `before`: the assistant's last message. Sentences with a secret are left out, even
    if it is redacted: they say nothing without it."""
    own = [ASIDE.sub("", sentence) for sentence in own_sentences(prompt)]
    if is_joke(masked("\n".join(own))):
        return []
    tasks = [is_task(masked(sentence)) for sentence in own]
    wanted = [_may_be_kept(sentence, redactor) for sentence in own]
    found: dict[str, Statement] = {}
    for number, sentence in enumerate(own):
        kept = None
        if POINTS_BACK.match(unopened(masked(sentence))):
            last = number - 1
            if number and wanted[last] and own[last] not in found:
                kept = _taken(own[last])
        elif wanted[number]:
            alone = not any(tasks[:number] + tasks[number + 1 :])
            kept = _stated(sentence, "".join(own[number + 1 : number + 2]), before, alone=alone)
        if kept:
            found[kept.said] = kept
    return list(found.values())[:MAX_STATEMENTS]


def _stated(sentence: str, after: str, before: str, *, alone: bool) -> Statement | None:
    if kind := stated_type(sentence, alone=alone):
        return _statement(kind, sentence, after)
    short = None if passing(masked(sentence)) else read_short(sentence, before)
    if short is None and PUTS_RIGHT.match(masked(sentence)):
        whole = read_correction(sentence)
        short = whole if whole and whole.old else None
    return replace(_statement(PROJECT, sentence), correction=short, stands=False) if short else None


def _may_be_kept(sentence: str, redactor: Redactor) -> bool:
    unwanted = len(sentence) > MAX_SENTENCE or orders_the_memory(sentence)
    return not unwanted and not redactor.has_secret(sentence)


def _statement(kind: str, sentence: str, after: str = "") -> Statement:
    why, how = find_reasons(sentence, after)
    return Statement(
        kind,
        describe(sentence),
        format_body(sentence, why, how),
        read_correction(sentence),
        sentence,
    )


def _taken(sentence: str) -> Statement | None:
    """Of a sentence that the next one asks to remember."""
    plain = masked(sentence)
    if passing(plain) or not SAYS_SOMETHING.search(plain):
        return None
    return _statement(stated_type(sentence) or _guess_statement_type(unopened(plain)), sentence)


def stated_type(sentence: str, *, alone: bool = True) -> str | None:
    """The type of memory that a sentence makes; None if it is not meant to last. `alone`: the message has no
    task beside it."""
    plain = masked(sentence)
    if polite := POLITE.match(unopened(plain)):
        # "can you always rely on it?" asks; "could you please always run it?" does not.
        if not (polite["please"] or FUTURE.search(plain)):
            return None
        plain = polite["rest"]
    if passing(NOWADAYS.sub("", plain)):
        return None
    return next(filter(None, map(_clause_type, clauses(plain, alone=alone))), None)


def _clause_type(clause: Clause) -> str | None:
    if clause.leads and (kind := _remembered(clause)):
        return kind
    for row in ROWS:
        if (clause.leads or row.anywhere) and row.fits(clause):
            in_project = row.type == USER and clause.place
            return FEEDBACK if in_project else row.type
    return None


def _remembered(clause: Clause) -> str | None:
    text = clause.text
    found = REMEMBER.match(text) or NOTE.match(text)
    if not found:
        return None
    rest = text[found.end() :]
    if NOTE.match(text) and (WANTED.search(rest) or not HOLDS.search(rest)):
        return None
    return _guess_statement_type(rest) if SAYS_SOMETHING.search(rest) else None


def _guess_statement_type(text: str) -> str:
    """The type of what is to be remembered in any case."""
    for clause in clauses(text, alone=True):
        for row in ROWS:
            if clause.leads and row.fits(clause):
                return row.type
    if AN_ADDRESS.search(text):
        return REFERENCE
    if OF_THE_USER.search(text):
        return USER
    return FEEDBACK if AN_ORDER.match(text) else PROJECT
