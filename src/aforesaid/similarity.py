"""Similarity: whether two sentences say the same, or contradict each other.

A sentence is compared by its word stems, its numbers and names, and its denials. `compare` also knows
synonyms, who does what to whom, and when a newer sentence has another value for the same thing. In doubt, two
sentences are different.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property, lru_cache
from itertools import combinations, pairwise
from typing import NamedTuple

from aforesaid.english import LISTS, NUMBER_WORDS, STOP_WORDS, load_list, stem
from aforesaid.model.prose import CLAUSE_END, sentences
from aforesaid.text import words

WORD_TOKEN = re.compile(r"\w+(?:[./'’]\w+)*")
DAY = re.compile(r"\d{4}-\d\d-\d\d")
NUMERAL = re.compile(r"\d+(?:[.,]\d+)*")
# Scripts without spaces: pairs of characters stand for words.
WIDE = re.compile(r"[\u2e80-\U0003ffff]{2,}")
# `one` is a pronoun more often than a number.
NUMBER_NAMES = {word: number for word, number in NUMBER_WORDS.items() if word != "one"}
DENIALS = load_list("denials")
CONTRACTED = ("n't", "n’t")


@dataclass(frozen=True)
class Statement:
    """`order`: its words without stop words, as stems. `strong`: those that say what it is about. `exact`:
    numbers and names, which no other word can replace."""

    text: str
    order: tuple[str, ...]
    strong: frozenset[str]
    exact: frozenset[str]

    @cached_property
    def claim(self) -> "Claim":
        return parse_claim(self.text)

    @cached_property
    def hard(self) -> tuple[str, ...]:
        """Its numbers and names as they are written."""
        return _hard(self.text)

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(word for word in self.order if not word.endswith(CONTRACTED))

    @cached_property
    def telling(self) -> frozenset[str]:
        return self.words - WEAK

    @property
    def about(self) -> frozenset[str]:
        return self.telling or self.words


def parse_statement(text: str) -> Statement:
    order: list[str] = []
    exact: set[str] = set()
    for token in _tokens(text):
        low = token.lower()
        if low in STOP_WORDS or low in DENIALS:
            continue
        order.append(canonical_stem(low))
        if _is_hard(token, begins=True):
            exact.add(order[-1])
    strong = frozenset(order) - COMMON_STEMS
    return Statement(text, tuple(order), strong, frozenset(exact))


def content_words(text: str) -> list[str]:
    """The `order` of a statement, for long texts."""
    lowered = (token.lower() for token in _tokens(text))
    return [canonical_stem(low) for low in lowered if low not in STOP_WORDS and low not in DENIALS]


def contradicts(one: Statement, other: Statement) -> bool:
    """Whether two statements about the same thing may not both hold."""
    if one.claim.denials % 2 != other.claim.denials % 2:
        return True
    mine, theirs = ({word.key for word in each} for each in _differences(one.claim, other.claim))
    opposite = any(frozenset((a, b)) in OPPOSITE_KEYS for a in mine for b in theirs)
    return opposite or not _same_roles(one.claim, other.claim)


def covers_statement(old: Statement, new: Statement) -> bool:
    """Whether the old one says all that the new one does. In a long statement a word may differ."""
    if not new.order or contradicts(old, new) or not new.exact <= old.exact | set(old.order):
        return False
    lacking = set(new.order) - set(old.order)
    if lacking & ROLE_STEMS or len(lacking) > len(set(new.order)) / 4:
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


SYNONYM_STEMS = {
    stem(word): stem(first)
    for first, *others in map(str.split, LISTS["synonyms"])
    for word in others
}
COMMON_STEMS = frozenset(map(canonical_stem, load_list("common")))

LABEL = re.compile(
    r"^[ \t]*\*\*(?:why|how to apply)[:.]?\*\*[:.]?[ \t]*", re.IGNORECASE | re.MULTILINE
)
ADDRESS = re.compile(r"\b[a-z][a-z0-9+.-]{1,10}://[^\s<>\"'`)\]}]+", re.IGNORECASE)
CODE = re.compile(r"`{1,3}([^`\n]{1,300})`{1,3}")
FENCE = re.compile(r"^[ \t]*(?:```|~~~).*$", re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]*)\)")
HARD_TOKEN = re.compile(r"[~.]{0,2}/?\w+(?:[-./\\:@+#_]+\w+)*(?:[+#]+|/)?|\$\w+")
OPENING = " \t*_\"'“‘(["
POSSESSIVE = re.compile(r"['’]s\b")
THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}\b)")
NUMBER_WORD = re.compile(rf"\b(?:{'|'.join(NUMBER_NAMES)})\b")
CLAUSE = re.compile(rf"{CLAUSE_END.pattern}|,\s+|\s+(?=(?:and|but|instead)\s)|\s[–—-]\s|:\s")
FILLERS = frozenset(map(canonical_stem, load_list("fillers")))
WEAK = FILLERS | COMMON_STEMS
SUBJECT = 0.6  # word overlap of sentences about the same subject


def parse_sentences(text: str) -> tuple[Statement, ...]:
    """The sentences of a Markdown text, without labels such as `**Why:**`."""
    plain = _unlinked(FENCE.sub("", LABEL.sub("", text)))
    return tuple(map(parse_sentence, sentences(plain)))


def text_words(text: str) -> frozenset[str]:
    return frozenset(word for each in parse_sentences(text) for word in each.words)


@lru_cache(maxsize=4096)
def parse_sentence(sentence: str) -> Statement:
    return replace(parse_statement(THOUSANDS.sub("", without_markup(sentence))), text=sentence)


def _hard(sentence: str) -> tuple[str, ...]:
    text = THOUSANDS.sub("", POSSESSIVE.sub("", sentence))
    quoted = (*ADDRESS.finditer(text), *CODE.finditer(_blank_out(ADDRESS, text)))
    found = [plain_text(mark[mark.lastindex or 0]).rstrip(".,;:!?/") for mark in quoted]
    text = _blank_out(CODE, _blank_out(ADDRESS, text))
    for mark in HARD_TOKEN.finditer(text):
        token = mark[0].rstrip(".")
        if _is_hard(token, begins=not text[: mark.start()].strip(OPENING)):
            found.append(plain_text(token))
    return tuple(dict.fromkeys(found))


def _blank_out(pattern: re.Pattern[str], text: str) -> str:
    return pattern.sub(lambda mark: ";" + " " * (len(mark[0]) - 1), text)


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


class Relation(Enum):
    SAME = "same"
    REPLACES = "replaces"  # the newer one has another value for the same thing, or denies it
    CONFLICTS = "conflicts"  # it may have: both values are names, and perhaps both hold


MAX_CLAIM = 400  # characters: what is longer is not one statement
MAX_VALUE = 3  # words of a value
EXTRA_WORDS = 6  # so many words a statement needs for each word that the other lacks
USE = "use"
TO_BE = "is"  # stands for every auxiliary
DENIAL = "not"
# In order, before the words are read.
PHRASES = tuple(
    (re.compile(pattern, re.IGNORECASE), put)
    for pattern, put in (
        (r"\A\W*no, ", ""),
        (r"\bby hand\b", "manually"),
        (r"\b(?:has|have|had|needs?|ought|is|are) to\b", "must"),
        (r"\bno longer\b", "now not"),
        (r"\b(?:in charge of|responsible for|takes? care of|looks? after)\b", "owns"),
        (r"\b(?:is|are) (not|never) (?:allowed|permitted|supposed)(?: to)?\b", r"\1"),
        (r"\b(?:is|are) (?:allowed|permitted) to\b", "may"),
        (r"\bcan be (?:found|seen|reached)\b|\b(?:is|are) (?:called|named)\b", "is"),
        (r"\b(?:turn|switch)(?:ed|es|s|ing)? off\b", "disabled"),
        (r"\b(?:turn|switch)(?:ed|es|s|ing)? on\b", "enabled"),
        (r"\b(?:no|not) more than\b|\bup to\b|\ba maximum of\b", "most"),
        (r"\bno (?:fewer|less) than\b|\ba minimum of\b", "least"),
        (r"\b(?:due|owing|thanks) to\b", "because"),
        (r"\bprefer(?:s|red)? (.{2,40}?) over\b", r"\1 than"),
        (r", (?:and |but )?(?:not|never) (?:with |in |on |by |for )?", " than "),
        (r"\bany (?:more|longer)\b|\bfrom now on\b|\bas of\b", "now"),
        (r"\b(?:instead of|rather than|in place of)\b", "than"),
        (r"\A(?:do not|don['’]t|never) use (.+?)[,;:] (?:but )?use (.+?)\W*\Z", r"use \2 than \1"),
        (r"\binstead\b|\bsince (?-i:[A-Z\d])\S*", "now"),
        (r"\bprior to\b", "before"),
        (r"\b(?:pull|merge) requests?\b", "PR"),
        (r"\bcannot\b|\bcan['’]t\b", "can not"),
        (r"n['’]t\b", " not"),
        (r"\A(?:do not|never) (.+) without (\w+ing\b.*?)\W*\Z", r"\2 before \1"),
        (r"(?<=\d),(?=\d{3}\b)|['’]s\b|\*", ""),
        (r"%", " percent"),
        (r"\bat (least|most)\b", r"\1"),
    )
)
CLAIM_TOKEN = re.compile(
    rf"`[^`\n]+`|{ADDRESS.pattern}|[~$.@/]{{0,3}}\w+(?:['’]\w+|[./:@+#_\\-]+\w+)*(?:\+\+|\#|/)?"
    r"|[,;:!?()—–]|\.(?=\s|\Z)",
    re.IGNORECASE,
)
CLOCK = re.compile(r"\A0(?=\d:)")  # `09:30`
MEASURE = re.compile(r"(\d+(?:\.\d+)?)([a-zA-Z]{1,3})")  # `5MB`
COMPOUND = re.compile(r"[^\W\d_]+(?:-[^\W_]+)+")  # `end-to-end`, `UTF-8`
TURNED = dict.fromkeys(words("may can could might optionally sometimes"), "may") | {
    "only": "only", "solely": "only", "exclusively": "only", "alone": "only", "except": "except",
    "unless": "except", "until": "until", "instead": "over", "rather": "over", "over": "over", "than": "over",
    "before": "before", "least": "least", "most": "most",
}  # fmt: skip
AUXILIARIES, DETERMINERS = load_list("auxiliaries"), load_list("determiners")
PREPOSITIONS, CONJUNCTIONS = load_list("prepositions"), load_list("conjunctions")
REFUSALS, PRESENT = frozenset(map(stem, load_list("refusals"))), load_list("present")
IRREGULAR = {form: verb for verb, form in (each.split("/") for each in load_list("irregular"))}
NOT_DERIVED = load_list("not-derived")
SUFFIXES = words("isation ization ation ment ion er or ally ly ness abl at")
SHORTEST_ROOT = 4  # letters
FREE_TURNS = frozenset(words("over least most may"))  # they may change with a value
ONE_OF_MANY = frozenset(words("includ support"))  # verbs whose object may have many values
# Where swapped words are another statement: `from A to B`.
ROLE_MARKS = words("by from to into before after over than until")
ROLE_STEMS = frozenset(map(canonical_stem, (*ROLE_MARKS, "because", "instead")))


def word_root(word: str) -> str:
    """Its stem, also without the endings that make nouns and adverbs: `deployments` and `deploy`."""
    single = word.removesuffix("s")
    if single in NOT_DERIVED:
        return single
    bare = stem(stem(IRREGULAR.get(word) or IRREGULAR.get(single, word)))  # `warnings`
    while end := next((e for e in SUFFIXES if bare.endswith(e)), ""):
        if len(bare) - len(end) < SHORTEST_ROOT:
            break
        bare = bare.removesuffix(end)
        if len(bare) > SHORTEST_ROOT and bare[-1] == bare[-2] and bare[-1] not in "sl":
            bare = bare[:-1]
    return f"{bare[:-1]}y" if bare.endswith("i") and len(bare) > 2 else bare


SYNONYM_ROOTS = {
    word_root(word): word_root(first)
    for first, *others in map(str.split, LISTS["synonyms"])
    for word in others
}


def _key(word: str) -> str:
    root = word_root(word)
    return SYNONYM_ROOTS.get(root, root)


CHANGES, ROLES, CARRIERS, CLASSIFIERS = (
    frozenset(map(_key, load_list(section)))
    for section in ("changes", "roles", "carriers", "classifiers")
)
OPPOSITE_KEYS = frozenset(frozenset(map(_key, pair.split("/"))) for pair in load_list("opposites"))
LIGHT = frozenset(map(word_root, load_list("light") | load_list("fillers")))


@dataclass(frozen=True, slots=True)
class Word:
    """`key`: equal for words that mean the same. `hard`: a number, a name or code. `light`: says little.
    `change`: a verb such as `raised`. `before`: the word before it. `under`: the prepositions and
    conjunctions that it belongs to. `linked`: the first word after `is`."""

    key: str
    hard: bool
    light: bool
    change: bool
    before: str
    under: frozenset[str]
    denied: bool
    linked: bool
    at: int

    @property
    def is_number(self) -> bool:
        return any(map(str.isdigit, self.key))


@dataclass(frozen=True)
class Claim:
    """A sentence to compare. `present`: it says that it holds from now on."""

    words: tuple[Word, ...]
    turns: frozenset[str]
    denials: int
    present: bool
    passive: bool

    @cached_property
    def keys(self) -> frozenset[str]:
        """Of the words that say something."""
        return frozenset(word.key for word in self.words if word.hard or not word.light)

    @property
    def denied(self) -> frozenset[str]:
        return frozenset(word.key for word in self.words if word.denied)

    @property
    def imperative(self) -> str:
        """Of `never edit …`, the verb."""
        return self.words[0].key if self.words and self.words[0].denied else ""

    @property
    def predicate(self) -> str:
        """Of `… must not be edited`, the verb."""
        found = [word.key for word in self.words if word.before == TO_BE]
        return found[-1] if self.passive and found else ""

    def under(self, mark: str) -> frozenset[str]:
        return frozenset(word.key for word in self.words if mark in word.under)


@lru_cache(maxsize=4096)
def parse_claim(text: str) -> Claim:
    found: list[Word] = []
    turns: set[str] = set()
    denials = 0
    present = passive = denied = linked = False
    before, preposition, conjunction, begins = "", "", "", True
    for token, code in _claim_tokens(text):
        low = token.lower()
        # `May` and `Service A` are names.
        function = "" if code or (token[0].isupper() and not begins) else low
        if function in TURNED:
            turns.add(TURNED[function])
        if not token[-1:].isalnum() and len(token) == 1:
            before = preposition = conjunction = ""
            denied, begins = False, low in ".!?;:"
        elif function in PRESENT:
            present = True
        elif function in DENIALS or stem(function) in REFUSALS:
            denials += 1
            denied, before, preposition = True, DENIAL, ""
        elif function in CONJUNCTIONS:
            before = conjunction = function
            denied, preposition = False, ""
        elif function in PREPOSITIONS:
            before = preposition = function
        elif function in AUXILIARIES:
            before, preposition = TO_BE, ""
            linked = function in ("is", "was")
        elif function not in DETERMINERS and function not in TURNED:
            bare = NUMBER_NAMES.get(low.strip("/."), low.strip("/."))
            bare = CLOCK.sub("", bare)
            number = any(map(str.isdigit, bare))
            hard = code or number or _is_hard(token, begins=begins)
            participle = bare.endswith("ed") or bare in IRREGULAR
            passive |= before in (TO_BE, DENIAL) and participle
            key = bare if code or number or not bare.isalpha() else _key(bare)
            light = not code and not number and word_root(bare) in LIGHT
            under = frozenset(filter(None, (preposition, conjunction)))
            change = key in CHANGES and bare.endswith(("ed", "ing", "became"))
            found.append(Word(key, hard, light, change, before, under, denied, linked, len(found)))
            before, begins, linked = key, False, False
    if turns & {"only", "most", "least"}:
        turns.discard("may")
    return Claim(tuple(found), frozenset(turns), denials, present, passive)


def _claim_tokens(text: str) -> Iterator[tuple[str, bool]]:
    """Each with whether it is code."""
    for pattern, put in PHRASES:
        text = pattern.sub(put, text)
    for token in CLAIM_TOKEN.findall(text):
        if token.startswith("`"):
            yield from ((part, True) for part in token.strip("`").split())
        elif measure := MEASURE.fullmatch(token):
            yield from ((part, False) for part in measure.groups())
        elif COMPOUND.fullmatch(token):
            yield from ((part, False) for part in token.split("-"))
        else:
            yield token, False


def compare(old: str, new: str) -> Relation | None:
    """How a newer sentence relates to an older one about the same subject. In doubt, not at all."""
    if old == new:
        return Relation.SAME
    if max(len(old), len(new)) > MAX_CLAIM or old.endswith("?") or new.endswith("?"):
        return None
    one, other = parse_claim(_unquote(old, new)), parse_claim(_unquote(new, old))
    pair = _Pair(one, other, *_differences(one, other))
    # `Use tabs` and `Use spaces` share no word that says something, and `The user works in Berlin` says
    # nothing beside its value.
    related = not one.keys.isdisjoint(other.keys) or one.keys | other.keys in OPPOSITE_KEYS
    if not related and len(one.words) - len(pair.lost) <= 1:
        return None
    if _is_other_choice(pair):
        return Relation.REPLACES
    found = Relation.SAME if pair.says_same() else _compare_values(pair)
    return found if found and _same_roles(one, other) else None


def _unquote(text: str, other: str) -> str:
    """Without the marks of code that the other text has without them."""
    return CODE.sub(lambda code: code[code[0] not in other and code[1] in other], text)


class _Pair(NamedTuple):
    """Two claims. `lost` and `gained`: the words that only the one or only the other has."""

    one: Claim
    other: Claim
    lost: list[Word]
    gained: list[Word]

    def says_same(self) -> bool:
        one, other = self.one, self.other
        extra = [*self.lost, *self.gained]
        if one.turns != other.turns or any(word.hard for word in extra):
            return False
        more, less = _telling(self.lost), _telling(self.gained)
        if one.denials % 2 != other.denials % 2:  # `may not leave`, `has to stay`
            return _are_opposite(more, less)
        if len(one.keys & other.keys) <= 1:  # too little, unless nothing else differs
            return not extra
        # A word in place of another may be the difference.
        kinds = [{_weight_class(word) for word in each} for each in (more, less)]
        if kinds[0] & kinds[1] or (0 in kinds[0] | kinds[1] and more and less):
            return False
        new = [word for word in (*more, *less) if not _weight_class(word)]
        return len(new) * EXTRA_WORDS <= max(len(one.keys), len(other.keys))


def _weight_class(word: Word) -> int:
    """Which words it can be missing beside: 0 if it says something of its own."""
    return 1 if word.key in CARRIERS else 2 if word.key in CLASSIFIERS else 0


def _are_opposite(ones: Sequence[Word], others: Sequence[Word]) -> bool:
    if len(ones) != 1 or len(others) != 1:
        return False
    return frozenset((ones[0].key, others[0].key)) in OPPOSITE_KEYS


def _compare_values(pair: _Pair) -> Relation | None:
    """Whether the newer one denies what the older one says, or has another value in its place."""
    old, new, *_ = pair
    lost, gained = _telling(pair.lost), _telling(pair.gained)
    changes = [word for word in gained if word.change]
    gained = [word for word in gained if word not in changes]
    if changes:  # the verb is another one now
        lost = [word for word in lost if word is lost[-1] or word.before != TO_BE]
    bare = [[word for word in each if not _weight_class(word)] for each in (lost, gained)]
    if all(bare) and (len(bare[0]) == len(lost) or len(bare[1]) == len(gained)):
        lost, gained = bare
    if old.turns - FREE_TURNS != new.turns - FREE_TURNS:
        return None
    if old.denials % 2 != new.denials % 2:
        return None if lost or gained else Relation.REPLACES
    changed = bool(changes) or (new.present and not old.present)
    if not changed and any(DAY.fullmatch(word.key) for word in (*lost, *gained)):
        return None  # two days on which something happened
    if _are_opposite(lost, gained):
        return Relation.REPLACES if changed else Relation.CONFLICTS
    shared = [word for word in new.words if word.key in {each.key for each in old.words}]
    rejected = [word for word in new.words if "than" in word.under]  # `X instead of Y`
    if rejected and not lost and 0 < len(gained) <= MAX_VALUE:
        named = all(word in shared for word in rejected) and len(shared) > len(rejected)
        return Relation.REPLACES if named else None
    if not (_is_value(lost) and _is_value(gained) and _same_subject(old, shared, lost, gained)):
        return None
    rests = old.words[lost[-1].at + 1 :], new.words[gained[-1].at + 1 :]
    led = lost[0].before == gained[0].before
    led |= bool(changes) and lost[0].at > 0 and gained[0].before in ("to", "by")
    followed = all(rests) and rests[0][0].key == rests[1][0].key
    if changed:
        certain = _may_change(lost, rests[0]) and _may_change(gained, rests[1])
        return Relation.REPLACES if certain and (led or followed) else None
    if not led or not all(word.hard for word in (*lost, *gained)):
        return None
    if len(lost) == len(gained) == 1 and lost[0].is_number and gained[0].is_number:
        many = ONE_OF_MANY & {word.key for word in old.words[: lost[0].at][-2:]}
        certain = _is_measured(lost[0], rests[0]) and _is_measured(gained[0], rests[1])
        certain &= not many or lost[0].before == TO_BE
        return Relation.REPLACES if certain else None
    certain = lost[0].linked and gained[0].linked and not any(rests)
    return Relation.REPLACES if certain else Relation.CONFLICTS


def _same_subject(
    old: Claim, shared: Sequence[Word], lost: Sequence[Word], gained: Sequence[Word]
) -> bool:
    """Whether enough is the same; a single word has to stand in the same place."""
    telling = _telling(shared)
    if not telling:
        return lost[0].before in PREPOSITIONS
    if len(shared) < 2 and lost[0].before not in PREPOSITIONS | {TO_BE}:
        return False
    twin = next(word for word in old.words if word.key == telling[0].key)
    places = twin.at < lost[0].at, telling[0].at < gained[0].at
    return len(telling) > 1 or (twin.under == telling[0].under and places[0] == places[1])


def _differences(one: Claim, other: Claim) -> tuple[list[Word], list[Word]]:
    """The words that only the one or only the other has."""
    return _unmatched(one, other), _unmatched(other, one)


def _unmatched(one: Claim, other: Claim) -> list[Word]:
    left = Counter(word.key for word in other.words)
    found = []
    for word in one.words:
        left[word.key] -= 1
        if left[word.key] < 0:
            found.append(word)
    return found


def _telling(found: Iterable[Word]) -> list[Word]:
    return [word for word in found if word.hard or not word.light]


def _is_value(found: Sequence[Word]) -> bool:
    """Whether the words stand side by side."""
    joined = all(two.before == one.key for one, two in pairwise(found))
    return 0 < len(found) <= MAX_VALUE and joined


def _is_other_choice(pair: _Pair) -> bool:
    """Whether something else is used for the same purpose: `use spaces for indentation`."""
    for claim, value in ((pair.one, pair.lost), (pair.other, pair.gained)):
        if len(value) != 1 or value[0].before != USE or claim.denials:
            return False
        rest = claim.words[value[0].at + 1 :]
        if not rest or rest[0].under.isdisjoint(("for", "as")):
            return False
    return True


def _may_change(value: Sequence[Word], rest: Sequence[Word]) -> bool:
    """Not what says which thing is meant: a subject (but for who does it), or what has a number after it."""
    if any(word.hard and not word.key.isalpha() for word in rest):
        return False
    if value[0].before in ("of", "for") and not value[0].is_number:
        return False
    return value[0].at > 0 or (len(value) == 1 and any(word.key in ROLES for word in rest))


def _is_measured(number: Word, rest: Sequence[Word]) -> bool:
    """Whether a number is a value and not a name: `after 10 minutes`, `on port 80`; not `server 1 runs`."""
    if number.at == 0 or any(word.is_number for word in rest):
        return False
    if number.before in PREPOSITIONS | CONJUNCTIONS | {TO_BE, DENIAL}:
        return len(rest) <= 2
    unit = len(rest) == 1 and rest[0].before == number.key and number.at >= 2
    return unit or (not rest and number.at >= 3)  # `See room 1` names a room


def _same_roles(one: Claim, other: Claim) -> bool:
    """Whether the words that both have stand in the same relation: not `A calls B` and `B calls A`."""
    order = [{word.key: word.at for word in reversed(each.words)} for each in (one, other)]
    shared = order[0].keys() & order[1].keys()
    pairs = [(one.under(mark) & shared, other.under(mark) & shared) for mark in ROLE_MARKS]
    pairs.append((one.denied & shared, other.denied & shared))
    if any(mine and theirs and mine.isdisjoint(theirs) for mine, theirs in pairs):
        return False
    for mark, turned in (("from", "to"), ("before", "after")):
        if shared & (one.under(mark) & other.under(turned) | one.under(turned) & other.under(mark)):
            return False
    if one.passive != other.passive:
        places, passive = (order[1], one) if one.passive else (order[0], other)
        actors = [word.key for word in passive.words if "by" in word.under and word.key in shared]
        subjects = [word.key for word in passive.words if word.key in shared and not word.under]
        return not (actors and subjects) or places[actors[0]] < places[subjects[0]]
    # `never edit what is deployed`, `what is deployed must not be edited`
    for command, rule in ((one, other), (other, one)):
        if command.imperative and rule.predicate and not rule.imperative:
            return command.imperative == rule.predicate
    marked = {word.key for each in (one, other) for word in each.words if word.under}
    bare = sorted(shared - marked, key=lambda key: order[0][key])
    return not any(order[1][a] > order[1][b] > order[1][c] for a, b, c in combinations(bare, 3))


def includes_sentence(whole: Statement, part: Statement) -> bool:
    """Whether a sentence says all that another one says: the same numbers, names and denials, and every word
    in the same order. `tabs, not spaces` does not include `spaces, not tabs`."""
    if whole.claim.turns != part.claim.turns or whole.claim.denials != part.claim.denials:
        return False
    rest, plain = iter(whole.order), plain_text(without_markup(whole.text))
    ordered = all(word in rest for word in part.order if word not in FILLERS)
    hard = all(has_token(each, plain) for each in part.hard)
    return ordered and hard and not contradicts(whole, part)


def contradict(one: str, other: str) -> bool:
    """Whether two sentences about the same subject cannot both hold, or perhaps not."""
    found = {compare(one, other), compare(other, one)}
    return Relation.SAME not in found and found != {None}
