"""The title of a note: what somebody called the work, or the finding that answers the request."""

import re
from collections.abc import Iterable
from pathlib import PurePosixPath

from aforesaid import text
from aforesaid.providers.extract.choose import (
    CLOSING,
    DID,
    POINTING,
    Chosen,
    is_chat,
    score,
    without_link,
)
from aforesaid.providers.extract.passages import (
    FENCE,
    LOOKED_AT,
    PLAIN_LABEL,
    Passage,
    heading_level,
    parse_heading,
    plain_prompt,
    read_passages,
    read_sentences,
)
from aforesaid.providers.extract.prompts import QUESTION
from aforesaid.providers.extract.work import Check, Work
from aforesaid.similarity import COMMON_STEMS, WIDE, content_words

TITLE = 90  # characters
SHOWN_PATHS = 4
VAGUE = 50  # characters of a request that only its file makes specific
PLANNED = re.compile(r"\s*implement the following plan:?\s*", re.I)
LEAD = re.compile(
    r"\A(?:/[\w:-]+\s+)?(?:(?:hmm+|oh|ah|first|next|please|pls|now|ok(?:ay)?|great|thanks?|hey|hi|yes|then"
    r"|also|and|so|but|just|can (?:you|we)|could (?:you|we)"
    r"|would you|i want(?: you)? to|i(?:'d| would) like(?: you)? to|let'?s"
    r"|go ahead and|help me|(?:explain|tell|show)(?: (?:to )?me)?(?: fully)?)[\s,.:!-]+)*",
    re.I,
)
DOES = re.compile(
    r"^(?:i(?:'ve| have)? |we(?:'ve| have)? |this |it |now |the (?:fix|change|commit) |successfully |fix: )+"
    r"(?=\w)",
    re.I,
)
# A sentence that describes or asks, and is no request.
STATES = re.compile(
    rf"\A(?:{QUESTION.pattern}|(?:we|you|it|he|she|they|the|this|that|these|those|there|my|our|your|for|in|on|when"
    r"|since|because|with|from|after|before|if|hm+|oh|ah|as|at|to)\b|[^\w`/])|\bI\b(?!/)",
    re.IGNORECASE,
)
TAIL = re.compile(
    r"\s+(?:(?:that|which|to) \w+|with|including|covering|the following|as follows|for|by|to)$"
)
CLAUSES = re.compile(
    r"(?<=\w{3}[`)\w])(?:, (?:so|which|and)|;| – | — | so that | because | instead of )\s*"
)
LABEL_WORDS, LEAST_WORDS = 2, 3
WHETHER = re.compile(
    r"\W*(?:(?:and|so|but|hm+) )?(?:can|could|should) (?:we|i)\b.*\?", re.IGNORECASE
)
OPEN_QUESTION = re.compile(r"(?:why|how|what|where|which|who|when)\b", re.IGNORECASE)
ASKED = 600  # characters of a question
PARENTHESES = re.compile(r"\([^)]*\)")
REFERENCE = re.compile(r"\b(?:it|this|that|them|these|those|one|first|second|above|same)\b", re.I)
CLAUSE = re.compile(
    r"(?<=[.;!?。！？])(?=\s|$)|[,:](?=\s)(?!\s(?:but|except|unless|not|only)\b)|\s[–—-]\s|\s\((?=[^)]*$)"
    r"|(?<!but)(?<!and)(?<!or)\s(?:so that|because|which|instead of|when|if|by)\s"
)
# A cut title must not end in one of these.
LOOSE_ENDS = frozenset(
    text.words("a an and as at by for from in into is of on or so that the to via was when with")
)


