"""Captures from the spool, and the events they become, whichever agent sent them."""

from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import NamedTuple

FORMAT = "aforesaid/1"
HEADER_END = b"\0\n"
HOOKS = ("context", "new", "file", "compact", "save", "summary", "end")
# Instead of any other: the user wants nothing recorded there. It names the session and has no content.
PAUSED = "paused"


@dataclass(frozen=True, slots=True)
class Capture:
    """One spool file: the header that the writer put in front, and the agent's own bytes."""

    id: str
    agent: str
    hook: str
    project_dir: str
    body: bytes
    at: int


class Unreadable(NamedTuple):
    """A capture that cannot become an event, with the reason a person can act on."""

    why: str


def parse_capture(name: str, data: bytes, at: int) -> Capture | Unreadable:
    """Reads `aforesaid/1 <agent> <hook> <project dir> NUL newline <payload>`."""
    header, mark, body = data.partition(HEADER_END)
    words = header.split(b" ", 3)
    if not data:
        return Unreadable("the file is empty: the agent sent nothing")
    if not mark or len(words) != 4:
        return Unreadable("the header is cut off: the hook was stopped while it wrote")
    version, agent, hook, project_dir = (w.decode("utf-8", "surrogateescape") for w in words)
    if version != FORMAT:
        return Unreadable(f"the format {version!r} is not known: a newer aforesaid wrote this")
    return Capture(name, agent, hook, project_dir, body, at)


class Hunk(NamedTuple):
    """One run of changed lines; each line keeps its ' ', '-' or '+' mark."""

    old_start: int
    new_start: int
    lines: tuple[str, ...]

    @property
    def added(self) -> tuple[str, ...]:
        return tuple(line[1:] for line in self.lines if line.startswith("+"))

    @property
    def removed(self) -> tuple[str, ...]:
        return tuple(line[1:] for line in self.lines if line.startswith("-"))


@dataclass(frozen=True, slots=True)
class FileChanged:
    """A file was written or edited. `before` is None when it was created or is not known."""

    path: str
    created: bool
    hunks: tuple[Hunk, ...]
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class FileRead:
    """`is_output`: the client keeps the output of an earlier call in it."""

    path: str
    first_line: int
    lines: int
    total_lines: int
    content: str
    is_output: bool = False


@dataclass(frozen=True, slots=True)
class CommandRun:
    command: str
    description: str | None
    stdout: str
    stderr: str
    background: bool


class ToolKind(StrEnum):
    """What a tool does, whatever the agent calls it."""

    SEARCH = "search"  # in files
    WEB_SEARCH = "web_search"
    WEB_FETCH = "web_fetch"
    MCP = "mcp"  # a tool of an MCP server
    MCP_RESOURCE = "mcp_resource"
    MEMORY = "memory"  # our own MCP server
    OUTPUT = "output"  # of a command that runs in the background
    QUESTION = "question"  # to the user
    SUBAGENT = "subagent"
    PLAN = "plan"  # to-do lists, plan mode, skills: changes no file
    OTHER = "other"


SEARCH_KINDS = (ToolKind.SEARCH, ToolKind.WEB_SEARCH, ToolKind.WEB_FETCH)


class Answered(NamedTuple):
    """The user's answer to a question of the agent. `offered`: the labels to choose from, if known."""

    question: str
    answer: str
    offered: tuple[str, ...] = ()


class Task(NamedTuple):
    """An entry of the agent's own task list. `text` is empty where only the state changed."""

    id: str
    text: str
    done: bool


@dataclass(frozen=True, slots=True)
class OtherTool:
    """Any tool but editing, reading and commands: its input and output as text.

    `subject`: the query, address or pattern of a search, the name of an MCP server, the task of a sub-agent,
    the text of a plan. `paths`: the files and folders that the input names. `tasks`: entries of the task list
    that it sets, all of them if `whole_list`.
    """

    input: str
    output: str
    kind: ToolKind = ToolKind.OTHER
    subject: str = ""
    subagent_type: str = ""
    paths: tuple[str, ...] = ()
    answers: tuple[Answered, ...] = ()
    tasks: tuple[Task, ...] = ()
    whole_list: bool = False


Action = FileChanged | FileRead | CommandRun | OtherTool


class Failure(NamedTuple):
    """Why a tool failed. `exit_code` is set when a command gave one."""

    error: str
    exit_code: int | None
    interrupted: bool


class Subagent(NamedTuple):
    id: str
    type: str


@dataclass(frozen=True, slots=True)
class SessionStarted:
    """`source`: startup, resume, clear, compact or fork."""

    source: str
    model: str | None


@dataclass(frozen=True, slots=True)
class PromptSubmitted:
    """`by_machine`: the client spoke (a task notification), not the user."""

    text: str
    by_machine: bool


