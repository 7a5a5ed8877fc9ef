"""Selects the memories that are injected at a prompt: a model chooses, with `ranking.py` as the fallback.

The model sees a line per memory and the last messages, never the bodies. The prompt waits for it only
briefly; a late answer is not lost, the caller may use it at the next prompt.
"""

import re
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from operator import attrgetter
from typing import NamedTuple

from aforesaid import log
from aforesaid.clock import local
from aforesaid.memory.changes import Memories
from aforesaid.memory.claude_memory import client_loaded_names
from aforesaid.memory.prompts import prompt_examples, prompt_text
from aforesaid.memory.ranking import MAX_MATCHES, RankedMemory, confident_matches
from aforesaid.model.memories import OF_CLIENT, Message, StoredMemory
from aforesaid.model.requests import Failure, Reply, Request, StoredReply
from aforesaid.text import clean, fenced, one_line

VERSION = "v1"
MAX_SELECTED = MAX_MATCHES
MAX_MEMORY_LINES, MAX_MEMORY_BYTES = 200, 4_096  # of one memory
MAX_SESSION_BYTES = 61_440
PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")
DESCRIPTION_ROOM = 150
MESSAGES = 6
PROMPT_ROOM, MESSAGE_ROOM = 1_500, 300
REPLY_TOKENS = 120
# The last one chooses: after one that chooses none, small models always choose none.
EXAMPLES = ("select_example_code", "select_example_none", "select_example_place")
SPEAKERS = {"user": "User", "assistant": "Agent"}
BY_MODEL, BY_WORDS = "model", "words"

Answer = Reply | StoredReply | Failure
LateSelection = Future[tuple[StoredMemory, ...] | None]


class Selection(NamedTuple):
    """`how`: by model or by words. `late`: set if the model did not answer in time; its result is None if the
    answer is of no use."""

    memories: tuple[StoredMemory, ...]
    how: str
    late: LateSelection | None = None


class InjectedMemory(NamedTuple):
    """A memory as it is shown to an agent."""

    memory: StoredMemory
    text: str
    bytes: int


def sort_for_catalog(memories: Sequence[StoredMemory]) -> list[StoredMemory]:
    """A new memory comes last, so that what was sent before stays cached."""
    return sorted(memories, key=attrgetter("order"))


def memories_for_brief(memories: Memories) -> list[StoredMemory]:
    """Without those that the client loads itself. It has loaded them before the brief is asked for: what is
    shared from now on counts from the next session on."""
    theirs = memories.places.theirs
    known = client_loaded_names(theirs.path) if theirs is not None else frozenset()
    found = memories.all().memories
    return sort_for_catalog(
        [each for each in found if each.scope != OF_CLIENT and each.memory.name not in known]
    )


def render_catalog(memories: Sequence[StoredMemory]) -> str:
    """A line per memory: number, name, description."""
    listed = sort_for_catalog(memories)
    lines = (
        f"{number}. {name}: {one_line(each.memory.description, DESCRIPTION_ROOM)}"
        for number, (name, each) in enumerate(zip(_unique_names(listed), listed, strict=True), 1)
    )
    return "\n".join(fenced(line) for line in lines)


def _unique_names(listed: Sequence[StoredMemory]) -> list[str]:
    """The team's folder may have a name that ours has."""
    names: list[str] = []
    for each in listed:
        name = one_line(each.memory.name, 80)
        names.append(f"{name}-{each.scope}" if name in names else name)
    return names


def build_selection_request(listed: str, conversation: Sequence[Message]) -> Request:
    """`listed`: the catalog. `conversation`: oldest first; the last message is the prompt."""
    *before, last = conversation[-MESSAGES:] or (Message("user", ""),)
    spoken = [*((each, MESSAGE_ROOM) for each in before), (last, PROMPT_ROOM)]
    lines = (
        f"{SPEAKERS.get(each.role, 'Agent')}: {fenced(one_line(each.text, room))}"
        for each, room in spoken
    )
    values = {"catalog": listed, "conversation": "\n".join(lines)}
    # In one pass: what is filled in is not expanded again.
    message = PLACEHOLDER.sub(lambda place: values[place[1]], prompt_text("select_request"))
    return Request(prompt_text("select"), prompt_examples(*EXAMPLES), message, REPLY_TOKENS)


def select_memories(
    memories: Sequence[StoredMemory],
    text: str,
    ask: Callable[[], Answer] | None,
    wait_seconds: float,
    near: Callable[[Sequence[StoredMemory], str], list[RankedMemory]],
) -> Selection:
    """`text`: the prompt. `ask`: sends the request. `near`: as `MemoryRanker.near`. Never raises."""
    if not memories:
        return Selection((), BY_WORDS)
    late = _start_request(memories, ask) if ask is not None else None
    found: tuple[StoredMemory, ...] = ()
    try:  # while the model thinks
        found = tuple(each.memory for each in confident_matches(near(memories, text)))
    except Exception as error:
        log.action("memory.find_failed", error=type(error).__name__)
    if late is None:
        return Selection(found, BY_WORDS)
    try:
        answer = late.result(timeout=max(0.0, wait_seconds))
    except TimeoutError:
        return Selection(found, BY_WORDS, late)
    return Selection(found, BY_WORDS) if answer is None else Selection(answer, BY_MODEL)


