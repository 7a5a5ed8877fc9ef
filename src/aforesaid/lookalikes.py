"""Disarms tags that a model could take for the client's or for ours, however they are written.

An attacker writes the end tag of an envelope in capitals, with spaces, attributes or invisible letters, in
full width, in Cyrillic or as an HTML entity. All of that is folded before it is compared; what is found keeps
its words and loses its brackets. Other tags and generics of code stay as they are.
"""

import re
import unicodedata

OPENING = r"(?:[<\uff1c\ufe64\u2329\u3008\u27e8\u02c2\u2770]|&(?:amp;)*(?:lt|#0*60|#x0*3c)\b;?)"
CLOSING = r"(?:[>\uff1e\ufe65\u232a\u3009\u27e9\u02c3\u2771]|&(?:amp;)*(?:gt|#0*62|#x0*3e)\b;?)"
TAG = re.compile(
    rf"{OPENING}(?P<inside>(?:(?!{OPENING}|{CLOSING}).){{1,200}}){CLOSING}?", re.I | re.S
)
BRACKETED = re.compile(r"\[(/?\s*(?:INST|SYS|SYSTEM|ASSISTANT|USER|HUMAN)\b[^\]\n]{0,40})\]", re.I)
SPEAKER = re.compile(r"(?<=\n)([ \t]*)(Human|Assistant)([ \t]*:)", re.IGNORECASE)
MARKS = re.compile(rf"{OPENING}|\[|\n[ \t]*(?:human|assistant)", re.IGNORECASE)
ANY = re.compile(OPENING, re.IGNORECASE)
NESTED = 4
LOOKED_AT = 60  # characters of a name
BEFORE = "‹› \t\n/\\!?|:;.,-_'\"#*"  # may stand between a bracket and a name
# Invisible characters: they hide in words, and carry hidden text.
UNSEEN = dict.fromkeys(
    (
        *(0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0, 0x2800),
        *range(0x180B, 0x1810),
        *range(0xFE00, 0xFE0E),
        *range(0xE0100, 0xE01F0),
    )
)
# By the letter that they look like. i, l, 1 and | look alike; the names below are folded the same way.
SHAPE_ROWS = (
    "aаɑαӑ4@ bЬƄв cсϲᴄ dԁժɗ eеєεҽ3 hһհ lіıιίӏⅼ1|!ɩi kĸκк mмʍ "
    "nոпη oоοσօ0 pрρ rгʀ sѕꜱ5$ tтτ uυսц vѵν yуүγ"
)
SHAPES = str.maketrans({c: row[0] for row in SHAPE_ROWS.split() for c in row[1:]})
TAG_NAMES = (
    "aforesaid system user human assistant developer function tool antml invoke parameter thinking reminder "
    "instruction important im_start im_end endoftext start_header end_header eot_id local-command "
    "task-notification command-name command-message command-args bash-input bash-stdout bash-stderr "
    "new-diagnostics session-start-hook user-prompt-submit-hook"
)


def folded(name: str) -> str:
    """As it looks, in lower-case letters and digits alone."""
    shown = unicodedata.normalize("NFKD", name[:LOOKED_AT].translate(UNSEEN)).casefold()
    return "".join(c for c in shown.translate(SHAPES) if "a" <= c <= "z" or c.isdigit())


NAMES = tuple(map(folded, TAG_NAMES.split()))
WHOLE_NAMES = frozenset(map(folded, ("sys", "inst", "prompt", "admin")))


def disarmed(text: str) -> str:
    if not MARKS.search(text):
        return text
    plain = BRACKETED.sub(r"(\1)", SPEAKER.sub(r"\1‹\2›\3", text))
    for _ in range(NESTED):
        before, plain = plain, TAG.sub(_disarmed, plain)
        if plain == before:
            return plain
    return ANY.sub("‹", plain)  # nobody nests tags like that for a good reason


def _disarmed(tag: re.Match[str]) -> str:
    inside = tag["inside"]
    name = folded(inside.lstrip(BEFORE))
    if not (name.startswith(NAMES) or name in WHOLE_NAMES):
        return tag[0]
    end = "›" if tag.end() > tag.end("inside") else ""
    return f"‹{inside}{end}"
