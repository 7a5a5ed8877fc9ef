"""Answers for hooks, and the copies on disk for when there is no worker to answer."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from recollect import log
from recollect.agents.protocol import Agent
from recollect.clock import Clock
from recollect.hook.capture import brief_name
from recollect.model.captures import Capture, Unreadable, parse_capture
from recollect.model.events import Event, PromptSubmitted, SessionStarted
from recollect.model.sessions import Session
from recollect.paths import Paths, write_private
from recollect.recall import brief, prompt
from recollect.settings import Settings
from recollect.store.protocol import Store
from recollect.worker.projects import ProjectFinder

SOON_TRIES, SOON_PAUSE = 10, 0.02  # together less than the hook's deadline for a prompt
SILENT_SOURCES = ("resume", "fork")  # the conversation holds its brief already


@dataclass(slots=True)
class Briefs:
    paths: Paths
    store: Store
    agents: Mapping[str, Agent]
    finder: ProjectFinder
    settings: Settings
    clock: Clock
    problem: Callable[[], str | None]

    def answer(self, request: bytes) -> bytes:
        """What the hook prints for this capture."""
        capture = parse_capture("asked", request, self.clock())
        if isinstance(capture, Unreadable) or capture.agent not in self.agents:
            return b""
        agent = self.agents[capture.agent]
        event = agent.parse(capture)
        if isinstance(event, Unreadable) or event is None:
            return b""
        match event.what:
            case SessionStarted(source=source) if source not in SILENT_SOURCES:
                return self._session_start(agent, capture, event, source)
            case PromptSubmitted(by_machine=False, text=text):
                return self._prompt(agent, event, text)
            case _:
                return b""

    def prepare(self, project_id: int) -> None:
        """A copy per directory of the project, in the form that the hook prints unread."""
        text = brief.write(self.store, project_id, self.settings.number("brief.tokens"))
        for directory in self.store.dirs_of_project(project_id):
            for agent in self.agents.values():
                reply = agent.reply("context", text)
                head = directory.encode("utf-8", "surrogateescape") + b"\0\n"
                write_private(self.paths.briefs / brief_name(directory), head + reply)
        log.action("brief.prepared", project=project_id, size=len(text))

    def drop(self, directory: str) -> None:
        (self.paths.briefs / brief_name(directory)).unlink(missing_ok=True)

    def prepare_missing(self, project_ids: frozenset[int]) -> None:
        for project_id in project_ids:
            dirs = self.store.dirs_of_project(project_id)
            if any(not (self.paths.briefs / brief_name(d)).exists() for d in dirs):
                self.prepare(project_id)

    def _session_start(self, agent: Agent, capture: Capture, event: Event, source: str) -> bytes:
        project_id = self.finder.of(capture.project_dir or event.cwd)
        current = self.store.session_by_ref(event.agent, event.session)
        text = brief.write(
            self.store,
            project_id,
            self.settings.number("brief.tokens"),
            resuming=current if source == "compact" else None,
        )
        log.action("brief.answered", source=source, project=project_id, size=len(text))
        return agent.reply("context", text, note=self.problem())

    def _session_soon(self, event: Event) -> Session | None:
        """The question may overtake the capture that creates its session; the hook waits for a while."""
        for _ in range(SOON_TRIES):
            if found := self.store.session_by_ref(event.agent, event.session):
                return found
            time.sleep(SOON_PAUSE)
        return None

    def _prompt(self, agent: Agent, event: Event, text: str) -> bytes:
        session = self._session_soon(event)
        budget = self.settings.number("recall.tokens")
        if session is None or budget == 0:
            return b""
        context, told = prompt.recall(self.store, session, text, budget)
        if told:
            reasons = [(observation.id, reason) for observation, reason in told]
            self.store.add_injections(session.id, "new", reasons, self.clock())
            log.action("recall.answered", session=session.id, items=len(told), size=len(context))
        return agent.reply("new", context)
