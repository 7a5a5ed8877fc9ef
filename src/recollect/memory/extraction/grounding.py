"""Whether the user said what a model proposes to remember, and meant it to last.

The model's words must stand in the user's own: names and numbers all, other words mostly. What the
assistant said counts if the user agreed right after. A model that was talked into something by a pasted
text finds no words for it here.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from recollect.memory.extraction import phrasing
from recollect.memory.extraction.clauses import unopened
from recollect.memory.extraction.contrary import contrary
from recollect.memory.extraction.drafts import Draft
from recollect.memory.extraction.explicit import stated_type
from recollect.memory.extraction.lasting import LASTING, OWN_SAYING, is_joke, is_task, passing
from recollect.memory.extraction.orders_to_memory import orders_the_memory
from recollect.memory.extraction.own_words import masked, own_sentences
from recollect.memory.extraction.working_words import either
from recollect.memory.facts import Said, Text, said
from recollect.model.memories import FEEDBACK, USER, Message
from recollect.model.prose import sentences
from recollect.privacy.redactor import RULES, Redactor
from recollect.statements import likeness

KNOWN_WORDS = 0.7  # of a proposal, in what the user said
SAME = 0.75  # likeness of a reason that is none
NEAR = 0.4  # likeness of a proposal to the sentence it rests on
_YES = either(
    "yes yep yeah yup exactly correct right agreed sure absolutely definitely of_course please_do "
    "do_(?:that|so|it) sounds_good that's_right true indeed"
)
AGREES = re.compile(rf"\W*(?:(?:oh|ok|okay|ah),?\s+)?{_YES}\b", re.IGNORECASE)
OFFER = re.compile(
    r"^.*?\b(?:should|shall|can|may) (?:i|we)\s+|^.*?\b(?:want|like) me to\s+", re.IGNORECASE
)
TOLD = 0.5  # of the sentence's words, in a description
LEAST_WORDS = 3  # of a description
LONGEST_AGREEMENT = 8  # words; whoever says more says it themselves
_SAY = either(
    "says said saying wrote keeps?_(?:telling|saying|asking) according_to told_(?:me|us) claims "
    "recommends suggests prefers thinks contains apparently supposedly"
)
REPORTED = re.compile(rf"\b{_SAY}\b", re.IGNORECASE)
# How people tell of a bug: it will be mended, and then nobody must believe it any more.
_WRONG = either(
    "fails? failing crashes crashing is_broken breaks errors? exceptions? timeouts? times_out hangs? "
    "is_stuck doesn't_work not_working is_wrong flickers? is_slow is_missing is_null throws? overflows? "
    "leaks? invalidated drifts? can't_(?:see|find|open|log|reach) is_flaky i_(?:always_)?get"
)
SYMPTOM = re.compile(rf"\b{_WRONG}\b", re.IGNORECASE)
# What the rules did not take for a rule of work: a program is to do so.
OF_A_PROGRAM = re.compile(r"^(?:always|never|whenever|every ?time|by default)\b", re.IGNORECASE)
FIRST_PERSON = re.compile(r"\b(?:i|i'm|i'd|i've|me|my|mine)\b", re.IGNORECASE)
USER_WORD = re.compile(r"\b(?:The )?Users?\b")


@dataclass(frozen=True, slots=True)
class Source:
    """A sentence that may be remembered. `agreed`: it is the assistant's, and the user said yes to it.
    `newest`: of this turn; the others were looked at in theirs."""

    text: str
    said: Said
    agreed: bool
    joking: bool
    newest: bool


@dataclass(frozen=True, slots=True)
class Dropped:
    draft: Draft
    why: str


def grounded(
    draft: Draft, dialogue: Sequence[Message], redactor: Redactor = RULES
) -> Draft | Dropped:
    """With the user's sentence for its body, and without what they did not say; or dropped, if that is all
    of it or the gist."""
    whole = "\n".join((draft.description, draft.body, draft.why, draft.how))
    if redactor.has_secret(whole):
        return Dropped(draft, "it looks like a secret")
    if orders_the_memory(whole):
        return Dropped(draft, "it gives orders to the memory")
    sources = list(_sources(dialogue))
    text = Text(*(source.text for source in sources))
    line, body = (USER_WORD.sub("the user", each) for each in (draft.description, draft.body))
    stand = [each for each in (line, body) if stands_in(each, text)]
    if not stand:
        return Dropped(draft, "the user did not say it")
    rests_on = _nearest(stand[0], sources)
    if rests_on is None:
        return Dropped(draft, "the user did not say it")
    if why := _not_to_keep(rests_on, stand[0]):
        return Dropped(draft, why)
    tells = line in stand and _tells(line, rests_on)
    return replace(
        draft,
        type=_type(draft.type, rests_on),
        description=draft.description if tells else _described(rests_on),
        body=f"Agreed to: {rests_on.text}" if rests_on.agreed else rests_on.text,
        why=_more(draft.why, stand, sources, text),
        how=_more(draft.how, stand, sources, text),
    )


def _tells(line: str, source: Source) -> bool:
    """It says most of what the sentence does; half of it may be the lesser half."""
    about = source.said.about
    return len(_words(line) & about) >= TOLD * len(about) and len(line.split()) >= LEAST_WORDS


def _described(source: Source) -> str:
    return phrasing.described(OFFER.sub("", source.text) if source.agreed else source.text)


def _more(part: str, stand: Sequence[str], sources: Sequence[Source], text: Text) -> str:
    """A reason that was given. A small model gives the statement once more, or another one."""
    nearest = _nearest(part, sources)
    if nearest is None or not stands_in(part, text):
        return ""
    same = any(likeness(_words(part), _words(each)) >= SAME for each in stand)
    other = stated_type(nearest.text) is not None and nearest is not _nearest(stand[0], sources)
    return "" if same or other else part


def _words(text: str) -> frozenset[str]:
    return frozenset(word for each in said(text) for word in each.words)


def stands_in(text: str, source: Text) -> bool:
    """All of its sentences, as far as words can tell."""
    return all(
        all(map(source.has, each.hard))
        and sum(map(source.knows, each.about)) >= KNOWN_WORDS * len(each.about)
        for each in said(text)
    )


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
            *((text, True) for text in sentences(asked) if agreed(message.text)),
        ):
            for one in said(text):
                yield Source(text, one, is_agreed, joking, newest=number == newest)
        asked = ""


def agreed(text: str) -> bool:
    return AGREES.match(text) is not None and len(text.split()) <= LONGEST_AGREEMENT


def _nearest(text: str, sources: Sequence[Source]) -> Source | None:
    new = [source for source in sources if source.newest]
    near = [(likeness(_words(text), source.said.words), source) for source in new]
    best = max(near, key=lambda pair: pair[0], default=None)
    return best[1] if best and best[0] >= NEAR else None


def _not_to_keep(source: Source, text: str) -> str | None:
    if contrary(text, source.said.text):
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


def _type(kind: str, source: Source) -> str:
    """As the rules see it, if they do. What is told in all projects must be about the person."""
    if stated := stated_type(source.text):
        return stated
    if kind == USER and not FIRST_PERSON.search(masked(source.text)):
        return FEEDBACK
    return kind
