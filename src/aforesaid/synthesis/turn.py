"""A turn, built from stored events, and rendered for a model within a token budget.

Edits are diffs, reads are a path and an outline, long outputs keep head and tail, repeated calls are merged.
Every cut is marked. Captured text is fenced, and its lines are indented so that they cannot look like ours.
"""

import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import assert_never

from aforesaid.agents.base import Agent
from aforesaid.clock import local
from aforesaid.model.events import (
    Action,
    AgentMessage,
    CommandRun,
    Event,
    Failure,
    FileChanged,
    FileRead,
    OtherTool,
    PromptSubmitted,
    StoredEvent,
    Subagent,
    SubagentEnded,
    ToolUsed,
    TurnEnded,
)
from aforesaid.model.jobs import OBSERVE, Job
from aforesaid.model.observations import Turn, TurnEvent
from aforesaid.model.search import OBSERVATION
from aforesaid.model.sessions import Session
from aforesaid.provenance.tracker import is_ours
from aforesaid.providers.extract.patches import language_of, outline
from aforesaid.providers.extract.work import relative_path
from aforesaid.store.store import Store
from aforesaid.text import fenced, one_line, tokens

TURN_KINDS = ("tool", "subagent_stop")
RECALLED_EVENTS = 40
REMEMBERED_EVENTS = 200  # of the session before this turn: enough to see what failed earlier


def build_turn(
    store: Store,
    agents: Mapping[str, Agent],
    job: Job,
    session: Session,
    *,
    whole: bool = False,
) -> Turn:
    """The job's own events for observations, all of the turn's for a summary or if `whole`."""
    project = store.projects.get(session.project_id)
    agent = agents[session.agent]
    # A long turn has many jobs: none but the summary may read all of it.
    turn = (job.session_id, job.prompt_number)
    part = job.kind == OBSERVE and not whole
    chosen = store.events.for_job(job.id) if part else store.events.for_prompt(*turn)
    own = [e for e in chosen if e.kind in TURN_KINDS and not e.boring]
    before = store.events.before(own[0], REMEMBERED_EVENTS) if own else []
    prompt = store.sessions.prompt(*turn)
    first = store.sessions.prompt(job.session_id, 1)
    written = store.observations.for_prompt(*turn)
    ends = _parse_events(agent, session.project_dir, store.events.for_prompt(*turn, "stop"))
    last = [e.event.what.last_message for e in ends if isinstance(e.event.what, TurnEnded)]
    said = _parse_events(agent, session.project_dir, store.events.for_prompt(*turn, "message"))
    latest = store.events.last_time(*turn)
    return Turn(
        project=project.name,
        root=session.project_dir,
        session=session.ref,
        prompt_number=job.prompt_number,
        prompt=strip_injected(prompt.text) if prompt else None,
        at=session.last_event_at if latest is None else latest,
        events=tuple(_parse_events(agent, session.project_dir, own)),
        before=tuple(_parse_events(agent, session.project_dir, before)),
        recorded=store.observations.titles_for_session(job.session_id),
        # A turn that a finished background task woke again stopped twice; both messages count.
        last_message="\n\n".join(dict.fromkeys(last)) if last else None,
        interrupted=not last,
        observed=tuple(observation.draft for observation in written),
        goal=strip_injected(first.text) if first else None,
        top=project.root,
        injected=tuple(_injected_texts(store, agent, session)),
        messages=tuple(text for agent, text in _messages(said) if agent is None),
        subagent_messages=tuple((agent, text) for agent, text in _messages(said) if agent),
        branch=next((item.event.branch for item in (*said, *ends) if item.event.branch), ""),
    )


def _messages(said: list[TurnEvent]) -> Iterator[tuple[Subagent | None, str]]:
    """What was written between tool calls, and by which sub-agent."""
    for item in said:
        if isinstance(item.event.what, AgentMessage):
            yield item.event.subagent, strip_injected(item.event.what.text)


def _parse_events(agent: Agent, project_dir: str, stored: list[StoredEvent]) -> list[TurnEvent]:
    return [
        TurnEvent(row.id, row.at, strip_event(event))
        for row in stored
        if (event := agent.parse_stored(row, project_dir))
    ]


def _injected_texts(store: Store, agent: Agent, session: Session) -> Iterator[str]:
    """What the session knows from aforesaid: injected automatically, or because it asked."""
    rows = store.injections.for_session(session.id)
    injected = dict.fromkeys(row.source for row in rows if row.kind == OBSERVATION)
    for observation in filter(None, map(store.observations.get, injected)):
        draft = observation.draft
        yield "\n".join(filter(None, (draft.title, draft.subtitle, *draft.facts)))
    for row in store.events.calls_of(session.id, agent.own_tools, RECALLED_EVENTS):
        event = agent.parse_stored(row, session.project_dir)
        if event and isinstance(event.what, ToolUsed):
            action = event.what.action
            yield action.output if isinstance(action, OtherTool) else ""


