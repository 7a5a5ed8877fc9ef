"""A sentence as its clauses, each without what leads up to it, and with how far it reaches.

Of `ok thanks, but from now on use pnpm` the last clause says `use pnpm`, and that it holds from now on.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from recollect.memory.extraction.lasting import PLACES, TASK, is_hearsay
from recollect.memory.extraction.working_words import either

_WORDS = either(
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
_FUTURE = either(
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
    """`text`: in small letters, without its opening and the scopes before it, of `whole`. `future`: from
    now on; `place`: in this project. `alone`: there is no task that it could be about. `leads`: it begins
    the sentence."""

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
    """Of a masked sentence: itself, then what begins within it and is not put into somebody's mouth."""
    joints = list(JOINT.finditer(plain))
    starts = [0, *(joint.end() for joint in joints)]
    ends = [*(joint.start() for joint in joints), len(plain)]
    tasks = (_orders(plain[joint.end() :]) for joint in joints if joint[0].startswith(","))
    alone = alone and not any(tasks)
    for start, end in zip(starts, ends, strict=True):
        if start and is_hearsay(plain[:start]):
            return
        # What holds from now on is said with it, not in the clause before.
        own = plain[start : end if start else len(plain)]
        scopes = FUTURE.search(own) is not None, PLACE.search(own) is not None
        whole = plain[start:].lower()
        yield Clause(_unscoped(whole), whole, *scopes, alone, leads=start == 0)


def _orders(rest: str) -> bool:
    """`don't use this, use that` orders nothing."""
    return TASK.match(rest) is not None and not USE.match(rest)


def _unscoped(text: str) -> str:
    """Without openings and scopes, in whatever order they come."""
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
