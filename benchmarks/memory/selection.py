"""How well memories are chosen for prompts: on the set that ships in `memory_set/`.

Four projects, two in each half, each with memories and prompts of its own. A prompt `needs` some memories, or
none; others `fit`: to tell them is right, and not to tell them is no loss.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aforesaid.ids import digest
from aforesaid.memory.ranking import MemoryRanker
from aforesaid.memory.selection import (
    BY_WORDS,
    build_selection_request,
    render_catalog,
    select_memories,
)
from aforesaid.model.memories import OF_PROJECT, OF_USER, USER, Memory, Message, StoredMemory
from aforesaid.model.requests import Failure, Reply
from aforesaid.providers.base import Model
from aforesaid.terms import query_terms as terms_of
from aforesaid.text import one_line
from aforesaid.worker.memory import BEFORE, LEAST_TERMS
from benchmarks import table
from benchmarks.memory.asked import Asked
from benchmarks.recall.loading import Show, unseen

SHIPPED = Path(__file__).parents[1] / "memory_set"
TUNE, REPORT = "tune", "report"
SHOWN = 160  # characters
Choose = Callable[["Prompt"], Sequence[str]]  # the names of the memories that a prompt is told
Chooser = Callable[["Project"], Choose]


@dataclass(frozen=True, slots=True)
class Prompt:
    """`talk`: what was said before it, and itself."""

    id: str
    talk: tuple[Message, ...]
    needs: frozenset[str]
    fits: frozenset[str]

    @property
    def text(self) -> str:
        return self.talk[-1].text


@dataclass(frozen=True, slots=True)
class Project:
    name: str
    memories: tuple[StoredMemory, ...]
    prompts: tuple[Prompt, ...]


@dataclass(slots=True)
class Run:
    """What each prompt was told."""

    told: list[tuple[Prompt, tuple[str, ...]]] = field(default_factory=list)

    @property
    def given(self) -> int:
        return sum(len(names) for _, names in self.told)

    @property
    def needed(self) -> int:
        """Memories told that were needed."""
        return sum(len(prompt.needs & set(names)) for prompt, names in self.told)

    @property
    def right(self) -> int:
        return self.needed + sum(len(prompt.fits & set(names)) for prompt, names in self.told)

    @property
    def wanted(self) -> int:
        return sum(len(prompt.needs) for prompt, _ in self.told)

    @property
    def helped(self) -> tuple[int, int]:
        """Prompts that need something and were told some of it; all that need something."""
        needing = [(prompt, names) for prompt, names in self.told if prompt.needs]
        return sum(bool(prompt.needs & set(names)) for prompt, names in needing), len(needing)

    @property
    def silent(self) -> tuple[int, int]:
        """Prompts that need nothing and were told nothing; all that need nothing."""
        idle = [names for prompt, names in self.told if not prompt.needs]
        return sum(not names for names in idle), len(idle)

    def table(self, title: str, asked: Asked | None = None) -> table.Table:
        made = table.Table(title, ("", "value"))
        made.add("prompts", f"{len(self.told)}")
        made.add("memories injected", f"{self.given}")
        made.add("… that apply (precision)", table.share(self.right, self.given))
        made.add("… that are needed", table.share(self.needed, self.given))
        made.add(
            "needed memories that were injected (recall)", table.share(self.needed, self.wanted)
        )
        made.add("prompts that need one and got one", table.share(*self.helped))
        made.add("prompts that need none and got none", table.share(*self.silent))
        if asked is not None:
            asked.add_to(made, "needed memory injected", self.needed)
        return made

    def explained(self) -> Iterator[str]:
        """Every prompt that was told what does not apply, or nothing of what it needs."""
        for prompt, names in self.told:
            wrong = [name for name in names if name not in prompt.needs | prompt.fits]
            right = sorted(prompt.needs & set(names))
            if wrong or (prompt.needs and not right):
                yield f"{prompt.id} {one_line(prompt.text, SHOWN)}"
                missed = sorted(prompt.needs - set(names))
                for what, which in (("injected", right), ("missed", missed), ("false", wrong)):
                    if which:
                        yield f"  {what}: {', '.join(which)}"
                yield ""


def half(name: str) -> list[Project]:
    """`all` for both."""
    sets = json.loads((SHIPPED / "selection.json").read_text("utf-8"))
    return [_project(each) for each in sets if name in ("all", each["half"])]


def run(projects: Sequence[Project], chooser: Chooser, show: Show = unseen) -> Run:
    made = Run()
    total = sum(len(project.prompts) for project in projects)
    for project in projects:
        choose = chooser(project)
        for prompt in project.prompts:
            made.told.append((prompt, tuple(choose(prompt))))
            show(len(made.told), total)
    return made


def product(finder: MemoryRanker, model: Model | None, asked: Asked) -> Chooser:
    """The product's own choice, but that nobody is in a hurry: a prompt waits for the model."""

    def chooser(project: Project) -> Choose:
        def choose(prompt: Prompt) -> list[str]:
            if len(terms_of(prompt.text)) < LEAST_TERMS:
                return []
            ask = _ask(model, project, prompt, asked) if model else None
            seconds = model.longest_seconds if model else 0.0
            failed = asked.failed
            found = select_memories(project.memories, prompt.text, ask, seconds, finder.near)
            asked.insist()
            if ask and found.how == BY_WORDS and asked.failed == failed:
                asked.unreadable += 1
            return [each.memory.name for each in found.memories]

        return choose

    return chooser


def _ask(
    model: Model, project: Project, prompt: Prompt, asked: Asked
) -> Callable[[], Reply | Failure]:
    """With what the worker shows it: prompts, and not what was answered."""
    said = [each for each in prompt.talk if each.role == "user"][-BEFORE - 1 :]
    request = build_selection_request(render_catalog(project.memories), said)
    return lambda: asked.ask(model, request)


def _project(told: Mapping[str, Any]) -> Project:
    memories = (_stored(Memory(**each)) for each in told["memories"])
    return Project(told["name"], tuple(memories), tuple(map(_prompt, told["prompts"])))


def _prompt(told: Mapping[str, Any]) -> Prompt:
    before = (Message(said["role"], said["text"]) for said in told.get("before", ()))
    return Prompt(
        id=told["id"],
        talk=(*before, Message("user", told["text"])),
        needs=frozenset(told["needs"]),
        fits=frozenset(told["fits"]),
    )


def _stored(memory: Memory) -> StoredMemory:
    scope = OF_USER if memory.type == USER else OF_PROJECT
    return StoredMemory(memory, scope, Path(f"{memory.name}.md"), digest(memory.text, 32), 0)