SHRINKING = (1.0, 0.6, 0.35, 0.2, 0.1)  # the room for each event, until all of them fit
OUTLINED_LINES, OUTLINED_WIDTH = 2_000, 160
Room = dict[str, int]  # characters that an event may take, by what it is
SIZES = {"diff": 2_400, "outline": 320, "command": 600, "output": 1_000, "words": 1_200}


def render_events(turn: Turn, budget: int) -> str:
    """All events within `budget` tokens; if need be, those in the middle are only counted."""
    events = list(_merge_repeated(turn.events).items())
    for scale in SHRINKING:
        room = {name: max(60, int(size * scale)) for name, size in SIZES.items()}
        blocks = [
            _block(number, event, times, turn.root, room)
            for number, (event, times) in enumerate(events, 1)
        ]
        if sum(map(_cost, blocks)) <= budget:
            return "\n".join(blocks)
    return "\n".join(_ends(blocks, budget))


def _cost(block: str) -> int:
    return tokens(f"{block}\n")


def _merge_repeated(events: Iterable[TurnEvent]) -> dict[TurnEvent, int]:
    """How often each was done: the same read or the same command with the same outcome is one thing, in its
    first place. A command that is run again after a change is another: it says whether the change works."""
    counts: Counter[TurnEvent] = Counter()
    first: dict[object, TurnEvent] = {}
    changes = 0
    for each in events:
        what = each.event.what
        same: object = each.id
        if isinstance(what, ToolUsed):
            if isinstance(what.action, FileChanged):
                changes += 1
            else:
                since = changes if isinstance(what.action, CommandRun) else 0
                same = (what.name, what.action, what.failure, since)
        counts[first.setdefault(same, each)] += 1
    return counts


def _block(number: int, each: TurnEvent, times: int, root: str, room: Room) -> str:
    agent = f" ({one_line(each.event.subagent.type, 40)})" if each.event.subagent else ""
    head = f"[{number}] {local(each.at):%H:%M:%S}{agent} "
    match each.event.what:
        case ToolUsed() as tool:
            return head + nested(_tool(tool, root, room, times))
        case SubagentEnded(last_message=message):
            return head + nested(f"Sub-agent reported:\n{excerpt(message, room['words'])}")
        case _:
            return head.rstrip()


def _tool(tool: ToolUsed, root: str, room: Room, count: int) -> str:
    times = f" [{count} times]" if count > 1 else ""
    outcome = _outcome(tool.failure, room)
    match tool.action:
        case FileChanged() as change:
            lines = "" if tool.failure else _diff(change, room)
            diff = f"\n{lines}" if lines else ""
            verb = "Created" if change.created else "Edited"
            return f"{verb} {relative_path(change.path, root)}{diff}{outcome}"
        case FileRead() as read:
            return f"Read {_read(read, root, room)}{times}{outcome}"
        case CommandRun() as run:
            output = "\n".join(part for part in (run.stdout, run.stderr) if part.strip())
            printed = f"\n{excerpt(output, room['output'])}" if output else ""
            ended = outcome or ("" if run.background else " → exit code 0")
            started = " (in the background)" if run.background else ""
            return f"Ran{times}{started}: {excerpt(run.command, room['command'])}{ended}{printed}"
        case OtherTool() as other if other.answers:
            asked = "\n".join(
                f"“{each.question}”"
                + (f" (offered: {'; '.join(each.offered)})" if each.offered else "")
                + f" → the user answered “{each.answer}”"
                for each in other.answers
            )
            return f"Asked the user{times}:\n{excerpt(asked, room['output'])}{outcome}"
        case OtherTool() as other:
            given, got = (
                excerpt(other.input, room["command"]),
                excerpt(other.output, room["output"]),
            )
            result = f"\n{got}" if got else ""
            return f"{one_line(tool.name, 60)}{times}: {given}{outcome}{result}"
        case _:
            assert_never(tool.action)


def _outcome(failure: Failure | None, room: Room) -> str:
    if failure is None:
        return ""
    if failure.interrupted:
        return " → interrupted by the user"
    code = f" with exit code {failure.exit_code}" if failure.exit_code is not None else ""
    return f" → FAILED{code}\n{excerpt(failure.error, room['output'])}"


def _diff(change: FileChanged, room: Room) -> str:
    """Changed lines only: a model knows where they are from the line number."""
    lines = [] if change.hunks else [f"+{line}" for line in (change.after or "").splitlines()]
    for hunk in change.hunks:
        changed = (line for line in hunk.lines if line[:1] in "+-")
        lines += [f"@@ line {hunk.new_start}", *changed]
    return "\n".join(first_lines(lines, room["diff"], "lines"))


