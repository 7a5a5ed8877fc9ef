"""Session memory: what one session must not lose when its conversation is compacted.

A value made of what the store has of the session, whenever one of its turns is summarised and before each
compaction: the goal, the state, decisions, files, errors and what is next. Only what is sure gets in: a part
that the events do not bear out is left out, and only the user's own words are called the user's.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from recollect.memory.extraction.own_words import own_sentences
from recollect.model.observations import Observation, ObservationDraft, Summary, SummaryDraft
from recollect.model.search import OBSERVATION, SUMMARY
from recollect.model.sessions import Prompt, Session
from recollect.text import one_line, words

# Less talk than this is soon told again; of more, a page cannot be the summary.
FEWEST_TOKENS, FEWEST_MESSAGES, MOST_TOKENS = 10_000, 5, 40_000
LONGEST = 600  # characters of anything that is said here
MOST_FILES, MOST_ERRORS, MOST_LIMITS = 20, 12, 8
SHORTEST_LIMIT, LONGEST_LIMIT = 12, 240  # characters of a sentence that sets the agent a limit
LONGEST_PROMPT = 6_000  # what is longer was pasted for the most part
BULLET = re.compile(r"^(?:[-*•]|\d+[.)])\s+")
LIMITS = re.compile(
    r"\b(?:always|never|must(?: not|n't)?|do(?: not|n['’]t)|may not|from now on|no longer|make sure"
    r"|be sure to|without (?:\w+ing|a|an|any)|at (?:most|least)|no more than|instead of|rather than"
    r"|only (?:use|in|with|if|when|the|change|touch)|i prefer|we (?:use|prefer)|avoid"
    r"|leave .{1,40} (?:alone|as)|keep (?!going|on\b|working|trying)|stick (?:to|with))\b",
    re.IGNORECASE,
)
# What is asked, doubted or told of the past sets no limit.
NO_LIMIT = re.compile(
    r"\?|\b(?:maybe|perhaps|might|not sure|i (?:don['’]t|do not) (?:know|understand|think|see|remember|care)"
    r"|do(?:es)?n['’]t (?:work|seem|matter|exist)|didn['’]t|never mind|what if|whether|why)\b",
    re.IGNORECASE,
)


def serves(tokens: int, messages: int) -> bool:
    """Whether session memory can stand for the conversation: of so many tokens, and so many messages in which
    somebody said something, since the last compaction."""
    return FEWEST_TOKENS <= tokens <= MOST_TOKENS and messages >= FEWEST_MESSAGES


@dataclass(frozen=True, slots=True)
class Point:
    """One thing that is said. `kind` and `source`: what is stored that says it, if anything does."""

    text: str
    kind: str = ""
    source: int = 0


@dataclass(frozen=True, slots=True)
class Failed:
    """What went wrong, and whether the same went well later."""

    what: str
    error: str
    mended: bool


@dataclass(frozen=True, slots=True)
class Touched:
    """A file that was read, or changed, once."""

    path: str
    changed: bool


@dataclass(frozen=True, slots=True)
class Recent:
    """What the newest events of the session tell, oldest first; `tokens` and `messages` as `serves` wants
    them."""

    failed: tuple[Failed, ...] = ()
    touched: tuple[Touched, ...] = ()
    tokens: int = 0
    messages: int = 0


@dataclass(frozen=True, slots=True)
class SessionMemory:
    """Each part oldest first, but files: the most used first. `limits`: sentences of the user's that say how
    the work is to be done."""

    agent: str
    ref: str
    title: str
    at: int
    goal: tuple[Point, ...] = ()
    state: tuple[Point, ...] = ()
    decisions: tuple[Point, ...] = ()
    limits: tuple[Point, ...] = ()
    files: tuple[Point, ...] = ()
    errors: tuple[Point, ...] = ()
    next_steps: tuple[Point, ...] = ()
    tokens: int = 0
    messages: int = 0

    @property
    def serves(self) -> bool:
        return serves(self.tokens, self.messages)

    @property
    def empty(self) -> bool:
        parts = (self.goal, self.state, self.decisions, self.files, self.errors, self.next_steps)
        return not any(parts)


def gather(
    session: Session,
    prompts: Sequence[Prompt],
    summaries: Sequence[Summary],
    observations: Sequence[Observation],
    recent: Recent,
) -> SessionMemory:
    """All of it is of the one session, oldest first."""
    sure = [each for each in observations if _is_sure(each.draft)]
    return SessionMemory(
        agent=session.agent,
        ref=session.ref,
        title=one_line(session.title or (prompts[0].text if prompts else ""), 100) or session.ref,
        at=session.last_event_at,
        goal=_goal(prompts),
        state=tuple(_state(summaries)),
        decisions=tuple(_point(each) for each in sure if each.draft.type == "decision"),
        limits=tuple(_limits(prompts, sure))[-MOST_LIMITS:],
        files=_files(session.project_dir, summaries, sure, recent.touched),
        errors=(
            *(_point(each) for each in sure if each.draft.type == "bugfix"),
            *(_error(each) for each in recent.failed),
        )[-MOST_ERRORS:],
        next_steps=_next_steps(summaries),
        tokens=recent.tokens,
        messages=recent.messages,
    )


def _is_sure(draft: ObservationDraft) -> bool:
    doubted = any(doubt.part in ("title", "subtitle") for doubt in draft.doubts)
    return bool(draft.title or draft.subtitle) and not doubted and draft.repeats is None


def _goal(prompts: Sequence[Prompt]) -> tuple[Point, ...]:
    if not prompts:
        return ()
    first, last = (one_line(prompts[n].text, LONGEST) for n in (0, -1))
    if len(prompts) == 1 or first == last:
        return (Point(f"Asked: {first}"),)
    return (Point(f"Asked at first: {first}"), Point(f"Asked last: {last}"))


def _state(summaries: Iterable[Summary]) -> Iterator[Point]:
    for summary in summaries:
        draft = summary.draft.sure
        for name, said in (("Done", draft.completed), ("Learned", draft.learned)):
            if said:
                yield Point(f"{name}: {one_line(said, LONGEST)}", SUMMARY, summary.id)


def _point(observation: Observation) -> Point:
    """Its title, and the fact that says most about it: the first that is sure."""
    draft = observation.draft
    title = one_line(draft.title or draft.subtitle or "", 200)
    facts = (one_line(fact, 200) for fact in draft.sure_facts)
    fact = next((fact for fact in facts if _key(title) not in _key(fact)), "")
    return Point(f"{title} ({fact})" if fact else title, OBSERVATION, observation.id)


def _error(failed: Failed) -> Point:
    state = "works since" if failed.mended else "has not worked since"
    return Point(f"`{one_line(failed.what, 160)}`: {one_line(failed.error, 200)} ({state})")


def _next_steps(summaries: Sequence[Summary]) -> tuple[Point, ...]:
    """Of the last turn that named some: what earlier ones left to do is done, or named again."""
    for summary in reversed(summaries):
        if said := summary.draft.sure.next_steps:
            return (Point(one_line(said, LONGEST), SUMMARY, summary.id),)
    return ()


def _limits(prompts: Iterable[Prompt], sure: Sequence[Observation]) -> Iterator[Point]:
    """In the user's words, and once. What became a decision is told as one."""
    seen = {_key(observation.draft.title or "") for observation in sure}
    for prompt in prompts:
        if len(prompt.text) > LONGEST_PROMPT:
            continue
        for sentence in own_sentences(prompt.text):
            said = BULLET.sub("", " ".join(sentence.split())).rstrip(";")
            if not SHORTEST_LIMIT <= len(said) <= LONGEST_LIMIT or _key(said) in seen:
                continue
            if LIMITS.search(said) and not NO_LIMIT.search(said):
                seen.add(_key(said))
                yield Point(said)


