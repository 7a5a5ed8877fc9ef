"""Prompts and messages as plain sentences, and what the agent says at the end of a turn."""

import re
from dataclasses import dataclass

from aforesaid import text
from aforesaid.model.prose import BULLET, SENTENCE_END, split

FENCE = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
TRACE = re.compile(
    r"^(?:[ \t]*File \".*\", line \d+.*|Traceback \(most.*|[ \t]+at \S+.*\(.*\)?|[ \t]+at \S+:\d+.*"
    r"|E[ ]{2,}.*|[ \t]*\^+[ \t]*|[ \t]*(?:[\w.]+\.)?\w+(?:Error|Exception): .*|goroutine \d+.*"
    r"|[ \t]+[│|].*|[ \t]{4,}\S.*|(?:FAILED|PASSED|ERROR) \S+.*|\[?\d{4}-\d\d-\d\d[T ]\d\d:.*)$",
    re.MULTILINE,
)
MACHINE = re.compile(
    r"<(system-reminder|local-command-[a-z]+|command-message|bash-std[a-z]+|task-notification"
    r"|ide_[a-z_]+|aforesaid[\w-]*)\b[^>]*>.*?(?:</\1>|\Z)",
    re.DOTALL,
)
SLASH = re.compile(r"<command-name>\s*(/?\S+)\s*</command-name>")
ARGUMENTS = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)
LINK = re.compile(r"!?\[([^\]\n]*)\]\([^)\s]*\)")
EMPHASIS = re.compile(r"\*\*|__|~~|(?<![\w*])\*(?=\S)|(?<=\S)\*(?![\w*])")
HEADING = re.compile(r"^\s*#{1,6}\s+(.+?)\s*#*$")
LABEL = re.compile(r"^\s*(?:\*\*|__)([^*_\n]{2,60}?):?(?:\*\*|__):?\s*$")
LOOKED_AT = 12_000


def plain_prompt(prompt: str) -> str:
    """What the user wrote, without pasted code and traces and without what the client added."""
    raw = text.clean(prompt[:LOOKED_AT])
    if raw.lstrip().startswith("<task-notification>"):
        return ""
    called = SLASH.search(raw)
    if called:
        said = ARGUMENTS.search(raw)
        raw = f"{called[1]} {said[1] if said else ''}"
    raw = MACHINE.sub("\n", raw)
    lines = TRACE.sub("", FENCE.sub("\n", raw)).splitlines()
    return "\n".join(line for line in lines if not line.lstrip().startswith(">")).strip()


