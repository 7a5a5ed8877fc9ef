"""Memories that a model proposes: read from its reply, and grounded in what the user said.

A JSON array is asked for; a single object, a cut-off array and tags instead of JSON are read, too. A reply
that cannot be read is a value (`Unusable`).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from aforesaid.grounding import KnownText, contradicts_source, stands_in
from aforesaid.memory.extraction.rules import describe, stated_type
from aforesaid.memory.extraction.sentences import (
    FUTURE,
    LASTING,
    OWN_SAYING,
    is_joke,
    is_task,
    masked,
    orders_the_memory,
    own_sentences,
    passing,
    unopened,
)
from aforesaid.memory.extraction.words import any_of
from aforesaid.memory.replies import Unusable, json_values
from aforesaid.model.memories import FEEDBACK, PROJECT, REFERENCE, TYPES, USER, Memory, Message
from aforesaid.model.prose import sentences
from aforesaid.privacy.redactor import RULES, Redactor
from aforesaid.similarity import (
    Sentence,
    includes_sentence,
    parse_sentences,
    text_words,
    word_overlap,
)
from aforesaid.text import clean, cut, one_line, words

MAX_DRAFTS = 5  # of one reply; whoever finds more repeats itself
MAX_REPLY = 20_000  # characters of a reply that are looked at
MAX_DRAFT_LINE, MAX_DRAFT_TEXT = 200, 1_200
FIELDS = ("type", "name", "description", "body", "why", "how", "updates")
OTHER_NAMES = {
    "how": ("how_to_apply", "how to apply", "apply"),
    "description": ("summary", "title"),
    "body": ("content", "text", "statement", "memory", "fact"),
    "updates": ("update", "replaces"),
    "why": ("reason",),
    "name": ("id", "slug"),
}
LIKE = (
    dict.fromkeys(words("preference person"), USER)
    | dict.fromkeys(words("rule instruction constraint guideline convention correction"), FEEDBACK)
    | dict.fromkeys(words("link location pointer"), REFERENCE)
)
TAGGED = re.compile(
    r"<(?P<tag>memory|item|draft)\b[^<>]*>(?P<inner>.*?)</(?P=tag)>", re.DOTALL | re.IGNORECASE
)
TAG = re.compile(r"<(?P<tag>\w+)>(?P<text>.*?)</(?P=tag)>", re.DOTALL)
NOTHING = re.compile(
    r"\W*(?:none|null|nothing(?: (?:new|to (?:remember|keep|add)).*)?|no (?:new )?memor(?:y|ies).*|n/a)\W*",
    re.IGNORECASE | re.DOTALL,
)
EMPTY = re.compile(
    r"\W*(?:none|null|n/a|unknown|not (?:stated|given|specified|mentioned))?\W*", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Draft:
    """`body`: the statement alone. `updates`: the name of the memory that it replaces."""

    type: str
    name: str
    description: str
    body: str
    why: str = ""
    how: str = ""
    updates: str = ""


def read_extraction(reply: str) -> tuple[Draft, ...] | Unusable:
    text = clean(reply[:MAX_REPLY]).strip()
    found = [draft for each in _objects(text) if (draft := _draft(each))]
    if found:
        return tuple(dict.fromkeys(found))[:MAX_DRAFTS]
    if re.search(r"\[\s*\]", text) or NOTHING.fullmatch(text.strip("`")):
        return () if text else Unusable("it is empty")
    return Unusable("there is neither a memory nor an empty list in it")


def _objects(text: str) -> Iterator[Mapping[str, Any]]:
    """The JSON objects of a reply, or else its `<memory>` tags."""
    values = list(json_values(text.replace("“", '"').replace("”", '"')))
    found = [each for value in values for each in _flatten(value)]
    yield from found
    for block in () if found else TAGGED.finditer(text):
        yield {each["tag"].lower(): each["text"] for each in TAG.finditer(block["inner"])}


def _flatten(value: Any) -> Iterator[Mapping[str, Any]]:
    """An object that holds lists of memories stands for them."""
    if isinstance(value, list):
        yield from (each for each in value if isinstance(each, Mapping))
    elif isinstance(value, Mapping):
        lists = [v for v in value.values() if isinstance(v, list) and v]
        lists = [v for v in lists if all(isinstance(each, Mapping) for each in v)]
        yield from (each for v in lists for each in v) if lists else (value,)


def _draft(value: Mapping[str, Any]) -> Draft | None:
    known = {str(key).lower().strip(): each for key, each in value.items()}
    read = {field: _field(known, field) for field in FIELDS}
    line = one_line(read["description"] or read["body"], MAX_DRAFT_LINE)
    if not line:
        return None
    return Draft(
        type=_draft_type(read["type"]),
        name=one_line(read["name"], 80),
        description=line,
        body=cut(read["body"] or read["description"], MAX_DRAFT_TEXT),
        why=one_line(read["why"], MAX_DRAFT_LINE),
        how=one_line(read["how"], MAX_DRAFT_LINE),
        updates=one_line(read["updates"], 80),
    )


def _field(known: Mapping[str, Any], field: str) -> str:
    for name in (field, *OTHER_NAMES.get(field, ())):
        value = known.get(name)
        if isinstance(value, list):
            value = " ".join(str(each) for each in value if isinstance(each, str))
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            text = str(value).strip()
            if not EMPTY.fullmatch(text):
                return text
    return ""


def _draft_type(said: str) -> str:
    """`project` for an unknown type: in one project alone, a wrong guess harms least."""
    names = words(said.lower().replace("_", " "))
    plain = next((each for each in names if each in TYPES), None)
    return plain or next((LIKE[each] for each in names if each in LIKE), PROJECT)


SAME_REASON = 0.75  # likeness of a reason that is none
MIN_SIMILARITY = 0.4  # likeness of a proposal to the sentence it rests on
_YES = any_of(
    "yes yep yeah yup exactly correct right agreed sure absolutely definitely of_course please_do "
    "do_(?:that|so|it) sounds_good that's_right true indeed"
)
AGREES = re.compile(rf"\W*(?:(?:oh|ok|okay|ah),?\s+)?{_YES}\b", re.IGNORECASE)
OFFER = re.compile(
    r"^.*?\b(?:should|shall|can|may) (?:i|we)\s+|^.*?\b(?:want|like) me to\s+", re.IGNORECASE
)
MIN_DESCRIPTION_SHARE = 0.5  # of the sentence's words, in a description
LEAST_WORDS = 3  # of a description
LONGEST_AGREEMENT = 8  # words; whoever says more says it themselves
_SAY = any_of(
    "says said saying wrote keeps?_(?:telling|saying|asking) according_to told_(?:me|us) claims "
    "recommends suggests prefers thinks contains apparently supposedly"
)
REPORTED = re.compile(rf"\b{_SAY}\b", re.IGNORECASE)
# How people report a bug: it will be fixed, and then it is no longer true.
_WRONG = any_of(
    "fails? failing crashes crashing is_broken breaks errors? exceptions? timeouts? times_out hangs? "
    "is_stuck doesn't_work not_working is_wrong flickers? is_slow is_missing is_null throws? overflows? "
    "leaks? invalidated drifts? can't_(?:see|find|open|log|reach) is_flaky i_(?:always_)?get"
)
SYMPTOM = re.compile(rf"\b{_WRONG}\b", re.IGNORECASE)
# If the rules do not take it for a rule of work, it is a requirement for a program.
OF_A_PROGRAM = re.compile(r"^(?:always|never|whenever|every ?time|by default)\b", re.IGNORECASE)
FIRST_PERSON = re.compile(r"\b(?:i|i'm|i'd|i've|me|my|mine)\b", re.IGNORECASE)
USER_WORD = re.compile(r"\b(?:The )?Users?\b")


@dataclass(frozen=True, slots=True)
class Source:
    """A sentence that may be remembered. `agreed`: it is the assistant's, and the user said yes to it.
    `newest`: of this turn; the others were processed in theirs."""

    text: str
    said: Sentence
    agreed: bool
    joking: bool
    newest: bool


@dataclass(frozen=True, slots=True)
class DroppedDraft:
    draft: Draft
    why: str


def ground_draft(
    draft: Draft, dialogue: Sequence[Message], redactor: Redactor = RULES
) -> Draft | DroppedDraft:
    """The draft with the user's own sentence as its body, and without what they did not say; or dropped, if
    nothing remains."""
    whole = "\n".join((draft.description, draft.body, draft.why, draft.how))
    if redactor.has_secret(whole):
        return DroppedDraft(draft, "it looks like a secret")
    if orders_the_memory(whole):
        return DroppedDraft(draft, "it gives orders to the memory")
    sources = list(_sources(dialogue))
    text = KnownText(*(source.text for source in sources))
    line, body = (USER_WORD.sub("the user", each) for each in (draft.description, draft.body))
    stand = [each for each in (line, body) if stands_in(each, text)]
    rests_on = _nearest(stand[0], sources) if stand else None
    if rests_on is None:
        return DroppedDraft(draft, "the user did not say it")
    if why := _not_to_keep(rests_on, stand[0]):
        return DroppedDraft(draft, why)
    about = rests_on.said.about
    # The line has to say most of the sentence: half of it may be the less important half.
    tells = (
        line in stand
        and len(text_words(line) & about) >= MIN_DESCRIPTION_SHARE * len(about)
        and len(line.split()) >= LEAST_WORDS
    )
    described = describe(OFFER.sub("", rests_on.text) if rests_on.agreed else rests_on.text)
    return replace(
        draft,
        type=_grounded_type(draft.type, rests_on),
        description=draft.description if tells else described,
        body=f"Agreed to: {rests_on.text}" if rests_on.agreed else rests_on.text,
        why=_more(draft.why, stand, sources, text),
        how=_more(draft.how, stand, sources, text),
    )


def _more(part: str, stand: Sequence[str], sources: Sequence[Source], text: KnownText) -> str:
    """A reason that was given. Small models repeat the statement instead, or give another one."""
    nearest = _nearest(part, sources)
    if nearest is None or not stands_in(part, text):
        return ""
    same = any(word_overlap(text_words(part), text_words(each)) >= SAME_REASON for each in stand)
    other = stated_type(nearest.text) is not None and nearest is not _nearest(stand[0], sources)
    return "" if same or other else part


def _sources(dialogue: Sequence[Message]) -> Iterator[Source]:
    newest = max((n for n, each in enumerate(dialogue) if each.role == "user"), default=-1)
    asked = ""
    for number, message in enumerate(dialogue):
        if message.role != "user":
            asked = message.text
            continue
        own = own_sentences(message.text)
        joking = is_joke(masked("\n".join(own)))
        for text, is_agreed in (
            *((text, False) for text in own if not text.endswith(":")),
            *((text, True) for text in sentences(asked) if user_agreed(message.text)),
        ):
            for one in parse_sentences(text):
                yield Source(text, one, is_agreed, joking, newest=number == newest)
        asked = ""


def user_agreed(text: str) -> bool:
    return AGREES.match(text) is not None and len(text.split()) <= LONGEST_AGREEMENT


def _nearest(text: str, sources: Sequence[Source]) -> Source | None:
    near = [(word_overlap(text_words(text), s.said.words), s) for s in sources if s.newest]
    score, source = max(near, key=lambda pair: pair[0], default=(0.0, None))
    return source if score >= MIN_SIMILARITY else None


def _not_to_keep(source: Source, text: str) -> str | None:
    if contradicts_source(text, source.said.text):
        return "the user said the contrary"
    if source.agreed:
        return None if LASTING.search(source.text) or "stop" in source.text else "for this turn"
    plain = masked(source.text)
    if source.joking:
        return "a joke"
    if why := passing(plain):
        return why
    if REPORTED.search(plain) and not OWN_SAYING.search(plain):
        return "somebody else's words"
    if is_task(plain):
        return "a task for this turn"
    if stated_type(source.text):
        return None
    if SYMPTOM.search(text) or SYMPTOM.search(plain.partition(", ")[0]):
        return "a fault, not a fact"
    return "what a program is to do" if OF_A_PROGRAM.match(unopened(plain)) else None


def _grounded_type(kind: str, source: Source) -> str:
    """By the rules, if they apply. What is told in all projects must be about the person."""
    if stated := stated_type(source.text):
        return stated
    if kind == USER and not FIRST_PERSON.search(masked(source.text)):
        return FEEDBACK
    return kind


SAME_SUBJECT = 0.4  # likeness of a memory and of what is to take its place


def covers(memory: Memory, new: Memory) -> bool:
    """Whether the memory says all that the new one's description does. In doubt both are kept; a dream may
    merge them."""
    return _says_text(memory, new.description)


def covers_all(memory: Memory, other: Memory) -> bool:
    """Whether the memory says all that the other's whole text does."""
    return _says_text(memory, f"{other.description}\n{other.body}")


def _says_text(memory: Memory, text: str) -> bool:
    if not words(text):  # signs alone
        return text.strip() in (memory.description.strip(), memory.body.strip())
    known = parse_sentences(f"{memory.description}\n{memory.body}")
    new = parse_sentences(FUTURE.sub(" ", text))
    return all(any(includes_sentence(old, each) for old in known) for each in new)


def may_update(old: Memory, new: Memory) -> bool:
    """Whether they are about the same subject, and do not say the same."""
    return word_overlap(subject_words(old), subject_words(new)) >= SAME_SUBJECT and not covers(
        old, new
    )


def subject_words(memory: Memory) -> frozenset[str]:
    return frozenset(word for each in parse_sentences(memory.description) for word in each.about)
