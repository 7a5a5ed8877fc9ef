"""What is the `openai` provider's own, with the real SDK, against a scripted server. What it shares with
the other one is in `tests/contract/test_http_providers.py`."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import openai  # loaded here, since its time must not count as an answer's
import pytest

from aforesaid import text
from aforesaid.clock import SECOND
from aforesaid.model.requests import Misconfigured, RateLimited, Refused, Reply, Request
from aforesaid.providers.base import Model
from aforesaid.providers.http import Endpoint, find_endpoint
from aforesaid.providers.openai import OpenAiApi
from tests.support.scripted_models import (
    Raw,
    ScriptedOpenAi,
    Status,
    Step,
)

KEY = "sk-scripted-0123456789"
NOW = 1_700_000_000_000
EXAMPLES = (("What was asked first?", "The first answer."), ("And then?", "The second answer."))
REQUEST = Request("You keep the record of a session.", EXAMPLES, "Here is what happened…", 700)
Make = Callable[..., OpenAiApi]


@pytest.fixture(autouse=True)
def nothing_of_the_developers(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("API_KEY", "BASE_URL", "ORG_ID", "PROJECT_ID", "CUSTOM_HEADERS", "ADMIN_KEY"):
        monkeypatch.delenv(f"OPENAI_{name}", raising=False)
    monkeypatch.delenv("OPENROUTER_API_KEY", raising=False)


@pytest.fixture
def make() -> Iterator[Make]:
    made: list[OpenAiApi] = []

    def build(
        server: ScriptedOpenAi, *, key: str | None = KEY, seconds: float = 20, preset: str = ""
    ) -> OpenAiApi:
        endpoint = (
            replace(find_endpoint(preset), url=server.url, local=True)
            if preset
            else find_endpoint(server.url)
        )
        api = OpenAiApi(
            endpoint=endpoint, model="m-1", api_key=key, seconds=seconds, clock=lambda: NOW
        )
        made.append(api)
        return api

    yield build
    for api in made:
        api.close()


def ask(make: Make, step: Step, request: Request = REQUEST) -> object:
    with ScriptedOpenAi(step) as server:
        return make(server).ask(request)


def at(endpoint: Endpoint, *, model: str = "m", key: str | None = KEY) -> OpenAiApi:
    return OpenAiApi(endpoint=endpoint, model=model, api_key=key, seconds=20, clock=lambda: NOW)


def test_it_is_a_model_with_the_default_of_its_endpoint() -> None:
    api: Model = at(find_endpoint("gemini"), model="")
    assert (api.name, api.model) == ("openai", find_endpoint("gemini").default_model)


def test_a_request_has_the_examples_as_turns_and_no_chance_in_it(make: Make) -> None:
    with ScriptedOpenAi("yes") as server:
        make(server).ask(REQUEST)
        body = server.bodies[0]
    assert [(m["role"], m["content"]) for m in body["messages"]] == [
        ("system", REQUEST.system),
        ("user", EXAMPLES[0][0]),
        ("assistant", EXAMPLES[0][1]),
        ("user", EXAMPLES[1][0]),
        ("assistant", EXAMPLES[1][1]),
        ("user", REQUEST.message),
    ]
    assert (body["model"], body["max_tokens"], body["temperature"]) == ("m-1", 700, 0)
    assert (body["stream"], body["stream_options"]) == (True, {"include_usage": True})


def test_usage_is_what_the_api_counted(make: Make) -> None:
    with ScriptedOpenAi("a reply of some words", "another") as server:
        api = make(server)
        first, second = api.ask(REQUEST), api.ask(REQUEST)
        assert isinstance(first, Reply)
        assert isinstance(second, Reply)
        both = (first.usage, second.usage)
        assert first.usage.cached == 0 < second.usage.cached
        assert not any(usage.estimated for usage in both)
        assert sum(usage.sent for usage in both) == server.sent
        assert sum(usage.cached for usage in both) == server.cached
        assert sum(usage.received for usage in both) == server.received
        assert first.usage.microdollars is None


def test_a_server_that_does_not_count_is_estimated(make: Make) -> None:
    with ScriptedOpenAi("a reply of some words", counts=False) as server:
        reply = make(server).ask(REQUEST)
    assert isinstance(reply, Reply)
    said = (REQUEST.system, *EXAMPLES[0], *EXAMPLES[1], REQUEST.message)
    assert reply.usage.estimated
    assert reply.usage.sent == sum(map(text.tokens, said))
    assert reply.usage.received == text.tokens(reply.text)


def test_a_price_is_kept_in_microdollars(make: Make) -> None:
    with ScriptedOpenAi("yes", cost=0.00123) as server:
        reply = make(server, preset="openrouter").ask(REQUEST)
        assert server.bodies[0]["usage"] == {"include": True}
    assert isinstance(reply, Reply)
    assert reply.usage.microdollars == 1230


def test_a_refusal_in_words_is_refused(make: Make) -> None:
    delta = {"choices": [{"index": 0, "delta": {"refusal": "I may not."}, "finish_reason": "stop"}]}
    found = ask(make, Raw(f"data: {json.dumps(delta)}\n\n".encode()))
    assert isinstance(found, Refused)
    assert "I may not." in found.why
    assert found.usage is not None
    assert found.usage.estimated  # this server does not count
    assert found.usage.received == text.tokens("I may not.")


def test_a_server_that_does_not_stream_is_understood(make: Make) -> None:
    def plain(body: dict[str, Any]) -> Step:
        choice = {"index": 0, "message": {"role": "assistant", "content": "Yes."}}
        whole = {"id": "1", "object": "chat.completion", "created": 0, "model": "m-2"}
        usage = {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}
        answer = {**whole, "choices": [{**choice, "finish_reason": "stop"}], "usage": usage}
        return Raw(json.dumps(answer).encode(), "application/json")

    reply = ask(make, plain)
    assert isinstance(reply, Reply)
    assert (reply.text, reply.model, reply.usage.sent) == ("Yes.", "m-2", 9)


def test_an_error_that_is_called_a_success_is_still_one(make: Make) -> None:
    error = {"error": {"code": 402, "message": "More credits, please."}}
    found = ask(make, Raw(json.dumps(error).encode(), "application/json"))
    assert isinstance(found, Misconfigured)
    assert "no credit" in found.why


def naming(*names: str) -> Callable[[dict[str, Any]], Step]:
    """A server that takes none of these parameters, and names the first one it sees."""

    def answer(body: dict[str, Any]) -> Step:
        for name in names:
            if name in body:
                message = f"Unsupported parameter: '{name}' is not supported with this model."
                return Status(400, body=json.dumps({"error": {"message": message, "param": name}}))
        return "Yes."

    return answer


@pytest.mark.parametrize(
    ("names", "requests"),
    [
        (("temperature",), 2),
        (("max_tokens",), 2),
        (("stream_options",), 2),
        (("temperature", "max_tokens", "stream_options"), 4),
    ],
)
def test_a_parameter_that_is_rejected_is_given_up_for_good(
    make: Make, names: tuple[str, ...], requests: int
) -> None:
    with ScriptedOpenAi(then=naming(*names)) as server:
        api = make(server)
        assert isinstance(api.ask(REQUEST), Reply)
        assert len(server.requests) == requests
        assert isinstance(api.ask(REQUEST), Reply)
        assert len(server.requests) == requests + 1
        last = server.bodies[-1]
    assert not set(names) & set(last)
    assert last.get("max_completion_tokens", 700) == 700
    assert ("max_completion_tokens" in last) == ("max_tokens" in names)


def test_a_parameter_is_given_up_only_once(make: Make) -> None:
    names = ("temperature", "max_tokens", "max_completion_tokens", "stream_options")
    with ScriptedOpenAi(then=naming(*names)) as server:
        assert isinstance(make(server).ask(REQUEST), Refused)
        assert len(server.requests) <= 4


def test_a_request_that_is_too_long_is_not_sent_again_under_another_name(make: Make) -> None:
    told = {"error": {"message": "max_tokens is too large: the context length is 4096"}}
    with ScriptedOpenAi(Status(400, body=json.dumps(told)), then="yes") as server:
        found = make(server).ask(REQUEST)
        assert len(server.requests) == 1
    assert isinstance(found, Refused)
    assert "longer than" in found.why


def test_a_key_that_a_server_repeats_is_not_shown(make: Make) -> None:
    told = {"error": {"message": f"Incorrect API key provided: {KEY}."}}
    found = ask(make, Status(401, body=json.dumps(told)))
    assert isinstance(found, Misconfigured)
    assert "Incorrect API key provided" in found.why
    assert KEY not in found.why


def test_a_limit_is_waited_for(make: Make) -> None:
    found = ask(make, Status(429, {"retry-after": "30"}))
    assert isinstance(found, RateLimited)
    assert found.until == NOW + 30 * SECOND


def test_a_missing_key_names_the_variable_and_the_setting() -> None:
    found = at(find_endpoint("openrouter"), key=None).ask(REQUEST)
    assert isinstance(found, Misconfigured)
    assert "OPENROUTER_API_KEY" in found.why
    assert "synthesis.api_key" in found.why


def test_a_missing_model_names_the_setting() -> None:
    found = at(find_endpoint("ollama"), model="").ask(REQUEST)
    assert isinstance(found, Misconfigured)
    assert "`aforesaid config set synthesis.model …`" in found.why


def test_a_preset_takes_its_key_from_its_variable(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENROUTER_API_KEY", KEY)
    with ScriptedOpenAi("yes") as server:
        assert isinstance(make(server, key=None, preset="openrouter").ask(REQUEST), Reply)
        assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"


def test_what_is_meant_for_openai_goes_to_nobody_else(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-user")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-the-user")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-of-the-user")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "Authorization: Bearer of-the-user")
    with ScriptedOpenAi("yes") as server:
        assert isinstance(make(server, key=None).ask(REQUEST), Reply)
        assert "of-the-user" not in str(server.requests[0].headers)


def test_the_sdk_is_the_one_we_know() -> None:
    assert int(openai.__version__.partition(".")[0]) >= 3
