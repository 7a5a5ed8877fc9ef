"""Whether a sentence is meant to last: not a question, an order for this turn, a wish, a joke or hearsay.

All of it reads masked sentences (see `own_words.py`) and errs on the side of forgetting: what a user wants
kept they say again.
"""

import re

from recollect.memory.extraction.working_words import either

_DOING = either(
    "add fix implement write create build make refactor update change rename remove delete move run "
    "check look find show explain investigate debug figure try do generate convert port migrate upgrade "
    "review clean help let's bump revert commit push merge deploy rebase squash open close finish "
    "continue proceed go drop extract split inline simplify optimi[sz]e document translate summari[sz]e "
    "test install publish release tell give list compare replace restore rewrite reformat format draft "
    "prepare set put get read start stop restart wire hook connect mock stub apply undo redo retry "
    "render display print return compute parse store skip ignore use take"
)
_ASKING = either(
    "should shall do does did is are was were can could would will why how what where which who whose "
    "whether am has have isn't aren't don't_you doesn't didn't won't wouldn't couldn't shouldn't "
    "any_(?:idea|reason|chance)"
)
_ASKED = either(
    "i we you he she it they the this that there these those our my an? someone anyone to do does did "
    "is are can could would should true exactly about come"
)
QUESTION = re.compile(
    rf"\?[\"')\]\s]*$|^{_ASKING} {_ASKED}\b"
    r"|\b(?:can|could|would) you (?:check|confirm|tell|explain|verify|find out)\b"
    r"|\bi(?:'m| am)? wonder(?:ing)?\b",
    re.IGNORECASE,
)
PLACES = (
    either(
        "project repo repository code_?base monorepo team company org organi[sz]ation workspace house shop"
    )
    + "s?"
)
_OF_THIS_TURN = either(
    "file function method class module line part ticket issue pr mr pull-request branch commit change "
    "step task turn session round once one run case test time week morning afternoon evening sprint "
    "month component page view script migration conversation chat feature fix bug release demo"
)
_FOR_A_WHILE = either(
    "right_away today tonight tomorrow temporarily meanwhile in_the_meantime currently until till for_now "
    "for_(?:that|these|those|the_(?:moment|time_being|demo|day|rest|next|current)) (?:at|in)_the_moment "
    "at_this_point for_a_(?:while|moment|second|minute|bit|day|week) yet for_once as_long_as "
    "next_(?:week|time|month|sprint)"
)
TEMPORARY = re.compile(
    rf"\b(?:(?<!from )now(?! on\b)|{_FOR_A_WHILE}|for this(?! (?:\w+ )?{PLACES}\b))\b"
    rf"|\b(?:this|that|these|those|the (?:current|new|next|last)) {_OF_THIS_TURN}s?\b"
    rf"|\bin (?:this|that|the) (?!{PLACES})\w+\.(?:\w+)\b|\bwhile (?:i|we|you|it|the|they)\b",
    re.IGNORECASE,
)
HASTY = re.compile(r"^(?:\W*\w+\W+){0,3}?just\b(?! so you know)", re.IGNORECASE)
_PERHAPS = either(
    "suppose supposing imagine assuming maybe perhaps not_sure might what_if let'?s_say hypothetically "
    "in_theory could wonder\\w* i_guess probably thinking_(?:about|of) considering i_think i_suppose "
    "unsure undecided no_idea i_don't_know_if one_day some_?day would_be_(?:nice|good|great|cool)"
)
UNSURE = re.compile(
    rf"\b(?:{_PERHAPS}|if (?:we|i|you|it|they|one) (?:\w+ )?(?:\w+ed|were|had|did|would|always|never))\b",
    re.IGNORECASE,
)
# Whoever else may have said what follows.
HEARSAY = re.compile(
    r"\b"
    + either(
        "says? said saying wrote writes? reads told tells? telling claims? claimed mentions? mentioned "
        "suggests? suggested recommends? recommended states? stated insists? wants thinks? prefers "
        "according_to apparently supposedly as_per per_the docs? readme guide manual linter comment "
        "boss colleagues? co-?workers? manager client customers? reviewer teacher friend he she they "
        "people everyone everybody somebody someone contains?"
    )
    + r"\b",
    re.IGNORECASE,
)
OWN_SAYING = re.compile(
    r"\bi(?:'ve| have)? (?:\w+ )?(?:said|say|told|wrote|mentioned)\b", re.IGNORECASE
)
JOKE = re.compile(
    r"\b(?:yeah,? (?:right|sure|great)|(?:great|brilliant|genius|wonderful) (?:idea|plan|move)"
    r"|oh,? (?:sure|great|yeah|yes|wow|joy)|sure,? (?:why not|always|never|let's)"
    r"|what could (?:possibly )?go wrong"
    r"|who needs|haha+|lol|lmao|rofl|as if|just kidding|jk|kidding)\b|(?:^|\s)/s\b|[🙄😂🤣🤡😏]",
    re.IGNORECASE,
)
_BEFORE = either(
    "ok okay now then so and also please pls next first finally great good thanks hi hey yes no"
)
TASK = re.compile(
    rf"^(?:\W|{_BEFORE}\b)*(?:(?:can|could|would|will) you\b|we need\b|i'm (?:getting|seeing|trying)|help me"
    rf"|i(?:'d| would)? (?:need|want|like) (?:you to|to|a|an|the|some)\b|{_DOING}\b)",
    re.IGNORECASE,
)
LASTING = re.compile(
    r"\b"
    + either(
        "always never from_now_on from_here_on going_forward moving_forward henceforth "
        "in_(?:the_)?future whenever every_?time each_time any_?time by_default as_a_(?:general_)?rule "
        "in_general generally ever prefer\\w* rather remember keep_in_mind bear_in_mind"
    )
    + r"\b|\b(?:in|on|for|across|throughout) (?:this|our|my|all|every|the (?:whole|entire)) (?:\w+ )?"
    + rf"{PLACES}\b",
    re.IGNORECASE,
)
NOT_LASTING = (
    (QUESTION, "a question"),
    (TEMPORARY, "for this moment only"),
    (HASTY, "for this moment only"),
    (UNSURE, "not decided"),
)


def is_joke(message: str) -> bool:
    return JOKE.search(message) is not None


def is_task(sentence: str) -> bool:
    """An order for this turn, or a question: nothing in it says that it holds longer."""
    if QUESTION.search(sentence):
        return True
    return TASK.match(sentence) is not None and LASTING.search(sentence) is None


def passing(sentence: str) -> str | None:
    """Why a sentence is not meant to last; None if nothing speaks against it."""
    return next((why for pattern, why in NOT_LASTING if pattern.search(sentence)), None)


def is_hearsay(before: str) -> bool:
    """What stands before a statement hands it to somebody else."""
    return HEARSAY.search(before) is not None and OWN_SAYING.search(before) is None
