"""All that is known about one piece of work, gathered once, for those who write about it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from recollect.model.events import CommandRun, Subagent, SubagentEnded, ToolUsed
from recollect.model.turns import Turn, TurnEvent
from recollect.providers.reading.commands import CHECKS
from recollect.providers.reading.commits import Commit
from recollect.providers.reading.patches import Patch, merge
from recollect.providers.reading.prompts import NOTHING, Ask, read_ask
from recollect.providers.reading.steps import (
    Answer,
    Edit,
    Helper,
    Look,
    Run,
    Search,
    Step,
    read_steps,
)
from recollect.providers.reading.trials import Trial, matters, read_trials

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
    mended: tuple[Trial, ...]
    partly: tuple[Trial, ...]
    broken: tuple[Trial, ...]

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
    def unsolved(self) -> list[Trial]:
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
    trials = [trial for trial in read_trials(story.runs, before) if trial.counts(story.edits)]
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


def parts(story: Story) -> list[Story]:
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
