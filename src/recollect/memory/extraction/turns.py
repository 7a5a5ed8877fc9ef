"""What a model finds worth remembering of a turn: whether to ask it, the question, what its answer comes to.

    if lasts(dialogue):
        reply = model.ask(request(dialogue, existing))
        found = read(reply.text, dialogue)

Text stays data: only the user's own words are shown and believed, whatever stands in the dialogue. Nothing is
written here, see `applying.py`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from recollect.memory.extraction.clauses import POLITE
from recollect.memory.extraction.drafts import Draft, Unusable, read_extraction
from recollect.memory.extraction.explicit import Statement, statements
from recollect.memory.extraction.grounding import Dropped, agreed, grounded
from recollect.memory.extraction.lasting import LASTING, is_joke, is_task
from recollect.memory.extraction.own_words import masked, own_sentences, own_words
from recollect.memory.extraction.working_words import either
from recollect.memory.facts import said
from recollect.memory.prompts import prompt_text
from recollect.model.memories import Memory, Message
from recollect.model.requests import Request
from recollect.privacy.redactor import RULES, Redactor
from recollect.statements import likeness
from recollect.text import cut, fenced, one_line

VERSION = "v1"
MESSAGES, ROOM = 10, 4_000  # the last ones, and characters of them
LONGEST_ANSWER = 300  # of the assistant's: what it says counts only if the user agrees
LEAST_ROOM = 80  # for one more message
KNOWN_ROOM, KNOWN_LINE = 3_000, 160
REPLY_TOKENS = 700
LEAST_WORDS = 3
_HINTS = either(
    "we our us my mine i'm i_am i've i'd i prefer\\w* better worse nicer hate should must don't do_not "
    "never always because since conventions? rules? policy style instead rather actually not no "
    "deadline customers? clients? team legal audit prod production every each all only again stop "
    "nobody everybody everyone lives? belongs? goes?_in decided agreed settled versions? moved switched "
    "https? call_me by_default has_to have_to supposed_to jira linear notion confluence figma grafana "
    "sentry slack"
)
HINTS = re.compile(rf"\b{_HINTS}\b|#[a-z]", re.IGNORECASE)
ASK = "Which memories are to be written? Answer with a JSON array alone, [] if there is nothing to keep."
EXAMPLES = ("correction", "task", "quote")


@dataclass(frozen=True, slots=True)
class Extracted:
    """`drafts` are grounded; `dropped` were not, each with the reason."""

    drafts: tuple[Draft, ...]
    dropped: tuple[Dropped, ...]


def by_rules(dialogue: Sequence[Message], redactor: Redactor = RULES) -> list[Statement]:
    """What the user said in so many words in the newest message."""
    prompt, before = _newest(dialogue)
    return statements(prompt, before, redactor)


def lasts(dialogue: Sequence[Message]) -> bool:
    """Whether the newest message may hold something to keep: a model is asked only then. Broad."""
    prompt, before = _newest(dialogue)
    own = own_sentences(prompt)
    if not own or is_joke(masked("\n".join(own))):
        return False
    if agreed(prompt) and before and LASTING.search(before):
        return True
    if statements(prompt, before):
        return True
    return any(_may_last(masked(each)) for each in own)


def _may_last(sentence: str) -> bool:
    if len(sentence.split()) < LEAST_WORDS:
        return False
    if POLITE.match(sentence) and LASTING.search(sentence):
        return True
    return not is_task(sentence) and HINTS.search(sentence) is not None


def _newest(dialogue: Sequence[Message]) -> tuple[str, str]:
    """The user's newest message, and what the assistant had said before it."""
    for number in range(len(dialogue) - 1, -1, -1):
        if dialogue[number].role == "user":
            before = dialogue[number - 1] if number else dialogue[number]
            return dialogue[number].text, before.text if before.role != "user" else ""
    return "", ""


def request(dialogue: Sequence[Message], existing: Sequence[Memory]) -> Request:
    """The system part and the examples are always the same, so that providers can cache them."""
    shown = _shown(dialogue)
    message = f"Known memories:\n{_known(existing, shown)}\n\nThe talk:\n{shown}\n\n{ASK}"
    return Request(prompt_text("extract"), _examples(), message, REPLY_TOKENS)


def read(
    reply: str, dialogue: Sequence[Message], redactor: Redactor = RULES
) -> Extracted | Unusable:
    drafts = read_extraction(reply)
    if isinstance(drafts, Unusable):
        return drafts
    checked = [grounded(draft, dialogue, redactor) for draft in drafts]
    return Extracted(
        tuple(each for each in checked if isinstance(each, Draft)),
        tuple(each for each in checked if isinstance(each, Dropped)),
    )


def _shown(dialogue: Sequence[Message]) -> str:
    """The user's newest message whole, if it fits at all; older ones as far as there is room. What the
    assistant answered to the newest nobody has agreed to, and small models take it for the user's."""
    lines: list[str] = []
    room = ROOM
    newest = max((n for n, each in enumerate(dialogue, 1) if each.role == "user"), default=0)
    for message in reversed(dialogue[:newest][-MESSAGES:]):
        if message.role == "user":
            text = own_words(message.text) or "(pasted text, left out)"
        else:
            text = cut(message.text, LONGEST_ANSWER)
        text = cut(fenced(text), room)
        if not text:
            break
        room -= len(text)
        lines.append(f"{'User' if message.role == 'user' else 'Assistant'}: {_nested(text)}")
        if room < LEAST_ROOM:
            break
    return "\n".join(reversed(lines))


def _nested(text: str) -> str:
    """All lines but the first moved in: what begins at the margin is ours."""
    return text.replace("\n", "\n  ")


def _known(existing: Sequence[Memory], shown: str) -> str:
    """The nearest first: a long list of others helps nobody."""
    words = frozenset(word for each in said(shown) for word in each.words)

    def nearness(memory: Memory) -> float:
        return likeness(words, (word for each in said(memory.description) for word in each.words))

    lines: list[str] = []
    room = KNOWN_ROOM
    for memory in sorted(existing, key=nearness, reverse=True):
        line = f"- {fenced(one_line(f'{memory.name}: {memory.description}', KNOWN_LINE))}"
        room -= len(line)
        if room < 0:
            break
        lines.append(line)
    return "\n".join(lines) or "- none"


@cache
def _examples() -> tuple[tuple[str, str], ...]:
    names = (f"extract_example_{name}" for name in EXAMPLES)
    return tuple((prompt_text(f"{name}_request"), prompt_text(name)) for name in names)
