"""What a sentence says, as far as it can be told without understanding it: its words, its numbers and names,
and whether it denies. Enough to see that two sentences say the same, if one is careful.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from recollect.english import NUMBER_WORDS, STOP_WORDS, stem
from recollect.text import words

TOKEN = re.compile(r"\w+(?:[./'’]\w+)*")
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
WIDE = re.compile(
    r"[\u2e80-\U0003ffff]{2,}"
)  # scripts without spaces: pairs of characters stand for words
# `one` is a pronoun more often than a number.
NUMBERS = {word: number for word, number in NUMBER_WORDS.items() if word != "one"}
DENIALS = frozenset(
    words("no not never none nothing neither nor without cannot unable nobody nowhere")
)
# Verbs and nouns of every report: they tell little about what it is about.
COMMON = frozenset(
    words(
        "add change update make use set get handle support new code file function class method test run call "
        "take give include allow let work do done implement create introduce remove delete drop fix repair "
        "resolve correct solve mend improve move return result value case way project feature bug issue "
        "problem error cause reason need instead after before because longer"
    )
)
SYNONYMS = {
    "repair": "fix",
    "resolve": "fix",
    "correct": "fix",
    "solve": "fix",
    "mend": "fix",
    "create": "add",
    "introduce": "add",
    "implement": "add",
    "delete": "remove",
    "drop": "remove",
    "modify": "change",
    "update": "change",
    "edit": "change",
    "adjust": "change",
    "raise": "increase",
    "lower": "decrease",
    "reduce": "decrease",
    "crash": "fail",
    "panic": "fail",
    "broken": "fail",
    "break": "fail",
    "succeed": "pass",
    "success": "pass",
    "deny": "reject",
    "forbid": "reject",
    "block": "reject",
    "allow": "accept",
    "take": "accept",
}
OPPOSITES = (
    "add remove|enable disable|pass fail|work fail|fix fail|increase decrease|start stop|accept reject|"
    "open close|true false|upgrade downgrade|fast slow|faster slower|before after|sync async|local remote|"
    "read write|client server|minimum maximum|min max|required optional|lock unlock|keep remove|always "
    "sometimes|ascending descending|first last|old new|valid invalid|"
    "public private|encode decode|import export|push pull|upload download"
)
DIRECTIONS = frozenset(
    words("by to from instead over before after into replace supersede than because")
)


@dataclass(frozen=True, slots=True)
class Statement:
    """`order`: all its words but the emptiest, as stems. `strong`: those that tell what it is about.
    `exact`: numbers and names, which another word cannot replace."""

    order: tuple[str, ...]
    strong: frozenset[str]
    exact: frozenset[str]
    denies: bool
    directed: bool


def statement(text: str) -> Statement:
    order: list[str] = []
    exact: set[str] = set()
    denies = directed = False
    for token in _tokens(text):
        low = token.lower()
        denies |= low in DENIALS or low.endswith(("n't", "n’t"))
        directed |= sense(low) in DIRECTED
        if low in STOP_WORDS or low in DENIALS:
            continue
        order.append(sense(low))
        if _is_exact(token):
            exact |= {order[-1]}
    return Statement(
        tuple(order), frozenset(order) - COMMON_STEMS, frozenset(exact), denies, directed
    )


def contradict(one: Statement, other: Statement) -> bool:
    """About the same thing, they cannot both hold; or it is better not to be sure."""
    return one.denies != other.denies or opposed(one, other)


def opposed(one: Statement, other: Statement) -> bool:
    """One has a word and the other its opposite."""
    mine, theirs = set(one.order), set(other.order)
    return any(
        (a in mine - theirs and b in theirs - mine) or (b in mine - theirs and a in theirs - mine)
        for a, b in OPPOSITE_STEMS
    )


def says(old: Statement, new: Statement) -> bool:
    """Whether the old one says all that the new one does. In a long one, a word may differ."""
    if not new.order or contradict(old, new) or not new.exact <= old.exact | set(old.order):
        return False
    if new.directed or old.directed:
        shared = set(new.order) & set(old.order)
        if _ordered(new.order, shared) != _ordered(old.order, shared):
            return False
    lacking = set(new.order) - set(old.order)
    if lacking & DIRECTED or len(lacking) > len(set(new.order)) / 4:
        return False
    missing = lacking & new.strong
    strange = old.strong - set(new.order)
    allowed = 0 if strange else 1  # a word in place of another may be the very difference
    return len(missing) <= max(len(new.strong) // 8, allowed if len(new.strong) >= 5 else 0)


def likeness(one: Iterable[str], other: Iterable[str]) -> float:
    """From 0 to 1: the share of words that two texts have in common."""
    mine, theirs = set(one), set(other)
    return 2 * len(mine & theirs) / (len(mine) + len(theirs)) if mine and theirs else 0.0


def sense(word: str) -> str:
    """The stem, or that of a word which means the same."""
    if NUMBER.fullmatch(word):
        return word.replace(",", "")
    bare = stem(NUMBERS.get(word, word))
    return SYNONYM_STEMS.get(bare, bare)


def _tokens(text: str) -> list[str]:
    found: list[str] = []
    for token in TOKEN.findall(text.replace("-", " ")):
        if WIDE.search(token):
            found += [token[at : at + 2] for at in range(len(token) - 1)]
        else:
            found.append(token)
            if "/" in token:  # a path is also known by its last part
                found.append(token.rsplit("/", 1)[1])
    return found


def _is_exact(token: str) -> bool:
    """Numbers, paths, `snake_case`, `camelCase` and ABBREVIATIONS."""
    named = any(c in "._/" for c in token) or any(map(str.isupper, token[1:]))
    return named or any(map(str.isdigit, token)) or token.lower() in NUMBERS


def _ordered(order: tuple[str, ...], shared: set[str]) -> list[str]:
    return list(dict.fromkeys(word for word in order if word in shared))


SYNONYM_STEMS = {stem(word): stem(same) for word, same in SYNONYMS.items()}
COMMON_STEMS = frozenset(map(sense, COMMON))
DIRECTED = frozenset(map(sense, DIRECTIONS))
OPPOSITE_STEMS = tuple(
    (sense(one), sense(other)) for one, other in (pair.split() for pair in OPPOSITES.split("|"))
)
