"""One thing that is remembered, as plain text, as short or as long as it is wanted (D2).

The text is clean but not fenced: whoever hands it to an agent puts it into an envelope.
"""

from collections.abc import Iterable, Iterator

from recollect.clock import day_and_time
from recollect.model.observations import Observation, Summary
from recollect.model.search import EVENT, OBSERVATION, PROMPT, SESSION, SUMMARY
from recollect.model.sessions import Session
from recollect.store.protocol import Reading
from recollect.text import ELLIPSIS, clean, one_line

TITLE, FACTS, FULL = "title", "facts", "full"
LEVELS = (TITLE, FACTS, FULL)
TITLE_LENGTH = 160
NOT_INDEXED = "(What it says is not indexed.)"
BEGINNING = "\n(The beginning of it; `recollect export` has all.)"
SUMMARY_HEADINGS = (
    ("investigated", "Investigated"),
    ("learned", "Learned"),
    ("completed", "Completed"),
    ("next_steps", "Next steps"),
    ("notes", "Notes"),
)


def told(store: Reading, kind: str, source: int, level: str) -> str | None:
    """By its kind and number. None: there is nothing like that, or no longer."""
    match kind:
        case "observation":
            observation = store.observation(source)
            lines = _observation(observation, level) if observation else None
        case "summary":
            summary = store.summary(source)
            lines = _summary(summary, level) if summary else None
        case "session":
            session = store.session(source)
            lines = _session(store, session, level) if session else None
        case "prompt":
            prompt = store.prompt_by_id(source)
            lines = _text(name(PROMPT, source), prompt.at, prompt.text, level) if prompt else None
        case "event":
            event = store.event_by_id(source)
            heading = " ".join((name(EVENT, source), (event.tool if event else None) or ""))
            said = (event.text if event else "") or NOT_INDEXED
            said += BEGINNING if said.endswith(ELLIPSIS) else ""
            lines = _text(heading.strip(), event.at, said, level) if event else None
        case _:
            return None
    return None if lines is None else clean("\n".join(lines))


def name(kind: str, source: int | str) -> str:
    """How people and agents call it: `#12`, `summary:7`, `memory:prefers-tabs`."""
    return f"#{source}" if kind == OBSERVATION else f"{kind}:{source}"


def _observation(observation: Observation, level: str) -> Iterator[str]:
    draft = observation.draft
    marks = ", ".join(_marks(observation))
    title = one_line(draft.title or "Untitled", TITLE_LENGTH)
    when = day_and_time(observation.at)
    yield f"#{observation.id} [{draft.type}] {title} ({when}{', ' + marks if marks else ''})"
    if level == TITLE:
        return
    if draft.subtitle:
        yield draft.subtitle
    reasons = {doubt.part: doubt.reason for doubt in draft.doubts}
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
    for part, reason in reasons.items():
        yield f"Unverified: {part}: {reason}"
    for what, other in (("Says again what", draft.repeats), ("Carries on", draft.follows)):
        if other is not None:
            yield f"{what} #{other}"


def _marks(observation: Observation) -> Iterator[str]:
    if observation.pinned:
        yield "pinned"
    if any(doubt.part in ("title", "subtitle") for doubt in observation.draft.doubts):
        yield "unverified"


def _summary(summary: Summary, level: str) -> Iterator[str]:
    draft = summary.draft
    asked = one_line(draft.request or "Untitled", TITLE_LENGTH)
    yield f"{name(SUMMARY, summary.id)} {asked} ({day_and_time(summary.at)})"
    if level == TITLE:
        return
    reasons = {doubt.part: doubt.reason for doubt in draft.doubts}
    for part, heading in SUMMARY_HEADINGS:
        text = getattr(draft, part)
        if text and (level == FULL or part in ("learned", "completed", "next_steps")):
            doubt = f" (unverified: {reasons[part]})" if part in reasons else ""
            yield f"{heading}: {text}{doubt}"
    if level == FULL:
        yield from _listed("Changed", draft.files_edited)
        yield from _listed("Read", draft.files_read)


def _session(store: Reading, session: Session, level: str) -> Iterator[str]:
    title = one_line(session.title or "Untitled session", TITLE_LENGTH)
    yield f"{name(SESSION, session.id)} {title} ({day_and_time(session.started_at)}, {session.ref})"
    if level == TITLE:
        return
    if session.subtitle:
        yield session.subtitle
    summaries = store.summaries_of_session(session.id)
    if level == FACTS:
        yield from (f"- {s.draft.request}" for s in summaries if s.draft.request)
        yield from (next(_observation(o, TITLE)) for o in _standing(store, session))
        return
    for summary in summaries:
        yield from ("", *_summary(summary, FULL))
    for observation in _standing(store, session):
        yield from ("", *_observation(observation, FACTS))


def _standing(store: Reading, session: Session) -> list[Observation]:
    """Without those that only say again what another one says."""
    return [o for o in store.observations_of_session(session.id) if o.draft.repeats is None]


def _text(heading: str, at: int, text: str, level: str) -> Iterator[str]:
    if level == TITLE:
        yield f"{heading} {one_line(text, TITLE_LENGTH)} ({day_and_time(at)})"
        return
    yield f"{heading} ({day_and_time(at)})"
    yield text


def _listed(heading: str, values: Iterable[str]) -> Iterator[str]:
    if listed := ", ".join(values):
        yield f"{heading}: {listed}"
