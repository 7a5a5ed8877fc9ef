"""OpenAI-compatible chat completions through the official SDK.

A server that rejects a parameter by name is asked again without it; that is remembered while the provider
lives. Reasoning tokens are counted but are not part of the reply.
"""

import json
import os
from typing import TYPE_CHECKING, Any

from aforesaid import text
from aforesaid.clock import Clock
from aforesaid.model.requests import Failure, Misconfigured, Refused, Reply, Request, Usage
from aforesaid.providers.errors import Service, classify, server_message
from aforesaid.providers.http import (
    PRESETS,
    Endpoint,
    HttpModel,
    Incoming,
    broke_off,
    host_and_port,
)

if TYPE_CHECKING:
    from openai import OpenAI

NO_KEY = "none"  # the SDK insists on one; local servers do not look at it


class OpenAiApi(HttpModel):
    name = "openai"
    address_fix = "`synthesis.endpoint`"
    optional = ("stream_options", "temperature", "max_tokens")

    def __init__(
        self, *, endpoint: Endpoint, model: str, api_key: str | None, seconds: float, clock: Clock
    ) -> None:
        chosen = model or endpoint.default_model or ""
        super().__init__(model=chosen, api_key=api_key, seconds=seconds, clock=clock)
        self._endpoint = endpoint

    def _problem(self) -> Misconfigured | None:
        if self.model:
            return None
        return Misconfigured(
            f"No model of {self._endpoint.name} is chosen. "
            "Name it with `aforesaid config set synthesis.model …`."
        )

    def _api_key(self) -> str:
        variable = self._endpoint.key_variable
        return self._key or (os.environ.get(variable, "").strip() if variable else "")

    def _connect(self) -> "OpenAI":
        import openai

        key = self._api_key() or NO_KEY
        client = openai.OpenAI(
            api_key=key,
            base_url=self._endpoint.url,
            timeout=self._seconds,
            max_retries=0,
            # What is in OPENAI_CUSTOM_HEADERS must not take its place.
            default_headers={"Authorization": f"Bearer {key}"},
            http_client=self._http_client(direct=self._endpoint.local),
        )
        if self._endpoint.name != "openai":  # private to OpenAI
            client.organization = client.project = None
        return client

    def _service(self, _: "OpenAI") -> Service:
        endpoint, key = self._endpoint, self._api_key()
        variable = endpoint.key_variable
        setting = "`aforesaid config set synthesis.api_key …`"
        return Service(
            name=endpoint.name,
            place=host_and_port(endpoint.url),
            model=self.model,
            key_fix=f"{variable}, or {setting}" if variable else f"it with {setting}",
            address_fix=self.address_fix,
            keyed=bool(key) or variable is None,
            local=endpoint.local,
            default_address=endpoint in PRESETS,
            secrets=(key,) if key else (),
        )

    def _parameters(self, most_tokens: int) -> dict[str, Any]:
        chosen = {
            "stream_options": {"include_usage": True},
            "temperature": 0,
            "max_tokens": most_tokens,
        }
        kept = {name: value for name, value in chosen.items() if name not in self._rejected}
        if "max_tokens" in self._rejected:
            kept["max_completion_tokens"] = most_tokens
        return kept

    def _stream(self, client: "OpenAI", incoming: Incoming, service: Service) -> Reply | Failure:
        # OpenRouter tells the price only to those who ask.
        extra = {"usage": {"include": True}} if self._endpoint.name == "openrouter" else None
        create: Any = client.chat.completions.create  # its overloads know no optional parameters
        stream = create(
            model=self.model,
            messages=_messages(incoming.request),
            stream=True,
            extra_body=extra,
            **self._parameters(incoming.request.most_tokens),
        )
        reading = _Reading(incoming)
        with stream:
            if "json" in stream.response.headers.get("content-type", ""):
                body = json.loads(stream.response.read())
                if isinstance(body, dict) and body.get("error"):
                    return classify(200, {}, body, service, now=self._clock())
                from openai.types.chat import ChatCompletion

                reading.take(ChatCompletion.model_validate(body))
            else:
                for chunk in stream:
                    if incoming.left:
                        break
                    reading.take(chunk)
        return reading.outcome(service)


class _Reading:
    """A stream, chunk by chunk; or a whole reply, of a server that does not stream."""

    def __init__(self, incoming: Incoming) -> None:
        self.incoming = incoming
        self.finish: str | None = None
        self.refusal = ""

    def take(self, chunk: Any) -> None:
        self.incoming.set_model(chunk.model)
        if chunk.usage is not None:
            self.incoming.counted = _count(chunk.usage)
        for choice in chunk.choices or ():
            self.finish = choice.finish_reason or self.finish
            message = getattr(choice, "delta", None) or getattr(choice, "message", None)
            content = getattr(message, "content", None)
            if isinstance(content, str) and content:
                self.incoming.parts.append(content)
            for name in ("reasoning_content", "reasoning", "refusal"):
                thought = getattr(message, name, None)
                if isinstance(thought, str):
                    self.incoming.thoughts.append(thought)
                    self.refusal += thought if name == "refusal" else ""

    def outcome(self, service: Service) -> Reply | Failure:
        if self.finish is None:
            return broke_off(service, self.incoming)
        usage = self.incoming.usage
        if self.finish == "content_filter":
            return Refused(f"The content filter of {service.name} refused this one.", usage)
        if self.refusal and not self.incoming.parts:
            return Refused(f"The model declined: {server_message(self.refusal, service)}", usage)
        return Reply(self.incoming.text, self.incoming.model, usage, self.finish != "length")


def _count(usage: Any) -> Usage:
    details = getattr(usage, "prompt_tokens_details", None)
    cost = getattr(usage, "cost", None)
    known = isinstance(cost, int | float) and not isinstance(cost, bool) and 0 <= cost < 1e6
    return Usage(
        sent=_whole(usage, "prompt_tokens"),
        cached=_whole(details, "cached_tokens"),
        written=_whole(details, "cache_write_tokens"),
        received=_whole(usage, "completion_tokens"),
        microdollars=round(cost * 1_000_000) if known and cost is not None else None,
    )


def _whole(counts: object, name: str) -> int:
    value = getattr(counts, name, None)
    return max(0, value) if isinstance(value, int) else 0


def _messages(request: Request) -> list[dict[str, str]]:
    turns = [("system", request.system)]
    for asked, answered in request.examples:
        turns += ("user", asked), ("assistant", answered)
    turns.append(("user", request.message))
    # Half a character cannot be sent.
    return [{"role": role, "content": text.sqlite_safe(words)} for role, words in turns]
