"""Anthropic's API with a key, through the official SDK.

The static part of a request is marked for the provider's cache: one mark, on its last block. The SDK is
loaded at the first question, since most installations never ask one; each question has a client of its own,
because a connection that is being closed from another thread cannot be trusted with the next one.
"""

import os
from typing import TYPE_CHECKING, Any

from recollect import extras, text
from recollect.clock import Clock
from recollect.model.requests import Away, Failure, Misconfigured, Refused, Reply, Request, Usage
from recollect.providers import endpoints
from recollect.providers.http_calls import Arriving, Calls
from recollect.providers.http_failures import Service, failure_of, rejects, unusable

if TYPE_CHECKING:
    from anthropic import Anthropic
    from anthropic.types import MessageParam, RawMessageStreamEvent, TextBlockParam

DEFAULT_MODEL = "claude-haiku-5-5"
URL = "https://api.anthropic.com"
ADDRESS = "ANTHROPIC_BASE_URL"
KEY_FIX = "ANTHROPIC_API_KEY, or `recollect config set synthesis.api_key …`"
NOT_INSTALLED = (
    f"The package anthropic is not installed. Install it with: {extras.install('anthropic')}"
)
CUT_SHORT = ("max_tokens", "model_context_window_exceeded")


class AnthropicApi:
    name = "anthropic"

    def __init__(self, *, model: str, api_key: str | None, seconds: float, clock: Clock) -> None:
        self.model = model or DEFAULT_MODEL
        self._key = (api_key or "").strip() or None
        self._seconds = seconds
        self._clock = clock
        self._calls = Calls(seconds)
        self._thinks = False

    @property
    def longest_seconds(self) -> float:
        return self._calls.most_seconds

    def ask(self, request: Request) -> Reply | Failure:
        arriving = Arriving(request, self.model)
        return self._calls.run(lambda: self._answer(arriving), arriving)

    def idle(self) -> None:
        """Nothing is kept open."""

    def close(self) -> None:
        self._calls.close()

    def _answer(self, arriving: Arriving) -> Reply | Failure:
        url = os.environ.get(ADDRESS) or URL
        if not endpoints.is_address(url):
            return Misconfigured(f"The address is not an http(s) one. Mend {ADDRESS}.")
        try:
            client = self._client(direct=endpoints.is_loopback(url))
        except ImportError:
            return Misconfigured(NOT_INSTALLED)
        except Exception as error:  # a profile on disk or a variable that the SDK rejects
            kind = type(error).__name__
            return Misconfigured(f"The anthropic SDK cannot be set up ({kind}). Set {KEY_FIX}.")
        service = self._service(client)
        arriving.hang_up = client.close
        with client:
            try:
                return (
                    arriving.gone or unusable(service) or self._converse(client, arriving, service)
                )
            except Exception as error:
                return arriving.cut(failure_of(error, service, now=self._clock()))

    def _client(self, *, direct: bool) -> "Anthropic":
        """The SDK itself reads ANTHROPIC_BASE_URL, ANTHROPIC_AUTH_TOKEN and the like."""
        import anthropic
        import httpx2

        return anthropic.Anthropic(
            api_key=self._key,
            timeout=self._seconds,
            max_retries=0,  # the worker does the retrying
            http_client=httpx2.Client(trust_env=False, follow_redirects=True) if direct else None,
        )

    def _service(self, client: "Anthropic") -> Service:
        url = str(client.base_url)
        found = client.api_key or client.auth_token
        return Service(
            name="Anthropic",
            place=endpoints.place(url),
            model=self.model,
            key_fix=KEY_FIX,
            address_fix=ADDRESS,
            keyed=bool(found or client.credentials),
            local=endpoints.is_loopback(url),
            usual=url.rstrip("/") == URL,
            secrets=(found,) if found else (),
        )

    def _converse(
        self, client: "Anthropic", arriving: Arriving, service: Service
    ) -> Reply | Failure:
        """Notes need no thinking, which is paid for; but not every model can do without."""
        try:
            return self._once(client, arriving, service)
        except Exception as error:
            if self._thinks or not rejects(error, "thinking"):
                raise
        self._thinks = True
        return self._once(client, arriving, service)

    def _once(self, client: "Anthropic", arriving: Arriving, service: Service) -> Reply | Failure:
        request = arriving.request
        optional: dict[str, Any] = {} if self._thinks else {"thinking": {"type": "disabled"}}
        stream = client.messages.create(
            model=self.model,
            max_tokens=request.most_tokens,
            system=[_block(request.system, cached=not request.examples)],
            messages=_messages(request),
            stream=True,
            **optional,
        )
        reading = _Reading(arriving)
        with stream:
            for event in stream:
                if arriving.left:
                    break
                reading.take(event)
        if not reading.finished:
            why = f"{service.where} broke off, or it does not speak this protocol."
            return Away(why, arriving.partial)
        if reading.stop_reason == "refusal":
            why = f"The model {arriving.model} declined to answer this one."
            return Refused(why, arriving.usage)
        complete = reading.stop_reason not in CUT_SHORT
        return Reply(arriving.text, arriving.model, arriving.usage, complete)


class _Reading:
    """A stream, event by event."""

    def __init__(self, arriving: Arriving) -> None:
        self.arriving = arriving
        self.counts: dict[str, int] = {}
        self.stop_reason: str | None = None
        self.finished = False

    def take(self, event: "RawMessageStreamEvent") -> None:
        match event.type:
            case "message_start":
                self.arriving.named(event.message.model)
                self._count(event.message.usage)
            case "content_block_delta" if event.delta.type == "text_delta":
                self.arriving.parts.append(event.delta.text)
            case "content_block_delta" if event.delta.type == "thinking_delta":
                self.arriving.thoughts.append(event.delta.thinking)
            case "message_delta":
                self.stop_reason = event.delta.stop_reason
                self._count(event.usage)
            case "message_stop":
                self.finished = True
            case _:
                pass

    def _count(self, usage: Any) -> None:
        """The later counts are of the whole message, not of what is new; some are left out."""
        for name in COUNTS:
            value = getattr(usage, name, None)
            if isinstance(value, int) and not isinstance(value, bool):
                self.counts[name] = max(0, value)
        fresh, read, written, received = (self.counts.get(name, 0) for name in COUNTS)
        self.arriving.counted = Usage(fresh + read + written, read, written, received)


COUNTS = (
    "input_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "output_tokens",
)


def _messages(request: Request) -> "list[MessageParam]":
    messages: list[MessageParam] = []
    for number, (asked, answered) in enumerate(request.examples, start=1):
        last = number == len(request.examples)
        messages.append({"role": "user", "content": [_block(asked)]})
        messages.append({"role": "assistant", "content": [_block(answered, cached=last)]})
    messages.append({"role": "user", "content": [_block(request.message)]})
    return messages


def _block(words: str, *, cached: bool = False) -> "TextBlockParam":
    block: TextBlockParam = {"type": "text", "text": text.sqlite_safe(words)}
    if cached:
        block["cache_control"] = {"type": "ephemeral"}
    return block
