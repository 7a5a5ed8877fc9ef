"""When a dream may run, and the dream: rules first, then at most one model request, then all changes at
once or none.

A dream costs a model request and rewrites memories, so it runs seldom: each of several conditions can prevent
it. If a memory is edited meanwhile, the dream is planned again, with the same answer.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from aforesaid import clock, locks, log
from aforesaid.clock import DAY, MINUTE, age
from aforesaid.english import count
from aforesaid.errors import Edited, MemoryRefused, NotFound
from aforesaid.memory.changes import Memories, UndoResult, undo_change
from aforesaid.memory.curation import files_freshness
from aforesaid.memory.dream.plan import (
    MERGE,
    RETIRE,
    REWRITE,
    Operation,
    Plan,
    Refusal,
    describe_operations,
)
from aforesaid.memory.dream.proposal import (
    MAX_PROMPT_TOKENS,
    Proposal,
    apply_proposal,
    build_dream_request,
    read_proposal,
)
from aforesaid.memory.dream.rules import (
    fix_dates,
    fix_links,
    mark_stale,
    merge_duplicates,
    retire_replaced,
    set_updated,
)
from aforesaid.memory.files import write_file
from aforesaid.memory.folders import Places
from aforesaid.memory.history import Files, unified_diff
from aforesaid.memory.replies import Unusable
from aforesaid.model.memories import OF_PROJECT, StoredMemory
from aforesaid.model.requests import Failure, Refused, Reply, Request, StoredReply
from aforesaid.paths import private_dir

INTERVAL = DAY  # between two dreams
THROTTLE = 10 * MINUTE  # between two checks, as a check reads the disk
MIN_SESSIONS = 5  # since the last dream
MIN_MEMORIES = 10
DREAM_LOCK_FILE = ".dream"
DREAM_TIMES_FOLDER = ".dreams"  # per project, by their modification times
CHANGE_REASON = "dream"
WRITE_ATTEMPTS = 3  # while somebody edits

Ask = Callable[[Request], Reply | StoredReply | Failure]


def closed_gate(
    now: int,
    *,
    last: int | None = None,
    checked: int | None = None,
    sessions: int | None = None,
    memories: int | None = None,
) -> str | None:
    """The reason why no dream may run now, or None. `last`: the last completed dream; `checked`: the last
    check; `sessions` since the last dream; `memories`. What is None is not judged. The lock is the last
    gate."""
    if last is not None and now - last < INTERVAL:
        return f"the last dream was {age(last, now=now)} ago, and a day must pass between dreams"
    if checked is not None and 0 <= now - checked < THROTTLE:
        return (
            f"it was checked {age(checked, now=now)} ago, and {THROTTLE // MINUTE} min must pass "
            "between checks"
        )
    if sessions is not None and sessions < MIN_SESSIONS:
        return f"{count(sessions, 'session')} since the last dream, and {MIN_SESSIONS} are needed"
    if memories is not None and memories < MIN_MEMORIES:
        return f"{count(memories, 'memory')}, and {MIN_MEMORIES} are needed"
    return None


@contextmanager
def lock_dreams(root: Path) -> Iterator[None]:
    """One lock for all projects, as a model may be asked for minutes. Raises MemoryRefused while another
    process dreams."""
    descriptor = locks.acquire(private_dir(root) / DREAM_LOCK_FILE, timeout=0)
    if descriptor is None:
        raise MemoryRefused("Another dream is running. Try again when it has finished.")
    try:
        yield
    finally:
        os.close(descriptor)


def last_dream_at(places: Places, now: int) -> int | None:
    """When the last dream of the project was completed. A time in the future was written under a wrong
    clock: it must not prevent dreams for years."""
    with suppress(OSError):
        at = _time_file(places).stat(follow_symlinks=False).st_mtime_ns // 1_000_000
        return at if at <= now else None
    return None


def record_dream(places: Places, now: int) -> None:
    write_file(_time_file(places), b"")
    os.utime(_time_file(places), ns=(now * 1_000_000, now * 1_000_000))


def _time_file(places: Places) -> Path:
    return places.root / DREAM_TIMES_FOLDER / places.project.path.name


@dataclass(frozen=True, slots=True)
class DreamContext:
    """`root`: the project's directory. `ask`: the model, if any. `signals`: what was done since the last
    dream, a line each. `room`: tokens for the memories in the request."""

    root: str = ""
    ask: Ask | None = None
    signals: Sequence[str] = ()
    room: int = MAX_PROMPT_TOKENS


@dataclass(frozen=True, slots=True)
class DreamResult:
    """What a dream did, or would do. `files`: by path below the memory folder, the content before and
    after. `given_up`: why nothing was changed though something was planned. `unanswered`:
    why the model's answer was not used. `noticed`: what the user may want to fix. `entry`: in the history."""

    operations: tuple[Operation, ...] = ()
    refused: tuple[Refusal, ...] = ()
    files: Files = field(default_factory=dict)
    given_up: str | None = None
    unanswered: str | None = None
    noticed: tuple[str, ...] = ()
    entry: str | None = None
    completed: bool = True

    @property
    def diff(self) -> str:
        """Of the files, as git shows it."""
        return unified_diff(self.files)

    @property
    def lines(self) -> list[str]:
        """What it did, refused and noticed."""
        refused = [f"refused: {each.what}: {each.why}" for each in self.refused]
        return [*describe_operations(self.operations), *refused, *self.noticed]


