"""Memories that a model proposes: read from its reply, and grounded in what the user said.

A JSON array is asked for; a single object, a cut-off array and tags instead of JSON are read, too. A reply
that cannot be read is a value (`Unusable`).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from aforesaid.grounding import KnownText, contradicts_source, stands_in
from aforesaid.memory.extraction.rules import describe, is_task, read
from aforesaid.memory.extraction.sentences import (
    CUES,
    begins,
    has,
    is_hearsay,
    is_joke,
    normalize,
    orders_the_memory,
    own_sentences,
)
from aforesaid.memory.replies import Unusable, json_values
from aforesaid.model.memories import FEEDBACK, PROJECT, REFERENCE, TYPES, USER, Memory, Message
from aforesaid.model.prose import sentences
from aforesaid.privacy.redactor import RULES, Redactor
from aforesaid.similarity import includes_sentence, parse_sentences, text_words, word_overlap
from aforesaid.text import clean, cut, one_line, words

MAX_DRAFTS = 5  # of one reply; whoever finds more repeats itself
MAX_REPLY = 20_000  # characters of a reply that are looked at
MAX_DRAFT_LINE, MAX_DRAFT_TEXT, MAX_DRAFT_NAME = 200, 1_200, 80
# The fields of a draft, each with the names that models give it.
FIELDS = {
    "type": ("type",),
    "name": ("name", "id", "slug"),
    "description": ("description", "summary", "title"),
    "body": ("body", "content", "text", "statement", "memory", "fact"),
    "why": ("why", "reason"),
    "how": ("how", "how_to_apply", "how to apply", "apply"),
    "updates": ("updates", "update", "replaces"),
}
LIKE = (
    dict.fromkeys(words("preference person"), USER)
    | dict.fromkeys(words("rule instruction constraint guideline convention correction"), FEEDBACK)
    | dict.fromkeys(words("link location pointer"), REFERENCE)
    | {kind: kind for kind in TYPES}
)
TAGGED = re.compile(r"<(memory|item|draft)\b[^<>]*>(.*?)</\1>", re.DOTALL | re.IGNORECASE)
TAG = re.compile(r"<(?P<tag>\w+)>(?P<text>.*?)</(?P=tag)>", re.DOTALL)


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
    if re.search(r"\[\s*\]", text) or (text and CUES["nothing"].fullmatch(text.strip("`"))):
        return ()
    return Unusable("there is neither a memory nor an empty list in it")


def _objects(text: str) -> Iterator[Mapping[str, Any]]:
    """The JSON objects of a reply, or else its `<memory>` tags. An object that holds lists of memories stands
    for them."""
    tagged = True
    for value in json_values(text.replace("“", '"').replace("”", '"')):
        lists = value.values() if isinstance(value, Mapping) else (value,)
        inner = [each for many in lists if isinstance(many, list) for each in many]
        objects = [each for each in inner if isinstance(each, Mapping)]
        for each in objects or ([value] if isinstance(value, Mapping) else []):
            tagged = False
            yield each
    for block in TAGGED.finditer(text) if tagged else ():
        yield {each["tag"].lower(): each["text"] for each in TAG.finditer(block[2])}


def _draft(value: Mapping[str, Any]) -> Draft | None:
    known = {str(key).lower().strip(): each for key, each in value.items()}
    got = {field: _field(known, names) for field, names in FIELDS.items()}
    line = one_line(got["description"] or got["body"], MAX_DRAFT_LINE)
    if not line:
        return None
    kinds = [LIKE[each] for each in words(got["type"].lower().replace("_", " ")) if each in LIKE]
    return Draft(
        # In one project alone, a wrong guess harms least.
        type=kinds[0] if kinds else PROJECT,
        name=one_line(got["name"], MAX_DRAFT_NAME),
        description=line,
        body=cut(got["body"] or got["description"], MAX_DRAFT_TEXT),
        why=one_line(got["why"], MAX_DRAFT_LINE),
        how=one_line(got["how"], MAX_DRAFT_LINE),
        updates=one_line(got["updates"], MAX_DRAFT_NAME),
    )


def _field(known: Mapping[str, Any], names: Sequence[str]) -> str:
    for value in map(known.get, names):
        parts = value if isinstance(value, list) else [value]
        text = " ".join(str(each) for each in parts if isinstance(each, str | int | float)).strip()
        if not CUES["no_value"].fullmatch(text):
            return text
    return ""


SAME_REASON = 0.75  # word overlap of a reason that is none
MIN_SIMILARITY = 0.4  # word overlap of a proposal with the sentence it rests on
MIN_DESCRIPTION_SHARE, MIN_DESCRIPTION_WORDS = 0.5, 3  # of the sentence's words, in a description
MAX_AGREEMENT = 8  # words; whoever says more says it themselves
USER_WORD = re.compile(r"\b(?:The )?Users?\b")


class Source(NamedTuple):
    """A sentence of the newest turn. `agreed`: it is the assistant's, and the user said yes to it."""

    text: str
    agreed: bool


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
    turns = list(_sources(dialogue))
    sources = turns[-1] if turns else []
    text = KnownText(*(source.text for turn in turns for source in turn))
    line, body = (USER_WORD.sub("the user", each) for each in (draft.description, draft.body))
    stand = [each for each in (line, body) if stands_in(each, text)]
    source = _nearest(stand[0], sources) if stand else None
    if source is None:
        return DroppedDraft(draft, "the user did not say it")
    if why := _not_to_keep(source, stand[0]):
        return DroppedDraft(draft, why)
    about = frozenset(word for each in parse_sentences(source.text) for word in each.about)
    # The line has to say most of the sentence: half of it may be the less important half.
    tells = (
        line in stand
        and len(text_words(line) & about) >= MIN_DESCRIPTION_SHARE * len(about)
        and len(line.split()) >= MIN_DESCRIPTION_WORDS
    )

    def given(reason: str) -> str:
        """A reason that was given. Small models repeat the statement instead, or give another one."""
        near = _nearest(reason, sources)
        other = near is not source and near is not None and read(near.text).lasts
        same = any(word_overlap(text_words(reason), text_words(e)) >= SAME_REASON for e in stand)
        return "" if near is None or other or same or not stands_in(reason, text) else reason

    found = read(source.text)
    # What is told in all projects must be about the person.
    other = draft.type == USER and not has("first_person", normalize(source.text))
    described = describe(CUES["offer"].sub("", source.text) if source.agreed else source.text)
    return replace(
        draft,
        type=found.type if found.lasts else FEEDBACK if other else draft.type,
        description=draft.description if tells else described,
        body=f"Agreed to: {source.text}" if source.agreed else source.text,
        why=given(draft.why),
        how=given(draft.how),
    )


