"""Statements that a user makes in so many words: `always`, `from now on`, `I prefer`, `remember that`,
their kin.

No model is asked. A statement must be the user's own, at the beginning of a clause, and meant to last;
unsure means none. So little is found that nobody said, and much that was said in other words is not.
"""

import re
from dataclasses import dataclass, replace

from recollect.memory.extraction import phrasing
from recollect.memory.extraction.clauses import FUTURE, PLACE, POLITE, Clause, clauses, unopened
from recollect.memory.extraction.corrections import Correction, read_correction, read_short
from recollect.memory.extraction.lasting import PLACES, is_joke, is_task, passing
from recollect.memory.extraction.orders_to_memory import orders_the_memory
from recollect.memory.extraction.own_words import masked, own_sentences
from recollect.memory.extraction.phrases import ROWS
from recollect.memory.extraction.working_words import VERB, either
from recollect.model.memories import FEEDBACK, PROJECT, REFERENCE, USER
from recollect.privacy.redactor import RULES, Redactor

LONGEST = 500  # characters of a sentence; whoever says more says more than one thing
MOST = 8  # of one message
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
_STATES = either(
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
    """`said`: the user's sentence, as it was. `stands`: it can be understood alone; else it only corrects
    what a memory says."""

    type: str
    description: str
    body: str
    correction: Correction | None = None
    said: str = ""
    stands: bool = True


def statements(prompt: str, before: str = "", redactor: Redactor = RULES) -> list[Statement]:
    """In a user's message; `before` is what the assistant had said last. A sentence with a secret is left
    out, also where a mark stands for it by now: it says nothing without."""
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
    return list(found.values())[:MOST]


def _stated(sentence: str, after: str, before: str, *, alone: bool) -> Statement | None:
    if kind := stated_type(sentence, alone=alone):
        return _statement(kind, sentence, after)
    short = None if passing(masked(sentence)) else read_short(sentence, before)
    if short is None and PUTS_RIGHT.match(masked(sentence)):
        whole = read_correction(sentence)
        short = whole if whole and whole.old else None
    return replace(_statement(PROJECT, sentence), correction=short, stands=False) if short else None


def _may_be_kept(sentence: str, redactor: Redactor) -> bool:
    unwanted = len(sentence) > LONGEST or orders_the_memory(sentence)
    return not unwanted and not redactor.has_secret(sentence)


def _statement(kind: str, sentence: str, after: str = "") -> Statement:
    why, how = phrasing.reasons(sentence, after)
    return Statement(
        kind,
        phrasing.described(sentence),
        phrasing.body(sentence, why, how),
        read_correction(sentence),
        sentence,
    )


def _taken(sentence: str) -> Statement | None:
    """A sentence that the next one asks to be remembered."""
    plain = masked(sentence)
    if passing(plain) or not SAYS_SOMETHING.search(plain):
        return None
    return _statement(stated_type(sentence) or _type(unopened(plain)), sentence)


def stated_type(sentence: str, *, alone: bool = True) -> str | None:
    """Of what a sentence states; None if that is nothing that lasts. `alone`: there is no task beside it."""
    plain = masked(sentence)
    if polite := POLITE.match(unopened(plain)):
        # "can you always rely on it?" asks; "could you please always run it?" does not.
        if not (polite["please"] or FUTURE.search(plain)):
            return None
        plain = polite["rest"]
    if _passes(plain):
        return None
    for clause in clauses(plain, alone=alone):
        if kind := _of_clause(clause):
            return kind
    return None


def _passes(plain: str) -> bool:
    bare = NOWADAYS.sub("", plain) if NOWADAYS.search(plain) else plain
    return passing(bare) is not None


def _of_clause(clause: Clause) -> str | None:
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
    return _type(rest) if SAYS_SOMETHING.search(rest) else None


def _type(text: str) -> str:
    """Of what is to be remembered in any case."""
    for clause in clauses(text, alone=True):
        for row in ROWS:
            if clause.leads and row.fits(clause):
                return row.type
    if AN_ADDRESS.search(text):
        return REFERENCE
    if OF_THE_USER.search(text):
        return USER
    return FEEDBACK if AN_ORDER.match(text) else PROJECT
