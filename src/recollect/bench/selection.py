"""How well memories are chosen for prompts: on the set that ships in `memory_set/`.

Four projects, two in each half, each with memories and prompts of its own. A prompt `needs` some memories, or
none; others `fit`: to tell them is right, and not to tell them is no loss.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

from recollect.bench import table
from recollect.ids import digest
from recollect.model.memories import OF_PROJECT, OF_USER, USER, Memory, Message, StoredMemory

SHIPPED = "recollect.memory_set"
TUNE, REPORT = "tune", "report"
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

    def table(self, title: str) -> table.Table:
        made = table.Table(title, ("", "value"))
        made.add("memories told", f"{self.given}")
        made.add("… that apply (precision)", _share(self.right, self.given))
        made.add("… that are needed", _share(self.needed, self.given))
        made.add("needed memories that were told (recall)", _share(self.needed, self.wanted))
        made.add("prompts that need one, told of one", _share(*self.helped))
        made.add("prompts that need none, told nothing", _share(*self.silent))
        return made


def half(name: str) -> list[Project]:
    sets = json.loads(resources.files(SHIPPED).joinpath("selection.json").read_text("utf-8"))
    return [_project(each) for each in sets if each["half"] == name]


def run(projects: Sequence[Project], chooser: Chooser) -> Run:
    return Run(
        [
            (prompt, tuple(choose(prompt)))
            for project in projects
            for choose in [chooser(project)]
            for prompt in project.prompts
        ]
    )


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


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole} ({100 * part / whole:.0f} %)" if whole else "none"
