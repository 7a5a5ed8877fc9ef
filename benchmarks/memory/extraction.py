"""How much of what should be remembered is, and how much that should not be: by rules, and by a model.

Each dialogue is gone through turn by turn as the worker does, in a folder of its own that is thrown away.
"""

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from aforesaid.memory.changes import Memories
from aforesaid.memory.extraction.by_model import (
    Dropped,
    build_extraction_request,
    may_teach,
    parse_extraction,
)
from aforesaid.memory.extraction.extract import apply_statements
from aforesaid.memory.extraction.rules import Statement, statements_by_rules
from aforesaid.memory.folders import Folder, Places
from aforesaid.memory.replies import Unusable
from aforesaid.model.memories import OF_PROJECT, OF_USER, Memory, Message
from aforesaid.model.requests import Reply
from aforesaid.providers.base import Model
from aforesaid.text import one_line
from benchmarks import table
from benchmarks.memory import dialogues
from benchmarks.memory.asked import Asked
from benchmarks.memory.dialogues import Dialogue, Expected
from benchmarks.recall.loading import Show, unseen

NOW = 1_790_000_000_000
SHOWN = 160  # characters


@dataclass(slots=True)
class Outcome:
    """Of one dialogue. `found`: each expected memory with what was written of it; `wrong`: what should not
    have been written; `changed`: memories that were updated and should not have been."""

    dialogue: Dialogue
    found: list[tuple[Expected, Memory | None]] = field(default_factory=list)
    wrong: list[Memory] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    dropped: list[Dropped] = field(default_factory=list)
    replies: list[str] = field(default_factory=list)

    @property
    def written(self) -> int:
        return sum(memory is not None for _, memory in self.found) + len(self.wrong)


def run(
    model: Model | None,
    talks: Sequence[Dialogue],
    show: Show = unseen,
    *,
    rules: bool = True,
) -> tuple[list[Outcome], Asked]:
    """`rules`: whether rules take what is said in so many words beside the model, as the product does."""
    asked = Asked()
    outcomes = []
    for number, talk in enumerate(talks, 1):
        outcomes.append(_outcome(talk, model, asked, rules=rules))
        asked.insist()
        show(number, len(talks))
    return outcomes, asked


def _outcome(talk: Dialogue, model: Model | None, asked: Asked, *, rules: bool) -> Outcome:
    outcome = Outcome(talk)
    with tempfile.TemporaryDirectory(prefix="aforesaid-bench-") as folder:
        root = Path(folder)
        places = Places(
            root, Folder(root / "user", OF_USER), Folder(root / "projects/it", OF_PROJECT)
        )
        memories = Memories(places, lambda: NOW)
        with memories.change("known") as change:
            for memory in talk.existing:
                change.write(memory)
        for number, messages in enumerate(talk.turns()):
            taken = statements_by_rules(messages) if rules or not model else []
            if model and may_teach(messages):
                known = [each.memory for each in memories.all().memories]
                taken += _asked(model, messages, known, asked, outcome)
            apply_statements(memories, taken, (f"event {number}",), lambda: NOW)
        _judge(outcome, {each.memory.name: each.memory for each in memories.all().memories})
    return outcome


def _asked(
    model: Model,
    messages: Sequence[Message],
    known: Sequence[Memory],
    asked: Asked,
    outcome: Outcome,
) -> Sequence[Statement]:
    answer = asked.ask(model, build_extraction_request(messages, known))
    if not isinstance(answer, Reply):
        return ()
    outcome.replies.append(answer.text)
    read = parse_extraction(answer.text, messages)
    if isinstance(read, Unusable):
        asked.unreadable += 1
        return ()
    outcome.dropped += [each for each in read if isinstance(each, Dropped)]
    return [each for each in read if isinstance(each, Statement)]


