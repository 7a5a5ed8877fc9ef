"""The `claude` provider: a model through the user's own Claude Code login, by the Claude Agent SDK.

At most one process of Claude Code exists at any moment. It starts with the first question (half a
second), answers many, each as if it were the first (see `claude_process`), and ends after some idle
minutes, when it has grown, or when the static part of the questions changes. The SDK is asynchronous
and heavy: it is imported at the first question and runs in a thread of its own.
"""

import asyncio
import threading
import time
from collections.abc import Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from recollect import extras
from recollect.clock import Clock
from recollect.model.requests import Away, Failure, Misconfigured, Reply, Request
from recollect.paths import PRIVATE_DIR
from recollect.providers.claude_launcher import executable
from recollect.providers.claude_process import ClaudeProcess
from recollect.providers.protocol import PATIENCE

T = TypeVar("T")

NO_SDK = f"The `claude` provider needs a package: {extras.install('claude')}."
NO_CLI = f"There is no Claude Code client. Install it: {extras.install('claude')}."
CLOSED = "The provider was closed"
TO_LEAVE = 5.0  # seconds for an answer to notice that its process is gone
TO_END = 30.0  # seconds that the end of a process may take, with every pause in it


class ClaudeAgent:
    name = "claude"

    def __init__(
        self,
        *,
        model: str,
        seconds: float,
        clock: Clock,
        cwd: Path,
        cli: str | None = None,
        idle_seconds: float = 300.0,
    ) -> None:
        self.model = model
        self._seconds = seconds
        self._clock = clock
        self._cli = cli
        self._cwd = cwd
        self._idle_seconds = idle_seconds
        self._asking = threading.Lock()
        self._closed = False
        self._stop = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._process: ClaudeProcess | None = None
        self._used = 0.0

    @property
    def longest_seconds(self) -> float:
        return PATIENCE * self._seconds + TO_END

    @property
    def pid(self) -> int | None:
        """The agent process, if there is one."""
        process = self._process
        return process.pid if process else None

    def ask(self, request: Request) -> Reply | Failure:
        with self._asking:
            if self._closed:
                return Away(CLOSED)
            try:
                import claude_agent_sdk  # noqa: F401
            except ImportError:
                return Misconfigured(NO_SDK)
            try:
                return self._run(self._bounded(request))
            finally:
                self._used = time.monotonic()

    def idle(self) -> None:
        if not self._asking.acquire(blocking=False):
            return
        try:
            if self._process and time.monotonic() - self._used >= self._idle_seconds:
                self._run(self._end())
        finally:
            self._asking.release()

    def close(self) -> None:
        # `closed` before the loop is looked at, and the other way round in a request: so either
        # this one finds the loop, or the request finds that it may not begin.
        self._closed = True
        under_way = self._loop  # read once: another thread may be closing too
        if under_way:
            with suppress(RuntimeError):  # it has just been closed
                under_way.call_soon_threadsafe(self._stop.set)
        with self._asking:
            loop, thread = self._loop, self._thread
            if loop is None or thread is None:
                return
            self._run(self._end())
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()
            self._loop = self._thread = None

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(
                target=self._loop.run_forever, name="claude-agent", daemon=True
            )
            self._thread.start()
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def _bounded(self, request: Request) -> Reply | Failure:
        """The answer, or `Away` after a silence, at the time limit or on `close`, with the process gone."""
        if self._closed:
            return Away(CLOSED)
        work = asyncio.create_task(self._answer(request))
        stop = asyncio.create_task(self._stop.wait())
        late = await self._late(work, stop)
        stopped = stop.done()
        stop.cancel()
        if work.done():
            return work.result()
        why = CLOSED if stopped else late
        answer = self._process.cut(why) if self._process else Away(why)
        if self._process:
            await self._process.stop()
        # Its end ends the work; a cancelled SDK could leave the process behind.
        await asyncio.wait({work}, timeout=TO_LEAVE)
        work.cancel()
        await self._end()
        return answer

    async def _late(self, *ends: asyncio.Task[Any]) -> str:
        """Until one of them has come, or for as long as we wait; then why no longer."""
        began = time.monotonic()
        most = PATIENCE * self._seconds
        while True:
            heard = max(began, self._process.heard_at if self._process else began)
            silence, whole = heard + self._seconds, began + most
            left = min(silence, whole) - time.monotonic()
            if left <= 0 and whole <= silence:
                return f"The answer was not complete after {most:g} s"
            if left <= 0:
                return f"Claude Code said nothing for {self._seconds:g} s"
            done, _ = await asyncio.wait(ends, timeout=left, return_when=asyncio.FIRST_COMPLETED)
            if done:
                return ""

    async def _answer(self, request: Request) -> Reply | Failure:
        from claude_agent_sdk import CLINotFoundError

        try:
            process = await self._ready(request)
            answer = await process.ask(request.message, now=self._clock())
        except CLINotFoundError:
            await self._end()
            return Misconfigured(NO_CLI)
        except Exception as error:  # the SDK raises bare Exceptions too; none may stop the worker
            found = self._process
            why = (found.complaint if found else "") or type(error).__name__
            told = f"Claude Code ended in the middle of an answer: {why}"
            answer = found.cut(told) if found else Away(told)
            await self._end()
            return answer
        if process.worn:
            await self._end()
        return answer

    async def _ready(self, request: Request) -> ClaudeProcess:
        if self._process and (self._process.pid is None or not self._process.serves(request)):
            await self._end()
        if self._process is None:
            self._cwd.mkdir(PRIVATE_DIR, parents=True, exist_ok=True)
            cli = executable(self._cli, self._cwd)
            self._process = ClaudeProcess(
                request, model=self.model, seconds=self._seconds, cli=cli, cwd=self._cwd
            )
            await self._process.start()
        return self._process

    async def _end(self) -> None:
        process, self._process = self._process, None
        if process:
            await process.end()
