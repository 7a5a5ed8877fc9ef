"""`recollect.Memory`: curated memories for an agent loop of one's own.

    memory = recollect.Memory()                  # of the project in this directory
    system = memory.build_system("You are …")    # the index of what is remembered
    told = memory.load_memories(messages)        # at a prompt: what bears on it
    …                                            # the loop itself
    memory.extract_memories(messages)            # after the turn: what it has taught
    memory.consolidate()                         # mostly nothing; once a day it puts things in order

Files only: no worker, no database. A model is optional, and no call fails because it did. Any number of
threads and processes may do this at once.
"""

import os
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from recollect.errors import MemoryRefused
from recollect.ids import digest
from recollect.memory.choosing import selecting
from recollect.memory.choosing.finding import Finder, Near
from recollect.memory.dream import dream_lock, dreaming, gates
from recollect.memory.dream.dreaming import Circumstances
from recollect.memory.dream.settling import Dream
from recollect.memory.extraction import applying, remembering, turns
from recollect.memory.extraction.drafts import Draft
from recollect.memory.extraction.explicit import Statement
from recollect.memory.own_agent import conversation, handing, opening, own_sessions
from recollect.memory.own_agent.opening import explained
from recollect.memory.own_agent.own_model import Ask
from recollect.memory.storage import undoing
from recollect.memory.storage.folders import Listing
from recollect.memory.storage.undoing import Undone
from recollect.memory.tool.memory_tool import MemoryTool
from recollect.model.memories import OF_PROJECT, OF_USER, Broken, Message, StoredMemory
from recollect.model.requests import Reply
from recollect.providers.protocol import Model

Messages = Sequence[Any]