def _judge(outcome: Outcome, after: dict[str, Memory]) -> None:
    talk = outcome.dialogue
    before = {memory.name: memory for memory in talk.existing}
    new = [memory for name, memory in after.items() if name not in before]
    kept = {name: memory.body.strip() for name, memory in after.items()}
    changed = {name for name, memory in before.items() if kept.get(name) != memory.body.strip()}
    for expected in talk.expected:
        hit = next((memory for memory in new if expected.fits(memory)), None)
        if hit:
            new.remove(hit)
            changed -= set(hit.replaces) & {expected.updates}
        outcome.found.append((expected, hit))
    found = [expected.words for expected, memory in outcome.found if memory]
    outcome.wrong = [memory for memory in new if not _allowed(memory, talk, found)]
    outcome.changed = sorted(changed)


def _allowed(memory: Memory, talk: Dialogue, found: Sequence[tuple[str, ...]]) -> bool:
    """What may be kept; or says again, in other words, what was rightly kept."""
    return any(dialogues.has_words(memory, words) for words in (*talk.allowed, *found))


def tabled(title: str, outcomes: Sequence[Outcome], asked: Asked) -> table.Table:
    found = [pair for each in outcomes for pair in each.found]
    explicit = [memory for expected, memory in found if expected.explicit]
    implicit = [memory for expected, memory in found if not expected.explicit]
    right = sum(memory is not None for _, memory in found)
    wrong = sum(len(each.wrong) for each in outcomes)
    updates = [(e, m) for e, m in found if e.updates]
    typed = sum(memory.type in expected.types for expected, memory in found if memory)
    idle = [each for each in outcomes if not each.dialogue.expected]
    made = table.Table(title, ("", "value", "aim"))
    made.add("dialogues", f"{len(outcomes)}", "")
    made.add("… with something to keep", f"{len(outcomes) - len(idle)}", "")
    made.add("false memories", f"{wrong}", "0 by rules")
    made.add("precision", table.share(right, right + wrong), "")
    made.add(
        "said in so many words, remembered", table.share(_hits(explicit), len(explicit)), ">= 50 %"
    )
    made.add("said otherwise, remembered", table.share(_hits(implicit), len(implicit)), "")
    made.add("recall", table.share(right, len(found)), "")
    made.add("of the right type", table.share(typed, right), "")
    corrections = sum(m is not None and e.updates in m.replaces for e, m in updates)
    made.add("corrections that found their memory", table.share(corrections, len(updates)), "")
    made.add("memories changed wrongly", f"{sum(len(each.changed) for each in outcomes)}", "0")
    quiet = sum(not each.written for each in idle)
    made.add("dialogues with nothing to keep, left alone", table.share(quiet, len(idle)), "")
    if asked.requests:
        dropped = sum(len(each.dropped) for each in outcomes)
        made.add("proposals refused by code", f"{dropped}", "")
        asked.add_to(made, "memory that is right", right)
    return made


def explained(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Every dialogue in which something was missed, made up, changed wrongly or refused."""
    for outcome in outcomes:
        if lines := list(_faults(outcome)):
            talk = outcome.dialogue
            yield f"{talk.id} [{talk.about}]"
            for message in talk.messages:
                yield f"  {message.role}: {one_line(message.text, SHOWN)}"
            yield from lines
            yield ""


def _faults(outcome: Outcome) -> Iterator[str]:
    for expected, memory in outcome.found:
        if memory is None:
            how = "explicit" if expected.explicit else "said otherwise"
            yield f"  missed ({how}): {', '.join(expected.words)}"
        elif memory.type not in expected.types:
            yield f"  {memory.type}, not {' or '.join(expected.types)}: {memory.name}"
    for memory in outcome.wrong:
        yield f"  false: [{memory.type}] {memory.name}: {one_line(memory.body, SHOWN)}"
    for name in outcome.changed:
        yield f"  changed wrongly: {name}"
    for each in outcome.dropped:
        yield f"  refused, {each.why}: {one_line(each.text, SHOWN)}"


def _hits(found: Sequence[Memory | None]) -> int:
    return sum(memory is not None for memory in found)
