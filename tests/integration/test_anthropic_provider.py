"""What is the `anthropic` provider's own, with the real SDK, against a scripted server. What it shares with
the other one is in `tests/contract/test_http_providers.py`."""

from collections.abc import Callable, Iterator

import anthropic  # loaded here, since its time must not count as an answer's
import pytest

from aforesaid.model.requests import Misconfigured, Reply, Request, Unavailable
from aforesaid.providers.anthropic import DEFAULT_MODEL, AnthropicApi
from aforesaid.providers.base import Model
from tests.support.scripted_models import (
    Raw,
    Say,
    ScriptedAnthropic,
    Status,
    Step,
    count,
)

KEY = "sk-ant-scripted-0123456789"
NOW = 1_700_000_000_000
EXAMPLES = (("What was asked first?", "The first answer."), ("And then?", "The second answer."))
REQUEST = Request("You keep the record of a session.", EXAMPLES, "Here is what happened…", 700)
Make = Callable[..., AnthropicApi]


@pytest.fixture(autouse=True)
def nothing_of_the_developers(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("API_KEY", "AUTH_TOKEN", "BASE_URL", "CUSTOM_HEADERS", "PROFILE", "CONFIG_DIR"):
        monkeypatch.delenv(f"ANTHROPIC_{name}", raising=False)


@pytest.fixture
def make(monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    made: list[AnthropicApi] = []

    def build(server: ScriptedAnthropic, *, key: str | None = KEY) -> AnthropicApi:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        made.append(AnthropicApi(model="m-1", api_key=key, seconds=20, clock=lambda: NOW))
        return made[-1]

    yield build
    for api in made:
        api.close()


def ask(make: Make, step: Step, request: Request = REQUEST) -> object:
    with ScriptedAnthropic(step) as server:
        return make(server).ask(request)


def test_it_is_a_model_with_a_default() -> None:
    api: Model = AnthropicApi(model="", api_key=None, seconds=1, clock=lambda: NOW)
    assert (api.name, api.model) == ("anthropic", DEFAULT_MODEL)


def test_the_last_static_block_alone_is_marked_for_the_cache(make: Make) -> None:
    with ScriptedAnthropic("yes") as server:
        make(server).ask(REQUEST)
        body = server.bodies[0]
    roles = [(message["role"], message["content"][0]["text"]) for message in body["messages"]]
    assert roles == [
        ("user", EXAMPLES[0][0]),
        ("assistant", EXAMPLES[0][1]),
        ("user", EXAMPLES[1][0]),
        ("assistant", EXAMPLES[1][1]),
        ("user", REQUEST.message),
    ]
    blocks = [*body["system"], *(b for m in body["messages"] for b in m["content"])]
    marked = [block["text"] for block in blocks if "cache_control" in block]
    assert marked == [EXAMPLES[1][1]]
    assert body["system"][0]["text"] == REQUEST.system
    assert (body["model"], body["max_tokens"], body["stream"]) == ("m-1", 700, True)


def test_thinking_is_off_unless_the_model_cannot_do_without(make: Make) -> None:
    why = '{"error": {"type": "invalid_request_error", "message": "thinking cannot be disabled"}}'
    with ScriptedAnthropic(Status(400, body=why), "one", "two") as server:
        api = make(server)
        replies = [api.ask(REQUEST), api.ask(REQUEST)]
        asked = [body.get("thinking") for body in server.bodies]
    assert [reply.text for reply in replies if isinstance(reply, Reply)] == ["one", "two"]
    assert asked == [{"type": "disabled"}, None, None]


def test_without_examples_the_system_block_is_marked(make: Make) -> None:
    with ScriptedAnthropic("yes") as server:
        make(server).ask(Request("System.", (), "Message.", 10))
        body = server.bodies[0]
    assert body["system"][0]["cache_control"] == {"type": "ephemeral"}
    assert "cache_control" not in body["messages"][0]["content"][0]


def test_usage_is_what_the_api_counted(make: Make) -> None:
    static = count("".join((REQUEST.system, *EXAMPLES[0], *EXAMPLES[1])))
    with ScriptedAnthropic("a reply of some words", "another") as server:
        api = make(server)
        first, second = api.ask(REQUEST), api.ask(REQUEST)
        assert isinstance(first, Reply)
        assert isinstance(second, Reply)
        both = (first.usage, second.usage)
        assert (first.usage.cached, first.usage.written) == (0, static)
        assert (second.usage.cached, second.usage.written) == (static, 0)
        assert not any(usage.estimated for usage in both)
        assert sum(usage.sent for usage in both) == server.sent
        assert sum(usage.cached for usage in both) == server.cached
        assert sum(usage.written for usage in both) == server.written
        assert sum(usage.received for usage in both) == server.received


@pytest.mark.parametrize("stop", ["max_tokens", "model_context_window_exceeded"])
def test_a_reply_that_hits_the_limit_is_not_complete(make: Make, stop: str) -> None:
    reply = ask(make, Say("half a sent", stop=stop))
    assert isinstance(reply, Reply)
    assert (reply.text, reply.complete) == ("half a sent", False)


@pytest.mark.parametrize("key", [None, "", "  "])
def test_a_missing_key_names_the_variable_and_the_setting(make: Make, key: str | None) -> None:
    with ScriptedAnthropic() as server:
        found = make(server, key=key).ask(REQUEST)
        assert not server.requests
    assert isinstance(found, Misconfigured)
    assert "ANTHROPIC_API_KEY" in found.why
    assert "synthesis.api_key" in found.why


def test_a_key_that_cannot_be_one_is_not_sent(make: Make) -> None:
    with ScriptedAnthropic() as server:
        found = make(server, key="sk-ant-…\n-0").ask(REQUEST)
        assert not server.requests
    assert isinstance(found, Misconfigured)


@pytest.mark.parametrize("variable", ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"])
def test_the_variables_of_the_sdk_are_honoured(
    make: Make, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    secret = "secret-from-the-environment"
    monkeypatch.setenv(variable, secret)
    with ScriptedAnthropic("yes", Status(401, body=f'{{"error": "{secret}?"}}')) as server:
        api = make(server, key=None)
        assert isinstance(api.ask(REQUEST), Reply)
        sent = server.requests[0].headers
        assert secret in (sent.get("x-api-key") or sent["authorization"])
        refused = api.ask(REQUEST)
    assert isinstance(refused, Misconfigured)
    assert secret not in refused.why


@pytest.mark.parametrize("url", ["http://[1", "nonsense", "ftp://host", "http://host:port"])
def test_an_address_that_is_none_is_said(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", url)
    found = AnthropicApi(model="m", api_key=KEY, seconds=5, clock=lambda: NOW).ask(REQUEST)
    assert isinstance(found, Misconfigured)
    assert "Mend ANTHROPIC_BASE_URL" in found.why


def test_an_answer_that_is_not_streamed_is_away(make: Make) -> None:
    assert isinstance(ask(make, Raw(b'{"content": []}', "application/json")), Unavailable)


def test_the_sdk_is_the_one_we_know() -> None:
    assert int(anthropic.__version__.partition(".")[0]) >= 2
