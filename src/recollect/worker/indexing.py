"""Indexing that did not fit into a transaction: after an import, a new version, another encoder.

Small steps, so that hooks and jobs get their turn between them.
"""

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from recollect.agents.protocol import Agent
from recollect.model.captures import Unreadable
from recollect.model.events import (
    CommandRun,
    Event,
    FileChanged,
    FileRead,
    OtherTool,
    SubagentEnded,
    ToolUsed,
    TurnEnded,
)
from recollect.model.origins import origin_of
from recollect.model.search import ReadEvent, UnreadEvent
from recollect.recall.search import Searcher
from recollect.store.protocol import Store
from recollect.synthesis.trust import late
from recollect.text import clean, cut

STEP = 64  # documents at a time
EVENTS = 200
WEIGHED = 4  # a turn has to be read for each, and hooks get their turn between steps
PAUSE = 0.002  # seconds between steps
FAULT_SECONDS = 30.0
LONGEST = 4_000  # characters of an event


@dataclass(slots=True)
class Indexer:
    """`retell`: a project of which less is to be told than before."""

    store: Store
    agents: Mapping[str, Agent]
    retell: Callable[[int], None] = lambda _: None

    def run(self, go_on: Callable[[], bool] = lambda: True) -> int:
        """Until nothing waits. In how many steps."""
        return sum(1 for _ in self.steps(go_on))

    def steps(self, go_on: Callable[[], bool]) -> Iterator[None]:
        while go_on() and self.store.index_waiting(STEP):
            yield
        below: int | None = None
        while go_on() and (below := self.store.encode_waiting(STEP, below=below)) is not None:
            yield
        yield from self._events(go_on)
        while go_on() and (changed := late.weigh(self.store, self.agents, WEIGHED)) is not None:
            for project_id in changed:
                self.retell(project_id)
            yield
            yield from self._events(
                go_on
            )  # somebody may be looking at them; weighing takes minutes

    def _events(self, go_on: Callable[[], bool]) -> Iterator[None]:
        while go_on() and (unread := self.store.events_unread(EVENTS)):
            self.store.add_event_texts([self._read(each) for each in unread])
            yield

    def _read(self, unread: UnreadEvent) -> ReadEvent:
        agent = self.agents.get(unread.agent)
        if agent is None:
            return ReadEvent(unread, "")
        event = agent.parse(replace(unread.event.capture, project_dir=unread.project_dir))
        if event is None or isinstance(event, Unreadable):
            return ReadEvent(unread, "")
        origin = origin_of(event, (unread.project_dir, unread.project_root))
        return ReadEvent(unread, "" if unread.event.boring else event_text(event), origin)


class IndexingThread:
    """Indexes when it is woken, until nothing waits, and gets the search ready when somebody is about to
    ask."""

    def __init__(
        self,
        indexer: Indexer,
        searcher: Searcher,
        give_way: Callable[[], None],
        on_fault: Callable[[Exception | None], None],
    ) -> None:
        self._indexer, self._searcher, self._on_fault = indexer, searcher, on_fault
        self._give_way = give_way
        self._wake, self._stopping, self._busy, self._asked = (threading.Event() for _ in range(4))
        self._lock = threading.Lock()  # who is woken is busy, whenever that is
        self.wake()

    def wake(self) -> None:
        with self._lock:
            self._busy.set()
            self._wake.set()

    def expect_a_question(self) -> None:
        self._asked.set()
        self.wake()

    def idle(self) -> bool:
        return not self._busy.is_set()

    def stop(self) -> None:
        self._stopping.set()
        self._wake.set()

    def run(self) -> None:
        while not self._stopping.is_set():
            self._wake.wait()
            self._wake.clear()
            try:
                if self._asked.is_set():
                    self._asked.clear()
                    self._searcher.warm()
                for _ in self._indexer.steps(lambda: not self._stopping.is_set()):
                    self._stopping.wait(PAUSE)  # writers take turns
                    self._give_way()
                self._on_fault(None)
            except Exception as error:  # a full disk, most likely: a silent end would be worse
                self._on_fault(error)
                self._stopping.wait(FAULT_SECONDS)
                self._wake.set()
            with self._lock:
                if not self._wake.is_set():
                    self._busy.clear()


def event_text(event: Event) -> str:
    """What an event says, for the index: what was done, and the begin of what came of it."""
    match event.what:
        case ToolUsed(name=name, action=action, failure=failure):
            parts = [name, *_action(action), failure.error if failure else ""]
        case TurnEnded(last_message=text) | SubagentEnded(last_message=text):
            parts = [text]
        case _:
            return ""
    return cut(clean("\n".join(part for part in parts if part)).strip(), LONGEST)


def _action(action: CommandRun | FileChanged | FileRead | OtherTool) -> list[str]:
    match action:
        case CommandRun():
            said = [action.command, action.description or "", action.stderr[:400], action.stdout]
        case FileChanged():
            lines = [line for hunk in action.hunks for line in (*hunk.removed, *hunk.added)]
            said = [action.path, "\n".join(lines[:60]) or (action.after or "")]
        case FileRead():
            said = [action.path, action.content]
        case OtherTool():
            said = [action.input[:600], action.output]
    return [part[:LONGEST] for part in said]
