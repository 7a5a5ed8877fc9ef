"""Runs the jobs that are due, one after the other. A failure is a value: retry, or park."""

import random
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import assert_never

from recollect import log
from recollect.agents.protocol import Agent
from recollect.clock import SECOND, Clock
from recollect.errors import StoreError
from recollect.model.jobs import MAX_TRIES, Done, Fenced, Job, Outcome, Retry
from recollect.providers.protocol import Provider
from recollect.store.protocol import Store
from recollect.synthesis import synthesize

FIRST_DELAY = 5 * SECOND
LONGEST_DELAY = 600 * SECOND


def delay(tries: int, luck: float) -> int:
    """Exponential, with `luck` in 0..1 spreading it by half either way: retries must not march in step."""
    return round(min(LONGEST_DELAY, FIRST_DELAY << (tries - 1)) * (0.5 + luck))


@dataclass(slots=True)
class JobRunner:
    store: Store
    agents: Mapping[str, Agent]
    provider: Provider
    holder: str
    lease: int
    clock: Clock
    on_done: Callable[[int], None]  # told the project whose memory has changed

    def run_due(self, go_on: Callable[[], bool]) -> int:
        """Everything that is due, while `go_on` says so. How many tries were made."""
        tries = 0
        while go_on():
            now = self.clock()
            job = self.store.claim_job(self.holder, now, now + self.lease)
            if job is None:
                break
            tries += 1
            try:
                self._settle(job, self._try(job))
            except StoreError:
                with suppress(StoreError):
                    self.store.give_back(job)
                raise
        return tries

    def _try(self, job: Job) -> Outcome:
        try:
            return synthesize.run(self.store, self.agents, self.provider, job, self.clock)
        except StoreError:
            raise  # a lock or a full disk says nothing about the job
        except Exception as error:
            # Whatever a provider does wrong costs a try, never the worker and never the events.
            return Retry(f"{type(error).__name__}: {error}")

    def _settle(self, job: Job, outcome: Outcome) -> None:
        match outcome:
            case Done():
                log.action("job.done", job=job.id, kind=job.kind, session=job.session_id)
                session = self.store.session(job.session_id)
                if session is not None:
                    self.on_done(session.project_id)
            case Retry(why) if job.tries < MAX_TRIES:
                due_at = self.clock() + delay(job.tries, random.random())
                self.store.retry_job(job, why, due_at)
                log.warning("job.retried", job=job.id, kind=job.kind, tries=job.tries)
            case Retry(why):
                self.store.skip_job(job, why, self.clock())
                log.warning("job.skipped", job=job.id, kind=job.kind, tries=job.tries)
            case Fenced():
                log.warning("job.fenced", job=job.id, kind=job.kind, tries=job.tries)
            case _:
                assert_never(outcome)
