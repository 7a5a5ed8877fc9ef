"""From the spool into the store: read a batch, commit it durably, then unlink the files.

A kill between commit and unlink delivers the batch again, and the store drops what it has. A file that
cannot be read is moved to `spool/bad` with its reason and is never parsed in part.

Small captures come first, in the order of time. A large tool event waits until no small capture does, and
the store puts it into its turn as it does with events from transcripts, even if that turn has ended.
"""

import errno
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import reduce
from pathlib import Path

from aforesaid import log
from aforesaid.errors import StoreError
from aforesaid.model import events
from aforesaid.paths import private_dir
from aforesaid.payload.shorten import is_cut
from aforesaid.worker import spool
from aforesaid.worker.context import Context
from aforesaid.worker.spool import Entry, has_private, redacted_capture, set_aside, shortened

BATCH_FILES = 256
BATCH_BYTES = 16 * 1024 * 1024
LARGE_AT_ONCE = 4  # large captures before the spool is looked at again
# Faults of the machine, not of a file.
OURS = (errno.EMFILE, errno.ENFILE, errno.ENOSPC, errno.EROFS)
CUT_PRIVATE = "it is so large that it would be cut, and has private parts: nothing of it is kept"
MOST_PLACES = 256  # sessions whose directory is kept in mind


