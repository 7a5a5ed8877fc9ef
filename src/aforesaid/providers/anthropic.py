"""Anthropic's API with a key, through the official SDK. The static part of a request is cached."""

import os
from typing import TYPE_CHECKING, Any

from aforesaid import text
from aforesaid.clock import Clock
from aforesaid.model.requests import Failure, Misconfigured, Refused, Reply, Request, Usage
from aforesaid.providers.errors import Service
from aforesaid.providers.http import (
    HttpModel,
    Incoming,
    broke_off,
    host_and_port,
    is_loopback,
    parse_address,
)

if TYPE_CHECKING:
    from anthropic import Anthropic

DEFAULT_MODEL = "claude-haiku-5-5"
URL = "https://api.anthropic.com"
ADDRESS = "ANTHROPIC_BASE_URL"
CUT_SHORT = ("max_tokens", "model_context_window_exceeded")
COUNTS = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")


class AnthropicApi(HttpModel):
    name = "anthropic"
    key_fix = "ANTHROPIC_API_KEY, or `aforesaid config set synthesis.api_key …`"
    address_fix = ADDRESS
    optional = (
        "thinking",
    )  # notes need none, which is paid for; but not every model can do without

    def __init__(self, *, model: str, api_key: str | None, seconds: float, clock: Clock) -> None:
        super().__init__(
            model=model or DEFAULT_MODEL, api_key=api_key, seconds=seconds, clock=clock
        )

    def _problem(self) -> Misconfigured | None:
        if parse_address(os.environ.get(ADDRESS) or URL):
            return None
        return Misconfigured(f"The address is not an http(s) one. Mend {ADDRESS}.")

    def _connect(self) -> "Anthropic":
        """The SDK itself reads ANTHROPIC_BASE_URL, ANTHROPIC_AUTH_TOKEN and the like."""
        import anthropic

        direct = is_loopback(os.environ.get(ADDRESS) or URL)
        return anthropic.Anthropic(
            api_key=self._key or None,
            timeout=self._seconds,
            max_retries=0,
            http_client=self._http_client(direct=direct),
        )

    def _service(self, client: "Anthropic") -> Service:
        url = str(client.base_url)
        found = client.api_key or client.auth_token
        return Service(
            name="Anthropic",
            place=host_and_port(url),
            model=self.model,
            key_fix=self.key_fix,
            address_fix=self.address_fix,
            keyed=bool(found or client.credentials),
            local=is_loopback(url),
            default_address=url.rstrip("/") == URL,
            secrets=(found,) if found else (),
        )

    def _stream(self, client: "Anthropic", incoming: Incoming, service: Service) -> Reply | Failure:
        request = incoming.request
        thinks = "thinking" in self._rejected
        optional: dict[str, Any] = {} if thinks else {"thinking": {"type": "disabled"}}
        create: Any = client.messages.create
        stream = create(
            model=self.model,
            max_tokens=request.most_tokens,
            system=[_block(request.system, cached=not request.examples)],
            messages=_messages(request),
            stream=True,
            **optional,
        )
        counts: dict[str, int] = {}
        stop_reason, finished = None, False
        with stream:
            for event in stream:
                if incoming.left:
                    break
                match event.type:
                    case "message_start":
                        incoming.set_model(event.message.model)
                        incoming.counted = _count(event.message.usage, counts)
                    case "content_block_delta" if event.delta.type == "text_delta":
                        incoming.parts.append(event.delta.text)
                    case "content_block_delta" if event.delta.type == "thinking_delta":
                        incoming.thoughts.append(event.delta.thinking)
                    case "message_delta":
                        stop_reason = event.delta.stop_reason
                        incoming.counted = _count(event.usage, counts)
                    case "message_stop":
                        finished = True
        if not finished:
            return broke_off(service, incoming)
        if stop_reason == "refusal":
            why = f"The model {incoming.model} declined to answer this one."
            return Refused(why, incoming.usage)
        complete = stop_reason not in CUT_SHORT
        return Reply(incoming.text, incoming.model, incoming.usage, complete)


def _count(usage: Any, counts: dict[str, int]) -> Usage:
    """The later counts are of the whole message, not of what is new; some are left out."""
    for name in COUNTS:
        value = getattr(usage, name, None)
        if isinstance(value, int) and not isinstance(value, bool):
            counts[name] = max(0, value)
    fresh, read, written, received = (counts.get(name, 0) for name in COUNTS)
    return Usage(fresh + read + written, read, written, received)


def _messages(request: Request) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    for number, (asked, answered) in enumerate(request.examples, start=1):
        last = number == len(request.examples)
        messages.append({"role": "user", "content": [_block(asked)]})
        messages.append({"role": "assistant", "content": [_block(answered, cached=last)]})
    return [*messages, {"role": "user", "content": [_block(request.message)]}]


def _block(words: str, *, cached: bool = False) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "text", "text": text.sqlite_safe(words)}
    return block | ({"cache_control": {"type": "ephemeral"}} if cached else {})
