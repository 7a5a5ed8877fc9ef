"""The API and the viewer. Nothing of them is loaded until they are opened."""

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from aforesaid import log
from aforesaid.clock import Clock
from aforesaid.errors import AforesaidError, StoreError, WorkerError
from aforesaid.hook import capture
from aforesaid.model import events
from aforesaid.model.jobs import OBSERVE, Done, Job
from aforesaid.model.sessions import Session
from aforesaid.privacy import payloads
from aforesaid.store.store import Store
from aforesaid.text import one_line
from aforesaid.web.backend import EventBus

if TYPE_CHECKING:
    from aforesaid.web.backend import Backend
    from aforesaid.web.server import Server
    from aforesaid.worker.service import Service

Json = dict[str, Any]
AGENT = b"api"
ALWAYS = "always"
ENDING = "The worker is just ending. Try again."
MISSING = "The viewer cannot be loaded: {}. Install aforesaid again, or run `aforesaid doctor`."
OFF = "The viewer is turned off. Turn it on with `aforesaid config set web.start on-demand`."
TITLE = 200  # characters
MOST_NAMES = 20  # memories in one event


@dataclass(slots=True)
class Notifier:
    """Publishes to the viewer's event bus what the worker does, once the viewer has been opened (`on`)."""

    store: Store
    clock: Clock
    event_bus: EventBus = field(default_factory=EventBus)
    on: bool = False

    def publish(self, kind: str, at: int | None = None, **data: Any) -> None:
        if self.on:
            self.event_bus.publish(kind, self.clock() if at is None else at, **data)

    def captured(self, arrivals: Sequence[events.Arrival]) -> None:
        if not self.on or not arrivals:
            return
        with _log_store_errors():
            refs = {(a.event.agent, a.event.session) for a in arrivals}
            sessions = {ref: self.store.sessions.find(*ref) for ref in refs}
            for arrival in arrivals:
                event, what = arrival.event, arrival.event.what
                if session := sessions[event.agent, event.session]:
                    self.publish(
                        "captured",
                        arrival.capture.at,
                        **_describe(session),
                        what=event.kind,
                        tool=event.tool,
                        title=_title(what),
                        subagent=event.subagent is not None,
                        failed=isinstance(what, events.ToolUsed) and what.failure is not None,
                        boring=arrival.boring,
                    )

    def job_done(self, job: Job, session: Session, outcome: Done) -> None:
        if not self.on:
            return
        where = _describe(session) | {"prompt_number": job.prompt_number}
        with _log_store_errors():
            if job.kind != OBSERVE:
                for summary in filter(None, map(self.store.summaries.get, outcome.written)):
                    self.publish("summary", summary.at, **where, id=summary.id, title=session.title)
                self.publish("turn", **where, title=session.title)
                return
            for each in filter(None, map(self.store.observations.get, outcome.written)):
                title = one_line(each.draft.title or each.draft.subtitle or "", TITLE)
                kind = each.draft.type
                self.publish("observation", each.at, **where, id=each.id, type=kind, title=title)

    def memories_written(self, project_id: int | None, names: Sequence[str], what: str) -> None:
        """`what`: remembered or extracted."""
        shown = [one_line(name, TITLE) for name in names[:MOST_NAMES]]
        self.publish("memory", project_id=project_id, names=shown, what=what)


class Web:
    def __init__(self, service: "Service") -> None:
        self._service, self._context = service, service.context
        self._lock = threading.Lock()
        self._server: Server | None = None
        self._closed = False

    @cached_property
    def backend(self) -> "Backend":
        from aforesaid.web.backend import Backend

        context = self._context
        return Backend(
            home=context.home,
            clock=context.clock,
            store=context.store,
            searcher=context.searcher,
            finder=self._service.memories.ranker,
            memories=self._service.memories.find,
            order=lambda command, /, **values: self._service.commands.all()[command](values),
            status=self._service.status,
            capture=self._capture,
            event_bus=self._context.notifier.event_bus,
            stopping=context.stopping.is_set,
            yield_to_hooks=context.priority.yield_to_hooks,
        )

    def begin(self) -> None:
        """Starts with the worker if the settings say so, or if the last one was cut off while in use."""
        wanted = self._context.settings.text("web.start")
        note = self._context.paths.web_file
        if wanted == ALWAYS or (wanted != "off" and note.exists()):
            with suppress(AforesaidError, OSError, ImportError):  # `open` reports it
                self._serve()
        else:
            note.unlink(missing_ok=True)

    def open(self, request: Json) -> Json:
        """`view`. Returns a link to it that can be used once."""
        if self._context.settings.text("web.start") == "off":
            raise AforesaidError(OFF)
        try:
            server = self._serve()
        except OSError as error:
            raise AforesaidError(str(error)) from None
        except ImportError as error:
            raise AforesaidError(MISSING.format(error)) from None
        return {"link": server.authenticator.create_link(request["view"]), "port": server.port}

    def is_wanted(self) -> bool:
        """Whether it is in use right now, or programs rely on it: then the worker stays."""
        server = self._server
        answering = server is not None and server.application.is_busy
        always = self._context.settings.text("web.start") == ALWAYS
        return answering or self._viewers() > 0 or always

    def _viewers(self) -> int:
        return 0 if self._server is None else self._server.application.stream.clients

    def close(self) -> None:
        """For good: later requests get the next worker's."""
        with self._lock:
            self._closed = True
            if self._server is not None:
                self._server.stop(keep_note=self._viewers() > 0)
                self._server, self._context.notifier.on = None, False

    def _serve(self) -> "Server":
        with self._lock:
            if self._closed:
                raise WorkerError(ENDING)
            if self._server is None:
                from aforesaid.web.server import Server

                server = Server(self.backend, self._port())
                server.start()
                self._server, self._context.notifier.on = server, True
            return self._server

    def _port(self) -> int:
        """The last server's, if it did not end well: open pages find the new one again."""
        with suppress(OSError, ValueError, KeyError, TypeError):
            return int(json.loads(self._context.paths.web_file.read_bytes())["port"])
        return self._context.settings.number("web.port")

    def _capture(self, hook: str, directory: str, body: bytes) -> str:
        words = (AGENT, hook.encode(), directory.encode("utf-8", "surrogateescape"))
        header = b"aforesaid/1 %s %s %s\0\n" % words
        redacted = payloads.redacted(self._context.redactor, body)
        return capture.write_spool(str(self._context.paths.state), header + redacted)


@contextmanager
def _log_store_errors() -> Iterator[None]:
    try:
        yield
    except StoreError as error:
        log.warning("announce.failed", error=log.cause(error))


def _describe(session: Session) -> dict[str, Any]:
    return {
        "session_id": session.id,
        "session": session.ref,
        "agent": session.agent,
        "project_id": session.project_id,
    }


def _title(what: events.Happening) -> str:
    match what:
        case (
            events.PromptSubmitted(text=text)
            | events.TurnEnded(last_message=text)
            | events.SubagentEnded(last_message=text)
        ):
            return one_line(text, TITLE)
        case events.ToolUsed(action=events.FileChanged(path=path) | events.FileRead(path=path)):
            return one_line(path, TITLE)
        case events.ToolUsed(action=events.CommandRun(command=command, description=description)):
            return one_line(description or command, TITLE)
        case _:
            return ""
