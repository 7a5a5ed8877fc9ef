"""Which of the agent's own sentences are worth keeping: causes, constraints, findings, decisions, open ends.

A sentence is scored by what it says (cues.txt), where it stands (label, closing message, commit) and how
specific it is (code, names, numbers). What only accompanies the work, repeats a better sentence or needs its
neighbours to be understood is left out.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from aforesaid.providers.extract.passages import LONGEST, Passage, read_passages
from aforesaid.similarity import WIDE, content_words, word_overlap
from aforesaid.text import load_sections

CLOSING, COMMIT, BETWEEN = "closing", "commit", "between"  # where a passage stands


def _load_cues() -> dict[str, re.Pattern[str]]:
    """The patterns of cues.txt by kind. Scripts without spaces have no word boundaries."""
    found = {}
    for heading, lines in load_sections(Path(__file__).with_name("cues.txt")).items():
        name, where = heading.split()
        rows = [line.partition(": ")[::2] for line in lines]
        found[name] = _compile(
            [(key, each.strip()) for key, row in rows for each in row.split(" | ")], where
        )
    return found


def _compile(rows: list[tuple[str, str]], where: str) -> re.Pattern[str]:
    spaced = "|".join(pattern for language, pattern in rows if language not in UNSPACED)
    other = "".join(f"|{pattern}" for language, pattern in rows if language in UNSPACED)
    if where == "whole":
        return re.compile(rf"(?:{spaced}{other})[\s.!:—-]*", re.IGNORECASE)
    front = r"\b" if where == "anywhere" else ""
    return re.compile(rf"{front}(?:{spaced})\b{other}", re.IGNORECASE)


UNSPACED = ("zh", "ja", "en+")  # `en+`: begins with a mark
CUES = _load_cues()
CAUSE, CONSTRAINT, FINDING, DECISION = (
    CUES[name] for name in ("cause", "constraint", "finding", "decision")
)
VERIFIED, CHANGED, DID, OPEN, ASKS, CHAT = (
    CUES[name] for name in ("verified", "changed", "did", "open", "asks", "chat")
)
WHY_LABEL, CAVEAT_LABEL, CHANGE_LABEL, NEXT_LABEL = (
    CUES[name] for name in ("why_label", "caveat_label", "change_label", "next_label")
)
NEXT_LEAD = re.compile(rf"(?:{NEXT_LABEL.pattern})\s*(?::|[–—-]\s|,)\s*(?=\S)", re.IGNORECASE)
POINTING = CUES["pointing"]  # such a sentence needs the one before it
SUBJECTLESS, PRAISE = CUES["subjectless"], CUES["praise"]
LINK = re.compile(  # `no` and `right` only as an answer: `No hooks fire` says something else
    r"(?:(?:(?:but|and|also|so(?! far\b| that\b| long\b| much\b| many\b)|unfortunately|actually|however|then"
    r"|finally|additionally)\b,?|(?:yes|no|done|sure|right|exactly|absolutely|correct|indeed|ok(?:ay)?"
    r"|you'?re right|(?:so )?to answer your question)(?:, absolutely)?(?:[,.:!]| [–—-](?=\s))"
    r"|looking (?:back )?at [^,.]{3,60},"
    r"|i(?:'ve| have)? (?:can )?(?:now )?(?:found|see|noticed|confirmed|verified|discovered)"
    r"(?: it| the (?:\w+ )?\w+)?(?::| [–—-]| that))\s+)+",
    re.IGNORECASE,
)
PRONOUN = re.compile(r"(?:it|its|this|that|they|their|these|those)\b", re.IGNORECASE)
SELF = re.compile(r"\b(?:I|[Ll]et me|[Ll]et's)\b")
DEFINITION = re.compile(r"`[^`]+`(?:\s\([^)]*\))?\s*(?:[–—:-]|→)\s")  # `name` - what it is
CODE = re.compile(
    r"`[^`]+`|\b\w+(?:[._/]\w+)+\b|\b[a-z]+[A-Z]\w+|\b[A-Z]\w*[a-z]\w*[A-Z]\w*|\w+\(\)"
)
NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)*(?![\w])")
SAME = 0.6  # of the words of the shorter one
LEAST_WORDS, LEAST_ITEM = 4, 7  # of a sentence, and of a list's item that names no code
MAX_SENTENCE = 2_000  # characters: what is longer is no sentence
LEAST, LEAST_WIDE = 25, 10  # characters, and in scripts without spaces
PLACES = {CLOSING: 1.0, COMMIT: 1.2, BETWEEN: 0.0}
WORTH, WORTH_BETWEEN = 1.5, 2.4  # scores from which a passage is kept


@dataclass(frozen=True, slots=True)
class Chosen:
    """`why`: it states a cause, a constraint, a finding or a decision, and not only what was changed."""

    said: str
    lead: str  # the label that it stands under
    score: float
    why: bool
    order: int
    place: str = CLOSING
    item: bool = False  # of a list

    @property
    def text(self) -> str:
        return self.lead + self.said


def without_link(passage: Passage) -> Passage:
    """Without the words that only tie it to the sentence before, such as `But`."""
    link = LINK.match(passage.text)
    bare = passage.text[link.end() :] if link else ""
    return replace(passage, text=bare[0].upper() + bare[1:]) if len(bare) >= LEAST else passage


def join_pronouns(passages: Iterable[Passage]) -> list[Passage]:
    """A sentence that begins with a pronoun stays with the one before it, which says what it is about."""
    found: list[Passage] = []
    for each in passages:
        last = found[-1] if found else None
        if (
            last
            and PRONOUN.match(each.text)
            and last.label == each.label
            and len(last.text) + len(each.text) < LONGEST
            and last.text.endswith((".", "。"))
            and not is_chat(last.text)
        ):
            found[-1] = replace(last, text=f"{last.text} {each.text}")
        else:
            found.append(each)
    return found


def is_chat(sentence: str) -> bool:
    return CHAT.fullmatch(sentence) is not None or ASKS.match(sentence) is not None


def is_open(passage: Passage) -> bool:
    return NEXT_LABEL.match(passage.label) is not None or (
        OPEN.search(passage.text) is not None and not passage.text.endswith((":", "?"))
    )


def says_change(passage: Passage) -> bool:
    return bool(CHANGED.match(passage.text)) or bool(CHANGE_LABEL.match(passage.label))


def score(passage: Passage, place: str) -> tuple[float, bool]:
    """How much it says, and whether it says why."""
    said = passage.text
    if len(said) > MAX_SENTENCE:
        return 0.0, False
    wide = WIDE.search(said) is not None
    least = LEAST_WIDE if wide else LEAST
    if (
        len(said) < least
        or said.endswith(("?", "？"))
        or is_chat(said)
        or ASKS.match(passage.label)
    ):
        return 0.0, False
    labelled = bool(WHY_LABEL.match(passage.label) or CAVEAT_LABEL.match(passage.label))
    words = [word for word in said.split() if word[0] not in "`(" or labelled or DID.match(said)]
    if said.endswith(":") or said[0] == "/" or (not wide and len(words) < LEAST_WORDS):
        return 0.0, False
    if place == BETWEEN and SELF.search(said):
        return 0.0, False  # about the work in progress
    unfinished = passage.item or said[-1] not in ".!。！)"
    fragment = (unfinished and _is_heading(words)) or (passage.item and _is_fragment(said, words))
    if fragment and not DID.match(said):
        return 0.0, False
    cause, constraint = bool(CAUSE.search(said)), bool(CONSTRAINT.search(said))
    finding, decision = bool(FINDING.search(said)), bool(DECISION.search(said))
    changed = says_change(passage)
    points = 2.0 * cause + 1.1 * constraint + 0.8 * finding + 0.9 * decision
    points += 1.0 * labelled + 0.8 * changed + 0.3 * passage.joined
    points += 0.4 * min(3, len(CODE.findall(said))) + 0.2 * min(2, len(NUMBER.findall(said)))
    points += PLACES[place]
    if POINTING.match(said) and not passage.joined:
        points -= 1.2
    if PRAISE.search(said):
        points -= 2.0
    if (DEFINITION.match(said) or SUBJECTLESS.match(said)) and not (cause or constraint):
        points -= 1.0
    if VERIFIED.search(said) and not cause:
        points, constraint = points - 1.5, False  # outcomes are told by exit codes
    if len(said) > LONGEST:
        points -= 0.8
    why = cause or labelled or ((constraint or decision or finding) and not changed)
    return points, why


def _is_heading(words: list[str]) -> bool:
    """Most words begin with a capital, as in a title."""
    plain = [word for word in words if word.isalpha() and len(word) > 3]
    return len(words) <= 12 and len(plain) > 1 and all(map(str.istitle, plain))


def _is_fragment(said: str, words: list[str]) -> bool:
    return len(words) < LEAST_ITEM and not CODE.search(said) and not WIDE.search(said)


def choose(texts: Iterable[tuple[str, str]], *, answers: bool = False) -> list[Chosen]:
    """The passages of some texts with their places, best first, each thing once. `answers`: the closing
    message answers a question, so its first sentences count for more."""
    found: list[Chosen] = []
    order = 0
    first = FIRST if answers else 0
    for place, source in texts:
        for each in join_pronouns(map(without_link, read_passages(source))):
            order += 1
            if is_open(each) and place != COMMIT:
                continue
            begins = first > 0 and place == CLOSING and not each.item and CODE.search(each.text)
            passage = replace(each, text=each.text.rstrip(":")) if begins else each  # code follows
            points, why = score(passage, place)
            if begins and points > 0:
                first, points, why = first - 1, points + 1.0, True
            least = WORTH_BETWEEN if place == BETWEEN else WORTH
            if points >= least and (why or place != BETWEEN):
                lead = "" if LINK.fullmatch(passage.lead) else passage.lead
                found.append(Chosen(passage.text, lead, points, why, order, place, passage.item))
    return without_repetitions(_last_causes(found))


def _last_causes(found: list[Chosen]) -> list[Chosen]:
    """While an agent searches it names one cause after the other: the later ones are nearer to the truth."""
    between = [each for each in found if each.place == BETWEEN]
    kept = set(between[-KEPT_BETWEEN:])
    return [each for each in found if each.place != BETWEEN or each in kept]


KEPT_BETWEEN = 6
FIRST = 2  # sentences


def without_repetitions(found: Iterable[Chosen]) -> list[Chosen]:
    known: list[set[str]] = []
    kept: list[Chosen] = []
    for each in sorted(found, key=lambda one: -one.score):
        own = set(content_words(each.text))
        if own and not any(_repeats(own, other) for other in known):
            known.append(own)
            kept.append(each)
    return kept


def _repeats(own: set[str], other: set[str]) -> bool:
    return (
        bool(other)
        and len(own & other) >= SAME * min(len(own), len(other))
        and (len(own) <= len(other) * 1.5 or word_overlap(own, other) >= SAME)
    )


def find_open_ends(message: str | None) -> list[str]:
    """What the agent says is left to do: items under such a heading, and sentences that say so."""
    found = []
    for passage in read_passages(message or ""):
        label = NEXT_LEAD.match(passage.text)
        if label or (is_open(passage) and not is_chat(passage.text) and len(passage.text) > 3):
            found.append(passage.text[label.end() :] if label else passage.text)
    return found


def find_question(message: str | None) -> str | None:
    """The question the agent ends with, if it asks one."""
    ending = [passage.text for passage in read_passages(message or "")][-3:]
    return next((said for said in reversed(ending) if said.endswith(("?", "？"))), None)
