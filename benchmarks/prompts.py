"""What real prompts are told of earlier sessions, and whether they needed it.

    python -m benchmarks prompts PATH [--half tune|report|fresh] [--list] [--keep FOLDER]

PATH is the folder of transcripts that prompts_set/needs.txt was written for. They are imported into a
temporary home in the order of their times and processed without a model; before a session's prompts are
asked, only what had happened when it began is in the store. `--list` prints what was told and what was
missed. `--keep` keeps the stores for the next run; delete them after a change of how notes are written.
"""

import hashlib
import json
import re
import shutil
import sys
import tempfile
from argparse import ArgumentParser, Namespace
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from aforesaid import wiring
from aforesaid.agents.registry import AGENTS
from aforesaid.model.sessions import Session
from aforesaid.paths import Paths
from aforesaid.recall.inject import recall_for_prompt
from aforesaid.recall.search import Searcher
from aforesaid.repository import is_shared_branch
from aforesaid.store.store import Store
from aforesaid.text import one_line
from aforesaid.worker.indexing import index
from benchmarks.provenance import process_transcripts
from benchmarks.recall.asking import Moment
from benchmarks.recall.loading import encoder_named
from benchmarks.secrets import half_of

SET = Path(__file__).parent / "prompts_set"
AFTER, FRESH = "after", "fresh"  # asked after the last session; for fresh ones nothing was tuned
CONTINUED = "+"
LATEST = 1_769_800_000_000  # after the last of them
BUDGET = 300  # tokens, as `recall.tokens` is by default
EVERY_TURN = "*"
Branches = Mapping[str, Sequence[tuple[str, str]]]  # by session, with their times
DATABASE = "aforesaid.db"


@dataclass(frozen=True)
class Need:
    turns: frozenset[str]
    terms: tuple[str, ...]
    meaning: str


@dataclass
class Graded:
    """A prompt. `fits`: turns that are relevant beside those that it needs."""

    turn: str
    needs: list[Need] = field(default_factory=list)
    fits: set[str] = field(default_factory=set)

    @property
    def session(self) -> str:
        return re.split("[/+]", self.turn)[0]

    @property
    def place(self) -> int:
        """Of the prompt in its session; a new session begins with it if it continues another."""
        number = self.turn.partition("/")[2]
        return int(number) if number and self.session not in (AFTER, FRESH) else 1

    @property
    def moment(self) -> str:
        """The store that it is asked in."""
        if CONTINUED in self.turn:
            return self.turn
        return AFTER if self.session == FRESH else self.session

    @property
    def half(self) -> str:
        if self.session == FRESH:
            return FRESH
        if self.session != AFTER:
            return half_of(self.session)
        return ("tune", "report")[hashlib.sha256(self.turn.encode()).digest()[0] & 1]

    def is_relevant(self, turn: str) -> bool:
        needed = {each for need in self.needs for each in need.turns}
        return bool({turn, f"{turn.partition('/')[0]}/{EVERY_TURN}"} & (needed | self.fits))


@dataclass(frozen=True)
class Told:
    """`turns`: of the observations in the text."""

    prompt: Graded
    asked: str
    text: str
    turns: tuple[str, ...]

    def serves(self, need: Need) -> bool:
        return bool(need.turns & set(self.turns)) and any(term in self.text for term in need.terms)


