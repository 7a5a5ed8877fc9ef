"""What an agent did in a turn: files it changed, commands and their outcome, commits, answers, tasks."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import PurePosixPath

from aforesaid import text
from aforesaid.model.events import (
    Answered,
    CommandRun,
    FileChanged,
    FileRead,
    OtherTool,
    Subagent,
    SubagentEnded,
    Task,
    ToolKind,
    ToolUsed,
)
from aforesaid.model.observations import Turn, TurnEvent
from aforesaid.providers.extract.commands import CHECKS, STANDING, UNKNOWN, Command, read_command
from aforesaid.providers.extract.patches import Patch, read_patches
from aforesaid.providers.extract.results import Commit, Outcome, read_commits, read_outcome

SCRATCH = re.compile(r"^/(?:private/)?(?:tmp|var/folders)/|/\.[\w-]+/(?:plans|projects|todos)/")
PULL_REQUEST = re.compile(r"https?://\S+/(?:pull|merge_requests|pullrequest)/\d+")
OPENS_PULL_REQUEST = re.compile(r"\b(?:gh pr|glab mr) create\b")


@dataclass(frozen=True, slots=True)
class Edit:
    place: int
    change: FileChanged
    path: str


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


Step = Edit | Run


def read_steps(events: Iterable[TurnEvent], root: str) -> tuple[Step, ...]:
    """Edits and commands in order. An edit that failed did not happen."""
    found: list[Step] = []
    for at, item in enumerate(events):
        used = item.event.what
        if not isinstance(used, ToolUsed):
            continue
        match used.action:
            case CommandRun() as run:
                found.append(_run(at, run, used))
            case FileChanged() as change if used.failure is None:
                found.append(Edit(at, change, relative_path(change.path, root)))
    return tuple(found)


def _run(at: int, run: CommandRun, used: ToolUsed) -> Run:
    command = read_command(run.command)
    outcome = read_outcome(command, run, used.failure)
    made = "commit" in command.kinds and outcome.verdict in ("passed", "quiet")
    commits = read_commits(run.command, f"{run.stdout}\n{run.stderr}") if made else ()
    return Run(at, command, outcome, commits)


def relative_path(path: str, root: str) -> str:
    """As people of the project name it; what lies outside keeps its full path."""
    clean = text.one_line(path, 300).replace("\\", "/")
    base = root.replace("\\", "/").rstrip("/")
    if base and clean.startswith(base + "/"):
        return clean[len(base) + 1 :]
    return str(PurePosixPath(clean)) if clean else "an unnamed file"


def is_scratch(path: str, root: str) -> bool:
    """A temporary file, or one of the client's own, outside the project."""
    return SCRATCH.search(path) is not None and not path.startswith(root.rstrip("/") + "/")


@dataclass(frozen=True, slots=True)
class Check:
    """A command that failed: its first and its last failure, and the run that repaired it, if any."""

    first: Run
    last: Run
    repaired: Run | None = None


@dataclass(frozen=True)
class Work:
    """`patches`: changes that lasted; `undone`: files whose changes were taken back."""

    turn: Turn
    agent: Subagent | None
    message: str | None
    said: tuple[str, ...]  # between tool calls
    events: tuple[TurnEvent, ...]
    steps: tuple[Step, ...]
    patches: tuple[Patch, ...] = ()
    undone: tuple[str, ...] = ()
    task: str = ""  # of a sub-agent
    checks: tuple[Check, ...] = field(default=())

    @cached_property
    def runs(self) -> list[Run]:
        return [step for step in self.steps if isinstance(step, Run)]

    @cached_property
    def commits(self) -> list[Commit]:
        """A commit that was amended counts as its last form."""
        found: list[Commit] = []
        for run in self.runs:
            if run.commits and found and "--amend" in run.command.text:
                found.pop()
            found += run.commits
        return found

    @cached_property
    def actions(self) -> list[tuple[ToolUsed, OtherTool]]:
        used = (item.event.what for item in self.events)
        return [
            (each, each.action)
            for each in used
            if isinstance(each, ToolUsed) and isinstance(each.action, OtherTool)
        ]

    @cached_property
    def read(self) -> tuple[str, ...]:
        used = (item.event.what for item in self.events)
        paths = (
            each.action.path
            for each in used
            if isinstance(each, ToolUsed) and isinstance(each.action, FileRead) and not each.failure
        )
        root = self.turn.root
        kept = (relative_path(path, root) for path in paths if not is_scratch(path, root))
        return tuple(dict.fromkeys(kept))

    @cached_property
    def modified(self) -> tuple[str, ...]:
        return tuple(patch.path for patch in self.patches)

    @cached_property
    def answers(self) -> list[Answered]:
        return [
            answer for used, other in self.actions for answer in other.answers if not used.failure
        ]

    @cached_property
    def plan(self) -> str:
        """The plan that the agent proposed last."""
        plans = [other.subject for _, other in self.actions if other.kind is ToolKind.PLAN]
        return next(filter(None, reversed(plans)), "")

    @cached_property
    def open_tasks(self) -> list[str]:
        """What the agent's task list still holds at the end."""
        tasks: dict[str, Task] = {}
        for _, other in self.actions:
            if other.whole_list:
                tasks = {}
            for task in other.tasks:
                known = tasks.get(task.id)
                tasks[task.id] = task._replace(text=task.text or (known.text if known else ""))
        return [task.text for task in tasks.values() if task.text and not task.done]

    @cached_property
    def pull_requests(self) -> list[str]:
        found: dict[str, None] = {}
        for item in self.events:
            used = item.event.what
            if isinstance(used, ToolUsed) and isinstance(used.action, CommandRun):
                run = used.action
                if OPENS_PULL_REQUEST.search(run.command) and used.failure is None:
                    found |= dict.fromkeys(PULL_REQUEST.findall(run.stdout))
        return list(found)

    @cached_property
    def repaired(self) -> list[Check]:
        return [check for check in self.checks if check.repaired]

    def was_edited_after(self, run: Run) -> bool:
        return any(isinstance(step, Edit) and step.place > run.place for step in self.steps)

    @cached_property
    def failing(self) -> list[Check]:
        """What failed the last time it ran: the work is not done."""
        return [check for check in self.checks if not check.repaired]


