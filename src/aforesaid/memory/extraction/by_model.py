"""What a model finds worth remembering in a turn.

It only points at what the user said: of each proposal the nearest sentence of the user's newest message is
kept, in the user's words, and only if the rules do not speak against it. So a model can add nothing.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any, NamedTuple

from aforesaid.memory.extraction import rules
from aforesaid.memory.extraction.rules import Statement, describe, read
from aforesaid.memory.extraction.sentences import (
    CUES,
    begins,
    has,
    is_hearsay,
    is_joke,
    normalize,
    orders_the_memory,
    own_sentences,
    own_words,
)
from aforesaid.memory.prompts import prompt_examples, prompt_text
from aforesaid.memory.replies import Unusable, json_values
from aforesaid.model.memories import FEEDBACK, PROJECT, TYPES, USER, Memory, Message
from aforesaid.model.prose import sentences
from aforesaid.model.requests import Request
from aforesaid.privacy.redactor import RULES, Redactor
from aforesaid.similarity import text_words, word_overlap
from aforesaid.text import clean, cut, fenced, one_line

MESSAGES, ROOM = 10, 4_000  # the last ones, and characters of them
MAX_ANSWER = 300  # of the assistant's: what it says counts only if the user agrees
KNOWN_ROOM, KNOWN_LINE = 3_000, 160
REPLY_TOKENS = 700
MAX_PROPOSALS = 5  # of one reply; more are repetitions
MAX_REPLY, MAX_FIELD = 20_000, 1_200  # characters that are looked at
MIN_SIMILARITY = 0.4  # word overlap of a proposal with the sentence it rests on
MAX_AGREEMENT = 8  # words; a longer message speaks for itself
ASK = "Which memories are to be written? Answer with a JSON array alone, [] if there is nothing to keep."
EXAMPLES = ("extract_example_correction", "extract_example_task", "extract_example_quote")
BODY = ("body", "content", "text", "statement", "description", "memory", "fact")


class Proposed(NamedTuple):
    """`updates`: the name of the memory that it replaces."""

    type: str
    text: str
    updates: str = ""


class Dropped(NamedTuple):
    """A proposal that is not kept."""

    text: str
    why: str


def may_teach(dialogue: Sequence[Message]) -> bool:
    """Whether the newest message may hold something to keep; only then a model is asked."""
    prompt, before = rules.newest(dialogue)
    own = own_sentences(prompt)
    if is_joke(own):
        return False
    if user_agreed(prompt) and has("standing", normalize(before)):
        return True
    return any(map(_may_last, own)) or bool(rules.statements(prompt, before))


def _may_last(sentence: str) -> bool:
    text = normalize(sentence)
    if len(text.split()) < rules.MIN_WORDS or rules.is_task(text):
        return False
    if rules.passing(text) is not None or has("symptom", text):
        return False
    reading = read(sentence)  # an order needs more than politeness to last
    return reading.points >= (1 if reading.type == PROJECT else 2)


def build_extraction_request(dialogue: Sequence[Message], existing: Sequence[Memory]) -> Request:
    """The system prompt and the examples never change, so that providers can cache them."""
    shown = _shown(dialogue)
    message = f"Known memories:\n{_known(existing, shown)}\n\nThe talk:\n{shown}\n\n{ASK}"
    return Request(prompt_text("extract"), prompt_examples(*EXAMPLES), message, REPLY_TOKENS)


def _shown(dialogue: Sequence[Message]) -> str:
    """The user's newest message, and older ones as far as there is room. The assistant's answer to the newest
    is left out: the user has not agreed to it, and small models take it for the user's."""
    lines: list[str] = []
    room = ROOM
    newest = max((n for n, each in enumerate(dialogue, 1) if each.role == "user"), default=0)
    for message in reversed(dialogue[:newest][-MESSAGES:]):
        if message.role == "user":
            who, text = "User", own_words(message.text) or "(pasted text, left out)"
        else:
            who, text = "Assistant", cut(message.text, MAX_ANSWER)
        text = cut(fenced(text), room)
        if not text:
            break
        room -= len(text)
        # Only our own lines begin at the margin.
        lines.append(f"{who}: {text}".replace("\n", "\n  "))
    return "\n".join(reversed(lines))


def _known(existing: Sequence[Memory], shown: str) -> str:
    """The most similar first."""
    words = text_words(shown)
    near = sorted(existing, key=lambda each: -word_overlap(words, text_words(each.description)))
    lines = [f"- {fenced(one_line(f'{m.name}: {m.description}', KNOWN_LINE))}" for m in near]
    sizes = accumulate(map(len, lines))
    fitting = [line for line, size in zip(lines, sizes, strict=True) if size <= KNOWN_ROOM]
    return "\n".join(fitting) or "- none"


