"""What the user asks for and decides in a prompt, as far as its words say it plainly."""

import re
from dataclasses import dataclass, replace
from typing import Literal

from aforesaid import text
from aforesaid.providers.extract.messages import markdown_sentences, plain_prompt
from aforesaid.providers.extract.results import error_window, find_strong_error

Intent = Literal["fix", "add", "refactor", "ask", "other"]

# Verbs that only take -ed, -d or a doubled letter are built by rule; these are not.
IRREGULAR = {
    "begin": "began", "break": "broke", "bring": "brought", "build": "built", "bind": "bound",
    "catch": "caught", "choose": "chose", "cut": "cut", "do": "did", "draw": "drew", "find": "found",
    "forbid": "forbade", "freeze": "froze", "get": "got", "give": "gave", "hide": "hid", "hook": "hooked",
    "keep": "kept", "let": "let", "make": "made", "overwrite": "overwrote", "pay": "paid", "put": "put",
    "read": "read", "rebuild": "rebuilt", "redo": "redid", "rerun": "reran", "rewrite": "rewrote",
    "rewind": "rewound", "run": "ran", "send": "sent", "set": "set", "shrink": "shrank", "show": "showed",
    "shut": "shut", "speed": "sped", "spin": "spun", "split": "split", "swap": "swapped", "take": "took",
    "teach": "taught", "tell": "told", "throw": "threw", "undo": "undid", "unset": "unset", "win": "won",
    "write": "wrote", "debug": "debugged",
}  # fmt: skip
DOUBLED = frozenset(
    text.words(
        "drop stop plan log tag map trim strip wrap skip scan pin plug ship step stub swap zip "
        "unzip flip grab unwrap remap permit refer prefer chop pop snap dedup"
    )
)

FIX = frozenset(text.words("fix debug repair resolve correct solve mend address patch unbreak"))
ADD = frozenset(
    text.words(
        "add implement create build support introduce write make enable allow generate provide "
        "scaffold develop"
    )
)
REFACTOR = frozenset(
    text.words(
        "refactor rename move extract clean simplify split reorganize reorganise restructure inline "
        "dedupe dedup deduplicate consolidate tidy modularize modularise decouple unify reformat "
        "rework rewrite"
    )
)
ASK = frozenset(
    text.words(
        "explain find look check investigate review analyze analyse tell show describe summarize "
        "summarise search research see inspect understand explore examine compare list read study "
        "audit trace locate identify figure verify confirm evaluate"
    )
)
OTHER = frozenset(
    text.words(
        "adapt adjust align annotate append apply archive assert attach automate backport batch bind "
        "block bring bump bundle bypass cache call cap catch centralize change check choose clarify "
        "clear clone close collapse collect combine comment commit compile complete compress compute "
        "configure connect convert copy count cover cut deactivate declare decode default defer define "
        "delete deploy deprecate derive detect disable discard dispatch display distinguish do "
        "document downgrade download draw drop embed emit encode encrypt enforce enhance ensure escape "
        "exclude execute expand export expose extend factor fetch fill filter finalize finish flag "
        "flatten flip follow forbid force format forward freeze get give grab group guard handle "
        "harden hash hide highlight hoist hook ignore import improve include increase index initialize "
        "inject insert install instrument integrate invalidate isolate join keep launch let leverage "
        "lift limit link lint load localize lock log loosen lower maintain map mark match measure "
        "memoize merge migrate minify mock modernize modify mount narrow normalize omit open optimize "
        "order organize output overhaul overwrite pad parallelize parameterize parse pass patch "
        "persist pin place plan plug polish pop populate port prefer prefix prepare preserve prevent "
        "print process profile propagate protect prune publish pull push put raise randomize rebase "
        "rebuild record redesign redirect redo reduce register refuse reject release reload remove render "
        "reorder replace report reproduce require rerun reset resize respect restart restore restrict "
        "retry return reuse revert revise revise rotate round route run sanitize save scale scan "
        "schedule scope seed select send separate serialize serve set setup ship shorten shrink shut "
        "silence skip slim sort specify speed spin squash stabilize stage standardize start stop store "
        "stream streamline strengthen strip stub style submit suppress swap switch sync tag take teach "
        "terminate test throttle throw tighten toggle track transform translate treat trigger trim try "
        "tune turn tweak type undo unify uninstall unpin unset unwrap update upgrade upload use "
        "validate vendor version warn watch widen wire work wrap zip"
    )
)
# Verbs that say how things are to be. As a deed, "Kept money as cents", they sound wrong.
STATE_VERBS = frozenset(
    text.words("keep let get do try work prefer treat respect follow maintain ensure")
)
# Verbs that at the start of a commit subject are as often nouns: "Test suite", "Cache key".
ALSO_NOUNS = frozenset(
    text.words(
        "address build cache call cap change comment debug default display filter format group "
        "guard hash hook import index limit link list load lock log map mark match measure merge "
        "mock mount order output patch plan port print process profile pull push read record "
        "release report return review round route scale scan schedule scope search select sort "
        "stage start stop store stream stub style switch sync tag test trace track trigger turn "
        "type version watch work"
    )
)
DETERMINERS = (
    "the ",
    "a ",
    "an ",
    "all ",
    "every ",
    "each ",
    "this ",
    "that ",
    "these ",
    "both ",
    "no ",
)
KNOWN = FIX | ADD | REFACTOR | ASK | OTHER
VOWELS = "aeiou"


