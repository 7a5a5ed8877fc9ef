"""Which memories an agent is told at a prompt: a model chooses them, else those that are surely near.

The model sees a line per memory and the last messages, never what the memories say. It is asked while the
prompt waits, but not for long: whoever answers late, or not at all, or unreadably, is stood in for by
`finding.py`. A late answer is not lost, the caller may use it at the next prompt.
"""

import re
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cache
from operator import attrgetter

from recollect import log
from recollect.clock import local
from recollect.memory.choosing import choices, finding
from recollect.memory.choosing.finding import Near, sure
from recollect.memory.claude_code.client import loaded
from recollect.memory.prompts import prompt_text
from recollect.memory.storage.changes import Memories
from recollect.model.memories import OF_CLIENT, Message, StoredMemory
from recollect.model.requests import Failure, Reply, Request
from recollect.text import fenced, one_line

VERSION = "v1"
MOST = finding.MOST
LINES, BYTES = 200, 4_096  # of one memory
SESSION_BYTES = 61_440
PLACE = re.compile(r"\{\{(\w+)\}\}")
DESCRIPTION_ROOM = 150
MESSAGES = 6
PROMPT_ROOM, MESSAGE_ROOM = 1_500, 300
REPLY_TOKENS = 120
SPEAKERS = {"user": "User", "assistant": "Agent"}
BY_MODEL, BY_WORDS = "model", "words"

Answer = Reply | Failure
Late = Future[tuple[StoredMemory, ...] | None]


@dataclass(frozen=True, slots=True)
class Chosen:
    """`how`: who chose, the model or the words. `late`: the model's choice once it is there, None if it turns
    out to be of no use; there is one only where the model was asked and did not answer in time."""

    memories: tuple[StoredMemory, ...]
    how: str
    late: Late | None = None


@dataclass(frozen=True, slots=True)
class Told:
    """A memory as an agent is told it."""

    memory: StoredMemory
    text: str
    bytes: int


def ordered(memories: Sequence[StoredMemory]) -> list[StoredMemory]:
    """As the catalog numbers them: a new memory comes last, so that what was sent before stays cached."""
    return sorted(memories, key=attrgetter("order"))


def index(memories: Memories) -> list[StoredMemory]:
    """What a brief names: without what the client loads itself. It has done so before anybody asks here: what
    is shared from now on counts from the next session on."""
    theirs = memories.places.theirs
    known = loaded(theirs.path) if theirs is not None else frozenset()
    found = memories.all().memories
    return ordered([m for m in found if m.scope != OF_CLIENT and m.memory.name not in known])


def catalog(memories: Sequence[StoredMemory]) -> str:
    """A line per memory: number, name, description."""
    listed = ordered(memories)
    lines = (
        f"{number}. {name}: {one_line(each.memory.description, DESCRIPTION_ROOM)}"
        for number, (name, each) in enumerate(zip(_names(listed), listed, strict=True), 1)
    )
    return "\n".join(fenced(line) for line in lines)


def _names(listed: Sequence[StoredMemory]) -> list[str]:
    """No two are the same, though the team's folder may have a name that ours has."""
    names: list[str] = []
    for each in listed:
        name = one_line(each.memory.name, 80)
        names.append(f"{name}-{each.scope}" if name in names else name)
    return names


def request(listed: str, conversation: Sequence[Message]) -> Request:
    """`listed`: the catalog. `conversation`: oldest first; the last message is the prompt."""
    return Request(prompt_text("select"), _examples(), _message(listed, conversation), REPLY_TOKENS)


def read_choice(reply: str, memories: Sequence[StoredMemory]) -> list[StoredMemory] | None:
    """What the model chose from the catalog of these memories. None: its reply is of no use."""
    listed = ordered(memories)
    names = _names(listed)
    found = choices.read(reply, names, MOST)
    return None if found is None else [listed[names.index(name)] for name in found]