def parse_extraction(
    reply: str, dialogue: Sequence[Message], redactor: Redactor = RULES
) -> list[Statement | Dropped] | Unusable:
    """The statements are the user's sentences."""
    proposed = read_proposals(reply)
    if isinstance(proposed, Unusable):
        return proposed
    return list(dict.fromkeys(ground_proposal(each, dialogue, redactor) for each in proposed))


def read_proposals(reply: str) -> tuple[Proposed, ...] | Unusable:
    text = clean(reply[:MAX_REPLY]).strip()
    found = [proposed for each in _objects(text) if (proposed := _read_proposed(each)).text]
    if found:
        return tuple(dict.fromkeys(found))[:MAX_PROPOSALS]
    if re.search(r"\[\s*\]", text) or (text and CUES["nothing"].fullmatch(text.strip("`"))):
        return ()
    return Unusable("there is neither a memory nor an empty list in it")


def _objects(text: str) -> Iterator[Mapping[str, Any]]:
    """An object that holds lists of memories stands for them."""
    for value in json_values(text.replace("“", '"').replace("”", '"')):
        lists = value.values() if isinstance(value, Mapping) else (value,)
        inner = [each for many in lists if isinstance(many, list) for each in many]
        objects = [each for each in inner if isinstance(each, Mapping)]
        yield from objects or ([value] if isinstance(value, Mapping) else [])


def _read_proposed(value: Mapping[str, Any]) -> Proposed:
    def field(name: str) -> str:
        found = value.get(name)
        return cut(found, MAX_FIELD).strip() if isinstance(found, str) else ""

    kind = field("type").lower()
    # In one project alone, a wrong guess harms least.
    text = next(filter(None, map(field, BODY)), "")
    return Proposed(kind if kind in TYPES else PROJECT, text, field("updates"))


class Source(NamedTuple):
    """A sentence of the newest turn. `agreed`: it is the assistant's, and the user said yes to it."""

    text: str
    agreed: bool


def ground_proposal(
    proposed: Proposed, dialogue: Sequence[Message], redactor: Redactor = RULES
) -> Statement | Dropped:
    sources = _sources(dialogue)
    source = _nearest(proposed.text, sources)
    if source is None:
        return Dropped(proposed.text, "the user did not say it")
    if redactor.has_secret(source.text):
        return Dropped(proposed.text, "it looks like a secret")
    if orders_the_memory(source.text):
        return Dropped(proposed.text, "it gives orders to the memory")
    if why := _why_passing(source):
        return Dropped(proposed.text, why)
    reading = read(source.text)
    # What is told in all projects must be about the person.
    other = proposed.type == USER and not has("first_person", normalize(source.text))
    kind = reading.type if reading.lasts else FEEDBACK if other else proposed.type
    if source.agreed:
        line = describe(CUES["offer"].sub("", source.text))
        return Statement(kind, line, f"Agreed to: {source.text}", said=source.text)
    after = "".join(each.text for each in sources[sources.index(source) + 1 :][:1])
    made = rules.make_statement(kind, source.text, after)
    return replace(made, updates=proposed.updates)


def _sources(dialogue: Sequence[Message]) -> list[Source]:
    """The sentences of the newest message that may be remembered; none of a joke."""
    prompt, before = rules.newest(dialogue)
    own = own_sentences(prompt)
    mine = [] if is_joke(own) else [text for text in own if not text.endswith(":")]
    agreed = sentences(before) if user_agreed(prompt) else []
    return [Source(text, False) for text in mine] + [Source(text, True) for text in agreed]


def user_agreed(text: str) -> bool:
    return begins("agrees", text) and len(text.split()) <= MAX_AGREEMENT


def _nearest(text: str, sources: Sequence[Source]) -> Source | None:
    near = [(word_overlap(text_words(text), text_words(each.text)), each) for each in sources]
    score, source = max(near, key=lambda pair: pair[0], default=(0.0, None))
    return source if score >= MIN_SIMILARITY else None


def _why_passing(source: Source) -> str | None:
    """Why a sentence is not worth keeping, whatever the model says."""
    plain = normalize(source.text)
    if source.agreed:
        lasting = has("standing", plain) or has("place", plain) or "stop" in plain
        return None if lasting else "for this turn"
    found = read(source.text)
    if found.why or is_hearsay(plain):
        return found.why or "somebody else's words"
    if found.lasts:
        return None
    if rules.is_task(plain):
        return "a task for this turn"
    if has("symptom", plain.partition(", ")[0]):
        return "a fault, not a fact"
    return "what a program is to do" if begins("of_a_program", plain) else None
