"""What the user asks for in a prompt, as far as its words say it plainly."""

import re
from dataclasses import dataclass

from recollect import text
from recollect.providers.reading import complaints, markup, verbs
from recollect.providers.reading.verbs import Intent

LEAD = re.compile(
    r"(?:(?:please|pls|plz|kindly|now|ok(?:ay)?|great|good|nice|cool|perfect|thanks?(?: you)?|thx"
    r"|hey|hi|hello|yes|yeah|yep|sure|alright|right|then|next|also|and|so|but|first|finally|just"
    r"|actually|instead|again|quickly|maybe|can you|could you|would you|will you|can we|could we"
    r"|i want(?: you)? to|i(?:'d| would) like(?: you)? to|i need(?: you)? to|we need to|we should"
    r"|we must|we have to|you should|you need to|you must|let'?s|lets|go ahead and|help me(?: to)?"
    r"|try to|try and|make sure(?: to| you)?|be sure to|your task is to|task:|todo:)[\s,.:!-]+)+",
    re.IGNORECASE,
)
QUESTION = re.compile(
    r"(?:why|how|what|where|which|who|when|is|are|was|were|does|do|did|can|could|should|would|will"
    r"|has|have|any)\b",
    re.IGNORECASE,
)
BUG = re.compile(
    r"\b(?:bugs?|errors?|fail(?:s|ed|ing|ures?)?|broken?|breaks|crash(?:es|ed|ing)?|exceptions?"
    r"|traceback|regressions?|wrong(?:ly)?|incorrect(?:ly)?|flaky|stack ?trace|(?:does ?n[o']?t"
    r"|do ?n[o']?t|is ?n[o']?t|not) work(?:ing)?|(?:an?|http|gets?|returns?|with|status) 5\d\d)\b",
    re.IGNORECASE,
)
# "Find out why, fix it and commit": the errand behind the looking.
THEN_FIX = re.compile(
    rf"(?:,|;|\band|\bthen)\s+(?P<verb>{'|'.join(sorted(verbs.FIX))})\s+(?P<rest>.+)", re.I
)
CLAUSE_END = re.compile(
    r"\s+(?:so that|because|since|which|but|such that|in order to|as (?:we|it|they)|if|when|unless"
    r"|while|and then|then|using the|e\.g\.|i\.e\.)\b.*|[;:(\n].*|,.*|\s[-–—]{1,2}\s.*|[.!?]+$",
    re.IGNORECASE | re.DOTALL,
)
VAGUE = frozenset(
    text.words(
        "it this that these those them everything something anything all same one ones stuff "
        "things thing rest go on ahead work working so again now please more back up do done next "
        "step steps task tasks first issue bug problem error errors bugs issues following above "
        "below cause reason option options the a an and both each here there commit push"
    )
)
TRIVIAL = re.compile(
    r"(?:hi+|hey|hello|yo|thanks?(?: you)?(?: so much)?|thx|ty|ok(?:ay)?|k|yes|yep|yeah|no|nope"
    r"|sure|cool|great|nice|good|perfect|done|stop|wait|continue|go(?: on| ahead)?|proceed|next"
    r"|resume|retry|try again|again|keep going|carry on|looks? good|lgtm|exactly|right|correct"
    r"|awesome|never ?mind|test|ping|\?+|\.+|do it|/\S+|[yn])(?:[\s,.!]+(?:please|thanks?|thank you"
    r"|man|all|then))*[\s.!?]*",
    re.IGNORECASE,
)
SAYS_HOW_IT_IS = re.compile(
    r"(?:fails?|failing|failed|is|are|was|were|does|do|did|doesn|don|isn|aren|won|still|keeps?|not"
    r"|never|seems?|crash\w*|breaks?|broke|has|have|had|can|cannot|should|must|will|suite|run is"
    r"|errors?)\b",
    re.IGNORECASE,
)
# "Support reports that …": the people, not the verb.
PEOPLE = re.compile(
    r"support (?:report(?:s|ed) (?:that|an?|the)|says?|said|tells?|told|asks?|asked|complain\w*|wants?)\b",
    re.IGNORECASE,
)
COURTESY = re.compile(
    r"\s+(?:accordingly|please|pls|too|as well|now|asap|for me|thanks|thank you)$", re.IGNORECASE
)
STATING = re.compile(
    r"(?:.{0,12}\b)?(?:let'?s|we(?:'ll| will)|from now on|always|never)\b", re.IGNORECASE
)
CONTINUED = "This session is being continued from a previous conversation"


