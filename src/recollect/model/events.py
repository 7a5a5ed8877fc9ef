"""What an agent did, as values that no longer depend on which agent it was."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Hunk:
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
    path: str
    first_line: int
    lines: int
    total_lines: int
    content: str


@dataclass(frozen=True, slots=True)
class CommandRun:
    command: str
    description: str | None
    stdout: str
    stderr: str
    background: bool


@dataclass(frozen=True, slots=True)
class OtherTool:
    """Any tool without a shape of its own here: its input and output as text."""

    input: str
    output: str


Action = FileChanged | FileRead | CommandRun | OtherTool


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a tool failed. `exit_code` is set when a command said one."""

    error: str
    exit_code: int | None
    interrupted: bool


@dataclass(frozen=True, slots=True)
class Subagent:
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


@dataclass(frozen=True, slots=True)
class TurnEnded:
    last_message: str


@dataclass(frozen=True, slots=True)
class SubagentEnded:
    last_message: str


@dataclass(frozen=True, slots=True)
class CompactionBegan:
    trigger: str
    instructions: str


@dataclass(frozen=True, slots=True)
class SessionEnded:
    reason: str


Happening = (
    SessionStarted
    | PromptSubmitted
    | ToolUsed
    | TurnEnded
    | SubagentEnded
    | CompactionBegan
    | SessionEnded
)


@dataclass(frozen=True, slots=True)
class FileWanted:
    """The agent is about to read or change a file. A question, and never stored: what came of it is told
    when it has happened. `session` is the agent's own id."""

    session: str
    path: str
    tool: str


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened in one session.

    `key` names the happening itself, so that it is stored once however often it is delivered. It is
    None when the agent gives no id; then the capture's own id and the content decide.
    """

    agent: str
    session: str
    key: str | None
    what: Happening
    prompt_id: str | None
    subagent: Subagent | None
    cwd: str
    transcript: str | None

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
    TurnEnded: "stop",
    SubagentEnded: "subagent_stop",
    CompactionBegan: "compact",
    SessionEnded: "session_end",
}
