"""A turn as steps (edits, runs, reads, searches, answers of the user), and what became of failed commands."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import PurePosixPath

from aforesaid import text
from aforesaid.model.events import (
    SEARCH_KINDS,
    CommandRun,
    FileChanged,
    FileRead,
    OtherTool,
    Subagent,
    SubagentEnded,
    ToolKind,
    ToolUsed,
)
from aforesaid.model.observations import Turn, TurnEvent
from aforesaid.providers.extract.commands import CHECKS, STANDING, UNKNOWN, Command, read_command
from aforesaid.providers.extract.patches import Patch, merge, read_patch
from aforesaid.providers.extract.prompts import NOTHING, Ask, read_ask
from aforesaid.providers.extract.results import Commit, Outcome, read_commits, read_outcome

WHAT_LIMIT = 100
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
    """`kind` is one of `SEARCH_KINDS`; `what` its query, address or pattern."""

    place: int
    kind: ToolKind
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
            return [Edit(at, change, read_patch(change, relative_path(change.path, root)))]
        case FileRead(path=path):
            return [] if THROWN_AWAY.search(path) else [Look(at, relative_path(path, root))]
        case OtherTool() as other:
            return _other(at, used.name, other)


def _run(at: int, run: CommandRun, used: ToolUsed) -> Run:
    command = read_command(run.command)
    outcome = read_outcome(command, run, used.failure)
    made = "commit" in command.kinds and outcome.verdict in ("passed", "quiet")
    commits = read_commits(run.command, f"{run.stdout}\n{run.stderr}") if made else ()
    return Run(at, command, outcome, commits)


def _other(at: int, name: str, other: OtherTool) -> list[Step]:
    subject = text.one_line(other.subject, WHAT_LIMIT)
    if other.kind in SEARCH_KINDS:
        return [Search(at, other.kind, subject)]
    if other.kind is ToolKind.SUBAGENT:
        kind = text.one_line(other.subagent_type, 40)
        return [Helper(at, kind or "general-purpose", subject)]
    if other.kind is ToolKind.QUESTION:
        return [Answer(at, each.question, each.answer) for each in other.answers]
    return [Other(at, text.one_line(name, 60))]


def relative_path(path: str, root: str) -> str:
    """A path as people of the project say it; what lies outside keeps its full path."""
    clean = text.one_line(path, 300).replace("\\", "/")
    base = root.replace("\\", "/").rstrip("/")
    if base and clean.startswith(base + "/"):
        return clean[len(base) + 1 :]
    return str(PurePosixPath(clean)) if clean else "an unnamed file"


@dataclass(frozen=True, slots=True)
class FailedCommand:
    """One program from its first failure on.

    `end` is the run that made up for the failure; `partial` one that passed on a smaller part only.
    `earlier`: it failed first in an earlier turn.
    """

    first: Run
    last: Run
    reds: int
    earlier: bool
    end: Run | None = None
    partial: Run | None = None

    @property
    def is_check(self) -> bool:
        """A test, a build or the like; or a script that was written only to see whether it works."""
        return self.first.command.kind in CHECKS or bool(self.first.command.script)

    def counts(self, edits: Iterable[Edit]) -> bool:
        """A script in the line is a passing fancy, unless an edit lies between its red and its green."""
        if not self.first.command.script:
            return True
        end = self.end.place if self.end else -1
        return any(self.first.place < edit.place < end for edit in edits)


def read_failed_commands(runs: Iterable[Run], before: Iterable[Run]) -> tuple[FailedCommand, ...]:
    """The trials of this turn, one for each program, in order of their first failure."""
    open_trials: dict[str, FailedCommand] = {}
    for run in before:
        _follow(open_trials, run, earlier=True)
    found: dict[str, FailedCommand] = {}
    for run in runs:
        closed = _follow(open_trials, run, earlier=False)
        if closed:
            _join(found, closed)
    for trial in open_trials.values():
        if trial.last.place >= 0 or (trial.partial and trial.partial.place >= 0):
            _join(found, trial)
    return tuple(sorted(found.values(), key=lambda trial: trial.first.place))


def _join(found: dict[str, FailedCommand], later: FailedCommand) -> None:
    """A program that went red and green several times is one trial, from its first to its last."""
    name = later.first.command.program
    earlier = found.get(name)
    if earlier:
        later = replace(
            later, first=earlier.first, reds=earlier.reds + later.reds, earlier=earlier.earlier
        )
    found[name] = later


def _follow(
    open_trials: dict[str, FailedCommand], run: Run, *, earlier: bool
) -> FailedCommand | None:
    """Take one more run into account; the trial that it brings to a good end, if any."""
    command = run.command
    if command.kind == "routine" or command.script == UNKNOWN:
        return None
    if command.script and run.outcome.verdict not in ("passed", "failed"):
        return None
    # Runs of earlier turns get places below zero, so that "here" can be told from "before".
    run = replace(run, place=run.place - 1_000_000) if earlier else run
    trial = open_trials.get(command.program)
    if run.bad:
        open_trials[command.program] = (
            replace(trial, last=run, reds=trial.reds + 1)
            if trial
            else FailedCommand(run, run, 1, earlier)
        )
        return None
    for name, other in list(open_trials.items()):
        if run.good and covers(run, other.first):
            del open_trials[name]
            if not earlier:
                return replace(other, end=run)
        elif run.good and name == command.program:
            open_trials[name] = replace(other, partial=run)
    return None


def covers(good: Run, red: Run) -> bool:
    """The good run looked at everything that had failed."""
    if not red.command.programs <= good.command.programs:
        return False
    if red.command.kind not in CHECKS or not good.command.scope:
        return True
    if red.command.scope:
        return all(_within(item, good.command.scope) for item in red.command.scope)
    tally = red.outcome.tally
    known = tally is not None and len(tally.failing) == tally.failed > 0
    return (
        known
        and tally is not None
        and all(_within(name, good.command.scope) for name in tally.failing)
    )


def _within(item: str, scope: frozenset[str]) -> bool:
    return any(item.startswith(part.rstrip("/")) for part in scope)


def matters(trial: FailedCommand, last_place: int) -> bool:
    """Whether a failure is worth telling when nothing mended it: a check, or the end of the story."""
    return trial.last.command.kind in STANDING or trial.last.place >= last_place - 2


QUIET_KINDS = CHECKS | {"routine", "format", "commit", "undo"}
MOST_PARTS = 3


@dataclass(frozen=True)
class Story:
    """`patches` are the changes that lasted, `dead_ends` those that were taken back.

    `mended`, `partly` and `broken` say what became of commands that failed.
    """

    turn: Turn
    ask: Ask
    agent: Subagent | None
    message: str | None
    steps: tuple[Step, ...]
    patches: tuple[Patch, ...]
    dead_ends: tuple[Patch, ...]
    commits: tuple[Commit, ...]
    mended: tuple[FailedCommand, ...]
    partly: tuple[FailedCommand, ...]
    broken: tuple[FailedCommand, ...]

    @cached_property
    def edits(self) -> list[Edit]:
        return [step for step in self.steps if isinstance(step, Edit)]

    @cached_property
    def runs(self) -> list[Run]:
        return [step for step in self.steps if isinstance(step, Run)]

    @cached_property
    def searches(self) -> list[Search]:
        return [step for step in self.steps if isinstance(step, Search)]

    @cached_property
    def helpers(self) -> list[Helper]:
        return [step for step in self.steps if isinstance(step, Helper)]

    @cached_property
    def answers(self) -> list[Answer]:
        return [step for step in self.steps if isinstance(step, Answer)]

    @cached_property
    def read(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(step.path for step in self.steps if isinstance(step, Look)))

    @cached_property
    def modified(self) -> tuple[str, ...]:
        return tuple(patch.path for patch in self.patches)

    @cached_property
    def unused(self) -> tuple[str, ...]:
        """Files that were read and then not changed."""
        changed = {edit.patch.path for edit in self.edits}
        return tuple(path for path in self.read if path not in changed)

    @cached_property
    def unsolved(self) -> list[FailedCommand]:
        """Tests, builds and type checks that failed last time they ran: the work is not done."""
        return [trial for trial in self.broken if trial.last.command.kind in CHECKS - {"lint"}]

    @cached_property
    def deeds(self) -> list[Run]:
        """Commands that did something and are not checks: installs, migrations, scripts, pushes."""
        return [
            run
            for run in self.runs
            if run.good and run.command.kind not in QUIET_KINDS and not self.proves(run)
        ]

    def proves(self, run: Run) -> bool:
        """A script that failed before and works now: it was run to see that."""
        return bool(run.command.script) and any(trial.end is run for trial in self.mended)


def main_story(turn: Turn) -> Story:
    events = [item for item in turn.events if item.event.subagent is None]
    return _story(turn, read_ask(turn.prompt), None, turn.last_message, events)


def helper_stories(turn: Turn) -> list[Story]:
    """One story for each sub-agent, in the order in which they began."""
    by_agent: dict[Subagent, list[TurnEvent]] = {}
    for item in turn.events:
        if item.event.subagent is not None:
            by_agent.setdefault(item.event.subagent, []).append(item)
    if not by_agent:
        return []
    sent = [
        s
        for s in read_steps((e for e in turn.events if e.event.subagent is None), turn.root)
        if isinstance(s, Helper)
    ]
    stories: list[Story] = []
    for agent, events in by_agent.items():
        errand = next((helper for helper in sent if helper.type == agent.type), None)
        if errand is not None:
            sent.remove(errand)
        said = [
            e.event.what.last_message for e in events if isinstance(e.event.what, SubagentEnded)
        ]
        ask = read_ask(errand.description) if errand else NOTHING
        stories.append(_story(turn, ask, agent, said[-1] if said else None, events))
    return stories


def _story(
    turn: Turn, ask: Ask, agent: Subagent | None, message: str | None, events: Sequence[TurnEvent]
) -> Story:
    steps = read_steps(events, turn.root)
    before = read_steps(_commands(turn.before), turn.root)
    return _assemble(
        Story(turn, ask, agent, message, steps, (), (), (), (), (), ()),
        [step for step in before if isinstance(step, Run)],
    )


def _commands(events: Iterable[TurnEvent]) -> list[TurnEvent]:
    return [
        item
        for item in events
        if isinstance(item.event.what, ToolUsed) and isinstance(item.event.what.action, CommandRun)
    ]


def _assemble(story: Story, before: list[Run]) -> Story:
    last = story.steps[-1].place if story.steps else 0
    trials = [
        trial for trial in read_failed_commands(story.runs, before) if trial.counts(story.edits)
    ]
    taken_back = _taken_back(story.edits, story.runs)
    merged = merge((edit.change, edit.patch) for edit in story.edits)
    gone = {patch.path for patch in merged if patch.undone} | taken_back
    return replace(
        story,
        patches=tuple(patch for patch in merged if patch.path not in gone),
        dead_ends=tuple(patch for patch in merged if patch.path in gone),
        commits=tuple(commit for run in story.runs for commit in run.commits),
        mended=tuple(trial for trial in trials if trial.end),
        partly=tuple(trial for trial in trials if not trial.end and trial.partial),
        broken=tuple(t for t in trials if not t.end and not t.partial and matters(t, last)),
    )


def _taken_back(edits: list[Edit], runs: list[Run]) -> set[str]:
    """Files whose edits git was told to throw away. A stash that is popped again throws nothing."""
    gone: set[str] = set()
    for run in runs:
        if run.command.kind != "undo" or not run.good:
            continue
        popped = run.command.program == "git stash" and any(
            later.command.text.startswith(("git stash pop", "git stash apply")) for later in runs
        )
        everything = not run.command.scope or run.command.program in (
            "git stash",
            "git reset --hard",
        )
        for edit in edits:
            named = everything or any(edit.patch.path.endswith(part) for part in run.command.scope)
            if named and not popped:
                later_edit = any(
                    e.place > run.place and e.patch.path == edit.patch.path for e in edits
                )
                if edit.place < run.place and not later_edit:
                    gone.add(edit.patch.path)
    return gone


def split_story(story: Story) -> list[Story]:
    """The story, or its parts when it holds commits that have nothing to do with each other."""
    cuts = [run.place for run in story.runs if run.commits]
    if len(cuts) < 2:
        return [story]
    bounds = [-1, *cuts[:-1], 10**9]
    slices = [
        tuple(step for step in story.steps if low < step.place <= high)
        for low, high in pairwise(bounds)
    ]
    touched = [{step.patch.path for step in part if isinstance(step, Edit)} for part in slices]
    if len(slices) > MOST_PARTS or not all(touched) or _related(touched):
        return [story]
    empty = replace(story, patches=(), dead_ends=(), commits=(), mended=(), partly=(), broken=())
    return [_assemble(replace(empty, steps=part), []) for part in slices]


def _related(touched: list[set[str]]) -> bool:
    """Two commits share a file, or a name such as `pricing` in pricing.py and test_pricing.py."""
    names = [{_stem(path) for path in paths} | paths for paths in touched]
    return any(a & b for at, a in enumerate(names) for b in names[at + 1 :])


def _stem(path: str) -> str:
    name = path.rsplit("/", 1)[-1].split(".", maxsplit=1)[0].lower()
    return name.removeprefix("test_").removesuffix("_test").removesuffix("_spec")