@dataclass(frozen=True, slots=True)
class Ask:
    """`verb` and `thing` are set when a sentence says plainly what to do: add, "bulk discounts".

    `pasted`: the error in a trace or a log that the user put into the prompt.
    """

    text: str
    sentences: tuple[str, ...]
    verb: str | None
    thing: str | None
    intent: Intent
    bug: bool
    question: str | None
    trivial: bool
    pasted: str | None = None


NOTHING = Ask("", (), None, None, "other", False, None, True)


def read_ask(prompt: str | None) -> Ask:
    plain = markup.plain_prompt(prompt or "")
    if not plain or plain.startswith(CONTINUED):
        return NOTHING
    found = tuple(markup.sentences(plain))[:60]
    verb, thing = _request(found)
    kind: Intent = verbs.intent(verb) if verb else "other"
    question = next((s for s in found if _is_question(s)), None)
    return Ask(
        text=" ".join(plain.split()),
        sentences=found,
        verb=verb,
        thing=thing,
        intent="ask" if verb is None and question else kind,
        bug=bool(BUG.search((prompt or "")[:4000])),
        question=question,
        trivial=bool(TRIVIAL.fullmatch(plain)),
        pasted=_pasted((prompt or "")[:8000]),
    )


def _pasted(prompt: str) -> str | None:
    """The error line of something pasted. One line alone may be the user's own words."""
    return (
        complaints.strong_complaint(complaints.window(prompt)) if "\n" in prompt.strip() else None
    )


def without_lead(sentence: str) -> str:
    mark = LEAD.match(sentence)
    return sentence[mark.end() :] if mark else sentence


def _is_question(sentence: str) -> bool:
    bare = without_lead(sentence)
    asks = sentence.rstrip().endswith(("?", "？")) or bool(QUESTION.match(bare))
    return asks and (len(bare.split()) > 2 or not bare.isascii())


def _request(found: tuple[str, ...]) -> tuple[str | None, str | None]:
    """The first sentence that starts with a verb of work; the thing is None when it is only "it".

    A sentence that states how things are to be from now on is taken last: it is no errand.
    """
    verb_alone: str | None = None
    for sentence in sorted(found, key=lambda s: bool(STATING.match(s))):
        first, _, rest = without_lead(sentence).strip("`\"'*").partition(" ")
        verb = first.lower().strip(".,:;!")
        asks = sentence.rstrip().endswith("?") and QUESTION.match(first)
        if verb not in verbs.KNOWN or asks or SAYS_HOW_IT_IS.match(rest) or PEOPLE.match(sentence):
            continue
        if verbs.intent(verb) == "ask" and (fix := THEN_FIX.search(rest)):
            verb, rest = fix["verb"].lower(), fix["rest"]
        thing = thing_of(rest)
        if thing:
            return verb, thing
        verb_alone = verb_alone or verb
    return verb_alone, None


def thing_of(rest: str) -> str | None:
    """The object of a request, up to the end of its clause; None when it names nothing."""
    clause = COURTESY.sub("", CLAUSE_END.sub("", text.one_line(rest, 300)).strip(" .,:;-"))
    named = [
        word for word in text.words(clause.lower()) if word not in VAGUE and not word.isdigit()
    ]
    return clause if named and not clause.lower().startswith("and ") else None
