"""Scripted model APIs on loopback: Anthropic's messages and OpenAI's chat completions, streamed or plain.

    with ScriptedAnthropic("first reply", Status(529), then=lambda body: "every later one") as server:
        ...  # server.url; server.requests; server.sent, .cached, .written, .received

Steps are taken in order; after the last one `then` answers for ever. A step is a text, a function of the
request's body that gives a step, or a fault. The server counts tokens by a fixed rule, four characters each,
reports them as its usage, and adds them up, so that a ledger can be compared with what the API counted.
"""

import json
from collections.abc import Iterator
from uuid import uuid4

from tests.support.scripted_server import Counts, Recorded, ScriptedModel, count
from tests.support.scripted_steps import Broken, Bytes, Cut, Hang, Json, Raw, Say, Status, Step

__all__ = [
    "Broken",
    "Bytes",
    "Cut",
    "Hang",
    "Raw",
    "Recorded",
    "Say",
    "ScriptedAnthropic",
    "ScriptedOpenAi",
    "Status",
    "Step",
    "count",
]

ANTHROPIC_ERRORS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}


class ScriptedAnthropic(ScriptedModel):
    path = "/v1/messages"

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def parts(self, body: Json) -> tuple[str, str]:
        """Up to the last mark for the cache, and the rest."""
        system = body.get("system") or []
        said = [system] if isinstance(system, str) else list(system)
        for message in body["messages"]:
            content = message["content"]
            said += [content] if isinstance(content, str) else content
        marks = [i for i, b in enumerate(said) if isinstance(b, dict) and b.get("cache_control")]
        texts = [b if isinstance(b, str) else b.get("text", "") for b in said]
        end = marks[-1] + 1 if marks else 0
        return "".join(texts[:end]), "".join(texts[end:])

    def count(self, static: int, rest: int, reply: int, known: bool) -> Counts:
        cached, written = (static, 0) if known else (0, static)
        return Counts(rest, cached, written, reply)

    def error(self, status: int) -> Json:
        kind = ANTHROPIC_ERRORS.get(status, "api_error")
        return {"type": "error", "error": {"type": kind, "message": f"scripted {status}"}}

    def whole(self, body: Json, say: Say, counts: Counts) -> Json:
        return {
            "id": f"msg_{uuid4().hex[:24]}",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": [{"type": "text", "text": say.text}] if say.text else [],
            "stop_reason": say.stop or "end_turn",
            "stop_sequence": None,
            "usage": {
                "input_tokens": counts.fresh,
                "cache_read_input_tokens": counts.cached,
                "cache_creation_input_tokens": counts.written,
                "output_tokens": counts.received,
            },
        }

    def opening(self, body: Json, counts: Counts) -> Iterator[Json]:
        message = self.whole(body, Say(""), counts)
        message["stop_reason"] = None
        message["usage"]["output_tokens"] = 1
        yield {"type": "message_start", "message": message}
        yield {"type": "ping"}
        block = {"type": "text", "text": ""}
        yield {"type": "content_block_start", "index": 0, "content_block": block}

    def piece(self, body: Json, text: str, *, thought: bool = False) -> Json:
        delta = (
            {"type": "thinking_delta", "thinking": text}
            if thought
            else {"type": "text_delta", "text": text}
        )
        return {"type": "content_block_delta", "index": 0, "delta": delta}

    def ending(self, body: Json, say: Say, counts: Counts) -> Iterator[Json]:
        yield {"type": "content_block_stop", "index": 0}
        yield {
            "type": "message_delta",
            "delta": {"stop_reason": say.stop or "end_turn", "stop_sequence": None},
            "usage": {"output_tokens": counts.received},
        }
        yield {"type": "message_stop"}

    def line(self, event: Json) -> str:
        return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n"

    def error_event(self, error: Json) -> Json:
        return {"type": "error", "error": error}


class ScriptedOpenAi(ScriptedModel):
    """`counts` false: it reports no usage. `cost`: what it says that a request costs, in dollars."""

    path = "/v1/chat/completions"

    def __init__(
        self, *steps: Step, then: Step = "", counts: bool = True, cost: float | None = None
    ) -> None:
        self.counts = counts
        self.cost = cost
        super().__init__(*steps, then=then)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def parts(self, body: Json) -> tuple[str, str]:
        *before, last = (str(message["content"]) for message in body["messages"])
        return "".join(before), last

    def count(self, static: int, rest: int, reply: int, known: bool) -> Counts:
        return Counts(rest, static, 0, reply) if known else Counts(static + rest, 0, 0, reply)

    def error(self, status: int) -> Json:
        return {"error": {"message": f"scripted {status}", "type": "error", "code": None}}

    def usage(self, counts: Counts) -> Json:
        usage: Json = {
            "prompt_tokens": counts.sent,
            "completion_tokens": counts.received,
            "total_tokens": counts.sent + counts.received,
            "prompt_tokens_details": {"cached_tokens": counts.cached},
        }
        return usage if self.cost is None else {**usage, "cost": self.cost}

    def whole(self, body: Json, say: Say, counts: Counts) -> Json:
        message: Json = {"role": "assistant", "content": say.text}
        if say.thoughts:
            message["reasoning_content"] = say.thoughts
        choice = {"index": 0, "message": message, "finish_reason": say.stop or "stop"}
        whole = {**self._head(body), "object": "chat.completion", "choices": [choice]}
        return {**whole, "usage": self.usage(counts)} if self.counts else whole

    def opening(self, body: Json, counts: Counts) -> Iterator[Json]:
        yield self._chunk(body, {"role": "assistant", "content": ""})

    def piece(self, body: Json, text: str, *, thought: bool = False) -> Json:
        return self._chunk(body, {"reasoning_content" if thought else "content": text})

    def ending(self, body: Json, say: Say, counts: Counts) -> Iterator[Json]:
        yield self._chunk(body, {}, say.stop or "stop")
        if self.counts and (body.get("stream_options") or {}).get("include_usage"):
            yield {**self._chunk(body, {}), "choices": [], "usage": self.usage(counts)}

    def line(self, event: Json) -> str:
        return f"data: {json.dumps(event)}\n\n"

    def last_line(self) -> str:
        return "data: [DONE]\n\n"

    def error_event(self, error: Json) -> Json:
        return {"error": error}

    def _head(self, body: Json) -> Json:
        return {"id": f"chatcmpl-{uuid4().hex[:24]}", "created": 0, "model": body["model"]}

    def _chunk(self, body: Json, delta: Json, finish: str | None = None) -> Json:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return {**self._head(body), "object": "chat.completion.chunk", "choices": [choice]}
