"""What a memory says, sentence by sentence: its words, and what no other word can stand for.

Numbers, paths, addresses, code and names are hard: another word in their place is another fact. `not`, `only`
and `may` turn a sentence round. Nothing here understands a sentence; it is enough to see, if one is careful,
that two say the same, and that a fact of one text is still in another.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain

from recollect.english import NUMBER_WORDS, STOP_WORDS
from recollect.model.prose import CLAUSE_END, sentences, split
from recollect.statements import (
    COMMON_STEMS,
    DENIALS,
    Statement,
    contradict,
    likeness,
    sense,
    statement,
)
from recollect.text import words

LABEL = re.compile(
    r"^[ \t]*\*\*(?:why|how to apply)[:.]?\*\*[:.]?[ \t]*", re.IGNORECASE | re.MULTILINE
)
ADDRESS = re.compile(r"\b[a-z][a-z0-9+.-]{1,10}://[^\s<>\"'`)\]}]+", re.IGNORECASE)
CODE = re.compile(r"`+([^`\n]+)`+")
FENCE = re.compile(r"^[ \t]*(?:```|~~~).*$", re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]*)\)")
TOKEN = re.compile(r"[~.]{0,2}/?\w+(?:[-./\\:@+#_]+\w+)*(?:[+#]+|/)?|\$\w+")
LAST_WORD = re.compile(r"(\w+)\W*\Z")
OPENING = " \t*_\"'“‘(["
POSSESSIVE = re.compile(r"['’]s\b")
THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}\b)")
# `one` is a pronoun more often than a number.
NUMBERS = {word: number for word, number in NUMBER_WORDS.items() if word != "one"}
NUMBER_WORD = re.compile(rf"\b(?:{'|'.join(NUMBERS)})\b")
CLAUSE = re.compile(rf"{CLAUSE_END.pattern}|,\s+|\s+(?=(?:and|but|instead)\s)|\s[–—-]\s|:\s")
TURNS = dict.fromkeys(words("may can could might optionally sometimes"), "may") | {
    "only": "only", "except": "except", "unless": "except", "if": "if", "when": "if", "until": "until",
}  # fmt: skip
# Whose words they are, and how much they are meant: every memory has some of these.
FILLERS = frozenset(
    map(
        sense,
        words(
            "always every each user users prefer preference want like please should must shall need use "
            "using sure ensure remember note rule"
        ),
    )
)
CONTRACTED = ("n't", "n’t")
WEAK = FILLERS | COMMON_STEMS
KEPT_WORDS = 0.75  # of a sentence: as many must stand where it is said to be kept
NEW_WORDS = 0.5  # of a sentence: as many are a new fact
ROOT = 6  # letters: `deploys` and `deployments` are one word here
SUBJECT = 0.6  # as near as this to the nearest sentence is about the same
LEAST_WORDS = 2  # fewer say nothing


@dataclass(frozen=True)
class Said:
    """A sentence. `hard`: its numbers and names, in order; `leads`: the word before each of them. `turns`:
    what turns it round."""

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
        """Words that tell what it is about."""
        return self.words - WEAK

    @property
    def about(self) -> frozenset[str]:
        return self.telling or self.words

    @property
    def says_something(self) -> bool:
        return bool(self.hard) or len(self.words) >= LEAST_WORDS


def said(text: str) -> tuple[Said, ...]:
    """The sentences of a Markdown text. What only labels them (`**Why:**`) is left out."""
    plain = _unlinked(FENCE.sub("", LABEL.sub("", text)))
    return tuple(map(_said, sentences(plain)))


@lru_cache(maxsize=4096)
def _said(sentence: str) -> Said:
    bare = THOUSANDS.sub("", _bare(sentence))
    hard = _hard(sentence)
    return Said(sentence, statement(bare), tuple(hard), tuple(hard.values()), _turns(bare))


def _turns(sentence: str) -> tuple[str, ...]:
    found = []
    for word in re.findall(r"[\w'’]+", sentence.lower()):
        if word in DENIALS or word.endswith(CONTRACTED):
            found.append("not")
        elif word in TURNS:
            found.append(TURNS[word])
    return tuple(sorted(found))


def _hard(sentence: str) -> dict[str, str]:
    """Each with the word before it."""
    found: dict[str, str] = {}
    text = THOUSANDS.sub("", POSSESSIVE.sub("", sentence))
    for mark in (*ADDRESS.finditer(text), *CODE.finditer(ADDRESS.sub(_blanks, text))):
        hard = _plain(mark[mark.lastindex or 0]).rstrip(".,;:!?/")
        found[hard] = _word_before(text, mark.start())
    text = CODE.sub(_blanks, ADDRESS.sub(_blanks, text))
    for mark in TOKEN.finditer(text):
        token = mark[0].rstrip(".")
        if _is_hard(token, begins=not text[: mark.start()].strip(OPENING)):
            found[_plain(token)] = _word_before(text, mark.start())
    return found


def _blanks(mark: re.Match[str]) -> str:
    return ";" + " " * (len(mark[0]) - 1)


def _word_before(text: str, at: int) -> str:
    found = LAST_WORD.search(text, 0, at)
    return found[1].lower() if found else ""


def _is_hard(token: str, *, begins: bool) -> bool:
    """The first word of a sentence has a capital, whatever it is."""
    if any(map(str.isdigit, token)) or token.lower() in NUMBERS:
        return True
    if any(c in "/\\_@$+#" for c in token) or ("." in token.strip(".")) or token.startswith("."):
        return True
    capitals = any(map(str.isupper, token[1:]))
    return capitals or (
        token[:1].isupper() and not begins and token.lower() not in STOP_WORDS | {"i"}
    )


def _plain(text: str) -> str:
    """One case, one blank, figures for numbers in words."""
    low = THOUSANDS.sub("", " ".join(text.lower().split()))
    return NUMBER_WORD.sub(lambda word: NUMBERS[word[0]], low)


def _bare(text: str) -> str:
    return _unlinked(text).replace("`", "").replace("*", "")


def _unlinked(text: str) -> str:
    """An address or a path is a fact, wherever it stands; a link to another memory is none."""
    return LINK.sub(lambda link: f"] {link[1]}" if "/" in link[1] else "]", text)


def _stands_in(hard: str, plain: str) -> bool:
    """`8080` does not in `18080`, nor `3.1` in `3.11`."""
    plural = "(?:['’]?s)?" if hard[-1:].isalpha() else ""
    pattern = rf"(?<![\w])(?<!\d[.,]){re.escape(hard)}{plural}(?![\w])(?![.,]\d)"
    return re.search(pattern, plain) is not None


class Text:
    """What stays, looked into for what must not be lost."""

    def __init__(self, *parts: str) -> None:
        self.sentences = tuple(chain.from_iterable(map(said, parts)))
        self._plain = _plain(_bare("\n".join(parts)))
        self._words = frozenset(word for each in self.sentences for word in each.words)
        self._roots = frozenset(word[:ROOT] for word in self._words if len(word) >= ROOT)

    @cached_property
    def pieces(self) -> tuple[Said, ...]:
        """Sentences, and the clauses that they are made of."""
        clauses = (part for each in self.sentences for part in split(each.text, CLAUSE))
        return (*self.sentences, *map(_said, filter(None, clauses)))

    def has(self, hard: str) -> bool:
        return _stands_in(hard, self._plain)

    def knows(self, word: str) -> bool:
        return word in self._words or (len(word) >= ROOT and word[:ROOT] in self._roots)

    def keeps(self, one: Said) -> bool:
        """The sentence can be found here, perhaps in other words and in more than one sentence."""
        known = sum(map(self.knows, one.about))
        if known < KEPT_WORDS * len(one.about) or not all(map(self.has, one.hard)):
            return False
        # Nobody can tell whether the word that a sentence begins with is a name.
        first = next((word for word in one.statement.order if word in one.words), "")
        if first and first not in WEAK and not self.knows(first):
            return False
        return not self._turns_round(one)

    def _turns_round(self, one: Said) -> bool:
        """Whatever here is about the same says the contrary."""
        near = [(likeness(one.about, each.about), each) for each in self.pieces]
        best = max((score for score, _ in near), default=0.0)
        nearest = (each for score, each in near if score and score >= SUBJECT * best)
        return best > 0 and all(contradict(one.statement, each.statement) for each in nearest)


def same(one: Said, other: Said) -> bool:
    """Two sentences that say the same: no other number, name or `not`, hardly another word."""
    if one.text == other.text:
        return True
    if one.turns != other.turns or contradict(one.statement, other.statement):
        return False
    if not (_holds(one, other) and _holds(other, one) and one.words & other.words):
        return False
    more, less = one.words - other.words - FILLERS, other.words - one.words - FILLERS
    # A word in place of another may be the very difference.
    if (more and less) or len(more | less) > min(len(one.telling), len(other.telling)) // 8:
        return False
    return _same_order(one, other)


def _holds(one: Said, other: Said) -> bool:
    plain = _plain(_bare(one.text))
    return all(_stands_in(hard, plain) for hard in other.hard)


def _same_order(one: Said, other: Said) -> bool:
    """`tabs over spaces` and `spaces over tabs` have the same words."""
    shared = one.words & other.words - FILLERS
    mine, theirs = (_once(each.statement.order, shared) for each in (one, other))
    if one.statement.directed or other.statement.directed or one.turns:
        return mine == theirs
    return _in_common(mine, theirs) >= len(mine) - 1


def _once(order: Iterable[str], among: frozenset[str]) -> list[str]:
    return list(dict.fromkeys(word for word in order if word in among))


def _in_common(one: Sequence[str], other: Sequence[str]) -> int:
    """The longest run of words that both have in this order, with gaps."""
    row = [0] * (len(other) + 1)
    for word in one:
        before = row
        row = [0]
        for n, theirs in enumerate(other):
            row.append(before[n] + 1 if word == theirs else max(before[n + 1], row[n]))
    return row[-1]


def conflict(one: Said, other: Said) -> bool:
    """They are about the same and cannot both hold: one denies it, or has another number or name."""
    mine, theirs = (each.about - _hard_words(each) for each in (one, other))
    differ = not _holds(one, other) and not _holds(other, one)
    if mine == theirs and mine:
        return differ or contradict(one.statement, other.statement)
    # `the port` and `the debug port` may be two things, as may what each has a word of its own for.
    if not (mine < theirs or theirs < mine) or len(mine & theirs) < LEAST_WORDS:
        return False
    led = {lead for hard, lead in zip(one.hard, one.leads, strict=True) if hard not in other.hard}
    rivals = {
        lead for hard, lead in zip(other.hard, other.leads, strict=True) if hard not in one.hard
    }
    return differ and likeness(mine, theirs) >= SUBJECT and bool(led & rivals)


def _hard_words(one: Said) -> frozenset[str]:
    return frozenset(word for hard in one.hard for word in statement(hard).order)


def lost(text: str, kept: Text) -> tuple[Said, ...]:
    """The sentences of a text that cannot be found in what is kept."""
    return tuple(each for each in said(text) if each.says_something and not kept.keeps(each))


def invented(text: str, sources: Text) -> tuple[str, ...]:
    """What a text says and none of its sources does."""
    found: dict[str, None] = {}
    for each in said(text):
        strange = [hard for hard in each.hard if not sources.has(hard)]
        found |= dict.fromkeys(strange)
        new = [word for word in each.telling if not sources.knows(word)]
        if new and not strange and len(new) >= NEW_WORDS * len(each.telling):
            found[each.text] = None
    return tuple(found)