def run_dream(memories: Memories, around: DreamContext, *, dry_run: bool = False) -> DreamResult:
    """Raises MemoryRefused while another dream runs. `dry_run` changes nothing, but takes the
    lock and asks the model."""
    with lock_dreams(memories.places.root):
        result = _dream(memories, around, dry_run=dry_run)
        if result.completed and not dry_run:
            record_dream(memories.places, memories.clock())
        return result


def _dream(memories: Memories, around: DreamContext, *, dry_run: bool) -> DreamResult:
    answer: _Answer | None = None
    result = DreamResult(given_up="memories were edited again and again", completed=False)
    for _ in range(WRITE_ATTEMPTS):
        # The team's memories and the client's are not ours to change.
        ours = {each.memory.name: each for each in memories.all().memories if each.is_ours}
        retired = (each.memory for each in memories.retired().memories)
        plan = Plan(ours, {each.name: each.replaced_by for each in retired})
        fix_dates(plan)
        merge_duplicates(plan)
        retire_replaced(plan)
        answer = answer or _ask_model(plan, around)
        apply_proposal(plan, answer.of_unchanged(plan))
        fix_links(plan)
        mark_stale(plan, around.root, f"{clock.local(memories.clock()):%Y-%m-%d}")
        set_updated(plan, memories.clock())
        dropped = [Refusal(str(one), "the whole dream was given up") for one in plan.operations]
        result = replace(result, refused=(*plan.refused, *dropped))
        try:
            result = _apply_plan(plan, memories, dry_run=dry_run)
        except Edited:
            continue
        except MemoryRefused as refused:
            result = replace(result, given_up=str(refused))
        break
    assert answer is not None
    counts = {"operations": len(result.operations), "refused": len(result.refused)}
    given_up = result.given_up is not None
    log.action("memory.dreamed", memories=len(plan.read), **counts, given_up=given_up)
    completed = result.completed and not answer.retry
    return replace(result, unanswered=answer.unanswered, completed=completed)


def undo_last_dream(memories: Memories, *, force: bool = False) -> UndoResult:
    """Restores every file as it was before the last dream. Raises NotFound, and Edited as `undo` does."""
    entries = memories.history.log(None, memories.folders)
    undone = {entry.reason.split(":")[0].removeprefix("undo ") for entry in entries}
    for entry in entries:
        if entry.reason.startswith(f"{CHANGE_REASON}:") and entry.id[:12] not in undone:
            return undo_change(memories, entry.id, force=force)
    raise NotFound("There is no dream to undo. See `aforesaid memory log`.")


class _Answer(NamedTuple):
    """What the model proposed for the memories in `read`. `unanswered`: why nothing. `retry`: soon."""

    read: Mapping[str, StoredMemory]
    proposal: Proposal = Proposal()
    unanswered: str | None = None
    retry: bool = False

    def of_unchanged(self, plan: Plan) -> Proposal:
        """Without the operations on memories that were edited since."""
        same = {n for n in plan.standing if n in self.read and self.read[n] == plan.read[n]}
        kept = tuple(one for one in self.proposal.operations if one.touched <= same)
        edited = (
            Refusal(str(one), "a file was edited meanwhile")
            for one in self.proposal.operations
            if one not in kept
        )
        return Proposal(kept, (*self.proposal.ignored, *edited))


def _ask_model(plan: Plan, around: DreamContext) -> _Answer:
    if around.ask is None:
        return _Answer(plan.read)
    stale = {
        name: str(files_freshness(stored.memory, around.root))
        for name, stored in plan.stored.items()
        if around.root and stored.scope == OF_PROJECT
    }
    asked = build_dream_request(list(plan.standing.values()), around.signals, stale, around.room)
    if len(asked.names) < 2:
        return _Answer(plan.read)
    answer = around.ask(asked.request)
    if not isinstance(answer, Reply | StoredReply):
        return _Answer(plan.read, unanswered=answer.why, retry=not isinstance(answer, Refused))
    proposal = read_proposal(answer.text, asked.names)
    if isinstance(proposal, Unusable):
        return _Answer(plan.read, unanswered=proposal.why)
    return _Answer(plan.read, proposal)


def _apply_plan(plan: Plan, memories: Memories, *, dry_run: bool) -> DreamResult:
    """Raises Edited if a memory that takes part, also as a replacement, was changed since it was read."""
    message, preview = _change_message(plan), dry_run or not plan.operations
    with memories.trial() if preview else memories.change(message) as change:
        for name in {name for one in plan.operations for name in one.touched}:
            now = change.get(name, plan.read[name].scope)
            if now is None or now.checksum != plan.read[name].checksum:
                raise Edited
        for name, memory in plan.changed.items():
            change.write(memory, plan.read[name].checksum)
        for name, gone in plan.gone.items():
            change.retire(name, gone.why, plan.successor(name), plan.read[name].checksum)
    paths = {stored.path for stored in plan.read.values()}
    files = {
        each.path.relative_to(memories.places.root).as_posix(): (each.before, each.after)
        for each in change.changed_files()
        if each.path in paths
    }
    return DreamResult(
        operations=tuple(plan.operations),
        refused=tuple(plan.refused),
        files=files,
        noticed=tuple(plan.noticed),
        entry=change.entry,
    )


def _change_message(plan: Plan) -> str:
    merged = sum(len(one.names) for one in plan.operations if one.kind == MERGE)
    retired = sum(one.kind == RETIRE for one in plan.operations)
    rewritten = len({one.names[0] for one in plan.operations if one.kind == REWRITE})
    head = f"{CHANGE_REASON}: {merged} merged, {retired} retired, {rewritten} rewritten"
    return "\n".join([head, "", *describe_operations(plan.operations)])
