"""Similarity: whether two sentences say the same, or contradict each other.

A sentence is compared by its word stems, its numbers and names, and its denials. In doubt, two sentences are
different.
"""

import re
from collections.abc import Iterable, Set
from dataclasses import dataclass
from functools import cached_property, lru_cache

from aforesaid.english import LISTS, NUMBER_WORDS, STOP_WORDS, load_list, stem
from aforesaid.model.prose import CLAUSE_END, sentences
from aforesaid.text import words

WORD_TOKEN = re.compile(r"\w+(?:[./'’]\w+)*")
NUMERAL = re.compile(r"\d+(?:[.,]\d+)*")
# Scripts without spaces: pairs of characters stand for words.
WIDE = re.compile(r"[\u2e80-\U0003ffff]{2,}")
# `one` is a pronoun more often than a number.
NUMBER_NAMES = {word: number for word, number in NUMBER_WORDS.items() if word != "one"}
DENIALS = load_list("denials")


@dataclass(frozen=True, slots=True)
class Statement:
    """`order`: its words without stop words, as stems. `strong`: those that say what it is about. `exact`:
    numbers and names, which no other word can replace."""

    order: tuple[str, ...]
    strong: frozenset[str]
    exact: frozenset[str]
    denies: bool
    directed: bool


def parse_statement(text: str) -> Statement:
    order: list[str] = []
    exact: set[str] = set()
    denies = directed = False
    for token in _tokens(text):
        low = token.lower()
        denies |= low in DENIALS or low.endswith(("n't", "n’t"))
        directed |= canonical_stem(low) in DIRECTED
        if low in STOP_WORDS or low in DENIALS:
            continue
        order.append(canonical_stem(low))
        if _is_exact_token(token):
            exact |= {order[-1]}
    return Statement(
        tuple(order), frozenset(order) - COMMON_STEMS, frozenset(exact), denies, directed
    )


def content_words(text: str) -> list[str]:
    """The `order` of a statement, for long texts."""
    lowered = (token.lower() for token in _tokens(text))
    return [canonical_stem(low) for low in lowered if low not in STOP_WORDS and low not in DENIALS]


def contradicts(one: Statement, other: Statement) -> bool:
    """Whether two statements about the same thing may not both hold."""
    return one.denies != other.denies or has_opposite(one, other)


def has_opposite(one: Statement, other: Statement) -> bool:
    mine = set(one.order).difference(other.order)
    theirs = set(other.order).difference(one.order)
    return any(
        (a in mine and b in theirs) or (b in mine and a in theirs) for a, b in OPPOSITE_STEMS
    )


