"""Runs the jobs that are due, one after the other. A failure is a value: retry, wait, or park."""

import random
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import assert_never

from recollect import log
from recollect.agents.protocol import Agent
from recollect.clock import SECOND, Clock
from recollect.errors import StoreError
from recollect.model.jobs import (
    MAX_TRIES,
    SUMMARIZE,
    Done,
    Fenced,
    Job,
    Outcome,
    Postponed,
    Retry,
)
from recollect.model.requests import Away
from recollect.model.sessions import Session
from recollect.providers.protocol import Model
from recollect.store.protocol import Store
from recollect.synthesis import synthesize
from recollect.wiring import Choice
from recollect.worker.extracting import Extractor
from recollect.worker.gate import Closed, Gate, GatedModel, pause

DOCTORS = "doctor-"  # sessions of the doctor's proof cost nothing
BEHIND = SECOND  # a job that found nobody comes after the others that wait
BLAMED_PAUSE = 300 * SECOND  # time for others to show that it is the model after all


def lease(seconds: float, model: Model | None) -> int:
    """Milliseconds. A reply, and others after a repair and for memories, may take their time."""
    return round((seconds + (3 * model.longest_seconds if model else 0)) * SECOND)


@dataclass(slots=True)
class JobRunner:
    store: Store
    agents: Mapping[str, Agent]
    choice: Choice
    gate: Gate
    holder: str
    lease: int
    clock: Clock
    on_done: Callable[[int], None]  # told the project whose memory has changed
    # Told the session whose turn is summarised.
    on_summary: Callable[[Session], None] = lambda _: None
    extractor: Extractor | None = None
    on_written: Callable[[Job, Session, Done], None] = lambda *_: None

    def run_due(self, go_on: Callable[[], bool]) -> int:
        """Everything that is due, while `go_on` says so. How many tries were made."""
        tries = 0
        while go_on() and not self.rests():
            now = self.clock()
            job = self.store.claim_job(self.holder, now, now + self.lease)
            if job is None:
                break
            tries += 1
            try:
                if (closed := self.gate.closed()) and job.written_by:
                    # A stand-in fills gaps; it must not replace what somebody has written.
                    self.store.postpone(job, closed.why, closed.until + BEHIND)
                    continue
                outcome = self._try(job)
                if go_on() or not isinstance(outcome, Postponed):
                    self._settle(job, outcome)
                else:
                    self.store.give_back(job)  # the request was cut off because we are to stop
            except StoreError:
                with suppress(StoreError):
                    self.store.give_back(job)
                raise
        return tries

    def rests(self) -> Closed | None:
        """Why the jobs wait, if they do. With a stand-in they never have to."""
        return None if self.choice.stands_in else self.gate.closed()

    def _try(self, job: Job) -> Outcome:
        session = self.store.session(job.session_id)
        assert session is not None, "jobs are deleted with their session"
        heard = self._heard(session)
        try:
            if job.kind == SUMMARIZE and self.extractor and not session.ref.startswith(DOCTORS):
                asking = heard.asking(self.store, self.clock, session.id, job.id)
                if absence := self.extractor.run(job, session, asking):
                    return synthesize.failed(absence)
            writer = heard.writer(self.store, job, self.clock)
            return synthesize.run(self.store, self.agents, writer, job, session, self.clock)
        except StoreError:
            raise  # a lock or a full disk says nothing about the job
        except Exception as error:
            # Whatever a provider does wrong costs a try, never the worker and never the events.
            return Retry(f"{type(error).__name__}: {error}")

    def _heard(self, session: Session) -> Choice:
        """Who writes: the model, if it may be asked now."""
        model = self.choice.model
        if model is None or session.ref.startswith(DOCTORS) or self.gate.closed():
            return replace(self.choice, model=None)
        return replace(self.choice, model=GatedModel(model, self.gate))

    def _settle(self, job: Job, outcome: Outcome) -> None:
        match outcome:
            case Done() as done:
                self.gate.done(job)
                log.action("job.done", job=job.id, kind=job.kind, session=job.session_id)
                session = self.store.session(job.session_id)
                if session is not None:
                    self.on_done(session.project_id)
                    self.on_written(job, session, done)
                    if job.kind == SUMMARIZE:
                        self.on_summary(session)
            case Postponed(absence) if isinstance(absence, Away) and self.gate.blames(job):
                self._failed(job, absence.why, BLAMED_PAUSE)
            case Postponed(absence):
                until = self.gate.shut(absence)
                if self.choice.stands_in:
                    self.store.give_back(job)  # and at once to the stand-in
                else:
                    self.store.postpone(job, absence.why, until + BEHIND)
                log.warning("model.away", job=job.id, seconds=(until - self.clock()) // SECOND)
            case Retry(why):
                self._failed(job, why, pause(job.tries, random.random()))
            case Fenced():
                log.warning("job.fenced", job=job.id, kind=job.kind, tries=job.tries)
            case _:
                assert_never(outcome)

    def _failed(self, job: Job, why: str, wait: int) -> None:
        if job.tries < MAX_TRIES:
            self.store.retry_job(job, why, self.clock() + wait)
            log.warning("job.retried", job=job.id, kind=job.kind, tries=job.tries)
        else:
            self.store.skip_job(job, why, self.clock())
            log.warning("job.skipped", job=job.id, kind=job.kind, tries=job.tries)
