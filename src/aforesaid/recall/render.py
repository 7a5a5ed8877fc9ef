"""Items as text: what a user or an agent reads of an observation, a summary, a session, a prompt or an event.

The text is clean but not fenced: whatever hands it to an agent puts it into the envelope of `wrap`.
"""

from collections.abc import Iterable, Iterator

from aforesaid.clock import day_and_time
from aforesaid.model import names
from aforesaid.model.observations import (
    HELD_BACK,
    Doubt,
    Observation,
    ObservationDraft,
    Origin,
    Summary,
    SummaryDraft,
)
from aforesaid.model.search import EVENT, OBSERVATION, PROMPT, SESSION, SUMMARY
from aforesaid.model.sessions import Session
from aforesaid.store.store import Store
from aforesaid.text import ELLIPSIS, clean, fenced, one_line

OPENING = '<aforesaid-memory project="{project}">'
CLOSING = "</aforesaid-memory>"
NAME_LENGTH = 60
PLAIN = str.maketrans({'"': "'", "<": "‹", ">": "›"})


def wrap(project: str, lead: str, lines: list[str]) -> str:
    """The envelope around all that is injected: what it is, and that it is only data. `lines` must be fenced
    already, since titles and facts stem from tool output and may contain instructions."""
    name = fenced(one_line(project, NAME_LENGTH)).translate(PLAIN)
    return "\n".join([OPENING.format(project=name), lead, *lines, CLOSING])


# Provenance in a word or two.

NOT_INJECTED = (
    "what only the web says is not injected automatically; `aforesaid verify {}` if it is true"
)
FROM_WEB = "source: web only"


def origin_label(draft: ObservationDraft | SummaryDraft) -> str:
    """The worst origin of what is injected of it. Empty for the repository's files, as most are, and where
    it is unknown."""
    found = [each for each in draft.origins or () if not (draft.held_back and each in HELD_BACK)]
    worst = max(found, key=lambda origin: origin.rank, default=Origin.REPOSITORY)
    return "" if worst is Origin.REPOSITORY else worst.value


def is_web_only(draft: ObservationDraft | SummaryDraft) -> bool:
    """It is found, and not injected automatically."""
    return draft.held_back and Origin.WEB in (draft.origins or ())


def list_origins(origins: Iterable[Origin] | None) -> str:
    return ", ".join(origins or ()) or "unknown"


def describe_provenance(item: Observation | Summary) -> str:
    draft = item.draft
    parts = [f"source: {list_origins(draft.origins)}"]
    if isinstance(draft, ObservationDraft) and draft.sources:
        parts[0] += f" ({', '.join(draft.sources)})"
    if isinstance(item, Summary):
        parts += ["parts of it are not injected automatically"] if draft.held_back else []
    elif draft.held_back:
        parts.append(NOT_INJECTED.format(item.id))
    elif item.verified:
        parts.append("verified")
    return "; ".join(parts)


# Items, as short or as long as they are wanted.

TITLE, FACTS, FULL = names.TITLE, names.FACTS, names.FULL
LEVELS = (TITLE, FACTS, FULL)
TITLE_LENGTH = 160
NOT_INDEXED = "(What it says is not indexed.)"
BEGINNING = "\n(The beginning of it; `aforesaid export` has all.)"
SUMMARY_PARTS = ("investigated", "learned", "completed", "next_steps", "notes")
SHORT_PARTS = ("learned", "completed", "next_steps")


def item_name(kind: str, source: int | str) -> str:
    """As users and agents refer to it: `#12`, `summary:7`, `memory:prefers-tabs`."""
    return f"#{source}" if kind == OBSERVATION else f"{kind}:{source}"


def render_item(store: Store, kind: str, source: int, level: str) -> str | None:
    """By its kind and number. None: there is no such item, or no longer."""
    lines: Iterator[str] | None = None
    if kind == OBSERVATION and (observation := store.observations.get(source)):
        lines = _observation(observation, level, store.observations.duplicates(source))
    elif kind == SUMMARY and (summary := store.summaries.get(source)):
        lines = _summary(summary, level)
    elif kind == SESSION and (session := store.sessions.get(source)):
        lines = _session(store, session, level)
    elif kind == PROMPT and (prompt := store.sessions.prompt_by_id(source)):
        lines = _text(item_name(PROMPT, source), prompt.at, prompt.text, level)
    elif kind == EVENT and (event := store.events.get(source)):
        text = event.text or NOT_INDEXED
        text += BEGINNING if text.endswith(ELLIPSIS) else ""
        heading = " ".join(filter(None, (item_name(EVENT, source), event.tool)))
        lines = _text(heading, event.at, text, level)
    return None if lines is None else clean("\n".join(lines))


