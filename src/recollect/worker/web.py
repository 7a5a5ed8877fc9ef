"""The API and the viewer, when somebody wants them. Until then nothing of them is loaded."""

import json
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from recollect.errors import RecollectError, WorkerError
from recollect.hook import capture
from recollect.memory.choosing.finding import Finder
from recollect.memory.storage.changes import Memories
from recollect.privacy import payloads
from recollect.privacy.redactor import Redactor
from recollect.recall.search import Searcher
from recollect.web.backend import Backend
from recollect.wiring import Home
from recollect.worker.announcing import Announcing

if TYPE_CHECKING:
    from recollect.web.serving import Server

Json = dict[str, Any]
AGENT = b"api"
ALWAYS = "always"
ENDING = "The worker is just ending. Try again."
MISSING = "The viewer cannot be loaded: {}. Install recollect again, or run `recollect doctor`."
OFF = "The viewer is turned off. Turn it on with `recollect config set web.start on-demand`."


class Web:
    def __init__(
        self,
        home: Home,
        announcing: Announcing,
        searcher: Searcher,
        finder: Finder,
        memories: Callable[[str], Memories],
        verbs: Callable[[], Mapping[str, Callable[[bytes], bytes]]],
        status: Callable[[], Json],
        stopping: Callable[[], bool],
        give_way: Callable[[], None],
        redactor: Redactor,
    ) -> None:
        self._home, self._announcing, self._verbs = home, announcing, verbs
        self._redactor = redactor
        self._lock = threading.Lock()
        self._server: Server | None = None
        self._closed = False
        self._backend = Backend(
            home=home,
            clock=announcing.clock,
            store=announcing.store,
            searcher=searcher,
            finder=finder,
            memories=memories,
            order=self._order,
            status=status,
            capture=self._capture,
            happenings=announcing.happenings,
            stopping=stopping,
            give_way=give_way,
        )

    def begin(self) -> None:
        """With the worker: if it is set so, or if the last one was cut off while somebody looked."""
        wanted = self._home.settings.text("web.start")
        note = self._home.paths.web_file
        if wanted == ALWAYS or (wanted != "off" and note.exists()):
            with suppress(RecollectError, OSError, ImportError):  # whoever opens it is told
                self._serve()
        else:
            note.unlink(missing_ok=True)

    def open(self, order: Json) -> Json:
        """`view`. A link into it that is good once."""
        if self._home.settings.text("web.start") == "off":
            return {"refused": OFF}
        try:
            server = self._serve()
        except (RecollectError, OSError) as error:
            return {"refused": str(error)}
        except ImportError as error:
            return {"refused": MISSING.format(error)}
        return {"link": server.entrance.link(order["view"]), "port": server.port}

    def is_wanted(self) -> bool:
        """Somebody looks or is answered right now, or programs rely on that: then the worker stays."""
        server = self._server
        answering = server is not None and server.application.is_busy
        return answering or self._viewers() > 0 or self._home.settings.text("web.start") == ALWAYS

    def _viewers(self) -> int:
        return 0 if self._server is None else self._server.application.stream.clients

    def close(self) -> None:
        """For good: whoever asks from now on gets the next worker's."""
        with self._lock:
            self._closed = True
            if self._server is not None:
                self._server.stop(keep_note=self._viewers() > 0)
                self._server, self._announcing.on = None, False

    def _serve(self) -> "Server":
        with self._lock:
            if self._closed:
                raise WorkerError(ENDING)
            if self._server is None:
                from recollect.web.serving import Server

                server = Server(self._backend, self._port())
                server.start()
                self._server, self._announcing.on = server, True
            return self._server

    def _port(self) -> int:
        """Where the last one was, if it did not end well: pages that are still open find us again."""
        with suppress(OSError, ValueError, KeyError, TypeError):
            return int(json.loads(self._home.paths.web_file.read_bytes())["port"])
        return self._home.settings.number("web.port")

    def _order(self, verb: str, **values: Any) -> Json:
        answer = json.loads(self._verbs()[verb](json.dumps(values).encode()))
        assert isinstance(answer, dict)
        return answer

    def _capture(self, hook: str, directory: str, body: bytes) -> str:
        named = (AGENT, hook.encode(), directory.encode("utf-8", "surrogateescape"))
        header = b"recollect/1 %s %s %s\0\n" % named
        unsaid = payloads.redacted(self._redactor, body)
        return capture.write_spool(str(self._home.paths.state), header + unsaid)