def _sources(dialogue: Sequence[Message]) -> Iterator[list[Source]]:
    """For each of the user's messages, the sentences that may be remembered; none of a joke."""
    asked = ""
    for message in dialogue:
        if message.role == "user":
            own = own_sentences(message.text)
            mine = [] if is_joke(own) else [text for text in own if not text.endswith(":")]
            agreed = sentences(asked) if user_agreed(message.text) else []
            yield [
                *(Source(text, False) for text in mine),
                *(Source(text, True) for text in agreed),
            ]
        asked = message.text if message.role != "user" else ""


def user_agreed(text: str) -> bool:
    return begins("agrees", text) and len(text.split()) <= MAX_AGREEMENT


def _nearest(text: str, sources: Sequence[Source]) -> Source | None:
    near = [(word_overlap(text_words(text), text_words(each.text)), each) for each in sources]
    score, source = max(near, key=lambda pair: pair[0], default=(0.0, None))
    return source if score >= MIN_SIMILARITY else None


def _not_to_keep(source: Source, text: str) -> str | None:
    if contradicts_source(text, source.text):
        return "the user said the contrary"
    plain = normalize(source.text)
    if source.agreed:
        lasting = has("standing", plain) or has("place", plain) or "stop" in plain
        return None if lasting else "for this turn"
    found = read(source.text)
    if found.why or is_hearsay(plain):
        return found.why or "somebody else's words"
    if found.lasts:
        return None
    if is_task(plain):
        return "a task for this turn"
    if has("symptom", normalize(text)) or has("symptom", plain.partition(", ")[0]):
        return "a fault, not a fact"
    return "what a program is to do" if begins("of_a_program", plain) else None


SAME_SUBJECT = 0.4  # word overlap of a memory and of what is to take its place


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
    new = parse_sentences(CUES["firm"].sub(" ", text))
    return all(any(includes_sentence(old, each) for old in known) for each in new)


def may_update(old: Memory, new: Memory) -> bool:
    """Whether they are about the same subject, and do not say the same."""
    near = word_overlap(subject_words(old), subject_words(new)) >= SAME_SUBJECT
    return near and not covers(old, new)


def subject_words(memory: Memory) -> frozenset[str]:
    return frozenset(word for each in parse_sentences(memory.description) for word in each.about)
