"""The dream: memories are thought over and put in order, so that each thing is said once and is still true.

Locate, gather recent signals, merge, prune, rebuild the index. Rules do what they can be sure of; a model, if
there is one, is asked once, and only what is safe of its proposals is taken (safety.py). Nothing is written
before the whole plan is made and every memory can still be found by it (recall_check.py). Then all of it is
one change, which is journaled, rebuilds the index, and can be undone to the byte. Only the user's folder and
the project's are changed. A file that somebody edits meanwhile stays as it was edited.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from recollect import clock, log
from recollect.errors import MemoryRefused, NotFound
from recollect.memory.choosing.finding import Finder
from recollect.memory.dream import dream_lock, dream_rules, dream_times, recall_check, safety
from recollect.memory.dream.dream_lock import Held
from recollect.memory.dream.dream_prompt import ROOM, request
from recollect.memory.dream.plan import Plan
from recollect.memory.dream.proposals import Unusable, read_proposal
from recollect.memory.dream.settling import REASON, Dream, settle
from recollect.memory.storage import checking
from recollect.memory.storage.changes import Memories
from recollect.memory.storage.undoing import Undone, undo
from recollect.model.memories import OF_PROJECT, StoredMemory
from recollect.model.requests import Failure, Refused, Reply, Request
from recollect.paths import private_dir

__all__ = ["Circumstances", "Dream", "dream", "lock", "undo_last"]

Ask = Callable[[Request], Reply | Failure]


@dataclass(frozen=True, slots=True)
class Circumstances:
    """`root`: the project's directory. `ask`: the model, if there is one. `signals`: what was done since the
    last dream, a line each. `room`: tokens for the memories in the request. `find`: see recall_check.py; None
    for the words that memories share with a question."""

    root: str = ""
    ask: Ask | None = None
    signals: Sequence[str] = ()
    room: int = ROOM
    find: recall_check.Find | None = None


def dream(
    memories: Memories,
    around: Circumstances,
    *,
    dry_run: bool = False,
    held: Held | None = None,
) -> Dream:
    """`held`: the lock, if whoever calls has it and will say when all is done. Raises MemoryRefused while
    another one dreams. `dry_run` changes nothing, but takes the lock and asks the model nevertheless."""
    if held is None:
        with lock(memories) as mine:
            result = dream(memories, around, dry_run=dry_run, held=mine)
            if result.completed and not dry_run:
                mine.done(memories.clock())
            return result
    result = _dream(memories, around, dry_run=dry_run, held=held)
    if result.completed and not dry_run:
        dream_times.note(memories.places, memories.clock())
    return result


def lock(memories: Memories) -> Held:
    """Of all dreams. Raises MemoryRefused."""
    root = private_dir(memories.places.root)
    if held := dream_lock.acquire(root / dream_lock.NAME, memories.clock()):
        return held
    raise MemoryRefused(
        "Another dream is under way. Try again when it is done: in an hour at the latest."
    )


def undo_last(memories: Memories, *, force: bool = False) -> Undone:
    """Every file is as it was before the last dream. Raises NotFound, and Edited as `undo` does."""
    entries = memories.history.log(None, memories.folders)
    taken_back = {entry.reason.split(":")[0].removeprefix("undo ") for entry in entries}
    for entry in entries:
        if entry.reason.startswith(f"{REASON}:") and entry.id[:12] not in taken_back:
            return undo(memories, entry.id, force=force)
    raise NotFound("There is no dream to undo. See `recollect memory log`.")


def _dream(memories: Memories, around: Circumstances, *, dry_run: bool, held: Held) -> Dream:
    plan = _locate(memories)
    dream_rules.date(plan)
    dream_rules.merge_duplicates(plan)
    unanswered, again = _consult(plan, around)
    dream_rules.mend_links(plan, memories)
    dream_rules.mark_stale(plan, around.root, f"{clock.local(memories.clock()):%Y-%m-%d}")
    dream_rules.stamp(plan, memories.clock())
    result = settle(plan, memories, around.find or by(Finder()), dry_run=dry_run, held=held)
    log.action(
        "memory.dreamed",
        memories=len(plan.read),
        operations=len(result.operations),
        refused=len(result.refused),
        given_up=result.given_up is not None,
    )
    return replace(result, unanswered=unanswered, completed=result.completed and not again)


def _locate(memories: Memories) -> Plan:
    """Ours alone: the team's and the client's are somebody else's to put in order."""
    listing = memories.all()
    return Plan({each.memory.name: each for each in listing.memories if each.is_ours})


def _consult(plan: Plan, around: Circumstances) -> tuple[str | None, bool]:
    """Why there is nothing to judge, and whether it is worth another try soon."""
    if around.ask is None:
        return None, False
    fresh = {
        name: str(checking.of(stored.memory, around.root))
        for name, stored in plan.stored.items()
        if around.root and stored.scope == OF_PROJECT
    }
    asked = request(list(plan.standing.values()), around.signals, fresh, around.room)
    if len(asked.shown) < 2:
        return None, False
    match around.ask(asked.request):
        case Reply(text=text):
            proposal = read_proposal(text, asked.shown)
            if isinstance(proposal, Unusable):
                return proposal.why, False
            safety.judge(plan, proposal)
            return None, False
        case Refused(why=why):
            return why, False
        case failure:
            return failure.why, True


def by(finder: Finder) -> recall_check.Find:
    """A way to find memories for the questions that must not get worse."""

    def find(memories: Sequence[StoredMemory], text: str) -> list[StoredMemory]:
        return [near.memory for near in finder.near(memories, text)]

    return find