def read_needs() -> list[Graded]:
    prompts: dict[str, Graded] = {}
    for line in (SET / "needs.txt").read_text("utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        turn, kind, *rest = line.split(maxsplit=2)
        graded = prompts.setdefault(turn, Graded(turn))
        if kind == "fits":
            graded.fits |= set(rest[0].split())
        elif kind == "need":
            turns, _, more = rest[0].partition("|")
            terms, _, meaning = more.partition(" : ")
            split = tuple(term.strip() for term in terms.split("/"))
            graded.needs.append(Need(frozenset(turns.split()), split, meaning))
    return list(prompts.values())


def read_lines(transcript: Path) -> list[str]:
    return transcript.read_text("utf-8").splitlines(keepends=True)


def begins(transcript: Path) -> str:
    return min(stamp for line in read_lines(transcript) if (stamp := stamp_of(line)))


def stamp_of(line: str) -> str:
    return field_of(line, "timestamp")


def field_of(line: str, name: str) -> str:
    try:
        return str(json.loads(line).get(name) or "")
    except ValueError:
        return ""


def import_in_steps(transcripts: Sequence[Path], graded: Sequence[Graded], folder: Path) -> None:
    """A store as it was when each session began, one for each prompt that continues a session in a new one,
    and one with all of them."""
    import_until(transcripts, [(AFTER, "9")], folder)
    with opened(folder / AFTER) as store:
        prompts = read_prompts(store)
    steps = [(begins(each), each.stem[:8]) for each in transcripts]
    for turn in (each.turn for each in graded if CONTINUED in each.turn):
        steps.append((stamp_at(prompts[turn][2]), turn))
    import_until(transcripts, [(name, until) for until, name in sorted(steps)[1:]], folder)
    (folder / "done").touch()


def import_until(
    transcripts: Sequence[Path], steps: Sequence[tuple[str, str]], folder: Path
) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        home = Path(temporary)
        place = home / ".claude/projects/all"
        place.mkdir(parents=True)
        for name, until in steps:
            for each in transcripts:
                lines = read_lines(each)
                ended = [n for n, line in enumerate(lines) if stamp_of(line) >= until]
                known = lines[: ended[0]] if ended else lines
                if any(map(stamp_of, known)):
                    (place / each.name).write_text("".join(known), "utf-8")
            process_transcripts(home)
            (folder / name).mkdir()
            for part in (home / "data").glob(f"{DATABASE}*"):
                shutil.copy(part, folder / name / part.name)
            sys.stderr.write(f"{name} ")
    sys.stderr.write("\n")


@contextmanager
def opened(folder: Path) -> Iterator[Store]:
    with tempfile.TemporaryDirectory() as temporary:
        paths = Paths.of({"AFORESAID_HOME": temporary})
        paths.make()
        for part in folder.glob(f"{DATABASE}*"):
            shutil.copy(part, Path(temporary) / part.name)
        store = wiring.open_for_writing(paths, encoder_named("static"))
        try:
            list(index(store, AGENTS))
            yield store
        finally:
            store.close()


def read_prompts(store: Store) -> dict[str, tuple[Session, str, int]]:
    """The session, the text and the time of each turn."""
    found = {}
    for session in store.sessions.recent(None, 1000):
        for prompt in store.sessions.prompts(session.id):
            for between in ("/", CONTINUED):
                turn = f"{session.ref[:8]}{between}{prompt.number}"
                found[turn] = (session, prompt.text, prompt.at)
    last = max(found.values(), key=lambda each: each[2])[0]
    for name in (AFTER, FRESH):
        lines = (SET / f"{name}.txt").read_text("utf-8").splitlines()
        for number, text in enumerate(lines, 1):
            found[f"{name}/{number}"] = (last, text, LATEST)
    return found


def ask(
    graded: Sequence[Graded],
    store: Store,
    prompts: Mapping[str, tuple[Session, str, int]],
    branches: Branches,
) -> Iterator[Told]:
    """In a store that does not have their session yet."""
    encoder, moment = encoder_named("static"), Moment()
    for each in graded:
        session, text, at = prompts[each.turn]
        moment.at = at
        known = store.projects.find_by_dir(session.project_dir)
        if known is None:
            yield Told(each, text, "", ())
            continue
        new = replace(
            session, id=-1, ref=AFTER, project_id=known, started_at=at, prompts=each.place
        )
        branch = None if each.session in (AFTER, FRESH) else branch_at(branches[each.session], at)
        searcher = Searcher(store, encoder, moment)
        told, items = recall_for_prompt(searcher, store, new, text, BUDGET, branch)
        yield Told(each, text, told, tuple(turn_of(store, item.source) for item in items))


def read_branches(transcript: Path) -> list[tuple[str, str]]:
    """When which one was checked out."""
    found = ((stamp_of(line), field_of(line, "gitBranch")) for line in read_lines(transcript))
    return sorted((stamp, branch) for stamp, branch in found if stamp and branch)


def branch_at(branches: Sequence[tuple[str, str]], at: int) -> str | None:
    known = [branch for stamp, branch in branches if stamp <= stamp_at(at)]
    return known[-1] if known and not is_shared_branch(known[-1]) else None


def stamp_at(milliseconds: int) -> str:
    at = datetime.fromtimestamp(milliseconds / 1000, UTC)
    return f"{at:%Y-%m-%dT%H:%M:%S}.{at.microsecond // 1000:03}Z"


def turn_of(store: Store, observation_id: int) -> str:
    observation = store.observations.get(observation_id)
    assert observation is not None
    session = store.sessions.get(observation.session_id)
    assert session is not None
    return f"{session.ref[:8]}/{observation.prompt_number}"


def run(folder: Path, graded: Sequence[Graded], transcripts: Sequence[Path]) -> list[Told]:
    branches = {each.stem[:8]: read_branches(each) for each in transcripts}
    by_moment = defaultdict(list)
    for each in graded:
        by_moment[each.moment].append(each)
    with opened(folder / AFTER) as store:
        prompts = read_prompts(store)
    told: list[Told] = []
    for moment, several in by_moment.items():
        with opened(folder / moment) as store:
            told += ask(several, store, prompts, branches)
    return told


def share(part: int, whole: int) -> str:
    return f"{part:3} of {whole:3}  {100 * part / max(1, whole):3.0f} %"


def report(title: str, told: Sequence[Told]) -> None:
    served = [each.serves(need) for each in told for need in each.prompt.needs]
    items = [each.prompt.is_relevant(turn) for each in told for turn in each.turns]
    idle = [each for each in told if not each.prompt.needs and not each.prompt.fits]
    quiet = sum(not each.turns for each in idle)
    sys.stdout.write(
        f"{title}: {len(told)} prompts\n  needs served     {share(sum(served), len(served))}\n"
        f"  items relevant   {share(sum(items), len(items))}\n"
        f"  silent if needed {share(quiet, len(idle))}\n"
    )


def explain(told: Sequence[Told]) -> None:
    for each in told:
        missed = [need for need in each.prompt.needs if not each.serves(need)]
        wrong = [turn for turn in each.turns if not each.prompt.is_relevant(turn)]
        if missed or wrong or each.turns:
            sys.stdout.write(f"{each.prompt.turn} {one_line(each.asked, 160)}\n")
            for need in missed:
                sys.stdout.write(f"  missed {' '.join(sorted(need.turns))}: {need.meaning}\n")
            for turn in each.turns:
                sys.stdout.write(f"  {'wrong' if turn in wrong else 'right'} {turn}\n")


def read_options() -> Namespace:
    parser = ArgumentParser(
        "prompts", description="What real prompts needed, found in what they get."
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--half", choices=("tune", "report", FRESH))
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--keep", type=Path)
    return parser.parse_args()


def main() -> None:
    options = read_options()
    needs = read_needs()
    graded = [each for each in needs if options.half in (None, each.half)]
    transcripts = sorted(options.folder.resolve().glob("*.jsonl"), key=begins)
    with tempfile.TemporaryDirectory() as temporary:
        kept = options.keep or Path(temporary)
        if not (kept / "done").exists():
            kept.mkdir(exist_ok=True)
            import_in_steps(transcripts, needs, kept)
        told = run(kept, graded, transcripts)
    if options.list:
        explain(told)
    real = [each for each in told if each.prompt.session not in (AFTER, FRESH)]
    report("real prompts", [each for each in real if CONTINUED not in each.prompt.turn])
    report("in a new session", [each for each in real if CONTINUED in each.prompt.turn])
    report("our own prompts", [each for each in told if each.prompt.session == AFTER])
    report("fresh prompts", [each for each in told if each.prompt.session == FRESH])


if __name__ == "__main__":
    main()
