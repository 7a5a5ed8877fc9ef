"""The `claude` provider: a model through the user's own Claude Code login, by the Claude Agent SDK.

At most one Claude Code process exists. It answers many requests, and ends when idle, grown, or when the
static part of the requests changes. It has no tools, reads no settings, writes no session file, and is
rewound after each answer, so that no request carries the text of an earlier one. Messages are marked as
composed by a program: an `@/path` in captured text must not make the client read that file.
"""

import asyncio
import json
import os
import re
import shlex
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

from aforesaid import extras
from aforesaid.clock import MINUTE, SECOND, Clock
from aforesaid.model.requests import (
    Failure,
    Misconfigured,
    RateLimited,
    Refused,
    Reply,
    Request,
    Unavailable,
    Usage,
)
from aforesaid.paths import PRIVATE_DIR, find_program
from aforesaid.providers.base import PATIENCE
from aforesaid.providers.claude_login import key_helper, secrets
from aforesaid.providers.errors import scrub_message
from aforesaid.text import tokens

if TYPE_CHECKING:
    from claude_agent_sdk import ClaudeAgentOptions, Message, ResultMessage

# When the limit does not say until when: a rate limit counts minutes, a plan's limit counts hours.
RATE_PAUSE = MINUTE
PLAN_PAUSE = 15 * MINUTE
UNTIL = re.compile(r"limit reached\|(\d{10})\b")
PLAN = re.compile(r"hit your .*limit|usage limit|out of usage credits", re.IGNORECASE)
LOGIN = re.compile(r"not logged in|/login|invalid (api key|auth token)", re.IGNORECASE)
COUNTS = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")
LOGIN_FIX = "Run `claude` and type /login, or mend ANTHROPIC_API_KEY"
MODEL_FIX = "Choose another one: `aforesaid config set synthesis.model NAME`"


@dataclass(slots=True)
class Received:
    """The messages of one request, as they come. `sent`: its tokens, as far as we know them."""

    sent: int = 0
    began: bool = False  # the API has begun to answer
    streamed: list[str] = field(default_factory=list)  # the same text as `parts`, but at once
    parts: list[str] = field(default_factory=list)
    model: str = ""
    error: str | None = None  # the client's category, when it could not get an answer
    resets_at: int | None = None  # seconds since the epoch: when a refused plan's window ends
    nudges: int = 0  # how often the client asked on by itself: the answer was cut off, or empty

    def add(self, message: "Message") -> None:
        from claude_agent_sdk import (
            AssistantMessage,
            RateLimitEvent,
            StreamEvent,
            TextBlock,
            UserMessage,
        )

        match message:
            case StreamEvent(event={"delta": {"type": "text_delta", "text": str() as text}}):
                self.began = True
                self.streamed.append(text)
            case StreamEvent():
                self.began = True
            case AssistantMessage(error=error) if error is not None:
                self.error = error
            case AssistantMessage(content=content, model=model):
                self.model = model
                self.parts += [block.text for block in content if isinstance(block, TextBlock)]
            case UserMessage():
                self.nudges += 1
            case RateLimitEvent(rate_limit_info=info) if info.status == "rejected":
                self.resets_at = info.resets_at

    @property
    def estimate(self) -> Usage:
        """For an answer that was cut off, so that no count came."""
        received = tokens("".join(self.streamed or self.parts))
        return Usage(self.sent, 0, 0, received, estimated=True)


def outcome(
    received: Received, result: "ResultMessage", *, model: str, spent: float, now: int
) -> Reply | Failure:
    """`spent`: what the client had counted before. A reply that had to be continued stands, cut, even if that
    failed."""
    failed = received.error is not None or result.is_error
    usage = count_usage(result, spent)
    if not failed or (received.nudges and received.parts):
        return Reply(
            text="".join(received.parts),
            model=received.model or model,
            usage=usage,
            complete=result.stop_reason != "max_tokens" and not failed,
        )
    found = classify(
        received.error,
        result.api_error_status,
        result.result or "; ".join(result.errors or []) or result.subtype,
        model=model,
        resets_at=received.resets_at,
        now=now,
    )
    if isinstance(found, Misconfigured):
        return found
    if usage.sent or usage.received:
        return replace(found, usage=usage)
    # Of a failure the client counts the dollars at times, and no tokens.
    paid = received.began or usage.microdollars
    guess = replace(received.estimate, microdollars=usage.microdollars or None)
    return replace(found, usage=guess if paid else None)


