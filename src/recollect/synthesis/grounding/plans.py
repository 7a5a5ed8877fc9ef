"""Next steps told as completed, and changes told of a turn that changed nothing. English only.

A deed counts as borne out when the words it is about occur in what was changed or run, so that a plan which
was also carried out is no plan any more.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from recollect.providers.reading import markup, messages
from recollect.synthesis.grounding.assertions import clauses
from recollect.synthesis.grounding.sources import Sources
from recollect.synthesis.grounding.wording import objects, stems
from recollect.text import clean, one_line

LOOKED_AT = 12_000
MADE = (
    r"added|created|implemented|wrote|updated|fixed|removed|deleted|refactored|renamed|replaced"
    r"|introduced|modified|rewrote|extracted"
)
DONE = (
    rf"{MADE}|written|extended|improved|enabled|configured|installed|migrated|completed|integrated"
    r"|built|moved|converted|documented|deployed|published|merged|upgraded|rewritten"
    r"|optimi[sz]ed|mocked|set up|wired|switched"
)
DEED = re.compile(rf"\b(?:{DONE})\b", re.I)
OPENING = re.compile(
    rf"^\W*(?:(?:successfully|also|then|the agent|agent|the assistant|assistant|claude|i|we)\s+)*"
    rf"(?:(?:{MADE})|(?:add|implement|create|refactor|rename|fix(?! (?:for|is|in|was)))(?=\s))\s",
    re.I,
)
PASSIVE = re.compile(rf"\b(?:has|have) been (?:\w+ly )?(?:{MADE})\b", re.I)
FUTURE = re.compile(
    r"\b(?:next|to-?do|still|will|should|would|could|remain\w*|later|follow-?ups?|not|yet|need\w*"
    r"|plan\w*|going to|must|want\w*|propos\w*|suggest\w*|recommend\w*|future|pending|if|asked"
    r"|requested|intend\w*|upcoming)\b|n't\b",
    re.I,
)
PROMISED = re.compile(
    r"\b(?:next(?: step| up|,|:| i| we)|to-?do|still needs?|will (?!be able)|i'll|should|remains?|later"
    r"|follow-?ups?|going to|plan to|not yet|haven't|hasn't|have not|has not|left to do|future"
    r"|recommend|suggest|you (?:may|might|can))\b",
    re.I,
)
ASKED_LATER = re.compile(
    r"\b(?:later|next (?:time|step|week|turn)|to-?do|follow-?ups?|not (?:now|yet)|afterwards)\b",
    re.I,
)
HISTORY = re.compile(
    r"\b(?:in (?:version|commit|release|v?\d)|previous\w*|original\w*|earlier|already|existing"
    r"|by (?:the )?user)\b",
    re.I,
)
LEAST, MOSTLY = 0.6, 0.8


def plan_doubts(prose: str, sources: Sources) -> Iterator[str]:
    planned = _planned(sources.turn.last_message, sources.turn.prompt)
    for sentence in markup.split(prose[:LOOKED_AT]):
        if FUTURE.search(sentence):
            continue
        if _is_unmade(sentence, sources):
            yield "no file was changed"
        for clause in clauses(sentence) if planned else ():
            step = next((s for s in planned if _is_planned(clause, s, sources)), None)
            if step and DEED.search(clause):
                yield f"told as done, but planned: {one_line(step, 80)}"


def _is_unmade(sentence: str, sources: Sources) -> bool:
    """A change where nothing was changed, now or, as far as its words can be traced, before."""
    told = OPENING.match(sentence) or (PASSIVE.search(sentence) and not HISTORY.search(sentence))
    if not told or sources.may_write:
        return False
    return not _changed_before(objects(sentence), sources)


def _changed_before(about: set[str], sources: Sources) -> bool:
    return bool(about) and len(about & sources.done_before) >= len(about) / 2


@lru_cache(maxsize=4)
def _planned(message: str | None, prompt: str | None) -> tuple[str, ...]:
    """What the agent says is left to do, and what the user asks for at another time."""
    steps = messages.next_steps(message)
    steps += [s for s in markup.sentences(clean((message or "")[:LOOKED_AT])) if PROMISED.search(s)]
    asked = markup.sentences(markup.plain_prompt(prompt)) if prompt else []
    return tuple(dict.fromkeys([*steps, *(s for s in asked if ASKED_LATER.search(s))]))


def _is_planned(clause: str, step: str, sources: Sources) -> bool:
    """They share most words of either, and most of what they share was neither changed nor run."""
    about, meant = objects(clause), objects(step)
    shared = about & (meant | stems(step))
    alike = len(shared) >= LEAST * len(about) or (
        len(shared) >= 2 and len(about & meant) >= MOSTLY * len(meant)
    )
    if not shared or not alike or max(map(len, shared)) < 5:
        return False
    return len(shared & sources.done) <= len(shared) / 2 and not _changed_before(shared, sources)