@dataclass(slots=True)
class Ingest:
    """`thrift`: see `worker/disk.py`."""

    context: Context
    on_stored: Callable[[list[events.Arrival]], None] = lambda _: None
    thrift: Callable[[], int] = lambda: 0
    _places: dict[events.SessionRef, str] = field(default_factory=dict)

    def drain(self, go_on: Callable[[], bool] = lambda: True) -> events.Ingested:
        """Store all captures that wait, while `go_on` says so before each batch."""
        folder, total, before = self.context.paths.spool_new, events.Ingested(), None
        while True:
            page = spool.list_page(folder)
            if page.extent == before:
                return total  # files that cannot be removed wait for the next time
            before = page.extent
            large = page.large[:LARGE_AT_ONCE] if page.is_last else []
            for late, files, most in ((False, page.small, BATCH_FILES), (True, large, 1)):
                for batch in _batches(files, most):
                    if not go_on():
                        return total
                    total = total.plus(self._keep(batch, late=late))
            if page.is_last and len(page.large) <= LARGE_AT_ONCE:
                return total

    def _keep(self, batch: list[Entry], *, late: bool = False) -> events.Ingested:
        arrivals = [a for file in batch if (a := self._read(file)) is not None]
        try:
            result = self._add(arrivals, late=late)
        except (StoreError, OSError):
            raise  # nothing was unlinked: the batch waits
        except Exception as error:
            if len(batch) > 1:  # one of them is poison: find it without holding up the others
                parts = (self._keep([file], late=late) for file in batch)
                return reduce(events.Ingested.plus, parts)
            self._quarantine(batch[0], f"it cannot be stored: {log.cause(error)}")
            return events.Ingested()
        for file in batch:
            (self.context.paths.spool_new / file.name).unlink(missing_ok=True)
        for arrival in arrivals:  # the capture's id leads from the hook's file to the stored row
            event, capture = arrival.event, arrival.capture
            log.action("ingest.event", capture=capture.id, kind=event.kind, session=event.session)
        counts = {"added": result.added, "duplicates": result.duplicates}
        log.action("ingest.stored", **counts, closed_turns=result.closed_turns)
        self.on_stored(arrivals)
        parsed = [arrival.event for arrival in arrivals]
        ended = [e for e in parsed if isinstance(e.what, events.TurnEnded | events.SessionEnded)]
        return replace(
            result,
            begun=frozenset(
                (e.agent, e.session) for e in parsed if isinstance(e.what, events.SessionStarted)
            ),
            ended=frozenset((e.agent, e.session) for e in ended),
        )

    def _add(self, arrivals: list[events.Arrival], *, late: bool) -> events.Ingested:
        """`late`: later events of the same session may be stored already."""
        if not late or not all(isinstance(each.event.what, events.ToolUsed) for each in arrivals):
            return self.context.store.events.add(arrivals, self.context.clock())
        healed = self.context.store.events.heal(arrivals, self.context.clock())
        projects = frozenset(each.project_id for each in arrivals)
        return events.Ingested(healed.added, len(arrivals) - healed.added, healed.turns, projects)

    def _read(self, file: Entry) -> events.Arrival | None:
        """None when there is nothing to store: quarantined, gone, or of no interest. Whatever is wrong with
        one file must not hold up the others."""
        path = self.context.paths.spool_new / file.name
        arrival: events.Arrival | events.Unreadable | None
        try:
            try:
                capture = spool.read(path, file)
            except FileNotFoundError:
                return None
            if isinstance(capture, events.Unreadable):
                arrival = capture
            elif is_cut(capture.body) and has_private(path):
                arrival = events.Unreadable(CUT_PRIVATE)
            else:
                arrival = self._parse(capture)
        except (StoreError, MemoryError):
            raise
        except Exception as error:
            if isinstance(error, OSError) and error.errno in OURS:
                raise
            arrival = events.Unreadable(f"it cannot be read: {log.cause(error)}")
        if isinstance(arrival, events.Unreadable):
            self._quarantine(file, arrival.why)
            return None
        return arrival

    def _parse(self, capture: events.Capture) -> events.Arrival | events.Unreadable | None:
        capture = redacted_capture(self.context.redactor, capture)
        agent = self.context.agents.get(capture.agent)
        if agent is None:
            return events.Unreadable(f"the agent {capture.agent!r} is not known")
        if capture.hook == events.PAUSED:
            self.context.pauses.note(capture)
            return None
        event = agent.parse(capture)
        if isinstance(event, events.Unreadable):
            return event
        if event is None:
            log.action("ingest.ignored", capture=capture.id, hook=capture.hook)
            return None
        capture = replace(capture, project_dir=self._directory(capture, event))
        session = (event.agent, event.session)
        if self.context.pauses.refuses(session, capture.project_dir, capture.at):
            log.action("ingest.paused", capture=capture.id, session=event.session)
            return None
        project_id = self.context.projects.of(capture.project_dir)
        boring = self.context.is_boring(event.tool)
        if isinstance(event.what, events.ToolUsed) and self.thrift() > (0 if boring else 1):
            capture = replace(capture, body=shortened(capture.body))
        return events.Arrival(capture, event, project_id, boring)

    def _directory(self, capture: events.Capture, event: events.Event) -> str:
        """Where it happened. An agent that says nothing of it is where its session is, if that is known:
        it may stand before it in the spool."""
        session = (event.agent, event.session)
        if found := capture.project_dir or event.cwd:
            if len(self._places) >= MOST_PLACES:
                self._places.clear()
            self._places.setdefault(session, found)
            return found
        known = self.context.store.sessions.find(*session)
        return known.project_dir if known else self._places.get(session, str(Path.home()))

    def _quarantine(self, file: Entry, why: str) -> None:
        """The row first: a kill in between leaves the file to be judged again."""
        paths, name, why = self.context.paths, file.name, self.context.redactor.text(why)
        self.context.store.events.quarantine(name, why, file.size, self.context.clock())
        private_dir(paths.spool_bad)  # somebody may have tidied up
        with suppress(FileNotFoundError):
            set_aside(self.context.redactor, paths.spool_new / name, paths.spool_bad / name)
            log.warning("ingest.quarantined", capture=name, why=why, size=file.size)


def _batches(files: list[Entry], most_files: int) -> Iterator[list[Entry]]:
    batch: list[Entry] = []
    total = 0
    for file in files:
        if batch and (len(batch) == most_files or total + file.size > BATCH_BYTES):
            yield batch
            batch, total = [], 0
        batch.append(file)
        total += file.size
    if batch:
        yield batch
