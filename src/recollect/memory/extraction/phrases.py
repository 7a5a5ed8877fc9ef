"""How people say what is to last: a row for each way of saying it.

Rows are matched at the beginning of a clause. So `always run the tests` is an order and `it always fails`
is not.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from recollect.memory.extraction import phrase_checks as must
from recollect.memory.extraction.clauses import Clause
from recollect.memory.extraction.own_words import MASK
from recollect.memory.extraction.working_words import (
    DOES,
    DONE,
    EDITORS,
    FILED,
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
    either,
)
from recollect.model.memories import FEEDBACK, PROJECT, REFERENCE, USER

Check = Callable[[Clause, re.Match[str]], bool]


@dataclass(frozen=True, slots=True)
class Row:
    """`anywhere`: it may also begin a later clause."""

    type: str
    pattern: re.Pattern[str]
    check: Check
    anywhere: bool

    def fits(self, clause: Clause) -> bool:
        found = self.pattern.match(clause.text)
        return found is not None and self.check(clause, found)


def _row(type_: str, pattern: str, check: Check = must.any_, *, anywhere: bool = False) -> Row:
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
_ENDS = either(
    "in for on when because since from here everywhere now please so as anymore last this a_while ages "
    "already some months weeks years"
)
_END = rf"(?=\s*(?:$|[.,;!)]|\s{_ENDS}\b))"
_HAVE = r"(?:'ve| have| just| recently| finally)*"
_VERY = either("really strongly much generally usually always also still do definitely")
_DISLIKE = either("dislike don't_like do_not_like not_a_(?:big_)?fan_of a_(?:big_|huge_)?fan_of")
_FIRMLY = either(
    "only always never exclusively no_longer generally usually normally don't do_not dont"
)
_PUT = either("found kept tracked documented hosted stored filed collected")
_KEPT = rf"[\w '{MASK}`-]{{0,40}}?{KEPT}"
_SOMEWHERE = rf"(?:https?://\S+|(?:the )?{PRODUCTS}\b|#[a-z][\w-]+)"

HOW_TO_WORK = (
    _row(FEEDBACK, rf"{_MUST}(?:always|never)(?:,? ever)?\s+{VERB}", must.is_a_rule, anywhere=True),
    _row(FEEDBACK, rf"(?:{_DONT}|never) ever\s+{VERB}", must.names_something, anywhere=True),
    _row(
        FEEDBACK,
        rf"{_MUST}(?:only |not |{_DONT} |stop |no more )*(?:{VERB}|\w+ing\b)",
        must.in_future,
        anywhere=True,
    ),
    _row(FEEDBACK, rf"(?:only |{_DONT} )*(?:use|prefer|avoid|stick to|follow)\b", must.in_place),
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
    _row(
        FEEDBACK, r"(?:prefer|favou?r)\s+.+?\s(?:over|to|rather than|instead of)\s", must.is_alone
    ),
    _row(
        FEEDBACK,
        rf"(?:{_DONT} use|never use|avoid(?: using)?|stop using|no more)\s+",
        must.is_general,
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
        must.is_alone,
    ),
    _row(
        FEEDBACK,
        rf"(?:all |every |our |your )?{TITLES} (?:should |must |need to |have to |always )?"
        r"(?:be (?:in|written|named|prefixed|short|signed|squashed|atomic)|start|begin|follow|use|have"
        r"|reference|mention|are (?:always|never|written|named|prefixed|in))\b",
        must.is_alone,
    ),
    _row(
        FEEDBACK,
        rf"keep (?:your )?{TEXTS} (?:short|brief|small|concise|terse|focused|minimal)",
        must.is_alone,
    ),
    _row(
        FEEDBACK, r"(?:answer|reply|respond|talk|write|speak) (?:to )?me in [a-z]+", must.is_alone
    ),
    _row(
        FEEDBACK, r"(?:the|our) (?:convention|rule|policy|standard)\b.{0,40}? is (?:that |to )?\w+"
    ),
    _row(
        FEEDBACK,
        rf"use\s+(?P<new>{_TERM})\s*,?\s+(?:instead of|rather than|,? ?not)\s+(?P<old>{_TERM}){_END}",
        must.is_a_swap,
    ),
)
WHO_AND_WHAT_THEY_LIKE = (
    _row(
        USER,
        rf"i(?:'d| would)?(?: {_VERY})* prefer\b",
        must.is_no_choice,
        anywhere=True,
    ),
    _row(
        USER,
        rf"i(?:'d| would) rather (?:you |we )?(?:not |never |always )?(?:{VERB}|see|get)",
        must.holds_often,
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
        must.is_alone,
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
        must.is_our_use,
        anywhere=True,
    ),
    _row(
        PROJECT, r"we(?:'ve| have)? (?:stopped|quit) (?:using|supporting)\b", must.names_something
    ),
    _row(PROJECT, rf"we(?:'ve| have)? dropped (?:support for )?{_not('the it this that')}\w+"),
    _row(
        PROJECT,
        rf"(?:we|the team|everybody|everyone){_HAVE} (?:moved|switched|migrated|upgraded)(?: over)?"
        rf" (?:from {_TERM} )?to (?P<new>{_TERM}){_END}",
        must.has_come,
    ),
    _row(
        PROJECT,
        rf"(?:we|the team){_HAVE} (?:moved|switched|migrated) (?:the|our|all)?\s*[\w -]{{1,40}}? from {_TERM}"
        rf" to (?P<new>{_TERM}){_END}",
        must.has_come,
    ),
    _row(
        PROJECT,
        r"we(?:'ve| have)? (?:agreed|decided) (?:to|on|that|not to)\s+(?!\w+ (?:it|this|that)\b)\w+",
        must.is_a_policy,
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
        must.is_a_place,
    ),
    _row(
        REFERENCE,
        rf"(?P<what>{_KEPT}) (?:is|are|live|lives|(?:can be|is|are) {_PUT}) (?:at|in|on|under) {_SOMEWHERE}",
        must.is_a_place,
    ),
    _row(
        REFERENCE,
        rf"(?:the|our|all) (?P<what>(?:[\w-]+ )?{FILED}) (?:is|are|lives?|can be found) (?:at|in|under)"
        r" [~.]{0,2}/?[\w.-]+/[\w./-]+",
        must.is_a_place,
    ),
)
ROWS = (*HOW_TO_WORK, *WHO_AND_WHAT_THEY_LIKE, *WHAT_HOLDS_IN_THE_PROJECT, *WHERE_THINGS_ARE)
