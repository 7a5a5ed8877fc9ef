"""The user's own sentences in a message, and whether they are meant to last: questions, tasks for this turn,
wishes, jokes and hearsay are not.

Pasted text and quotations are removed or masked first. In doubt a sentence is not kept: users repeat what
they want remembered.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from aforesaid.memory.extraction.words import any_of
from aforesaid.model.prose import sentences, split
from aforesaid.text import clean

_DOING = any_of(
    "add fix implement write create build make refactor update change rename remove delete move run "
    "check look find show explain investigate debug figure try do generate convert port migrate upgrade "
    "review clean help let's bump revert commit push merge deploy rebase squash open close finish "
    "continue proceed go drop extract split inline simplify optimi[sz]e document translate summari[sz]e "
    "test install publish release tell give list compare replace restore rewrite reformat format draft "
    "prepare set put get read start stop restart wire hook connect mock stub apply undo redo retry "
    "render display print return compute parse store skip ignore use take"
)
_ASKING = any_of(
    "should shall do does did is are was were can could would will why how what where which who whose "
    "whether am has have isn't aren't don't_you doesn't didn't won't wouldn't couldn't shouldn't "
    "any_(?:idea|reason|chance)"
)
_ASKED = any_of(
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
    any_of(
        "project repo repository code_?base monorepo team company org organi[sz]ation workspace house shop"
    )
    + "s?"
)
_OF_THIS_TURN = any_of(
    "file function method class module line part ticket issue pr mr pull-request branch commit change "
    "step task turn session round once one run case test time week morning afternoon evening sprint "
    "month component page view script migration conversation chat feature fix bug release demo"
)
_FOR_A_WHILE = any_of(
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
_PERHAPS = any_of(
    "suppose supposing imagine assuming maybe perhaps not_sure might what_if let'?s_say hypothetically "
    "in_theory could wonder\\w* i_guess probably thinking_(?:about|of) considering i_think i_suppose "
    "unsure undecided no_idea i_don't_know_if one_day some_?day would_be_(?:nice|good|great|cool)"
)
UNSURE = re.compile(
    rf"\b(?:{_PERHAPS}|if (?:we|i|you|it|they|one) (?:\w+ )?(?:\w+ed|were|had|did|would|always|never))\b",
    re.IGNORECASE,
)
# Somebody else may have said what follows.
HEARSAY = re.compile(
    r"\b"
    + any_of(
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
_BEFORE = any_of(
    "ok okay now then so and also please pls next first finally great good thanks hi hey yes no"
)
TASK = re.compile(
    rf"^(?:\W|{_BEFORE}\b)*(?:(?:can|could|would|will) you\b|we need\b|i'm (?:getting|seeing|trying)|help me"
    rf"|i(?:'d| would)? (?:need|want|like) (?:you to|to|a|an|the|some)\b|{_DOING}\b)",
    re.IGNORECASE,
)
LASTING = re.compile(
    r"\b"
    + any_of(
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
    """A question, or an order for this turn alone."""
    if QUESTION.search(sentence):
        return True
    return TASK.match(sentence) is not None and LASTING.search(sentence) is None


def passing(sentence: str) -> str | None:
    """Why a sentence is not meant to last, or None."""
    return next((why for pattern, why in NOT_LASTING if pattern.search(sentence)), None)


def is_hearsay(before: str) -> bool:
    """Whether the text before a statement attributes it to somebody else."""
    return HEARSAY.search(before) is not None and OWN_SAYING.search(before) is None


_WORDS = any_of(
    "please pls plz and also so ok okay nope nah hey hi hello btw by_the_way well right yes yep yeah "
    "but oh ah fyi again actually hm+ thanks thank_you sorry great good nice perfect cool fine "
    "looks_good lgtm seriously honestly as_i_said like_i_said i_said i_told_you(?:_to)? "
    "as_(?:i_)?(?:mentioned|said)(?:_before|_earlier)? one_(?:more_|last_)?(?:thing|note|rule|request) "
    "a_(?:quick_)?(?:note|reminder) quick_note reminder important rule nb ps for_the_record heads_up "
    "another_thing ground_rule just_so_you_know first second third finally personally"
)
# `no` opens `no, use pnpm` and is a part of `no emojis in commit messages`.
_NO = r"no(?=\W*[,.!:—–-]|\s+(?:use|we|it|not|don't|always|never|i)\b)"
OPENING = re.compile(rf"(?:\W|(?:{_WORDS}|{_NO})\b)+", re.IGNORECASE)
_FUTURE = any_of(
    "from_now_on(?:wards)? from_here_on(?:_out)? going_forward moving_forward henceforth in_(?:the_)?future "
    "for_future_reference by_default as_a_(?:general_)?rule(?:_of_thumb)? in_general"
)
FUTURE = re.compile(rf"\b{_FUTURE}\b[,:]?", re.IGNORECASE)
PLACE = re.compile(
    r"\b(?:in|on|for|across|throughout|at) (?:this|our|my|all(?: of)? (?:our|my)|the (?:whole|entire)) "
    rf"(?:\w+ )?{PLACES}\b[,:]?",
    re.IGNORECASE,
)
POLITE = re.compile(
    r"^(?:can|could|would|will) you (?P<please>please )?(?P<rest>.*?)\??\W*$", re.IGNORECASE
)
JOINT = re.compile(
    r"(?:[,:]|\s[-–—])\s+(?:(?:and|but|so|also|please)\s+)*|\s(?:and|but)\s+(?:also\s+|please\s+)?"
)
USE = re.compile(r"(?:but |please )*use\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Clause:
    """`text`: `whole` in lower case without its opening and scopes. `future`: from now on; `place`: in this
    project. `alone`: there is no task that it could be about. `leads`: it begins the sentence."""

    text: str
    whole: str
    future: bool
    place: bool
    alone: bool
    leads: bool

    @property
    def scoped(self) -> bool:
        return self.future or self.place


def clauses(plain: str, *, alone: bool) -> Iterator[Clause]:
    """The whole of a masked sentence, then the parts that begin within it, up to one that is hearsay."""
    joints = list(JOINT.finditer(plain))
    starts = [0, *(joint.end() for joint in joints)]
    ends = [*(joint.start() for joint in joints), len(plain)]
    tasks = (_orders(plain[joint.end() :]) for joint in joints if joint[0].startswith(","))
    alone = alone and not any(tasks)
    for start, end in zip(starts, ends, strict=True):
        if start and is_hearsay(plain[:start]):
            return
        # A scope belongs to its own clause, not to the one before.
        own = plain[start : end if start else len(plain)]
        scopes = FUTURE.search(own) is not None, PLACE.search(own) is not None
        whole = plain[start:].lower()
        yield Clause(_unscoped(whole), whole, *scopes, alone, leads=start == 0)


def _orders(rest: str) -> bool:
    """`don't use this, use that` is no task."""
    return TASK.match(rest) is not None and not USE.match(rest)


def _unscoped(text: str) -> str:
    """Removes openings and scopes, in any order."""
    while True:
        bare = unopened(text)
        for scope in (FUTURE, PLACE):
            if found := scope.match(bare):
                bare = bare[found.end() :]
        if bare == text:
            return text
        text = bare


def unopened(text: str) -> str:
    found = OPENING.match(text)
    return text[found.end() :] if found else text


LONGEST = 6_000  # characters; a longer text is hardly typed, and only its ends are read
END = 1_500
FENCE = re.compile(r"^[ \t]*(```+|~~~+).*?(?:^[ \t]*\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
INLINE_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
BLOCK = re.compile(r"<([a-z][\w-]*)\b[^<>\n]*>.*?</\1>", re.DOTALL | re.IGNORECASE)
_TAGS = any_of(
    "paste file log output document content context example quote transcript e?mail message system tool "
    "command local user stdin stdout diff code text"
)
OPENED = re.compile(rf"<{_TAGS}[\w-]*[^<>\n]*>.*", re.DOTALL | re.IGNORECASE)
MARKER = re.compile(r"\[(?:Request interrupted|Pasted text|Image)[^\]\n]*\]")
# Written by a program in the user's name, or the prompt of a script.
NOT_SPOKEN = re.compile(
    r"\s*(?:/\w|This session is being continued|Caveat:|Base directory for this skill|\w+ hook feedback:"
    r"|Another Claude|The USER performed|You are (?:an?|the|my|our|now)\b|Act as\b|Your task is\b"
    r"|Implement (?:the following plan|task \d))",
    re.IGNORECASE,
)
# A line that ends with a colon and introduces a quotation, or a text that is to be worked on.
_SAYING = any_of(
    "says? said wrote writes reads got gets? getting output prints? printed errors? logs? traceback "
    "trace readme contributing docs e?mail slack comments? review(?:er)? issue ticket thread quote text "
    "snippet pasted? documents? contents? prompt transcript response results? section page description "
    "shows? showed i_see i_ran running"
)
QUOTES = re.compile(rf"\b{_SAYING}\b", re.IGNORECASE)
_WANTED = any_of(
    "requirements? criteria specs? specification following steps todos? tasks? examples? features? "
    "behaviou?r cases should must need want here's here_is here_are this_is these_are"
)
_MAKE = any_of(
    "write create implement build generate draft translate summari[sz]e explain add make fix change "
    "update refactor rename convert rewrite"
)
TO_BE_BUILT = re.compile(rf"\b{_WANTED}\b|^\W*(?:please )?{_MAKE}\b", re.IGNORECASE)
# "can you polish this?" and then the text.
_HANDLE = any_of(
    "polish translate review summari[sz]e proof-?read answer reply rewrite shorten improve check "
    "look_at read fix explain format correct see think_(?:of|about) thoughts_on got get getting paste "
    "send sent wrote received from"
)
TO_BE_WORKED_ON = re.compile(
    rf"\b{_HANDLE}\b.*\b(?:this|these|following|below|it)\b[^.,]{{0,20}}$", re.IGNORECASE
)
_RULES = any_of(
    "rules? conventions? guidelines? preferences? principles remember keep_in_mind bear_in_mind from_now_on "
    "going_forward habits"
)
RULES = re.compile(rf"\b{_RULES}\b", re.IGNORECASE)
WRITTEN_BY_A_MACHINE = re.compile(
    r"\s*(?:\[?\d{4}-\d\d-\d\d|\[?\d\d:\d\d|at \S+\(|File \"|\$ |# ?\d|%|diff --|@@|\+|---|===|\||\s{4}|\t"
    r"|\w*(?:Error|Exception|Warning):|(?:INFO|WARN|WARNING|ERROR|DEBUG|TRACE|FATAL)[:\]( ]|(?:error"
    r"|warning)[:[(]|npm (?:ERR|WARN|error|warn)|Traceback)"
)
QUOTED_LINE = re.compile(r"\s*>")
HEADING = re.compile(r"^#{1,6} \S.*", re.DOTALL | re.MULTILINE)
# People begin sentences with small letters, too.
LOOSE_END = re.compile(r"(?<=[^\W_]{2}[.!?])\s+(?=\S)|(?<=[`\"'”][.!?])\s+(?=\S)|;\s+")
QUOTATION = re.compile(
    r"`[^`\n]+`|\"[^\"\n]+\"|“[^”\n]+”|«[^»\n]+»|„[^“\n]+“|(?<![\w])'[^'\n]+'(?![\w])"
)
MASK = "¤"


def own_words(text: str) -> str:
    if NOT_SPOKEN.match(text):
        return ""
    if len(text) > LONGEST:
        first, last = text[:END].rpartition("\n\n")[0], text[-END:].partition("\n\n")[2]
        text = f"{first}\n\n{last}"
    text = MARKER.sub(" ", clean(text))
    for pasted in (FENCE, INLINE_FENCE, BLOCK, OPENED, HEADING):
        text = pasted.sub("\n", text)
    return "\n".join(_spoken(text.split("\n"))).strip()


def _spoken(lines: list[str]) -> Iterator[str]:
    by_machine = False
    for number, line in enumerate(lines):
        if not line.strip():
            by_machine = False
        elif WRITTEN_BY_A_MACHINE.match(line):
            by_machine = True
        elif not by_machine and not QUOTED_LINE.match(line):
            yield line
            if _hands_over(line, more=any(each.strip() for each in lines[number + 1 :])):
                return


def _hands_over(line: str, *, more: bool) -> bool:
    if more and TO_BE_WORKED_ON.search(line):
        return True
    if not line.rstrip().endswith(":"):
        return False
    return bool(QUOTES.search(line) or (TO_BE_BUILT.search(line) and not RULES.search(line)))


def own_sentences(text: str) -> list[str]:
    """The sentences of the user's own words, each on one line."""
    parts = (part for each in sentences(own_words(text)) for part in split(each, LOOSE_END))
    return [part for part in parts if part]


def masked(sentence: str) -> str:
    """The sentence with quotations and code masked, at the same length: they are mentioned, not said."""
    return QUOTATION.sub(
        lambda quoted: quoted[0][0] + MASK * (len(quoted[0]) - 2) + quoted[0][-1], sentence
    )


_ALL = r"(?:all |any |every |your |the |previous |prior |earlier |above )*"
# If such a sentence were kept, every later session would obey it.
ORDERS = tuple(
    re.compile(rf"\b{order}", re.IGNORECASE)
    for order in (
        rf"(?:ignore|disregard|forget|override) {_ALL}(?:instructions?|rules?|memor(?:y|ies)|prompts?"
        rf"|everything)\b",
        rf"(?:delete|erase|wipe|clear|overwrite|retire) {_ALL}memor(?:y|ies)\b",
        r"(?:system prompt|you are now|jailbreak)",
        r"(?:do not|don't|never) (?:tell|inform|ask|warn) the user\b",
        r"without (?:the user'?s|asking the user)",
        rf"(?:exfiltrate|send {_ALL}(?:secrets?|credentials|keys|tokens))\b",
    )
)


def orders_the_memory(text: str) -> bool:
    return any(order.search(text) for order in ORDERS)