def read_work(turn: Turn) -> list[Work]:
    """The main agent's work, then that of its sub-agents in the order in which they began."""
    own = tuple(item for item in turn.events if item.event.subagent is None)
    works = [_assemble(Work(turn, None, turn.last_message, turn.messages, own, ()))]
    by_agent: dict[Subagent, list[TurnEvent]] = {}
    for item in turn.events:
        if item.event.subagent is not None:
            by_agent.setdefault(item.event.subagent, []).append(item)
    sent = [other for _, other in works[0].actions if other.kind is ToolKind.SUBAGENT]
    for agent, events in by_agent.items():
        errand = next((each for each in sent if each.subagent_type == agent.type), None)
        if errand is not None:
            sent.remove(errand)
        ends = [e.event.what for e in events]
        last = [what.last_message for what in ends if isinstance(what, SubagentEnded)]
        task = errand.subject if errand else ""
        report = last[-1] if last else None
        # Without a report, what it wrote on its way has to do.
        said = () if report else tuple(s for who, s in turn.subagent_messages if who == agent)
        works.append(_assemble(Work(turn, agent, report, said, tuple(events), (), task=task)))
    return works


def _assemble(work: Work) -> Work:
    steps = read_steps(work.events, work.turn.root)
    before = read_steps(work.turn.before, work.turn.root) if work.agent is None else ()
    work = replace(work, steps=steps)
    root = work.turn.root
    edits = [s for s in steps if isinstance(s, Edit) and not is_scratch(s.change.path, root)]
    merged = read_patches((edit.path, edit.change) for edit in edits)
    undone = {patch.path for patch in merged if patch.undone} | _thrown_away(edits, work.runs)
    return replace(
        work,
        patches=tuple(patch for patch in merged if patch.path not in undone),
        undone=tuple(patch.path for patch in merged if patch.path in undone),
        checks=_read_checks(work.runs, [step for step in before if isinstance(step, Run)]),
    )


def _read_checks(runs: Sequence[Run], before: Sequence[Run]) -> tuple[Check, ...]:
    """Commands that failed in this turn, or before it and work now. The last run of a turn decides."""
    failed: dict[str, Check] = {}
    repaired: dict[str, Check] = {}
    for here, run in [(False, run) for run in before] + [(True, run) for run in runs]:
        command = run.command
        if command.kind == "routine" or command.script == UNKNOWN:
            continue
        if run.bad:
            known = failed.get(command.program) or repaired.pop(command.program, None)
            failed[command.program] = Check(known.first if known else run, run)
            continue
        for name, check in list(failed.items()):
            if run.good and name == command.program and not covers(run, check.last):
                del failed[name]  # a smaller part passes: nothing can be said of the rest
            elif run.good and covers(run, check.last):
                del failed[name]
                if here:
                    repaired[name] = replace(check, repaired=run)
    own = {id(run) for run in runs}
    last = runs[-1].place if runs else 0
    standing = [
        check
        for check in failed.values()
        if id(check.last) in own
        and (check.last.command.kind in STANDING or check.last.place >= last)
    ]
    return (*repaired.values(), *standing)


def covers(good: Run, red: Run) -> bool:
    """The good run looked at everything that had failed."""
    if not red.command.programs <= good.command.programs:
        return False
    if red.command.kind not in CHECKS or not good.command.scope:
        return True
    counts = red.outcome.tally
    known = counts is not None and len(counts.failing) == counts.failed > 0
    items = red.command.scope or (frozenset(counts.failing) if counts and known else frozenset())
    return bool(items) and all(
        any(is_below(item, part) or item.startswith(f"{part}::") for part in good.command.scope)
        for item in items
    )


def is_below(path: str, part: str) -> bool:
    """Whether a path is the named file or lies in the named folder."""
    name = part.removeprefix("./").rstrip("/")
    return path == name or path.endswith(f"/{name}") or path.startswith(f"{name}/")


def _thrown_away(edits: list[Edit], runs: list[Run]) -> set[str]:
    """Files whose edits git was told to discard. A stash that is popped again discards nothing."""
    gone: set[str] = set()
    stash_popped = any(
        run.command.text.startswith(("git stash pop", "git stash apply")) for run in runs
    )
    for run in runs:
        stash = run.command.program == "git stash"
        if run.command.kind != "undo" or not run.good or (stash and stash_popped):
            continue
        everything = stash or not run.command.scope or run.command.program == "git reset --hard"
        for edit in edits:
            named = everything or any(is_below(edit.path, part) for part in run.command.scope)
            again = any(e.place > run.place and e.path == edit.path for e in edits)
            if named and edit.place < run.place and not again:
                gone.add(edit.path)
    return gone