def covers_statement(old: Statement, new: Statement) -> bool:
    """Whether the old one says all that the new one does. In a long statement a word may differ."""
    if not new.order or contradicts(old, new) or not new.exact <= old.exact | set(old.order):
        return False
    if new.directed or old.directed:
        shared = set(new.order) & set(old.order)
        if _once(new.order, shared) != _once(old.order, shared):
            return False
    lacking = set(new.order) - set(old.order)
    if lacking & DIRECTED or len(lacking) > len(set(new.order)) / 4:
        return False
    missing = lacking & new.strong
    strange = old.strong - set(new.order)
    allowed = 0 if strange else 1  # a word in place of another may be the very difference
    return len(missing) <= max(len(new.strong) // 8, allowed if len(new.strong) >= 5 else 0)


def word_overlap(one: Iterable[str], other: Iterable[str]) -> float:
    """From 0 to 1: the share of words that two texts have in common."""
    mine, theirs = set(one), set(other)
    return 2 * len(mine & theirs) / (len(mine) + len(theirs)) if mine and theirs else 0.0


def canonical_stem(word: str) -> str:
    if NUMERAL.fullmatch(word):
        return word.replace(",", "")
    bare = stem(NUMBER_NAMES.get(word, word))
    return SYNONYM_STEMS.get(bare, bare)


def _tokens(text: str) -> list[str]:
    found: list[str] = []
    for token in WORD_TOKEN.findall(text.replace("-", " ")):
        if WIDE.search(token):
            found += [token[at : at + 2] for at in range(len(token) - 1)]
        else:
            found.append(token)
            if "/" in token:  # a path is also known by its last part
                found.append(token.rsplit("/", 1)[1])
    return found


def _is_exact_token(token: str) -> bool:
    """Numbers, paths, `snake_case`, `camelCase` and ABBREVIATIONS."""
    named = any(c in "._/" for c in token) or any(map(str.isupper, token[1:]))
    return named or any(map(str.isdigit, token)) or token.lower() in NUMBER_NAMES


SYNONYM_STEMS = {
    stem(word): stem(first)
    for first, *others in map(str.split, LISTS["synonyms"])
    for word in others
}
COMMON_STEMS = frozenset(map(canonical_stem, load_list("common")))
DIRECTED = frozenset(map(canonical_stem, load_list("directions")))
OPPOSITE_STEMS = tuple(
    tuple(map(canonical_stem, pair.split("/"))) for pair in sorted(load_list("opposites"))
)

LABEL = re.compile(
    r"^[ \t]*\*\*(?:why|how to apply)[:.]?\*\*[:.]?[ \t]*", re.IGNORECASE | re.MULTILINE
)
ADDRESS = re.compile(r"\b[a-z][a-z0-9+.-]{1,10}://[^\s<>\"'`)\]}]+", re.IGNORECASE)
CODE = re.compile(r"`+([^`\n]+)`+")
FENCE = re.compile(r"^[ \t]*(?:```|~~~).*$", re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]*)\)")
HARD_TOKEN = re.compile(r"[~.]{0,2}/?\w+(?:[-./\\:@+#_]+\w+)*(?:[+#]+|/)?|\$\w+")
LAST_WORD = re.compile(r"(\w+)\W*\Z")
OPENING = " \t*_\"'“‘(["
POSSESSIVE = re.compile(r"['’]s\b")
THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}\b)")
NUMBER_WORD = re.compile(rf"\b(?:{'|'.join(NUMBER_NAMES)})\b")
CLAUSE = re.compile(rf"{CLAUSE_END.pattern}|,\s+|\s+(?=(?:and|but|instead)\s)|\s[–—-]\s|:\s")
TURNS = dict.fromkeys(words("may can could might optionally sometimes"), "may") | {
    "only": "only", "except": "except", "unless": "except", "if": "if", "when": "if", "until": "until",
    "instead": "over", "rather": "over", "over": "over",
}  # fmt: skip
FILLERS = frozenset(map(canonical_stem, load_list("fillers")))
CONTRACTED = ("n't", "n’t")
WEAK = FILLERS | COMMON_STEMS
SUBJECT = 0.6  # word overlap of sentences about the same subject
LEAST_WORDS = 2  # of a sentence that says something


@dataclass(frozen=True)
class Sentence:
    """`hard`: its numbers and names, in order; `leads`: the word before each of them. `turns`: its denials,
    conditions and comparisons, which change the meaning of the other words."""

    text: str
    statement: Statement
    hard: tuple[str, ...]
    leads: tuple[str, ...]
    turns: tuple[str, ...]

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(word for word in self.statement.order if not word.endswith(CONTRACTED))

    @cached_property
    def telling(self) -> frozenset[str]:
        return self.words - WEAK

    @property
    def about(self) -> frozenset[str]:
        return self.telling or self.words


def parse_sentences(text: str) -> tuple[Sentence, ...]:
    """The sentences of a Markdown text, without labels such as `**Why:**`."""
    plain = _unlinked(FENCE.sub("", LABEL.sub("", text)))
    return tuple(map(parse_sentence, sentences(plain)))


def text_words(text: str) -> frozenset[str]:
    return frozenset(word for each in parse_sentences(text) for word in each.words)


@lru_cache(maxsize=4096)
def parse_sentence(sentence: str) -> Sentence:
    bare, hard = THOUSANDS.sub("", without_markup(sentence)), _hard(sentence)
    statement, leads = parse_statement(bare), tuple(hard.values())
    return Sentence(sentence, statement, tuple(hard), leads, _turns(bare))


def _turns(sentence: str) -> tuple[str, ...]:
    found = re.findall(r"[\w'’]+", sentence.lower())
    denials = ("not" for word in found if word in DENIALS or word.endswith(CONTRACTED))
    return tuple(sorted((*denials, *(TURNS[word] for word in found if word in TURNS))))


def _hard(sentence: str) -> dict[str, str]:
    found: dict[str, str] = {}
    text = THOUSANDS.sub("", POSSESSIVE.sub("", sentence))
    for mark in (*ADDRESS.finditer(text), *CODE.finditer(_blank_out(ADDRESS, text))):
        hard = plain_text(mark[mark.lastindex or 0]).rstrip(".,;:!?/")
        found[hard] = _word_before(text, mark.start())
    text = _blank_out(CODE, _blank_out(ADDRESS, text))
    for mark in HARD_TOKEN.finditer(text):
        token = mark[0].rstrip(".")
        if _is_hard(token, begins=not text[: mark.start()].strip(OPENING)):
            found[plain_text(token)] = _word_before(text, mark.start())
    return found


