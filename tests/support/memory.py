"""A project that things are remembered in, without any provider: tests say what was written."""

from dataclasses import dataclass, field

from aforesaid.clock import HOUR, MINUTE
from aforesaid.model.jobs import OBSERVE, Job
from aforesaid.model.observations import Author, Observation, ObservationDraft, SummaryDraft
from aforesaid.model.sessions import Session, SessionTitle
from aforesaid.store.store import Store
from tests.support.arrivals import START, Told, repository

TEST = Author("test")


@dataclass(slots=True)
class Memory:
    store: Store
    project_id: int
    at: int = START
    sessions: dict[str, Told] = field(default_factory=dict)

    @classmethod
    def of(cls, store: Store, name: str) -> "Memory":
        found = repository(name)
        return cls(store, store.projects.resolve(found, found.root, START))

    def turn(
        self,
        prompt: str,
        *drafts: ObservationDraft,
        summary: SummaryDraft | None = None,
        session: str | None = None,
        author: Author = TEST,
    ) -> Session:
        """A prompt, a tool, a stop, a minute later than the last one; then what was made of it."""
        name = session or f"{self.project_id}-{len(self.sessions)}"
        told = self.sessions.setdefault(name, Told(self.project_id, session=name))
        self.at += MINUTE
        told.at = self.at
        use = f"t{told.count}"
        self.store.events.add([told.prompt(prompt), told.tool(use), told.stop(use)], self.at)
        while job := self.store.jobs.claim("test", self.at, self.at + HOUR):
            if job.kind == OBSERVE:
                self.store.jobs.finish_observations(job, author, list(drafts), told.at, told.at)
            else:
                title = SessionTitle(prompt[:80], None)
                self.store.jobs.finish_summary(job, author, summary, told.at, told.at, title=title)
        return self.session(name)

    def work_up(self, *drafts: ObservationDraft, author: Author = TEST) -> list[Job]:
        """Everything that waits, with the same drafts for each part. The jobs, in their order."""
        done = []
        while job := self.store.jobs.claim("test", self.at, self.at + HOUR):
            done.append(job)
            if job.kind == OBSERVE:
                self.store.jobs.finish_observations(job, author, drafts, self.at, self.at)
            else:
                self.store.jobs.finish_summary(job, author, SummaryDraft("s"), self.at, self.at)
        return done

    def session(self, name: str) -> Session:
        found = self.store.sessions.find("claude-code", name)
        assert found is not None
        return found

    def newest(self) -> Observation:
        return self.store.observations.recent(self.project_id, 1)[0]