def past_tense(verb: str) -> str:
    """`add` gives `added`, `apply` gives `applied`, `drop` gives `dropped`."""
    word = verb.lower()
    if word in IRREGULAR:
        return IRREGULAR[word]
    if word in DOUBLED:
        return f"{word}{word[-1]}ed"
    if word.endswith("e"):
        return f"{word}d"
    if word.endswith("y") and len(word) > 2 and word[-2] not in VOWELS:
        return f"{word[:-1]}ied"
    return f"{word}ed"


PAST = {past_tense(verb): verb for verb in sorted(KNOWN)}


def base_verb(word: str) -> str | None:
    """The verb a word is a form of, if it is one that people ask work with."""
    lower = word.lower()
    if lower in KNOWN:
        return lower
    if lower in PAST:
        return PAST[lower]
    if lower.endswith("s") and lower[:-1] in KNOWN:
        return lower[:-1]
    if lower.endswith("es") and lower[:-2] in KNOWN:
        return lower[:-2]
    return None


def is_request(phrase: str) -> bool:
    """Whether a phrase starts with a verb that asks for work, and not with a noun that looks like one."""
    first, _, rest = phrase.partition(" ")
    verb = base_verb(first.strip(".,:;"))
    return verb is not None and (verb not in ALSO_NOUNS or rest.lower().startswith(DETERMINERS))


def verb_intent(verb: str) -> Intent:
    if verb in FIX:
        return "fix"
    if verb in ADD:
        return "add"
    if verb in REFACTOR:
        return "refactor"
    return "ask" if verb in ASK else "other"


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
    rf"(?:,|;|\band|\bthen)\s+(?P<verb>{'|'.join(sorted(FIX))})\s+(?P<rest>.+)", re.I
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
    plain = plain_prompt(prompt or "")
    if not plain or plain.startswith(CONTINUED):
        return NOTHING
    found = tuple(markdown_sentences(plain))[:60]
    verb, thing = _request(found)
    kind: Intent = verb_intent(verb) if verb else "other"
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
    return find_strong_error(error_window(prompt)) if "\n" in prompt.strip() else None


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
        if verb not in KNOWN or asks or SAYS_HOW_IT_IS.match(rest) or PEOPLE.match(sentence):
            continue
        if verb_intent(verb) == "ask" and (fix := THEN_FIX.search(rest)):
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
    said = markdown_sentences(plain_prompt(prompt or ""))
    for sentence, following in zip(said, [*said[1:], ""], strict=False):
        decision = _read(sentence)
        if decision is not None:
            background = following if _is_background(following) else None
            found.setdefault(decision.what.lower(), replace(decision, background=background))
    return tuple(found.values())[:MOST]


def _is_background(sentence: str) -> bool:
    """It says how things are or were: no request, no question, no doubt, no decision of its own."""
    bare = without_lead(sentence)
    asks = bare != sentence or is_request(bare) or QUESTION.match(bare)
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
