"""Phrases that make a statement, as a table, with checks that it is no task, choice or requirement."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from aforesaid.memory.extraction.sentences import FUTURE, MASK, Clause
from aforesaid.memory.extraction.words import (
    DOES,
    DONE,
    EDITORS,
    FILED_DOCUMENTS,
    HABITS,
    KEPT,
    NEEDS,
    OWN,
    PARTS,
    PRACTICES,
    PRODUCTS,
    ROLES,
    SYSTEMS,
    TEXTS,
    TITLES,
    VERB,
    WHOLES,
    WORK,
    WORKPIECE,
    any_of,
    is_tool,
)
from aforesaid.model.memories import FEEDBACK, PROJECT, REFERENCE, USER

NOTHING_NAMED = re.compile(
    r"\s*(?:it|this|that|them|these|those|so|one|again|mind)?\s*"
    r"(?:$|[.,!;:)](?!\w)|(?:again|any ?more|please|either|here|there|like (?:this|that)|instead)\b)"
)
# `the second one` and `option B` are choices.
_CHOICES = any_of(
    "the that this these those it its your his her their option choice variant version approach number "
    "both either neither one if not doing_it"
)
CHOICE = re.compile(
    rf"(?:{_CHOICES}|to (?!see|get|have|read|use|review|keep|write|work|be)\w+|[#\d]|[a-f](?![\w-]))\b"
)
ONE_THING = re.compile(r"(?:the|this|that|it|any|an?|my|your|these|those|more|so|too)\b")
POINTING = re.compile(r"(?:this|that|it|these|those|them|the same)\b")
HERE = re.compile(r"\bhere\b")
ASIDE = re.compile(r"\b(?:what|how|which|where|why|if|whether|that)\b")
FIRM = re.compile(r"\b(?:from now on|from here on|going forward|moving forward|henceforth)")
OFTEN = re.compile(r"\b(?:before|when|whenever|every|always|never|without|in general|than)\b")
REFUSING = re.compile(r"\W*(?:no|nope|nah|actually|wrong|stop|please|wait)\b")
PLURAL = re.compile(r"(?:[a-z][a-z-]* ){0,2}?[a-z][a-z-]*s(?!\w|\.\w)")
PLAIN_NAME = re.compile(r"[`\"']?[\w@#.+-]+[`\"']?(?: [`\"']?[\w@#.+-]+[`\"']?)?")
VERSIONED = re.compile(r"[a-z][\w.+#-]* v?\d+(?:\.\d+)*\b")
FAULT = re.compile(
    r"\b(?:error|bug|problem|failure|crash|trace|exception|typo|cause|fix|difference|issue)s?\b"
)
FILED = re.compile(r"\b(?:tracked|filed|collected)\b")
OWN_MACHINE = re.compile(r"https?://(?:localhost|127\.|0\.0)")
EVERYWHERE = re.compile(r"\b(?:everywhere|always|never|from now on|throughout)\b", re.IGNORECASE)


def any_(_clause: Clause, _found: re.Match[str]) -> bool:
    return True


def rest(clause: Clause, found: re.Match[str]) -> str:
    return clause.text[found.end() :]


def names_something(clause: Clause, found: re.Match[str]) -> bool:
    return not NOTHING_NAMED.match(rest(clause, found))


def is_work(clause: Clause, found: re.Match[str]) -> bool:
    used = re.match(r"(?:use|using|prefer)\s+(\S+)", found[0].split()[-1] + rest(clause, found))
    return WORK.search(found[0]) is not None or (used is not None and is_tool(used[1]))


def is_a_rule(clause: Clause, found: re.Match[str]) -> bool:
    """`always` and `never` are also said of what a program is to do."""
    if not names_something(clause, found) or HERE.search(clause.text):
        return False
    if clause.place or is_work(clause, found):
        return True
    return clause.alone and WORKPIECE.search(rest(clause, found)) is not None


def in_future(clause: Clause, found: re.Match[str]) -> bool:
    """Also for `in general` and `by default`. `write down what we do from now on` is a task."""
    if not clause.future or not names_something(clause, found):
        return False
    after = rest(clause, found)
    if ASIDE.search(FUTURE.split(after, maxsplit=1)[0]):
        return False
    about_work = is_work(clause, found) or WORKPIECE.search(found[0] + after) is not None
    return about_work or FIRM.search(clause.whole) is not None


def in_place(clause: Clause, found: re.Match[str]) -> bool:
    return clause.place and names_something(clause, found)


def is_alone(clause: Clause, _found: re.Match[str]) -> bool:
    return clause.alone and not HERE.search(clause.text)


def is_a_policy(clause: Clause, found: re.Match[str]) -> bool:
    """A decision beside a task may be about the task, unless it says that it holds for more."""
    return is_alone(clause, found) or EVERYWHERE.search(clause.whole) is not None


def is_no_choice(clause: Clause, found: re.Match[str]) -> bool:
    after = rest(clause, found).lstrip()
    return bool(after) and not CHOICE.match(after) and not re.search(r"\bit\b", after)


def holds_often(clause: Clause, found: re.Match[str]) -> bool:
    return OFTEN.search(clause.text) is not None and is_no_choice(clause, found)


def is_our_use(clause: Clause, found: re.Match[str]) -> bool:
    """`we use a lock here to …` tells of the code, `we use pnpm here` of the project."""
    after = re.split(r"[,;:]\s", rest(clause, found))[0].strip()
    if not after or POINTING.match(after) or re.search(r"\bbut\b", after):
        return False
    firm = found["firm"]
    if clause.scoped or firm == "no longer" or (firm and clause.alone):
        return True
    here = re.search(r"\bhere\b(?! to\b)", after) and not re.match(r"(?:an?|the)\b", after)
    return bool(here) or (is_tool(after) and not re.search(r"\bto\b", after))


def is_general(clause: Clause, found: re.Match[str]) -> bool:
    """`don't use default exports`, and not `don't use the cache` or `don't use foo.py`."""
    after = rest(clause, found).strip()
    if ONE_THING.match(after) or not (PLURAL.match(after) or is_tool(after)):
        return False
    return is_alone(clause, found)


def is_a_swap(clause: Clause, found: re.Match[str]) -> bool:
    """Tools, after a `no`; or whatever is swapped from now on. Not two ways of writing one function."""
    if clause.scoped:
        return True
    names = (found["new"].strip(), found["old"].strip())
    whole = not rest(clause, found).strip(" .!,") and REFUSING.match(clause.whole) is not None
    return whole and any(map(is_tool, names)) and all(map(PLAIN_NAME.fullmatch, names))


def has_come(_clause: Clause, found: re.Match[str]) -> bool:
    """What was moved to is a product or a version, and no other file."""
    new = found["new"].strip()
    known = VERSIONED.match(new) is not None or is_tool(new)
    return known and not re.search(r"[/(]|\.\w{1,4}\b", new.split()[0])


def is_a_place(clause: Clause, found: re.Match[str]) -> bool:
    """Not where a bug is, but where bugs are filed."""
    if FAULT.search(found["what"]) and not FILED.search(found[0]):
        return False
    return not OWN_MACHINE.search(clause.text)


Check = Callable[[Clause, re.Match[str]], bool]


@dataclass(frozen=True, slots=True)
class Row:
    """`anywhere`: it may begin a later clause, too."""

    type: str
    pattern: re.Pattern[str]
    check: Check
    anywhere: bool

    def fits(self, clause: Clause) -> bool:
        found = self.pattern.match(clause.text)
        return found is not None and self.check(clause, found)


def _row(type_: str, pattern: str, check: Check = any_, *, anywhere: bool = False) -> Row:
    return Row(type_, re.compile(pattern), check, anywhere)


def _not(words: str) -> str:
    """What follows is none of these."""
    return rf"(?!(?:{'|'.join(words.split())})\b)"


_OFTEN = (
    rf"(?:(?:whenever|every ?time|each time|any ?time) (?:you|we) {DOES}"
    rf"|(?:before|after|on|with|for) (?:each|every|any) {DONE})"
)
_MUST = (
    r"(?:(?:you|we) (?:should|must|need to|have to|are to|will|'ll) |you |make sure (?:to |you |that you )?"
    r"|be sure to |i(?: want| need| expect|'d like| would like) you to |let's |remember to "
    r"|don't forget to )?"
)
_DONT = r"(?:don't|do not|dont)"
_NAME = r"[`\"']?[\w@#][\w@./+#-]*[`\"']?"
_TERM = rf"{_NAME}(?: {_NAME}){{0,2}}?"
_ENDS = any_of(
    "in for on when because since from here everywhere now please so as anymore last this a_while ages "
    "already some months weeks years"
)
_END = rf"(?=\s*(?:$|[.,;!)]|\s{_ENDS}\b))"
_HAVE = r"(?:'ve| have| just| recently| finally)*"
_VERY = any_of("really strongly much generally usually always also still do definitely")
_DISLIKE = any_of("dislike don't_like do_not_like not_a_(?:big_)?fan_of a_(?:big_|huge_)?fan_of")
_FIRMLY = any_of(
    "only always never exclusively no_longer generally usually normally don't do_not dont"
)
_PUT = any_of("found kept tracked documented hosted stored filed collected")
_KEPT = rf"[\w '{MASK}`-]{{0,40}}?{KEPT}"
_SOMEWHERE = rf"(?:https?://\S+|(?:the )?{PRODUCTS}\b|#[a-z][\w-]+)"

HOW_TO_WORK = (
    _row(FEEDBACK, rf"{_MUST}(?:always|never)(?:,? ever)?\s+{VERB}", is_a_rule, anywhere=True),
    _row(FEEDBACK, rf"(?:{_DONT}|never) ever\s+{VERB}", names_something, anywhere=True),
    _row(
        FEEDBACK,
        rf"{_MUST}(?:only |not |{_DONT} |stop |no more )*(?:{VERB}|\w+ing\b)",
        in_future,
        anywhere=True,
    ),
    _row(FEEDBACK, rf"(?:only |{_DONT} )*(?:use|prefer|avoid|stick to|follow)\b", in_place),
    _row(
        FEEDBACK,
        rf"{_OFTEN}\b[^,]*,\s*(?:please |you (?:should|must) |also |then |always |make sure to )*{VERB}",
    ),
    _row(FEEDBACK, rf"{_OFTEN} (?:please |always )*{VERB}"),
    _row(
        FEEDBACK,
        r"(?:run|update|regenerate|rebuild|check|ask|bump|lint|format|test|sync|pull|rebase|tell|show|remind"
        rf"|verify|confirm|restart)\b(?!.*\b(?:that|which)\b).*\b{_OFTEN}\b",
    ),
    _row(FEEDBACK, r"(?:prefer|favou?r)\s+.+?\s(?:over|to|rather than|instead of)\s", is_alone),
    _row(
        FEEDBACK,
        rf"(?:{_DONT} use|never use|avoid(?: using)?|stop using|no more)\s+",
        is_general,
        anywhere=True,
    ),
    _row(FEEDBACK, rf"stop {HABITS}\b(?!\s+(?:the|this|that|it)\b)"),
    _row(
        FEEDBACK,
        rf"(?:{_DONT}|never) {VERB}.*\b(?:without (?:asking|my|permission|approval|telling|being asked"
        rf"|a review)|unless (?:i|asked|told|explicitly))\b",
    ),
    _row(FEEDBACK, rf"{_DONT} (?:commit|push|merge) (?:directly |straight )(?:to|into|on)\b"),
    _row(
        FEEDBACK,
        rf"(?:{_DONT} (?:add|put|write|include|mock|leave|mention|use)|no) {_not('the this that it any')}"
        rf"[^,.]*? (?:in|to|into) (?:your |our |the )?(?:{TITLES}|commits|code|docs|tests|[a-z]+ tests)\b",
        is_alone,
    ),
    _row(
        FEEDBACK,
        rf"(?:all |every |our |your )?{TITLES} (?:should |must |need to |have to |always )?"
        r"(?:be (?:in|written|named|prefixed|short|signed|squashed|atomic)|start|begin|follow|use|have"
        r"|reference|mention|are (?:always|never|written|named|prefixed|in))\b",
        is_alone,
    ),
    _row(
        FEEDBACK,
        rf"keep (?:your )?{TEXTS} (?:short|brief|small|concise|terse|focused|minimal)",
        is_alone,
    ),
    _row(FEEDBACK, r"(?:answer|reply|respond|talk|write|speak) (?:to )?me in [a-z]+", is_alone),
    _row(
        FEEDBACK, r"(?:the|our) (?:convention|rule|policy|standard)\b.{0,40}? is (?:that |to )?\w+"
    ),
    _row(
        FEEDBACK,
        rf"use\s+(?P<new>{_TERM})\s*,?\s+(?:instead of|rather than|,? ?not)\s+(?P<old>{_TERM}){_END}",
        is_a_swap,
    ),
)
WHO_AND_WHAT_THEY_LIKE = (
    _row(
        USER,
        rf"i(?:'d| would)?(?: {_VERY})* prefer\b",
        is_no_choice,
        anywhere=True,
    ),
    _row(
        USER,
        rf"i(?:'d| would) rather (?:you |we )?(?:not |never |always )?(?:{VERB}|see|get)",
        holds_often,
    ),
    _row(
        USER,
        rf"i (?:{_VERY} )*(?:like|love) {_not('the this that it your how')}.+?"
        rf" (?:better than|more than|over) {_not('the this that it before')}",
    ),
    _row(
        USER,
        rf"i(?:'m| am)?(?: really)? {_DISLIKE}"
        rf" {_not('the this that it how when what your these those to')}(?:\w+ )?\w+(?:s|ing)\b",
        is_alone,
    ),
    _row(
        USER,
        rf"my (?:first |last |full |nick ?)?{OWN} (?:is|are)\s+"
        rf"{_not('not no missing wrong null empty undefined in on the shown')}(?!\w+(?:ed|ing)\b)[\w@`\"']+",
        anywhere=True,
    ),
    _row(USER, rf"(?:you can |please )?call me {_not('back when if crazy a')}\w+"),
    _row(USER, rf"i(?:'m| am) (?:an? )(?:[\w-]+ ){{0,3}}?{ROLES}\b(?!.*\bbut\b)"),
    _row(USER, rf"i (?:work|worked) as an? (?:[\w-]+ ){{0,3}}?{ROLES}\b"),
    _row(
        USER,
        r"i(?:'m| am) (?:colou?r-?blind|dyslexic|deaf|blind|left-handed|based in \w+|fluent in \w+"
        r"|new to (?!this|it)\w+|more comfortable (?:with|in) \w+|used to (?!this|it)\w+"
        rf"|on {SYSTEMS}(?=\W*$|,? so\b))",
    ),
    _row(USER, rf"i(?: mostly| usually| always)? (?:use|code in|work in|work with) {EDITORS}\b"),
)
WHAT_HOLDS_IN_THE_PROJECT = (
    _row(
        PROJECT,
        rf"we(?:'re| are)?(?: (?P<firm>{_FIRMLY}))*(?: all| also| still)* {PRACTICES}\b",
        is_our_use,
        anywhere=True,
    ),
    _row(PROJECT, r"we(?:'ve| have)? (?:stopped|quit) (?:using|supporting)\b", names_something),
    _row(PROJECT, rf"we(?:'ve| have)? dropped (?:support for )?{_not('the it this that')}\w+"),
    _row(
        PROJECT,
        rf"(?:we|the team|everybody|everyone){_HAVE} (?:moved|switched|migrated|upgraded)(?: over)?"
        rf" (?:from {_TERM} )?to (?P<new>{_TERM}){_END}",
        has_come,
    ),
    _row(
        PROJECT,
        rf"(?:we|the team){_HAVE} (?:moved|switched|migrated) (?:the|our|all)?\s*[\w -]{{1,40}}? from {_TERM}"
        rf" to (?P<new>{_TERM}){_END}",
        has_come,
    ),
    _row(
        PROJECT,
        r"we(?:'ve| have)? (?:agreed|decided) (?:to|on|that|not to)\s+(?!\w+ (?:it|this|that)\b)\w+",
        is_a_policy,
    ),
    _row(
        PROJECT,
        rf"(?:(?:this|our) (?:whole )?{WHOLES}(?: only| still| must| has to| have to| needs to)*"
        rf"|(?:this|our) {PARTS}(?: only| still)*) {NEEDS}\s+{_not('this that it')}",
    ),
)
WHERE_THINGS_ARE = (
    _row(
        REFERENCE,
        rf"you(?:'ll| can| will)? find (?P<what>{_KEPT}) (?:at|in|on|under) {_SOMEWHERE}",
        is_a_place,
    ),
    _row(
        REFERENCE,
        rf"(?P<what>{_KEPT}) (?:is|are|live|lives|(?:can be|is|are) {_PUT}) (?:at|in|on|under) {_SOMEWHERE}",
        is_a_place,
    ),
    _row(
        REFERENCE,
        rf"(?:the|our|all) (?P<what>(?:[\w-]+ )?{FILED_DOCUMENTS}) "
        r"(?:is|are|lives?|can be found) (?:at|in|under) [~.]{0,2}/?[\w.-]+/[\w./-]+",
        is_a_place,
    ),
)
ROWS = (*HOW_TO_WORK, *WHO_AND_WHAT_THEY_LIKE, *WHAT_HOLDS_IN_THE_PROJECT, *WHERE_THINGS_ARE)
