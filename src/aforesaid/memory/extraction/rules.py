"""Finds statements to remember in a user's message, by rules.

A clause is an order, a norm, a fact, a practice of the team or a word of the user about themselves; each cue
that it is meant to last (`always`, `instead of`, a reason, a name of a tool …) gives a point, and what speaks
for the moment takes one. `MIN_POINTS` are needed. In doubt a sentence is not kept: users repeat what they
want remembered. The body keeps the whole sentence, so that its scope and reason stay with it.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from aforesaid.memory.extraction.corrections import Correction, read_correction, read_short
from aforesaid.memory.extraction.sentences import (
    CUES,
    KINDS,
    MASK,
    PERSONAL,
    begins,
    has,
    is_hearsay,
    is_joke,
    masked,
    normalize,
    orders_the_memory,
    own_sentences,
)
from aforesaid.memory.format import slugify
from aforesaid.model.memories import FEEDBACK, PROJECT, REFERENCE, USER, Message
from aforesaid.privacy import marking, private
from aforesaid.privacy.redactor import RULES, Redactor
from aforesaid.text import one_line, words

MIN_POINTS = 2
MIN_WORDS = 3
MAX_LINE = 200
MAX_SENTENCE, MAX_STATEMENTS = 500, 8  # characters of a sentence; statements of one message
NAME_WORDS = 8
VAGUE = words("just task make got rest fetch requests teams main merge linear")
ADDRESS = re.compile(r"https?://\S+")
MARKS = re.compile(rf"{marking.MARK.pattern}|{re.escape(private.MARK)}")  # of removed secrets
PATH = re.compile(rf"\w/|/\w|\w\.\w{{1,4}}\b|{MASK}")
_WIDE = r"[\u2e80-\uffef]"
# Numbers, paths, code and names.
HARD = re.compile(
    rf"{PATH.pattern}|\d|\w_\w|[a-z][A-Z]|\b[A-Z]{{2,}}\b|#\w|(?<=[a-z] )[A-Z][a-z]+"
    rf"|[A-Za-z]{{2,}} ?(?={_WIDE})|(?<={_WIDE}) ?[A-Za-z]{{2,}}"
)
MEANT = ("contrast", "status", "consequence", "place")
DENIED = re.compile(r"\bnot (?:an? |the )?[\"“`](?P<term>[^\"”`]+)[\"”`]")


@dataclass(frozen=True, slots=True)
class Reading:
    """What a sentence is worth. `type`: of the memory, if it has enough points. `why`: why it does not
    last."""

    type: str = PROJECT
    points: int = 0
    why: str | None = None

    @property
    def lasts(self) -> bool:
        return self.why is None and self.points >= MIN_POINTS


def read(sentence: str, *, alone: bool = True, spec: bool = False) -> Reading:
    """`alone`: the message has no task beside it, which an order could be about. `spec`: it asks for
    something to be built, so that the rest are requirements."""
    text = normalize(sentence)
    thinks = CUES["thinks"].match(text)
    text = text[thinks.end() :] if thinks else text
    corrects = begins("corrects", text)
    text = _bare(CUES["tag"].sub("", text) if corrects else text)
    polite = CUES["polite"].match(text)
    # "can you always rely on it?" asks; "could you please always run it?" does not.
    lasting = any(has(cue, text) for cue in ("standing", "to_me"))
    if polite and ((polite["please"] and lasting) or begins("remember", polite["rest"])):
        text = polite["rest"]
    plain = masked(sentence)
    if kind := _remembered(text, plain):
        return Reading(kind, MIN_POINTS)
    if passing(text) or has("to_come", text):
        rest = _without_tasks(text)
        text, alone = rest, alone and rest == text
    if why := passing(text):
        return Reading(why=why)
    best, builds = Reading(), begins("builds", text)
    for start, clause in _clauses(text):
        if is_hearsay(clause) or (is_task(clause) and f"{clause}:" in text):
            break
        if has("unsure", text[start : text.index(clause) + len(clause)]):
            return Reading(why="not decided")
        found = _weigh(Clause(clause, text[start:], plain, alone=alone, corrects=corrects))
        less = bool(thinks) + 2 * spec + 2 * builds
        best = max(best, replace(found, points=found.points - less), key=lambda each: each.points)
        if best.lasts:
            break
    return best


def passing(text: str) -> str | None:
    """Why a sentence in normal form is not meant to last, or None."""
    if has("question", text):
        return "a question"
    return "for this moment only" if has("temporary", text) else None


def is_task(text: str) -> bool:
    """Of a sentence in normal form: a question, or an order for this turn alone."""
    bare = _bare(text)
    return has("question", text) or (begins("order", bare) and not has("standing", text))


def is_tool(name: str) -> bool:
    return name in KINDS and name not in VAGUE


def _bare(text: str) -> str:
    found = CUES["opening"].match(text)
    return text[found.end() :] if found else text


def _clauses(text: str) -> Iterator[tuple[int, str]]:
    """Where each begins with its scope or condition, and its text up to the next."""
    scope = CUES["scopes"].match(text)
    begin = scope.end() if scope else 0
    joints = list(CUES["joint"].finditer(text, begin))
    starts = [begin, *(joint.end() for joint in joints)]
    ends = [*(joint.start() for joint in joints), len(text)]
    for start, end in zip(starts, ends, strict=True):
        yield (0 if start == begin else start), text[start:end]


def _without_tasks(text: str) -> str:
    """Without clauses that are orders for this turn, if another one says something: `rewrite that test, we
    never mock our own modules`."""
    if has("question", text):
        return text
    clauses = [clause for _, clause in _clauses(text)]
    rest = [each for each in clauses if not is_task(each)]
    return ", ".join(rest) if any(begins("told", each) for each in rest) else text


class Clause:
    """`text`: in normal form; `rest`: with all that follows it in its sentence; `plain`: the sentence as
    typed, masked. `points`: for the cues that count whatever it is."""

    def __init__(self, text: str, rest: str, plain: str, *, alone: bool, corrects: bool) -> None:
        self.text, self.rest, self.plain = text, rest, plain
        self.alone, self.corrects = alone, corrects
        tools = {word for word in words(rest) if is_tool(word)}
        self.hard = bool(tools) or HARD.search(plain) is not None
        self.deictic = begins("deictic", text)
        self.work = has("work", rest)
        self.symptom = has("symptom", text)
        place = has("place", rest) or begins("scoped", rest)
        self.in_project = place or PATH.search(plain) is not None
        self.project_tool = bool(tools - PERSONAL)
        cues = ("contrast", "behaviour", "only", "one", "reason", "condition", "language")
        self.points = 2 * has("standing", rest) + sum(has(cue, rest) for cue in cues)
        self.points += place + corrects + self.hard - self.deictic
        self.points -= 2 * has("points_at", text) + 2 * has("to_come", rest)


def _weigh(clause: Clause) -> Reading:
    text, rest, points = clause.text, clause.rest, clause.points
    if has("pointless", text) or (clause.deictic and not clause.corrects):
        return Reading()
    if begins("wanted", text):
        return Reading()
    if begins("self", text) or has("opinion", text):
        of_project = has("prefers", text) and (clause.in_project or clause.project_tool)
        return Reading(FEEDBACK if of_project else USER, points + 2)
    if begins("wish", text):
        if begins("builds", text):
            return Reading()
        kind = USER if has("to_me", rest) else PROJECT
        return Reading(kind, points)
    if begins("of_one", text) and not begins("order", text):
        return Reading()
    if begins("practice", text) and (not clause.symptom or has("only", text)):
        return Reading(PROJECT, points + 1 + has("forbids", text) + has("consequence", rest))
    if begins("none_of", text) and not clause.symptom:
        return Reading(FEEDBACK, points + 2)
    if begins("order", text):
        return _weigh_order(clause)
    return _weigh_statement(clause)


def _weigh_order(clause: Clause) -> Reading:
    """Most orders are for this turn."""
    text, rest, points = clause.text, clause.rest, clause.points
    if has("hasty", text) or (clause.symptom and not text.isascii()):
        return Reading()
    embedded = CUES["embedded"].search(text)
    lead = text[: embedded.start()] if embedded else text
    if embedded and not (has("standing", lead) or has("forbids", lead)):
        return Reading()
    found = CUES["order"].match(text)
    thing = text[found.end() :].lstrip() if found else ""
    points += clause.work - (not clause.alone) - (not begins("obliged", text))
    points += begins("durative", text) + has("ground", rest)
    points += has("forbids", text)
    points += begins("any_object", thing) and thing.split()[0] not in KINDS
    to_me = has("to_me", rest)
    if not (clause.work or to_me):
        points -= begins("the_object", thing) + 2 * has("program", text)
    points -= has("only", text) + (begins("momentary", text) and not to_me)
    if to_me:
        return Reading(FEEDBACK if clause.in_project else USER, points + 2)
    return Reading(FEEDBACK, points)


def _weigh_statement(clause: Clause) -> Reading:
    """A norm, a fact, or a sentence without a verb that we know."""
    text, rest, points = clause.text, clause.rest, clause.points
    located = ADDRESS.search(clause.plain) is not None and has("located", clause.plain)
    points += located
    points -= 2 * (has("program", text) and not (located or has("status", text)))
    subject = begins("generic", text) or begins("specific", text)
    points += has("ours", text) or has("authority", text)
    # `the cache always …` tells what is seen, `the script must …` what is to be built.
    seen = begins("the_object", text) and has("standing", text)
    meant = any(has(cue, rest) for cue in MEANT)
    if (begins("required", text) or seen) and not meant and not clause.work:
        return Reading()
    if has("norm", text):
        ours = text.startswith("we ") and not clause.symptom
        points += (subject or ours) + begins("universal", text)
        points += has("actor", rest) + has("status", rest)
        return Reading(PROJECT if text.startswith("we ") else FEEDBACK, points)
    if clause.symptom:
        return Reading()
    if has("states", text):
        points += subject + has("status", rest) + has("consequence", rest) + has("forbids", rest)
        points += subject and has("settled", text)
        points -= begins("bare_subject", text) and not located
        return Reading(_fact_type(clause.plain), points)
    points += (clause.work and subject) * (1 + has("asked_for", rest))
    points += has("forbids", rest) - clause.corrects
    says_enough = len(rest.split()) >= MIN_WORDS or not rest.isascii()
    return Reading(FEEDBACK, points if says_enough else 0)


def _fact_type(plain: str) -> str:
    there = ADDRESS.search(plain) or PATH.search(plain) or has("product", plain)
    return REFERENCE if there and has("located", plain) else PROJECT


def _remembered(text: str, plain: str) -> str | None:
    """The type of what is to be remembered in so many words. `note` is said in passing, too."""
    found = CUES["remember"].match(text)
    if not found or text.rstrip().endswith(("?", "？")):
        return None
    how, what = found["how"], found["what"]
    if len(what.split()) < MIN_WORDS and what.isascii() and not begins("self", what):
        return None
    if has("pending", what):
        return None
    weak = not how.startswith(("remember", "memori", "don't forget", "make", "take"))
    if weak and (begins("deictic", what) or begins("points_at", what) or has("wanted", what)):
        return None
    in_passing = how in ("note", "be aware", "fyi", "mind")
    if in_passing and not any(has(cue, what) for cue in ("standing", "place", "weighty")):
        return None
    return _guess_type(what, plain)


def guess_type(text: str) -> str:
    """Of something that is remembered in any case."""
    return _guess_type(_bare(normalize(text)), masked(text))


def _guess_type(text: str, plain: str) -> str:
    if begins("self", text) or has("to_me", text) or has("first_person", text):
        return FEEDBACK if has("place", text) else USER
    if begins("order", text) or begins("none_of", text):
        return FEEDBACK
    return REFERENCE if ADDRESS.search(plain) or has("product", plain) else _fact_type(plain)


_MORE = r"(?: also| really| definitely| still| do| very much| much| strongly| too)*"
_OFTEN = r"(?P<often> generally| usually| always| mostly)?"
THIRD = tuple(
    (re.compile(rf"^{first}\b", re.IGNORECASE), third)
    for first, third in (
        (rf"i{_MORE}{_OFTEN}{_MORE} prefer", r"The user\g<often> prefers"),
        (rf"i(?:'d| would){_MORE} (?P<would>prefer|rather)", r"The user would \g<would>"),
        (rf"i{_MORE}{_OFTEN}{_MORE} like", r"The user\g<often> likes"),
        (r"i(?:'m| am)(?: also)?", "The user is"),
        ("my", "The user's"),
    )
)


def describe(sentence: str) -> str:
    """One line, without the opening, the reason and the consequence."""
    line = sentence
    while found := CUES["why"].search(masked(line)):
        line = line[: found.start()] + line[found.end() :]
    for cue in ("opening", "polite", "remember_opening", "opening"):
        found = CUES[cue].match(masked(line))
        if found and cue == "polite":
            line = line[found.start("rest") : found.end("rest")]
        elif found and (cue != "opening" or not begins("subject", line)):
            line = line[found.end() :]
    line = CUES["thanks"].sub("", line.strip(" ,;:-").rstrip(" .!?。"))
    for pattern, put in THIRD:
        found = pattern.match(line)
        if found and not has("two_things", line[found.end() :]):
            line = found.expand(put) + line[found.end() :]
            break
    return one_line(line[:1].upper() + line[1:], MAX_LINE)


def make_name(description: str) -> str:
    description = MARKS.sub(" ", description)
    telling = words(CUES["leave_out"].sub(" ", ADDRESS.sub(" ", description)).replace("'", ""))
    return slugify(" ".join(telling[:NAME_WORDS]) or description)


def format_body(statement: str, why: str = "", how: str = "") -> str:
    labels = [f"**Why:** {why}"] * bool(why) + [f"**How to apply:** {how}"] * bool(how)
    return "\n\n".join(filter(None, (statement.strip(), "\n".join(labels))))


@dataclass(frozen=True, slots=True)
class Statement:
    """`said`: the user's sentence. `stands`: it can be understood alone; else it only corrects a memory.
    `updates`: the name of the memory that it replaces, if a model has named one."""

    type: str
    description: str
    body: str
    correction: Correction | None = None
    said: str = ""
    stands: bool = True
    updates: str = ""


def make_statement(kind: str, sentence: str, after: str) -> Statement:
    """`after`: the next sentence, which may give the reason."""
    body = f"{sentence} {after}" if begins("a_reason", after) else sentence
    return Statement(kind, describe(sentence), body, read_correction(sentence), sentence)


def newest(dialogue: Sequence[Message]) -> tuple[str, str]:
    """The user's newest message, and the assistant's message before it."""
    for number in range(len(dialogue) - 1, -1, -1):
        if dialogue[number].role == "user":
            before = dialogue[number - 1] if number else dialogue[number]
            return dialogue[number].text, before.text if before.role != "user" else ""
    return "", ""


def statements_by_rules(dialogue: Sequence[Message], redactor: Redactor = RULES) -> list[Statement]:
    return statements(*newest(dialogue), redactor)


def statements(prompt: str, before: str = "", redactor: Redactor = RULES) -> list[Statement]:
    """Of a user's message; `before`: the assistant's last message. Sentences with a secret are left out, even
    if it is redacted: they say nothing without it."""
    own = [CUES["aside"].sub("", sentence) for sentence in own_sentences(prompt)]
    if not own or is_joke(own):
        return []
    normal = [normalize(sentence) for sentence in own]
    tasks = [is_task(text) for text in normal]
    spec = begins("builds", _bare(normal[0]))
    answer = f" {' '.join(words(before))} "
    found: dict[str, Statement] = {}
    for number, text in enumerate(normal):
        back = number and begins("points_back", _bare(text)) and not passing(normal[number - 1])
        sentence = own[number - 1] if back else own[number]
        unfit = len(sentence) > MAX_SENTENCE or orders_the_memory(sentence)
        is_quoted = f" {' '.join(words(sentence))} " in answer
        if unfit or is_quoted or redactor.has_secret(sentence):
            continue
        alone = sum(tasks) == tasks[number]
        reading = Reading(guess_type(sentence), MIN_POINTS)
        reading = reading if back else read(sentence, alone=alone, spec=spec)
        made = make_statement(reading.type, sentence, "".join(own[number + 1 : number + 2]))
        if short := None if reading.why else read_short(sentence, before):
            found.setdefault(sentence, replace(made, type=PROJECT, correction=short, stands=False))
        elif reading.lasts or _denies(sentence, before):
            found.setdefault(sentence, made)
    return list(found.values())[:MAX_STATEMENTS]


def _denies(sentence: str, before: str) -> bool:
    """Whether the user denies what the assistant has just called something."""
    denied = DENIED.search(sentence)
    return denied is not None and denied["term"].lower() in before.lower()