def render_for_agent(stored: StoredMemory) -> str:
    """The memory as text, within the limits. It is cut at the end of a line, with a note."""
    memory = stored.memory
    at = memory.updated or memory.created
    when = f", {local(at):%Y-%m-%d}" if at else ""
    name, body = one_line(memory.name, 80), memory.body.strip()
    description = one_line(memory.description, 500)
    parts = [f"## {name} ({one_line(stored.label, 60)}{when})"]
    parts += [description] * (not body.startswith(description)) + [body]
    text = fenced("\n".join(filter(None, parts)))
    if text.count("\n") < MAX_MEMORY_LINES and len(text.encode()) <= MAX_MEMORY_BYTES:
        return text
    rest = f"[cut here; all of it: aforesaid memory show {fenced(name)}]"
    room = MAX_MEMORY_BYTES - len(rest.encode()) - 1
    whole = "\n".join(text.split("\n")[: MAX_MEMORY_LINES - 1])
    kept = whole.encode()[:room].decode(errors="ignore")
    lines = kept.rpartition("\n")[0]
    if len(kept) < len(whole) and "\n" in lines:  # else a single long line, whose beginning stays
        kept = lines
    return f"{kept}\n{rest}"


def fit_session_budget(
    memories: Sequence[StoredMemory], already_bytes: int
) -> list[InjectedMemory]:
    """Leaves out what does not fit. `already_bytes`: injected in this session before."""
    given: list[InjectedMemory] = []
    left = MAX_SESSION_BYTES - already_bytes
    for stored in memories[:MAX_SELECTED]:
        text = render_for_agent(stored)
        size = len(text.encode())
        if size <= left:
            left -= size
            given.append(InjectedMemory(stored, text, size))
    return given


def _start_request(memories: Sequence[StoredMemory], ask: Callable[[], Answer]) -> LateSelection:
    late: LateSelection = Future()

    def run() -> None:
        found = None
        try:
            answer = ask()
            if isinstance(answer, Reply | StoredReply):
                found = parse_selection(answer.text, memories)
        except Exception as error:  # the prompt must not fail: words choose instead
            log.action("memory.select_failed", error=type(error).__name__)
        late.set_result(None if found is None else tuple(found))

    threading.Thread(target=run, name="select", daemon=True).start()
    return late


MAX_REPLY = 8_000  # characters of a reply that are read
MAX_LISTED_FACTOR = 2  # times as many as may be chosen: a reply that names more has not chosen
LABEL = re.compile(
    r"^\W*(?:[\w ]{0,30}\b)?(?:notes?|memor(?:y|ies)|names?|answer)\b[*_`\s]*:",
    re.IGNORECASE | re.MULTILINE,
)
NONE = re.compile(
    r"\[\s*\]|<(\w+)\s*/>|<(\w+)>\s*</\2>"
    r"|(?:^|[:>])[\W_]*(?:none|nothing|no (?:notes?|memor(?:y|ies)|names?)\b[^.\n]*|n/a|null)\W*(?:$|<)",
    re.IGNORECASE | re.MULTILINE,
)
NUMBER = r"(?:^|(?<=[\[,:\"]))\s*(?P<number>\d{1,4})\s*(?=$|[\],\"}])"  # alone, as in a list


def parse_selection(reply: str, memories: Sequence[StoredMemory]) -> list[StoredMemory] | None:
    """The memories that the model chose; an empty list is an answer, too. They were listed and numbered as in
    the catalog. None if the reply cannot be read, names nothing that was listed, or nearly everything."""
    listed = sort_for_catalog(memories)
    names = [name.lower().replace("_", "-") for name in _unique_names(listed)]
    text = clean(reply[:MAX_REPLY])
    labels = list(LABEL.finditer(text))
    text = text[labels[-1].end() :] if labels else text
    spelled = "|".join(
        re.escape(name).replace(r"\-", "[-_]") for name in sorted(names, key=len, reverse=True)
    )
    pattern = rf"(?<![\w-])(?P<name>{spelled})(?![\w-])|{NUMBER}"
    found: dict[int, None] = {}
    for mark in re.finditer(pattern, text, re.IGNORECASE | re.MULTILINE):
        if mark["name"]:
            found[names.index(mark["name"].lower().replace("_", "-"))] = None
        elif 0 < int(mark["number"]) <= len(names):
            found[int(mark["number"]) - 1] = None
    if len(found) > MAX_LISTED_FACTOR * MAX_SELECTED or not (found or NONE.search(text)):
        return None
    return [listed[number] for number in list(found)[:MAX_SELECTED]]