def _blank_out(pattern: re.Pattern[str], text: str) -> str:
    return pattern.sub(lambda mark: ";" + " " * (len(mark[0]) - 1), text)


def _word_before(text: str, at: int) -> str:
    found = LAST_WORD.search(text, 0, at)
    return found[1].lower() if found else ""


def _is_hard(token: str, *, begins: bool) -> bool:
    """`begins`: it is the first word, whose capital means nothing."""
    if any(map(str.isdigit, token)) or token.lower() in NUMBER_NAMES:
        return True
    if any(c in "/\\_@$+#" for c in token) or ("." in token.strip(".")) or token.startswith("."):
        return True
    if any(map(str.isupper, token[1:])):
        return True
    return token[:1].isupper() and not begins and token.lower() not in STOP_WORDS | {"i"}


def plain_text(text: str) -> str:
    """In lower case, with single spaces, and digits for number words."""
    low = THOUSANDS.sub("", " ".join(text.lower().split()))
    return NUMBER_WORD.sub(lambda word: NUMBER_NAMES[word[0]], low)


def without_markup(text: str) -> str:
    return _unlinked(text).replace("`", "").replace("*", "")


def _unlinked(text: str) -> str:
    """A link's address or path is a fact; a link to another memory is not."""
    return LINK.sub(lambda link: f"] {link[1]}" if "/" in link[1] else "]", text)


def has_token(hard: str, plain: str) -> bool:
    """Whether it occurs as a whole: not `8080` in `18080`, nor `3.1` in `3.11`."""
    plural = "(?:['’]?s)?" if hard[-1:].isalpha() else ""
    pattern = rf"(?<![\w])(?<!\d[.,]){re.escape(hard)}{plural}(?![\w])(?![.,]\d)"
    return re.search(pattern, plain) is not None


def same_sentence(one: Sentence, other: Sentence) -> bool:
    """Whether two sentences say the same: no other number, name or denial, hardly another word."""
    if one.text == other.text:
        return True
    if one.turns != other.turns or contradicts(one.statement, other.statement):
        return False
    if not (_holds(one, other) and _holds(other, one) and one.words & other.words):
        return False
    more, less = one.words - other.words - FILLERS, other.words - one.words - FILLERS
    # A word in place of another may be the difference.
    if (more and less) or len(more | less) > min(len(one.telling), len(other.telling)) // 8:
        return False
    return _same_order(one, other)


def includes_sentence(whole: Sentence, part: Sentence) -> bool:
    """Whether a sentence says all that another one says: the same numbers, names and denials, and every word
    in the same order. `tabs, not spaces` does not include `spaces, not tabs`."""
    if whole.turns != part.turns or contradicts(whole.statement, part.statement):
        return False
    rest = iter(whole.statement.order)
    ordered = all(word in rest for word in part.statement.order if word not in FILLERS)
    return _holds(whole, part) and ordered


def _holds(one: Sentence, other: Sentence) -> bool:
    plain = plain_text(without_markup(one.text))
    return all(has_token(hard, plain) for hard in other.hard)


def _same_order(one: Sentence, other: Sentence) -> bool:
    """`tabs over spaces` and `spaces over tabs` have the same words. Else one may stand elsewhere."""
    shared = one.words & other.words - FILLERS
    mine, theirs = (_once(each.statement.order, shared) for each in (one, other))
    if mine == theirs:
        return True
    if one.statement.directed or other.statement.directed or one.turns:
        return False
    return any(
        [w for w in mine if w != moved] == [w for w in theirs if w != moved] for moved in mine
    )


def _once(order: Iterable[str], among: Set[str]) -> list[str]:
    return list(dict.fromkeys(word for word in order if word in among))


def sentences_conflict(one: Sentence, other: Sentence) -> bool:
    """Whether two sentences about the same subject cannot both hold: one denies, or has another number or
    name."""
    mine, theirs = (
        each.about.difference(*(parse_statement(hard).order for hard in each.hard))
        for each in (one, other)
    )
    differ = not _holds(one, other) and not _holds(other, one)
    if mine == theirs and mine:
        return differ or contradicts(one.statement, other.statement)
    # `the port` and `the debug port` may be two things.
    if not (mine < theirs or theirs < mine) or len(mine & theirs) < LEAST_WORDS:
        return False
    led, rivals = (
        {lead for hard, lead in zip(each.hard, each.leads, strict=True) if hard not in rest.hard}
        for each, rest in ((one, other), (other, one))
    )
    return differ and word_overlap(mine, theirs) >= SUBJECT and bool(led & rivals)
