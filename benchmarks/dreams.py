"""Which pairs of memories a dream without a model finds, and what it merges wrongly.

    python -m benchmarks dreams [--half tune|report] [--list]

The memories of memory_set/dreams.txt are put into folders, each of which a dream can read as a whole, the
first of each pair some days before the second, and dreamed about once.
"""

import sys
import tempfile
from argparse import ArgumentParser
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from aforesaid.clock import DAY
from aforesaid.memory.changes import Memories
from aforesaid.memory.dream.run import DreamContext, DreamResult, run_dream
from aforesaid.memory.folders import Folder, Places
from aforesaid.model.memories import OF_PROJECT, OF_USER, PROJECT, USER, Memory
from benchmarks.prompts import share

SET = Path(__file__).parent / "memory_set/dreams.txt"
SAME, NEWER, APART, ALONE = "same", "newer", "apart", "alone"
NOW = 1_790_000_000_000
IN_ONE_FOLDER = 90  # with pairs, fewer than the 200 files that are read


@dataclass(frozen=True)
class Planted:
    """One memory, or a pair of them, the older first."""

    name: str
    kind: str
    half: str
    texts: tuple[str, ...]

    def memories(self) -> Iterator[Memory]:
        for number, text in enumerate(self.texts):
            at = NOW - (40 - 10 * number) * DAY
            kind = USER if "the user" in text.lower() else PROJECT
            yield Memory(f"{self.name}-{number + 1}", text, kind, text, created=at, updated=at)

    def is_found(self, gone: frozenset[str]) -> bool:
        older, newer = f"{self.name}-1", f"{self.name}-2"
        if self.kind == SAME:
            return (older in gone) != (newer in gone)
        return self.kind == NEWER and older in gone and newer not in gone

    def wrongly_gone(self, gone: frozenset[str]) -> list[str]:
        if self.is_found(gone):
            return []
        return [name for n in range(len(self.texts)) if (name := f"{self.name}-{n + 1}") in gone]


def read_planted() -> list[Planted]:
    found: list[Planted] = []
    seen = Counter[str]()
    for line in SET.read_text("utf-8").splitlines():
        kind, _, text = line.partition(" ")
        if kind in (SAME, NEWER, APART, ALONE):
            half = ("tune", "report")[seen[kind] % 2]
            seen[kind] += 1
            found.append(Planted(f"{kind}-{seen[kind]}", kind, half, tuple(text.split(" || "))))
    return found


def dream(planted: Sequence[Planted]) -> tuple[DreamResult, frozenset[str]]:
    """What it did, and the names of the memories that are gone."""
    with tempfile.TemporaryDirectory(prefix="aforesaid-bench-") as folder:
        root = Path(folder)
        places = Places(
            root, Folder(root / "user", OF_USER), Folder(root / "projects/it", OF_PROJECT)
        )
        memories = Memories(places, lambda: NOW)
        with memories.change("planted") as change:
            for memory in (memory for each in planted for memory in each.memories()):
                change.write(memory)
        before = {each.memory.name for each in memories.all().memories}
        result = run_dream(memories, DreamContext())
        return result, frozenset(before - {each.memory.name for each in memories.all().memories})


def report(half: str, planted: Sequence[Planted], *, listed: bool) -> None:
    folders = [planted[at : at + IN_ONE_FOLDER] for at in range(0, len(planted), IN_ONE_FOLDER)]
    dreams = [dream(each) for each in folders]
    gone = frozenset(name for _, names in dreams for name in names)
    found = defaultdict(list)
    for each in planted:
        found[each.kind].append(each.is_found(gone))
        if listed and each.kind in (SAME, NEWER) and not each.is_found(gone):
            sys.stdout.write(f"missed {each.name}: {' || '.join(each.texts)}\n")
    wrong = [name for each in planted for name in each.wrongly_gone(gone)]
    if listed:
        sys.stdout.write("".join(f"wrong {name}\n" for name in wrong))
        lines = [line for result, _ in dreams for line in result.lines]
        sys.stdout.write("".join(f"{line}\n" for line in lines))
    pairs = found[SAME] + found[NEWER]
    sys.stdout.write(
        f"{half}: {sum(len(each.texts) for each in planted)} memories\n"
        f"  pairs found    {share(sum(pairs), len(pairs))}\n"
        f"    paraphrases  {share(sum(found[SAME]), len(found[SAME]))}\n"
        f"    newer values {share(sum(found[NEWER]), len(found[NEWER]))}\n"
        f"  wrongly gone   {len(wrong):3}\n"
    )
    for result, _ in dreams:
        if result.given_up:
            sys.stdout.write(f"  given up: {result.given_up}\n")


def main() -> None:
    parser = ArgumentParser("dreams", description="Planted pairs of memories, merged or retired.")
    parser.add_argument("--half", choices=("tune", "report"))
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    for half in (options.half,) if options.half else ("tune", "report"):
        chosen = [each for each in read_planted() if each.half == half]
        report(half, chosen, listed=options.list)


if __name__ == "__main__":
    main()
