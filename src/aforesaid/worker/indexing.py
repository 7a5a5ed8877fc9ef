"""Indexing that did not fit into a transaction: after an import, a new version, another encoder.

Small steps, so that hooks and jobs get their turn between them.
"""

import threading
from collections.abc import Callable, Iterator, Mapping

from aforesaid.agents.base import Agent
from aforesaid.model import events
from aforesaid.model.observations import Origin
from aforesaid.model.search import UnreadEvent
from aforesaid.store.store import Store
from aforesaid.text import clean, cut
from aforesaid.worker.context import Context, Loop

STEP = 64  # documents at a time
EVENTS = 200
PAUSE = 0.002  # seconds between steps
LONGEST = 4_000  # characters of an event


def index(
    store: Store, agents: Mapping[str, Agent], go_on: Callable[[], bool] = lambda: True
) -> Iterator[None]:
    """In steps, until nothing waits."""
    while go_on() and store.index.update(STEP):
        yield
    below: int | None = None
    while go_on() and (below := store.index.encode(STEP, below=below)) is not None:
        yield
    while go_on() and (unread := store.index.unread_events(EVENTS)):
        store.index.add_event_texts([_read(agents.get(each.agent), each) for each in unread])
        yield


def _read(agent: Agent | None, unread: UnreadEvent) -> tuple[UnreadEvent, str, Origin | None]:
    from aforesaid.provenance.tracker import origin_of

    event = agent.parse_stored(unread.event, unread.project_dir) if agent else None
    if event is None:
        return unread, "", None
    origin = origin_of(event, (unread.project_dir, unread.project_root))
    return unread, "" if unread.event.boring else event_text(event), origin


class IndexingThread(Loop):
    """Indexes until nothing waits, and gets the search ready when somebody is about to ask."""

    name = "indexing"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._asked = threading.Event()

    def expect_question(self) -> None:
        self._asked.set()
        self.wake()

    def turn(self) -> None:
        context = self.context
        if self._asked.is_set():
            self._asked.clear()
            context.searcher.warm()
        for _ in index(context.store, context.agents, lambda: not context.stopping.is_set()):
            context.stopping.wait(PAUSE)  # writers take turns
            context.priority.yield_to_hooks()


def event_text(event: events.Event) -> str:
    """What an event says, for the index: what was done, and the begin of what came of it."""
    match event.what:
        case events.ToolUsed(name=name, action=action, failure=failure):
            parts = [name, *_action(action), failure.error if failure else ""]
        case (
            events.TurnEnded(last_message=text)
            | events.SubagentEnded(last_message=text)
            | events.AgentMessage(text=text)
        ):
            parts = [text]
        case _:
            return ""
    return cut(clean("\n".join(part for part in parts if part)).strip(), LONGEST)


def _action(
    action: events.CommandRun | events.FileChanged | events.FileRead | events.OtherTool,
) -> list[str]:
    match action:
        case events.CommandRun():
            said = [action.command, action.description or "", action.stderr[:400], action.stdout]
        case events.FileChanged():
            lines = [line for hunk in action.hunks for line in (*hunk.removed, *hunk.added)]
            said = [action.path, "\n".join(lines[:60]) or (action.after or "")]
        case events.FileRead():
            said = [action.path, action.content]
        case events.OtherTool():
            said = [action.input[:600], action.output]
    return [part[:LONGEST] for part in said]