def classify(
    error: str | None, status: int | None, text: str, *, model: str, resets_at: int | None, now: int
) -> Failure:
    why = scrub(text)
    until = UNTIL.search(text)
    if error == "rate_limit" or status == 429 or until:
        at = (int(until[1]) if until else resets_at or 0) * SECOND
        pause = PLAN_PAUSE if PLAN.search(text) else RATE_PAUSE
        return RateLimited(why, at if at > now else now + pause)
    if error == "model_not_found" or status == 404:
        return Misconfigured(f"Claude Code has no model {model!r}. {MODEL_FIX}.")
    if error == "authentication_failed" or status in (401, 403) or LOGIN.search(text):
        return Misconfigured(f"Claude Code cannot log in ({why}). {LOGIN_FIX}.")
    if error == "billing_error":
        return Misconfigured(f"Claude Code is not paid for ({why}). See your plan or your credit.")
    if error == "invalid_request" or (status is not None and 400 <= status < 500):
        return Refused(why)
    return Unavailable(why)


def scrub(words: str) -> str:
    """What may be displayed of the client's words."""
    return scrub_message(words, secrets(os.environ))


def count_usage(result: "ResultMessage", spent: float) -> Usage:
    """As the client counted. Its dollars are a running total, of which `spent` was there before."""
    total = result.total_cost_usd
    microdollars = None if total is None else round(max(0.0, total - spent) * 1_000_000)
    values = ((result.usage or {}).get(name) for name in COUNTS)
    fresh, cached, written, received = (v if isinstance(v, int) else 0 for v in values)
    return Usage(fresh + cached + written, cached, written, received, microdollars=microdollars)


# What the client would otherwise send besides: a request for a title per question (more tokens than
# the question's own frame), update checks, telemetry, feature flags; and its own retries over
# minutes, where our queue has a back-off of its own.
QUIET = {
    "AFORESAID_INSIDE": "1",  # our own hooks capture nothing, should they ever run in there
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_AUTO_COMPACT": "1",
    "CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1",
    "CLAUDE_CODE_DISABLE_FILE_MENTIONS": "1",
    "CLAUDE_CODE_DISABLE_THINKING": "1",
    "CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK": "1",
    "CLAUDE_CODE_DISABLE_REFUSAL_RETRY": "1",
    "CLAUDE_CODE_DISABLE_REFUSAL_FALLBACK": "1",
    "CLAUDE_CODE_MAX_RETRIES": "0",
    "CLAUDE_CODE_MESSAGES_PROMPT_CACHE_TTL": "5m",
}
# The worker may have been started by a hook, and so inside a session that this one is no part of.
OUTER = (
    *("CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_CHILD_SESSION", "CLAUDE_CODE_SSE_PORT"),
    *("CLAUDE_CODE_MESSAGING_SOCKET", "CLAUDE_CODE_MESSAGING_TOKEN", "CLAUDE_ENV_FILE"),
)
MOST_MEMORY = 400 * 1024 * 1024
MOST_REQUESTS = 200
# The least that the API caches. Below it a marked prefix is never read again, only paid for.
CACHED_FROM, CACHED_FROM_SONNET = 4096, 1024
SCRIPT = '#!/bin/sh\nexec {setpriv} --pdeathsig TERM {client} "$@"\n'


