"""What Claude Code's messages for one request come to: a reply, or a failure by its kind.

The client reports an error as a message of its own making, whose text reads like an answer; here it
never becomes one. Which kind it is, is read off the error's category and the HTTP status; the text
counts only where there is neither.
"""

import os
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from recollect.clock import MINUTE, SECOND
from recollect.model.requests import (
    Away,
    Failure,
    Misconfigured,
    Refused,
    Reply,
    Usage,
    Wait,
)
from recollect.providers.claude_login import secrets
from recollect.providers.scrubbing import scrubbed
from recollect.text import tokens

if TYPE_CHECKING:
    from claude_agent_sdk import Message, ResultMessage

# When the limit does not say until when: a rate limit counts minutes, a plan's limit counts hours.
RATE_PAUSE = MINUTE
PLAN_PAUSE = 15 * MINUTE

_UNTIL = re.compile(r"limit reached\|(\d{10})\b")
_PLAN = re.compile(r"hit your .*limit|usage limit|out of usage credits", re.IGNORECASE)
_LOGIN = re.compile(r"not logged in|/login|invalid (api key|auth token)", re.IGNORECASE)
_ASK_LOGIN = "Run `claude` and type /login, or mend ANTHROPIC_API_KEY"


@dataclass(slots=True)
class Heard:
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
            case StreamEvent(event=event):
                self.began = True
                match event:
                    case {"delta": {"type": "text_delta", "text": str() as text}}:
                        self.streamed.append(text)
            case AssistantMessage(error=error) if error is not None:
                self.error = error
            case AssistantMessage(content=content, model=model):
                self.model = model
                self.parts += [block.text for block in content if isinstance(block, TextBlock)]
            case UserMessage():
                self.nudges += 1
            case RateLimitEvent(rate_limit_info=info) if info.status == "rejected":
                self.resets_at = info.resets_at
            case _:
                pass

    @property
    def estimate(self) -> Usage:
        """For an answer that was cut off, so that nobody counted."""
        received = tokens("".join(self.streamed or self.parts))
        return Usage(self.sent, 0, 0, received, estimated=True)


def outcome(
    heard: Heard, result: "ResultMessage", *, model: str, spent: float, now: int
) -> Reply | Failure:
    """`spent`: what the client had counted before this request; its total runs on.

    A reply that had to be continued stands, cut, even if the continuing failed."""
    failed = heard.error is not None or result.is_error
    usage = counted(result, spent)
    if not failed or (heard.nudges and heard.parts):
        return Reply(
            text="".join(heard.parts),
            model=heard.model or model,
            usage=usage,
            complete=result.stop_reason != "max_tokens" and not failed,
        )
    told = result.result or "; ".join(result.errors or []) or result.subtype
    status = result.api_error_status
    found = failure(heard.error, status, told, model=model, resets_at=heard.resets_at, now=now)
    if isinstance(found, Misconfigured):
        return found
    return replace(found, usage=_cost(heard, usage))


def _cost(heard: Heard, usage: Usage) -> Usage | None:
    """Of a failure the client counts the dollars at times, and no tokens."""
    if usage.sent or usage.received:
        return usage
    if heard.began or usage.microdollars:
        return replace(heard.estimate, microdollars=usage.microdollars or None)
    return None


def failure(
    error: str | None, status: int | None, told: str, *, model: str, resets_at: int | None, now: int
) -> Failure:
    why = shown(told)
    if error == "rate_limit" or status == 429 or _UNTIL.search(told):
        return Wait(why, _until(told, resets_at, now))
    if error == "model_not_found" or status == 404:
        fix = "Choose another one: `recollect config set synthesis.model NAME`"
        return Misconfigured(f"Claude Code has no model {model!r}. {fix}.")
    if error == "authentication_failed" or status in (401, 403) or _LOGIN.search(told):
        return Misconfigured(f"Claude Code cannot log in ({why}). {_ASK_LOGIN}.")
    if error == "billing_error":
        return Misconfigured(f"Claude Code is not paid for ({why}). See your plan or your credit.")
    if error == "invalid_request" or (status is not None and 400 <= status < 500):
        return Refused(why)
    return Away(why)


def _until(told: str, resets_at: int | None, now: int) -> int:
    if found := _UNTIL.search(told):
        resets_at = int(found[1])
    if resets_at is not None and resets_at * SECOND > now:
        return resets_at * SECOND
    return now + (PLAN_PAUSE if _PLAN.search(told) else RATE_PAUSE)


def shown(words: str) -> str:
    """What may be shown of the client's words."""
    return scrubbed(words, secrets(os.environ))


def counted(result: "ResultMessage", spent: float) -> Usage:
    """As the client counted. Its dollars are a running total, of which `spent` was there before."""
    total = result.total_cost_usd
    counts: dict[str, Any] = result.usage or {}

    def number(name: str) -> int:
        value = counts.get(name)
        return value if isinstance(value, int) else 0

    cached, written = number("cache_read_input_tokens"), number("cache_creation_input_tokens")
    return Usage(
        sent=number("input_tokens") + cached + written,
        cached=cached,
        written=written,
        received=number("output_tokens"),
        microdollars=None if total is None else round(max(0.0, total - spent) * 1_000_000),
    )
