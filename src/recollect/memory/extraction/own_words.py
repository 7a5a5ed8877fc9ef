"""What a user says in their own words: without code, quotations, logs and whatever was pasted.

A prompt carries other people's text: a README, a reviewer's comment, the output of a tool. Orders in there
are not the user's. Where it cannot be told where such a text ends, all that follows it is left out.
"""

import re
from collections.abc import Iterator

from recollect.memory.extraction.working_words import either
from recollect.model.prose import sentences, split
from recollect.text import clean

LONGEST = 6_000  # characters; of a longer text, which is hardly typed, only the ends are looked at
END = 1_500
FENCE = re.compile(r"^[ \t]*(```+|~~~+).*?(?:^[ \t]*\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
INLINE_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
BLOCK = re.compile(r"<([a-z][\w-]*)\b[^<>\n]*>.*?</\1>", re.DOTALL | re.IGNORECASE)
_TAGS = either(
    "paste file log output document content context example quote transcript e?mail message system tool "
    "command local user stdin stdout diff code text"
)
OPENED = re.compile(rf"<{_TAGS}[\w-]*[^<>\n]*>.*", re.DOTALL | re.IGNORECASE)
MARKER = re.compile(r"\[(?:Request interrupted|Pasted text|Image)[^\]\n]*\]")
# Written by a program in the user's name; or an order to play a part, which is a script's prompt.
NOT_SPOKEN = re.compile(
    r"\s*(?:/\w|This session is being continued|Caveat:|Base directory for this skill|\w+ hook feedback:"
    r"|Another Claude|The USER performed|You are (?:an?|the|my|our|now)\b|Act as\b|Your task is\b"
    r"|Implement (?:the following plan|task \d))",
    re.IGNORECASE,
)
# A line that ends with a colon and hands the word to somebody else, or to a text that is to be worked on.
_SAYING = either(
    "says? said wrote writes reads got gets? getting output prints? printed errors? logs? traceback "
    "trace readme contributing docs e?mail slack comments? review(?:er)? issue ticket thread quote text "
    "snippet pasted? documents? contents? prompt transcript response results? section page description "
    "shows? showed i_see i_ran running"
)
QUOTES = re.compile(rf"\b{_SAYING}\b", re.IGNORECASE)
_WANTED = either(
    "requirements? criteria specs? specification following steps todos? tasks? examples? features? "
    "behaviou?r cases should must need want here's here_is here_are this_is these_are"
)
_MAKE = either(
    "write create implement build generate draft translate summari[sz]e explain add make fix change "
    "update refactor rename convert rewrite"
)
TO_BE_BUILT = re.compile(rf"\b{_WANTED}\b|^\W*(?:please )?{_MAKE}\b", re.IGNORECASE)
# "can you polish this?" and then the text.
_HANDLE = either(
    "polish translate review summari[sz]e proof-?read answer reply rewrite shorten improve check "
    "look_at read fix explain format correct see think_(?:of|about) thoughts_on got get getting paste "
    "send sent wrote received from"
)
TO_BE_WORKED_ON = re.compile(
    rf"\b{_HANDLE}\b.*\b(?:this|these|following|below|it)\b[^.,]{{0,20}}$", re.IGNORECASE
)
_RULES = either(
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
    """Of the user's own words, in order, each on one line."""
    parts = (part for each in sentences(own_words(text)) for part in split(each, LOOSE_END))
    return [part for part in parts if part]


def masked(sentence: str) -> str:
    """As long as it was, with what stands in quotes or is code made unreadable: it is spoken of, not said."""
    return QUOTATION.sub(
        lambda quoted: quoted[0][0] + MASK * (len(quoted[0]) - 2) + quoted[0][-1], sentence
    )
