"""How much of what is injected at a prompt is relevant: precision first, since noise costs trust.

Who chooses is given: a function of the prompt, its project and the time, which returns the numbers of the
observations that it would hand over.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from aforesaid.model.search import OBSERVATION
from aforesaid.recall.search import Searcher
from benchmarks import table
from benchmarks.recall.asking import Moment
from benchmarks.recall.loading import Loaded, Show, encoder_named, loaded
from benchmarks.recall.sets import DataSet, Prompt

Choose = Callable[[Prompt, int], list[int]]  # a prompt and its project → observations
Chooser = Callable[[Loaded, Searcher, Moment], Choose]


@dataclass(frozen=True, slots=True)
class Told:
    prompt: Prompt
    names: tuple[str, ...]

    @property
    def right(self) -> int:
        return len(set(self.names) & set(self.prompt.relevant))


@dataclass(slots=True)
class Run:
    told: list[Told] = field(default_factory=list)

    def table(self, title: str) -> table.Table:
        given = sum(len(each.names) for each in self.told)
        right = sum(each.right for each in self.told)
        needed = [each for each in self.told if each.prompt.relevant]
        idle = [each for each in self.told if not each.prompt.relevant]
        spoken = [each for each in self.told if each.names]
        made = table.Table(title, ("", "value", "aim"))
        made.add("prompts", f"{len(self.told)}", "")
        made.add("items injected", f"{given}", "")
        made.add("… that are relevant (precision)", table.share(right, given), ">= 90 %")
        made.add("prompts with an injection", table.share(len(spoken), len(self.told)), "")
        helped = sum(each.right > 0 for each in needed)
        made.add("prompts that needed a note and got it", table.share(helped, len(needed)), "")
        quiet = sum(not each.names for each in idle)
        made.add("prompts that needed none and got none", table.share(quiet, len(idle)), "")
        return made


def run(data: DataSet, encoder: str, chooser: Chooser, show: Show) -> Run:
    chosen = encoder_named(encoder)
    made = Run()
    total = sum(len(memory.prompts) for memory in data.memories)
    for memory in data.memories:
        if not memory.prompts:
            continue
        with loaded(memory, chosen) as known:
            moment = Moment()
            searcher = Searcher(known.store, chosen, moment)
            choose = chooser(known, searcher, moment)
            for prompt in memory.prompts:
                moment.at = prompt.at
                ids = choose(prompt, known.projects[prompt.project])
                made.told.append(Told(prompt, tuple(known.names[OBSERVATION, key] for key in ids)))
                show(len(made.told), total)
    return made