def plain_line(line: str) -> str:
    """One line of Markdown as text; code keeps its backticks."""
    return " ".join(EMPHASIS.sub("", LINK.sub(r"\1", line)).split())


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph or a bullet, and the heading it stands under."""

    text: str
    heading: str
    bullet: bool


def markdown_blocks(source: str) -> list[Block]:
    """Lines that belong together joined; code, tables and rules left out."""
    found: list[Block] = []
    above, open_block = "", False
    for line in FENCE.sub("\n\n", source[:LOOKED_AT]).splitlines():
        title = parse_heading(line)
        if title is not None or not line.strip() or _is_table(line):
            above, open_block = title or above, False
        elif open_block and not BULLET.match(line):
            last = found[-1]
            found[-1] = Block(f"{last.text} {plain_line(line)}", last.heading, last.bullet)
        else:
            found.append(Block(plain_line(BULLET.sub("", line)), above, bool(BULLET.match(line))))
            open_block = True
    return [block for block in found if block.text]


def markdown_sentences(source: str) -> list[str]:
    """The sentences of some Markdown, in order. A bullet or a line of its own is one or more."""
    return [
        sentence for block in markdown_blocks(source) for sentence in split_sentences(block.text)
    ]


def split_sentences(paragraph: str) -> list[str]:
    return [part for part in split(paragraph, SENTENCE_END) if part.strip(" .!-*_")]


def _is_table(line: str) -> bool:
    bare = line.strip()
    return bare.startswith("|") or not bare.strip("-=_*| ")


def parse_heading(line: str) -> str | None:
    """The words of a heading, or of a bold line that stands for one."""
    mark = HEADING.match(line) or LABEL.match(line)
    return BULLET.sub("", plain_line(mark[1])).rstrip(":") if mark else None


MESSAGE_LIMIT = 12_000
STOPS = (".", "!", "?", "…", "。", "！", "？")
NOT_DONE = re.compile(r"i (?:have not|haven't|did not|didn't)\b", re.IGNORECASE)

NEXT_HEADING = re.compile(
    r"(?:suggested |possible |recommended |open |remaining )?(?:next steps?|next|remaining(?: work"
    r"| tasks| steps)?|to-?dos?|follow[- ]?ups?|what'?s (?:left|next|missing)|still (?:to do|open"
    r"|needed)|open (?:questions|points|issues|items)|not (?:yet )?done|outstanding|future work"
    r"|left to do|known (?:issues|limitations)|limitations|caveats)\b",
    re.IGNORECASE,
)
NEXT_LABEL = re.compile(
    r"(?:(?:next(?: steps?| up)?|to-?do|remaining|follow[- ]?ups?|still (?:to do|open|missing)"
    r"|left to do|not (?:yet )?done)\s*(?::|[–—-]\s)|next up,)\s*",
    re.IGNORECASE,
)
NEXT_CUE = re.compile(
    r"\b(?:next steps? (?:is|are|would|could)|the next step|you (?:may|might) (?:also )?want to"
    r"|you(?:'ll| will) (?:need|have) to|you (?:should|need to|still need to|can now|must)"
    r"|remains? to be|(?:is|are|was|were) (?:still|not yet)\b|still needs?|still (?:to do|open"
    r"|missing|fails?|failing|broken|unresolved)|has not (?:been|yet)|have not (?:been|yet)"
    r"|haven't (?:been|yet|run)|hasn't (?:been|yet)|not yet\b|left to do|follow-?up|to-?do\b"
    r"|in a later|left (?:as is|out|untouched|open)|didn't (?:run|touch|test)|did not (?:run|touch"
    r"|test)|not (?:tested|verified)|(?:have not|haven't|did not|didn't) (?:run|tested|touched"
    r"|changed)|untested|remaining)\b",
    re.IGNORECASE,
)
OFFER = re.compile(
    r"(?:would you like|do you want|want me to|shall i|should i|let me know (?:if|which|how"
    r"|whether) (?:you(?:'d| would)? (?:like|want|prefer))|i can (?:also )?\w+ .* if you)",
    re.IGNORECASE,
)
CAUSE = re.compile(
    r"^(?:cause|reason|why)\s*:|\b(?:root cause"
    r"|the (?:actual |real |underlying |main )?(?:cause|problem|issue|bug|reason"
    r"|culprit|error|failure) (?:was|is|came|lies|lay)|(?:was|is|were|are) caused by|because\b"
    r"|due to\b|turn(?:s|ed) out|happen(?:s|ed) because|the reason (?:why|for|that)"
    r"|stems? from|comes from|came from|results? from)",
    re.IGNORECASE,
)
CAUSE_LABEL = re.compile(r"(?:the )?(?:root )?(?:cause|reason|why)\s*:\s*", re.IGNORECASE)
# Says what followed from what. Only of a failure that was mended is it sure to be an explanation.
CONSEQUENCE = re.compile(
    r"\w, so (?!that\b|far\b|i\b|you\b|we\b|please\b|it'?s\b|there'?s\b|no\b|the (?:change|work)\b)",
    re.IGNORECASE,
)
FLUFF = re.compile(
    r"(?:(?:all )?done|perfect|great|excellent|good|sure|certainly|of course|absolutely"
    r"|you're (?:absolutely )?right|okay|ok|got it|fixed|all set|finished|complete[d]?|here(?:'s"
    r"| is| are)\b.*|summary.*|let me\b.*|i'?ll\b.*|i will\b.*|now (?:let me|i).*|committed|(?:what"
    r"|how) (?:i|was|changed).*|changes made.*|good (?:question|catch).*|thanks.*|hope .*"
    r"|feel free.*|.*\blet me know\b.*)[\s.!:—-]*",
    re.IGNORECASE,
)
PLAIN_HEADING = re.compile(
    r"(?:key |main |the )?(?:summary|overview|findings?|details?|results?|changes?|what|conclusion"
    r"|answer|notes?|files|how|why|implementation|next|tests?|verification|in short|tl;?dr"
    r"|background|done|completed)\b",
    re.IGNORECASE,
)
PRAISE = re.compile(
    r"\b(?:successfully|perfectly|seamlessly|robust(?:ly)?|comprehensive(?:ly)?)\b ?", re.IGNORECASE
)
POINTING = re.compile(
    r"(?:it|this|that|these|those|they|he|she|there|here|both|i|we|you|my|our|your|its|their|which"
    r"|such|so|then|also|and|but|let|now|first|next|finally|additionally|however|instead"
    r"|otherwise)\b(?!'?s? (?:file|function|module))",
    re.IGNORECASE,
)


def _plain(message: str | None) -> str:
    return text.clean((message or "")[:MESSAGE_LIMIT])


def message_sentences(message: str | None) -> list[str]:
    """The sentences of the last message that say something."""
    return [s for s in markdown_sentences(_plain(message)) if not FLUFF.fullmatch(s)]


def opening_words(message: str | None, limit: int) -> str | None:
    """The first words that tell something, whole sentences as long as they fit."""
    chosen, skipping = "", False
    for block in markdown_blocks(_plain(message)):
        if not block.bullet:
            skipping = bool(NEXT_HEADING.match(block.text) or NEXT_HEADING.match(block.heading))
        for sentence in [] if skipping else split_sentences(block.text):
            if sentence.endswith(":") or FLUFF.fullmatch(sentence) or OFFER.match(sentence):
                continue
            if len(chosen) > limit // 2 or (chosen and len(chosen) + len(sentence) + 2 > limit):
                return text.cut(chosen, limit)
            stop = "" if sentence.endswith(STOPS) else "."
            chosen = f"{chosen} {sentence}{stop}".strip()
    return text.cut(chosen, limit) or None


def find_causes(message: str | None, *, mended: bool = False) -> list[str]:
    """Sentences that explain, those that call themselves the cause first.

    `mended`: something failed and was mended, so that "…, so …" counts when nothing else explains.
    """
    plain = [
        s
        for s in message_sentences(message)
        if not s.endswith("?") and not OFFER.search(s) and not NOT_DONE.match(s)
    ]
    found = sorted(
        (s for s in plain if CAUSE.search(s)),
        key=lambda s: not re.search("cause:|root cause", s, re.I),
    )
    return found or [s for s in plain if mended and CONSEQUENCE.search(s)]


def find_statements(message: str | None) -> list[str]:
    """Sentences that stand on their own: no pronoun at the start, not a question, of telling length.

    A bullet gets its heading in front, because the heading often is its subject.
    """
    found: list[str] = []
    for block in markdown_blocks(_plain(message)):
        for sentence in split_sentences(block.text):
            whole = _with_heading(sentence, block)
            least = 40 if whole.isascii() else 15
            if (
                _stands_alone(sentence)
                and len(sentence) >= least - 10
                and least <= len(whole) <= 260
            ):
                found.append(PRAISE.sub("", whole))
    return found


def _stands_alone(sentence: str) -> bool:
    pointing = POINTING.match(sentence) or FLUFF.fullmatch(sentence) or OFFER.search(sentence)
    return not pointing and not sentence.endswith((":", "?")) and sentence[0] != "/"


def _with_heading(sentence: str, block: Block) -> str:
    if (
        not block.bullet
        or not block.heading
        or len(block.heading) > 50
        or PLAIN_HEADING.match(block.heading)
    ):
        return sentence
    return f"{block.heading}: {sentence}"


def find_next_steps(message: str | None) -> list[str]:
    """What the agent says is left: bullets under such a heading, and sentences that say so."""
    labelled: list[str] = []
    above: str | None = None
    for block in markdown_blocks(_plain(message)):
        if not block.bullet:
            above = block.text if block.text.endswith(":") and len(block.text) < 60 else None
        if label := NEXT_LABEL.match(block.text):
            labelled.append(block.text[label.end() :])
        elif block.bullet and NEXT_HEADING.match(above or block.heading):
            labelled.append(block.text)
        else:
            labelled += _labelled(block.text)
    cues = [
        s for s in message_sentences(message) if NEXT_CUE.search(s) and not s.endswith((":", "?"))
    ]
    kept = [step for step in [*labelled, *cues] if len(step) > 3]
    return [
        step
        for at, step in enumerate(kept)
        if not any(step in other or other in step for other in kept[:at])
    ]


def _labelled(paragraph: str) -> list[str]:
    """`Next: …` in the midst of a paragraph. It lasts as long as its sentence."""
    found = ((s, NEXT_LABEL.match(s)) for s in split_sentences(paragraph))
    return [sentence[label.end() :] for sentence, label in found if label]


def find_question(message: str | None) -> str | None:
    """The question the agent ends with, if it asks one."""
    ending = markdown_sentences(_plain(message))[-3:]
    return next((s for s in reversed(ending) if s.endswith("?") or OFFER.match(s)), None)