def _key(text: str) -> str:
    """Equal for what differs in case and punctuation alone."""
    return " ".join(words(text.casefold()))


def _files(
    root: str,
    summaries: Iterable[Summary],
    observations: Iterable[Observation],
    touched: Iterable[Touched],
) -> tuple[Point, ...]:
    read: Counter[str] = Counter()
    changed: Counter[str] = Counter()
    top = root.rstrip("/") + "/"
    for path, modified in (
        *_named(summaries, observations),
        *((each.path, each.changed) for each in touched),
    ):
        (changed if modified else read)[path.removeprefix(top)] += 1
    # A file that was changed is more than one that was only looked at, however often.
    used = sorted({*read, *changed}, key=lambda path: (-3 * changed[path] - read[path], path))
    told = (f"{path} ({'changed' if changed[path] else 'read'})" for path in used[:MOST_FILES])
    return tuple(Point(one_line(line, 200)) for line in told)


def _named(
    summaries: Iterable[Summary], observations: Iterable[Observation]
) -> Iterator[tuple[str, bool]]:
    drafts: list[SummaryDraft | ObservationDraft] = [
        *(summary.draft for summary in summaries),
        *(observation.draft for observation in observations),
    ]
    for draft in drafts:
        doubted = {doubt.part for doubt in draft.doubts}
        edits = "files_edited" if isinstance(draft, SummaryDraft) else "files_modified"
        for field, modified in (("files_read", False), (edits, True)):
            for number, path in enumerate(getattr(draft, field)):
                if f"{field} {number}" not in doubted:
                    yield path, modified
