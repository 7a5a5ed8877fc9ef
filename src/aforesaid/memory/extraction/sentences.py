"""The user's own sentences in a message, in a normal form in which cues are looked for (cues.txt).

Pasted text is told from talk by the structure of its lines; quotations are masked. The normal form has small
letters, no misspellings of the words that matter, and English words for those of other languages.
"""

import re
from collections.abc import Iterator
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path

from aforesaid.model.prose import sentences, split
from aforesaid.text import clean, words

LONGEST, END = 6_000, 1_500  # characters; of a longer text only the ends are read
LONGEST_TALK = 250  # characters of a line that addresses nobody; a longer one is a document
LIKENESS = 0.85  # of a misspelt word
MASK = "¤"


def _load() -> tuple[dict[str, re.Pattern[str]], dict[str, str], dict[str, int], set[str]]:
    """The cues, the English of foreign words, the kind of each tool, and the tools of a person."""
    text = Path(__file__).with_name("cues.txt").read_text("utf-8")
    text = re.sub(r"\n[ ]+", "", re.sub(r"^#.*\n", "", text, flags=re.MULTILINE))
    cues, languages, tools = re.split(r"\[(?:cues|languages|tools)\]\n", text)[1:]
    english = {
        word.replace("_", " "): meaning
        for meaning, _, row in (line.partition(": ") for line in languages.split("\n"))
        for word in row.split()
    }
    kinds: dict[str, int] = {}
    for number, row in enumerate(re.split(r"[|\n*]", tools)):
        kinds |= dict.fromkeys(row.split(), number)
    personal = set(tools.partition("*")[2].replace("|", " ").split())
    rows = {"personal": "|".join(personal)}
    for name, _, row in (line.partition(" ") for line in cues.split("\n") if line):
        rows[name] = re.sub(r"\{([a-z_]+)\}", lambda each: f"(?:{rows[each[1]]})", row)
    return {n: re.compile(r, re.IGNORECASE) for n, r in rows.items()}, english, kinds, personal


CUES, ENGLISH, KINDS, PERSONAL = _load()


def has(cue: str, text: str) -> bool:
    return CUES[cue].search(text) is not None


def begins(cue: str, text: str) -> bool:
    return CUES[cue].match(text) is not None


_TAGS = (
    "paste|file|log|output|document|content|context|example|quote|transcript|e?mail|message|system|tool|command"
    "|local|user|stdin|stdout|diff|code|text"
)
PASTED = (
    re.compile(r"\[(?:Request interrupted|Pasted text|Image)[^\]\n]*\]"),
    re.compile(r"^[ \t]*(```+|~~~+).*?(?:^[ \t]*\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE),
    re.compile(r"```.*?(?:```|\Z)", re.DOTALL),
    re.compile(r"<([a-z][\w-]*)\b[^<>\n]*>.*?</\1>", re.DOTALL | re.IGNORECASE),
    re.compile(rf"<(?:{_TAGS})[\w-]*[^<>\n]*>.*", re.DOTALL | re.IGNORECASE),
    re.compile(r"^#{1,6} \S.*", re.DOTALL | re.MULTILINE),
)
# People begin sentences with small letters, too.
LOOSE_END = re.compile(r"(?<=[^\W_]{2}[.!?])\s+(?=\S)|(?<=[`\"'”][.!?])\s+(?=\S)|;\s+")


def own_words(text: str) -> str:
    if begins("not_spoken", text):
        return ""
    if len(text) > LONGEST:
        first, last = text[:END].rpartition("\n\n")[0], text[-END:].partition("\n\n")[2]
        text = f"{first}\n\n{last}"
    text = clean(text)
    for pasted in PASTED:
        text = pasted.sub("\n", text)
    return "\n".join(_spoken(re.split(r"\n[ \t]*\n", text))).strip()


def _spoken(paragraphs: list[str]) -> Iterator[str]:
    """Behind a text that was introduced, the user speaks again after lines of a machine, if at all."""
    introduced = output_seen = False
    for number, paragraph in enumerate(paragraphs):
        lines = paragraph.strip("\n").split("\n")
        addressed = has("talk", paragraph)
        if introduced and not (output_seen and addressed and not begins("machine", lines[0])):
            output_seen |= any(map(CUES["machine"].match, lines))
            continue
        introduced = False
        for at, line in enumerate(lines):
            if begins("machine", line):
                introduced = output_seen = begins("machine_shell", line)
                break
            if addressed or len(line) <= LONGEST_TALK:
                yield line
            more = at + 1 < len(lines) or number + 1 < len(paragraphs)
            if more and _introduces(line):
                introduced, output_seen = True, any(map(CUES["machine"].match, lines[at + 1 :]))
                break


def _introduces(line: str) -> bool:
    """A text that is not the user's, or only to be worked on."""
    return has("handed_over", line) or (
        line.rstrip().endswith((":", "：")) and not has("rules", line)
    )


def own_sentences(text: str) -> list[str]:
    """The sentences of the user's own words, each on one line."""
    parts = (part for each in sentences(own_words(text)) for part in split(each, LOOSE_END))
    return [part for part in parts if part]


def masked(sentence: str) -> str:
    """The sentence with quotations and code masked, at the same length: they are mentioned, not said."""
    return CUES["quotation"].sub(
        lambda quoted: quoted[0][0] + MASK * (len(quoted[0]) - 2) + quoted[0][-1], sentence
    )


FOREIGN = re.compile(
    "|".join(
        each if ord(each[0]) > 0x2E80 else rf"(?<![\w-]){re.escape(each)}(?![\w-])"
        for each in sorted(ENGLISH, key=len, reverse=True)
    )
)
ARTICLE = re.compile(
    r"\b(?:der|die|das|el|la|los|las|le|les) "
)  # of a sentence in another language
SPANISH_DONT = re.compile(r"^no (?=\w+[ae]s\b)")
CONTRACTED = re.compile(
    r"\b(do|does|did|is|are|was|were|has|have|should|could|would|must|ca|wo)nt\b"
)
MISSPELT = words(
    "always never instead prefer remember should because before please without whenever"
)


@lru_cache(maxsize=4096)
def _spelled(word: str) -> str:
    found = get_close_matches(word, MISSPELT, 1, LIKENESS)
    same = found and found[0][0] == word[0] and not word.startswith(found[0])
    return found[0] if same else word


@lru_cache(maxsize=1024)
def normalize(sentence: str) -> str:
    text = masked(sentence).lower().replace("’", "'").replace("，", ", ").replace("、", ", ")
    text, found = FOREIGN.subn(lambda word: f" {ENGLISH[word[0]]} ", " ".join(text.split()))
    if found:
        text = ARTICLE.sub("the ", text)
    text = SPANISH_DONT.sub("don't ", " ".join(text.split()))
    text = CONTRACTED.sub(r"\1n't", text)
    return re.sub(r"[a-z]{5,}", lambda found: _spelled(found[0]), text)


def is_joke(own: list[str]) -> bool:
    return has("joke", "\n".join(map(masked, own)))


def is_hearsay(text: str) -> bool:
    """Whether somebody else may have said it."""
    said = CUES["reason"].split(text)[0]
    return has("hearsay", said) and not has("own_saying", said)


def orders_the_memory(text: str) -> bool:
    return has("orders", text)