class Memory:
    """What is remembered of the user and of the project in `directory`.

    - `home`: the folder that everything is kept in; None is where `recollect` itself keeps it.
    - `model`: a function `(system, user) -> text`, or a provider's model; None goes by rules and words alone.
    - `encoder`: what finds by meaning: `static`, `minilm` (needs `recollect[minilm]`) or `none`.
    - `client`: `adopt` reads the memories that Claude Code keeps itself, too.
    - `patience`: seconds that a prompt waits for the model before words decide.
    """

    def __init__(
        self,
        directory: str | os.PathLike[str] = ".",
        *,
        home: str | os.PathLike[str] | None = None,
        model: Model | Ask | None = None,
        encoder: Literal["static", "minilm", "none"] = "static",
        client: Literal["off", "adopt"] = "off",
        patience: float = 5.0,
    ) -> None:
        self._directory = Path(directory).expanduser().absolute()
        self._memories = opening.memories(self._directory, home, client)
        self._model = opening.model(model)
        self._finder = Finder(opening.encoder(encoder))
        self._patience = patience
        self._lock = threading.Lock()
        self._told: dict[tuple[str, str], int] = {}
        self._late: selecting.Late | None = None
        self._longest = 0
        self._is_noted = False
        self._looked: int | None = None

    def build_system(self, base: str = "") -> str:
        """A system prompt: `base`, the index of all memories, and how to use it. The same bytes as long as no
        memory changes."""
        return handing.system(base, self._project, self._listing())

    def load_memories(self, messages: Messages) -> str:
        """The memories that bear on the user's newest message, as a text to put before it; mostly nothing.
        At most five. None is told twice, until `forget_told` or a conversation that got shorter."""
        dialogue = _until_prompt(conversation.dialogue(messages))
        with self._lock:
            if len(messages) < self._longest:
                self._forget()
            self._longest = len(messages)
            if not dialogue:
                return ""
            told = selecting.told(self._chosen(dialogue), sum(self._told.values()))
            self._told |= {_key(each.memory): each.bytes for each in told}
        return handing.told(self._project, [each.text for each in told])

    def extract_memories(self, messages: Messages) -> list[StoredMemory]:
        """After a turn: what the user said that lasts becomes memories. Those that were added or updated.
        Nothing is taken from a turn in which the agent wrote memory files itself."""
        dialogue = conversation.dialogue(messages)
        root = self._memories.places.root
        with self._lock:
            if dialogue and not self._is_noted:
                own_sessions.note(root, self._memories.clock())
                self._is_noted = True
        folders = (root, *(each.path for each in self._memories.places.all))
        if not dialogue or conversation.wrote_memory(messages, folders, self._directory):
            return []
        found: list[Statement | Draft] = [*turns.by_rules(dialogue, self._memories.redactor)]
        found += self._drafts(dialogue)
        # Taken a second time, the same talk teaches nothing new.
        talk = digest("\0".join(each.text for each in _until_prompt(dialogue)))
        with explained(root):
            done = applying.apply(
                self._memories, found, (f"talk {talk}",), self._memories.clock, str(self._directory)
            )
        names = dict.fromkeys((*done.added, *done.updated))
        return [stored for name in names if (stored := self._memories.get(name))]

    def consolidate(self, force: bool = False, dry_run: bool = False) -> Dream:
        """A dream: duplicates, contradictions and stale facts are put in order, as one change that can be
        undone. Not before its time (`given_up` says why), unless `force`; `dry_run` only tells what it would
        do."""
        if not (force or dry_run) and (why := self._why_not()):
            return Dream(given_up=why, completed=False)
        ask = self._model.ask if self._model else None
        around = Circumstances(root=str(self._directory), ask=ask)
        try:
            with explained(self._memories.places.root):
                return dreaming.dream(self._memories, around, dry_run=dry_run)
        except MemoryRefused as error:
            if force or dry_run:
                raise
            return Dream(given_up=str(error), completed=False)

    def remember(
        self,
        text: str,
        type: str | None = None,  # noqa: A002 - it is called so in the files
        *,
        name: str | None = None,
        description: str | None = None,
        why: str = "",
        how: str = "",
        team: bool = False,
    ) -> StoredMemory:
        """Keep this. What is known already is not kept twice, and what it corrects is updated. `type`: user,
        feedback, project or reference; None goes by the wording. With a `name`, the memory of that name is
        written, or written anew. `team`: into the repository, for everybody."""
        wanted = remembering.Wanted(text, type, name, description, why, how, team)
        with explained(self._memories.places.root):
            return remembering.remember(self._memories, wanted, str(self._directory)).stored

    def all(self) -> tuple[StoredMemory, ...]:
        """Every memory that holds here, the newest first."""
        return self._listing().memories

    def broken(self) -> tuple[Broken, ...]:
        """Files that are no memories, each with what to mend."""
        return self._listing().broken

    def get(self, name: str) -> StoredMemory | None:
        """By its name; None if there is none."""
        with explained(self._memories.places.root):
            return self._memories.get(name)

    def search(self, text: str, most: int = 10) -> list[Near]:
        """The nearest memories, best first, each with its score (from 1 on it would be told unasked) and
        why."""
        found = self._finder.near(self._listing().memories, text)
        return [each for each in found if each.score > 0][:most]

    def undo(self, entry: str | None = None, *, force: bool = False) -> Undone:
        """Take back the last change of these memories, or the one with that id: every file gets the bytes it
        had. That is a change, too. `force`: even where a file was edited since."""
        with explained(self._memories.places.root):
            return undoing.undo(self._memories, entry, force=force)

    def forget_told(self) -> None:
        """After a compaction, or for a new conversation: every memory may be told again."""
        with self._lock:
            self._forget()

    def tool(self) -> MemoryTool:
        """The back end of Anthropic's memory tool, on these memories."""
        return MemoryTool(self)

    @property
    def _project(self) -> str:
        repository = self._memories.places.repository
        return repository.name if repository else self._directory.name

    def _listing(self) -> Listing:
        with explained(self._memories.places.root):
            return self._memories.all()

    def _forget(self) -> None:
        self._told, self._late, self._longest = {}, None, 0

    def _chosen(self, dialogue: tuple[Message, ...]) -> list[StoredMemory]:
        """What the model had to say about the last prompt, if it came too late, then what fits this one."""
        fresh = [each for each in self._listing().memories if _key(each) not in self._told]
        late = self._late.result() if self._late and self._late.done() else None
        model, ask = self._model, None
        if model is not None:
            request = selecting.request(selecting.catalog(fresh), dialogue)

            def ask() -> selecting.Answer:
                return model.ask(request)

        chosen = selecting.chosen(fresh, dialogue[-1].text, ask, self._patience, self._finder.near)
        self._late = chosen.late
        both = {_key(each): each for each in (*chosen.memories, *(late or ()))}
        return [each for each in both.values() if each in fresh]

    def _drafts(self, dialogue: tuple[Message, ...]) -> tuple[Draft, ...]:
        """What a model finds, if there is one and something was said that may last."""
        if self._model is None or not turns.lasts(dialogue):
            return ()
        known = [each.memory for each in self._listing().memories]
        answer = self._model.ask(turns.request(dialogue, known))
        if not isinstance(answer, Reply):
            return ()
        read = turns.read(answer.text, dialogue, self._memories.redactor)
        return read.drafts if isinstance(read, turns.Extracted) else ()

    def _why_not(self) -> str | None:
        """The cheap gates first: memories are counted only if nothing else speaks against it."""
        root, now = self._memories.places.root, self._memories.clock()
        lock = root / dream_lock.NAME
        last = dream_lock.last(lock)
        state = gates.State(
            last=last,
            looked=self._looked,
            sessions=own_sessions.since(root, last or 0),
            holder=dream_lock.holder(lock),
        )
        if why := gates.why_not(now, state):
            return why
        self._looked = now
        count = sum(each.scope in (OF_USER, OF_PROJECT) for each in self._listing().memories)
        return gates.why_not(now, replace(state, memories=count))


def _until_prompt(dialogue: tuple[Message, ...]) -> tuple[Message, ...]:
    """Without what was said after the user's newest message."""
    last = max((n for n, each in enumerate(dialogue) if each.role == "user"), default=-1)
    return dialogue[: last + 1]


def _key(stored: StoredMemory) -> tuple[str, str]:
    return stored.scope, stored.memory.name
