"""One process of Claude Code, as a model that answers single questions.

It has no tools, reads no settings (so no hooks, plugins, MCP servers or CLAUDE.md), writes no session
file, and after each answer it is rewound to its empty beginning, so that no request carries the text
of an earlier one. Rewinding leaves nothing behind, where `/clear` leaves 500 bytes in every later
request; a client that cannot rewind must end (`fresh` is false).

A question goes in marked as composed by a program. Otherwise an `@/path` in it, which may come from
anybody's text, would make the client read that file and send it.
"""

import asyncio
import json
import os
import time
from collections import deque
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from recollect.model.requests import Away, Failure, Reply, Request
from recollect.providers.claude_login import key_helper
from recollect.providers.claude_results import Heard, counted, outcome, shown
from recollect.text import tokens

if TYPE_CHECKING:
    from claude_agent_sdk import ClaudeAgentOptions

# What the client would otherwise send besides: a request for a title per question (more tokens than
# the question's own frame), update checks, telemetry, feature flags; and its own retries over
# minutes, where our queue has a back-off of its own.
QUIET = {
    "RECOLLECT_INSIDE": "1",  # our own hooks capture nothing, should they ever run in there
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


class ClaudeProcess:
    def __init__(
        self, request: Request, *, model: str, seconds: float, cli: str | None, cwd: Path
    ) -> None:
        from claude_agent_sdk import ClaudeSDKClient

        self._complaints: deque[str] = deque(maxlen=3)
        system = with_examples(request)
        self._client = ClaudeSDKClient(
            _options(system, request.most_tokens, self._complaints, model, seconds, cli, cwd)
        )
        self._static, self._most_tokens, self._model = (
            request.static_digest,
            request.most_tokens,
            model,
        )
        self._system_tokens = tokens(system)
        self._under_way: Heard | None = None
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

    @property
    def complaint(self) -> str:
        return shown(" ".join(self._complaints))

    async def ask(self, message: str, *, now: int) -> Reply | Failure:
        from claude_agent_sdk import ResultMessage

        turn = str(uuid4())
        self.fresh = False
        self._requests += 1
        await self._client.query(_composed(message, turn))
        self._under_way = heard = Heard(self._system_tokens + tokens(message))
        allowed = 1
        async for said in self._client.receive_response():
            self.heard_at = time.monotonic()
            heard.add(said)
            if isinstance(said, ResultMessage):
                spent, self._spent = self._spent, said.total_cost_usd or self._spent
                self._under_way = None
                if said.origin and said.origin.get("kind") not in ("human", None):
                    # Running clients can write to each other, and this one cannot be hidden.
                    why = "Another session spoke to the agent process"
                    return Away(why, usage=counted(said, spent))
                answer = outcome(heard, said, model=self._model, spent=spent, now=now)
                self.fresh = await self._rewound(turn)
                return answer
            if heard.nudges > allowed:
                # It goes on by itself after the token limit. Once completes most replies; more is
                # a model that runs away.
                allowed = heard.nudges
                await self._client.interrupt()
        return self.cut("Claude Code ended in the middle of an answer")

    def cut(self, why: str) -> Away:
        """For a question that gets no answer. Once the client has it, so may the API, and it is paid for."""
        heard = self._under_way
        return Away(why, usage=heard.estimate if heard else None)

    async def end(self) -> None:
        """Its input closes, which ends it between requests; the SDK waits and then insists."""
        process = self._process
        with suppress(Exception):
            await self._client.disconnect()
        if process is not None and process.returncode is None:
            with suppress(Exception):
                process.kill()
                await process.wait()

    async def stop(self) -> None:
        """In the middle of a request too. Asked first: it then takes its files with it."""
        process = self._process
        if process is None or process.returncode is not None:
            return
        with suppress(Exception):
            process.terminate()
            await asyncio.wait_for(process.wait(), 1)
        if process.returncode is None:
            with suppress(Exception):
                process.kill()

    async def _rewound(self, turn: str) -> bool:
        """The SDK has no method for it yet; without it, or on any trouble, the process must go."""
        control = getattr(getattr(self._client, "_query", None), "_send_control_request", None)
        if control is None:
            return False
        try:
            asked = {"subtype": "rewind_conversation", "target_message_uuid": turn}
            answer = await control(asked, timeout=5.0)
        except Exception:  # what the SDK raises here is an Exception and nothing narrower
            return False
        return answer.get("rewound") is True

    @property
    def _process(self) -> Any:
        return getattr(getattr(self._client, "_transport", None), "_process", None)


def with_examples(request: Request) -> str:
    """Worked examples as text: this client takes a system prompt and one message, no dialogue."""
    parts = [request.system]
    for number, (asked, answered) in enumerate(request.examples, 1):
        parts.append(
            f'<example number="{number}">\n<asked>\n{asked}\n</asked>\n'
            f"<answered>\n{answered}\n</answered>\n</example>"
        )
    return "\n\n".join(parts)


def resident(pid: int | None) -> int:
    """Bytes of memory; 0 where the system does not tell."""
    try:
        pages = Path(f"/proc/{pid}/statm").read_text("ascii").split()[1]
    except (OSError, IndexError):
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


async def _composed(text: str, turn: str) -> AsyncIterator[dict[str, Any]]:
    said = {"role": "user", "content": text}
    frame = {"type": "user", "message": said, "parent_tool_use_id": None}
    yield {**frame, "uuid": turn, "client_composed": True}


def _options(
    system: str,
    most_tokens: int,
    complaints: deque[str],
    model: str,
    seconds: float,
    cli: str | None,
    cwd: Path,
) -> "ClaudeAgentOptions":
    from claude_agent_sdk import ClaudeAgentOptions

    cached_from = CACHED_FROM_SONNET if "sonnet" in model else CACHED_FROM
    caching = {} if tokens(system) >= cached_from else {"DISABLE_PROMPT_CACHING": "1"}
    limits = {
        "API_TIMEOUT_MS": str(int(seconds * 1000)),
        "CLAUDE_CODE_MAX_OUTPUT_TOKENS": str(most_tokens),
        "CLAUDE_CODE_MESSAGES_PROMPT_CACHE_TTL": "5m",
    }
    outer = {name: "" for name in OUTER if name in os.environ}
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
        cwd=cwd,
        cli_path=cli,
        env={**outer, **QUIET, **limits, **caching},
        extra_args={"no-session-persistence": None, "disable-slash-commands": None},
        settings=json.dumps({"apiKeyHelper": helper}) if helper else None,
        stderr=complaints.append,
    )
