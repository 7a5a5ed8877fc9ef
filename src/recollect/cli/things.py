"""What a command is asked for by name: `12` or `#12`, `summary:7`, `prompt:3`, `event:9`, or a session."""

import re

from recollect.cli import places
from recollect.errors import NotFound
from recollect.model.memories import MEMORY
from recollect.model.search import EVENT, OBSERVATION, PROMPT, SESSION, SUMMARY
from recollect.server.things import Thing, find
from recollect.store.protocol import Reading

NUMBER = re.compile(r"#?(\d{1,7})")
NAMED = re.compile(r"(observation|summary|prompt|session|event):(\d{1,15})")
NAMES = "a number such as 12 or #12, summary:7, prompt:3, event:9, or the first letters of a session's id"
WHERE = {
    OBSERVATION: "recollect search",
    SUMMARY: "recollect search --level summaries",
    PROMPT: "recollect search",
    SESSION: "recollect sessions",
    EVENT: "recollect search --level events",
}


def named(store: Reading, text: str) -> tuple[str, int]:
    """Its kind and number; whether there is such a thing is not looked at, except for a session. A number
    that no observation has may be the beginning of a session's id."""
    if found := NUMBER.fullmatch(text):
        number = int(found[1])
        of_session = text.isdecimal() and store.observation(number) is None
        if not (of_session and store.sessions_by_prefix(text)):
            return OBSERVATION, number
    if found := NAMED.fullmatch(text):
        return found[1], int(found[2])
    return SESSION, places.session_named(store, text).id


def memory(text: str) -> str | None:
    """The name, where it is none of an observation or of something else with a number."""
    said, _, name = text.rpartition(f"{MEMORY}:")
    return None if said or NUMBER.fullmatch(name) or NAMED.fullmatch(name) else name


def observation(text: str) -> int:
    found = NUMBER.fullmatch(text.removeprefix("observation:"))
    if found is None:
        raise NotFound(f"{text!r} is not the number of an observation, such as 12 or #12.")
    return int(found[1])


def found(store: Reading, kind: str, source: int) -> Thing:
    """With its project and its session."""
    thing = find(store, kind, source)
    if thing is None:
        raise missing(store, kind, source)
    return thing


def missing(store: Reading, kind: str, source: int) -> NotFound:
    if kind == OBSERVATION and store.was_forgotten(source):
        undo = f"`recollect forget {source} --undo` brings it back."
        return NotFound(f"Observation #{source} was forgotten. {undo}")
    name = f"observation #{source}" if kind == OBSERVATION else f"{kind} {source}"
    return NotFound(f"There is no {name}. Find one with `{WHERE[kind]}`.")
