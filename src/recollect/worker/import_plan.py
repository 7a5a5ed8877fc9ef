"""What an import would come to (`--dry-run`), and what it came to.

It is done by the same code in a store that is thrown away, and counted there, so its counts are those of the
import. The real store is only read.
"""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from recollect.clock import DAY, Clock
from recollect.errors import StoreMissing
from recollect.model.ledger import Spent, Written
from recollect.model.sessions import ACTIVE
from recollect.model.tallies import Tally
from recollect.store.protocol import Reading, Scratch
from recollect.synthesis import estimates
from recollect.synthesis.estimates import Expected, Needs
from recollect.synthesis.prompting import Style
from recollect.wiring import AGENTS, Choice, Home, open_for_reading, open_scratch
from recollect.worker import backfill
from recollect.worker.backfill import Selected
from recollect.worker.pausing import Pausing
from recollect.worker.projects import ProjectFinder
from recollect.worker.reconcile import Reconciler

Tallies = dict[str, Tally]  # by session
NOTHING, BARELY = Tally(), Tally(sessions=1)
NOBODY_ASKED = (Written(0, 0, 0), Spent("", 0, 0, 0, 0, 0, 0))


@dataclass(frozen=True, slots=True)
class Gain:
    """What came of the sessions: those that are `new`, those that have `grown` since, and how many were
    `known` as they are, or are `empty`: without anything to tell."""

    new: Tally = NOTHING
    grown: Tally = NOTHING
    known: int = 0
    empty: int = 0

    @property
    def all(self) -> Tally:
        """Everything that was added; its sessions are the new ones."""
        return self.new + replace(self.grown, sessions=0)


@dataclass(frozen=True, slots=True)
class Plan:
    gain: Gain
    faulty: list[str]  # paths of transcripts that could not be read whole
    needs: Needs
    expected: Expected


def reading(home: Home) -> Reading | None:
    """The real store; None if nothing was ever recorded."""
    try:
        return open_for_reading(home.paths)
    except StoreMissing:
        return None


def tallies(store: Reading | None, selected: Iterable[Selected]) -> Tallies:
    if store is None:
        return {}
    return {one.file.session: store.tally(one.agent, one.file.session) for one in selected}


def gain(before: Tallies, after: Tallies) -> Gain:
    total = Gain()
    for session, tally in after.items():
        old = before.get(session, NOTHING)
        gained = replace(tally.since(old), sessions=1)
        if gained == BARELY:
            known = bool(old.sessions or tally.sessions)
            total = replace(total, known=total.known + known, empty=total.empty + (not known))
        elif old.sessions:
            total = replace(total, grown=total.grown + gained)
        else:
            total = replace(total, new=total.new + gained)
    return total


def plan(
    home: Home,
    choice: Choice,
    selected: list[Selected],
    clock: Clock,
    show: Callable[[int, int], None],
) -> Plan:
    live = reading(home)
    try:
        with TemporaryDirectory(prefix="recollect-") as folder:
            scratch = open_scratch(Path(folder))
            try:
                return _plan(home, choice, selected, live, scratch, clock, show)
            finally:
                scratch.close()
    finally:
        if live is not None:
            live.close()


def _plan(
    home: Home,
    choice: Choice,
    selected: list[Selected],
    live: Reading | None,
    scratch: Scratch,
    clock: Clock,
    show: Callable[[int, int], None],
) -> Plan:
    chosen = [one for one in selected if live is None or _has_more(live, one, clock)]
    before = tallies(live, selected)
    if live is not None:
        known = [(one.agent, one.file.session) for one in chosen if before[one.file.session].events]
        scratch.borrow(home.paths.database, known)
    waiting = {job.id for job in scratch.waiting_jobs()}
    boring = home.settings.names("capture.boring_tools")
    finder = ProjectFinder(scratch, clock)
    skipped = home.settings.names("capture.skip_dirs")
    pausing = Pausing(scratch, finder, clock, lambda: skipped)
    reading = (scratch, AGENTS, finder, clock, os.environ, boring, pausing)
    reconciler = Reconciler(*reading, importing=True)
    done, total = 0, sum(one.file.size for one in chosen)
    faulty = []
    for one in chosen:
        for _ in backfill.bring_in(reconciler, scratch, AGENTS[one.agent], one.file, clock):
            pass
        if reconciler.is_faulty(one.file):
            faulty.append(one.file.path)
        done += one.file.size
        show(done, total)
    jobs = [job for job in scratch.waiting_jobs() if job.id not in waiting]
    gained = gain(before, before | tallies(scratch, chosen))
    style = choice.style or Style(home.settings.text("synthesis.verbosity"))
    budget = home.settings.number("synthesis.request_tokens")
    needed = estimates.needs(scratch, AGENTS, jobs, style, budget, choice.without_model())
    past, spent = _past(live, clock)
    needed, hoped = estimates.expected(
        needed,
        by_rules=choice.model is None,
        verbosity=style.verbosity,
        past=past,
        spent=spent,
    )
    return Plan(gained, faulty, needed, hoped)


def _has_more(live: Reading, one: Selected, clock: Clock) -> bool:
    """Whether its transcript tells something since the last time, or its end is still to be noticed."""
    session = live.session_by_ref(one.agent, one.file.session)
    if session is None:
        return True
    if session.status == ACTIVE and session.last_event_at < clock() - DAY:
        return True
    mark = live.transcript_mark(one.agent, one.file.session)
    return next(iter(AGENTS[one.agent].read_transcript(one.file, mark)), None) is not None


def _past(live: Reading | None, clock: Clock) -> tuple[Written, Spent]:
    if live is None:
        return NOBODY_ASKED
    until = clock() + 1
    return live.written(0, until), live.spent(0, until)