def render_turns(store: Store, session: Session) -> str:
    """A session for a person: each prompt with all that was noted of it."""
    lines = list(_session(store, session, TITLE))
    observations = store.observations.for_session(session.id)
    summaries = store.summaries.for_session(session.id)
    texts = {each.number: each.text for each in store.sessions.prompts(session.id)}
    # Number 0 is what happened before the first prompt: hooks installed in the middle of a session.
    numbers = {each.prompt_number for each in observations}
    numbers |= {each.prompt_number for each in summaries}
    for number in sorted(numbers | texts.keys()):
        text = texts.get(number, "(before the first recorded prompt)")
        lines += ["", f"Prompt {number}: {text}"]
        for observation in observations:
            if observation.prompt_number == number:
                lines += ["", *_observation(observation, FULL)]
        for summary in summaries:
            if summary.prompt_number == number:
                lines += ["", *_summary(summary, FULL)]
    return clean("\n".join(lines))


def _observation(
    observation: Observation, level: str, duplicates: Iterable[int] = ()
) -> Iterator[str]:
    draft = observation.draft
    reasons = _reasons(draft.doubts)
    marks = [day_and_time(observation.at)]
    marks += ["pinned"] if observation.pinned else []
    marks += ["unverified"] if reasons.keys() & {"title", "subtitle"} else []
    title = one_line(draft.title or "Untitled", TITLE_LENGTH)
    yield f"#{observation.id} [{draft.type}] {title} ({', '.join(marks)})"
    if level == TITLE:
        return
    if draft.subtitle:
        yield draft.subtitle
    for number, fact in enumerate(draft.facts):
        reason = reasons.pop(f"facts {number}", None)
        yield f"- {fact}" + (f" (unverified: {reason})" if reason else "")
    if level == FACTS:
        return
    if draft.narrative:
        yield draft.narrative
    yield from _listed("Concepts", draft.concepts)
    yield from _listed("Changed", draft.files_modified)
    yield from _listed("Read", draft.files_read)
    yield from (f"Unverified: {part}: {reason}" for part, reason in reasons.items())
    for what, other in (("Repeats", draft.repeats), ("Continues", draft.follows)):
        if other is not None:
            yield f"{what} #{other}"
    yield from _listed("Duplicates", (item_name(OBSERVATION, each) for each in duplicates))


def _reasons(doubts: Iterable[Doubt]) -> dict[str, str]:
    return {doubt.part: doubt.reason for doubt in doubts}


def _summary(summary: Summary, level: str) -> Iterator[str]:
    draft = summary.draft
    asked = one_line(draft.request or "Untitled", TITLE_LENGTH)
    yield f"{item_name(SUMMARY, summary.id)} {asked} ({day_and_time(summary.at)})"
    if level == TITLE:
        return
    reasons = _reasons(draft.doubts)
    for part in SUMMARY_PARTS if level == FULL else SHORT_PARTS:
        if text := getattr(draft, part):
            doubt = f" (unverified: {reasons[part]})" if part in reasons else ""
            yield f"{part.replace('_', ' ').capitalize()}: {text}{doubt}"
    if level == FULL:
        yield from _listed("Changed", draft.files_edited)
        yield from _listed("Read", draft.files_read)


def _session(store: Store, session: Session, level: str) -> Iterator[str]:
    title = one_line(session.title or "Untitled session", TITLE_LENGTH)
    when = day_and_time(session.started_at)
    yield f"{item_name(SESSION, session.id)} {title} ({when}, {session.ref})"
    if level == TITLE:
        return
    if session.subtitle:
        yield session.subtitle
    summaries = store.summaries.for_session(session.id)
    every = store.observations.for_session(session.id)
    observations = [each for each in every if each.draft.repeats is None]
    if level == FACTS:
        yield from (f"- {s.draft.request}" for s in summaries if s.draft.request)
        yield from (next(_observation(each, TITLE)) for each in observations)
        return
    for summary in summaries:
        yield from ("", *_summary(summary, FULL))
    for observation in observations:
        yield from ("", *_observation(observation, FACTS))


def _text(heading: str, at: int, text: str, level: str) -> Iterator[str]:
    if level == TITLE:
        yield f"{heading} {one_line(text, TITLE_LENGTH)} ({day_and_time(at)})"
        return
    yield f"{heading} ({day_and_time(at)})"
    yield text


def _listed(heading: str, values: Iterable[str]) -> Iterator[str]:
    if listed := ", ".join(values):
        yield f"{heading}: {listed}"