def write_title(work: Work, chosen: list[Chosen]) -> str:
    if work.commits:
        return text.cut(max(work.commits, key=lambda c: len(c.body)).subject, TITLE)
    plan = _plan_heading(work.plan) or _plan_heading(PLANNED.sub("", work.turn.prompt or "", 1))
    if plan and work.patches:
        return cut_clause(plan, TITLE)
    asked = _request(work)
    if work.undone and not work.patches:
        return cut_clause(f"Tried and taken back: {asked or list_paths(work.undone)}", TITLE)
    passages = [without_link(each) for each in read_passages(work.message or "")]
    reasons = [each for each in chosen if each.why and not each.item]
    closing = [each.said for each in reasons if each.place == CLOSING]
    if work.patches:
        direct = [each for each in passages[:4] if not each.item or DID.match(each.label)]
        about = set(content_words((work.turn.prompt or "")[:ASKED]))
        found = _first_title(_changes(direct, about)) or _lead(work.message) or asked
        found = found or _first_title(_changes(passages, about))
        found = found or _first_title(closing) or _first_title(each.said for each in reasons)
    else:
        answers = [p.text for p in passages[:3] if not p.item and score(p, CLOSING)[0] >= 1]
        found = (work.agent and asked) or _lead(work.message) or asked
        found = found or _find_answer(_topic(work), [*answers, *closing])
        if not found and work.failing:
            found = cut_clause(describe_failure(work, work.failing[-1]).replace("`", ""), TITLE)
    return found or _activity(work)


def _changes(passages: Iterable[Passage], about: set[str]) -> list[str]:
    """What they say was done; first what shares most words with the request."""
    found = [said for each in passages for said in (each.label, each.text) if DID.match(said)]
    return sorted(dict.fromkeys(found), key=lambda said: -len(about & set(content_words(said))))


def _find_answer(question: str, texts: list[str]) -> str | None:
    """The finding that shares most words with the question; else what was asked, if it is not yes or no."""
    asked = set(content_words(question[:ASKED]))
    shared = [len(asked & set(content_words(each))) for each in texts]
    ranked = sorted(zip(shared, texts, strict=True), key=lambda row: -row[0])
    open_question = OPEN_QUESTION.match(question)
    least = 2 if open_question and open_question[0].lower() in ("why", "how") else 1
    near = [each for overlap, each in ranked if overlap >= least]
    topic = open_question and is_specific(question) and cut_clause(question.rstrip("? "), TITLE)
    return _first_title(near) or topic or _first_title(texts)


def _first_title(texts: Iterable[str]) -> str | None:
    """Of the first text that names its subject, if need be cut."""
    found = [_shorten(each) for each in texts if not POINTING.match(each)]
    named = [each for each in found if is_specific(PARENTHESES.sub("", each))]
    whole = (each for each in named[:3] if not each.endswith("…"))
    return next(whole, named[0] if named else None)


def _activity(work: Work) -> str:
    """Where nobody said anything that names the work."""
    topic = _topic(work)
    if work.patches:
        largest = max(work.patches, key=lambda patch: patch.plus + patch.minus)
        name = PurePosixPath(largest.path).name
        if topic and len(topic) <= VAGUE and topic[-1] != "?" and not REFERENCE.search(topic):
            return f"{topic} ({name})"
        rows = (
            ("Added", largest.added),
            ("Changed", largest.changed),
            ("Removed", largest.removed),
        )
        verb, symbols = next((row for row in rows if row[1]), ("", ()))
        if symbols:
            more = f" and {len(symbols) - 1} more" if len(symbols) > 1 else ""
            return cut_clause(f"{verb} {symbols[0].name}{more} in {name}", TITLE)
        return cut_clause(f"Changed {list_paths(work.modified)}".replace("`", ""), TITLE)
    if topic:
        return cut_clause(topic, TITLE)
    if work.runs:
        return f"Ran {work.runs[-1].command.text}"
    return f"Session in {text.one_line(work.turn.project, 40) or 'the project'}"


def _plan_heading(plan: str) -> str | None:
    first = next((line for line in plan.splitlines() if line.strip()), "")
    heading = parse_heading(first) if first else None
    return (
        re.sub(r"^(?:implementation )?plan\s*[:–—-]\s*", "", heading, flags=re.I)
        if heading
        else None
    )


