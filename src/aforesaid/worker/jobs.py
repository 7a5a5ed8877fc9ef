"""Runs the jobs that are due, one after the other. A failure is a value: retry, postpone, or skip."""

import random
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, assert_never

from aforesaid import log
from aforesaid.clock import SECOND
from aforesaid.errors import StoreError
from aforesaid.model.jobs import (
    MAX_TRIES,
    SUMMARIZE,
    Done,
    Fenced,
    Job,
    Outcome,
    Postponed,
    Retry,
)
from aforesaid.model.requests import Unavailable
from aforesaid.wiring import RULES
from aforesaid.worker.circuit_breaker import pause
from aforesaid.worker.context import DOCTOR_PREFIX, Context, Loop

if TYPE_CHECKING:
    from aforesaid.providers.base import Model
    from aforesaid.worker.service import Service

BEHIND = SECOND  # a job that found no model comes after the others that wait
BLAMED_PAUSE = 300 * SECOND  # time for others to show that it is the model after all
LEAST_WAIT = 0.05  # seconds
HEAL_FIRST_SECONDS = 10.0  # how long jobs wait for the first look at the transcripts


def lease_milliseconds(seconds: float, model: "Model | None") -> int:
    """Long enough for a reply, and others after a repair and for memories."""
    return round((seconds + (3 * model.longest_seconds if model else 0)) * SECOND)


@dataclass(slots=True)
class JobRunner:
    """`service`: where memories are extracted and session memories written; without one neither is done."""

    context: Context
    holder: str
    lease: int
    service: "Service | None" = None

    def run_due(self, go_on: Callable[[], bool]) -> int:
        """Everything that is due, while `go_on` allows. Returns how many tries were made."""
        jobs, tries = self.context.store.jobs, 0
        while go_on() and not self.context.breaker.blocked():
            now = self.context.clock()
            job = jobs.claim(self.holder, now, now + self.lease)
            if job is None:
                break
            tries += 1
            try:
                outcome = self._try(job)
                if go_on() or not isinstance(outcome, Postponed):
                    self._settle(job, outcome)
                else:
                    jobs.give_back(job)  # the request was cut off because the worker stops
            except StoreError:
                with suppress(StoreError):
                    jobs.give_back(job)
                raise
        return tries

    def write_drafts(self, go_on: Callable[[], bool]) -> int:
        """Notes without a model for all turns that wait for one. Returns how many jobs have one now."""
        if self.context.choice.model is None:
            return 0
        tried: set[int] = set()
        drafted = 0
        with self.context.drafting:
            while go_on():
                found = self.context.store.jobs.undrafted(self.context.clock())
                if not (jobs := [job for job in found if job.id not in tried]):
                    break
                for job in jobs:
                    tried.add(job.id)
                    if isinstance(outcome := self._try(job, draft=True), Done):
                        drafted += 1
                        self._notify(job, outcome)
        return drafted

    def _try(self, job: Job, *, draft: bool = False) -> Outcome:
        from aforesaid.synthesis import synthesize  # takes long to load

        context = self.context
        session = context.store.sessions.get(job.session_id)
        assert session is not None, "jobs are deleted with their session"
        doctor = session.ref.startswith(DOCTOR_PREFIX)  # its sessions cost nothing
        choice = context.available_choice()
        if draft or doctor:
            choice = replace(choice, model=None)
        try:
            if job.kind == SUMMARIZE and self.service and not doctor:
                asking = choice.asking(context.store, context.clock, session.id, job.id)
                if absence := self.service.memories.extractor.run(job, session, asking):
                    return synthesize.failed(absence)
            writer = choice.writer(context.store, job, context.clock)
            return synthesize.run(
                context.store, context.agents, writer, job, session, context.clock, draft=draft
            )
        except StoreError:
            raise  # a lock or a full disk says nothing about the job
        except Exception as error:
            # Whatever a provider does wrong costs a try, never the worker and never the events.
            return Retry(f"{type(error).__name__}: {error}")

    def _settle(self, job: Job, outcome: Outcome) -> None:
        store, breaker = self.context.store, self.context.breaker
        match outcome:
            case Done() as done:
                breaker.record_done(job)
                self._notify(job, done)
            case Postponed(absence) if isinstance(absence, Unavailable) and breaker.blames(job):
                self._retry(job, absence.why, BLAMED_PAUSE)
            case Postponed(absence):
                until = breaker.trip(absence)
                store.jobs.postpone(job, absence.why, until + BEHIND)
                seconds = (until - self.context.clock()) // SECOND
                log.warning("model.away", job=job.id, seconds=seconds)
            case Retry(why, unusable=True) if store.jobs.keep_draft(
                job, RULES, why, self.context.clock()
            ):  # one request and its repair are enough: what was extracted stands
                breaker.record_unusable()
                log.warning("job.kept", job=job.id, kind=job.kind)
            case Retry(why):
                self._retry(job, why, pause(job.tries, random.random()))
            case Fenced():
                log.warning("job.fenced", job=job.id, kind=job.kind, tries=job.tries)
            case _:
                assert_never(outcome)

    def _notify(self, job: Job, done: Done) -> None:
        log.action("job.done", job=job.id, kind=job.kind, session=job.session_id)
        session = self.context.store.sessions.get(job.session_id)
        if session is not None:
            self.context.changed.add(session.project_id)
            self.context.notifier.job_done(job, session, done)
            if job.kind == SUMMARIZE and self.service:
                self.service.answers.sessions.write(session)

    def _retry(self, job: Job, why: str, wait: int) -> None:
        jobs, now = self.context.store.jobs, self.context.clock()
        if job.tries < MAX_TRIES:
            jobs.retry(job, why, now + wait)
            log.warning("job.retried", job=job.id, kind=job.kind, tries=job.tries)
        else:
            jobs.skip(job, why, now)
            log.warning("job.skipped", job=job.id, kind=job.kind, tries=job.tries)


class DraftsLoop(Loop):
    """Writes notes without a model as soon as a turn is over, also while the model is busy or unavailable."""

    name = "drafts"

    def __init__(self, service: "Service", runner: JobRunner) -> None:
        super().__init__(service.context)
        self.service, self.runner = service, runner

    def run(self) -> None:
        # What the last worker left incomplete is processed once, when it is complete.
        self.service.transcripts.wait_for_look(HEAL_FIRST_SECONDS)
        super().run()

    def turn(self) -> float | None:
        if self.context.choice.model is not None:
            self.service.transcripts.wait_for_turns()
            if self.runner.write_drafts(self.context.go_on):
                self.service.prepare_briefs()
        return None


class JobsLoop(DraftsLoop):
    name = "jobs"

    def __init__(self, service: "Service", runner: JobRunner) -> None:
        super().__init__(service, runner)
        self._wake = self.context.wake_jobs

    def turn(self) -> float:
        super().turn()  # the agent's words are in the transcript alone
        with self.context.busy:
            if self.runner.run_due(self._go_on):
                self.service.note_activity()
            self.service.after_jobs()
        due = self.context.store.jobs.next_due()
        if due is None:
            return max(LEAST_WAIT, self.service.seconds_left())
        outage = self.context.breaker.blocked()
        until = max(due, outage.until if outage else 0)
        return max(0.01, (until - self.context.clock()) / SECOND)

    def _go_on(self) -> bool:
        """Before each job: the words of a turn that has just ended are in the transcript alone."""
        self.service.transcripts.wait_for_turns()
        return self.context.go_on()
