"""What the agent says at the end of a turn: causes it found, what is left to do, its opening words."""

import re

from recollect import text
from recollect.providers.reading import markup

LOOKED_AT = 12_000
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
    r"(?:next(?: steps?| up)?|todo|remaining|follow[- ]?ups?|still to do|not done)\s*[:–—-]\s*",
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
    r"\b(?:root cause|the (?:actual |real |underlying |main )?(?:cause|problem|issue|bug|reason"
    r"|culprit|error|failure) (?:was|is|came|lies|lay)|(?:was|is|were|are) caused by|because\b"
    r"|due to\b|turn(?:s|ed) out|happen(?:s|ed) because|the reason|stems? from|comes from|came from"
    r"|results? from)",
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


def said(message: str | None) -> list[str]:
    """The sentences of the last message that say something."""
    source = text.clean((message or "")[:LOOKED_AT])
    return [s for s in markup.sentences(source) if not FLUFF.fullmatch(s)]


def opening(message: str | None, limit: int) -> str | None:
    """The first words that tell something, whole sentences as long as they fit."""
    chosen, skipping = "", False
    for block in markup.blocks(text.clean((message or "")[:LOOKED_AT])):
        if not block.bullet:
            skipping = bool(NEXT_HEADING.match(block.text) or NEXT_HEADING.match(block.heading))
        for sentence in [] if skipping else markup.split(block.text):
            if sentence.endswith(":") or FLUFF.fullmatch(sentence) or OFFER.match(sentence):
                continue
            if len(chosen) > limit // 2 or (chosen and len(chosen) + len(sentence) + 2 > limit):
                return text.cut(chosen, limit)
            stop = "" if sentence.endswith(STOPS) else "."
            chosen = f"{chosen} {sentence}{stop}".strip()
    return text.cut(chosen, limit) or None


def causes(message: str | None) -> list[str]:
    return [
        s
        for s in said(message)
        if CAUSE.search(s) and not s.endswith("?") and not OFFER.search(s) and not NOT_DONE.match(s)
    ]


def findings(message: str | None) -> list[str]:
    """Sentences that stand on their own: no pronoun at the start, not a question, of telling length.

    A bullet gets its heading in front, because the heading often is its subject.
    """
    found: list[str] = []
    for block in markup.blocks(text.clean((message or "")[:LOOKED_AT])):
        for sentence in markup.split(block.text):
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


def _with_heading(sentence: str, block: markup.Block) -> str:
    if (
        not block.bullet
        or not block.heading
        or len(block.heading) > 50
        or PLAIN_HEADING.match(block.heading)
    ):
        return sentence
    return f"{block.heading}: {sentence}"


def next_steps(message: str | None) -> list[str]:
    """What the agent says is left: bullets under such a heading, and sentences that say so."""
    source = markup.FENCE.sub("\n\n", text.clean((message or "")[:LOOKED_AT]))
    found: list[str] = []
    under = False
    for block in source.splitlines():
        line = markup.plain_line(markup.BULLET.sub("", block))
        title = markup.heading(block) or (
            line.rstrip(":") if line.endswith(":") and len(line) < 60 else None
        )
        if title is not None:
            under = bool(NEXT_HEADING.match(title))
        elif label := NEXT_LABEL.match(line):
            found.append(line[label.end() :])
        elif under and markup.BULLET.match(block):
            found.append(line)
    cues = [s for s in said(message) if NEXT_CUE.search(s) and not s.endswith((":", "?"))]
    kept = [step for step in [*found, *cues] if len(step) > 3]
    return [
        step
        for at, step in enumerate(kept)
        if not any(step in other or other in step for other in kept[:at])
    ]


def question(message: str | None) -> str | None:
    """The question the agent ends with, if it asks one."""
    ending = markup.sentences(text.clean((message or "")[:LOOKED_AT]))[-3:]
    return next((s for s in reversed(ending) if s.endswith("?") or OFFER.match(s)), None)