def _lead(message: str | None) -> str | None:
    """The heading of the whole closing message: the only one of its level, before all others."""
    lines = FENCE.sub("", text.clean(message or "")[:LOOKED_AT]).splitlines()
    levels = [(heading_level(line), line) for line in lines if parse_heading(line)]
    if (
        not levels
        or sum(level == levels[0][0] for level, _ in levels) > 1
        or levels[0] > min(levels)
    ):
        return None
    heading = without_link(Passage(parse_heading(levels[0][1]) or "")).text
    bare = heading.partition(":")[2].strip() if PLAIN_LABEL.match(heading) else heading
    named = len(bare.split()) >= 3 and not bare.endswith("?") and not is_chat(heading)
    return cut_clause(bare, TITLE) if named and is_specific(bare) else None


def _request(work: Work) -> str | None:
    """The user's request, if it says by itself what is to be done."""
    if work.agent:
        return text.one_line(work.task, TITLE) or None
    for at, sentence in enumerate(read_sentences(plain_prompt(work.turn.prompt or ""))):
        bare = LEAD.sub("", sentence, count=1)
        plain = bare == sentence
        if WHETHER.match(sentence) and not work.patches:
            continue
        if plain and (at or bare.endswith(("?", "？"))):
            continue
        bare = bare.rstrip(" .!?？")
        if bare.endswith(":") or is_chat(bare) or STATES.search(bare):
            continue
        if is_specific(bare):
            return cut_clause(bare[:1].upper() + bare[1:], TITLE)
    return None


def _topic(work: Work) -> str:
    """What the user spoke of first."""
    sentences = read_sentences(plain_prompt(work.turn.prompt or ""))
    bare = (LEAD.sub("", each, count=1).strip(" .!:") for each in sentences)
    found = next((each for each in bare if len(each) > 3 and not is_chat(each)), "")
    return found[:1].upper() + found[1:]


def is_specific(words: str) -> bool:
    """Whether it names something: enough content words beyond "fix it", or a name."""
    content = [word for word in content_words(words) if word not in COMMON_STEMS]
    least = 2 if not REFERENCE.search(words) else 3
    return len(content) >= least or (WIDE.search(words) is not None and len(words) >= 8)


def _shorten(sentence: str) -> str:
    """The first clause of a sentence, without who did it."""
    bare = DOES.sub("", sentence) if DID.match(sentence) else sentence
    bare = bare.rstrip(".:")
    label, colon, rest = bare.partition(": ")
    names = len(label.split()) <= LABEL_WORDS or PLAIN_LABEL.fullmatch(label)
    if len(bare) > TITLE and colon and names and not DID.match(label):
        bare = rest
    if len(bare) > TITLE:
        clause = CLAUSES.split(bare)
        bare = clause[0] if len(clause[0].split()) >= 3 else bare
    if DID.match(bare):
        bare = TAIL.sub("", bare.partition(": ")[0] if len(bare) > TITLE else bare)
    return cut_clause(bare[:1].upper() + bare[1:], TITLE)


def cut_clause(words: str, limit: int) -> str:
    """At most `limit` characters, ended where a clause ends if one does in the second half."""
    if len(words) <= limit:
        return words
    ends = [match.start() for match in CLAUSE.finditer(words[:limit])]
    end = next((at for at in reversed(ends) if at > limit // 2), 0)
    if end:
        return words[:end].rstrip(" ,:;–—-") + "…"
    return without_loose_end(text.cut(words, limit).rstrip("…").split(" ")) + "…"


def without_loose_end(words: list[str]) -> str:
    """Without the words at the end that lead to what was cut off."""
    kept = len(words)
    while kept > LEAST_WORDS and words[kept - 1].lower() in LOOSE_ENDS:
        kept -= 1
    return " ".join(words[:kept])


def describe_failure(work: Work, check: Check) -> str:
    error = check.last.outcome.error
    if work.was_edited_after(check.last):
        failed = f" failed ({error})" if error else " failed"
        return f"`{check.last.command.text}`{failed} and was not run again after the last edit"
    return f"`{check.last.command.text}` failed the last time it ran" + (
        f": {error}" if error else ""
    )


def list_paths(paths: Iterable[str]) -> str:
    found = [f"`{path}`" for path in paths]
    return ", ".join(found[:SHOWN_PATHS]) + (
        f" and {len(found) - SHOWN_PATHS} more" if len(found) > SHOWN_PATHS else ""
    )