class ClaudeProcess:
    """`fresh`: no request has left anything in the conversation."""

    def __init__(
        self, request: Request, *, model: str, seconds: float, cli: str | None, cwd: Path
    ) -> None:
        from claude_agent_sdk import ClaudeSDKClient

        self.stderr: deque[str] = deque(maxlen=3)
        system = with_examples(request)
        options = _options(system, request.most_tokens, model=model, seconds=seconds)
        options.cwd, options.cli_path, options.stderr = cwd, cli, self.stderr.append
        self._client = ClaudeSDKClient(options)
        self._static, self._most_tokens = request.static_digest, request.most_tokens
        self._model = model
        self._system_tokens = tokens(system)
        self._received: Received | None = None  # of the request that is not answered yet
        self._requests = 0
        self._spent = 0.0
        self.heard_at = time.monotonic()
        self.fresh = True

    async def start(self) -> None:
        await self._client.connect()
        self.heard_at = time.monotonic()

    def serves(self, request: Request) -> bool:
        return request.static_digest == self._static and request.most_tokens <= self._most_tokens

    @property
    def worn(self) -> bool:
        grown = resident(self.pid) > MOST_MEMORY
        return not self.fresh or grown or self._requests >= MOST_REQUESTS

    @property
    def pid(self) -> int | None:
        process = self._process
        return process.pid if process is not None and process.returncode is None else None

    async def ask(self, message: str, *, now: int) -> Reply | Failure:
        from claude_agent_sdk import ResultMessage

        turn = str(uuid4())
        self.fresh = False
        self._requests += 1
        await self._client.query(_composed(message, turn))
        self._received = received = Received(self._system_tokens + tokens(message))
        allowed = 1
        async for incoming in self._client.receive_response():
            self.heard_at = time.monotonic()
            received.add(incoming)
            if isinstance(incoming, ResultMessage):
                spent, self._spent = self._spent, incoming.total_cost_usd or self._spent
                self._received = None
                if incoming.origin and incoming.origin.get("kind") not in ("human", None):
                    # Running clients can write to each other, and this one cannot be hidden.
                    why = "Another session spoke to the agent process"
                    return Unavailable(why, usage=count_usage(incoming, spent))
                answer = outcome(received, incoming, model=self._model, spent=spent, now=now)
                self.fresh = await self._rewound(turn)
                return answer
            if received.nudges > allowed:
                # It goes on by itself after the token limit. Once completes most replies; more is
                # a model that runs away.
                allowed = received.nudges
                await self._client.interrupt()
        return self.cut(BROKE_OFF)

    def cut(self, why: str) -> Unavailable:
        """For a question that gets no answer. Once the client has it, so may the API, and it is paid for."""
        return Unavailable(why, usage=self._received.estimate if self._received else None)

    async def end(self) -> None:
        """Closes its input, which ends it between requests; the SDK waits and then insists."""
        process = self._process
        with suppress(Exception):
            await self._client.disconnect()
        with suppress(Exception):  # it may be gone
            if process.returncode is None:
                process.kill()
                await process.wait()

    async def stop(self) -> None:
        """In the middle of a request too. Terminated first: it then takes its files with it."""
        process = self._process
        with suppress(Exception):  # it may be gone
            process.terminate()
            await asyncio.wait_for(process.wait(), 1)
        with suppress(Exception):
            if process.returncode is None:
                process.kill()

    async def _rewound(self, turn: str) -> bool:
        """The SDK has no method for it yet; without it, or on any trouble, the process must go."""
        try:
            control = self._client._query._send_control_request  # type: ignore[union-attr]
            asked = {"subtype": "rewind_conversation", "target_message_uuid": turn}
            answer: dict[str, Any] = await control(asked, timeout=5.0)
        except Exception:  # what the SDK raises here is an Exception and nothing narrower
            return False
        return answer.get("rewound") is True

    @property
    def _process(self) -> Any:
        return getattr(getattr(self._client, "_transport", None), "_process", None)


def with_examples(request: Request) -> str:
    """Worked examples as text: this client takes a system prompt and one message, no dialogue."""
    examples = (
        f'<example number="{number}">\n<asked>\n{asked}\n</asked>\n'
        f"<answered>\n{answered}\n</answered>\n</example>"
        for number, (asked, answered) in enumerate(request.examples, 1)
    )
    return "\n\n".join((request.system, *examples))


def resident(pid: int | None) -> int:
    """Bytes of memory; 0 where the system does not tell."""
    try:
        pages = Path(f"/proc/{pid}/statm").read_text("ascii").split()[1]
    except (OSError, IndexError):
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


async def _composed(text: str, turn: str) -> AsyncIterator[dict[str, Any]]:
    yield {
        "type": "user",
        "message": {"role": "user", "content": text},
        "parent_tool_use_id": None,
        "uuid": turn,
        "client_composed": True,
    }


def _options(system: str, most_tokens: int, *, model: str, seconds: float) -> "ClaudeAgentOptions":
    from claude_agent_sdk import ClaudeAgentOptions

    env = {name: "" for name in OUTER if name in os.environ} | QUIET
    env["API_TIMEOUT_MS"] = str(int(seconds * 1000))
    env["CLAUDE_CODE_MAX_OUTPUT_TOKENS"] = str(most_tokens)
    if tokens(system) < (CACHED_FROM_SONNET if "sonnet" in model else CACHED_FROM):
        env["DISABLE_PROMPT_CACHING"] = "1"
    helper = key_helper(os.environ)
    return ClaudeAgentOptions(
        system_prompt=system,
        model=model,
        tools=[],
        setting_sources=[],
        strict_mcp_config=True,
        max_turns=1,
        include_partial_messages=True,  # a model that writes is not a silent one
        thinking={"type": "disabled"},
        effort="low",
        env=env,
        extra_args={"no-session-persistence": None, "disable-slash-commands": None},
        settings=json.dumps({"apiKeyHelper": helper}) if helper else None,
    )


def executable(client: str | None, folder: Path) -> str | None:
    """A script that ends the client with this process; or the client itself, where there is no `setpriv`
    or scripts may not run here. None: the SDK chooses."""
    found = client or _bundled() or find_program("claude")
    setpriv = find_program("setpriv")
    if found is None or setpriv is None or not os.access(found, os.X_OK):
        return client
    script = folder / ClaudeAgent.name
    text = SCRIPT.format(setpriv=shlex.quote(setpriv), client=shlex.quote(found))
    try:
        if not script.exists() or script.read_text("utf-8") != text:
            script.write_text(text, "utf-8")
            script.chmod(0o700)
    except (OSError, UnicodeDecodeError):
        return client
    return str(script) if os.access(script, os.X_OK) else client