def chosen(
    memories: Sequence[StoredMemory],
    text: str,
    ask: Callable[[], Answer] | None,
    wait_seconds: float,
    near: Callable[[Sequence[StoredMemory], str], list[Near]],
) -> Chosen:
    """`text`: the prompt. `ask`: puts the request to the model. `near`: as `Finder.near`. Never raises."""
    if not memories:
        return Chosen((), BY_WORDS)
    late = _asked(memories, ask) if ask is not None else None
    found = _near(memories, text, near)  # while the model thinks
    if late is None:
        return Chosen(found, BY_WORDS)
    try:
        answer = late.result(timeout=max(0.0, wait_seconds))
    except TimeoutError:
        return Chosen(found, BY_WORDS, late)
    return Chosen(found, BY_WORDS) if answer is None else Chosen(answer, BY_MODEL)


def shown(stored: StoredMemory) -> str:
    """What an agent is told of a memory, within the limits. A cut is at the end of a line, and is told."""
    text = _whole(stored)
    if text.count("\n") < LINES and len(text.encode()) <= BYTES:
        return text
    name = fenced(one_line(stored.memory.name, 80))
    rest = f"[cut here; all of it: recollect memory show {name}]"
    room = BYTES - len(rest.encode()) - 1
    head = _within(text, LINES - 1, room)
    return f"{head}\n{rest}"


def told(memories: Sequence[StoredMemory], already_bytes: int) -> list[Told]:
    """What a session is told now. `already_bytes`: what it was told before; what does not fit is left out."""
    given: list[Told] = []
    left = SESSION_BYTES - already_bytes
    for stored in memories[:MOST]:
        text = shown(stored)
        size = len(text.encode())
        if size <= left:
            left -= size
            given.append(Told(stored, text, size))
    return given


def _asked(memories: Sequence[StoredMemory], ask: Callable[[], Answer]) -> Late:
    late: Late = Future()

    def run() -> None:
        try:
            late.set_result(_choice(ask(), memories))
        except Exception as error:  # whoever asks is at a prompt, and there is another way
            log.action("memory.select_failed", error=type(error).__name__)
            late.set_result(None)

    threading.Thread(target=run, name="select", daemon=True).start()
    return late


def _choice(answer: Answer, memories: Sequence[StoredMemory]) -> tuple[StoredMemory, ...] | None:
    if not isinstance(answer, Reply):
        return None
    found = read_choice(answer.text, memories)
    return None if found is None else tuple(found)


def _near(
    memories: Sequence[StoredMemory],
    text: str,
    near: Callable[[Sequence[StoredMemory], str], list[Near]],
) -> tuple[StoredMemory, ...]:
    try:
        return tuple(each.memory for each in sure(near(memories, text), MOST))
    except Exception as error:  # nothing is told, then
        log.action("memory.find_failed", error=type(error).__name__)
        return ()


def _whole(stored: StoredMemory) -> str:
    memory = stored.memory
    at = memory.updated or memory.created
    when = f", {local(at):%Y-%m-%d}" if at else ""
    head = f"## {one_line(memory.name, 80)} ({one_line(stored.label, 60)}{when})"
    body = memory.body.strip()
    description = one_line(memory.description, 500)
    told_again = body.startswith(description)
    return fenced("\n".join(filter(None, (head, "" if told_again else description, body))))


def _within(text: str, lines: int, size: int) -> str:
    """The first lines that fit. Of a line that is too long for itself, its beginning."""
    kept: list[str] = []
    for line in text.split("\n")[:lines]:
        if len("\n".join([*kept, line]).encode()) > size:
            break
        kept.append(line)
    if len(kept) > 1 or len(text) == len("\n".join(kept)):
        return "\n".join(kept)
    return text.encode()[:size].decode(errors="ignore")


def _message(listed: str, conversation: Sequence[Message]) -> str:
    *before, last = conversation[-MESSAGES:] or (Message("user", ""),)
    said = [_said(message, MESSAGE_ROOM) for message in before] + [_said(last, PROMPT_ROOM)]
    values = {"catalog": listed, "conversation": "\n".join(said)}
    # In one pass: what is filled in is not looked at again.
    return PLACE.sub(lambda place: values[place[1]], prompt_text("select_request"))


def _said(message: Message, room: int) -> str:
    return f"{SPEAKERS.get(message.role, 'Agent')}: {fenced(one_line(message.text, room))}"


@cache
def _examples() -> tuple[tuple[str, str], ...]:
    # The last one chooses: after one that chooses none, small models choose none for ever.
    names = ("code", "none", "place")
    return tuple(
        (prompt_text(f"select_example_{n}_request"), prompt_text(f"select_example_{n}"))
        for n in names
    )
