"""The events of one agent in a turn as steps: edits, runs, looks, searches, questions to the user."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

from recollect import text
from recollect.model.events import CommandRun, FileChanged, FileRead, OtherTool, ToolUsed
from recollect.model.turns import TurnEvent
from recollect.providers.reading.answers import ASKING, read_answers
from recollect.providers.reading.commands import Command, read_command
from recollect.providers.reading.commits import Commit, read_commits
from recollect.providers.reading.outcomes import Outcome, read_outcome
from recollect.providers.reading.patches import Patch, read_patch

WHAT_LIMIT = 100
JSON_READ = 200_000
SEARCHES = {"WebSearch": "query", "WebFetch": "url", "Grep": "pattern", "Glob": "pattern"}
AGENTS = ("Task", "Agent")
THROWN_AWAY = re.compile(
    r"^/(?:private/)?(?:tmp|var/folders)/.*(?:tasks/|\.output$)|/\.claude/(?:plans|projects|todos)/"
)


@dataclass(frozen=True, slots=True)
class Edit:
    place: int
    change: FileChanged
    patch: Patch


@dataclass(frozen=True, slots=True)
class Run:
    place: int
    command: Command
    outcome: Outcome
    commits: tuple[Commit, ...] = ()

    @property
    def good(self) -> bool:
        """It worked as far as can be seen. A test run has to say so; a build may keep quiet."""
        verdict = self.outcome.verdict
        return verdict == "passed" or (verdict == "quiet" and self.command.kind != "test")

    @property
    def bad(self) -> bool:
        return self.outcome.verdict == "failed"


@dataclass(frozen=True, slots=True)
class Look:
    place: int
    path: str


@dataclass(frozen=True, slots=True)
class Search:
    """`tool` is WebSearch, WebFetch, Grep or Glob; `what` its query, address or pattern."""

    place: int
    tool: str
    what: str


@dataclass(frozen=True, slots=True)
class Helper:
    """A sub-agent that was sent to work."""

    place: int
    type: str
    description: str


@dataclass(frozen=True, slots=True)
class Answer:
    """The user's answer to a question of the agent."""

    place: int
    question: str
    answer: str


@dataclass(frozen=True, slots=True)
class Other:
    place: int
    tool: str


Step = Edit | Run | Look | Search | Helper | Answer | Other


def read_steps(events: Iterable[TurnEvent], root: str) -> tuple[Step, ...]:
    """What was done, in order. Edits and looks that failed did not happen and are left out."""
    found: list[Step] = []
    for at, item in enumerate(events):
        if isinstance(item.event.what, ToolUsed):
            found += _steps(at, item.event.what, root)
    return tuple(found)


def _steps(at: int, used: ToolUsed, root: str) -> list[Step]:
    match used.action:
        case CommandRun() as run:
            return [_run(at, run, used)]
        case _ if used.failure is not None:
            return []
        case FileChanged() as change:
            return [Edit(at, change, read_patch(change, relative(change.path, root)))]
        case FileRead(path=path):
            return [] if THROWN_AWAY.search(path) else [Look(at, relative(path, root))]
        case OtherTool() as other:
            return _other(at, used.name, other)


def _run(at: int, run: CommandRun, used: ToolUsed) -> Run:
    command = read_command(run.command)
    outcome = read_outcome(command, run, used.failure)
    made = "commit" in command.kinds and outcome.verdict in ("passed", "quiet")
    commits = read_commits(run.command, f"{run.stdout}\n{run.stderr}") if made else ()
    return Run(at, command, outcome, commits)


def _other(at: int, name: str, other: OtherTool) -> list[Step]:
    if name in SEARCHES:
        return [Search(at, name, text.one_line(field(other.input, SEARCHES[name]), WHAT_LIMIT))]
    if name in AGENTS:
        kind = text.one_line(field(other.input, "subagent_type"), 40)
        return [
            Helper(
                at,
                kind or "general-purpose",
                text.one_line(field(other.input, "description"), WHAT_LIMIT),
            )
        ]
    if name == ASKING:
        return [Answer(at, each.question, each.answer) for each in read_answers(other)]
    return [Other(at, text.one_line(name, 60))]


def field(source: str, name: str) -> str:
    """One field of a tool's input. Input that is not an object is the field itself."""
    if not source.lstrip().startswith("{"):
        return source
    try:
        value = json.loads(source[:JSON_READ])
    except ValueError:
        return ""
    found = value.get(name, "") if isinstance(value, dict) else ""
    return found if isinstance(found, str) else ""


def relative(path: str, root: str) -> str:
    """A path as people of the project say it; what lies outside keeps its full path."""
    clean = text.one_line(path, 300).replace("\\", "/")
    base = root.replace("\\", "/").rstrip("/")
    if base and clean.startswith(base + "/"):
        return clean[len(base) + 1 :]
    return str(PurePosixPath(clean)) if clean else "an unnamed file"