@dataclass(frozen=True, slots=True)
class ToolUsed:
    name: str
    use_id: str
    action: Action
    failure: Failure | None
    duration_ms: int | None


class AgentMessage(NamedTuple):
    """What the agent wrote between two tool calls; only transcripts have it."""

    text: str


class TurnEnded(NamedTuple):
    last_message: str


class SubagentEnded(NamedTuple):
    last_message: str


class CompactionBegan(NamedTuple):
    trigger: str
    instructions: str


class SessionEnded(NamedTuple):
    reason: str


Happening = (
    SessionStarted
    | PromptSubmitted
    | ToolUsed
    | AgentMessage
    | TurnEnded
    | SubagentEnded
    | CompactionBegan
    | SessionEnded
)


class FileWanted(NamedTuple):
    """The agent is about to read or change a file. Never stored. `session`: the agent's id."""

    session: str
    path: str
    tool: str


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened in one session.

    `key` names the happening itself, so that it is stored once however often it is delivered. It is
    None when the agent gives no id; then the capture's own id and the content decide. `branch`: if the agent
    says which one is checked out.
    """

    agent: str
    session: str
    key: str | None
    what: Happening
    prompt_id: str | None
    subagent: Subagent | None
    cwd: str
    transcript: str | None
    branch: str = field(default="", compare=False)

    @property
    def kind(self) -> str:
        return KINDS[type(self.what)]

    @property
    def tool(self) -> str | None:
        return self.what.name if isinstance(self.what, ToolUsed) else None


KINDS: dict[type[Happening], str] = {
    SessionStarted: "session_start",
    PromptSubmitted: "prompt",
    ToolUsed: "tool",
    AgentMessage: "message",
    TurnEnded: "stop",
    SubagentEnded: "subagent_stop",
    CompactionBegan: "compact",
    SessionEnded: "session_end",
}


SessionRef = tuple[str, str]  # the agent, and its own id of the session
NO_SESSIONS: frozenset[SessionRef] = frozenset()


@dataclass(frozen=True, slots=True)
class Arrival:
    """`healed`: it is in the transcript, and no hook delivered it."""

    capture: Capture
    event: Event
    project_id: int
    boring: bool
    healed: bool = False


@dataclass(frozen=True, slots=True)
class Ingested:
    """What storing a batch came to. `begun` and `ended`: sessions that started, or that ended a turn."""

    added: int = 0
    duplicates: int = 0
    closed_turns: int = 0
    projects: frozenset[int] = frozenset()
    begun: frozenset[SessionRef] = NO_SESSIONS
    ended: frozenset[SessionRef] = NO_SESSIONS

    def plus(self, other: "Ingested") -> "Ingested":
        return Ingested(
            self.added + other.added,
            self.duplicates + other.duplicates,
            self.closed_turns + other.closed_turns,
            self.projects | other.projects,
            self.begun | other.begun,
            self.ended | other.ended,
        )


class Healed(NamedTuple):
    """What a transcript's telling came to: events that were missing, turns that got work for it."""

    added: int
    turns: int


class StoredEvent(NamedTuple):
    id: int
    session_id: int
    kind: str
    prompt_number: int
    at: int
    boring: bool
    capture: Capture


@dataclass(frozen=True, slots=True)
class Health:
    """Counts of the store. Times are None when nothing happened yet."""

    pending: int = 0
    skipped: int = 0
    oldest_pending: int | None = None
    last_done: int | None = None
    quarantined: int = 0
    active_sessions: int = 0
    sessions: int = 0
    events: int = 0
    observations: int = 0
    summaries: int = 0
    projects: int = 0
    from_transcripts: int = 0


@dataclass(frozen=True, slots=True)
class TranscriptFile:
    """`cwd` is the directory in which the session began, empty if the file does not say; `modified` is
    when it was last written to. `fault` says why nothing of it can be read, if that is so."""

    agent: str
    path: str
    session: str
    cwd: str
    size: int
    modified: int
    fault: str = ""


@dataclass(frozen=True, slots=True)
class TranscriptEvent:
    """One event as a transcript has it.

    `capture` is what the hook would have left in the spool, at the time of the happening and with an id
    that is the same at every reading. `mark` is opaque: given back, reading goes on after this happening.
    """

    capture: Capture
    event: Event
    mark: str


@dataclass(frozen=True, slots=True)
class Tally:
    """`parts` and `summaries`: jobs. A long turn is observed in several parts."""

    sessions: int = 0
    prompts: int = 0
    events: int = 0
    turns: int = 0
    parts: int = 0
    summaries: int = 0

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(Tally)))

    def since(self, before: "Tally") -> "Tally":
        """What was added. Work that was not begun may be replaced by less of it."""
        more = (getattr(self, f.name) - getattr(before, f.name) for f in fields(Tally))
        return Tally(*(max(0, number) for number in more))