def _bundled() -> str | None:
    """The client that comes with the SDK, which is the one the SDK would take."""
    spec = find_spec("claude_agent_sdk")
    client = Path(spec.origin).with_name("_bundled") / "claude" if spec and spec.origin else None
    return str(client) if client and client.is_file() else None


T = TypeVar("T")

NO_SDK = f"The `claude` provider needs a package: {extras.install('claude')}."
NO_CLI = f"There is no Claude Code client. Install it: {extras.install('claude')}."
CLOSED = "The provider was closed"
BROKE_OFF = "Claude Code ended in the middle of an answer"
TO_LEAVE = 5.0  # seconds for an answer to notice that its process is gone
TO_END = 30.0  # seconds that the end of a process may take, with every pause in it


class ClaudeAgent:
    """The calling threads take turns; an event loop in a thread of its own talks to the process."""

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
        self.model, self.longest_seconds = model, PATIENCE * seconds + TO_END
        self._seconds, self._idle_seconds, self._clock = seconds, idle_seconds, clock
        self._cli, self._cwd = cli, cwd
        self._asking = threading.Lock()
        self._closed = False
        self._stop = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._process: ClaudeProcess | None = None
        self._used = 0.0

    @property
    def pid(self) -> int | None:
        """The agent process, if there is one."""
        return self._process.pid if self._process else None

    def ask(self, request: Request) -> Reply | Failure:
        with self._asking:
            if self._closed:
                return Unavailable(CLOSED)
            try:
                import claude_agent_sdk  # noqa: F401
            except ImportError:
                return Misconfigured(NO_SDK)
            try:
                return self._run(self._bounded(request))
            finally:
                self._used = time.monotonic()

    def idle(self) -> None:
        if self._asking.acquire(blocking=False):
            try:
                if self._process and time.monotonic() - self._used >= self._idle_seconds:
                    self._run(self._end())
            finally:
                self._asking.release()

    def close(self) -> None:
        # `closed` before the loop is looked at, and the other way round in a request: so either
        # this one finds the loop, or the request finds that it may not begin.
        self._closed = True
        running = self._loop  # read once: another thread may be closing too
        if running:
            with suppress(RuntimeError):  # it has just been closed
                running.call_soon_threadsafe(self._stop.set)
        with self._asking:
            loop, thread = self._loop, self._thread
            if loop and thread:
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
        """The answer, or `Unavailable` after silence, a timeout or `close`; then the process is gone."""
        if self._closed:
            return Unavailable(CLOSED)
        work = asyncio.create_task(self._answer(request))
        stop = asyncio.create_task(self._stop.wait())
        late = await self._wait(work, stop)
        why = CLOSED if stop.done() else late
        stop.cancel()
        if work.done():
            return work.result()
        answer = self._cut(why)
        if self._process:
            await self._process.stop()
        # Its end ends the work; a cancelled SDK could leave the process behind.
        await asyncio.wait({work}, timeout=TO_LEAVE)
        work.cancel()
        await self._end()
        return answer

    def _cut(self, why: str) -> Unavailable:
        return self._process.cut(why) if self._process else Unavailable(why)

    async def _wait(self, *ends: asyncio.Task[Any]) -> str:
        """Until one of them is done, or for as long as we wait; then why no longer."""
        began = time.monotonic()
        whole = began + PATIENCE * self._seconds
        while True:
            heard = max(began, self._process.heard_at if self._process else began)
            silence = heard + self._seconds
            left = min(silence, whole) - time.monotonic()
            if left <= 0:
                silent = f"Claude Code said nothing for {self._seconds:g} s"
                late = f"The answer was not complete after {PATIENCE * self._seconds:g} s"
                return late if whole <= silence else silent
            done, _ = await asyncio.wait(ends, timeout=left, return_when=asyncio.FIRST_COMPLETED)
            if done:
                return ""

    async def _answer(self, request: Request) -> Reply | Failure:
        from claude_agent_sdk import CLINotFoundError

        answer: Reply | Failure
        try:
            process = await self._ready(request)
            answer = await process.ask(request.message, now=self._clock())
            if process.worn:
                await self._end()
            return answer
        except CLINotFoundError:
            answer = Misconfigured(NO_CLI)
        except Exception as error:  # the SDK raises bare Exceptions too; none may stop the worker
            said = scrub(" ".join(self._process.stderr)) if self._process else ""
            answer = self._cut(f"{BROKE_OFF}: {said or type(error).__name__}")
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
