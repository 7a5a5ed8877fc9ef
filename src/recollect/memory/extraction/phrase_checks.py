"""What a phrase must fulfil beyond its words, to be a rule and not a task, a choice or a requirement."""

import re

from recollect.memory.extraction.clauses import FUTURE, Clause
from recollect.memory.extraction.tool_names import is_tool
from recollect.memory.extraction.working_words import WORK, WORKPIECE, either

NOTHING_NAMED = re.compile(
    r"\s*(?:it|this|that|them|these|those|so|one|again|mind)?\s*"
    r"(?:$|[.,!;:)](?!\w)|(?:again|any ?more|please|either|here|there|like (?:this|that)|instead)\b)"
)
# `the second one` and `option B` are choices.
_CHOICES = either(
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
    """So are `in general` and `by default`. `write down what we do from now on` is a task."""
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