def _read(read: FileRead, root: str, room: Room) -> str:
    last = read.first_line + max(read.lines, 1) - 1
    part = f"{read.total_lines} lines"
    if read.lines < read.total_lines:
        part = f"lines {read.first_line}-{last} of {part.removesuffix(' lines')}"
    outline = excerpt(_outline(read), room["outline"]).replace("\n", " ")
    outline = outline or one_line(read.content, min(200, room["outline"]))
    return f"{relative_path(read.path, root)} ({part}): {outline}"


@lru_cache(maxsize=64)
def _outline(read: FileRead) -> str:
    lines = (line[:OUTLINED_WIDTH] for line in read.content.splitlines()[:OUTLINED_LINES])
    return ", ".join(dict.fromkeys(each.name for each in outline(lines, language_of(read.path))))


def _ends(blocks: list[str], budget: int) -> list[str]:
    """From the beginning and the end by turns, as long as there is room."""
    head: list[str] = []
    tail: list[str] = []
    rest = deque(blocks)
    left = budget - _cost(cut_mark(len(rest), "events"))
    while rest:
        first = len(head) <= len(tail)
        left -= _cost(rest[0] if first else rest[-1])
        if left < 0:
            break
        (head if first else tail).append(rest.popleft() if first else rest.pop())
    return [*head, cut_mark(len(rest), "events"), *reversed(tail)]


HEAD = 0.6  # of the room: what it is about stands at the beginning, errors and results at the end
LOOKED_AT = 8  # times the room, at either end: outputs can be huge
MARGIN = "  "
LONGEST_LINE = 400  # of a diff: what is minified says nothing


def excerpt(text: str, limit: int) -> str:
    """The beginning and the end, cut at line ends where there are some near."""
    ends = LOOKED_AT * limit
    if len(text) <= 2 * ends:
        whole = fenced(text).strip()
        if len(whole) <= limit:
            return whole
        begin, end, unseen = whole, whole, 0
    else:
        begin, end = fenced(text[:ends]).strip(), fenced(text[-ends:]).strip()
        whole, unseen = begin + end, len(text) - 2 * ends
    room = int(limit * HEAD)
    head, tail = begin[:room], end[-(limit - room) :]
    line_end, line_start = head.rfind("\n"), tail.find("\n")
    head = head[:line_end] if line_end > len(head) // 2 else head
    tail = tail[line_start + 1 :] if 0 <= line_start < len(tail) // 2 else tail
    gone = len(whole) + unseen - len(head) - len(tail)
    return f"{head}\n{cut_mark(gone, 'characters')}\n{tail}"


def first_lines(lines: Sequence[str], limit: int, what: str) -> list[str]:
    """As many as fit into `limit` characters, and a mark for the rest."""
    kept: list[str] = []
    used = 0
    for number, line in enumerate(lines):
        short = shortened(line, min(LONGEST_LINE, limit // 2))
        used += len(short) + 1
        if used > limit:
            return [*kept, cut_mark(len(lines) - number, what)]
        kept.append(short)
    return kept


def shortened(line: str, limit: int) -> str:
    """The beginning of one line."""
    seen = fenced(line[: LOOKED_AT * limit])
    gone = max(len(seen), len(line)) - limit
    if gone <= 0 or (len(seen) <= limit and len(line) <= LOOKED_AT * limit):
        return seen
    return f"{seen[:limit]}{cut_mark(gone, 'characters')}"


def nested(text: str) -> str:
    """All lines but the first moved in: what begins at the margin is ours."""
    return text.replace("\n", f"\n{MARGIN}")


def cut_mark(count: int, what: str) -> str:
    return f"[… {count:,} {what} cut …]"


ENVELOPE = re.compile(
    r"<aforesaid-memory\b.*?(?:</aforesaid-memory>|\Z)", re.DOTALL | re.IGNORECASE
)
MARK = "<aforesaid-memory"


def strip_injected(text: str) -> str:
    """Without the notes that aforesaid has injected."""
    return ENVELOPE.sub("", text) if MARK in text.lower() else text


# What a tool brought, by the kind of its action.
OUTPUTS = {CommandRun: ("stdout", "stderr"), FileRead: ("content",), OtherTool: ("output",)}


def strip_event(event: Event) -> Event:
    """The same event, without what aforesaid has injected."""
    match event.what:
        case ToolUsed(action=CommandRun() | FileRead() | OtherTool() as action) as used:
            names = OUTPUTS[type(action)]
            plain = {names[0]: strip_injected(getattr(action, names[0]))}
            if is_ours(event):
                plain = dict.fromkeys(names, "")
            stripped: Action = replace(action, **plain)  # type: ignore[arg-type]
            return replace(event, what=replace(used, action=stripped))
        case PromptSubmitted(text=text) as prompt:
            return replace(event, what=replace(prompt, text=strip_injected(text)))
        case TurnEnded(last_message=text) | SubagentEnded(last_message=text):
            return replace(event, what=type(event.what)(strip_injected(text)))
        case _:
            return event
