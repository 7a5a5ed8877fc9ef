"""The `claude` provider: a model through the user's own Claude Code login, by the Claude Agent SDK.

Each request has a Claude Code process of its own, one at a time: it holds some hundred megabytes, and no
request can carry the text of an earlier one. It has no tools, reads no settings and writes no session file.
If the worker is killed, it ends with the answer, or with its own time limit.
Messages are marked as composed by a program: an `@/path` in captured text must not make the client read that
file.
"""

import asyncio
import json
import os
import re
import threading
import time
from collections import deque
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aforesaid.clock import MINUTE, SECOND, Clock
from aforesaid.errors import install_command
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
from aforesaid.paths import PRIVATE_DIR
from aforesaid.providers.base import LOOK_SECONDS, PATIENCE
from aforesaid.providers.claude_login import key_helper, secrets
from aforesaid.providers.errors import scrub_message
from aforesaid.text import tokens

if TYPE_CHECKING:
    from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient, Message, ResultMessage

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
    """The messages of one request, as they come. `sent`: its tokens as we count them, once it was sent."""

    sent: int = 0
    heard_at: float = field(default_factory=time.monotonic)
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

        self.heard_at = time.monotonic()
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

    def cut(self, why: str) -> Unavailable:
        """For a question that gets no answer. Once the client has it, so may the API, and it is paid for."""
        return Unavailable(why, usage=self.estimate if self.sent else None)


def outcome(
    received: Received, result: "ResultMessage", *, model: str, now: int
) -> Reply | Failure:
    """A reply that had to be continued stands, cut, even if that failed."""
    failed = received.error is not None or result.is_error
    usage = count_usage(result)
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


def count_usage(result: "ResultMessage") -> Usage:
    """As the client counted."""
    total = result.total_cost_usd
    microdollars = None if total is None else round(total * 1_000_000)
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
# The least that the API caches. Below it a marked prefix is never read again, only paid for.
CACHED_FROM, CACHED_FROM_SONNET = 4096, 1024


def with_examples(request: Request) -> str:
    """Worked examples as text: this client takes a system prompt and one message, no dialogue."""
    examples = (
        f'<example number="{number}">\n<asked>\n{asked}\n</asked>\n'
        f"<answered>\n{answered}\n</answered>\n</example>"
        for number, (asked, answered) in enumerate(request.examples, 1)
    )
    return "\n\n".join((request.system, *examples))


async def _composed(text: str) -> AsyncIterator[dict[str, Any]]:
    yield {
        "type": "user",
        "message": {"role": "user", "content": text},
        "parent_tool_use_id": None,
        "client_composed": True,
    }


def _options(request: Request, *, model: str, seconds: float) -> "ClaudeAgentOptions":
    from claude_agent_sdk import ClaudeAgentOptions

    system = with_examples(request)
    env = {name: "" for name in OUTER if name in os.environ} | QUIET
    env["API_TIMEOUT_MS"] = str(int(seconds * 1000))
    env["CLAUDE_CODE_MAX_OUTPUT_TOKENS"] = str(request.most_tokens)
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


CLOSED = "The provider was closed"
BROKE_OFF = "Claude Code ended in the middle of an answer"
TO_LEAVE = 5.0  # seconds for an answer to notice that its process is gone
TO_END = 30.0  # seconds that the end of a process may take, with every pause in it


def _misconfigured(why: str) -> Misconfigured:
    return Misconfigured(f"{why}. Install it: {install_command('claude')}.")


class ClaudeAgent:
    """The calling threads take turns."""

    name = "claude"

    def __init__(
        self, *, model: str, seconds: float, clock: Clock, cwd: Path, cli: str | None = None
    ) -> None:
        self.model, self.longest_seconds = model, PATIENCE * seconds + TO_END
        self._seconds, self._clock = seconds, clock
        self._cli, self._cwd = cli, cwd
        self._asking = threading.Lock()
        self._closed = False

    def ask(self, request: Request) -> Reply | Failure:
        with self._asking:
            if self._closed:
                return Unavailable(CLOSED)
            try:
                from claude_agent_sdk import ClaudeSDKClient
            except ImportError:
                return _misconfigured("The package of the `claude` provider is not installed")
            self._cwd.mkdir(PRIVATE_DIR, parents=True, exist_ok=True)
            stderr = deque[str](maxlen=3)
            options = _options(request, model=self.model, seconds=self._seconds)
            options.cwd, options.stderr, options.cli_path = self._cwd, stderr.append, self._cli
            return asyncio.run(self._answer(ClaudeSDKClient(options), request, stderr))

    def close(self) -> None:
        self._closed = True
        with self._asking:
            return  # the process is gone

    async def _answer(
        self, client: "ClaudeSDKClient", request: Request, stderr: deque[str]
    ) -> Reply | Failure:
        """The answer, or `Unavailable` after silence, a timeout or `close`; then the process is gone."""
        from claude_agent_sdk import CLINotFoundError

        received = Received()
        work = asyncio.create_task(self._talk(client, request, received))
        try:
            late = await self._wait(work, received)
            return received.cut(late) if late else work.result()
        except CLINotFoundError:
            return _misconfigured("There is no Claude Code client")
        except Exception as error:  # the SDK raises bare Exceptions too; none may stop the worker
            said = scrub(" ".join(stderr))
            return received.cut(f"{BROKE_OFF}: {said or type(error).__name__}")
        finally:
            await _end(client, work)

    async def _talk(
        self, client: "ClaudeSDKClient", request: Request, received: Received
    ) -> Reply | Failure:
        from claude_agent_sdk import ResultMessage

        await client.connect()
        await client.query(_composed(request.message))
        received.sent = tokens(with_examples(request)) + tokens(request.message)
        allowed = 1
        async for incoming in client.receive_response():
            received.add(incoming)
            if isinstance(incoming, ResultMessage):
                if incoming.origin and incoming.origin.get("kind") not in ("human", None):
                    # Running clients can write to each other, and this one cannot be hidden.
                    why = "Another session spoke to the agent process"
                    return Unavailable(why, usage=count_usage(incoming))
                return outcome(received, incoming, model=self.model, now=self._clock())
            if received.nudges > allowed:
                # It goes on by itself after the token limit. Once completes most replies; more is
                # a model that runs away.
                allowed = received.nudges
                await client.interrupt()
        return received.cut(BROKE_OFF)

    async def _wait(self, work: "asyncio.Task[Any]", received: Received) -> str:
        """Until it is done, or for as long as we wait; then why no longer."""
        whole = time.monotonic() + PATIENCE * self._seconds
        while not work.done():
            if self._closed:
                return CLOSED
            if time.monotonic() >= whole:
                return f"The answer was not complete after {PATIENCE * self._seconds:g} s"
            if time.monotonic() >= received.heard_at + self._seconds:
                return f"Claude Code said nothing for {self._seconds:g} s"
            await asyncio.wait({work}, timeout=LOOK_SECONDS)
        return ""


async def _end(client: "ClaudeSDKClient", work: "asyncio.Task[Any]") -> None:
    """After an answer the end of its input ends it. In the middle of one it is terminated, so that it takes
    its files with it; that ends the work, too: a cancelled SDK could leave the process behind."""
    process: Any = getattr(client._transport, "_process", None)
    with suppress(Exception):  # it may be gone
        if not work.done():
            process.terminate()
            await asyncio.wait({work}, timeout=TO_LEAVE)
            work.cancel()
    with suppress(Exception):
        await client.disconnect()
    with suppress(Exception):
        if process.returncode is None:
            process.kill()
            await process.wait()
