"""Decisions the user states in a prompt. It would rather miss one than take a question for one."""

import re
from dataclasses import dataclass, replace

from recollect import text
from recollect.providers.reading import markup, verbs
from recollect.providers.reading.prompts import QUESTION, without_lead

STATEMENT_LIMIT = 300
MOST = 12

UNSURE = re.compile(
    r"\?|\b(?:maybe|perhaps|possibly|might|not sure|wonder(?:ing)?|what if|what about|how about"
    r"|could we|should we|can we|would it|think(?:ing)?|consider(?:ing)?|let me know|do you think"
    r"|if (?:we|you|it|that|there)|unless|either|hypothetically|suppose|imagine|for example|e\.g\."
    r"|you decide|up to you|your call|whether)\b",
    re.IGNORECASE,
)
PASSING = re.compile(
    r"\b(?:yet|for now|right now|this time|for the moment|in this (?:turn|step|pr|commit|session)"
    r"|until|today|later|anything else|already)\b",
    re.IGNORECASE,
)
CHOICE = (
    r"(?:use|go with|stick (?:with|to)|stay (?:with|on)|keep (?!going|it\b|on\b|working|trying"
    r"|at\b)|switch to|move to|drop|adopt|avoid|standardi[sz]e on|require|rely on|depend on|always"
    r"|never|only (?:use|support|allow)|stop using|prefer|not (?:use|add|support|rely on|depend on"
    r"|introduce))"
)
# Each pattern has one group: the decision itself, said as an instruction or as a statement.
STATED = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r".*?\b(?:we|i|the team)(?:'ve| have| had)?(?: now| finally| all)? (?:decided|agreed|chosen"
        r"|opted)(?: (?:that|to|on|upon|for))? (?P<what>.+)",
        r".*?\b(?:we|i)(?:'ve| have)? settled (?:on|for) (?P<named>.+)",
        r"(?:the |our |my )?decision(?: is| was)?\s*(?::|-|–|that|to)?\s+(?P<what>.+)",
        rf".*?\b(?:we|i)(?:'ll| will|'re going to| are going to|'m going to) (?P<what>{CHOICE}.+)",
        rf"(?:.*?[,;:] |.*?\bso )?let'?s (?:just |instead |rather )?(?P<what>{CHOICE}.+)",
        r"(?:.*?[,;:] )?(?:from now on|going forward|from here on(?: out)?|in (?:the )?future"
        r"|as of now),? (?P<what>.+)",
        r"(?P<what>.+?),? (?:from now on|going forward|from here on(?: out)?)\W*$",
        r"(?:.*?[,;:] )?(?:please |you should |you must |we |and |must )?(?P<what>(?:always|never) "
        r"(?!mind\b|seen\b|had\b|heard\b|been\b|works?\b|fails?\b|got\b|gets?\b|again\b|happen"
        r"|mention)(?!\w+ing\b)[a-z]\w* .+)",
        r"(?:please |and |we )?(?P<what>(?:don'?t|do not|stop|avoid|no longer|must not) "
        r"(?:ever )?(?:use|using|rely on|relying on|introduce|introducing|mock|mocking|depend on"
        r"|add new dependenc\w+) .+)",
        r"(?:i |we |please |you should )?(?P<what>prefer (?!not to say).+? (?:over|to|instead of"
        r"|rather than) .+)",
        r"(?:please |we (?:should )?|you should |you must )?(?P<what>use .+?(?: instead of "
        r"| rather than |, not | over ).+)",
        r"(?P<what>(?:.{3,80}) (?:is|are) (?:now )?(?:our|the) (?:standard|convention|policy|rule"
        r"|default|choice)\b.*)",
        r"(?:the |our )(?:rule|convention|policy|standard|agreement) is(?: that| to"
        r"|:)? (?P<what>.+)",
        r"(?P<what>we (?:no longer|only|don'?t) (?:use|support|want to support|target|allow"
        r"|ship) .+)",
    )
)
POINTS_ELSEWHERE = re.compile(
    r"(?:go with |use |keep |switch to |do |take )?(?:the )?(?:option|number|it|that|this|them"
    r"|those|these|first|second|third|last|other|former|latter|your|both|one)\b\W*(?:\w{1,2}|one"
    r"|idea|approach|suggestion|proposal|plan|way)?\W*",
    re.IGNORECASE,
)
HOW_IT_WAS = re.compile(
    r"\b(?:is|are|was|were|has|have|had|does|do|did|keeps?|kept|costs?|lost|loses?|caused?|causes|breaks?"
    r"|broke|fails?|failed|cannot|can't|don't|doesn't|didn't|isn't|aren't|makes?|made|takes?|took)\b",
    re.IGNORECASE,
)
REASON = re.compile(
    r",?\s+(?:because|since|as it|so that|so we|in order to|due to)\b\s*", re.IGNORECASE
)
INSTEAD = re.compile(r"\s*(?:,? instead of|,? rather than|,? over|, not)\s+(.+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Decision:
    """`what` is the decision without its lead-in, `quote` the user's own sentence.

    `background`: the next sentence, when it tells how things were and asks for nothing.
    """

    what: str
    quote: str
    reason: str | None
    instead_of: str | None
    background: str | None = None


def read_decisions(prompt: str | None) -> tuple[Decision, ...]:
    found: dict[str, Decision] = {}
    said = markup.sentences(markup.plain_prompt(prompt or ""))
    for sentence, following in zip(said, [*said[1:], ""], strict=False):
        decision = _read(sentence)
        if decision is not None:
            background = following if _is_background(following) else None
            found.setdefault(decision.what.lower(), replace(decision, background=background))
    return tuple(found.values())[:MOST]


def _is_background(sentence: str) -> bool:
    """It says how things are or were: no request, no question, no doubt, no decision of its own."""
    bare = without_lead(sentence)
    asks = bare != sentence or verbs.is_request(bare) or QUESTION.match(bare)
    short = len(sentence.split()) < 4 or len(sentence) > STATEMENT_LIMIT
    if short or asks or UNSURE.search(sentence) or not HOW_IT_WAS.search(sentence):
        return False
    return _read(sentence) is None


def _read(sentence: str) -> Decision | None:
    if len(sentence) > STATEMENT_LIMIT or len(sentence.split()) < 3 or UNSURE.search(sentence):
        return None
    bare = _without_greeting(sentence)
    if QUESTION.match(bare) and not re.match(r"do not\b", bare, re.IGNORECASE):
        return None
    for pattern in STATED:
        mark = pattern.fullmatch(bare)
        if mark:
            return _decision(mark, sentence)
    return None


def _without_greeting(sentence: str) -> str:
    """Drop `ok, ` and `yes ` but keep `let's`, `we should` and the like: they are the sign."""
    lead = re.match(
        r"(?:(?:ok(?:ay)?|yes|yeah|great|good|thanks?|right|alright|sure|so|and|also|but|then|now"
        r"|actually|no|hmm|well)[\s,.!]+)+",
        sentence,
        re.IGNORECASE,
    )
    return sentence[lead.end() :] if lead else sentence


def _decision(mark: re.Match[str], sentence: str) -> Decision | None:
    groups = mark.groupdict()
    raw = groups.get("what") or f"use {groups.get('named') or ''}"
    what, *reason = REASON.split(raw.strip(" .!,;:"), maxsplit=1)
    what = without_lead(what) if what.lower().startswith(("please", "just")) else what
    if PASSING.search(what) or POINTS_ELSEWHERE.fullmatch(what) or len(text.words(what)) < 2:
        return None
    other = INSTEAD.search(what)
    return Decision(
        what=what[0].upper() + what[1:],
        quote=sentence,
        reason=reason[0].strip(" .!") if reason else None,
        instead_of=other[1].strip(" .!") if other else None,
    )
