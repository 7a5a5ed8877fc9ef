"""Any API that speaks OpenAI's chat completions, through the official SDK.

A server that rejects a parameter by name is asked again without it, or with its newer name, and that is
remembered for as long as the provider lives. Reasoning is paid for but is not part of the reply.
"""

import json
import os
from typing import TYPE_CHECKING, Any

from recollect import extras, text
from recollect.clock import Clock
from recollect.model.requests import Away, Failure, Misconfigured, Refused, Reply, Request, Usage
from recollect.providers import endpoints
from recollect.providers.endpoints import Endpoint
from recollect.providers.http_calls import Arriving, Calls
from recollect.providers.http_failures import (
    Service,
    failure_of,
    meaning,
    shown,
    told,
    unusable,
)
from recollect.providers.openai_dialect import MOST_REJECTIONS, Dialect, rejected

if TYPE_CHECKING:
    from openai import OpenAI

NOT_INSTALLED = f"The package openai is not installed. Install it with: {extras.install('openai')}"
NO_KEY = "none"  # the SDK insists on one; local servers do not look at it


class OpenAiApi:
    name = "openai"

    def __init__(
        self,
        *,
        endpoint: Endpoint,
        model: str,
        api_key: str | None,
        seconds: float,
        clock: Clock,
    ) -> None:
        self.model = model or endpoint.default_model or ""
        self._endpoint = endpoint
        self._key = (api_key or "").strip()
        self._seconds = seconds
        self._clock = clock
        self._dialect = Dialect()
        self._calls = Calls(seconds)

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
        service = self._service()
        problem = self._no_model() or unusable(service)
        if problem:
            return problem
        try:
            client = self._client(service)
        except ImportError:
            return Misconfigured(NOT_INSTALLED)
        except Exception as error:  # an address or a variable that the SDK rejects
            fix = "Mend `synthesis.endpoint`"
            return Misconfigured(f"The openai SDK cannot be set up: {type(error).__name__}. {fix}.")
        arriving.hang_up = client.close
        with client:
            try:
                return arriving.gone or self._converse(client, arriving, service)
            except Exception as error:
                return arriving.cut(failure_of(error, service, now=self._clock()))

    def _no_model(self) -> Misconfigured | None:
        if self.model:
            return None
        return Misconfigured(
            f"Which model of {self._endpoint.name} is to write? "
            "Name it with `recollect config set synthesis.model …`."
        )

    def _service(self) -> Service:
        endpoint = self._endpoint
        variable = endpoint.key_variable
        key = self._key or (os.environ.get(variable, "").strip() if variable else "")
        setting = "`recollect config set synthesis.api_key …`"
        return Service(
            name=endpoint.name,
            place=endpoints.place(endpoint.url),
            model=self.model,
            key_fix=f"{variable}, or {setting}" if variable else f"it with {setting}",
            address_fix="`synthesis.endpoint`",
            keyed=bool(key) or variable is None,
            local=endpoint.local,
            usual=endpoint.preset,
            secrets=(key,) if key else (),
        )

    def _client(self, service: Service) -> "OpenAI":
        import httpx2
        import openai

        key = next(iter(service.secrets), NO_KEY)
        direct = self._endpoint.local
        client = openai.OpenAI(
            api_key=key,
            base_url=self._endpoint.url,
            timeout=self._seconds,
            max_retries=0,  # the worker does the retrying
            # What is in OPENAI_CUSTOM_HEADERS must not take its place.
            default_headers={"Authorization": f"Bearer {key}"},
            http_client=httpx2.Client(trust_env=False, follow_redirects=True) if direct else None,
        )
        if self._endpoint.name != "openai":  # nobody else's business
            client.organization = client.project = None
        return client

    def _converse(self, client: "OpenAI", arriving: Arriving, service: Service) -> Reply | Failure:
        for _ in range(MOST_REJECTIONS):
            try:
                return self._once(client, arriving, service)
            except Exception as error:
                name = rejected(error, self._dialect)
                if name is None:
                    raise
                self._dialect = self._dialect.without(name)
        return self._once(client, arriving, service)

    def _once(self, client: "OpenAI", arriving: Arriving, service: Service) -> Reply | Failure:
        # OpenRouter tells the price only to those who ask.
        extra = {"usage": {"include": True}} if self._endpoint.name == "openrouter" else None
        create: Any = client.chat.completions.create  # its overloads know no dialects
        stream = create(
            model=self.model,
            messages=_messages(arriving.request),
            stream=True,
            extra_body=extra,
            **self._dialect.parameters(arriving.request.most_tokens),
        )
        reading = _Reading(arriving)
        with stream:
            if "json" in stream.response.headers.get("content-type", ""):
                body = json.loads(stream.response.read())
                if isinstance(body, dict) and body.get("error"):
                    return meaning(told(200, {}, body), service, now=self._clock())
                reading.take_whole(body)
            else:
                for chunk in stream:
                    if arriving.left:
                        break
                    reading.take(chunk)
                    if arriving.loops:
                        reading.finish = "length"
                        break
        return reading.outcome(service)


class _Reading:
    """A stream, chunk by chunk."""

    def __init__(self, arriving: Arriving) -> None:
        self.arriving = arriving
        self.finish: str | None = None
        self.refusal = ""

    def take(self, chunk: Any) -> None:
        self.arriving.named(chunk.model)
        if chunk.usage is not None:
            self._count(chunk.usage)
        for choice in chunk.choices or ():
            self.finish = choice.finish_reason or self.finish
            if choice.delta is not None:
                self._say(choice.delta)

    def take_whole(self, body: object) -> None:
        """A server that does not stream sends a message where the chunks have a delta."""
        from openai.types.chat import ChatCompletion

        whole = ChatCompletion.model_validate(body)
        self.arriving.named(whole.model)
        if whole.usage is not None:
            self._count(whole.usage)
        for choice in whole.choices[:1]:
            self.finish = choice.finish_reason
            self._say(choice.message)

    def outcome(self, service: Service) -> Reply | Failure:
        if self.finish is None:
            why = f"{service.where} broke off, or it does not speak this protocol."
            return Away(why, self.arriving.partial)
        usage = self.arriving.usage
        if self.finish == "content_filter":
            return Refused(f"The content filter of {service.name} refused this one.", usage)
        if self.refusal and not self.arriving.parts:
            return Refused(f"The model declined: {shown(self.refusal, service)}", usage)
        return Reply(self.arriving.text, self.arriving.model, usage, self.finish != "length")

    def _say(self, said: Any) -> None:
        if isinstance(said.content, str) and said.content:
            self.arriving.parts.append(said.content)
        for name in ("reasoning_content", "reasoning"):
            thought = getattr(said, name, None)
            if isinstance(thought, str):
                self.arriving.thoughts.append(thought)
        if refusal := getattr(said, "refusal", None):
            self.arriving.thoughts.append(refusal)
            self.refusal += refusal

    def _count(self, usage: Any) -> None:
        details = getattr(usage, "prompt_tokens_details", None)
        cost = getattr(usage, "cost", None)
        known = isinstance(cost, int | float) and not isinstance(cost, bool) and 0 <= cost < 1e6
        self.arriving.counted = Usage(
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
    messages = [_message("system", request.system)]
    for asked, answered in request.examples:
        messages += _message("user", asked), _message("assistant", answered)
    return [*messages, _message("user", request.message)]


def _message(role: str, words: str) -> dict[str, str]:
    return {"role": role, "content": text.sqlite_safe(words)}  # half a character cannot be sent
