"""What the user decides in a prompt, as far as its words say it plainly."""

import re
from dataclasses import dataclass

from aforesaid import text
from aforesaid.providers.extract.passages import plain_prompt, read_sentences

LONGEST = 300  # characters of a statement
MOST = 12

QUESTION = re.compile(
    r"(?:why|how|what|where|which|who|when|is|are|was|were|does|do|did|can|could|should|would|will"
    r"|has|have|any)\b",
    re.IGNORECASE,
)
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
REASON = re.compile(
    r",?\s+(?:because|since|as it|so that|so we|in order to|due to)\b\s*", re.IGNORECASE
)
GREETING = re.compile(
    r"(?:(?:ok(?:ay)?|yes|yeah|great|good|thanks?|right|alright|sure|so|and|also|but|then|now|actually|no|hmm"
    r"|well)[\s,.!]+)+",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Decision:
    """`what` is the decision without its lead-in, `quote` the user's own sentence."""

    what: str
    quote: str
    reason: str | None


def read_decisions(prompt: str | None) -> tuple[Decision, ...]:
    found: dict[str, Decision] = {}
    for sentence in read_sentences(plain_prompt(prompt or "")):
        if (decision := _read(sentence)) is not None:
            found.setdefault(decision.what.lower(), decision)
    return tuple(found.values())[:MOST]


def _read(sentence: str) -> Decision | None:
    if len(sentence) > LONGEST or len(sentence.split()) < 3 or UNSURE.search(sentence):
        return None
    bare = GREETING.sub("", sentence, count=1) if GREETING.match(sentence) else sentence
    if QUESTION.match(bare) and not re.match(r"do not\b", bare, re.IGNORECASE):
        return None
    marks = filter(None, (pattern.fullmatch(bare) for pattern in STATED))
    return next((decision for mark in marks if (decision := _decision(mark, sentence))), None)


def _decision(mark: re.Match[str], sentence: str) -> Decision | None:
    groups = mark.groupdict()
    raw = groups.get("what") or f"use {groups.get('named') or ''}"
    what, *reason = REASON.split(raw.strip(" .!,;:"), maxsplit=1)
    what = re.sub(r"^(?:please|just)\s+", "", what, flags=re.IGNORECASE)
    if PASSING.search(what) or POINTS_ELSEWHERE.fullmatch(what) or len(text.words(what)) < 2:
        return None
    whole = what[0].upper() + what[1:]
    return Decision(whole, sentence, reason[0].strip(" .!") if reason else None)
